//! Tools and what passes between a call and the host: descriptors, inputs, yields, state, the end of a call.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::failure::Failure;
use crate::id::{BranchId, ResultName, ToolName};
use crate::object::Object;

/// Inputs of one call: a JSON object that satisfies the tool's schema.
pub type ToolInputs = Object;

/// What a call does to the world outside the conversation, from harmless to irrevocable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effects {
    /// Computes only.
    #[default]
    None,
    /// Reads from outside.
    Reads,
    /// Changes something outside; can be undone or repeated safely.
    Writes,
    /// Changes something outside for good.
    Destructive,
}

impl Effects {
    /// Whether a call changes the world: such calls run one after another and need approval by default.
    pub fn changes_world(self) -> bool {
        self >= Self::Writes
    }
}

/// A plugin's wish about its tool's place in the tree.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Placement {
    /// A branch the operator has made; none means the root.
    pub branch: Option<BranchId>,
    /// On offer only right after these tools succeeded in this order.
    #[serde(default)]
    pub after: Vec<ToolName>,
}

/// What the decision agent and the operator are told about one tool. Texts are as the guest gave them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolDescriptor {
    /// Unique among the tools on offer.
    pub name: ToolName,
    /// For people.
    pub title: Option<String>,
    /// What the tool does and when to choose it; untrusted.
    pub description: String,
    /// JSON Schema of the inputs, an object at the top.
    pub input_schema: Value,
    /// JSON Schema of one object that the tool yields.
    pub output_schema: Option<Value>,
    /// Questions this tool answers.
    #[serde(default)]
    pub examples: Vec<String>,
    /// What a call does to the outside.
    pub effects: Effects,
    /// Calling again with the same inputs changes nothing more.
    pub idempotent: bool,
    /// Whether the tree may end after this tool.
    pub may_end: bool,
    /// Shown while the tool runs.
    pub status: Option<String>,
    /// Where the tool would like to stand.
    pub placement: Option<Placement>,
    /// Ask `available` before each decision.
    pub checks_availability: bool,
    /// Ask `run-if-true` before each decision, if the operator allows it.
    pub runs_unchosen: bool,
    /// Further facts by namespaced key.
    #[serde(default)]
    pub annotations: Vec<(String, Value)>,
}

/// Whether a tool can be chosen now, and if not, what would make it so.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Availability {
    /// It can.
    pub available: bool,
    /// Why not.
    pub reason: Option<String>,
}

/// One result: objects with shared metadata, on their way into the environment.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolResult {
    /// Subkey under the tool's name; none means `default`.
    pub name: Option<ResultName>,
    /// May be empty: nothing was found.
    pub objects: Vec<Object>,
    /// Shared by all objects.
    pub metadata: Object,
    /// How a front end shows the objects; none means `table`.
    pub payload_type: Option<String>,
    /// Pairs of (front-end field, object field).
    pub mapping: Vec<(String, String)>,
    /// A sentence for the decision agent.
    pub llm_message: Option<String>,
    /// False keeps the result from the user.
    pub display: bool,
    /// Further facts by namespaced key.
    pub annotations: Vec<(String, Value)>,
}

/// A paragraph and the references that support it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CitedText {
    /// The paragraph.
    pub text: String,
    /// References as the guest gave them; checked when the text is recorded.
    pub ref_ids: Vec<String>,
}

/// One item a call says while it runs.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "the fields are those of the WIT functions of the same name")]
pub enum Yield {
    /// Direct speech.
    Text(String),
    /// Speech with references.
    CitedText { title: Option<String>, paragraphs: Vec<CitedText> },
    /// Objects for the environment.
    Result(ToolResult),
    /// Progress in words.
    Status(String),
    /// Progress of a known amount of work.
    Progress { done: u32, total: u32 },
    /// Something the user should know.
    Warning(String),
}

/// State of a plugin in one session: JSON by key. The model and other plugins never see it.
pub type PluginState = IndexMap<String, Value>;

/// How a call ended.
#[derive(Clone, Debug, PartialEq)]
pub struct CallEnd {
    /// The returned value, or why there is none.
    pub outcome: Result<Option<Value>, Failure>,
    /// The plugin's state after the call, when it changed and is to be kept.
    pub state: Option<PluginState>,
}
