//! What calls say → environment, events, speech, objects. The only writer of the environment while a turn runs.
//!
//! Events go out as they come, with one exception: the text of a later choice waits until every earlier choice of the
//! same decision has ended, so that speech reads in the order chosen.

mod value;

use std::collections::VecDeque;
use std::sync::Arc;

use elysia_types::{
    CallEnd, CallId, Citation, CitedText, EventBody, Failure, FailureCode, LimitReport, Object, RefId, ResultName,
    SessionId, SharedEnvironment, SizeInBytes, TextSource, ToolResult, Yield, clean, clean_line, truncate,
};
use serde_json::Value;

use crate::action::CallPlan;
use crate::task::{Found, Task, TaskOutcome};
use crate::tree::ToolIdx;

const LLM_MESSAGE: usize = 500;
const PAYLOAD_TYPE: usize = 128;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Planned,
    Running,
    Ended,
}

/// One call of the turn.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) plan: CallPlan,
    pub(crate) tool: ToolIdx,
    pub(crate) rank: u64,
    state: State,
    /// Its texts, and its end, waiting for earlier calls.
    waiting: Vec<EventBody>,
    found: Vec<(ResultName, usize)>,
    notes: Vec<String>,
    spoke: bool,
    /// Set when it failed.
    pub(crate) failure: Option<Failure>,
}

/// Collects everything a turn brings forth.
#[derive(Debug)]
pub(crate) struct Recorder {
    environment: SharedEnvironment,
    session_id: SessionId,
    limit: u64,
    next_rank: u64,
    /// All calls; those of one decision stand in a row, in the order chosen.
    pub(crate) calls: Vec<Call>,
    /// Where the calls of the current decision begin.
    batch_start: usize,
    pub(crate) tasks: Vec<Arc<Task>>,
    pub(crate) found: Vec<Found>,
    pub(crate) errors: Vec<EventBody>,
    /// Additions of new objects; repeats and empty results change nothing.
    pub(crate) changes: u64,
    /// Whether a tool or `text_response` spoke.
    pub(crate) spoke: bool,
    speech: Vec<String>,
    /// Events ready to go out.
    pub(crate) out: VecDeque<EventBody>,
}

impl Recorder {
    pub(crate) fn new(environment: SharedEnvironment, session_id: SessionId, limit: u64) -> Self {
        let next_rank = environment.read(|e| e.last_rank()) + 1;
        Self {
            environment,
            session_id,
            limit,
            next_rank,
            calls: Vec::new(),
            batch_start: 0,
            tasks: Vec::new(),
            found: Vec::new(),
            errors: Vec::new(),
            changes: 0,
            spoke: false,
            speech: Vec::new(),
            out: VecDeque::new(),
        }
    }

    /// Begins a group of calls whose order of telling is that of `plan`.
    pub(crate) fn begin_batch(&mut self) {
        self.batch_start = self.calls.len();
    }

    /// Notes a call that is to be started; the order of these is the order of telling.
    pub(crate) fn plan(&mut self, plan: CallPlan, tool: ToolIdx) {
        let rank = self.next_rank;
        self.next_rank += 1;
        let (waiting, found, notes) = (Vec::new(), Vec::new(), Vec::new());
        self.calls.push(Call {
            plan,
            tool,
            rank,
            state: State::Planned,
            waiting,
            found,
            notes,
            spoke: false,
            failure: None,
        });
    }

    /// Notes a choice that is not run.
    pub(crate) fn not_run(&mut self, plan: &CallPlan, reason: &str) {
        let task = Task {
            tool: plan.call.tool.clone(),
            inputs: plan.inputs.clone(),
            chosen: plan.chosen,
            outcome: TaskOutcome::NotRun(reason.to_owned()),
            found: Vec::new(),
            notes: Vec::new(),
            spoke: false,
        };
        self.tasks.push(Arc::new(task));
    }

    pub(crate) fn batch(&self) -> &[Call] {
        self.calls.get(self.batch_start..).unwrap_or_default()
    }

