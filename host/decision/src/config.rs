//! `[tree]` of elysia.toml: the operator's word on branches and on where tools stand.

use indexmap::IndexMap;
use serde::Deserialize;

/// How plugins' wishes and unlisted tools are treated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Preset {
    /// Wishes count; tools without a place stand on the root.
    #[default]
    OneBranch,
    /// Wishes are ignored.
    MultiBranch,
    /// Only tools listed under `[tree.tools]` are in the tree.
    Empty,
}

/// `[tree]`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TreeConfig {
    /// Where tools stand by default.
    pub preset: Preset,
    /// Instruction of the root branch.
    pub instruction: Option<String>,
    /// Branches by id.
    pub branches: IndexMap<String, BranchConfig>,
    /// Places of tools by name.
    pub tools: IndexMap<String, ToolConfig>,
}

/// `[tree.branches.ID]`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct BranchConfig {
    /// Id of the parent; the root by default.
    pub under: Option<String>,
    /// Read at the parent.
    pub description: String,
    /// Read inside.
    pub instruction: Option<String>,
}

/// `[tree.tools.NAME]`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ToolConfig {
    /// Overrides the plugin's wish.
    pub branch: Option<String>,
    /// Overrides the plugin's wish.
    pub after: Option<Vec<String>>,
    /// False takes the tool out of the tree.
    pub enabled: bool,
    /// Whether the tool may run without being chosen.
    pub unchosen: bool,
}

impl Default for ToolConfig {
    fn default() -> Self {
        Self { branch: None, after: None, enabled: true, unchosen: false }
    }
}
