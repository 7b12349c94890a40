//! Writing rows. Every method works within the caller's transaction.

use elysia_types::{Event, Message, PluginName, PluginState, QueryId, Role, SessionId, StoredEntry, StoredLocation};
use indexmap::IndexMap;
use serde::Serialize;

use super::{Link, SqliteStore, errors};
use crate::document::SessionDocument;
use crate::error::StoreError;
use crate::owner;
use crate::record::{QueryStatus, now};

impl SqliteStore {
    pub(super) async fn number_of(&self, tx: &mut Link, session: &SessionId) -> Result<i64, StoreError> {
        let number: Option<i64> = sqlx::query_scalar("SELECT number FROM sessions WHERE id = ?")
            .bind(session.as_str())
            .fetch_optional(tx)
            .await
            .map_err(|e| self.error(e))?;
        number.ok_or_else(|| StoreError::NoSession(session.clone()))
    }

    pub(super) async fn insert_session(&self, tx: &mut Link, id: &SessionId) -> Result<(), StoreError> {
        let time = now();
        let inserted = sqlx::query("INSERT INTO sessions (id, created_at, updated_at) VALUES (?, ?, ?)")
            .bind(id.as_str())
            .bind(&time)
            .bind(&time)
            .execute(tx)
            .await;
        match inserted {
            Ok(_) => Ok(()),
            Err(error) if errors::is_taken(&error) => Err(StoreError::SessionExists(id.clone())),
            Err(error) => Err(self.error(error)),
        }
    }

    pub(super) async fn touch(&self, tx: &mut Link, session: i64) -> Result<(), StoreError> {
        let update = sqlx::query("UPDATE sessions SET updated_at = ? WHERE number = ?").bind(now()).bind(session);
        update.execute(tx).await.map(drop).map_err(|e| self.error(e))
    }

    pub(super) async fn bump(&self, tx: &mut Link, session: i64) -> Result<(), StoreError> {
        let update = sqlx::query("UPDATE sessions SET revision = revision + 1 WHERE number = ?").bind(session);
        update.execute(tx).await.map(drop).map_err(|e| self.error(e))
    }

    /// Makes sure that no query runs in the session; one of a dead process becomes interrupted.
    pub(super) async fn free(&self, tx: &mut Link, session: &SessionId, number: i64) -> Result<(), StoreError> {
        let running: Option<(i64, String, String)> =
            sqlx::query_as("SELECT number, id, owner FROM queries WHERE session = ? AND status = 'running'")
                .bind(number)
                .fetch_optional(&mut *tx)
                .await
                .map_err(|e| self.error(e))?;
        let Some((query, id, owner)) = running else {
            return Ok(());
        };
        if owner::is_alive(&self.owners, &owner) {
            let query = id.parse().map_err(|e| self.corrupt(&e))?;
            return Err(StoreError::Busy { session: session.clone(), query });
        }
        self.end_query(tx, query, QueryStatus::Interrupted).await
    }

    pub(super) async fn insert_query(
        &self,
        tx: &mut Link,
        session: i64,
        query: &QueryId,
        prompt: Option<&str>,
        owner: &str,
    ) -> Result<(), StoreError> {
        let inserted = sqlx::query(
            "INSERT INTO queries (id, session, prompt, status, started_at, owner) VALUES (?, ?, ?, 'running', ?, ?)",
        )
        .bind(query.as_str())
        .bind(session)
        .bind(prompt)
        .bind(now())
        .bind(owner)
        .execute(tx)
        .await;
        match inserted {
            Ok(_) => Ok(()),
            // Nothing else is running by now, so it is the id.
            Err(error) if errors::is_taken(&error) => Err(StoreError::QueryExists(query.clone())),
            Err(error) => Err(self.error(error)),
        }
    }

