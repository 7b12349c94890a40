//! The only loop: what the turn wants next, wait for it, feed what was seen. Cancellation, deadline, closing.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Instant;

use elysia_decision::{Action, CallPlan, Observation, Turn, TurnEnd};
use elysia_registry::{Catalog, Plugin};
use elysia_sandbox::{GuestContext, Yielded};
use elysia_types::{
    CallId, Effects, EventBody, Failure, FailureCode, LimitReport, PluginName, PluginState, SizeInBytes,
};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::calls::{Permits, Progress, Running, millis};
use crate::checks;
use crate::host::Inner;
use crate::journal::Journal;
use crate::query::ApprovalAnswer;
use crate::session::Shared;

type Pending<T> = Option<Pin<Box<dyn Future<Output = T> + Send>>>;

/// All that one query waits for.
pub(crate) struct Drive {
    pub(crate) host: Arc<Inner>,
    pub(crate) session: Arc<Shared>,
    pub(crate) catalog: Catalog,
    pub(crate) turn: Turn,
    pub(crate) journal: Journal,
    pub(crate) cancel: CancellationToken,
    pub(crate) approvals: Option<mpsc::Receiver<ApprovalAnswer>>,
    pub(crate) deadline: tokio::time::Instant,
    pub(crate) prompt: String,
    pub(crate) now: String,
    pub(crate) changed_states: Vec<PluginName>,
    running: Vec<Running>,
    /// Index of the call to ask first for news.
    first: usize,
    waiting_for_yes: Vec<CallPlan>,
    asked_model: Pending<Observation>,
    asked_plugins: Pending<Observation>,
    cancelled: bool,
    time_is_up: bool,
}

/// What the loop leaves behind.
pub(crate) struct Ended {
    pub(crate) turn: TurnEnd,
    /// The closing event, which goes with the commit.
    pub(crate) closing: Option<EventBody>,
    pub(crate) journal: Journal,
    pub(crate) changed_states: Vec<PluginName>,
}

/// One thing that happened while waiting.
enum Seen {
    Cancelled,
    TimeIsUp,
    Approval(ApprovalAnswer),
    Call(usize, Progress),
    Model(Observation),
    Plugins(Observation),
}

impl Drive {
    #[expect(clippy::too_many_arguments, reason = "each is one thing a query owns; a builder would only rename them")]
    pub(crate) fn new(
        host: Arc<Inner>,
        session: Arc<Shared>,
        catalog: Catalog,
        turn: Turn,
        journal: Journal,
        cancel: CancellationToken,
        approvals: Option<mpsc::Receiver<ApprovalAnswer>>,
        deadline: tokio::time::Instant,
        prompt: String,
        now: String,
    ) -> Self {
        Self {
            host,
            session,
            catalog,
            turn,
            journal,
            cancel,
            approvals,
            deadline,
            prompt,
            now,
            changed_states: Vec::new(),
            running: Vec::new(),
            first: 0,
            waiting_for_yes: Vec::new(),
            asked_model: None,
            asked_plugins: None,
            cancelled: false,
            time_is_up: false,
        }
    }

    /// Runs the query to its end. Dropping the future stops every guest and request.
    pub(crate) async fn run(mut self) -> Ended {
        let mut closing = None;
        loop {
            match self.turn.next() {
                Action::Emit(body) if body.is_last() => closing = Some(body),
                Action::Emit(body) => self.emit(body).await,
                Action::Check(asked) => self.asked_plugins = Some(self.ask_plugins(asked)),
                Action::Ask(prompt) => self.asked_model = Some(self.ask_model(prompt)),
                Action::Run(plan) => self.start(plan).await,
                Action::Stop(call) => self.stop(&call),
                Action::Wait => {
                    let seen = self.wait().await;
                    self.take(seen).await;
                }
                Action::Finish => break,
            }
        }
        // Guests that still run have no one left to hear them.
        self.running.clear();
        Ended { turn: self.turn.finish(), closing, journal: self.journal, changed_states: self.changed_states }
    }

    /// Hands an event to the journal; waits while that is full, and hears a cancellation meanwhile.
    async fn emit(&mut self, body: EventBody) {
        let stored = loop {
            tokio::select! {
                biased;
                room = self.journal.room() => break room,
                () = self.cancel.cancelled(), if !self.cancelled => self.hear_cancel(),
                () = tokio::time::sleep_until(self.deadline), if !self.time_is_up => self.hear_deadline(),
            }
        };
        if stored {
            self.journal.push(body);
        } else if !self.cancelled {
            // The store has failed: nothing can be acknowledged any more, so nothing more is done.
            self.hear_cancel();
        }
    }

    fn hear_cancel(&mut self) {
        self.cancelled = true;
        (self.asked_model, self.asked_plugins) = (None, None);
        self.running.iter().for_each(|running| running.cancel.cancel());
        self.turn.feed(Observation::Cancelled);
    }