    /// The next calls to start: all that change nothing outside, and of the others one at a time.
    pub(crate) fn start_ready(&mut self) -> Vec<CallPlan> {
        let mut serial_busy = self.batch().iter().any(|c| c.state == State::Running && c.plan.effects.changes_world());
        let mut ready = Vec::new();
        for call in self.calls.iter_mut().skip(self.batch_start).filter(|c| c.state == State::Planned) {
            let serial = call.plan.effects.changes_world();
            if serial && serial_busy {
                continue;
            }
            serial_busy |= serial;
            call.state = State::Running;
            let CallPlan { call: reference, inputs, chosen, .. } = call.plan.clone();
            self.out.push_back(EventBody::CallStarted { call: reference, inputs, chosen });
            ready.push(call.plan.clone());
        }
        ready
    }

    pub(crate) fn is_batch_done(&self) -> bool {
        self.batch().iter().all(|c| c.state == State::Ended)
    }

    pub(crate) fn running(&self) -> Vec<CallId> {
        self.batch().iter().filter(|c| c.state == State::Running).map(|c| c.plan.call.call_id.clone()).collect()
    }

    /// Forgets calls that were not started.
    pub(crate) fn drop_planned(&mut self) {
        let start = self.batch_start;
        let mut i = 0;
        self.calls.retain(|c| {
            i += 1;
            i <= start || c.state != State::Planned
        });
        self.release();
    }

    fn running_call(&self, call_id: &CallId) -> Option<usize> {
        let at = self.calls.iter().skip(self.batch_start).position(|c| c.plan.call.call_id == *call_id)?;
        let at = at + self.batch_start;
        self.calls.get(at).filter(|c| c.state == State::Running).map(|_| at)
    }

    /// Takes one item of a running call; answers the references of a result.
    pub(crate) fn yielded(&mut self, call_id: &CallId, item: Yield) -> Option<Result<Vec<RefId>, Failure>> {
        let Some(at) = self.running_call(call_id) else {
            let late = || Failure::new(FailureCode::Cancelled, "the call is over");
            return matches!(item, Yield::Result(_)).then(|| Err(late()));
        };
        let call = self.calls.get(at).map(|c| c.plan.call.clone())?;
        match item {
            Yield::Text(text) => self.speak(at, &text, None, None),
            Yield::CitedText { title, paragraphs } => self.cite(at, title, paragraphs),
            Yield::Result(result) => return Some(self.add(at, result)),
            Yield::Status(text) => {
                let text = clean(&text).into_owned();
                self.out.push_back(EventBody::Status { call, text });
            }
            Yield::Progress { done, total } => self.out.push_back(EventBody::Progress { call, done, total }),
            Yield::Warning(text) => {
                let text = clean(&text).into_owned();
                self.out.push_back(EventBody::Warning { call: Some(call), text });
            }
        }
        None
    }

    fn cite(&mut self, at: usize, title: Option<String>, paragraphs: Vec<CitedText>) {
        let mut unknown: Vec<String> = Vec::new();
        let mut citations = Vec::with_capacity(paragraphs.len());
        for CitedText { text, ref_ids } in paragraphs {
            let (known, others): (Vec<_>, Vec<_>) =
                self.environment.read(|e| ref_ids.into_iter().partition(|r| e.contains(r)));
            unknown.extend(others);
            citations.push(Citation { text: clean(&text).into_owned(), ref_ids: known });
        }
        if !unknown.is_empty() {
            let shown: Vec<String> = unknown.iter().take(5).map(|r| truncate(&clean_line(r), 80).to_owned()).collect();
            let more = if unknown.len() > 5 { format!(" and {} more", unknown.len() - 5) } else { String::new() };
            let text = format!("citations of unknown references were removed: {}{more}", shown.join(", "));
            let call = self.calls.get(at).map(|c| c.plan.call.clone());
            self.out.push_back(EventBody::Warning { call, text });
        }
        let text = citations.iter().map(|c| c.text.as_str()).collect::<Vec<_>>().join("\n\n");
        self.speak(at, &text, title.map(|t| clean_line(&t)), Some(citations));
    }

    fn speak(&mut self, at: usize, text: &str, title: Option<String>, citations: Option<Vec<Citation>>) {
        let text = clean(text).into_owned();
        if text.trim().is_empty() {
            return;
        }
        self.spoke = true;
        let is_first = self.is_first_open(at);
        let Some(call) = self.calls.get_mut(at) else { return };
        call.spoke = true;
        let event =
            EventBody::Text { call: Some(call.plan.call.clone()), source: TextSource::Tool, text, title, citations };
        if is_first {
            self.tell(event);
        } else {
            call.waiting.push(event);
        }
    }

