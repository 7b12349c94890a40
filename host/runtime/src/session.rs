//! A conversation: its environment, history and plugin state, and one query at a time.

use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use elysia_decision::{Turn, TurnStart};
use elysia_store::{Commit, QueryStatus, SessionRecord, SessionStore, StoreError};
use elysia_types::{
    Environment, Event, EventBody, FailureCode, Message, PluginName, PluginState, QueryId, SessionId,
    SharedEnvironment, ToolInputs,
};
use indexmap::IndexMap;
use tokio::sync::{OwnedMutexGuard, Semaphore, mpsc};
use tokio_util::sync::CancellationToken;

use crate::clock;
use crate::drive::{Drive, Ended, merge_state};
use crate::error::HostError;
use crate::host::Inner;
use crate::journal::{Writer, journal};
use crate::query::{QueryHandle, QueryOptions, Seen, WAITING_EVENTS};

/// Which session to work in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SessionChoice {
    /// A fresh one, kept in the store.
    New,
    /// One that is in the store.
    Existing(SessionId),
    /// The one used last.
    Last,
    /// A fresh one that is gone with the process.
    Unsaved,
}

/// What the running query and its guests read of a session.
pub(crate) struct Shared {
    pub(crate) environment: SharedEnvironment,
    pub(crate) permits: Arc<Semaphore>,
    messages: RwLock<Vec<Message>>,
    states: Mutex<IndexMap<PluginName, PluginState>>,
    /// Bytes of history that guests and the model get.
    history_bytes: usize,
}

impl Shared {
    pub(crate) fn state_of(&self, plugin: &PluginName) -> PluginState {
        let states = self.states.lock().unwrap_or_else(PoisonError::into_inner);
        states.get(plugin).cloned().unwrap_or_default()
    }

    /// Keeps what one call changed beside what calls at the same time did. False when both together would pass
    /// `limit` bytes: then nothing of this call is kept.
    pub(crate) fn keep_state(
        &self,
        plugin: &PluginName,
        before: &PluginState,
        after: &PluginState,
        limit: u64,
    ) -> bool {
        let mut states = self.states.lock().unwrap_or_else(PoisonError::into_inner);
        let current = states.entry(plugin.clone()).or_default();
        let mut merged = current.clone();
        merge_state(&mut merged, before, after);
        let bytes: usize = merged.iter().map(|(key, value)| key.len() + value.to_string().len()).sum();
        // What one call was allowed to write alone has been counted by the sandbox already.
        if bytes as u64 > limit && merged != *after {
            return false;
        }
        *current = merged;
        true
    }

    /// Takes over what the store has.
    fn replace(&self, record: SessionRecord) {
        self.environment.write(|e| *e = Environment::restore(record.locations, record.entries));
        *self.messages.write().unwrap_or_else(PoisonError::into_inner) = record.messages;
        *self.states.lock().unwrap_or_else(PoisonError::into_inner) = record.states;
    }

    /// The newest messages that fit the budget, oldest first.
    pub(crate) fn history(&self) -> Vec<Message> {
        let messages = self.messages.read().unwrap_or_else(PoisonError::into_inner);
        let mut left = self.history_bytes;
        let fits = messages.iter().rev().take_while(|m| {
            let fits = m.text.len() <= left;
            left = left.saturating_sub(m.text.len());
            fits
        });
        let n = fits.count();
        messages.iter().skip(messages.len() - n).cloned().collect()
    }
}

/// A conversation. Cheap to clone; clones share everything.
#[derive(Clone)]
pub struct Session {
    id: SessionId,
    host: Arc<Inner>,
    store: Arc<dyn SessionStore>,
    shared: Arc<Shared>,
    busy: Arc<tokio::sync::Mutex<Known>>,
}

/// What this process knows of the session in the store.
struct Known {
    /// The store is told of a new session at its first query, so that nothing empty is kept.
    exists: bool,
    /// The store's revision that the shared state stands for; none when it has to be read anew.
    revision: Option<u64>,
}

