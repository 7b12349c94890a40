//! A query as its user sees it: events as they come, what is left to say at the end, and the exit code.

use elysia_host::{ApprovalAnswer, QueryHandle, QueryResult};
use elysia_types::{
    CallRef, Chosen, Effects, Event, EventBody, FailureCode, Object, QueryOutcome, ToolName, clean, clean_line,
    truncate,
};
use std::collections::{HashMap, HashSet};

use crate::args::EventFormat;
use crate::complaint::{Complaint, FAILED, IMPOSSIBLE, INTERRUPTED, REFUSED, USAGE};
use crate::interrupt::{self, Interrupt};
use crate::printer::{self, Printer};
use crate::table;

/// Rows of a result on a terminal; elsewhere all are written.
const ROWS: usize = 100;
/// Bytes of inputs shown to who approves a call.
const INPUTS: usize = 2000;

/// What asked for the query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A question.
    Question,
    /// `plugin call`: an error of the tool is the command's error.
    Call,
}

/// Shows queries, one after another.
pub(crate) struct View<'a> {
    printer: &'a Printer,
    format: EventFormat,
    kind: Kind,
    /// Tools whose calls the user approved for the rest of the session.
    approved: HashSet<ToolName>,
    /// Tenths of progress shown by call, so that a busy tool does not flood a log.
    tenths: HashMap<String, u64>,
}

impl<'a> View<'a> {
    pub(crate) fn new(printer: &'a Printer, format: EventFormat, kind: Kind) -> Self {
        Self { printer, format, kind, approved: HashSet::new(), tenths: HashMap::new() }
    }

    /// Shows a query to its end and gives the exit code.
    ///
    /// The first interrupt cancels the query and waits for what it kept; the second ends the process.
    ///
    /// # Errors
    /// When standard output cannot be written; the query is cancelled and saved before.
    pub(crate) async fn follow(&mut self, mut query: QueryHandle, interrupt: &mut Interrupt) -> Result<u8, Complaint> {
        let mut written = Ok(());
        let mut cancelled = false;
        loop {
            let event = tokio::select! {
                biased;
                () = interrupt.next() => {
                    if cancelled {
                        self.printer.rest();
                        interrupt::leave();
                    }
                    cancelled = true;
                    query.cancel();
                    self.printer.say("stopping; once more to leave at once");
                    continue;
                }
                event = query.next() => event,
            };
            let Some(event) = event else { break };
            if let EventBody::ApprovalRequested { call, inputs, effects } = &event.body {
                let approved = tokio::select! {
                    () = interrupt.next() => {
                        cancelled = true;
                        query.cancel();
                        false
                    }
                    approved = self.approve(call, inputs, *effects) => approved,
                };
                query.approve(ApprovalAnswer { call_id: call.call_id.clone(), approved }).await;
            }
            if written.is_ok() {
                written = self.show(&event);
                if written.is_err() {
                    query.cancel();
                }
            }
        }
        self.printer.rest();
        let result = query.finish().await;
        written?;
        self.sum_up(&result)
    }

    fn show(&mut self, event: &Event) -> Result<(), Complaint> {
        if self.format == EventFormat::Jsonl {
            return self.printer.json_line(event);
        }
        match &event.body {
            EventBody::Text { text, title, .. } if self.format == EventFormat::Text => {
                if let Some(title) = title {
                    self.printer.heading(&clean_line(title))?;
                }
                self.printer.line(&clean(text))?;
            }
            EventBody::Result { name, payload_type, objects, mapping, .. } if self.format == EventFormat::Text => {
                self.result(name, payload_type, objects, mapping.as_ref())?;
            }
            EventBody::QueryStarted { model: Some(_), .. } => self.printer.busy("thinking"),
            EventBody::Decision { branch, choices, reason, .. } if self.printer.is_verbose() => {
                self.decision(branch, choices, reason.as_deref());
            }
            EventBody::CallStarted { call, .. } => self.printer.busy(call.tool.as_str()),
            EventBody::Status { call, text } => self.printer.status(&format!("{}: {}", call.tool, clean_line(text))),
            EventBody::Progress { call, done, total } => self.progress(call, *done, *total),
            EventBody::Warning { call, text } => {
                let from = call.as_ref().map(|call| format!("{}: ", call.tool)).unwrap_or_default();
                self.printer.warning(&format!("{from}{}", clean_line(text)), None);
            }
            EventBody::ToolError { call, code, message, limit, .. } if self.kind == Kind::Question => {
                let hint = limit.as_ref().map(|limit| clean_line(&limit.raise_with));
                self.printer
                    .warning(&format!("{} failed, {code}: {}", call.tool, clean_line(message)), hint.as_deref());
            }
            EventBody::CallFinished { .. } => self.printer.busy("thinking"),
            _ => (),
        }
        Ok(())
    }

