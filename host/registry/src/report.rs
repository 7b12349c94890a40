//! What is told about plugins: a report on each, and a problem for each entry or tool that was not taken.

use std::path::{Path, PathBuf};

use elysia_types::{Effects, ToolDescriptor, clean_line};
use serde::Serialize;
use serde_json::Value;

/// Something that was not loaded: an entry of a plugins directory, or a tool of a plugin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Where it is.
    pub path: PathBuf,
    /// Of an entry its file name, of a tool its plugin's name; cleaned.
    pub name: String,
    /// Why it was not taken.
    pub reason: String,
    /// What helps.
    pub hint: Option<String>,
    /// Nothing is wrong: shown only by `-v` and `plugin check`.
    pub quiet: bool,
}

impl Problem {
    pub(crate) fn new(path: &Path, reason: impl Into<String>, hint: &str) -> Self {
        let hint = (!hint.is_empty()).then(|| hint.to_owned());
        Self { path: path.to_owned(), name: entry_name(path), reason: reason.into(), hint, quiet: false }
    }

    pub(crate) fn quiet(path: &Path, reason: &str) -> Self {
        Self { quiet: true, ..Self::new(path, reason, "") }
    }
}

/// The file name; with its folder where every plugin has the same.
fn entry_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
    let folder = path.parent().and_then(Path::file_name).filter(|_| name == "plugin.wasm" || name == "plugin.toml");
    match folder {
        Some(folder) => clean_line(&format!("{}/{name}", folder.to_string_lossy())),
        None => clean_line(&name),
    }
}

/// Whether a plugin works.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum PluginState {
    /// Its tools are in the catalog.
    Ready,
    /// It changed since it was trusted; not on offer until it is trusted again.
    Quarantined,
    /// It could not be loaded.
    Failed,
}

/// One plugin as `plugin list --output json` shows it. Hints and warnings go to people, not into that list.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PluginReport {
    /// Its name; for an entry that could not be read, the file's stem.
    pub name: String,
    /// The component file.
    #[serde(serialize_with = "as_text")]
    pub path: PathBuf,
    /// Of the component file; none when it could not be read.
    pub sha256: Option<String>,
    /// Whether it works.
    pub state: PluginState,
    /// Why it does not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What helps.
    #[serde(skip)]
    pub hint: Option<String>,
    /// The tools it has in the catalog.
    pub tools: Vec<ToolReport>,
    /// What it may reach, in effect.
    pub policy: Value,
    /// What works less than one might think.
    #[serde(skip)]
    pub warnings: Vec<String>,
}

/// A path that is not UTF-8 must not spoil the whole list.
fn as_text<S: serde::Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&path.display())
}

/// One tool of a report.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ToolReport {
    /// Its name.
    pub name: String,
    /// For people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// When to choose it.
    pub description: String,
    /// As the plugin gave it.
    pub input_schema: Value,
    /// What a call does to the outside.
    pub effects: Effects,
    /// Whether the tree may end after it.
    pub may_end: bool,
    /// Where it stands: the plugin's wish, else the root; whoever builds the tree writes the final place here.
    pub branch: String,
}

impl From<&ToolDescriptor> for ToolReport {
    fn from(tool: &ToolDescriptor) -> Self {
        let wish = tool.placement.as_ref().and_then(|p| p.branch.as_ref());
        Self {
            name: tool.name.to_string(),
            title: tool.title.clone(),
            description: tool.description.clone(),
            input_schema: tool.input_schema.clone(),
            effects: tool.effects,
            may_end: tool.may_end,
            branch: wish.map_or_else(|| "base".to_owned(), ToString::to_string),
        }
    }
}