/// A query that has begun in the store. Dropped before it is handed on, it is given up there too, so that the session
/// is not busy for ever.
struct Begun<'a> {
    session: &'a Session,
    query: QueryId,
    armed: bool,
}

impl Drop for Begun<'_> {
    fn drop(&mut self) {
        if self.armed {
            let (session, query) = (self.session.clone(), self.query.clone());
            self.session.host.spawn(async move { session.give_up(&query).await });
        }
    }
}

impl Session {
    pub(crate) fn open(
        host: Arc<Inner>,
        store: Arc<dyn SessionStore>,
        id: SessionId,
        record: Option<(u64, SessionRecord)>,
    ) -> Self {
        let known = Known { exists: record.is_some(), revision: record.as_ref().map(|(revision, _)| *revision) };
        let record = record.map(|(_, record)| record);
        let (environment, messages, states) = match record {
            Some(r) => (Environment::restore(r.locations, r.entries), r.messages, r.states),
            None => (Environment::default(), Vec::new(), IndexMap::new()),
        };
        let shared = Shared {
            environment: SharedEnvironment::new(environment),
            permits: Arc::new(Semaphore::new(host.calls_per_session())),
            messages: RwLock::new(messages),
            states: Mutex::new(states),
            history_bytes: usize::try_from(host.budget.history.saturating_mul(4)).unwrap_or(usize::MAX),
        };
        Self { id, host, store, shared: Arc::new(shared), busy: Arc::new(tokio::sync::Mutex::new(known)) }
    }

    /// Its id.
    pub fn id(&self) -> &SessionId {
        &self.id
    }

    /// The environment as it stands.
    pub fn environment(&self) -> &SharedEnvironment {
        &self.shared.environment
    }

    /// Starts answering `prompt`.
    ///
    /// # Errors
    /// An empty prompt, one over `limits.query`, a session that is busy, a store that fails.
    pub async fn ask(&self, prompt: &str, options: QueryOptions) -> Result<QueryHandle, HostError> {
        if prompt.trim().is_empty() {
            return Err(HostError::EmptyPrompt);
        }
        let limit = self.host.budget.prompt;
        if prompt.len() as u64 > limit {
            return Err(HostError::PromptTooLong { limit, observed: prompt.len() });
        }
        let (query, claimed) = self.claim(Some(prompt)).await?;
        let start = self.turn_start(&query);
        let now = start.now.clone();
        let turn = Turn::query(start, prompt.to_owned(), self.host.model.name());
        Ok(self.run(query, claimed, turn, prompt.to_owned(), now, options))
    }

    /// Runs one tool without a model, with the same events, limits and policy as a chosen call.
    ///
    /// # Errors
    /// A session that is busy, a store that fails. An unknown tool or bad inputs end the query with their code.
    pub async fn call(&self, tool: &str, inputs: ToolInputs, options: QueryOptions) -> Result<QueryHandle, HostError> {
        let (query, claimed) = self.claim(None).await?;
        let start = self.turn_start(&query);
        let now = start.now.clone();
        match Turn::direct_call(start, tool, inputs) {
            Ok(turn) => Ok(self.run(query, claimed, turn, String::new(), now, options)),
            Err(failure) => self.refuse(query, claimed, failure).await,
        }
    }

    async fn claim(&self, prompt: Option<&str>) -> Result<(QueryId, OwnedMutexGuard<Known>), HostError> {
        let mut claimed = self.busy.clone().try_lock_owned().map_err(|_| HostError::Busy(self.id.clone()))?;
        if !claimed.exists {
            self.store.create(&self.id).await.map_err(HostError::Store)?;
            claimed.exists = true;
        }
        let query: QueryId = new_id();
        self.store.begin(&self.id, &query, prompt).await.map_err(|e| match e {
            StoreError::Busy { .. } => HostError::Busy(self.id.clone()),
            e => HostError::Store(e),
        })?;
        let mut begun = Begun { session: self, query: query.clone(), armed: true };
        // No one else can change the session now. What another process did to it before has to be seen first, or
        // references would be given twice and its changes undone.
        let revision = self.store.revision(&self.id).await.map_err(HostError::Store)?;
        if claimed.revision.is_some_and(|known| known != revision) || (claimed.revision.is_none() && revision > 0) {
            let record = self.store.load(&self.id).await.map_err(HostError::Store)?;
            let record = record.ok_or_else(|| HostError::UnknownSession(self.id.clone()))?;
            self.shared.replace(record);
        }
        claimed.revision = Some(revision);
        begun.armed = false;
        Ok((query, claimed))
    }

