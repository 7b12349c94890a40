//! The shared environment, read-only, as it stood when the call began.
//!
//! A plugin that can send data out sees only its own entries unless the operator granted more.

use serde::de::DeserializeOwned;

use crate::{Object, RefId, ToolError, Value, host};

/// One addition under a tool and name. `T` is what the objects are read as: [`Value`] or a type of yours.
#[derive(Clone, PartialEq, Debug)]
pub struct Entry<T = Value> {
    /// What the objects share.
    pub metadata: Object,
    /// The objects; as JSON each carries its `_REF_ID`.
    pub objects: Vec<T>,
}

/// Where results are.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Location {
    /// Name of the tool that yielded them.
    pub tool: String,
    /// Name of the result.
    pub name: String,
    /// How many entries there are.
    pub entries: u32,
}

/// All locations, empty ones too.
pub fn locations() -> Vec<Location> {
    host::environment_locations()
}

/// The entry at `index` (0 is the oldest), if there is one.
///
/// # Errors
/// When an object cannot be read as a `T`.
pub fn get<T: DeserializeOwned>(tool: &str, name: &str, index: u32) -> Result<Option<Entry<T>>, ToolError> {
    host::environment_get(tool, name, index).map(|entry| read(&entry, tool, name)).transpose()
}

/// The newest entry, if there is one.
///
/// # Errors
/// When an object cannot be read as a `T`.
pub fn latest<T: DeserializeOwned>(tool: &str, name: &str) -> Result<Option<Entry<T>>, ToolError> {
    host::environment_latest(tool, name).map(|entry| read(&entry, tool, name)).transpose()
}

/// The object with this reference, if there is one; also one that this call has yielded.
///
/// # Errors
/// When it cannot be read as a `T`.
pub fn object<T: DeserializeOwned>(reference: &RefId) -> Result<Option<T>, ToolError> {
    let read = |text: String| {
        serde_json::from_str(&text).map_err(|error| ToolError::from(error).during(format_args!("reading {reference}")))
    };
    host::environment_object(reference.as_str()).map(read).transpose()
}

fn read<T: DeserializeOwned>(entry: &host::RawEntry, tool: &str, name: &str) -> Result<Entry<T>, ToolError> {
    let read = || -> Result<Entry<T>, serde_json::Error> {
        Ok(Entry {
            metadata: serde_json::from_str(&entry.metadata)?,
            objects: entry.objects.iter().map(|object| serde_json::from_str(object)).collect::<Result<_, _>>()?,
        })
    };
    read().map_err(|error| ToolError::from(error).during(format_args!("reading results of {tool}/{name}")))
}
