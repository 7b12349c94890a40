//! The one closed set of things a caller can observe. Stored, printed and served in this very JSON.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::decision::Chosen;
use crate::failure::{FailureCode, LimitReport};
use crate::id::{CallId, PluginName, QueryId, SessionId, ToolName};
use crate::object::Object;
use crate::tool::{Effects, ToolInputs};

/// One event of a query.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// From 1, without gaps, per query.
    pub seq: u64,
    /// RFC 3339, UTC.
    pub at: String,
    /// The query.
    pub query_id: QueryId,
    /// What happened.
    #[serde(flatten)]
    pub body: EventBody,
}

/// The call an event belongs to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallRef {
    /// The call.
    pub call_id: CallId,
    /// Its tool.
    pub tool: ToolName,
    /// The tool's plugin.
    pub plugin: PluginName,
}

/// Tokens of a decision or a query.
pub type Tokens = crate::message::Usage;

/// Whose speech a text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TextSource {
    /// The decision agent or the host.
    Agent,
    /// A tool.
    Tool,
}

/// A paragraph with the references that support it; unknown ones are gone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Citation {
    /// The paragraph.
    pub text: String,
    /// References into the environment.
    pub ref_ids: Vec<String>,
}

/// How a completed query ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QueryOutcome {
    /// With an answer.
    Answered,
    /// The agent saw no way, and said so.
    Impossible,
    /// A limit was reached; the answer says what there is.
    Limit,
}

/// What happened. Exactly one of the last three variants ends a query.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[expect(missing_docs, reason = "the fields are those of the contract, section 6")]
pub enum EventBody {
    QueryStarted {
        prompt: Option<String>,
        session_id: SessionId,
        model: Option<String>,
    },
    Decision {
        branch: String,
        choices: Vec<Chosen>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
        end: bool,
        impossible: bool,
        tokens: Tokens,
        ms: u64,
    },
    ApprovalRequested {
        #[serde(flatten)]
        call: CallRef,
        inputs: ToolInputs,
        effects: Effects,
    },
    CallStarted {
        #[serde(flatten)]
        call: CallRef,
        inputs: ToolInputs,
        chosen: bool,
    },
    Status {
        #[serde(flatten)]
        call: CallRef,
        text: String,
    },
    Progress {
        #[serde(flatten)]
        call: CallRef,
        done: u32,
        total: u32,
    },
    Text {
        #[serde(flatten, default, skip_serializing_if = "Option::is_none")]
        call: Option<CallRef>,
        source: TextSource,
        text: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        title: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        citations: Option<Vec<Citation>>,
    },
    Result {
        #[serde(flatten)]
        call: CallRef,
        name: String,
        payload_type: String,
        objects: Vec<Object>,
        metadata: Object,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        mapping: Option<Object>,
    },
    Warning {
        #[serde(flatten, default, skip_serializing_if = "Option::is_none")]
        call: Option<CallRef>,
        text: String,
    },
    ToolError {
        #[serde(flatten)]
        call: CallRef,
        code: FailureCode,
        message: String,
        feedback: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        limit: Option<LimitReport>,
    },
    CallFinished {
        #[serde(flatten)]
        call: CallRef,
        ms: u64,
        /// `ok` or a failure code.
        outcome: String,
    },
    QueryCompleted {
        outcome: QueryOutcome,
        response: String,
        objects: Vec<Vec<Object>>,
        decisions: u32,
        tokens: Tokens,
    },
    QueryFailed {
        code: FailureCode,
        message: String,
        response: String,
        objects: Vec<Vec<Object>>,
    },
    QueryCancelled {
        response: String,
        objects: Vec<Vec<Object>>,
    },
}

impl EventBody {
    /// Whether a query ends with this event.
    pub fn is_last(&self) -> bool {
        matches!(self, Self::QueryCompleted { .. } | Self::QueryFailed { .. } | Self::QueryCancelled { .. })
    }
}

impl Event {
    /// The event as one JSON value.
    pub fn to_json(&self) -> Value {
        // A struct of strings, numbers and JSON maps always serializes.
        serde_json::to_value(self).unwrap_or(Value::Null)
    }
}
