//! Sessions in memory: for `--no-save` and tests. Gone with the process.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use elysia_types::{Event, QueryId, SessionId, StoredEntry, StoredLocation};
use indexmap::IndexMap;

use crate::document::SessionDocument;
use crate::error::StoreError;
use crate::record::{Commit, QueryStatus, QuerySummary, SessionRecord, SessionSummary, now, title_of};
use crate::session::SessionStore;

/// An empty store in memory.
pub fn memory() -> Arc<dyn SessionStore> {
    Arc::new(MemoryStore::default())
}

#[derive(Default)]
struct MemoryStore(Mutex<Sessions>);

#[derive(Default)]
struct Sessions {
    all: IndexMap<SessionId, Session>,
    /// Grows with every use: times may be equal.
    uses: u64,
}

struct Session {
    record: SessionRecord,
    events: IndexMap<QueryId, Vec<Event>>,
    used: u64,
    revision: u64,
}

impl MemoryStore {
    fn lock(&self) -> MutexGuard<'_, Sessions> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Sessions {
    fn session(&mut self, id: &SessionId) -> Result<&mut Session, StoreError> {
        self.all.get_mut(id).ok_or_else(|| StoreError::NoSession(id.clone()))
    }

    /// The session with its query, which must be running.
    fn running(&mut self, session: &SessionId, query: &QueryId) -> Result<&mut Session, StoreError> {
        let not_running = || StoreError::NotRunning { session: session.clone(), query: query.clone() };
        let found = self.all.get_mut(session).ok_or_else(not_running)?;
        let runs = found.record.queries.iter().any(|q| q.id == *query && q.status == QueryStatus::Running);
        if runs { Ok(found) } else { Err(not_running()) }
    }

    fn has_query(&self, query: &QueryId) -> bool {
        self.all.values().any(|session| session.events.contains_key(query))
    }

    fn touch(&mut self, id: &SessionId) {
        self.uses += 1;
        let uses = self.uses;
        if let Some(session) = self.all.get_mut(id) {
            session.used = uses;
            session.record.updated_at = now();
        }
    }

    fn by_use(&self) -> Vec<&Session> {
        let mut all: Vec<_> = self.all.values().collect();
        all.sort_by(|a, b| (&b.record.updated_at, b.used).cmp(&(&a.record.updated_at, a.used)));
        all
    }

    fn insert(&mut self, record: SessionRecord, events: IndexMap<QueryId, Vec<Event>>) {
        self.uses += 1;
        self.all.insert(record.id.clone(), Session { record, events, used: self.uses, revision: 0 });
    }
}

impl Session {
    fn free(&self) -> Result<(), StoreError> {
        match self.record.queries.iter().find(|q| q.status == QueryStatus::Running) {
            Some(q) => Err(StoreError::Busy { session: self.record.id.clone(), query: q.id.clone() }),
            None => Ok(()),
        }
    }

    /// All of `events` or none.
    fn append(&mut self, query: &QueryId, events: &[Event]) -> Result<(), StoreError> {
        let there = self.events.entry(query.clone()).or_default();
        let conflict = |event: &Event| {
            event.query_id != *query || there.iter().any(|known| known.seq == event.seq && known != event)
        };
        if let Some(event) = events.iter().find(|event| conflict(event)) {
            return Err(StoreError::EventConflict { query: query.clone(), seq: event.seq });
        }
        for event in events {
            if let Err(at) = there.binary_search_by_key(&event.seq, |known| known.seq) {
                there.insert(at, event.clone());
            }
        }
        Ok(())
    }

    fn end(&mut self, query: &QueryId, status: QueryStatus) {
        self.record.queries.iter_mut().filter(|q| q.id == *query).for_each(|q| q.status = status);
    }

    fn set_environment(&mut self, replaces: bool, locations: Vec<StoredLocation>, entries: Vec<StoredEntry>) {
        if replaces {
            self.record.locations.clear();
            self.record.entries.clear();
        }
        for location in locations {
            let same = |known: &&mut StoredLocation| known.tool == location.tool && known.name == location.name;
            match self.record.locations.iter_mut().find(same) {
                Some(known) => known.dropped = location.dropped,
                None => self.record.locations.push(location),
            }
        }
        self.record.entries.extend(entries);
    }

    fn summary(&self) -> SessionSummary {
        let record = &self.record;
        SessionSummary {
            id: record.id.clone(),
            title: record.title.clone(),
            created_at: record.created_at.clone(),
            updated_at: record.updated_at.clone(),
            n_queries: record.queries.len() as u64,
            n_messages: record.messages.len() as u64,
            n_entries: record.entries.len() as u64,
            last_status: record.queries.last().map(|q| q.status),
        }
    }
}

