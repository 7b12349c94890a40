//! Reading rows back as what they were.

use elysia_types::{Event, Message, PluginName, PluginState, QueryId, Role, SessionId, StoredEntry, StoredLocation};
use indexmap::IndexMap;
use serde::de::DeserializeOwned;

use super::{Link, SqliteStore};
use crate::error::StoreError;
use crate::owner;
use crate::record::{QueryStatus, QuerySummary, SessionRecord, SessionSummary, title_of};

impl SqliteStore {
    pub(super) async fn read_session(
        &self,
        tx: &mut Link,
        id: &SessionId,
    ) -> Result<Option<SessionRecord>, StoreError> {
        let row: Option<(i64, String, String)> =
            sqlx::query_as("SELECT number, created_at, updated_at FROM sessions WHERE id = ?")
                .bind(id.as_str())
                .fetch_optional(&mut *tx)
                .await
                .map_err(|e| self.error(e))?;
        let Some((number, created_at, updated_at)) = row else {
            return Ok(None);
        };
        let queries = self.read_queries(tx, number).await?;
        Ok(Some(SessionRecord {
            id: id.clone(),
            created_at,
            updated_at,
            title: queries.iter().find_map(|q| q.prompt.as_deref()).map(title_of),
            messages: self.read_messages(tx, number).await?,
            locations: self.read_locations(tx, number).await?,
            entries: self.read_entries(tx, number).await?,
            states: self.read_states(tx, number).await?,
            queries,
        }))
    }

    async fn read_queries(&self, tx: &mut Link, session: i64) -> Result<Vec<QuerySummary>, StoreError> {
        let rows: Vec<(String, Option<String>, String, String)> =
            sqlx::query_as("SELECT id, prompt, status, started_at FROM queries WHERE session = ? ORDER BY number")
                .bind(session)
                .fetch_all(tx)
                .await
                .map_err(|e| self.error(e))?;
        rows.into_iter()
            .map(|(id, prompt, status, started_at)| {
                Ok(QuerySummary { id: self.parse(&id)?, prompt, status: self.status(&status)?, started_at })
            })
            .collect()
    }

    async fn read_messages(&self, tx: &mut Link, session: i64) -> Result<Vec<Message>, StoreError> {
        let rows: Vec<(String, String)> =
            sqlx::query_as("SELECT role, text FROM messages WHERE session = ? ORDER BY number")
                .bind(session)
                .fetch_all(tx)
                .await
                .map_err(|e| self.error(e))?;
        let messages = rows.into_iter().map(|(role, text)| Message {
            // The schema allows no third role.
            role: if role == "user" { Role::User } else { Role::Assistant },
            text,
        });
        Ok(messages.collect())
    }

    async fn read_locations(&self, tx: &mut Link, session: i64) -> Result<Vec<StoredLocation>, StoreError> {
        let rows: Vec<(String, String, i64)> =
            sqlx::query_as("SELECT tool, name, dropped FROM locations WHERE session = ? ORDER BY number")
                .bind(session)
                .fetch_all(tx)
                .await
                .map_err(|e| self.error(e))?;
        rows.into_iter()
            .map(|(tool, name, dropped)| {
                let dropped = usize::try_from(dropped).map_err(|e| self.corrupt(&e))?;
                Ok(StoredLocation { tool: self.parse(&tool)?, name: self.parse(&name)?, dropped })
            })
            .collect()
    }

    async fn read_entries(&self, tx: &mut Link, session: i64) -> Result<Vec<StoredEntry>, StoreError> {
        let rows: Vec<(String, String, i64, String, String)> =
            sqlx::query_as("SELECT tool, name, rank, metadata, objects FROM entries WHERE session = ? ORDER BY number")
                .bind(session)
                .fetch_all(tx)
                .await
                .map_err(|e| self.error(e))?;
        rows.into_iter()
            .map(|(tool, name, rank, metadata, objects)| {
                Ok(StoredEntry {
                    tool: self.parse(&tool)?,
                    name: self.parse(&name)?,
                    rank: u64::try_from(rank).map_err(|e| self.corrupt(&e))?,
                    metadata: self.json(&metadata)?,
                    objects: self.json(&objects)?,
                })
            })
            .collect()
    }

