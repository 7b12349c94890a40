//! State of this plugin in this conversation: all that lasts from one call to the next.
//!
//! Never shown to the model or to other plugins. A call sees the state as it began plus its own writes. They are kept
//! when the call returns, an error included, and dropped when it traps, meets a limit or is cancelled.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::{ToolError, host};

/// The value under `key`, if there is one.
///
/// # Errors
/// When it cannot be read as a `T`.
pub fn get<T: DeserializeOwned>(key: &str) -> Result<Option<T>, ToolError> {
    let read = |text: String| {
        serde_json::from_str(&text)
            .map_err(|error| ToolError::from(error).during(format_args!("reading state `{key}`")))
    };
    host::state_get(key).map(read).transpose()
}

/// Keeps a value under `key`.
///
/// # Errors
/// When the value would pass the plugin's share, outside a call, or when it has no JSON form.
pub fn set<T: Serialize + ?Sized>(key: &str, value: &T) -> Result<(), ToolError> {
    let text = serde_json::to_string(value)?;
    host::state_set(key, &text)
        .map_err(|reason| ToolError::failed(reason).during(format_args!("keeping state `{key}`")))
}

/// Removes what is under `key`.
pub fn remove(key: &str) {
    host::state_remove(key);
}

/// All keys.
pub fn keys() -> Vec<String> {
    host::state_keys()
}