#[async_trait]
impl SessionStore for MemoryStore {
    async fn create(&self, id: &SessionId) -> Result<(), StoreError> {
        let mut sessions = self.lock();
        if sessions.all.contains_key(id) {
            return Err(StoreError::SessionExists(id.clone()));
        }
        let time = now();
        let record = SessionRecord {
            id: id.clone(),
            created_at: time.clone(),
            updated_at: time,
            title: None,
            messages: Vec::new(),
            locations: Vec::new(),
            entries: Vec::new(),
            states: IndexMap::new(),
            queries: Vec::new(),
        };
        sessions.insert(record, IndexMap::new());
        Ok(())
    }

    async fn load(&self, id: &SessionId) -> Result<Option<SessionRecord>, StoreError> {
        Ok(self.lock().all.get(id).map(|session| session.record.clone()))
    }

    async fn revision(&self, id: &SessionId) -> Result<u64, StoreError> {
        Ok(self.lock().session(id)?.revision)
    }

    async fn begin(&self, session: &SessionId, query: &QueryId, prompt: Option<&str>) -> Result<(), StoreError> {
        let mut sessions = self.lock();
        let taken = sessions.has_query(query);
        let found = sessions.session(session)?;
        found.free()?;
        if taken {
            return Err(StoreError::QueryExists(query.clone()));
        }
        let prompt = prompt.map(str::to_owned);
        if found.record.title.is_none() {
            found.record.title = prompt.as_deref().map(title_of);
        }
        let status = QueryStatus::Running;
        found.record.queries.push(QuerySummary { id: query.clone(), prompt, status, started_at: now() });
        found.events.insert(query.clone(), Vec::new());
        sessions.touch(session);
        Ok(())
    }

    async fn append(&self, session: &SessionId, query: &QueryId, events: &[Event]) -> Result<(), StoreError> {
        self.lock().running(session, query)?.append(query, events)
    }

    async fn commit(&self, commit: Commit) -> Result<(), StoreError> {
        let mut sessions = self.lock();
        let session = sessions.running(&commit.session, &commit.query)?;
        session.append(&commit.query, &commit.last_events)?;
        session.revision += 1;
        session.record.messages.extend(commit.messages);
        session.set_environment(commit.replaces_environment, commit.locations, commit.entries);
        session.record.states.extend(commit.states);
        session.record.states.retain(|_, state| !state.is_empty());
        session.record.states.sort_keys();
        session.end(&commit.query, commit.status);
        sessions.touch(&commit.session);
        Ok(())
    }

    async fn interrupt(&self, session: &SessionId, query: &QueryId) -> Result<(), StoreError> {
        self.lock().running(session, query)?.end(query, QueryStatus::Interrupted);
        Ok(())
    }

    async fn replace_environment(
        &self,
        session: &SessionId,
        locations: Vec<StoredLocation>,
        entries: Vec<StoredEntry>,
    ) -> Result<(), StoreError> {
        let mut sessions = self.lock();
        let found = sessions.session(session)?;
        found.free()?;
        found.revision += 1;
        found.set_environment(true, locations, entries);
        Ok(())
    }

    async fn list(&self) -> Result<Vec<SessionSummary>, StoreError> {
        Ok(self.lock().by_use().into_iter().map(Session::summary).collect())
    }

    async fn last(&self) -> Result<Option<SessionId>, StoreError> {
        Ok(self.lock().by_use().first().map(|session| session.record.id.clone()))
    }

    async fn events(&self, query: &QueryId, after: u64) -> Result<Vec<Event>, StoreError> {
        let sessions = self.lock();
        let events = sessions.all.values().find_map(|session| session.events.get(query));
        Ok(events.into_iter().flatten().filter(|event| event.seq > after).cloned().collect())
    }

    async fn delete(&self, id: &SessionId) -> Result<bool, StoreError> {
        let mut sessions = self.lock();
        let Some(session) = sessions.all.get(id) else {
            return Ok(false);
        };
        session.free()?;
        sessions.all.shift_remove(id);
        Ok(true)
    }

    async fn export(&self, id: &SessionId) -> Result<Option<SessionDocument>, StoreError> {
        let sessions = self.lock();
        let document = sessions.all.get(id).map(|session| {
            let events = session.events.iter().map(|(query, events)| (query.clone(), events.clone()));
            SessionDocument::build(session.record.clone(), events.collect())
        });
        Ok(document)
    }

    async fn import(&self, mut document: SessionDocument) -> Result<SessionId, StoreError> {
        document.settle()?;
        let mut sessions = self.lock();
        if sessions.all.contains_key(&document.id) || document.queries.iter().any(|q| sessions.has_query(&q.id)) {
            document.renew_ids()?;
        }
        let (id, entries) = (document.id.clone(), document.take_entries());
        let (record, events) = document.into_record(entries);
        sessions.insert(record, events);
        Ok(id)
    }

    async fn repair(&self) -> Result<usize, StoreError> {
        // Queries of a dead process are gone with it.
        Ok(0)
    }
}

#[cfg(test)]
mod tests;
