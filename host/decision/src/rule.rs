//! What must not run again: tools that run unchosen, and calls with inputs that were tried already.

use std::collections::HashMap;

use elysia_types::{FailureCode, PluginName, ToolInputs};

use crate::tree::{Leaf, ToolIdx};

/// Tools that ran unchosen, with their latest inputs: once per query unless the inputs change.
#[derive(Debug, Default)]
pub(crate) struct Unchosen {
    latest: HashMap<ToolIdx, ToolInputs>,
}

impl Unchosen {
    /// Whether `tool` may run with `inputs`; if so it counts as run.
    pub(crate) fn admit(&mut self, tool: ToolIdx, inputs: &ToolInputs) -> bool {
        if self.latest.get(&tool) == Some(inputs) {
            return false;
        }
        self.latest.insert(tool, inputs.clone());
        true
    }
}

/// A call that has ended.
#[derive(Debug)]
struct Past {
    tool: ToolIdx,
    inputs: ToolInputs,
    /// Changes of the environment and of the plugin's state up to its end.
    seen: (u64, u64),
    code: Option<FailureCode>,
}

/// Calls of this query that have ended.
#[derive(Debug, Default)]
pub(crate) struct Repeats {
    past: Vec<Past>,
    state_changes: HashMap<PluginName, u64>,
    /// Decisions that chose a call which was not run again.
    pub(crate) n_told: u32,
}

impl Repeats {
    /// Notes the end of a call; `changes` counts what the environment has gained so far.
    pub(crate) fn ended(
        &mut self,
        tool: ToolIdx,
        leaf: &Leaf,
        inputs: ToolInputs,
        code: Option<FailureCode>,
        changed_state: bool,
        changes: u64,
    ) {
        let state = self.state_changes.entry(leaf.entry.plugin.clone()).or_default();
        *state += u64::from(changed_state);
        self.past.push(Past { tool, inputs, seen: (changes, *state), code });
    }

    /// Why a call with these inputs is not run; none when it may.
    pub(crate) fn refusal(
        &self,
        tool: ToolIdx,
        leaf: &Leaf,
        inputs: &ToolInputs,
        changes: u64,
    ) -> Option<&'static str> {
        let state = self.state_changes.get(&leaf.entry.plugin).copied().unwrap_or(0);
        let same = |p: &&Past| p.tool == tool && p.seen == (changes, state) && p.inputs == *inputs;
        let (mut n_tries, mut all_passing) = (0, true);
        for past in self.past.iter().filter(same) {
            n_tries += 1;
            all_passing &= past.code.is_some_and(FailureCode::is_passing);
        }
        let may_retry = all_passing && n_tries == 1 && !leaf.descriptor().effects.changes_world();
        match n_tries {
            0 => None,
            _ if may_retry => None,
            _ if all_passing => Some("it failed with equal inputs already; do not call it again like this"),
            _ => Some("it ran with equal inputs already and nothing has changed since; its result stands above"),
        }
    }
}
