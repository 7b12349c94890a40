//! The way to a decision: limits, questions to plugins, tools that run unchosen, the offer.

use elysia_types::{Availability, Chosen, EventBody, QueryOutcome, ToolInputs, ToolName, Usage, clean_line, truncate};

use super::{Batch, Phase, Question, Turn};
use crate::action::{Action, Checks};
use crate::entry::no_inputs;
use crate::offer::Offer;
use crate::prompt::{self, LocalView, PromptKind, Scene};
use crate::tree::ToolIdx;

const NOTHING_ON_OFFER: &str = "no tool is available; if one would be needed, say which and why it is not available";
const NO_MOVE_LEFT: &str = "the moves between branches are used up and no tool was chosen";
/// Why a tool was taken without asking.
const ONLY_ONE: &str = "the only tool here, and it needs no inputs";

impl Turn {
    /// Begins the way to the next decision where the agent stands.
    pub(super) fn step(&mut self) {
        if self.tokens_gone() {
            return self.compose_at_limit("the query's tokens are used up");
        }
        if let Some(limit) = self.limit_reached() {
            return self.ask_answer(limit, QueryOutcome::Limit);
        }
        self.check(true);
    }

    pub(super) fn tokens_gone(&self) -> bool {
        self.spent.usage.input.saturating_add(self.spent.usage.output) >= self.budget.tokens
    }

    fn limit_reached(&self) -> Option<String> {
        if self.spent.decisions >= self.budget.decisions {
            return Some(format!("the limit of {} decisions is reached", self.budget.decisions));
        }
        (self.spent.calls >= self.budget.calls).then(|| format!("the limit of {} calls is reached", self.budget.calls))
    }

    /// Asks plugins about the branch and below.
    fn check(&mut self, with_rules: bool) {
        let checks = self.checks(with_rules);
        self.phase = Phase::Checking { with_rules };
        if checks == Checks::default() {
            self.checked(Vec::new(), Vec::new(), Vec::new(), with_rules);
        } else {
            self.out.push_back(Action::Check(checks));
        }
    }

    fn in_reach(&self) -> Vec<ToolIdx> {
        let mut tools = self.tree.branch(self.at).map(|b| b.below.clone()).unwrap_or_default();
        if self.at == self.tree.root() {
            tools.extend(self.sequels());
        }
        tools.retain(|t| !self.known.failed.contains_key(t));
        tools
    }

    /// Tools whose predecessors are exactly the last successful chosen calls.
    fn sequels(&self) -> Vec<ToolIdx> {
        let done: Vec<&ToolName> = self
            .recorder
            .tasks
            .iter()
            .filter(|t| t.chosen && t.outcome == crate::task::TaskOutcome::Ok)
            .map(|t| &t.tool)
            .collect();
        let follows = |idx: &&ToolIdx| {
            let Some(leaf) = self.tree.leaf(**idx) else {
                return false;
            };
            let from = done.len().checked_sub(leaf.after.len());
            from.and_then(|from| done.get(from..)).is_some_and(|last| last.iter().copied().eq(leaf.after.iter()))
        };
        self.tree.sequels().iter().filter(follows).copied().collect()
    }

    fn checks(&self, with_rules: bool) -> Checks {
        let mut checks = Checks::default();
        for leaf in self.in_reach().into_iter().filter_map(|t| self.tree.leaf(t)) {
            let descriptor = leaf.descriptor();
            if descriptor.checks_availability {
                checks.available.push(descriptor.name.clone());
            }
            if with_rules && leaf.unchosen && descriptor.runs_unchosen {
                checks.run_if_true.push(descriptor.name.clone());
            }
        }
        checks
    }

    /// Takes plugins' answers, runs what wants to run, then decides.
    pub(super) fn checked(
        &mut self,
        available: Vec<(ToolName, Availability)>,
        run_if_true: Vec<(ToolName, Option<ToolInputs>)>,
        failed: Vec<(ToolName, String)>,
        with_rules: bool,
    ) {
        for (name, reason) in failed {
            if let Some((idx, _)) = self.tree.tool(name.as_str()) {
                self.known.failed.insert(idx, truncate(&clean_line(&reason), 300).to_owned());
            }
        }
        for idx in self.in_reach() {
            let Some(leaf) = self.tree.leaf(idx) else { continue };
            if !leaf.descriptor().checks_availability {
                continue;
            }
            let answer = available.iter().find(|(name, _)| name == leaf.name()).map(|(_, a)| a);
            let reason = match answer {
                Some(Availability { available: true, .. }) => None,
                Some(Availability { reason: Some(reason), .. }) => Some(truncate(&clean_line(reason), 300).to_owned()),
                Some(Availability { reason: None, .. }) => Some("its plugin says that it is not available".to_owned()),
                None => Some("its plugin did not say whether it is available".to_owned()),
            };
            match reason {
                Some(reason) => self.known.unavailable.insert(idx, reason),
                None => self.known.unavailable.remove(&idx),
            };
        }
        let wanted = if with_rules { self.admitted(run_if_true) } else { Vec::new() };
        if wanted.is_empty() {
            self.decide();
        } else {
            self.begin(Batch::Unchosen { changes_before: self.recorder.changes }, wanted);
        }
    }