    fn decision(&self, branch: &str, choices: &[Chosen], reason: Option<&str>) {
        let options = choices.iter().map(|chosen| {
            let inputs = serde_json::to_string(&chosen.inputs).unwrap_or_default();
            format!("{} {}", chosen.option, clean_line(truncate(&inputs, 200)))
        });
        let options = options.collect::<Vec<_>>().join(", ");
        let reason = reason.map(|reason| format!(" ({})", clean_line(reason))).unwrap_or_default();
        self.printer.say(&format!("{branch} → {options}{reason}"));
    }

    fn result(&self, name: &str, payload: &str, objects: &[Object], mapping: Option<&Object>) -> Result<(), Complaint> {
        let (width, most) = (self.printer.width(), if self.printer.out_is_terminal() { ROWS } else { usize::MAX });
        if name != "default" {
            self.printer.heading(&format!("{}:", clean_line(name)))?;
        }
        self.printer.line(&match payload {
            "document" => table::documents(objects, mapping, width, most),
            _ => table::objects(objects, width, most),
        })
    }

    fn progress(&mut self, call: &CallRef, done: u32, total: u32) {
        let tenth = u64::from(done) * 10 / u64::from(total.max(1));
        if self.tenths.insert(call.call_id.to_string(), tenth) != Some(tenth) {
            self.printer.status(&format!("{}: {done} of {total}", call.tool));
        }
    }

    async fn approve(&mut self, call: &CallRef, inputs: &Object, effects: Effects) -> bool {
        if self.approved.contains(&call.tool) {
            return true;
        }
        if !self.printer.can_ask() {
            return false;
        }
        let inputs = serde_json::to_string(inputs).unwrap_or_default();
        let inputs = clean_line(truncate(&inputs, INPUTS));
        let does = match effects {
            Effects::Destructive => "changes something for good",
            Effects::Writes => "changes something outside",
            Effects::Reads => "reads from outside",
            Effects::None => "only computes",
        };
        let plugin = clean_line(call.plugin.as_str());
        let question = format!("{} of plugin {plugin} {does}; it wants to run with {inputs}", call.tool);
        self.printer.ask(&question, "allow? [o]nce, this [s]ession, [N]o: ");
        // A thread of its own: the query's other calls go on while the user thinks, and an interrupt is heard.
        let answer = tokio::task::spawn_blocking(printer::answer).await.unwrap_or_default();
        match answer.trim().to_lowercase().as_str() {
            "o" | "once" | "y" | "yes" => true,
            "s" | "session" => self.approved.insert(call.tool.clone()),
            _ => false,
        }
    }

    /// What is left to say, and the exit code.
    fn sum_up(&self, result: &QueryResult) -> Result<u8, Complaint> {
        if self.format == EventFormat::Json {
            self.printer.json(&result.to_json())?;
        }
        if let Some((code, message)) = &result.error {
            self.printer.complain(&Complaint {
                message: format!("{} ({code})", clean_line(message)),
                hint: hint_for(*code),
                exit: FAILED,
                notices: Vec::new(),
            });
            return Ok(exit_of(*code));
        }
        if result.cancelled {
            self.printer.say("stopped");
            return Ok(INTERRUPTED);
        }
        if self.kind == Kind::Call
            && let Some(exit) = self.tool_error(result)
        {
            return Ok(exit);
        }
        Ok(match result.outcome {
            Some(QueryOutcome::Answered) => 0,
            Some(QueryOutcome::Limit) => {
                self.printer.note("a limit of the query was reached; the answer says what there is");
                0
            }
            Some(QueryOutcome::Impossible) => IMPOSSIBLE,
            None => FAILED,
        })
    }

    fn tool_error(&self, result: &QueryResult) -> Option<u8> {
        let error = result.errors.last()?;
        let field = |name: &str| error.get(name).and_then(serde_json::Value::as_str).unwrap_or_default();
        let hint = error.pointer("/limit/raise_with").and_then(serde_json::Value::as_str).map(clean_line);
        let code = field("code");
        self.printer.complain(&Complaint {
            message: format!("{} failed, {code}: {}", field("tool"), clean_line(field("message"))),
            hint,
            exit: FAILED,
            notices: Vec::new(),
        });
        Some(if matches!(code, "denied" | "quarantined") { REFUSED } else { FAILED })
    }
}

fn exit_of(code: FailureCode) -> u8 {
    match code {
        FailureCode::Denied | FailureCode::Quarantined => REFUSED,
        FailureCode::Config => USAGE,
        _ => FAILED,
    }
}

fn hint_for(code: FailureCode) -> Option<String> {
    let hint = match code {
        FailureCode::NotFound => "`elysia-host plugin list` shows the tools there are",
        FailureCode::InvalidInputs => "`elysia-host plugin inspect NAME` shows the schema of a tool's inputs",
        FailureCode::Model => "`elysia-host doctor` asks the model; `--model local` needs none",
        FailureCode::Quarantined => "`elysia-host plugin check` says what changed",
        _ => return None,
    };
    Some(hint.to_owned())
}
