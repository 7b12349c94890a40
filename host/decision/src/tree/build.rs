//! Deciding places: the operator's configuration first, then plugins' wishes, else the root.

use std::collections::HashMap;
use std::sync::Arc;

use elysia_types::{BranchId, ToolName, clean_line, truncate};

use super::{Branch, BranchIdx, Leaf, NativeParameters, ToolIdx, Tree, leaf};
use crate::config::{Preset, ToolConfig, TreeConfig};
use crate::entry::{BUILT_INS, ROOT, ToolEntry};
use crate::error::TreeError;

const ROOT_INSTRUCTION: &str = "Choose what brings the user's question closest to its answer.";

pub(super) fn build(config: &TreeConfig, tools: Vec<ToolEntry>) -> Result<(Arc<Tree>, Vec<String>), TreeError> {
    let (mut branches, ids) = branches(config)?;
    check_tool_keys(config, &ids)?;
    let mut warnings: Vec<String> = Vec::new();
    for name in config.tools.keys().filter(|name| !tools.iter().any(|t| t.descriptor.name == *name.as_str())) {
        warnings.push(format!("`tree.tools.{name}`: no loaded plugin has a tool `{name}`; the entry has no effect"));
    }
    let mut leaves: Vec<Leaf> = Vec::with_capacity(tools.len());
    for entry in tools {
        let name = entry.descriptor.name.clone();
        if let Some(owner) = owner_of(name.as_str(), &ids, &leaves) {
            warnings
                .push(format!("tool `{name}` of plugin `{}` is left out: its name is that of {owner}", entry.plugin));
        } else if let Some(placed) = place(config, &ids, entry, &mut warnings)? {
            leaves.push(placed);
        }
    }
    warn_of_dead_sequels(&leaves, &mut warnings);
    let sequels =
        (0..leaves.len()).map(ToolIdx).filter(|i| leaves.get(i.0).is_some_and(|l| !l.after.is_empty())).collect();
    hang(&mut branches, &leaves);
    let levels = branches.iter().map(|b| b.depth).max().unwrap_or(0);
    Ok((Arc::new(Tree { branches, leaves, sequels, levels, native: NativeParameters::new() }), warnings))
}

type Ids = HashMap<String, BranchIdx>;

/// Branches in the order of the configuration, the root first; parents linked, no tools yet.
fn branches(config: &TreeConfig) -> Result<(Vec<Branch>, Ids), TreeError> {
    let instruction = config.instruction.clone().unwrap_or_else(|| ROOT_INSTRUCTION.to_owned());
    let mut branches = vec![branch(ROOT, String::new(), instruction)];
    let mut ids = Ids::from([(ROOT.to_owned(), BranchIdx(0))]);
    for (id, wanted) in &config.branches {
        check_branch_id(id)?;
        ids.insert(id.clone(), BranchIdx(branches.len()));
        branches.push(branch(id, wanted.description.clone(), wanted.instruction.clone().unwrap_or_default()));
    }
    for (id, wanted) in &config.branches {
        let under = wanted.under.as_deref().unwrap_or(ROOT);
        let parent = *ids.get(under).ok_or_else(|| unknown_branch(format!("tree.branches.{id}.under"), under, &ids))?;
        if let Some(own) = ids.get(id) {
            if let Some(b) = branches.get_mut(own.0) {
                b.parent = Some(parent);
            }
            if let Some(b) = branches.get_mut(parent.0) {
                b.branches.push(*own);
            }
        }
    }
    for i in 1..branches.len() {
        let depth = depth(&branches, BranchIdx(i))?;
        if let Some(b) = branches.get_mut(i) {
            b.depth = depth;
        }
    }
    Ok((branches, ids))
}

fn branch(id: &str, description: String, instruction: String) -> Branch {
    let (branches, tools, below) = (Vec::new(), Vec::new(), Vec::new());
    Branch { id: id.to_owned(), description, instruction, parent: None, branches, tools, below, depth: 0 }
}

fn check_branch_id(id: &str) -> Result<(), TreeError> {
    let key = format!("tree.branches.{id}");
    if id == ROOT {
        return Err(TreeError::Taken { key, id: id.to_owned(), owner: "the root branch" });
    }
    if BUILT_INS.contains(&id) {
        return Err(TreeError::Taken { key, id: id.to_owned(), owner: "a built-in option" });
    }
    match id.parse::<BranchId>() {
        Ok(_) => Ok(()),
        Err(e) => Err(TreeError::InvalidName { key, reason: e.to_string() }),
    }
}

