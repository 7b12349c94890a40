//! A reply put together from its parts, streamed or not; every part bounded.

use elysia_types::Usage;
use serde_json::Value;

use crate::model::{ModelRequest, Reply, Stop, ToolCall, estimate};
use crate::openai::status::error_text;

/// Calls kept of one reply; those beyond are not read, and this many are refused as a decision already.
const MAX_TOOL_CALLS: usize = 64;

/// A reply in the making.
#[derive(Debug, Default)]
pub(crate) struct Draft {
    text: String,
    refusal: String,
    calls: Vec<DraftCall>,
    usage: Option<Usage>,
    finish: Option<String>,
}

#[derive(Debug, Default)]
struct DraftCall {
    index: Option<u64>,
    id: String,
    name: String,
    arguments: String,
}

impl DraftCall {
    /// Whether a part belongs to this call. Some servers number nothing, or everything 0: there a new id with a name
    /// begins a new call. Ids alone do not tell calls apart, since others give all calls the same one.
    fn goes_on_with(&self, index: Option<u64>, id: &str, name: &str) -> bool {
        let other_id = !id.is_empty() && !self.id.is_empty() && self.id != id;
        let unnumbered = index.is_none() && !self.name.is_empty();
        name.is_empty() || !(unnumbered || other_id)
    }
}

/// Why a part cannot be read.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum PartError {
    /// The server says it failed.
    Server(String),
    /// It is not of the format.
    Format(String),
}

impl Draft {
    /// Reads one JSON body: a whole completion or one chunk of a stream.
    pub(crate) fn add(&mut self, part: &Value) -> Result<(), PartError> {
        if part.get("error").is_some_and(|e| !e.is_null()) {
            return Err(PartError::Server(error_text(part).unwrap_or_default()));
        }
        if !part.is_object() {
            return Err(PartError::Format("a part is not an object".to_owned()));
        }
        if let Some(usage) = part.get("usage").and_then(usage) {
            self.usage = Some(usage);
        }
        let Some(choice) = part.get("choices").and_then(|c| c.get(0)) else {
            return Ok(());
        };
        if let Some(reason) = choice.get("finish_reason").and_then(Value::as_str) {
            self.finish = Some(reason.to_owned());
        }
        let Some(message) = choice.get("delta").or_else(|| choice.get("message")) else {
            return Ok(());
        };
        push_content(&mut self.text, message.get("content"));
        push_content(&mut self.refusal, message.get("refusal"));
        match message.get("tool_calls") {
            None | Some(Value::Null) => {}
            Some(Value::Array(calls)) => calls.iter().for_each(|call| self.add_call(call)),
            Some(_) => return Err(PartError::Format("`tool_calls` is not a list".to_owned())),
        }
        Ok(())
    }

    fn add_call(&mut self, delta: &Value) {
        let index = delta.get("index").and_then(Value::as_u64);
        let id = delta.get("id").and_then(Value::as_str).unwrap_or_default();
        let function = delta.get("function").unwrap_or(delta);
        let name = function.get("name").and_then(Value::as_str).unwrap_or_default();
        let known = match index {
            Some(_) => self.calls.iter().rposition(|call| call.index == index),
            None => self.calls.len().checked_sub(1),
        };
        let known = known.filter(|at| self.calls.get(*at).is_some_and(|call| call.goes_on_with(index, id, name)));
        if known.is_none() {
            if self.calls.len() >= MAX_TOOL_CALLS {
                return;
            }
            self.calls.push(DraftCall { index, ..DraftCall::default() });
        }
        let at = known.unwrap_or(self.calls.len().saturating_sub(1));
        let Some(call) = self.calls.get_mut(at) else { return };
        if call.id.is_empty() {
            call.id = id.to_owned();
        }
        if call.name != name {
            call.name.push_str(name);
        }
        match function.get("arguments") {
            Some(Value::String(text)) => call.arguments.push_str(text),
            None | Some(Value::Null) => {}
            Some(json) => call.arguments.push_str(&json.to_string()),
        }
    }

    /// Whether the server said that the reply is complete.
    pub(crate) fn is_finished(&self) -> bool {
        self.finish.is_some()
    }

    /// Whether anything of a reply came.
    pub(crate) fn is_empty(&self) -> bool {
        self.text.is_empty() && self.refusal.is_empty() && self.calls.is_empty() && self.finish.is_none()
    }

    /// What came so far, for a reply that fails.
    pub(crate) fn partial(self) -> Option<String> {
        let mut text = self.text;
        for call in self.calls {
            if !text.is_empty() {
                text.push('\n');
            }
            text.push_str(&format!("{} {}", call.name, call.arguments));
        }
        (!text.is_empty()).then_some(text)
    }

    /// The reply.
    pub(crate) fn into_reply(self, request: &ModelRequest) -> Reply {
        let refused = self.text.is_empty() && self.calls.is_empty() && !self.refusal.is_empty();
        let stop = match self.finish.as_deref() {
            Some("length" | "max_tokens") => Stop::Length,
            Some("content_filter") => Stop::Filtered,
            _ if refused => Stop::Filtered,
            _ if !self.calls.is_empty() => Stop::ToolCalls,
            _ => Stop::End,
        };
        let text = if refused { self.refusal } else { self.text };
        let tool_calls = self.calls.into_iter().map(|call| {
            // A tool without inputs is often called with no arguments at all.
            let arguments = if call.arguments.trim().is_empty() { "{}".to_owned() } else { call.arguments };
            ToolCall { name: call.name, arguments }
        });
        let mut reply = Reply { text, tool_calls: tool_calls.collect(), usage: Usage::default(), stop };
        reply.usage = self.usage.unwrap_or_else(|| Usage {
            input: estimate(request.n_bytes()),
            output: estimate(reply.n_bytes()),
            cached: None,
        });
        reply
    }
}

fn push_content(text: &mut String, content: Option<&Value>) {
    match content {
        Some(Value::String(part)) => text.push_str(part),
        Some(Value::Array(parts)) => {
            parts.iter().filter_map(|p| p.get("text")?.as_str()).for_each(|part| text.push_str(part));
        }
        _ => {}
    }
}

fn usage(usage: &Value) -> Option<Usage> {
    let details = usage.get("prompt_tokens_details");
    Some(Usage {
        input: usage.get("prompt_tokens")?.as_u64()?,
        output: usage.get("completion_tokens").and_then(Value::as_u64).unwrap_or_default(),
        cached: details.and_then(|d| d.get("cached_tokens")).and_then(Value::as_u64),
    })
}
