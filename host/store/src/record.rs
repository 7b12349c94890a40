//! What is kept of a session, and what one query changes in it.

use std::fmt;

use elysia_types::{
    Event, Message, PluginName, PluginState, QueryId, SessionId, StoredEntry, StoredLocation, clean_line,
};
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

/// A session as it is loaded to go on with it.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionRecord {
    /// Its id.
    pub id: SessionId,
    /// RFC 3339, UTC, six digits of a second.
    pub created_at: String,
    /// Likewise; the last beginning or end of a query.
    pub updated_at: String,
    /// The first prompt, cut to 80 characters; none before the first query with a prompt.
    pub title: Option<String>,
    /// History, oldest first.
    pub messages: Vec<Message>,
    /// Places of the environment, in order of creation.
    pub locations: Vec<StoredLocation>,
    /// Entries of the environment, in order of arrival.
    pub entries: Vec<StoredEntry>,
    /// State by plugin.
    pub states: IndexMap<PluginName, PluginState>,
    /// Queries, oldest first.
    pub queries: Vec<QuerySummary>,
}

/// One query of a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct QuerySummary {
    /// Its id.
    pub id: QueryId,
    /// The prompt; none for a direct call of a tool.
    pub prompt: Option<String>,
    /// How it stands.
    pub status: QueryStatus,
    /// RFC 3339, UTC.
    pub started_at: String,
}

/// How a query stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QueryStatus {
    /// Begun and not committed, by a process that lives.
    Running,
    /// Ended with an answer.
    Completed,
    /// Ended without one.
    Failed,
    /// Ended by the user.
    Cancelled,
    /// Its process died, or gave it up, before the commit.
    Interrupted,
}

impl QueryStatus {
    /// The status as it stands in JSON and in the store.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
            Self::Interrupted => "interrupted",
        }
    }

    pub(crate) fn parse(text: &str) -> Option<Self> {
        [Self::Running, Self::Completed, Self::Failed, Self::Cancelled, Self::Interrupted]
            .into_iter()
            .find(|status| status.as_str() == text)
    }
}

impl fmt::Display for QueryStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// All that one query changes, written at once or not at all.
#[derive(Clone, Debug)]
pub struct Commit {
    /// The session.
    pub session: SessionId,
    /// The query; it must be running, begun through this very store.
    pub query: QueryId,
    /// How it ended; not [`QueryStatus::Running`].
    pub status: QueryStatus,
    /// New messages.
    pub messages: Vec<Message>,
    /// Places of the environment: all of them, or those that are new or changed.
    pub locations: Vec<StoredLocation>,
    /// New entries; with `replaces_environment` all entries.
    pub entries: Vec<StoredEntry>,
    /// The environment becomes exactly `locations` and `entries`.
    pub replaces_environment: bool,
    /// Plugin states that changed, whole; an empty one is removed.
    pub states: IndexMap<PluginName, PluginState>,
    /// Events not appended yet.
    pub last_events: Vec<Event>,
}

/// One line of a list of sessions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SessionSummary {
    /// Its id.
    pub id: SessionId,
    /// The first prompt, cut to 80 characters.
    pub title: Option<String>,
    /// RFC 3339, UTC.
    pub created_at: String,
    /// RFC 3339, UTC.
    pub updated_at: String,
    /// Queries, however they ended.
    pub n_queries: u64,
    /// Messages of the history.
    pub n_messages: u64,
    /// Entries of the environment.
    pub n_entries: u64,
    /// How the last query stands.
    pub last_status: Option<QueryStatus>,
}

/// A prompt as a title: one clean line of at most 80 characters.
pub(crate) fn title_of(prompt: &str) -> String {
    let line = clean_line(prompt);
    match line.char_indices().nth(80) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default().trim_end()),
        None => line,
    }
}

/// Now, with six digits always, so that texts sort as times do.
pub(crate) fn now() -> String {
    format!("{:.6}", jiff::Timestamp::now())
}