    /// Numbers of session and query, when this store runs it.
    pub(super) async fn running(
        &self,
        tx: &mut Link,
        session: &SessionId,
        query: &QueryId,
    ) -> Result<(i64, i64), StoreError> {
        let row: Option<(i64, i64)> = sqlx::query_as(
            "SELECT s.number, q.number FROM queries q JOIN sessions s ON s.number = q.session
             WHERE q.id = ? AND s.id = ? AND q.status = 'running' AND q.owner = ?",
        )
        .bind(query.as_str())
        .bind(session.as_str())
        .bind(self.owner_id())
        .fetch_optional(tx)
        .await
        .map_err(|e| self.error(e))?;
        row.ok_or_else(|| StoreError::NotRunning { session: session.clone(), query: query.clone() })
    }

    pub(super) async fn end_query(&self, tx: &mut Link, query: i64, status: QueryStatus) -> Result<(), StoreError> {
        sqlx::query("UPDATE queries SET status = ?, owner = NULL WHERE number = ?")
            .bind(status.as_str())
            .bind(query)
            .execute(tx)
            .await
            .map(drop)
            .map_err(|e| self.error(e))
    }

    pub(super) async fn insert_events(
        &self,
        tx: &mut Link,
        query: &QueryId,
        number: i64,
        events: &[Event],
    ) -> Result<(), StoreError> {
        for event in events {
            let conflict = || StoreError::EventConflict { query: query.clone(), seq: event.seq };
            if event.query_id != *query {
                return Err(conflict());
            }
            let seq = i64::try_from(event.seq).map_err(|_| conflict())?;
            let body = self.text(event)?;
            let inserted = sqlx::query("INSERT INTO events (query, seq, body) VALUES (?, ?, ?) ON CONFLICT DO NOTHING")
                .bind(number)
                .bind(seq)
                .bind(&body)
                .execute(&mut *tx)
                .await
                .map_err(|e| self.error(e))?;
            if inserted.rows_affected() == 1 {
                continue;
            }
            let there: String = sqlx::query_scalar("SELECT body FROM events WHERE query = ? AND seq = ?")
                .bind(number)
                .bind(seq)
                .fetch_one(&mut *tx)
                .await
                .map_err(|e| self.error(e))?;
            if there != body {
                return Err(conflict());
            }
        }
        Ok(())
    }

    pub(super) async fn insert_messages(
        &self,
        tx: &mut Link,
        session: i64,
        messages: &[Message],
    ) -> Result<(), StoreError> {
        for message in messages {
            let role = match message.role {
                Role::User => "user",
                Role::Assistant => "assistant",
            };
            sqlx::query("INSERT INTO messages (session, role, text) VALUES (?, ?, ?)")
                .bind(session)
                .bind(role)
                .bind(&message.text)
                .execute(&mut *tx)
                .await
                .map_err(|e| self.error(e))?;
        }
        Ok(())
    }

    pub(super) async fn write_environment(
        &self,
        tx: &mut Link,
        session: i64,
        replaces: bool,
        locations: &[StoredLocation],
        entries: &[StoredEntry],
    ) -> Result<(), StoreError> {
        if replaces {
            for sql in ["DELETE FROM entries WHERE session = ?", "DELETE FROM locations WHERE session = ?"] {
                sqlx::query(sql).bind(session).execute(&mut *tx).await.map_err(|e| self.error(e))?;
            }
        }
        for location in locations {
            sqlx::query(
                "INSERT INTO locations (session, tool, name, dropped) VALUES (?, ?, ?, ?)
                 ON CONFLICT (session, tool, name) DO UPDATE SET dropped = excluded.dropped
                 WHERE dropped <> excluded.dropped",
            )
            .bind(session)
            .bind(location.tool.as_str())
            .bind(location.name.as_str())
            .bind(i64::try_from(location.dropped).unwrap_or(i64::MAX))
            .execute(&mut *tx)
            .await
            .map_err(|e| self.error(e))?;
        }
        for entry in entries {
            sqlx::query("INSERT INTO entries (session, tool, name, rank, metadata, objects) VALUES (?, ?, ?, ?, ?, ?)")
                .bind(session)
                .bind(entry.tool.as_str())
                .bind(entry.name.as_str())
                .bind(i64::try_from(entry.rank).unwrap_or(i64::MAX))
                .bind(self.text(&entry.metadata)?)
                .bind(self.text(&entry.objects)?)
                .execute(&mut *tx)
                .await
                .map_err(|e| self.error(e))?;
        }
        Ok(())
    }

