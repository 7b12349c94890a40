//! A session as one JSON document: written by `session export`, read by `session import`.

use std::collections::{HashMap, HashSet};

use elysia_types::{
    Event, Message, Object, PluginName, PluginState, QueryId, ResultName, SessionId, StoredEntry, StoredLocation,
    ToolName,
};
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::StoreError;
use crate::record::{QueryStatus, QuerySummary, SessionRecord, title_of};

/// What every document says it is.
pub const FORMAT: &str = "elysia-session";
/// Version of the documents written here, and the only one read.
pub const VERSION: u32 = 1;

/// A whole session. Fields unknown to this version are refused, so that nothing is lost silently.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SessionDocument {
    /// [`FORMAT`].
    pub format: String,
    /// [`VERSION`].
    pub version: u32,
    /// The session's id.
    pub id: SessionId,
    /// RFC 3339, UTC.
    pub created_at: String,
    /// RFC 3339, UTC.
    pub updated_at: String,
    /// History, oldest first.
    pub messages: Vec<Message>,
    /// `environment[tool][name]`, as everywhere.
    pub environment: IndexMap<ToolName, IndexMap<ResultName, Vec<DocumentEntry>>>,
    /// What the environment's shape does not say.
    pub order: StoredOrder,
    /// State by plugin.
    pub states: IndexMap<PluginName, PluginState>,
    /// Queries with their events, oldest first. None is `running`.
    pub queries: Vec<StoredQuery>,
}

/// One entry of the environment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DocumentEntry {
    /// Metadata.
    pub metadata: Object,
    /// Objects.
    pub objects: Vec<Object>,
}

/// Order of places and entries over the whole environment, needed to restore it exactly.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StoredOrder {
    /// Places in order of creation, with the number of entries trimmed away.
    pub locations: Vec<StoredLocation>,
    /// Place and rank of each entry in order of arrival; the n-th of a place is the n-th in `environment`.
    pub entries: Vec<(ToolName, ResultName, u64)>,
}

/// One query with its events.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StoredQuery {
    /// Its id.
    pub id: QueryId,
    /// The prompt.
    pub prompt: Option<String>,
    /// How it ended.
    pub status: QueryStatus,
    /// RFC 3339, UTC.
    pub started_at: String,
    /// Its events in order.
    pub events: Vec<Event>,
}

impl SessionDocument {
    /// Reads a document from JSON text.
    ///
    /// # Errors
    /// [`StoreError::Document`] with line and column, or with what is inconsistent.
    pub fn parse(text: &str) -> Result<Self, StoreError> {
        #[derive(Deserialize)]
        struct Head {
            format: Option<Value>,
            version: Option<Value>,
        }
        let bad = |e: serde_json::Error| StoreError::Document(elysia_types::clean_line(&e.to_string()));
        // The head first: of a foreign or newer file, the first unknown field would be a poor reason.
        let head: Head = serde_json::from_str(text).map_err(bad)?;
        if head.format.as_ref().and_then(Value::as_str) != Some(FORMAT) {
            return Err(StoreError::Document(format!("its `format` is not `{FORMAT}`")));
        }
        if head.version.as_ref().and_then(Value::as_u64) != Some(u64::from(VERSION)) {
            return Err(StoreError::Document(format!("its `version` is not {VERSION}, the only one read here")));
        }
        let document: Self = serde_json::from_str(text).map_err(bad)?;
        document.check()?;
        Ok(document)
    }

    /// The document as JSON text, indented, with a newline at the end.
    pub fn to_text(&self) -> String {
        // Structs of strings, numbers and JSON maps with text keys always serialize.
        let mut text = serde_json::to_string_pretty(self).unwrap_or_default();
        text.push('\n');
        text
    }

    /// Builds a document; `events` gives each query's.
    pub(crate) fn build(record: SessionRecord, mut events: HashMap<QueryId, Vec<Event>>) -> Self {
        let mut environment: IndexMap<ToolName, IndexMap<ResultName, Vec<DocumentEntry>>> = IndexMap::new();
        for location in &record.locations {
            environment.entry(location.tool.clone()).or_default().entry(location.name.clone()).or_default();
        }
        let mut order = StoredOrder { locations: record.locations, entries: Vec::new() };
        for StoredEntry { tool, name, rank, metadata, objects } in record.entries {
            let names = environment.entry(tool.clone()).or_default();
            names.entry(name.clone()).or_default().push(DocumentEntry { metadata, objects });
            order.entries.push((tool, name, rank));
        }
        let queries = record.queries.into_iter().map(|q| {
            // In a document nothing runs.
            let status = if q.status == QueryStatus::Running { QueryStatus::Interrupted } else { q.status };
            let events = events.remove(&q.id).unwrap_or_default();
            StoredQuery { id: q.id, prompt: q.prompt, status, started_at: q.started_at, events }
        });
        Self {
            format: FORMAT.to_owned(),
            version: VERSION,
            id: record.id,
            created_at: record.created_at,
            updated_at: record.updated_at,
            messages: record.messages,
            environment,
            order,
            states: record.states,
            queries: queries.collect(),
        }
    }

    /// Checks the document, and writes its times as this store does, so that they sort.
    ///
    /// # Errors
    /// As [`Self::check`].
    pub(crate) fn settle(&mut self) -> Result<(), StoreError> {
        self.check()?;
        for time in [&mut self.created_at, &mut self.updated_at] {
            if let Ok(parsed) = time.parse::<jiff::Timestamp>() {
                *time = format!("{parsed:.6}");
            }
        }
        Ok(())
    }

