//! Sessions in one SQLite file, which several processes may use at once.
//!
//! Write-ahead log, so that readers and the one writer do not wait for each other. `synchronous = FULL`: an event is
//! acknowledged once it is on the disk, so it survives a power cut as well as `kill -9`; `NORMAL` would survive only
//! the latter, and the cost is one sync per batch of events.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use elysia_types::{Event, QueryId, SessionId, StoredEntry, StoredLocation};
use sqlx::SqliteConnection;
use sqlx::sqlite::SqlitePool;

use crate::document::SessionDocument;
use crate::error::StoreError;
use crate::owner::Owner;
use crate::record::{Commit, QueryStatus, SessionRecord, SessionSummary};
use crate::session::SessionStore;
use crate::sqlite::transaction::Tx;

mod errors;
mod file;
mod read;
mod transaction;
mod write;

/// The store at `target`: a path, or `sqlite:PATH`. The file and its folders are made when missing, for the user
/// alone. Running queries of dead processes become `interrupted`.
///
/// # Errors
/// [`StoreError`]: a damaged, foreign or newer file is left as it is.
pub async fn open(target: &str) -> Result<Arc<dyn SessionStore>, StoreError> {
    Ok(Arc::new(SqliteStore::open(file::path_of(target)?).await?))
}

/// The store.
pub(crate) struct SqliteStore {
    path: PathBuf,
    owners: PathBuf,
    /// One connection: writers of this process queue here rather than at the file.
    writer: SqlitePool,
    /// Connected when first needed.
    readers: SqlitePool,
    /// Claimed by the first query begun: who only reads leaves no trace.
    owner: Mutex<Option<Arc<Owner>>>,
}

impl SqliteStore {
    pub(crate) async fn open(path: PathBuf) -> Result<Self, StoreError> {
        file::prepare(&path)?;
        let (writer, readers) = file::connect(&path).await?;
        let mut owners = path.clone().into_os_string();
        owners.push("-owners");
        let store = Self { path, owners: owners.into(), writer, readers, owner: Mutex::default() };
        store.repair().await?;
        Ok(store)
    }

    fn owner(&self) -> Result<Arc<Owner>, StoreError> {
        let mut slot = self.owner.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(owner) = &*slot {
            return Ok(owner.clone());
        }
        let owner = Owner::claim(&self.owners).map_err(|e| StoreError::Open {
            path: self.owners.clone(),
            reason: format!("no lock file can be made in it: {e}"),
        })?;
        Ok(slot.insert(Arc::new(owner)).clone())
    }

    fn owner_id(&self) -> Option<String> {
        let slot = self.owner.lock().unwrap_or_else(PoisonError::into_inner);
        slot.as_ref().map(|owner| owner.id().to_owned())
    }

    /// A transaction that may write from the start. One that begins as a reader could not wait for another writer
    /// when it turns into one.
    async fn write(&self) -> Result<Tx, StoreError> {
        Tx::start(&self.writer, "BEGIN IMMEDIATE").await.map_err(|e| self.error(e))
    }

    /// A transaction that sees one moment.
    async fn read(&self) -> Result<Tx, StoreError> {
        Tx::start(&self.readers, "BEGIN").await.map_err(|e| self.error(e))
    }

    async fn done(&self, tx: Tx) -> Result<(), StoreError> {
        tx.commit().await.map_err(|e| self.error(e))
    }

    fn error(&self, error: sqlx::Error) -> StoreError {
        errors::translate(error, &self.path)
    }
}

#[async_trait]
impl SessionStore for SqliteStore {
    async fn create(&self, id: &SessionId) -> Result<(), StoreError> {
        let mut tx = self.write().await?;
        self.insert_session(&mut tx, id).await?;
        self.done(tx).await
    }

    async fn load(&self, id: &SessionId) -> Result<Option<SessionRecord>, StoreError> {
        let mut tx = self.read().await?;
        let found = self.read_session(&mut tx, id).await?;
        self.done(tx).await?;
        Ok(found)
    }

    async fn revision(&self, id: &SessionId) -> Result<u64, StoreError> {
        let mut tx = self.read().await?;
        let revision: Option<i64> = sqlx::query_scalar("SELECT revision FROM sessions WHERE id = ?")
            .bind(id.as_str())
            .fetch_optional(&mut *tx)
            .await
            .map_err(|e| self.error(e))?;
        self.done(tx).await?;
        revision.map(i64::unsigned_abs).ok_or_else(|| StoreError::NoSession(id.clone()))
    }

    async fn begin(&self, session: &SessionId, query: &QueryId, prompt: Option<&str>) -> Result<(), StoreError> {
        let owner = self.owner()?;
        let mut tx = self.write().await?;
        let number = self.number_of(&mut tx, session).await?;
        self.free(&mut tx, session, number).await?;
        self.insert_query(&mut tx, number, query, prompt, owner.id()).await?;
        self.touch(&mut tx, number).await?;
        self.done(tx).await
    }

