//! Limits of a query and what is spent of them.

use std::time::Duration;

use crate::limits::{LimitSettings, SizeInBytes, SpanOfTime};
use crate::message::Usage;

/// What one query may use.
#[derive(Clone, Debug, PartialEq)]
pub struct QueryBudget {
    /// Decisions that choose tools.
    pub decisions: u32,
    /// Calls.
    pub calls: u32,
    /// Wall time.
    pub wall: Duration,
    /// Tokens, sent and received.
    pub tokens: u64,
    /// Bytes of the prompt.
    pub prompt: u64,
    /// Tokens of history given to the model.
    pub history: u64,
    /// Tokens of the environment's digest given to the model.
    pub digest: u64,
    /// Bytes of the session's environment.
    pub environment: u64,
}

impl Default for QueryBudget {
    fn default() -> Self {
        Self {
            decisions: 5,
            calls: 20,
            wall: Duration::from_secs(300),
            tokens: 200_000,
            prompt: 64 * 1024,
            history: 8_000,
            digest: 6_000,
            environment: 64 * 1024 * 1024,
        }
    }
}

impl QueryBudget {
    /// This budget with what the operator set.
    #[must_use]
    pub fn with(self, set: &LimitSettings) -> Self {
        Self {
            decisions: set.decisions.unwrap_or(self.decisions),
            calls: set.calls.as_ref().and_then(|c| c.query).unwrap_or(self.calls),
            wall: set.query_wall.map_or(self.wall, |SpanOfTime(t)| t),
            tokens: set.query_tokens.unwrap_or(self.tokens),
            prompt: set.query.map_or(self.prompt, |SizeInBytes(n)| n),
            history: set.history.unwrap_or(self.history),
            digest: set.digest.unwrap_or(self.digest),
            environment: set.environment.map_or(self.environment, |SizeInBytes(n)| n),
        }
    }
}

/// What a query has used so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    /// Decisions that chose tools.
    pub decisions: u32,
    /// Calls started.
    pub calls: u32,
    /// Tokens.
    pub usage: Usage,
}
