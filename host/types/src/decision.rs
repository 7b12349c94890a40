//! One answer of the decision agent.

use serde::{Deserialize, Serialize};

use crate::tool::ToolInputs;

/// One chosen option with its inputs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Chosen {
    /// Id of a tool or branch on offer, or a built-in.
    pub option: String,
    /// Inputs for it; empty for branches.
    #[serde(default)]
    pub inputs: ToolInputs,
}

/// What the agent decided, checked against the offer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Decision {
    /// One or more; none only when `impossible`.
    #[serde(default)]
    pub choices: Vec<Chosen>,
    /// One sentence to the user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Why, for the trace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The agent wants to end after these choices.
    #[serde(default)]
    pub end: bool,
    /// The agent sees no way.
    #[serde(default)]
    pub impossible: bool,
}