    /// Whether all parts fit each other.
    ///
    /// # Errors
    /// [`StoreError::Document`] with the first thing that does not.
    pub(crate) fn check(&self) -> Result<(), StoreError> {
        let bad = |reason: String| Err(StoreError::Document(reason));
        if self.format != FORMAT || self.version != VERSION {
            return bad(format!("it is not `{FORMAT}` version {VERSION}"));
        }
        for (what, time) in [("created_at", &self.created_at), ("updated_at", &self.updated_at)] {
            check_time(what, time)?;
        }
        self.check_places()?;
        let mut seen = HashSet::new();
        for query in &self.queries {
            if !seen.insert(&query.id) {
                return bad(format!("query `{}` stands twice in it", query.id));
            }
            if query.status == QueryStatus::Running {
                return bad(format!("query `{}` is said to be running", query.id));
            }
            check_time("started_at", &query.started_at)?;
            for (expected, event) in (1u64..).zip(&query.events) {
                if event.query_id != query.id || event.seq != expected {
                    return bad(format!("event {expected} of query `{}` is missing or belongs elsewhere", query.id));
                }
            }
        }
        Ok(())
    }

    fn check_places(&self) -> Result<(), StoreError> {
        let bad = |reason: String| Err(StoreError::Document(reason));
        let mut places = HashSet::new();
        for location in &self.order.locations {
            if !places.insert((&location.tool, &location.name)) {
                return bad(format!("`order.locations` has `{}`/`{}` twice", location.tool, location.name));
            }
        }
        let mut counts: HashMap<(&ToolName, &ResultName), usize> = HashMap::new();
        for (tool, name, _) in &self.order.entries {
            *counts.entry((tool, name)).or_default() += 1;
        }
        let mut n_places = 0;
        for (tool, name, entries) in self.environment.iter().flat_map(|(t, n)| n.iter().map(move |(n, e)| (t, n, e))) {
            n_places += 1;
            if !places.contains(&(tool, name)) {
                return bad(format!("`order.locations` lacks `{tool}`/`{name}` of the environment"));
            }
            if counts.remove(&(tool, name)).unwrap_or_default() != entries.len() {
                return bad(format!(
                    "`order.entries` does not count as many entries of `{tool}`/`{name}` as there are"
                ));
            }
        }
        if n_places != places.len() || !counts.is_empty() {
            return bad("`order` names a place that the environment lacks".to_owned());
        }
        Ok(())
    }

    /// Entries in order of arrival. The document must have been checked.
    pub(crate) fn take_entries(&mut self) -> Vec<StoredEntry> {
        let mut places: HashMap<(ToolName, ResultName), std::vec::IntoIter<DocumentEntry>> = HashMap::new();
        for (tool, names) in std::mem::take(&mut self.environment) {
            for (name, entries) in names {
                places.insert((tool.clone(), name), entries.into_iter());
            }
        }
        let order = std::mem::take(&mut self.order.entries);
        let entries = order.into_iter().filter_map(|(tool, name, rank)| {
            let DocumentEntry { metadata, objects } = places.get_mut(&(tool.clone(), name.clone()))?.next()?;
            Some(StoredEntry { tool, name, rank, metadata, objects })
        });
        entries.collect()
    }

    /// The session as a record with the events of each query; `entries` are what [`Self::take_entries`] gave.
    pub(crate) fn into_record(self, entries: Vec<StoredEntry>) -> (SessionRecord, IndexMap<QueryId, Vec<Event>>) {
        let mut events = IndexMap::new();
        let mut queries = Vec::with_capacity(self.queries.len());
        for StoredQuery { id, prompt, status, started_at, events: of_query } in self.queries {
            events.insert(id.clone(), of_query);
            queries.push(QuerySummary { id, prompt, status, started_at });
        }
        let record = SessionRecord {
            id: self.id,
            created_at: self.created_at,
            updated_at: self.updated_at,
            title: queries.iter().find_map(|q| q.prompt.as_deref()).map(title_of),
            messages: self.messages,
            locations: self.order.locations,
            entries,
            states: self.states,
            queries,
        };
        (record, events)
    }

    /// Gives the session and all its queries new ids, in events as well.
    ///
    /// # Errors
    /// [`StoreError::Document`] when an event cannot carry the new ids.
    pub(crate) fn renew_ids(&mut self) -> Result<(), StoreError> {
        let bad = |e: &dyn std::fmt::Display| StoreError::Document(e.to_string());
        self.id = fresh().parse().map_err(|e| bad(&e))?;
        for query in &mut self.queries {
            let old = std::mem::replace(&mut query.id, fresh().parse().map_err(|e| bad(&e))?);
            for event in &mut query.events {
                let mut json = event.to_json();
                if let Some(fields) = json.as_object_mut() {
                    renew(fields, &self.id, &old, &query.id);
                }
                *event = serde_json::from_value(json).map_err(|e| bad(&e))?;
            }
        }
        Ok(())
    }
}

fn renew(fields: &mut Object, session: &SessionId, old: &QueryId, new: &QueryId) {
    if let Some(slot) = fields.get_mut("query_id") {
        *slot = Value::String(new.to_string());
    }
    if let Some(slot) = fields.get_mut("session_id") {
        *slot = Value::String(session.to_string());
    }
    if let Some(slot) = fields.get_mut("call_id") {
        // Call ids are the query's id with a number.
        let tail = slot.as_str().and_then(|call| call.strip_prefix(old.as_str())).map(str::to_owned);
        if let Some(tail) = tail {
            *slot = Value::String(format!("{new}{tail}"));
        }
    }
}

fn fresh() -> String {
    uuid::Uuid::now_v7().to_string()
}

fn check_time(what: &str, time: &str) -> Result<(), StoreError> {
    match time.parse::<jiff::Timestamp>() {
        Ok(_) => Ok(()),
        Err(_) => Err(StoreError::Document(format!("`{what}` is not an RFC 3339 time"))),
    }
}

#[cfg(test)]
mod tests;