    /// Frees the session in the store when a query ends without a commit.
    async fn give_up(&self, query: &QueryId) {
        if let Err(e) = self.store.interrupt(&self.id, query).await {
            tracing::warn!(session = %self.id, error = %e, "a query could not be given up in the store");
        }
    }

    fn turn_start(&self, query: &QueryId) -> TurnStart {
        TurnStart {
            query_id: query.clone(),
            session_id: self.id.clone(),
            tree: self.host.tree.clone(),
            environment: self.shared.environment.clone(),
            history: self.shared.history(),
            profile: self.host.config.profile.clone(),
            now: clock::now_in(self.host.zone.as_ref()),
            budget: self.host.budget.clone(),
        }
    }

    fn run(
        &self,
        query: QueryId,
        claimed: OwnedMutexGuard<Known>,
        turn: Turn,
        prompt: String,
        now: String,
        options: QueryOptions,
    ) -> QueryHandle {
        let (to_reader, events) = mpsc::channel(WAITING_EVENTS);
        let (approvals, answers) = mpsc::channel(8);
        let cancel = CancellationToken::new();
        let wall = options.timeout.map_or(self.host.budget.wall, |t| t.min(self.host.budget.wall));
        let deadline = tokio::time::Instant::now() + wall.min(Duration::from_secs(365 * 24 * 3600));
        let (journal, writer) = journal(self.store.clone(), self.id.clone(), query.clone(), to_reader);
        let before = self.shared.environment.read(Environment::version);
        let drive = Drive::new(
            self.host.clone(),
            self.shared.clone(),
            self.host.catalog.clone(),
            turn,
            journal,
            cancel.clone(),
            options.can_approve.then_some(answers),
            deadline,
            prompt,
            now,
        );
        let session = self.clone();
        self.host.spawn(async move {
            session.run_to_end(drive, writer, before, claimed).await;
        });
        QueryHandle {
            id: query,
            session: self.id.clone(),
            events,
            approvals,
            guard: Some(cancel.clone().drop_guard()),
            cancel,
            seen: Seen::default(),
        }
    }

    async fn run_to_end(&self, drive: Drive, writer: Writer, before: u64, mut claimed: OwnedMutexGuard<Known>) {
        let driving = async {
            let Ended { turn, closing, journal, changed_states } = drive.run().await;
            // Dropping the journal's sender is what tells the writer that no more comes.
            (turn, closing, journal.close(), changed_states)
        };
        let ((turn, closing, mut stamps, changed), written) = tokio::join!(driving, writer.run());
        let (writer, stored) = match written {
            Ok(writer) => (writer, Ok(())),
            Err((writer, e)) => (writer, Err(e)),
        };
        let Some(closing) = closing else {
            tracing::error!(session = %self.id, "a turn ended without a closing event");
            claimed.revision = None;
            return self.give_up(&writer.query).await;
        };
        let closing = stamps.stamp(closing);
        let commit = self.commit_of(&writer.query, &closing, turn.new_messages.clone(), &changed, before);
        let committed = match stored {
            Ok(()) => self.store.commit(commit).await,
            Err(e) => Err(e),
        };
        let closing = match committed {
            Ok(()) => {
                claimed.revision = claimed.revision.map(|revision| revision + 1);
                self.shared.messages.write().unwrap_or_else(PoisonError::into_inner).extend(turn.new_messages);
                closing
            }
            Err(e) => {
                // What this query changed here is not in the store, so the next one reads the session anew.
                claimed.revision = None;
                self.give_up(&writer.query).await;
                store_failed(closing, writer.shown, &e)
            }
        };
        // Whoever reads the closing event may ask again at once.
        drop(claimed);
        // A reader that has gone misses nothing: the event is in the store.
        let _ = writer.to_reader.send(closing).await;
    }

