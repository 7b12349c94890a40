//! One query as a machine: [`Turn::next`] says what to do, [`Turn::feed`] takes what was seen.
//!
//! The rules are those of the contract's section 4, in this order: ask plugins (`steps`), decide (`answers`), run
//! (`calls`), end (`close`). Every loop here needs an observation to go on, and each is counted against the budget.

mod answers;
mod calls;
mod close;
mod steps;

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;

use elysia_types::{
    EventBody, Failure, FailureCode, Message, QueryBudget, QueryId, QueryOutcome, SessionId, SharedEnvironment, Spent,
    ToolInputs, Usage, clean_line, truncate,
};

use crate::action::{Action, Ended, Fed, Observation, TurnEnd, TurnStart};
use crate::offer::{Known, Offer};
use crate::prompt::{self, PromptKind};
use crate::recorder::Recorder;
use crate::rule::{Repeats, Unchosen};
use crate::tree::{BranchIdx, ToolIdx, Tree};

/// What the turn waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Answers of plugins; with or without the question whether a tool wants to run unchosen.
    Checking { with_rules: bool },
    /// The model.
    Asking,
    /// Calls.
    Calling,
    /// Calls that were told to stop.
    Stopping(Stop),
    /// Nothing.
    Over,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stop {
    Cancelled,
    TimeIsUp,
}

/// One question to the model, with its bad replies.
#[derive(Debug)]
struct Question {
    kind: PromptKind,
    offer: Offer,
    exchange: Vec<(String, String)>,
    /// The reply before this one was text without a choice.
    was_text: bool,
    usage: Usage,
    ms: u64,
    /// For an answer: why it is asked for, and what the query's outcome will be.
    why: Option<String>,
    outcome: QueryOutcome,
}

/// What the running calls belong to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Batch {
    /// Tools that wanted to run unchosen; then comes the decision.
    Unchosen { changes_before: u64 },
    /// A decision; `end` is its wish, `whole` that all it chose was run.
    Chosen { end: bool, whole: bool },
    /// `plugin call`.
    Direct,
}

/// The machine.
#[derive(Debug)]
pub struct Turn {
    query_id: QueryId,
    session_id: SessionId,
    tree: Arc<Tree>,
    environment: SharedEnvironment,
    history: Vec<Message>,
    system: Arc<str>,
    now: Arc<str>,
    budget: QueryBudget,
    /// None for a direct call.
    prompt: Option<Arc<str>>,
    recorder: Recorder,
    out: VecDeque<Action>,
    phase: Phase,
    at: BranchIdx,
    moves: u32,
    went_back: bool,
    known: Known,
    unchosen: Unchosen,
    repeats: Repeats,
    taken_unasked: HashSet<ToolIdx>,
    spent: Spent,
    n_decisions: u32,
    n_calls: u64,
    question: Option<Question>,
    batch: Batch,
    ended: Option<Ended>,
}

impl Turn {
    /// A query put to the agent. The first actions are ready at once.
    pub fn query(start: TurnStart, prompt: String, model: String) -> Self {
        let mut turn = Self::new(start, Some(prompt.as_str().into()));
        turn.emit(EventBody::QueryStarted {
            prompt: Some(prompt),
            session_id: turn.session_id.clone(),
            model: Some(model),
        });
        turn.step();
        turn
    }

    /// One tool without a model.
    ///
    /// # Errors
    /// `not_found` when the tree has no such tool, `invalid_inputs` when its schema refuses them.
    pub fn direct_call(start: TurnStart, tool: &str, inputs: ToolInputs) -> Result<Self, Failure> {
        let (idx, inputs) = {
            let Some((idx, leaf)) = start.tree.tool(tool) else {
                return Err(no_such_tool(tool, &start.tree));
            };
            let inputs = leaf.entry.schema.complete(inputs).map_err(|complaints| {
                let all: Vec<String> = complaints.iter().map(ToString::to_string).collect();
                Failure::new(FailureCode::InvalidInputs, format!("inputs of `{}`: {}", leaf.name(), all.join("; ")))
            })?;
            (idx, inputs)
        };
        let mut turn = Self::new(start, None);
        turn.emit(EventBody::QueryStarted { prompt: None, session_id: turn.session_id.clone(), model: None });
        turn.begin(Batch::Direct, vec![(idx, inputs)]);
        Ok(turn)
    }

