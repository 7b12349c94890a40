//! What has been done in this query: calls with their outcome, and results as they were shown.

use std::sync::Arc;

use elysia_types::{FailureCode, Object, ResultName, ToolInputs, ToolName};

/// How a call came out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TaskOutcome {
    /// It succeeded.
    Ok,
    /// It did not.
    Failed {
        /// Why, as a code.
        code: FailureCode,
        /// What to do differently.
        feedback: String,
    },
    /// It was chosen and not run, for this reason.
    NotRun(String),
}

/// One call of this query, or a choice that was not run.
#[derive(Clone, Debug, PartialEq)]
pub struct Task {
    /// The tool.
    pub tool: ToolName,
    /// Its inputs.
    pub inputs: ToolInputs,
    /// Whether the agent chose it.
    pub chosen: bool,
    /// How it came out.
    pub outcome: TaskOutcome,
    /// Results: name and number of objects, none meaning that nothing was found.
    pub found: Vec<(ResultName, usize)>,
    /// Sentences of the tool for the agent.
    pub notes: Vec<String>,
    /// Whether it spoke to the user.
    pub spoke: bool,
}

/// One result of this query.
#[derive(Clone, Debug)]
pub struct Found {
    /// Order of telling.
    pub rank: u64,
    /// The tool.
    pub tool: ToolName,
    /// The name.
    pub name: ResultName,
    /// Whole, each with its `_REF_ID`.
    pub objects: Arc<Vec<Object>>,
    /// Whether the user sees it.
    pub displayed: bool,
}
