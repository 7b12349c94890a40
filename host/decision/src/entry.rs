//! A tool as the tree takes it, and the names that belong to the host.

use std::sync::Arc;

use elysia_types::{InputSchema, PluginName, ToolDescriptor, ToolInputs};

/// Id of the root branch.
pub const ROOT: &str = "base";

/// Ends the query with a text.
pub const TEXT_RESPONSE: &str = "text_response";
/// Says that nothing on offer can help.
pub const IMPOSSIBLE: &str = "impossible";
/// Returns to the parent branch.
pub const BACK: &str = "back";

/// Option names that belong to the host.
pub const BUILT_INS: [&str; 5] = [TEXT_RESPONSE, "summarize", BACK, IMPOSSIBLE, "ask"];

/// One tool as it comes from a catalog.
#[derive(Clone, Debug)]
pub struct ToolEntry {
    /// What it says about itself.
    pub descriptor: Arc<ToolDescriptor>,
    /// Its inputs.
    pub schema: Arc<InputSchema>,
    /// Whose it is.
    pub plugin: PluginName,
}

/// Empty inputs, for branches and built-ins without any.
pub(crate) fn no_inputs() -> ToolInputs {
    ToolInputs::new()
}