    fn new(start: TurnStart, prompt: Option<Arc<str>>) -> Self {
        let TurnStart { query_id, session_id, tree, environment, history, profile, now, budget } = start;
        let recorder = Recorder::new(environment.clone(), session_id.clone(), budget.environment);
        Self {
            query_id,
            session_id,
            at: tree.root(),
            tree,
            environment,
            history,
            system: prompt::system(&profile),
            now: now.into(),
            budget,
            prompt,
            recorder,
            out: VecDeque::new(),
            phase: Phase::Calling,
            moves: 0,
            went_back: false,
            known: Known::default(),
            unchosen: Unchosen::default(),
            repeats: Repeats::default(),
            taken_unasked: HashSet::new(),
            spent: Spent::default(),
            n_decisions: 0,
            n_calls: 0,
            question: None,
            batch: Batch::Direct,
            ended: None,
        }
    }

    /// What to do next. Asked again after each action but `Wait`; after `Wait` an observation is needed.
    #[expect(clippy::should_implement_trait, reason = "an iterator ends; this waits to be fed")]
    pub fn next(&mut self) -> Action {
        match self.out.pop_front() {
            Some(action) => action,
            None if self.phase == Phase::Over => Action::Finish,
            None => Action::Wait,
        }
    }

    /// Takes what was seen. What comes too late, or was not asked for, changes nothing.
    pub fn feed(&mut self, seen: Observation) -> Fed {
        let mut fed = Fed::default();
        match (seen, self.phase) {
            (Observation::Yielded { call_id, item }, _) => {
                fed.refs = self.recorder.yielded(&call_id, item);
                self.drain();
            }
            (_, Phase::Over) => {}
            (Observation::Cancelled, _) => self.stop(Stop::Cancelled),
            (Observation::TimeIsUp, _) => self.stop(Stop::TimeIsUp),
            (Observation::CallEnded { call_id, end, ms }, _) => self.call_ended(&call_id, end, ms),
            (Observation::Checked { available, run_if_true, failed }, Phase::Checking { with_rules }) => {
                self.checked(available, run_if_true, failed, with_rules);
            }
            (Observation::Replied { reply, ms }, Phase::Asking) => self.replied(&reply, ms),
            (Observation::ModelFailed { failure, partial }, Phase::Asking) => self.model_failed(failure, partial),
            (Observation::Checked { .. } | Observation::Replied { .. } | Observation::ModelFailed { .. }, _) => {}
        }
        fed
    }

    /// What came of it; to be taken after [`Action::Finish`]. A turn that is not over counts as cancelled.
    pub fn finish(mut self) -> TurnEnd {
        if self.ended.is_none() {
            self.stop(Stop::Cancelled);
            self.stop(Stop::Cancelled);
        }
        let new_messages = self.new_messages();
        let ended = self.ended.take().unwrap_or_else(|| self.summary(crate::action::EndStatus::Cancelled, None, None));
        TurnEnd { ended, new_messages }
    }

    fn emit(&mut self, event: EventBody) {
        self.out.push_back(Action::Emit(event));
    }

    /// Hands on what the recorder has to tell.
    fn drain(&mut self) {
        self.out.extend(self.recorder.out.drain(..).map(Action::Emit));
    }

    fn branch_id(&self) -> String {
        self.tree.branch(self.at).map_or_else(String::new, |b| b.id.clone())
    }
}

fn no_such_tool(tool: &str, tree: &Tree) -> Failure {
    let shown = truncate(&clean_line(tool), 80).to_owned();
    let names: Vec<&str> = tree.tools().map(|l| l.name().as_str()).collect();
    let known =
        if names.is_empty() { "no tools are loaded".to_owned() } else { format!("there are: {}", names.join(", ")) };
    Failure::new(FailureCode::NotFound, format!("there is no tool `{shown}`; {known}"))
}

/// The id of a query's n-th call.
fn call_id(query: &QueryId, n: u64) -> Option<elysia_types::CallId> {
    let suffix = format!("-{n}");
    format!("{}{suffix}", truncate(query.as_str(), 128 - suffix.len())).parse().ok()
}
