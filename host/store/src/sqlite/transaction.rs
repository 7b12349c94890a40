//! A transaction that leaves no trace on its connection, whatever happens to it.
//!
//! Not sqlx's own: where SQLite has undone a transaction by itself, as it does when the disk is full, sqlx takes the
//! connection for one in a transaction ever after. Here a connection whose transaction did not end well is closed.

use std::ops::{Deref, DerefMut};

use sqlx::pool::PoolConnection;
use sqlx::sqlite::{Sqlite, SqlitePool};
use sqlx::{Executor, SqliteConnection};

/// A transaction. Dropping it undoes it.
pub(crate) struct Tx {
    connection: PoolConnection<Sqlite>,
    open: bool,
}

impl Tx {
    /// Begins with `begin`.
    pub(crate) async fn start(pool: &SqlitePool, begin: &'static str) -> Result<Self, sqlx::Error> {
        // Open from before the statement: it may take effect although nobody waits for it any more.
        let mut tx = Self { connection: pool.acquire().await?, open: true };
        tx.connection.execute(begin).await?;
        Ok(tx)
    }

    /// Makes it last.
    pub(crate) async fn commit(mut self) -> Result<(), sqlx::Error> {
        self.connection.execute("COMMIT").await?;
        self.open = false;
        Ok(())
    }
}

impl Drop for Tx {
    fn drop(&mut self) {
        if self.open {
            self.connection.close_on_drop();
        }
    }
}

impl Deref for Tx {
    type Target = SqliteConnection;
    fn deref(&self) -> &SqliteConnection {
        &self.connection
    }
}

impl DerefMut for Tx {
    fn deref_mut(&mut self) -> &mut SqliteConnection {
        &mut self.connection
    }
}
