//! Sessions at rest: history, environment, plugin state, queries and their events.
//!
//! Does not know what an event means or how a plugin runs. Start with [`SessionStore`]: one query is one
//! [`SessionStore::begin`], any number of [`SessionStore::append`]s and one [`SessionStore::commit`].
//! Modules are listed bottom-up: each may use those above it; `error` is used by all.
#![forbid(unsafe_code)]

mod error;

mod record;

mod document;

mod session;

mod memory;

mod owner;

mod migrate;

mod sqlite;

#[cfg(test)]
mod tests;

pub use document::{DocumentEntry, FORMAT, SessionDocument, StoredOrder, StoredQuery, VERSION};
pub use error::StoreError;
pub use memory::memory;
pub use record::{Commit, QueryStatus, QuerySummary, SessionRecord, SessionSummary};
pub use session::SessionStore;
pub use sqlite::open;