    /// Whether every earlier call of the group has ended.
    fn is_first_open(&self, at: usize) -> bool {
        self.calls.iter().take(at).skip(self.batch_start).all(|c| c.state == State::Ended)
    }

    /// Text of the agent or the host.
    pub(crate) fn agent_says(&mut self, text: &str) {
        let text = clean(text).into_owned();
        if !text.trim().is_empty() {
            self.tell(EventBody::Text { call: None, source: TextSource::Agent, text, title: None, citations: None });
        }
    }

    fn tell(&mut self, event: EventBody) {
        if let EventBody::Text { text, .. } = &event {
            self.speech.push(text.clone());
        }
        self.out.push_back(event);
    }

    fn add(&mut self, at: usize, result: ToolResult) -> Result<Vec<RefId>, Failure> {
        let Some(call) = self.calls.get(at) else {
            return Ok(Vec::new());
        };
        let ToolResult { name, objects, metadata, payload_type, mapping, llm_message, display, .. } = result;
        let name = match name {
            Some(name) => name,
            None => value::default_name()?,
        };
        let (reference, rank, n_given) = (call.plan.call.clone(), call.rank, objects.len());
        let (tool, meta) = (reference.tool.clone(), metadata.clone());
        let stored = self.environment.write(|e| {
            let added = e.add(&tool, &name, meta, objects, rank, self.limit)?;
            let entry = e.entries(tool.as_str(), name.as_str()).last();
            let is_new = n_given > 0 && entry.is_some_and(|entry| is_news(&entry.objects, &added.objects));
            Ok((added, is_new))
        });
        let (added, is_new) = match stored {
            Ok(stored) => stored,
            Err(full) => return Err(self.full(&reference, full)),
        };
        self.changes += u64::from(is_new);
        let Some(call) = self.calls.get_mut(at) else {
            return Ok(added.refs);
        };
        call.found.push((name.clone(), n_given));
        call.notes.extend(llm_message.and_then(|m| note(&m)));
        if n_given > 0 {
            let objects = Arc::new(added.objects.clone());
            self.found.push(Found { rank, tool, name: name.clone(), objects, displayed: display });
            if display {
                self.out.push_back(EventBody::Result {
                    call: reference,
                    name: name.to_string(),
                    payload_type: payload(payload_type),
                    objects: added.objects,
                    metadata,
                    mapping: value::mapping(mapping),
                });
            }
        }
        Ok(added.refs)
    }

    fn full(&self, call: &elysia_types::CallRef, full: elysia_types::EnvironmentFull) -> Failure {
        let (configured, observed) = (SizeInBytes(full.limit).to_string(), SizeInBytes(full.observed).to_string());
        let raise_with = format!(
            "free space with `elysia-host session trim {}`, or set `environment` under `[limits]` in elysia.toml",
            self.session_id
        );
        let message = format!(
            "plugin `{}`: limit `environment` of {configured} would be passed: the session's results would take {observed}; {raise_with}",
            call.plugin
        );
        let feedback = "the session's store of results is full; answer with what there is, or ask for less";
        let limit = LimitReport { name: "environment".to_owned(), configured, observed, raise_with };
        Failure::new(FailureCode::Environment, message).with_feedback(feedback).with_limit(limit)
    }

    /// Takes the end of a running call. None when there is no such call.
    pub(crate) fn ended(&mut self, call_id: &CallId, end: CallEnd, ms: u64) -> Option<usize> {
        let at = self.running_call(call_id)?;
        let failure = match end.outcome {
            Ok(Some(returned)) => self.returned(at, returned).err(),
            Ok(None) => None,
            Err(failure) => Some(failure),
        };
        self.finish(at, failure, ms);
        Some(at)
    }

    fn returned(&mut self, at: usize, returned: Value) -> Result<(), Failure> {
        let Some(plan) = self.calls.get(at).map(|c| &c.plan) else {
            return Ok(());
        };
        match value::read(returned, plan) {
            value::Returned::Nothing => Ok(()),
            value::Returned::Speech(text) => {
                self.speak(at, &text, None, None);
                Ok(())
            }
            value::Returned::Result(result) => self.add(at, result).map(|_| ()),
        }
    }