    async fn read_states(&self, tx: &mut Link, session: i64) -> Result<IndexMap<PluginName, PluginState>, StoreError> {
        let rows: Vec<(String, String)> =
            sqlx::query_as("SELECT plugin, state FROM states WHERE session = ? ORDER BY plugin")
                .bind(session)
                .fetch_all(tx)
                .await
                .map_err(|e| self.error(e))?;
        rows.into_iter().map(|(plugin, state)| Ok((self.parse(&plugin)?, self.json(&state)?))).collect()
    }

    pub(super) async fn read_events(
        &self,
        tx: &mut Link,
        query: &QueryId,
        after: u64,
    ) -> Result<Vec<Event>, StoreError> {
        let rows: Vec<String> = sqlx::query_scalar(
            "SELECT events.body FROM events JOIN queries ON queries.number = events.query
             WHERE queries.id = ? AND events.seq > ? ORDER BY events.seq",
        )
        .bind(query.as_str())
        // Numbers beyond what SQLite counts to are beyond every event.
        .bind(i64::try_from(after).unwrap_or(i64::MAX))
        .fetch_all(tx)
        .await
        .map_err(|e| self.error(e))?;
        rows.iter().map(|body| self.json(body)).collect()
    }

    pub(super) async fn read_list(&self, tx: &mut Link) -> Result<Vec<SessionSummary>, StoreError> {
        type Row = (String, String, String, i64, i64, i64, Option<String>, Option<String>);
        let rows: Vec<Row> = sqlx::query_as(
            "SELECT s.id, s.created_at, s.updated_at,
                (SELECT count(*) FROM queries q WHERE q.session = s.number),
                (SELECT count(*) FROM messages m WHERE m.session = s.number),
                (SELECT count(*) FROM entries e WHERE e.session = s.number),
                (SELECT q.prompt FROM queries q WHERE q.session = s.number AND q.prompt IS NOT NULL ORDER BY q.number LIMIT 1),
                (SELECT q.status FROM queries q WHERE q.session = s.number ORDER BY q.number DESC LIMIT 1)
             FROM sessions s ORDER BY s.updated_at DESC, s.number DESC",
        )
        .fetch_all(tx)
        .await
        .map_err(|e| self.error(e))?;
        rows.into_iter()
            .map(|(id, created_at, updated_at, n_queries, n_messages, n_entries, prompt, status)| {
                Ok(SessionSummary {
                    id: self.parse(&id)?,
                    title: prompt.as_deref().map(title_of),
                    created_at,
                    updated_at,
                    n_queries: n_queries.unsigned_abs(),
                    n_messages: n_messages.unsigned_abs(),
                    n_entries: n_entries.unsigned_abs(),
                    last_status: status.as_deref().map(|s| self.status(s)).transpose()?,
                })
            })
            .collect()
    }

    pub(super) async fn read_last(&self, tx: &mut Link) -> Result<Option<SessionId>, StoreError> {
        let id: Option<String> =
            sqlx::query_scalar("SELECT id FROM sessions ORDER BY updated_at DESC, number DESC LIMIT 1")
                .fetch_optional(tx)
                .await
                .map_err(|e| self.error(e))?;
        id.map(|id| self.parse(&id)).transpose()
    }

    /// Numbers of running queries whose owner is dead.
    pub(super) async fn dead_queries(&self, tx: &mut Link) -> Result<Vec<i64>, StoreError> {
        let mut rows: Vec<(i64, String)> = sqlx::query_as("SELECT number, owner FROM queries WHERE status = 'running'")
            .fetch_all(tx)
            .await
            .map_err(|e| self.error(e))?;
        rows.retain(|(_, owner)| !owner::is_alive(&self.owners, owner));
        Ok(rows.into_iter().map(|(number, _)| number).collect())
    }

    fn status(&self, text: &str) -> Result<QueryStatus, StoreError> {
        QueryStatus::parse(text).ok_or_else(|| self.corrupt(&"a query has an unknown status"))
    }

    fn parse<T: std::str::FromStr>(&self, text: &str) -> Result<T, StoreError>
    where
        T::Err: std::fmt::Display,
    {
        text.parse().map_err(|e| self.corrupt(&e))
    }

    fn json<T: DeserializeOwned>(&self, text: &str) -> Result<T, StoreError> {
        serde_json::from_str(text).map_err(|e| self.corrupt(&e))
    }

    pub(super) fn corrupt(&self, reason: &dyn std::fmt::Display) -> StoreError {
        StoreError::Corrupt { path: self.path.clone(), reason: reason.to_string() }
    }
}