    async fn append(&self, session: &SessionId, query: &QueryId, events: &[Event]) -> Result<(), StoreError> {
        let mut tx = self.write().await?;
        let (_, number) = self.running(&mut tx, session, query).await?;
        self.insert_events(&mut tx, query, number, events).await?;
        self.done(tx).await
    }

    async fn commit(&self, commit: Commit) -> Result<(), StoreError> {
        let mut tx = self.write().await?;
        let (session, query) = self.running(&mut tx, &commit.session, &commit.query).await?;
        self.insert_messages(&mut tx, session, &commit.messages).await?;
        self.write_environment(&mut tx, session, commit.replaces_environment, &commit.locations, &commit.entries)
            .await?;
        self.write_states(&mut tx, session, &commit.states).await?;
        self.insert_events(&mut tx, &commit.query, query, &commit.last_events).await?;
        self.end_query(&mut tx, query, commit.status).await?;
        self.touch(&mut tx, session).await?;
        self.bump(&mut tx, session).await?;
        self.done(tx).await
    }

    async fn interrupt(&self, session: &SessionId, query: &QueryId) -> Result<(), StoreError> {
        let mut tx = self.write().await?;
        let (_, number) = self.running(&mut tx, session, query).await?;
        self.end_query(&mut tx, number, QueryStatus::Interrupted).await?;
        self.done(tx).await
    }

    async fn replace_environment(
        &self,
        session: &SessionId,
        locations: Vec<StoredLocation>,
        entries: Vec<StoredEntry>,
    ) -> Result<(), StoreError> {
        let mut tx = self.write().await?;
        let number = self.number_of(&mut tx, session).await?;
        self.free(&mut tx, session, number).await?;
        self.write_environment(&mut tx, number, true, &locations, &entries).await?;
        self.bump(&mut tx, number).await?;
        self.done(tx).await
    }

    async fn list(&self) -> Result<Vec<SessionSummary>, StoreError> {
        let mut tx = self.read().await?;
        let found = self.read_list(&mut tx).await?;
        self.done(tx).await?;
        Ok(found)
    }

    async fn last(&self) -> Result<Option<SessionId>, StoreError> {
        let mut tx = self.read().await?;
        let found = self.read_last(&mut tx).await?;
        self.done(tx).await?;
        Ok(found)
    }

    async fn events(&self, query: &QueryId, after: u64) -> Result<Vec<Event>, StoreError> {
        let mut tx = self.read().await?;
        let found = self.read_events(&mut tx, query, after).await?;
        self.done(tx).await?;
        Ok(found)
    }

    async fn delete(&self, id: &SessionId) -> Result<bool, StoreError> {
        let mut tx = self.write().await?;
        let number = match self.number_of(&mut tx, id).await {
            Ok(number) => number,
            Err(StoreError::NoSession(_)) => return Ok(false),
            Err(error) => return Err(error),
        };
        self.free(&mut tx, id, number).await?;
        self.delete_session(&mut tx, number).await?;
        self.done(tx).await?;
        Ok(true)
    }

    async fn export(&self, id: &SessionId) -> Result<Option<SessionDocument>, StoreError> {
        let mut tx = self.read().await?;
        let Some(record) = self.read_session(&mut tx, id).await? else {
            return Ok(None);
        };
        let mut events = std::collections::HashMap::new();
        for query in &record.queries {
            events.insert(query.id.clone(), self.read_events(&mut tx, &query.id, 0).await?);
        }
        self.done(tx).await?;
        Ok(Some(SessionDocument::build(record, events)))
    }

    async fn import(&self, mut document: SessionDocument) -> Result<SessionId, StoreError> {
        document.settle()?;
        let mut tx = self.write().await?;
        if self.is_taken(&mut tx, &document).await? {
            document.renew_ids()?;
        }
        let id = document.id.clone();
        self.insert_document(&mut tx, document).await?;
        self.done(tx).await?;
        Ok(id)
    }

    async fn repair(&self) -> Result<usize, StoreError> {
        // Nearly always there is nothing to do, and looking needs no lock.
        let mut look = self.read().await?;
        let found = self.dead_queries(&mut look).await?;
        self.done(look).await?;
        if found.is_empty() {
            return Ok(0);
        }
        let mut tx = self.write().await?;
        let dead = self.dead_queries(&mut tx).await?;
        for number in &dead {
            self.end_query(&mut tx, *number, QueryStatus::Interrupted).await?;
        }
        self.done(tx).await?;
        Ok(dead.len())
    }
}

/// What the methods of `read` and `write` work on: any connection in a transaction.
type Link = SqliteConnection;

#[cfg(test)]
mod tests;