/// Steps up to the root.
fn depth(branches: &[Branch], start: BranchIdx) -> Result<u32, TreeError> {
    let mut path: Vec<&str> = Vec::new();
    let mut at = start;
    while let Some(branch) = branches.get(at.0) {
        let Some(parent) = branch.parent else {
            return Ok(u32::try_from(path.len()).unwrap_or(u32::MAX));
        };
        if path.contains(&branch.id.as_str()) {
            let from = path.iter().position(|id| *id == branch.id).unwrap_or(0);
            let mut circle: Vec<&str> = path.into_iter().skip(from).collect();
            circle.push(&branch.id);
            let id = branches.get(start.0).map(|b| b.id.clone()).unwrap_or_default();
            return Err(TreeError::Cycle {
                key: format!("tree.branches.{id}.under"),
                id,
                path: circle.join(" under "),
            });
        }
        path.push(&branch.id);
        at = parent;
    }
    Ok(0)
}

fn unknown_branch(key: String, id: &str, ids: &Ids) -> TreeError {
    let mut known: Vec<&str> = ids.keys().map(String::as_str).collect();
    known.sort_unstable();
    TreeError::UnknownBranch { key, id: truncate(&clean_line(id), 80).to_owned(), known: known.join(", ") }
}

fn check_tool_keys(config: &TreeConfig, ids: &Ids) -> Result<(), TreeError> {
    for (name, wanted) in &config.tools {
        if let Err(e) = name.parse::<ToolName>() {
            return Err(TreeError::InvalidName { key: format!("tree.tools.{name}"), reason: e.to_string() });
        }
        if let Some(branch) = wanted.branch.as_deref().filter(|b| !ids.contains_key(*b)) {
            return Err(unknown_branch(format!("tree.tools.{name}.branch"), branch, ids));
        }
        for before in wanted.after.iter().flatten() {
            if let Err(e) = before.parse::<ToolName>() {
                return Err(TreeError::InvalidName { key: format!("tree.tools.{name}.after"), reason: e.to_string() });
            }
        }
    }
    Ok(())
}

fn owner_of(name: &str, ids: &Ids, leaves: &[Leaf]) -> Option<String> {
    if BUILT_INS.contains(&name) {
        return Some("a built-in option".to_owned());
    }
    if ids.contains_key(name) {
        return Some(format!("branch `{name}`"));
    }
    let other = leaves.iter().find(|l| l.name() == name)?;
    Some(format!("a tool of plugin `{}`", other.entry.plugin))
}

/// None when the tool is not in the tree.
fn place(
    config: &TreeConfig,
    ids: &Ids,
    entry: ToolEntry,
    warnings: &mut Vec<String>,
) -> Result<Option<Leaf>, TreeError> {
    let name = entry.descriptor.name.clone();
    let listed = config.tools.get(name.as_str());
    if config.preset == Preset::Empty && listed.is_none() {
        return Ok(None);
    }
    let operator = listed.cloned().unwrap_or_default();
    if !operator.enabled {
        return Ok(None);
    }
    let wish = entry.descriptor.placement.clone().filter(|_| config.preset != Preset::MultiBranch).unwrap_or_default();
    let ToolConfig { branch, after, unchosen, .. } = operator;
    let branch = match (branch, wish.branch) {
        (Some(id), _) => *ids.get(&id).ok_or_else(|| unknown_branch(format!("tree.tools.{name}.branch"), &id, ids))?,
        (None, Some(id)) => *ids.get(id.as_str()).unwrap_or_else(|| {
            warnings.push(format!(
                "tool `{name}` of plugin `{}` asks for branch `{id}`, which the configuration does not make; it stands on the root",
                entry.plugin
            ));
            &BranchIdx(0)
        }),
        (None, None) => BranchIdx(0),
    };
    let after = match after {
        Some(names) => names.iter().filter_map(|n| n.parse().ok()).collect(),
        None => wish.after,
    };
    Ok(Some(leaf(entry, branch, after, unchosen)))
}

fn warn_of_dead_sequels(leaves: &[Leaf], warnings: &mut Vec<String>) {
    for leaf in leaves {
        for before in leaf.after.iter().filter(|n| !leaves.iter().any(|l| l.name() == *n)) {
            warnings.push(format!(
                "tool `{}` stands after `{before}`, which is not in the tree; it will never be on offer",
                leaf.name()
            ));
        }
    }
}

/// Hangs tools on their branches, and lists for each branch what lies below.
fn hang(branches: &mut [Branch], leaves: &[Leaf]) {
    for (i, leaf) in leaves.iter().enumerate().filter(|(_, l)| l.after.is_empty()) {
        if let Some(own) = branches.get_mut(leaf.branch.0) {
            own.tools.push(ToolIdx(i));
        }
        let mut at = Some(leaf.branch);
        while let Some(branch) = at.and_then(|idx| branches.get_mut(idx.0)) {
            branch.below.push(ToolIdx(i));
            at = branch.parent;
        }
    }
}
