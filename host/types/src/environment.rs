//! The shared environment: results by tool and name, kept on the host, referred to by `_REF_ID`.
//!
//! The host alone writes. Readers hold an [`EnvironmentView`]: the state at one moment, without a copy, since
//! entries are only ever appended while calls run.

use std::collections::{BTreeMap, HashMap, HashSet};

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::id::{RefId, ResultName, ToolName};
use crate::object::{Object, REF_ID_KEY, object_size};

mod hash;
mod view;

pub use view::{EnvironmentView, SharedEnvironment};

use hash::{ObjectHash, hash_object};

/// An addition was refused: the environment would pass its limit. Nothing was added.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the session's environment would hold {observed} bytes, over its limit of {limit}")]
pub struct EnvironmentFull {
    /// Configured, in bytes.
    pub limit: u64,
    /// What it would hold, in bytes.
    pub observed: u64,
}

/// One addition under a tool and name. Objects are as stored: a repeat is a stub that names the first one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// Shared by all objects.
    pub metadata: Object,
    /// Each with its `_REF_ID`.
    pub objects: Vec<Object>,
    #[serde(skip)]
    seq: u64,
    #[serde(skip)]
    rank: u64,
    #[serde(skip)]
    bytes: usize,
}

impl Entry {
    /// Sort key of the order in which results are told: that of choice, not of arrival.
    pub fn rank(&self) -> u64 {
        self.rank
    }
}

#[derive(Debug, Default)]
struct Location {
    entries: Vec<Entry>,
    /// Entries trimmed away: indices in references go on counting, so that none is given twice.
    dropped: usize,
    created: u64,
    first_of: HashMap<ObjectHash, RefId>,
}

#[derive(Clone, Debug)]
struct Place {
    tool: ToolName,
    name: ResultName,
    entry: usize,
    object: usize,
}

/// Results by tool and name: `environment[tool][name]` is a list of entries.
#[derive(Debug, Default)]
pub struct Environment {
    tools: IndexMap<ToolName, IndexMap<ResultName, Location>>,
    refs: HashMap<RefId, Place>,
    /// Where each entry is, by rank and order of arrival.
    order: BTreeMap<(u64, u64), (ToolName, ResultName)>,
    bytes: u64,
    next_seq: u64,
}

/// What [`Environment::add`] stored.
#[derive(Clone, Debug, PartialEq)]
pub struct Added {
    /// Reference of each object, in order.
    pub refs: Vec<RefId>,
    /// The objects, whole, each with its `_REF_ID`: what events, `objects` and guests see.
    pub objects: Vec<Object>,
}

/// Where results are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocationSummary {
    /// The tool.
    pub tool: ToolName,
    /// The name.
    pub name: ResultName,
    /// How many entries.
    pub entries: usize,
}

/// One entry at rest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StoredEntry {
    /// The tool.
    pub tool: ToolName,
    /// The name.
    pub name: ResultName,
    /// Order of telling.
    pub rank: u64,
    /// Shared by all objects.
    pub metadata: Object,
    /// Objects, repeats as stubs.
    pub objects: Vec<Object>,
}

/// One location at rest; also one without entries.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredLocation {
    /// The tool.
    pub tool: ToolName,
    /// The name.
    pub name: ResultName,
    /// Entries trimmed away so far.
    #[serde(default)]
    pub dropped: usize,
}

