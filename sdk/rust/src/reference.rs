//! References to objects of the environment.

use std::fmt;

/// The `_REF_ID` of one object in the environment, given by the host when the object arrived.
///
/// Got from [`Output::result`](crate::Output::result) for what this call yields, and from the `_REF_ID` field of
/// objects read from the [`environment`](crate::environment). Cite it with [`CitedText`](crate::CitedText).
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, serde::Serialize, serde::Deserialize)]
#[serde(transparent)]
pub struct RefId(String);

impl RefId {
    /// A reference from its text.
    pub fn new(text: impl Into<String>) -> RefId {
        RefId(text.into())
    }

    /// Its text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RefId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<&str> for RefId {
    fn from(text: &str) -> RefId {
        RefId(text.to_owned())
    }
}

impl From<String> for RefId {
    fn from(text: String) -> RefId {
        RefId(text)
    }
}
