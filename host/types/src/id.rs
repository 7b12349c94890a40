//! Names and ids that are checked once, at the door, so that two strings cannot be swapped later.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Why a text is not a valid name or id.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what} `{given}` is not valid: {rule}")]
#[non_exhaustive]
pub struct IdError {
    /// What kind of name was meant, e.g. `tool name`.
    pub what: &'static str,
    /// The refused text, cleaned and cut to 80 bytes.
    pub given: String,
    /// What a valid one looks like.
    pub rule: &'static str,
}

macro_rules! id {
    ($(#[$doc:meta])* $name:ident, $what:literal, $rule:literal, $check:expr) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(Arc<str>);

        impl $name {
            /// The text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl FromStr for $name {
            type Err = IdError;
            fn from_str(text: &str) -> Result<Self, IdError> {
                let check: fn(&str) -> bool = $check;
                if check(text) {
                    Ok(Self(text.into()))
                } else {
                    let given = crate::text::truncate(&crate::text::clean_line(text), 80).to_owned();
                    Err(IdError { what: $what, given, rule: $rule })
                }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&*self.0, f)
            }
        }

        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }

        impl std::borrow::Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }

        impl PartialEq<str> for $name {
            fn eq(&self, other: &str) -> bool {
                &*self.0 == other
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.0)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = String::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}

fn is_slug(text: &str, max: usize, upper: bool) -> bool {
    !text.is_empty()
        && text.len() <= max
        && text.bytes().all(|b| {
            b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_' || b == b'-' || (upper && b.is_ascii_uppercase())
        })
}

fn is_plain(text: &str, max_chars: usize) -> bool {
    !text.is_empty() && text.chars().count() <= max_chars && !text.chars().any(char::is_control)
}

id!(
    /// Name of a tool, unique in a catalog.
    ToolName,
    "tool name",
    "a small letter first, then up to 63 of a-z, 0-9, `_` and `-`",
    |text| is_slug(text, 64, false) && text.starts_with(|c: char| c.is_ascii_lowercase())
);
id!(
    /// Name of a plugin: its manifest's `name`, else the file's stem.
    PluginName,
    "plugin name",
    "1 to 128 characters without control characters or `/`",
    |text| is_plain(text, 128) && !text.contains('/')
);
id!(
    /// Id of a branch of the tree.
    BranchId,
    "branch id",
    "1 to 64 of a-z, A-Z, 0-9, `_` and `-`",
    |text| is_slug(text, 64, true)
);
id!(
    /// Subkey under a tool's name in the environment.
    ResultName,
    "result name",
    "1 to 128 characters without control characters",
    |text| is_plain(text, 128)
);
id!(
    /// Reference to one object of the environment, given by the host alone: `{tool}_{name}_{k}_{i}`.
    RefId,
    "reference",
    "1 to 300 characters without control characters",
    |text| is_plain(text, 300)
);
id!(
    /// A conversation.
    SessionId,
    "session id",
    "1 to 128 of a-z, A-Z, 0-9, `_` and `-`",
    |text| is_slug(text, 128, true)
);
id!(
    /// One user prompt and all it causes.
    QueryId,
    "query id",
    "1 to 128 of a-z, A-Z, 0-9, `_` and `-`",
    |text| is_slug(text, 128, true)
);
id!(
    /// One run of a tool.
    CallId,
    "call id",
    "1 to 128 of a-z, A-Z, 0-9, `_` and `-`",
    |text| is_slug(text, 128, true)
);
