//! Every way a store can fail: what happened, why, and what helps.

use std::path::PathBuf;

use elysia_types::{Failure, FailureCode, QueryId, SessionId};

/// Why a session could not be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// A target that no store understands.
    #[error("`{target}` is not a store: {reason}")]
    Target { target: String, reason: &'static str },
    /// The file or its folder cannot be made or opened.
    #[error("the session store `{}` cannot be opened: {reason}", .path.display())]
    Open { path: PathBuf, reason: String },
    /// The file may be read but not written.
    #[error("the session store `{}` is read-only", .path.display())]
    ReadOnly { path: PathBuf },
    /// No space left.
    #[error("the disk of the session store `{}` is full", .path.display())]
    Full { path: PathBuf },
    /// Another process holds the file for too long.
    #[error("the session store `{}` is locked by another process", .path.display())]
    Locked { path: PathBuf },
    /// Not a store, or a damaged one.
    #[error("the session store `{}` is damaged or not a session store: {reason}", .path.display())]
    Corrupt { path: PathBuf, reason: String },
    /// Written by a newer version.
    #[error("the session store `{}` has schema version {found}, newer than the {known} known here", .path.display())]
    Newer { path: PathBuf, found: i64, known: i64 },
    /// Any other failure of reading or writing.
    #[error("the session store `{}` failed: {reason}", .path.display())]
    Io { path: PathBuf, reason: String },
    /// Unknown session.
    #[error("there is no session `{0}`")]
    NoSession(SessionId),
    /// The id is taken.
    #[error("there is a session `{0}` already")]
    SessionExists(SessionId),
    /// The id is taken.
    #[error("there is a query `{0}` already")]
    QueryExists(QueryId),
    /// One query per session at a time.
    #[error("session `{session}` is busy: query `{query}` is running in it, in this or another process")]
    Busy { session: SessionId, query: QueryId },
    /// The query is not running, or not through this store.
    #[error("query `{query}` is not running in session `{session}`")]
    NotRunning { session: SessionId, query: QueryId },
    /// Two events with one number.
    #[error("event {seq} of query `{query}` is recorded already and differs")]
    EventConflict { query: QueryId, seq: u64 },
    /// A document that cannot be imported.
    #[error("the session document is not valid: {0}")]
    Document(String),
}

impl StoreError {
    /// What the user can do, for a `hint:` line.
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Target { .. } => "give a path: `--store PATH`",
            Self::Open { .. } => "choose a place you may write to with `--store PATH`, or use `--no-save`",
            Self::ReadOnly { .. } => "make the file and its folder writable, or choose another with `--store PATH`",
            Self::Full { .. } => "free some space, `session delete` what is not needed, or use `--no-save`",
            Self::Locked { .. } => "wait for the other process, or stop it",
            Self::Corrupt { .. } => "move the file away to begin anew, or restore a copy of it; it was left as it is",
            Self::Newer { .. } => "use the newer `elysia-host`, or another file with `--store PATH`",
            Self::NoSession(_) => "see `elysia-host session list`",
            Self::Busy { .. } => "wait until it ends, or begin another session",
            Self::Document(_) => "give a file written by `elysia-host session export`",
            Self::Io { .. }
            | Self::SessionExists(_)
            | Self::QueryExists(_)
            | Self::NotRunning { .. }
            | Self::EventConflict { .. } => return None,
        };
        Some(hint.to_owned())
    }

    /// The failure as the rest of the host tells it: code `config` for what the user can set right, else `internal`.
    pub fn to_failure(&self) -> Failure {
        let code = match self {
            Self::NoSession(_) => FailureCode::NotFound,
            Self::Busy { .. } | Self::Locked { .. } => FailureCode::Unavailable,
            Self::Io { .. }
            | Self::SessionExists(_)
            | Self::QueryExists(_)
            | Self::NotRunning { .. }
            | Self::EventConflict { .. } => FailureCode::Internal,
            _ => FailureCode::Config,
        };
        Failure::new(code, self.to_string())
    }
}
