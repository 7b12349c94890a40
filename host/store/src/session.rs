//! The trait every store implements; fit for one file and for a database of several hosts.

use async_trait::async_trait;
use elysia_types::{Event, QueryId, SessionId, StoredEntry, StoredLocation};

use crate::document::SessionDocument;
use crate::error::StoreError;
use crate::record::{Commit, SessionRecord, SessionSummary};

/// Sessions at rest.
///
/// Every change is durable when its method returns. Dropping a future before that leaves the change either whole or
/// undone. Several processes may use one store at once; they never run two queries of one session at once.
#[async_trait]
pub trait SessionStore: Send + Sync {
    /// Makes an empty session.
    ///
    /// # Errors
    /// [`StoreError::SessionExists`].
    async fn create(&self, id: &SessionId) -> Result<(), StoreError>;

    /// The session as of its last commit; `None` when there is no such session.
    async fn load(&self, id: &SessionId) -> Result<Option<SessionRecord>, StoreError>;

    /// A number that grows with every change of history, environment or state; equal numbers mean that a record
    /// loaded earlier is still right.
    ///
    /// # Errors
    /// [`StoreError::NoSession`].
    async fn revision(&self, id: &SessionId) -> Result<u64, StoreError>;

    /// Begins a query: from now on it is `running`, and no other can begin in this session.
    /// A running query whose process is dead does not count: it becomes `interrupted`.
    ///
    /// # Errors
    /// [`StoreError::Busy`] while another query runs; [`StoreError::NoSession`]; [`StoreError::QueryExists`].
    async fn begin(&self, session: &SessionId, query: &QueryId, prompt: Option<&str>) -> Result<(), StoreError>;

    /// Appends events of a running query, all or none; durable when it returns. Appending the same event again does
    /// nothing.
    ///
    /// # Errors
    /// [`StoreError::NotRunning`]; [`StoreError::EventConflict`] when another event has the same number.
    async fn append(&self, session: &SessionId, query: &QueryId, events: &[Event]) -> Result<(), StoreError>;

    /// Ends a running query and writes all it changed, in one transaction.
    ///
    /// # Errors
    /// [`StoreError::NotRunning`]; nothing is written then.
    async fn commit(&self, commit: Commit) -> Result<(), StoreError>;

    /// Gives a running query up without a commit: it becomes `interrupted`, its events stay, the session is free.
    ///
    /// # Errors
    /// [`StoreError::NotRunning`].
    async fn interrupt(&self, session: &SessionId, query: &QueryId) -> Result<(), StoreError>;

    /// Makes the environment exactly this, outside any query (`session trim`).
    ///
    /// # Errors
    /// [`StoreError::Busy`] while a query runs; [`StoreError::NoSession`].
    async fn replace_environment(
        &self,
        session: &SessionId,
        locations: Vec<StoredLocation>,
        entries: Vec<StoredEntry>,
    ) -> Result<(), StoreError>;

    /// All sessions, the one used last first.
    async fn list(&self) -> Result<Vec<SessionSummary>, StoreError>;

    /// The session used last.
    async fn last(&self) -> Result<Option<SessionId>, StoreError>;

    /// Events of a query with a number above `after`, in order; none for an unknown query.
    async fn events(&self, query: &QueryId, after: u64) -> Result<Vec<Event>, StoreError>;

    /// Deletes a session with all that belongs to it; whether there was one.
    ///
    /// # Errors
    /// [`StoreError::Busy`] while a query runs in it.
    async fn delete(&self, id: &SessionId) -> Result<bool, StoreError>;

    /// The session as one document; `None` when there is no such session.
    async fn export(&self, id: &SessionId) -> Result<Option<SessionDocument>, StoreError>;

    /// Makes a session from a document and returns its id: the document's, or a new one when that is taken. In the
    /// latter case queries get new ids too, in events as well.
    ///
    /// # Errors
    /// [`StoreError::Document`] with the reason; nothing is written then.
    async fn import(&self, document: SessionDocument) -> Result<SessionId, StoreError>;

    /// Makes running queries of dead processes `interrupted`; how many there were.
    async fn repair(&self) -> Result<usize, StoreError>;
}
