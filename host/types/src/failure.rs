//! Why something ended badly: a stable code, a sentence for people, feedback for the model, detail for the operator.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Stable codes; the closed set of the contract, section 6.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "each is the contract's code of the same name")]
pub enum FailureCode {
    Trap,
    Deadline,
    Cpu,
    Memory,
    Tables,
    Instances,
    Events,
    Output,
    Environment,
    State,
    Http,
    Compile,
    Exit,
    Denied,
    InvalidInputs,
    InvalidOutput,
    NotFound,
    Unavailable,
    RateLimited,
    Failed,
    Interface,
    Quarantined,
    Cancelled,
    Budget,
    Model,
    Config,
    Internal,
}

impl FailureCode {
    /// The code as it stands in events and JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Trap => "trap",
            Self::Deadline => "deadline",
            Self::Cpu => "cpu",
            Self::Memory => "memory",
            Self::Tables => "tables",
            Self::Instances => "instances",
            Self::Events => "events",
            Self::Output => "output",
            Self::Environment => "environment",
            Self::State => "state",
            Self::Http => "http",
            Self::Compile => "compile",
            Self::Exit => "exit",
            Self::Denied => "denied",
            Self::InvalidInputs => "invalid_inputs",
            Self::InvalidOutput => "invalid_output",
            Self::NotFound => "not_found",
            Self::Unavailable => "unavailable",
            Self::RateLimited => "rate_limited",
            Self::Failed => "failed",
            Self::Interface => "interface",
            Self::Quarantined => "quarantined",
            Self::Cancelled => "cancelled",
            Self::Budget => "budget",
            Self::Model => "model",
            Self::Config => "config",
            Self::Internal => "internal",
        }
    }

    /// Whether the same call may work a moment later.
    pub fn is_passing(self) -> bool {
        matches!(self, Self::Unavailable | Self::RateLimited | Self::Deadline)
    }
}

impl fmt::Display for FailureCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A limit that was met: which, its value, what was seen, and the setting that raises it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LimitReport {
    /// Key under `limits`, e.g. `memory`.
    pub name: String,
    /// Configured value with unit.
    pub configured: String,
    /// What the guest used or asked for, with unit.
    pub observed: String,
    /// The setting that raises it, ready to paste.
    pub raise_with: String,
}

/// Why a call gave no usable answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Failure {
    /// Drives retry, exit codes and metrics.
    pub code: FailureCode,
    /// For the user and the operator: what and why, one sentence.
    pub message: String,
    /// For the decision agent: what to do differently.
    pub feedback: String,
    /// Set when a limit was met.
    pub limit: Option<LimitReport>,
    /// Operator only: trap, backtrace, path. Never shown to a model or a browser.
    pub detail: Option<String>,
}

impl Failure {
    /// A failure whose message serves the model as well.
    pub fn new(code: FailureCode, message: impl Into<String>) -> Self {
        let message = message.into();
        Self { code, feedback: message.clone(), message, limit: None, detail: None }
    }

    /// The same with other words for the decision agent.
    #[must_use]
    pub fn with_feedback(mut self, feedback: impl Into<String>) -> Self {
        self.feedback = feedback.into();
        self
    }

    /// The same with detail for the operator.
    #[must_use]
    pub fn with_detail(mut self, detail: impl Into<String>) -> Self {
        self.detail = Some(detail.into());
        self
    }

    /// The same with the limit that was met.
    #[must_use]
    pub fn with_limit(mut self, limit: LimitReport) -> Self {
        self.limit = Some(limit);
        self
    }
}