impl Environment {
    /// Adds one result yielded by `tool` and returns the references given to its objects.
    ///
    /// An empty `objects` creates the keys and no entry. An object equal (ignoring `_REF_ID` and key order) to one of
    /// an earlier entry of the same tool and name keeps the first one's reference and is stored as a stub.
    /// `rank` sorts entries for telling; equal ranks keep the order of arrival.
    ///
    /// Cost: O(size of `objects`), whatever is stored already.
    ///
    /// # Errors
    /// [`EnvironmentFull`] when the whole would pass `limit` bytes; nothing is added then.
    pub fn add(
        &mut self,
        tool: &ToolName,
        name: &ResultName,
        metadata: Object,
        objects: Vec<Object>,
        rank: u64,
        limit: u64,
    ) -> Result<Added, EnvironmentFull> {
        let location = self.tools.get(tool).and_then(|names| names.get(name));
        let k = location.map_or(0, |l| l.dropped + l.entries.len());
        let mut stored = Vec::with_capacity(objects.len());
        let mut added = Added { refs: Vec::with_capacity(objects.len()), objects: Vec::with_capacity(objects.len()) };
        let mut fresh: Vec<(RefId, ObjectHash, usize)> = Vec::new();
        let mut taken: HashSet<RefId> = HashSet::new();
        for (i, mut object) in objects.into_iter().enumerate() {
            object.shift_remove(REF_ID_KEY);
            let hash = hash_object(&object);
            let (reference, repeat) = match location.and_then(|l| l.first_of.get(&hash)) {
                Some(first) => (first.clone(), true),
                None => (self.free_reference(&format!("{tool}_{name}_{k}_{i}"), &taken), false),
            };
            object.insert(REF_ID_KEY.to_owned(), Value::String(reference.as_str().to_owned()));
            if repeat {
                stored.push(stub(&reference));
            } else {
                taken.insert(reference.clone());
                fresh.push((reference.clone(), hash, i));
                stored.push(object.clone());
            }
            added.refs.push(reference);
            added.objects.push(object);
        }
        let bytes = match stored.is_empty() {
            true => 0,
            false => stored.iter().map(object_size).sum::<usize>() + object_size(&metadata),
        };
        // Keys cost too, or results without objects would be free and stay for good.
        let keys = if location.is_none() { location_size(tool, name) } else { 0 };
        let observed = self.bytes + (bytes + keys) as u64;
        if bytes + keys > 0 && observed > limit {
            return Err(EnvironmentFull { limit, observed });
        }
        let seq = self.next_seq;
        self.next_seq += 1;
        let location = self
            .tools
            .entry(tool.clone())
            .or_default()
            .entry(name.clone())
            .or_insert_with(|| Location { created: seq, ..Location::default() });
        self.bytes = observed;
        if stored.is_empty() {
            return Ok(added);
        }
        self.order.insert((rank, seq), (tool.clone(), name.clone()));
        location.entries.push(Entry { metadata, objects: stored, seq, rank, bytes });
        for (reference, hash, object) in fresh {
            location.first_of.entry(hash).or_insert_with(|| reference.clone());
            self.refs.insert(reference, Place { tool: tool.clone(), name: name.clone(), entry: k, object });
        }
        Ok(added)
    }

    fn free_reference(&self, wanted: &str, taken: &HashSet<RefId>) -> RefId {
        let free = |r: &RefId| !self.refs.contains_key(r) && !taken.contains(r);
        let mut n = 1u64;
        loop {
            let text = if n == 1 { wanted.to_owned() } else { format!("{wanted}~{n}") };
            // Tool and result names obey stricter rules than references, so this always parses.
            if let Ok(reference) = text.parse::<RefId>()
                && free(&reference)
            {
                return reference;
            }
            n += 1;
        }
    }

    /// Places that hold results, in the order of their creation, also those without entries.
    pub fn locations(&self) -> Vec<LocationSummary> {
        self.locations_until(u64::MAX)
    }

    fn locations_until(&self, until: u64) -> Vec<LocationSummary> {
        let each = self.tools.iter().flat_map(|(tool, names)| names.iter().map(move |(name, l)| (tool, name, l)));
        each.filter(|(_, _, l)| l.created < until)
            .map(|(tool, name, l)| LocationSummary {
                tool: tool.clone(),
                name: name.clone(),
                entries: l.entries.partition_point(|e| e.seq < until),
            })
            .collect()
    }

    /// The entries of one place, oldest first, as stored.
    pub fn entries(&self, tool: &str, name: &str) -> &[Entry] {
        self.tools.get(tool).and_then(|names| names.get(name)).map_or(&[], |l| &l.entries)
    }

    /// All entries in the order of telling, oldest first.
    pub fn ranked(&self) -> Vec<(&ToolName, &ResultName, &Entry)> {
        self.order.iter().filter_map(|(key, place)| self.placed(*key, place)).collect()
    }

    /// The same, newest first and one at a time: the cost is that of the entries taken.
    pub fn newest(&self) -> impl Iterator<Item = (&ToolName, &ResultName, &Entry)> {
        self.order.iter().rev().filter_map(|(key, place)| self.placed(*key, place))
    }

