//! A key that cannot be printed by accident.

use std::fmt;
use std::sync::Arc;

/// Shortest key that is looked for in what a model says. Local servers take words such as `none` as keys; striking
/// those from replies would change what the model means.
const SHORTEST_IN_REPLIES: usize = 12;

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

impl Secret {
    /// [`Secret::scrub`] for words of a model: only for keys too long to be a word.
    pub(crate) fn scrub_reply(&self, text: &str) -> String {
        if self.0.len() < SHORTEST_IN_REPLIES { text.to_owned() } else { self.scrub(text) }
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