    fn hear_deadline(&mut self) {
        self.time_is_up = true;
        (self.asked_model, self.asked_plugins) = (None, None);
        self.turn.feed(Observation::TimeIsUp);
    }

    fn ask_model(&self, prompt: Box<elysia_decision::Prompt>) -> Pin<Box<dyn Future<Output = Observation> + Send>> {
        let (model, deadline) = (self.host.model.clone(), self.deadline.into_std());
        Box::pin(async move {
            let started = Instant::now();
            match model.reply(&prompt, deadline).await {
                Ok(reply) => Observation::Replied { reply, ms: millis(started) },
                Err((failure, partial)) => Observation::ModelFailed { failure, partial },
            }
        })
    }

    fn ask_plugins(&self, asked: elysia_decision::Checks) -> Pin<Box<dyn Future<Output = Observation> + Send>> {
        let (engine, catalog, limit) = (self.host.engine.clone(), self.catalog.clone(), self.host.ask_limit());
        let (session, prompt, now) = (self.session.clone(), self.prompt.clone(), self.now.clone());
        Box::pin(async move {
            let context = |plugin: &Plugin| guest_context(&session, &catalog, plugin, &prompt, &now);
            checks::ask(engine, &catalog, asked, limit, context).await
        })
    }

    /// Starts a call, or asks for approval first where its plugin's grant says so.
    async fn start(&mut self, plan: CallPlan) {
        let Some(found) = self.catalog.tool(plan.call.tool.as_str()) else {
            let failure = Failure::new(FailureCode::Internal, format!("tool `{}` left the catalog", plan.call.tool));
            self.turn.feed(Observation::CallEnded {
                call_id: plan.call.call_id,
                end: elysia_types::CallEnd { outcome: Err(failure), state: None },
                ms: 0,
            });
            return;
        };
        let plugin = found.plugin.clone();
        if !plugin.needs_approval(plan.effects) {
            self.launch(plan);
            return;
        }
        let asked = EventBody::ApprovalRequested {
            call: plan.call.clone(),
            inputs: plan.inputs.clone(),
            effects: plan.effects,
        };
        if self.approvals.is_some() {
            self.waiting_for_yes.push(plan);
        } else {
            let failure = denied(&plan, plugin.name.as_str());
            self.running.push(Running::refused(plugin, plan.call.call_id, failure));
        }
        self.emit(asked).await;
    }

    fn launch(&mut self, plan: CallPlan) {
        let Some(found) = self.catalog.tool(plan.call.tool.as_str()) else { return };
        let plugin = found.plugin.clone();
        let (session, catalog, of) = (self.session.clone(), self.catalog.clone(), plugin.clone());
        let (prompt, now) = (self.prompt.clone(), self.now.clone());
        let context = move || guest_context(&session, &catalog, &of, &prompt, &now);
        let permits = Permits {
            plugin: self.host.plugin_permits(&plugin),
            session: self.session.permits.clone(),
            host: self.host.permits.clone(),
        };
        self.running.push(Running::start(self.host.engine.clone(), plugin, plan, context, permits));
    }

    fn stop(&mut self, call: &CallId) {
        for running in self.running.iter().filter(|r| r.id == *call) {
            running.cancel.cancel();
        }
        if let Some(i) = self.waiting_for_yes.iter().position(|plan| plan.call.call_id == *call) {
            let plan = self.waiting_for_yes.swap_remove(i);
            if let Some(found) = self.catalog.tool(plan.call.tool.as_str()) {
                let failure =
                    Failure::new(FailureCode::Cancelled, "the call was cancelled while it waited for approval");
                self.running.push(Running::refused(found.plugin.clone(), plan.call.call_id, failure));
            }
        }
    }

