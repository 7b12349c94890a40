//! The tree: branches and tools in an arena, checked once, then only read.
//!
//! Everything a prompt says about one tool is rendered when the tree is built, not per decision. Start with
//! [`Tree::build`]; how places are decided is in `tree/build.rs`.

mod build;

use std::fmt::Write;
use std::sync::Arc;

use elysia_types::{ToolDescriptor, ToolName};
use serde_json::{Map, Value, json};

use crate::block;
use crate::config::TreeConfig;
use crate::entry::{BACK, IMPOSSIBLE, TEXT_RESPONSE, ToolEntry};
use crate::error::TreeError;
use crate::grammar;

/// Index of a branch; the root is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BranchIdx(pub(crate) usize);

/// Index of a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ToolIdx(pub(crate) usize);

/// A named group of tools and branches.
#[derive(Debug)]
pub struct Branch {
    /// Its id.
    pub id: String,
    /// Read at the parent.
    pub description: String,
    /// Read inside.
    pub instruction: String,
    /// None for the root.
    pub parent: Option<BranchIdx>,
    /// Sub-branches, in the order of the configuration.
    pub branches: Vec<BranchIdx>,
    /// Tools standing here that need no predecessor.
    pub tools: Vec<ToolIdx>,
    /// Tools here and in all branches below.
    pub below: Vec<ToolIdx>,
    /// 0 for the root.
    pub depth: u32,
}

/// One tool at its place.
#[derive(Debug)]
pub struct Leaf {
    /// The tool.
    pub entry: ToolEntry,
    /// Where it stands.
    pub branch: BranchIdx,
    /// On offer only right after these succeeded; empty: always.
    pub after: Vec<ToolName>,
    /// Whether the operator lets it run unchosen.
    pub unchosen: bool,
    /// For endpoints with native tools: description and parameters of its function.
    pub(crate) description: String,
    pub(crate) parameters: Arc<Value>,
    /// For the others: its lines in the list of options.
    pub(crate) text: String,
    /// Its part of the grammar of a reply.
    pub(crate) grammar: Value,
}

impl Leaf {
    /// Its name.
    pub fn name(&self) -> &ToolName {
        &self.entry.descriptor.name
    }

    /// What it says about itself.
    pub fn descriptor(&self) -> &ToolDescriptor {
        &self.entry.descriptor
    }
}

/// The root branch and all below.
#[derive(Debug)]
pub struct Tree {
    branches: Vec<Branch>,
    leaves: Vec<Leaf>,
    sequels: Vec<ToolIdx>,
    levels: u32,
    native: NativeParameters,
}

impl Tree {
    /// Places `tools` as `config` and their own wishes say.
    ///
    /// The second part is one warning per wish or listing that could not be followed.
    ///
    /// # Errors
    /// [`TreeError`] names the key of the configuration that is wrong.
    pub fn build(config: &TreeConfig, tools: Vec<ToolEntry>) -> Result<(Arc<Self>, Vec<String>), TreeError> {
        build::build(config, tools)
    }

    /// The root's index.
    pub fn root(&self) -> BranchIdx {
        BranchIdx(0)
    }

    /// A branch.
    pub fn branch(&self, idx: BranchIdx) -> Option<&Branch> {
        self.branches.get(idx.0)
    }

    /// A tool.
    pub fn leaf(&self, idx: ToolIdx) -> Option<&Leaf> {
        self.leaves.get(idx.0)
    }

    /// A tool by name.
    pub fn tool(&self, name: &str) -> Option<(ToolIdx, &Leaf)> {
        self.leaves.iter().enumerate().find(|(_, l)| l.name() == name).map(|(i, l)| (ToolIdx(i), l))
    }

    /// All tools.
    pub fn tools(&self) -> impl Iterator<Item = &Leaf> {
        self.leaves.iter()
    }

    /// Tools that are offered only after others.
    pub fn sequels(&self) -> &[ToolIdx] {
        &self.sequels
    }

    /// Branch levels below the root.
    pub fn levels(&self) -> u32 {
        self.levels
    }

    pub(crate) fn native(&self) -> &NativeParameters {
        &self.native
    }

    /// The tree as elysia's front end reads it, with `plugin`, `effects`, `may_end`, `unchosen` and `after` of tools.
    pub fn to_json(&self) -> Value {
        self.branch_json(self.root())
    }

