//! The schema and its versions: forward only, each step in one transaction with its number.

use sqlx::sqlite::SqliteConnection;
use sqlx::{Connection, Executor};

/// Step n makes version n + 1 of version n.
const STEPS: [&str; 1] = [include_str!("../migrations/0001_sessions.sql")];

/// The version this build knows.
pub(crate) const KNOWN: i64 = STEPS.len() as i64;

/// Marks a file as ours: `ELYS`.
const APPLICATION: i64 = 0x454C_5953;

/// What a file turned out to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// Of the known version, now if not before.
    Ready,
    /// Of this newer version; untouched.
    Newer(i64),
    /// A database of something else; untouched.
    Foreign,
}

/// Brings the database to the known version.
pub(crate) async fn migrate(connection: &mut SqliteConnection) -> Result<Found, sqlx::Error> {
    // Most openings find everything done and need no lock.
    // One transaction, so that all of it is of one moment: another process may be making the tables right now.
    let mut glance = connection.begin().await?;
    let found = look(&mut glance).await?;
    glance.rollback().await?;
    if let Some(found) = found {
        return Ok(found);
    }
    let mut tx = connection.begin_with("BEGIN IMMEDIATE").await?;
    // Another process may have done it meanwhile.
    if let Some(found) = look(&mut tx).await? {
        return Ok(found);
    }
    let version: i64 = sqlx::query_scalar("PRAGMA user_version").fetch_one(&mut *tx).await?;
    let done = usize::try_from(version).unwrap_or_default();
    for step in STEPS.iter().skip(done) {
        tx.execute(sqlx::raw_sql(*step)).await?;
    }
    // A pragma takes no parameters; both are numbers of ours.
    let marks = format!("PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {KNOWN};");
    tx.execute(sqlx::raw_sql(sqlx::AssertSqlSafe(marks))).await?;
    tx.commit().await?;
    Ok(Found::Ready)
}

/// What there is; `None` when steps are to be done.
async fn look(connection: &mut SqliteConnection) -> Result<Option<Found>, sqlx::Error> {
    let application: i64 = sqlx::query_scalar("PRAGMA application_id").fetch_one(&mut *connection).await?;
    let version: i64 = sqlx::query_scalar("PRAGMA user_version").fetch_one(&mut *connection).await?;
    let n_tables: i64 = sqlx::query_scalar("SELECT count(*) FROM sqlite_schema").fetch_one(&mut *connection).await?;
    Ok(match (application, version) {
        (APPLICATION, KNOWN) => Some(Found::Ready),
        (APPLICATION, newer) if newer > KNOWN => Some(Found::Newer(newer)),
        (APPLICATION, _) => None,
        (0, 0) if n_tables == 0 => None,
        _ => Some(Found::Foreign),
    })
}