    /// Those tools that want to run unchosen and may.
    fn admitted(&mut self, wanted: Vec<(ToolName, Option<ToolInputs>)>) -> Vec<(ToolIdx, ToolInputs)> {
        let tree = self.tree.clone();
        let mut admitted = Vec::new();
        for (name, inputs) in wanted.into_iter().filter_map(|(name, inputs)| Some((name, inputs?))) {
            let Some((idx, leaf)) = tree.tool(name.as_str()) else {
                continue;
            };
            let may = leaf.unchosen && leaf.descriptor().runs_unchosen && self.known.is_available(idx);
            if !may || !self.in_reach().contains(&idx) {
                continue;
            }
            match leaf.entry.schema.complete(inputs) {
                Ok(inputs) => {
                    let is_repeat = self.repeats.refusal(idx, leaf, &inputs, self.recorder.changes).is_some();
                    if !is_repeat && self.unchosen.admit(idx, &inputs) {
                        admitted.push((idx, inputs));
                    }
                }
                Err(complaints) => {
                    let first = complaints.first().map(ToString::to_string).unwrap_or_default();
                    let text =
                        format!("tool `{name}` wants to run unchosen with inputs that its own schema refuses: {first}");
                    self.emit(EventBody::Warning { call: None, text });
                }
            }
        }
        admitted
    }

    /// After tools that ran unchosen: what they brought may have changed what is available.
    pub(super) fn unchosen_done(&mut self, changes_before: u64) {
        if self.recorder.changes != changes_before && !self.checks(false).available.is_empty() {
            self.check(false);
        } else {
            self.decide();
        }
    }

    fn decide(&mut self) {
        let is_root = self.at == self.tree.root();
        // A tree without branches has no moves to use up.
        let may_move = self.tree.levels() == 0 || self.moves < 2 * self.tree.levels();
        let sequels = if is_root { self.sequels() } else { Vec::new() };
        let offer = Offer::new(&self.tree, self.at, &sequels, &self.known, may_move, !is_root && !self.went_back);
        if offer.is_bare() {
            if is_root {
                let why = if may_move { NOTHING_ON_OFFER } else { NO_MOVE_LEFT };
                return self.ask_answer_with(offer, why.to_owned(), QueryOutcome::Answered);
            }
            // What made this branch worth entering is gone; the root knows what else there is.
            self.at = self.tree.root();
            return self.step();
        }
        if !is_root && let Some(tool) = self.only_tool(&offer) {
            return self.take_unasked(tool);
        }
        self.ask(Question {
            kind: PromptKind::Decide,
            offer,
            exchange: Vec::new(),
            was_text: false,
            usage: Usage::default(),
            ms: 0,
            why: None,
            outcome: QueryOutcome::Answered,
        });
    }

    fn only_tool(&self, offer: &Offer) -> Option<ToolIdx> {
        let ([tool], []) = (offer.tools.as_slice(), offer.branches.as_slice()) else {
            return None;
        };
        let leaf = self.tree.leaf(*tool)?;
        let may = leaf.entry.schema.needs_no_inputs() && !self.taken_unasked.contains(tool);
        let is_repeat = self.repeats.refusal(*tool, leaf, &no_inputs(), self.recorder.changes).is_some();
        (may && !is_repeat).then_some(*tool)
    }

    fn take_unasked(&mut self, tool: ToolIdx) {
        self.taken_unasked.insert(tool);
        let option = self.tree.leaf(tool).map(|l| l.name().to_string()).unwrap_or_default();
        self.n_decisions += 1;
        self.emit(EventBody::Decision {
            branch: self.branch_id(),
            choices: vec![Chosen { option, inputs: no_inputs() }],
            message: None,
            reason: Some(ONLY_ONE.to_owned()),
            end: false,
            impossible: false,
            tokens: Usage::default(),
            ms: 0,
        });
        self.run_chosen(vec![(tool, no_inputs())], false);
    }

    /// Asks for an answer in words.
    pub(super) fn ask_answer(&mut self, why: String, outcome: QueryOutcome) {
        let offer = Offer::new(&self.tree, self.at, &[], &self.known, false, false);
        let bare = Offer { tools: Vec::new(), branches: Vec::new(), unavailable: Vec::new(), ..offer };
        self.ask_answer_with(bare, why, outcome);
    }

    fn ask_answer_with(&mut self, offer: Offer, why: String, outcome: QueryOutcome) {
        if self.tokens_gone() {
            return self.compose_at_limit("the query's tokens are used up");
        }
        self.ask(Question {
            kind: PromptKind::Answer,
            offer,
            exchange: Vec::new(),
            was_text: false,
            usage: Usage::default(),
            ms: 0,
            why: Some(why),
            outcome,
        });
    }

    /// Puts the question, again after a bad reply.
    pub(super) fn ask(&mut self, question: Question) {
        let local = LocalView {
            kind: question.kind,
            prompt: self.prompt.clone().unwrap_or_else(|| "".into()),
            now: self.now.clone(),
            tree: self.tree.clone(),
            offer: question.offer.clone(),
            tasks: self.recorder.tasks.clone(),
            found: self.recorder.found_in_order(),
            tries: u32::try_from(question.exchange.len()).unwrap_or(u32::MAX),
            why: question.why.clone(),
        };
        let prompt = self.environment.read(|environment| {
            prompt::prompt(Scene {
                system: &self.system,
                environment,
                history: &self.history,
                budget: &self.budget,
                n_decisions: self.spent.decisions,
                exchange: &question.exchange,
                local,
            })
        });
        self.question = Some(question);
        self.phase = Phase::Asking;
        self.out.push_back(Action::Ask(Box::new(prompt)));
    }
}
