//! Plays a script against a turn and writes down what the turn did.

use std::collections::{HashMap, VecDeque};

use elysia_decision::{
    Action, AgentProfile, CallPlan, Checks, Observation, Prompt, PromptKind, Tree, Turn, TurnStart, local,
};
use elysia_types::{
    Availability, CallEnd, CallId, Environment, EventBody, Failure, FailureCode, Object, PluginState,
    SharedEnvironment, Yield,
};
use serde_json::Value;

use super::script::{Behaviour, Line, Script, Start};

/// What happens from outside.
#[derive(Clone, Copy, Debug)]
pub(super) enum Interrupt {
    Cancel,
    CancelTwice,
    Time,
}

/// A performance.
pub(super) struct Show {
    pub(super) transcript: String,
    pub(super) n_actions: usize,
    events: Vec<EventBody>,
}

impl Show {
    /// One closing event, the last; each call started is finished once, and finished ones were started.
    pub(super) fn check_closed(&self) -> Result<(), String> {
        let n_closing = self.events.iter().filter(|e| e.is_last()).count();
        if n_closing != 1 || !self.events.last().is_some_and(EventBody::is_last) {
            return Err(format!("{n_closing} closing events"));
        }
        let mut open: Vec<&CallId> = Vec::new();
        for event in &self.events {
            match event {
                EventBody::CallStarted { call, .. } => open.push(&call.call_id),
                EventBody::CallFinished { call, .. } => {
                    let at =
                        open.iter().position(|id| **id == call.call_id).ok_or("a call finished that is not open")?;
                    open.remove(at);
                }
                EventBody::Text { call: Some(call), .. }
                | EventBody::Status { call, .. }
                | EventBody::Result { call, .. }
                    if !open.contains(&&call.call_id) =>
                {
                    return Err(format!("`{}` speaks outside of its call", call.tool));
                }
                _ => {}
            }
        }
        if open.is_empty() { Ok(()) } else { Err(format!("{} calls never finished", open.len())) }
    }
}

struct Running {
    plan: CallPlan,
    yields: VecDeque<Yield>,
    behaviour: Behaviour,
    stopped: bool,
}

struct Stage<'a> {
    script: &'a Script,
    out: String,
    events: Vec<EventBody>,
    next_line: usize,
    used: HashMap<(&'static str, String), usize>,
    running: Vec<Running>,
}

const MOST_ACTIONS: usize = 2_000;

/// Runs the script; `interrupt` strikes after that many actions.
pub(super) fn perform(script: &Script, interrupt: Option<(usize, Interrupt)>) -> Result<Show, String> {
    let mut stage = Stage {
        script,
        out: String::new(),
        events: Vec::new(),
        next_line: 0,
        used: HashMap::new(),
        running: Vec::new(),
    };
    let (tree, warnings) = match Tree::build(&script.config, script.tools.clone()) {
        Ok(built) => built,
        Err(e) => {
            let transcript = format!("tree error at {}: {e}", e.key());
            return Ok(Show { transcript, n_actions: 0, events: Vec::new() });
        }
    };
    warnings.iter().for_each(|w| stage.say(&format!("load warning: {w}")));
    let start = start(script, tree)?;
    let turn = match &script.start {
        Start::User(prompt) => Ok(Turn::query(start, prompt.clone(), "scripted".to_owned())),
        Start::Call(tool, inputs) => Turn::direct_call(start, tool, inputs.clone()),
    };
    let mut turn = match turn {
        Ok(turn) => turn,
        Err(failure) => {
            let transcript = format!("refused {}: {}", failure.code, failure.message);
            return Ok(Show { transcript, n_actions: 0, events: Vec::new() });
        }
    };
    let mut n_actions = 0;
    loop {
        if let Some((_, kind)) = interrupt.filter(|(after, _)| *after == n_actions) {
            strike(&mut turn, kind);
        }
        let action = turn.next();
        n_actions += 1;
        if n_actions > MOST_ACTIONS {
            return Err(format!("no end after {MOST_ACTIONS} actions\n{}", stage.out));
        }
        if stage.act(action, &mut turn)? {
            break;
        }
    }
    for message in turn.finish().new_messages {
        stage.say(&format!("history {:?}: {}", message.role, message.text.replace('\n', "\\n")));
    }
    Ok(Show { transcript: stage.out, n_actions, events: stage.events })
}