    pub(super) async fn write_states(
        &self,
        tx: &mut Link,
        session: i64,
        states: &IndexMap<PluginName, PluginState>,
    ) -> Result<(), StoreError> {
        for (plugin, state) in states {
            let written = if state.is_empty() {
                sqlx::query("DELETE FROM states WHERE session = ? AND plugin = ?").bind(session).bind(plugin.as_str())
            } else {
                sqlx::query(
                    "INSERT INTO states (session, plugin, state) VALUES (?, ?, ?)
                     ON CONFLICT (session, plugin) DO UPDATE SET state = excluded.state",
                )
                .bind(session)
                .bind(plugin.as_str())
                .bind(self.text(state)?)
            };
            written.execute(&mut *tx).await.map_err(|e| self.error(e))?;
        }
        Ok(())
    }

    pub(super) async fn delete_session(&self, tx: &mut Link, session: i64) -> Result<(), StoreError> {
        let delete = sqlx::query("DELETE FROM sessions WHERE number = ?").bind(session);
        delete.execute(tx).await.map(drop).map_err(|e| self.error(e))
    }

    /// Whether the document's session or one of its queries has an id that is in use.
    pub(super) async fn is_taken(&self, tx: &mut Link, document: &SessionDocument) -> Result<bool, StoreError> {
        let exists = |sql, id: String| sqlx::query_scalar::<_, i64>(sql).bind(id);
        let sessions = exists("SELECT count(*) FROM sessions WHERE id = ?", document.id.to_string());
        if sessions.fetch_one(&mut *tx).await.map_err(|e| self.error(e))? > 0 {
            return Ok(true);
        }
        for query in &document.queries {
            let queries = exists("SELECT count(*) FROM queries WHERE id = ?", query.id.to_string());
            if queries.fetch_one(&mut *tx).await.map_err(|e| self.error(e))? > 0 {
                return Ok(true);
            }
        }
        Ok(false)
    }

    pub(super) async fn insert_document(&self, tx: &mut Link, mut document: SessionDocument) -> Result<(), StoreError> {
        self.insert_session(tx, &document.id).await?;
        let session = self.number_of(tx, &document.id).await?;
        sqlx::query("UPDATE sessions SET created_at = ?, updated_at = ? WHERE number = ?")
            .bind(&document.created_at)
            .bind(&document.updated_at)
            .bind(session)
            .execute(&mut *tx)
            .await
            .map_err(|e| self.error(e))?;
        self.insert_messages(tx, session, &document.messages).await?;
        let entries = document.take_entries();
        self.write_environment(tx, session, true, &document.order.locations, &entries).await?;
        self.write_states(tx, session, &document.states).await?;
        for query in document.queries {
            let number: i64 = sqlx::query_scalar(
                "INSERT INTO queries (id, session, prompt, status, started_at) VALUES (?, ?, ?, ?, ?) RETURNING number",
            )
            .bind(query.id.as_str())
            .bind(session)
            .bind(&query.prompt)
            .bind(query.status.as_str())
            .bind(&query.started_at)
            .fetch_one(&mut *tx)
            .await
            .map_err(|e| self.error(e))?;
            self.insert_events(tx, &query.id, number, &query.events).await?;
        }
        Ok(())
    }

    fn text(&self, value: &impl Serialize) -> Result<String, StoreError> {
        serde_json::to_string(value).map_err(|e| StoreError::Io { path: self.path.clone(), reason: e.to_string() })
    }
}
