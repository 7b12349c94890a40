//! What can be chosen now: available tools and branches that have one below, the built-ins, and why the rest cannot.

use std::collections::HashMap;

use crate::entry::{BACK, IMPOSSIBLE, TEXT_RESPONSE};
use crate::tree::{BranchIdx, ToolIdx, Tree};

/// Something on offer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pick {
    /// A tool.
    Tool(ToolIdx),
    /// A branch below.
    Branch(BranchIdx),
    /// The branch above.
    Back,
    /// Answer and end.
    TextResponse,
    /// Say no and end.
    Impossible,
}

/// A branch on offer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OfferedBranch {
    /// The branch.
    pub branch: BranchIdx,
    /// Available tools in it and below.
    pub below: Vec<ToolIdx>,
}

/// The options of one decision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offer {
    /// Where the agent stands.
    pub branch: BranchIdx,
    /// Available tools.
    pub tools: Vec<ToolIdx>,
    /// Branches with at least one available tool below.
    pub branches: Vec<OfferedBranch>,
    /// Whether the agent may go up.
    pub back: bool,
    /// Names that are not on offer, with the reason.
    pub unavailable: Vec<(String, String)>,
}

/// What is known about tools beyond the tree.
#[derive(Debug, Default)]
pub(crate) struct Known {
    /// Reasons from the latest check.
    pub(crate) unavailable: HashMap<ToolIdx, String>,
    /// Reasons that hold for the rest of the query.
    pub(crate) failed: HashMap<ToolIdx, String>,
}

impl Known {
    fn reason(&self, tool: ToolIdx) -> Option<&str> {
        self.failed.get(&tool).or_else(|| self.unavailable.get(&tool)).map(String::as_str)
    }

    pub(crate) fn is_available(&self, tool: ToolIdx) -> bool {
        self.reason(tool).is_none()
    }
}

const NO_MOVES: &str = "no further move before a tool is chosen";

impl Offer {
    /// The offer at `branch`; `sequels` are the tools whose predecessors have just succeeded.
    pub(crate) fn new(
        tree: &Tree,
        branch: BranchIdx,
        sequels: &[ToolIdx],
        known: &Known,
        moves: bool,
        back: bool,
    ) -> Self {
        let mut offer =
            Self { branch, tools: Vec::new(), branches: Vec::new(), back: moves && back, unavailable: Vec::new() };
        let Some(here) = tree.branch(branch) else { return offer };
        for tool in here.tools.iter().chain(sequels) {
            match (known.reason(*tool), tree.leaf(*tool)) {
                (None, _) => offer.tools.push(*tool),
                (Some(reason), Some(leaf)) => offer.unavailable.push((leaf.name().to_string(), reason.to_owned())),
                (Some(_), None) => {}
            }
        }
        for child in &here.branches {
            let Some(branch) = tree.branch(*child) else { continue };
            let below: Vec<ToolIdx> = branch.below.iter().copied().filter(|t| known.is_available(*t)).collect();
            if below.is_empty() {
                let why = branch.below.first().and_then(|t| known.reason(*t));
                let reason =
                    why.map_or("it has no tools".to_owned(), |r| format!("none of its tools is available: {r}"));
                offer.unavailable.push((branch.id.clone(), reason));
            } else if moves {
                offer.branches.push(OfferedBranch { branch: *child, below });
            } else {
                offer.unavailable.push((branch.id.clone(), NO_MOVES.to_owned()));
            }
        }
        offer
    }

    /// Whether nothing but built-ins is on offer.
    pub fn is_bare(&self) -> bool {
        self.tools.is_empty() && self.branches.is_empty()
    }

    /// The option of this name.
    pub fn find(&self, tree: &Tree, name: &str) -> Option<Pick> {
        let tool = self.tools.iter().find(|t| tree.leaf(**t).is_some_and(|l| l.name() == name));
        let branch = || self.branches.iter().find(|b| tree.branch(b.branch).is_some_and(|b| b.id == name));
        match name {
            TEXT_RESPONSE => Some(Pick::TextResponse),
            IMPOSSIBLE => Some(Pick::Impossible),
            BACK => self.back.then_some(Pick::Back),
            _ => tool.map(|t| Pick::Tool(*t)).or_else(|| branch().map(|b| Pick::Branch(b.branch))),
        }
    }

    /// Names of all options, built-ins last.
    pub fn names<'a>(&'a self, tree: &'a Tree) -> Vec<&'a str> {
        let branches = self.branches.iter().filter_map(|b| tree.branch(b.branch)).map(|b| b.id.as_str());
        let tools = self.tools.iter().filter_map(|t| tree.leaf(*t)).map(|l| l.name().as_str());
        let back = self.back.then_some(BACK);
        branches.chain(tools).chain(back).chain([TEXT_RESPONSE, IMPOSSIBLE]).collect()
    }
}