fn strike(turn: &mut Turn, kind: Interrupt) {
    match kind {
        Interrupt::Cancel => drop(turn.feed(Observation::Cancelled)),
        Interrupt::CancelTwice => {
            turn.feed(Observation::Cancelled);
            turn.feed(Observation::Cancelled);
        }
        Interrupt::Time => drop(turn.feed(Observation::TimeIsUp)),
    }
}

fn start(script: &Script, tree: std::sync::Arc<Tree>) -> Result<TurnStart, String> {
    let mut environment = Environment::default();
    for (i, (tool, name, objects)) in script.given.iter().enumerate() {
        let tool = tool.parse().map_err(|e| format!("{e}"))?;
        let name = name.parse().map_err(|e| format!("{e}"))?;
        let added = environment.add(&tool, &name, Object::new(), objects.clone(), i as u64, u64::MAX);
        added.map_err(|e| e.to_string())?;
    }
    Ok(TurnStart {
        query_id: "q".parse().map_err(|e| format!("{e}"))?,
        session_id: "s".parse().map_err(|e| format!("{e}"))?,
        tree,
        environment: SharedEnvironment::new(environment),
        history: script.history.clone(),
        profile: AgentProfile::default(),
        now: "2026-03-02T09:30:00+01:00".to_owned(),
        budget: script.budget.clone(),
    })
}

