//! The file: found, made for the user alone, looked at before SQLite may touch it, connected.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use sqlx::ConnectOptions;
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePool, SqlitePoolOptions, SqliteSynchronous};

use crate::error::StoreError;
use crate::migrate::{Found, KNOWN, migrate};
use crate::sqlite::errors::translate;

/// How long to wait for another process that writes.
const BUSY: Duration = Duration::from_secs(5);

const MAGIC: &[u8; 16] = b"SQLite format 3\0";

/// The path that a target names.
pub(crate) fn path_of(target: &str) -> Result<PathBuf, StoreError> {
    let bad = |reason| Err(StoreError::Target { target: shown(target), reason });
    let path = match target.split_once(':') {
        Some(("sqlite", rest)) => rest.strip_prefix("//").unwrap_or(rest),
        Some(("postgres" | "postgresql", _)) => return bad("PostgreSQL is not available in this version"),
        Some((_, rest)) if rest.starts_with("//") => return bad("only files and `sqlite:` are known"),
        _ => target,
    };
    match path {
        "" => bad("the path is empty"),
        ":memory:" => bad("sessions in memory are lost at once; `--no-save` is the way to say that"),
        _ if path.contains('\0') => bad("a path cannot hold a zero byte"),
        _ => Ok(PathBuf::from(path)),
    }
}

/// A target without a password.
fn shown(target: &str) -> String {
    match (target.split_once("://"), target.rsplit_once('@')) {
        (Some((scheme, _)), Some((_, host))) => format!("{scheme}://***@{host}"),
        _ => target.to_owned(),
    }
}

/// Makes folders and file where missing, and makes sure that what is there is a database: SQLite would take some
/// damaged files for new ones.
pub(crate) fn prepare(path: &Path) -> Result<(), StoreError> {
    let fail =
        |error: &io::Error, what: &str| StoreError::Open { path: path.to_owned(), reason: format!("{what}: {error}") };
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(folder)
            .map_err(|e| fail(&e, "its folder cannot be made"))?;
    }
    match OpenOptions::new().write(true).create_new(true).mode(0o600).open(path) {
        Ok(_) => return Ok(()),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        Err(error) => return Err(fail(&error, "it cannot be made")),
    }
    let kind = fs::metadata(path).map_err(|e| fail(&e, "it cannot be looked at"))?;
    if !kind.is_file() {
        return Err(StoreError::Open { path: path.to_owned(), reason: "it is not a file".to_owned() });
    }
    let mut head = Vec::new();
    File::open(path)
        .and_then(|file| file.take(16).read_to_end(&mut head))
        .map_err(|e| fail(&e, "it cannot be read"))?;
    // An empty one is what a process leaves that is stopped right after making it.
    if !head.is_empty() && head != MAGIC {
        let reason = "it does not begin as an SQLite file does".to_owned();
        return Err(StoreError::Corrupt { path: path.to_owned(), reason });
    }
    match OpenOptions::new().write(true).open(path) {
        Ok(_) => Ok(()),
        Err(error) if matches!(error.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem) => {
            Err(StoreError::ReadOnly { path: path.to_owned() })
        }
        Err(error) => Err(fail(&error, "it cannot be written")),
    }
}

/// Connects the writer, brings the schema up to date, and readies the readers.
pub(crate) async fn connect(path: &Path) -> Result<(SqlitePool, SqlitePool), StoreError> {
    let options = SqliteConnectOptions::new()
        .filename(path)
        .create_if_missing(false)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Full)
        .foreign_keys(true)
        .busy_timeout(BUSY)
        .optimize_on_close(false, None)
        .disable_statement_logging();
    // No task that tends the pool: connections stay until the store goes.
    let pool = || {
        SqlitePoolOptions::new()
            .min_connections(0)
            .idle_timeout(None)
            .max_lifetime(None)
            .test_before_acquire(false)
            .acquire_timeout(Duration::from_secs(30))
    };
    let began = Instant::now();
    let writer = loop {
        match pool().max_connections(1).connect_with(options.clone()).await {
            Ok(writer) => break writer,
            // Turning the log on does not wait for others by itself.
            Err(error) => match translate(error, path) {
                StoreError::Locked { .. } if began.elapsed() < BUSY => {
                    tokio::time::sleep(Duration::from_millis(20)).await
                }
                error => return Err(error),
            },
        }
    };
    let mut connection = writer.acquire().await.map_err(|e| translate(e, path))?;
    match migrate(&mut connection).await.map_err(|e| translate(e, path))? {
        Found::Ready => {}
        Found::Newer(found) => {
            return Err(StoreError::Newer { path: path.to_owned(), found, known: KNOWN });
        }
        Found::Foreign => {
            let reason = "it is a database of something else".to_owned();
            return Err(StoreError::Corrupt { path: path.to_owned(), reason });
        }
    }
    drop(connection);
    let readers = pool().max_connections(2).connect_lazy_with(options);
    Ok((writer, readers))
}