    fn branch_json(&self, idx: BranchIdx) -> Value {
        let Some(branch) = self.branch(idx) else {
            return Value::Null;
        };
        let mut options = Map::new();
        for child in &branch.branches {
            let id = self.branch(*child).map_or_else(String::new, |b| b.id.clone());
            options.insert(id, self.branch_json(*child));
        }
        for leaf in self.leaves.iter().filter(|l| l.branch == idx) {
            options.insert(leaf.name().to_string(), leaf_json(leaf));
        }
        json!({
            "name": display_name(&branch.id), "id": branch.id, "description": branch.description,
            "instruction": branch.instruction, "reasoning": "", "branch": true, "options": options,
        })
    }

    /// The tree as indented text, for people.
    pub fn render(&self) -> String {
        let mut out = String::new();
        self.render_branch(self.root(), "", "", &mut out);
        out
    }

    fn render_branch(&self, idx: BranchIdx, head: &str, indent: &str, out: &mut String) {
        let Some(branch) = self.branch(idx) else { return };
        out.push_str(head);
        out.push_str(&branch.id);
        describe(&branch.description, out);
        let leaves: Vec<&Leaf> = self.leaves.iter().filter(|l| l.branch == idx).collect();
        let n_lines = branch.branches.len() + leaves.len();
        let stems = |i: usize| {
            if i + 1 == n_lines { ("└─ ", "   ") } else { ("├─ ", "│  ") }
        };
        for (i, child) in branch.branches.iter().enumerate() {
            let (turn, pass) = stems(i);
            self.render_branch(*child, &format!("{indent}{turn}"), &format!("{indent}{pass}"), out);
        }
        for (i, leaf) in leaves.iter().enumerate() {
            let (turn, _) = stems(branch.branches.len() + i);
            let _ = write!(out, "{indent}{turn}{} ({})", leaf.name(), leaf.entry.plugin);
            if !leaf.after.is_empty() {
                let names: Vec<&str> = leaf.after.iter().map(ToolName::as_str).collect();
                let _ = write!(out, " after {}", names.join(", "));
            }
            if leaf.unchosen {
                out.push_str(" unchosen");
            }
            describe(&leaf.descriptor().description, out);
        }
    }
}

fn describe(text: &str, out: &mut String) {
    let line = elysia_types::clean_line(text);
    if !line.is_empty() {
        let cut = elysia_types::truncate(&line, 100);
        let _ = write!(out, " — {cut}{}", if cut.len() < line.len() { "…" } else { "" });
    }
    out.push('\n');
}

fn leaf_json(leaf: &Leaf) -> Value {
    let d = leaf.descriptor();
    let after: Vec<&str> = leaf.after.iter().map(ToolName::as_str).collect();
    json!({
        "name": display_name(d.name.as_str()), "id": d.name, "description": d.description,
        "instruction": "", "reasoning": "", "branch": false, "options": {},
        "plugin": leaf.entry.plugin, "effects": d.effects, "may_end": d.may_end,
        "unchosen": leaf.unchosen, "after": after,
    })
}

/// elysia's name of an id: first letter large, `_` as a blank.
fn display_name(id: &str) -> String {
    let mut chars = id.chars();
    let first = chars.next().map(|c| c.to_uppercase().to_string()).unwrap_or_default();
    first + &chars.as_str().replace('_', " ")
}

/// A leaf with everything prompts need of it.
fn leaf(entry: ToolEntry, branch: BranchIdx, after: Vec<ToolName>, unchosen: bool) -> Leaf {
    let parameters = Arc::new(grammar::native_parameters(&entry));
    let description = block::native_description(&entry);
    let text = block::option_text(&entry);
    let grammar = grammar::choice(entry.descriptor.name.as_str(), entry.schema.as_value());
    Leaf { entry, branch, after, unchosen, description, parameters, text, grammar }
}

/// Native functions of branches and built-ins, made once.
#[derive(Debug)]
pub(crate) struct NativeParameters {
    pub(crate) branch: Arc<Value>,
    pub(crate) back: Arc<Value>,
    pub(crate) text_response: Arc<Value>,
    pub(crate) impossible: Arc<Value>,
}

impl NativeParameters {
    fn new() -> Self {
        let of = |name: &str| Arc::new(grammar::built_in_inputs(name).unwrap_or_default());
        Self {
            branch: Arc::new(grammar::branch_parameters()),
            back: of(BACK),
            text_response: of(TEXT_RESPONSE),
            impossible: of(IMPOSSIBLE),
        }
    }
}

#[cfg(test)]
mod tests;