    fn placed<'a>(
        &'a self,
        (_, seq): (u64, u64),
        (tool, name): &'a (ToolName, ResultName),
    ) -> Option<(&'a ToolName, &'a ResultName, &'a Entry)> {
        let entries = self.entries(tool.as_str(), name.as_str());
        let at = entries.binary_search_by_key(&seq, |e| e.seq).ok()?;
        Some((tool, name, entries.get(at)?))
    }

    /// The object that carries `reference`, whole.
    pub fn object(&self, reference: &str) -> Option<&Object> {
        let place = self.refs.get(reference)?;
        let location = self.tools.get(&place.tool)?.get(&place.name)?;
        location.entries.get(place.entry.checked_sub(location.dropped)?)?.objects.get(place.object)
    }

    /// Whether an object carries `reference`.
    pub fn contains(&self, reference: &str) -> bool {
        self.refs.contains_key(reference)
    }

    /// An object as guests and users see it: a repeat stub becomes the whole object.
    pub fn whole<'a>(&'a self, stored: &'a Object) -> &'a Object {
        match repeat_of(stored) {
            Some(reference) => self.object(reference).unwrap_or(stored),
            None => stored,
        }
    }

    /// Whether nothing was ever found: no entry anywhere.
    pub fn is_empty(&self) -> bool {
        self.n_entries() == 0
    }

    /// Entries in all places.
    pub fn n_entries(&self) -> usize {
        self.order.len()
    }

    /// Objects in all places, repeats included.
    pub fn n_objects(&self) -> usize {
        self.tools.values().flat_map(|n| n.values()).flat_map(|l| &l.entries).map(|e| e.objects.len()).sum()
    }

    /// Bytes of everything stored, as JSON.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// A number that grows with every addition; equal numbers mean nothing was added in between.
    pub fn version(&self) -> u64 {
        self.next_seq
    }

    /// Highest rank in use; 0 when there is none.
    pub fn last_rank(&self) -> u64 {
        self.order.last_key_value().map_or(0, |((rank, _), _)| *rank)
    }

    /// Drops the oldest entries until at most `keep` entries are left and at most `max_bytes` bytes.
    /// Returns how many went. A repeat whose first object goes becomes that object, so nothing dangles.
    pub fn trim(&mut self, keep: usize, max_bytes: u64) -> usize {
        let mut order: Vec<(u64, ToolName, ResultName)> = self
            .tools
            .iter()
            .flat_map(|(t, names)| {
                names.iter().flat_map(move |(n, l)| l.entries.iter().map(move |e| (e.seq, t.clone(), n.clone())))
            })
            .collect();
        order.sort();
        let (mut left, mut gone) = (order.len(), 0);
        for (_, tool, name) in order {
            if left <= keep && self.bytes <= max_bytes {
                break;
            }
            self.drop_oldest(&tool, &name);
            left -= 1;
            gone += 1;
        }
        gone
    }

    fn drop_oldest(&mut self, tool: &ToolName, name: &ResultName) {
        let Some(location) = self.tools.get_mut(tool).and_then(|names| names.get_mut(name)) else {
            return;
        };
        if location.entries.is_empty() {
            return;
        }
        let oldest = location.entries.remove(0);
        let gone = location.dropped;
        location.dropped += 1;
        self.order.remove(&(oldest.rank, oldest.seq));
        self.bytes -= oldest.bytes as u64;
        for (i, object) in oldest.objects.iter().enumerate() {
            let Some(reference) = reference_of(object) else {
                continue;
            };
            // Only what its reference leads to is whole; the others are stubs of something older.
            if self.refs.get(&reference).is_none_or(|place| place.entry != gone || place.object != i) {
                continue;
            }
            let heir = location.entries.iter_mut().enumerate().find_map(|(e, entry)| {
                let o = entry.objects.iter().position(|o| repeat_of(o) == Some(reference.as_str()))?;
                Some((e, o, entry))
            });
            match heir {
                Some((e, o, entry)) => {
                    let grown = object_size(object) as i64 - object_size(&stub(&reference)) as i64;
                    if let Some(slot) = entry.objects.get_mut(o) {
                        *slot = object.clone();
                    }
                    entry.bytes = entry.bytes.saturating_add_signed(grown as isize);
                    self.bytes = self.bytes.saturating_add_signed(grown);
                    if let Some(place) = self.refs.get_mut(&reference) {
                        place.entry = location.dropped + e;
                        place.object = o;
                    }
                }
                None => {
                    self.refs.remove(&reference);
                    let mut bare = object.clone();
                    bare.shift_remove(REF_ID_KEY);
                    let hash = hash_object(&bare);
                    // Equal objects of one entry are all whole; only the first of them stands for later ones.
                    if location.first_of.get(&hash) == Some(&reference) {
                        location.first_of.remove(&hash);
                    }
                }
            }
        }
    }

    /// `environment[tool][name]` as JSON, repeats as stubs.
    pub fn to_json(&self) -> Value {
        let tools = self.tools.iter().map(|(tool, names)| {
            let names = names.iter().map(|(name, l)| (name.to_string(), json!(l.entries)));
            (tool.to_string(), Value::Object(names.collect()))
        });
        Value::Object(tools.collect())
    }

    /// Places and entries for the store: those added at or after `version`, in order of arrival.
    pub fn stored_since(&self, version: u64) -> (Vec<StoredLocation>, Vec<StoredEntry>) {
        let mut locations = Vec::new();
        let mut entries = Vec::new();
        for (tool, names) in &self.tools {
            for (name, location) in names {
                if location.created >= version {
                    let dropped = location.dropped;
                    locations
                        .push((location.created, StoredLocation { tool: tool.clone(), name: name.clone(), dropped }));
                }
                let from = location.entries.partition_point(|e| e.seq < version);
                entries.extend(location.entries.iter().skip(from).map(|e| {
                    let (metadata, objects) = (e.metadata.clone(), e.objects.clone());
                    (e.seq, StoredEntry { tool: tool.clone(), name: name.clone(), rank: e.rank, metadata, objects })
                }));
            }
        }
        locations.sort_by_key(|(seq, _)| *seq);
        entries.sort_by_key(|(seq, _)| *seq);
        (locations.into_iter().map(|(_, l)| l).collect(), entries.into_iter().map(|(_, e)| e).collect())
    }

    /// Rebuilds an environment from what [`Environment::stored_since`] gave.
    pub fn restore(locations: Vec<StoredLocation>, entries: Vec<StoredEntry>) -> Self {
        let mut environment = Self::default();
        for StoredLocation { tool, name, dropped } in locations {
            let created = environment.next_seq;
            environment.next_seq += 1;
            let location = Location { dropped, created, ..Location::default() };
            environment.bytes += location_size(&tool, &name) as u64;
            environment.tools.entry(tool).or_default().insert(name, location);
        }
        for entry in entries {
            environment.restore_entry(entry);
        }
        environment
    }

    fn restore_entry(&mut self, stored: StoredEntry) {
        let StoredEntry { tool, name, rank, metadata, objects } = stored;
        let seq = self.next_seq;
        self.next_seq += 1;
        if self.tools.get(&tool).is_none_or(|names| !names.contains_key(&name)) {
            self.bytes += location_size(&tool, &name) as u64;
        }
        let location = self
            .tools
            .entry(tool.clone())
            .or_default()
            .entry(name.clone())
            .or_insert_with(|| Location { created: seq, ..Location::default() });
        let k = location.dropped + location.entries.len();
        let bytes = objects.iter().map(object_size).sum::<usize>() + object_size(&metadata);
        for (i, object) in objects.iter().enumerate() {
            // A guest may yield an object that looks like a stub; a stub's reference was given before.
            let Some(reference) = reference_of(object).filter(|r| !self.refs.contains_key(r)) else {
                continue;
            };
            let mut bare = object.clone();
            bare.shift_remove(REF_ID_KEY);
            location.first_of.entry(hash_object(&bare)).or_insert_with(|| reference.clone());
            self.refs.insert(reference, Place { tool: tool.clone(), name: name.clone(), entry: k, object: i });
        }
        self.bytes += bytes as u64;
        self.order.insert((rank, seq), (tool, name));
        location.entries.push(Entry { metadata, objects, seq, rank, bytes });
    }
}

/// Bytes charged for the keys of a place.
fn location_size(tool: &ToolName, name: &ResultName) -> usize {
    tool.as_str().len() + name.as_str().len() + 8
}

fn stub(reference: &RefId) -> Object {
    let mut stub = Object::new();
    stub.insert("object_info".to_owned(), Value::String("[repeat]".to_owned()));
    stub.insert(REF_ID_KEY.to_owned(), Value::String(reference.as_str().to_owned()));
    stub
}

fn repeat_of(object: &Object) -> Option<&str> {
    let is_stub = object.len() == 2 && object.get("object_info").and_then(Value::as_str) == Some("[repeat]");
    if is_stub { object.get(REF_ID_KEY).and_then(Value::as_str) } else { None }
}

fn reference_of(object: &Object) -> Option<RefId> {
    object.get(REF_ID_KEY)?.as_str()?.parse().ok()
}

#[cfg(test)]
mod tests;