    fn commit_of(
        &self,
        query: &QueryId,
        closing: &Event,
        messages: Vec<Message>,
        changed: &[PluginName],
        before: u64,
    ) -> Commit {
        let (locations, entries) = self.shared.environment.read(|e| e.stored_since(before));
        let status = match closing.body {
            EventBody::QueryCompleted { .. } => QueryStatus::Completed,
            EventBody::QueryCancelled { .. } => QueryStatus::Cancelled,
            _ => QueryStatus::Failed,
        };
        Commit {
            session: self.id.clone(),
            query: query.clone(),
            status,
            messages,
            locations,
            entries,
            replaces_environment: false,
            states: changed.iter().map(|plugin| (plugin.clone(), self.shared.state_of(plugin))).collect(),
            last_events: vec![closing.clone()],
        }
    }

    /// A query that ends before anything ran: the same first and last events as any other.
    async fn refuse(
        &self,
        query: QueryId,
        mut claimed: OwnedMutexGuard<Known>,
        failure: elysia_types::Failure,
    ) -> Result<QueryHandle, HostError> {
        let mut begun = Begun { session: self, query: query.clone(), armed: true };
        let (to_reader, events) = mpsc::channel(WAITING_EVENTS);
        let (journal, writer) = journal(self.store.clone(), self.id.clone(), query.clone(), to_reader);
        let started = EventBody::QueryStarted { prompt: None, session_id: self.id.clone(), model: None };
        let failed = EventBody::QueryFailed {
            code: failure.code,
            message: failure.message,
            response: String::new(),
            objects: Vec::new(),
        };
        let mut stamps = journal.close();
        let both = [stamps.stamp(started), stamps.stamp(failed)];
        self.store.append(&self.id, &query, &both[..1]).await.map_err(HostError::Store)?;
        let before = self.shared.environment.read(Environment::version);
        let [first, last] = both;
        let commit = self.commit_of(&query, &last, Vec::new(), &[], before);
        self.store.commit(commit).await.map_err(HostError::Store)?;
        begun.armed = false;
        claimed.revision = claimed.revision.map(|revision| revision + 1);
        for event in [first, last] {
            // The channel is fresh and holds far more than two.
            let _ = writer.to_reader.try_send(event);
        }
        drop(claimed);
        let cancel = CancellationToken::new();
        let (approvals, _) = mpsc::channel(1);
        Ok(QueryHandle {
            id: query,
            session: self.id.clone(),
            events,
            approvals,
            guard: None,
            cancel,
            seen: Seen::default(),
        })
    }
}

/// The closing event of a query whose store failed: what was found is not lost, but it is not kept either.
fn store_failed(closing: Event, shown: u64, error: &StoreError) -> Event {
    let (response, objects) = match closing.body {
        EventBody::QueryCompleted { response, objects, .. }
        | EventBody::QueryFailed { response, objects, .. }
        | EventBody::QueryCancelled { response, objects } => (response, objects),
        _ => (String::new(), Vec::new()),
    };
    let message = format!("the session store failed, so this query is not kept: {error}");
    let body = EventBody::QueryFailed { code: FailureCode::Internal, message, response, objects };
    // Events that were not stored were not shown either: the numbers go on from what was.
    Event { seq: shown + 1, body, ..closing }
}

pub(crate) fn new_id<T: std::str::FromStr>() -> T
where
    T::Err: std::fmt::Debug,
{
    let text = uuid::Uuid::now_v7().to_string();
    match text.parse() {
        Ok(id) => id,
        Err(e) => unreachable!("a UUID is a valid id: {e:?}"),
    }
}
