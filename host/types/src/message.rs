//! Conversation history and token counts.

use serde::{Deserialize, Serialize};

/// Who spoke.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The person.
    User,
    /// The agent and its tools.
    Assistant,
}

/// One turn of speech.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// Who spoke.
    pub role: Role,
    /// What was said.
    pub text: String,
}

/// Tokens of one reply, as the endpoint counted them or estimated as bytes/4.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens sent.
    pub input: u64,
    /// Tokens received.
    pub output: u64,
    /// Of the tokens sent, those the endpoint had cached.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cached: Option<u64>,
}

impl Usage {
    /// Adds another reply's tokens.
    pub fn add(&mut self, other: Self) {
        self.input = self.input.saturating_add(other.input);
        self.output = self.output.saturating_add(other.output);
        self.cached = match (self.cached, other.cached) {
            (None, None) => None,
            (a, b) => Some(a.unwrap_or(0).saturating_add(b.unwrap_or(0))),
        };
    }
}