impl Stage<'_> {
    fn say(&mut self, line: &str) {
        self.out.push_str(line);
        self.out.push('\n');
    }

    /// True when the turn is over.
    fn act(&mut self, action: Action, turn: &mut Turn) -> Result<bool, String> {
        match action {
            Action::Emit(event) => {
                let line = told(&event);
                self.say(&line);
                self.events.push(event);
            }
            Action::Check(checks) => {
                let seen = self.checked(&checks);
                turn.feed(seen);
            }
            Action::Ask(prompt) => {
                self.tell_prompt(&prompt);
                let seen = self.answer(&prompt);
                turn.feed(seen);
            }
            Action::Run(plan) => {
                self.say(&format!("run {} {}", plan.call.tool, Value::Object(plan.inputs.clone())));
                let behaviours = self.script.behaviours.get(plan.call.tool.as_str());
                let behaviour =
                    behaviours.and_then(|all| self.turn_of("when", plan.call.tool.as_str(), all)).unwrap_or_default();
                let yields = behaviour.yields.iter().cloned().collect();
                self.running.push(Running { plan, yields, behaviour, stopped: false });
            }
            Action::Stop(id) => {
                self.say(&format!("stop {id}"));
                self.running.iter_mut().filter(|r| r.plan.call.call_id == id).for_each(|r| r.stopped = true);
            }
            Action::Wait => return self.advance(turn).map(|()| false),
            Action::Finish => return Ok(true),
        }
        Ok(false)
    }

    /// The next of a tool's lines; the last one stays.
    fn turn_of<T: Clone>(&mut self, kind: &'static str, tool: &str, all: &[T]) -> Option<T> {
        let used = self.used.entry((kind, tool.to_owned())).or_insert(0);
        let line = all.get(*used).or_else(|| all.last()).cloned();
        *used += 1;
        line
    }

    fn checked(&mut self, checks: &Checks) -> Observation {
        let list = |names: &[elysia_types::ToolName]| names.iter().map(|n| n.as_str()).collect::<Vec<_>>().join(" ");
        let line = format!("check available [{}] run-if-true [{}]", list(&checks.available), list(&checks.run_if_true));
        self.say(&line);
        let (mut available, mut run_if_true, mut failed) = (Vec::new(), Vec::new(), Vec::new());
        for tool in &checks.available {
            if let Some(reason) = self.script.broken.get(tool.as_str()) {
                failed.push((tool.clone(), reason.clone()));
                continue;
            }
            let lines = self.script.available.get(tool.as_str());
            let reason = lines.and_then(|all| self.turn_of("available", tool.as_str(), all)).flatten();
            available.push((tool.clone(), Availability { available: reason.is_none(), reason }));
        }
        for tool in &checks.run_if_true {
            let lines = self.script.if_true.get(tool.as_str());
            let inputs = lines.and_then(|all| self.turn_of("iftrue", tool.as_str(), all)).flatten();
            run_if_true.push((tool.clone(), inputs));
        }
        Observation::Checked { available, run_if_true, failed }
    }

    fn tell_prompt(&mut self, prompt: &Prompt) {
        let (tree, offer) = (&prompt.local.tree, &prompt.local.offer);
        let line = match prompt.kind {
            PromptKind::Decide => format!("ask decide: {}", offer.names(tree).join(" ")),
            PromptKind::Answer => format!("ask answer: {}", prompt.local.why.as_deref().unwrap_or_default()),
        };
        self.say(&line);
        for (name, reason) in &offer.unavailable {
            self.say(&format!("  not on offer: {name}: {reason}"));
        }
        if prompt.local.tries > 0 {
            let complaint = prompt.messages.last().map_or("", |m| m.text.as_str());
            let inner = complaint.lines().filter(|l| !l.contains("data")).skip(1);
            let inner: Vec<&str> = inner.take_while(|l| *l != "Reply again.").collect();
            self.say(&format!("  complaint: {}", inner.join(" ")));
        } else if self.script.show_prompt {
            let text: Vec<String> =
                prompt.messages.iter().flat_map(|m| m.text.lines()).map(|l| format!("  | {l}")).collect();
            self.say(&text.join("\n"));
        }
        for tool in &prompt.tools {
            let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
            assert!(!tool.name.is_empty() && tool.name.len() <= 64 && tool.name.chars().all(plain), "{}", tool.name);
        }
    }

    fn answer(&mut self, prompt: &Prompt) -> Observation {
        if self.script.local {
            return Observation::Replied { reply: local::reply(&prompt.local), ms: 0 };
        }
        let line = self.script.lines.get(self.next_line);
        self.next_line += 1;
        match line {
            Some(Line::Reply(reply)) => Observation::Replied { reply: reply.clone(), ms: 1 },
            Some(Line::Fails(failure)) => Observation::ModelFailed { failure: failure.clone(), partial: None },
            None => {
                let failure = Failure::new(FailureCode::Model, "the script has no reply left");
                Observation::ModelFailed { failure, partial: None }
            }
        }
    }

    /// Lets one running call say or end something: stopped ones first, slow ones last.
    fn advance(&mut self, turn: &mut Turn) -> Result<(), String> {
        let stopped = self.running.iter().position(|r| r.stopped);
        let at = stopped.or_else(|| self.running.iter().position(|r| !r.behaviour.slow));
        let at = at.or(if self.running.is_empty() { None } else { Some(0) });
        let at = at.ok_or_else(|| format!("the turn waits for nothing\n{}", self.out))?;
        let running = &mut self.running[at];
        let call_id = running.plan.call.call_id.clone();
        if running.stopped {
            self.running.remove(at);
            let outcome = Err(Failure::new(FailureCode::Cancelled, "cancelled"));
            turn.feed(Observation::CallEnded { call_id, end: CallEnd { outcome, state: None }, ms: 1 });
            return Ok(());
        }
        if let Some(item) = running.yields.pop_front() {
            let fed = turn.feed(Observation::Yielded { call_id, item });
            if let Some(Err(refused)) = fed.refs {
                // The sandbox ends a call whose result was refused.
                running.yields.clear();
                running.behaviour.returned = None;
                running.behaviour.failure = Some(refused);
            }
            return Ok(());
        }
        let Running { behaviour, .. } = self.running.remove(at);
        let outcome = behaviour.failure.map_or(Ok(behaviour.returned), Err);
        let state = behaviour.state.then(PluginState::new);
        turn.feed(Observation::CallEnded { call_id, end: CallEnd { outcome, state }, ms: 1 });
        Ok(())
    }
}

/// One event on one line, without times.
fn told(event: &EventBody) -> String {
    let mut json = serde_json::to_value(event).unwrap_or_default();
    let Some(map) = json.as_object_mut() else {
        return String::new();
    };
    let kind = map.shift_remove("type").and_then(|t| t.as_str().map(str::to_owned)).unwrap_or_default();
    for noise in ["ms", "plugin", "session_id"] {
        map.shift_remove(noise);
    }
    format!("{kind} {json}")
}