    fn finish(&mut self, at: usize, failure: Option<Failure>, ms: u64) {
        let Some(call) = self.calls.get_mut(at) else { return };
        call.state = State::Ended;
        let reference = call.plan.call.clone();
        let outcome = match &failure {
            None => TaskOutcome::Ok,
            Some(f) => TaskOutcome::Failed { code: f.code, feedback: clean(&f.feedback).into_owned() },
        };
        if let Some(Failure { code, message, feedback, limit, .. }) =
            failure.clone().filter(|f| f.code != FailureCode::Cancelled)
        {
            let (message, feedback) = (clean(&message).into_owned(), clean(&feedback).into_owned());
            let event = EventBody::ToolError { call: reference.clone(), code, message, feedback, limit };
            self.errors.push(event.clone());
            self.out.push_back(event);
        }
        let told = failure.as_ref().map_or("ok", |f| f.code.as_str()).to_owned();
        call.failure = failure;
        call.waiting.push(EventBody::CallFinished { call: reference, ms, outcome: told });
        let task = Task {
            tool: call.plan.call.tool.clone(),
            inputs: call.plan.inputs.clone(),
            chosen: call.plan.chosen,
            outcome,
            found: std::mem::take(&mut call.found),
            notes: std::mem::take(&mut call.notes),
            spoke: call.spoke,
        };
        // Calls of a group end in any order and are told in the order chosen.
        let n_later = self.calls.iter().skip(at + 1).filter(|c| c.state == State::Ended).count();
        let place = self.tasks.len().saturating_sub(n_later);
        self.tasks.insert(place, Arc::new(task));
        self.release();
    }

    /// Lets go what waited for calls that have ended now.
    fn release(&mut self) {
        for at in self.batch_start..self.calls.len() {
            let Some(call) = self.calls.get_mut(at) else { break };
            let is_ended = call.state == State::Ended;
            for event in std::mem::take(&mut call.waiting) {
                self.tell(event);
            }
            if !is_ended {
                break;
            }
        }
        // A call without waiting text has nothing to wait for: its end is told at once.
        for at in self.batch_start..self.calls.len() {
            let Some(call) = self.calls.get_mut(at) else { break };
            if let [EventBody::CallFinished { .. }] = call.waiting.as_slice() {
                self.out.extend(std::mem::take(&mut call.waiting));
            }
        }
    }

    /// Ends what still runs, without waiting for it.
    pub(crate) fn cut(&mut self, call_id: &CallId) {
        if let Some(at) = self.running_call(call_id) {
            self.finish(at, Some(Failure::new(FailureCode::Cancelled, "the call was cancelled")), 0);
        }
    }

    /// All speech, joined.
    pub(crate) fn response(&self) -> String {
        let mut out = String::new();
        for (i, text) in self.speech.iter().enumerate() {
            let before = i.checked_sub(1).and_then(|p| self.speech.get(p));
            if let Some(before) = before {
                let by_line = before.contains('\n') || text.contains('\n') || text.starts_with("* ");
                out.push(if by_line { '\n' } else { ' ' });
            }
            out.push_str(text);
        }
        out
    }

    /// Displayed results in the order of telling.
    pub(crate) fn objects(&self) -> Vec<Vec<Object>> {
        let mut shown: Vec<&Found> = self.found.iter().filter(|f| f.displayed).collect();
        shown.sort_by_key(|f| f.rank);
        shown.into_iter().map(|f| f.objects.as_ref().clone()).collect()
    }

    /// The same as shown to an embedded agent.
    pub(crate) fn found_in_order(&self) -> Vec<Found> {
        let mut all = self.found.clone();
        all.sort_by_key(|f| f.rank);
        all
    }
}

/// Whether an entry holds more than stubs of earlier objects: a stub and its whole differ.
fn is_news(stored: &[Object], whole: &[Object]) -> bool {
    stored.iter().zip(whole).any(|(stored, whole)| stored == whole)
}

/// A tool's sentence for the agent, cut to its limit.
fn note(message: &str) -> Option<String> {
    let line = clean_line(message);
    let text = if line.len() <= LLM_MESSAGE {
        line
    } else {
        format!("{}…", truncate(&line, LLM_MESSAGE - '…'.len_utf8()))
    };
    (!text.is_empty()).then_some(text)
}

fn payload(given: Option<String>) -> String {
    let text = given.map(|t| clean_line(&t)).filter(|t| !t.is_empty()).unwrap_or_else(|| "table".to_owned());
    truncate(&text, PAYLOAD_TYPE).to_owned()
}
