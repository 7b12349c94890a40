//! SQLite's codes as our errors.

use std::path::Path;

use crate::error::StoreError;

/// Our error for sqlx's.
pub(crate) fn translate(error: sqlx::Error, path: &Path) -> StoreError {
    let path = path.to_owned();
    let reason = error.to_string();
    match &error {
        sqlx::Error::PoolTimedOut => return StoreError::Locked { path },
        sqlx::Error::ColumnDecode { .. } | sqlx::Error::Decode(_) => return StoreError::Corrupt { path, reason },
        _ => {}
    }
    let database = error.as_database_error();
    let reason = database.map_or(reason, |e| e.message().to_owned());
    let code = database.and_then(|e| e.code()).and_then(|code| code.parse::<u32>().ok());
    // The lower byte is the kind, the rest says more about it.
    match code.map(|code| code & 0xff) {
        Some(5 | 6) => StoreError::Locked { path },
        Some(8) => StoreError::ReadOnly { path },
        Some(11 | 26) => StoreError::Corrupt { path, reason },
        Some(13) => StoreError::Full { path },
        Some(3 | 14 | 23) => StoreError::Open { path, reason },
        _ => StoreError::Io { path, reason },
    }
}

/// The extended code of a broken unique constraint.
pub(crate) fn is_taken(error: &sqlx::Error) -> bool {
    error.as_database_error().is_some_and(sqlx::error::DatabaseError::is_unique_violation)
}
