//! A key that cannot be printed by accident.

use std::fmt;
use std::sync::Arc;

/// An API key. `Debug` and `Display` show `***`; only the transport reads it.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Arc<str>);

impl Secret {
    /// Wraps `key` without the white space around it, which files and shells add. `None` when nothing is left.
    pub fn new(key: &str) -> Option<Self> {
        let key = key.trim();
        (!key.is_empty()).then(|| Self(key.into()))
    }

    /// The key itself, for the header it belongs into and nowhere else.
    pub(crate) fn expose(&self) -> &str {
        &self.0
    }

    /// `text` with every exact echo of the key replaced by `***`.
    pub fn scrub(&self, text: &str) -> String {
        text.replace(&*self.0, "***")
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}