    async fn wait(&mut self) -> Seen {
        let Self {
            cancel, approvals, deadline, running, first, asked_model, asked_plugins, cancelled, time_is_up, ..
        } = self;
        let approval = async {
            match approvals {
                Some(answers) => match answers.recv().await {
                    Some(answer) => answer,
                    None => std::future::pending().await,
                },
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            () = cancel.cancelled(), if !*cancelled => Seen::Cancelled,
            () = tokio::time::sleep_until(*deadline), if !*time_is_up => Seen::TimeIsUp,
            (i, progress) = next_progress(running, first) => Seen::Call(i, progress),
            seen = wait_for(asked_model) => Seen::Model(seen),
            seen = wait_for(asked_plugins) => Seen::Plugins(seen),
            answer = approval => Seen::Approval(answer),
        }
    }

    async fn take(&mut self, seen: Seen) {
        match seen {
            Seen::Cancelled => self.hear_cancel(),
            Seen::TimeIsUp => self.hear_deadline(),
            Seen::Model(observation) => {
                self.asked_model = None;
                self.turn.feed(observation);
            }
            Seen::Plugins(observation) => {
                self.asked_plugins = None;
                self.turn.feed(observation);
            }
            Seen::Call(i, Progress::Yielded(Yielded { item, answer })) => {
                let Some(running) = self.running.get(i) else { return };
                let call_id = running.id.clone();
                let fed = self.turn.feed(Observation::Yielded { call_id, item });
                if let (Some(answer), Some(refs)) = (answer, fed.refs) {
                    // The guest may have been stopped meanwhile.
                    let _ = answer.send(refs);
                }
            }
            Seen::Call(i, Progress::Ended { mut end, state_before, ms }) => {
                let running = self.running.remove(i);
                let name = &running.plugin.name;
                if let Some(after) = end.state.take_if(|after| *after != state_before) {
                    if self.session.keep_state(name, &state_before, &after, running.plugin.limits.state) {
                        end.state = Some(after);
                        if !self.changed_states.contains(name) {
                            self.changed_states.push(name.clone());
                        }
                    } else {
                        end.outcome = Err(state_is_full(name, running.plugin.limits.state));
                    }
                } else {
                    end.state = None;
                }
                self.turn.feed(Observation::CallEnded { call_id: running.id, end, ms });
            }
            Seen::Approval(answer) => self.approve(answer),
        }
    }

    fn approve(&mut self, answer: ApprovalAnswer) {
        let Some(i) = self.waiting_for_yes.iter().position(|plan| plan.call.call_id == answer.call_id) else { return };
        let plan = self.waiting_for_yes.swap_remove(i);
        if answer.approved {
            self.launch(plan);
        } else if let Some(found) = self.catalog.tool(plan.call.tool.as_str()) {
            let failure =
                Failure::new(FailureCode::Denied, format!("the user did not approve the call of `{}`", plan.call.tool))
                    .with_feedback("the user said no to this call; do not try it again");
            self.running.push(Running::refused(found.plugin.clone(), plan.call.call_id, failure));
        }
    }
}

/// What a guest of `plugin` may read: all of this conversation, unless it can send data out and was not given the rest.
fn guest_context(session: &Shared, catalog: &Catalog, plugin: &Plugin, prompt: &str, now: &str) -> GuestContext {
    let tools = catalog.tools().filter(|tool| tool.plugin.name == plugin.name);
    let own = plugin.given.hides_environment.then(|| tools.map(|tool| tool.descriptor.name.clone()).collect());
    let (prompt, history) = match plugin.given.hides_conversation {
        true => (String::new(), Vec::new()),
        false => (prompt.to_owned(), session.history()),
    };
    GuestContext {
        environment: session.environment.view(own),
        state: session.state_of(&plugin.name),
        prompt,
        history,
        now: now.to_owned(),
    }
}

fn denied(plan: &CallPlan, plugin: &str) -> Failure {
    let what = match plan.effects {
        Effects::Destructive => "changes something for good",
        Effects::Writes => "changes something outside",
        Effects::Reads | Effects::None => "needs approval by its grant",
    };
    Failure::new(
        FailureCode::Denied,
        format!(
            "plugin `{plugin}`: the call of `{}` {what} and nobody is there to approve it; allow it with \
             `approve = \"never\"` under [grants.{plugin}] in elysia.toml",
            plan.call.tool
        ),
    )
    .with_feedback(format!(
        "`{}` needs the user's approval, which cannot be had now; do not try it again",
        plan.call.tool
    ))
}

fn state_is_full(plugin: &PluginName, limit: u64) -> Failure {
    let configured = SizeInBytes(limit).to_string();
    let raise_with =
        format!("limits = {{ state = \"{}\" }} under [grants.{plugin}] in elysia.toml", SizeInBytes(limit * 2));
    let observed = "more, together with calls at the same time".to_owned();
    let message = format!(
        "plugin `{plugin}`: limit `state` of {configured} would be passed: {observed}; raise it with `{raise_with}`"
    );
    Failure::new(FailureCode::State, message).with_limit(LimitReport {
        name: "state".to_owned(),
        configured,
        observed,
        raise_with,
    })
}

async fn wait_for<T>(pending: &mut Pending<T>) -> T {
    match pending {
        Some(future) => future.await,
        None => std::future::pending().await,
    }
}

/// The next thing any running call does. The one that spoke last is asked last, so that none is starved.
async fn next_progress(running: &mut [Running], first: &mut usize) -> (usize, Progress) {
    let n = running.len();
    poll_fn(|context| {
        for i in (0..n).map(|i| (*first + i) % n.max(1)) {
            if let Some(call) = running.get_mut(i)
                && let Poll::Ready(progress) = call.poll_progress(context)
            {
                *first = i + 1;
                return Poll::Ready((i, progress));
            }
        }
        Poll::Pending
    })
    .await
}

/// Writes the keys that a call changed, removed or added into `current`, leaving what others changed meanwhile.
pub(crate) fn merge_state(current: &mut PluginState, before: &PluginState, after: &PluginState) {
    for key in before.keys().filter(|key| !after.contains_key(*key)) {
        current.shift_remove(key);
    }
    for (key, value) in after.iter().filter(|(key, value)| before.get(*key) != Some(value)) {
        current.insert(key.clone(), value.clone());
    }
}
