//! Running what was chosen: budgets, repeats, order, and what follows when all calls of a decision have ended.

use elysia_types::{CallEnd, CallId, CallRef, EventBody, FailureCode, QueryOutcome, ToolInputs};

use super::{Batch, Phase, Stop, Turn, call_id};
use crate::action::{Action, CallPlan};
use crate::tree::ToolIdx;

/// Why the second of two equal choices in one decision is not run.
const TWICE: &str = "it was chosen twice with equal inputs in one decision";

impl Turn {
    /// Runs a decision's tools, except repeats and what no call is left for.
    pub(super) fn run_chosen(&mut self, choices: Vec<(ToolIdx, ToolInputs)>, end: bool) {
        self.spent.decisions += 1;
        let (mut runnable, mut refused_repeat) = (Vec::new(), false);
        let n_chosen = choices.len();
        for (tool, inputs) in choices {
            let Some(leaf) = self.tree.leaf(tool) else { continue };
            let twice = runnable.contains(&(tool, inputs.clone())).then_some(TWICE);
            let repeat = self.repeats.refusal(tool, leaf, &inputs, self.recorder.changes);
            refused_repeat |= repeat.is_some();
            match repeat.or(twice) {
                Some(reason) => self.note_not_run(tool, inputs, reason),
                None => runnable.push((tool, inputs)),
            }
        }
        self.repeats.n_told += u32::from(refused_repeat);
        let n_left = usize::try_from(self.budget.calls.saturating_sub(self.spent.calls)).unwrap_or(usize::MAX);
        if runnable.len() > n_left {
            let reason = format!("the limit of {} calls is reached", self.budget.calls);
            let names: Vec<String> = runnable
                .iter()
                .skip(n_left)
                .filter_map(|(t, _)| Some(self.tree.leaf(*t)?.name().to_string()))
                .collect();
            self.emit(EventBody::Warning { call: None, text: format!("{reason}; not run: {}", names.join(", ")) });
            for (tool, inputs) in runnable.split_off(n_left) {
                self.note_not_run(tool, inputs, &reason);
            }
        }
        let whole = runnable.len() == n_chosen;
        self.begin(Batch::Chosen { end, whole }, runnable);
    }

    fn note_not_run(&mut self, tool: ToolIdx, inputs: ToolInputs, reason: &str) {
        if let Some(plan) = self.plan(tool, inputs, true) {
            self.recorder.not_run(&plan, reason);
        }
    }

    fn plan(&self, tool: ToolIdx, inputs: ToolInputs, chosen: bool) -> Option<CallPlan> {
        let leaf = self.tree.leaf(tool)?;
        let call = CallRef {
            call_id: call_id(&self.query_id, self.n_calls)?,
            tool: leaf.name().clone(),
            plugin: leaf.entry.plugin.clone(),
        };
        Some(CallPlan { call, inputs, effects: leaf.descriptor().effects, chosen })
    }

    /// Plans calls in the order of telling and starts what can start.
    pub(super) fn begin(&mut self, batch: Batch, calls: Vec<(ToolIdx, ToolInputs)>) {
        self.batch = batch;
        self.phase = Phase::Calling;
        self.recorder.begin_batch();
        for (tool, inputs) in calls {
            if batch != Batch::Direct && self.spent.calls >= self.budget.calls {
                break;
            }
            self.n_calls += 1;
            if let Some(plan) = self.plan(tool, inputs, matches!(batch, Batch::Chosen { .. })) {
                self.spent.calls += 1;
                self.recorder.plan(plan, tool);
            }
        }
        self.go_on();
    }

    /// Starts calls that may start; when none is left, goes on.
    fn go_on(&mut self) {
        for plan in self.recorder.start_ready() {
            self.drain();
            self.out.push_back(Action::Run(plan));
        }
        self.drain();
        if self.recorder.is_batch_done() {
            self.batch_done();
        }
    }

    pub(super) fn call_ended(&mut self, call_id: &CallId, end: CallEnd, ms: u64) {
        let changed_state = end.state.is_some();
        let Some(at) = self.recorder.ended(call_id, end, ms) else {
            return;
        };
        self.drain();
        if let Some(call) = self.recorder.calls.get(at)
            && let Some(leaf) = self.tree.leaf(call.tool)
        {
            let code = call.failure.as_ref().map(|f| f.code);
            self.repeats.ended(call.tool, leaf, call.plan.inputs.clone(), code, changed_state, self.recorder.changes);
        }
        match self.phase {
            Phase::Stopping(stop) if self.recorder.running().is_empty() => self.stopped(stop),
            Phase::Calling => self.go_on(),
            _ => {}
        }
    }

    fn batch_done(&mut self) {
        let failed = self.recorder.batch().iter().find_map(|c| c.failure.clone());
        match self.batch {
            Batch::Direct => match failed {
                Some(failure) => self.fail(failure),
                None => self.complete(QueryOutcome::Answered),
            },
            Batch::Unchosen { changes_before } => self.unchosen_done(changes_before),
            Batch::Chosen { end, whole } => {
                self.at = self.tree.root();
                self.moves = 0;
                self.went_back = false;
                let may_end = self
                    .recorder
                    .batch()
                    .iter()
                    .all(|c| self.tree.leaf(c.tool).is_some_and(|l| l.descriptor().may_end));
                if end && whole && may_end && failed.is_none() {
                    self.end_after_tools();
                } else if self.repeats.n_told >= 2 {
                    self.ask_answer(
                        "calls were chosen again that had run with equal inputs already".to_owned(),
                        QueryOutcome::Answered,
                    );
                } else {
                    self.step();
                }
            }
        }
    }

    fn end_after_tools(&mut self) {
        if self.recorder.spoke {
            self.complete(QueryOutcome::Answered);
        } else {
            self.ask_answer(
                "the tools have done their work and nothing has been said yet".to_owned(),
                QueryOutcome::Answered,
            );
        }
    }

    /// Stops whatever goes on. Calls already started are told to stop and waited for; a second order does not wait.
    pub(super) fn stop(&mut self, stop: Stop) {
        let again = matches!(self.phase, Phase::Stopping(_));
        if again && stop == Stop::TimeIsUp {
            return;
        }
        if self.phase == Phase::Over {
            return;
        }
        let pending = std::mem::take(&mut self.out);
        for action in pending {
            match action {
                Action::Emit(_) | Action::Stop(_) => self.out.push_back(action),
                // Announced, and never to be started: its end is told here.
                Action::Run(plan) => self.recorder.cut(&plan.call.call_id),
                Action::Check(_) | Action::Ask(_) | Action::Wait | Action::Finish => {}
            }
        }
        self.recorder.drop_planned();
        let was_cancelled = self.phase == Phase::Stopping(Stop::Cancelled);
        self.phase = Phase::Stopping(stop);
        for id in self.recorder.running() {
            if was_cancelled {
                self.recorder.cut(&id);
            } else if !again {
                self.out.push_back(Action::Stop(id));
            }
        }
        self.drain();
        if self.recorder.running().is_empty() {
            self.stopped(stop);
        }
    }

    fn stopped(&mut self, stop: Stop) {
        match (stop, &self.prompt) {
            (Stop::Cancelled, _) => self.cancelled(),
            (Stop::TimeIsUp, Some(_)) => self.compose_at_limit("the query's time is used up"),
            (Stop::TimeIsUp, None) => {
                self.fail(elysia_types::Failure::new(FailureCode::Deadline, "the query's time is used up"))
            }
        }
    }
}
