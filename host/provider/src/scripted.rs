//! A model that reads its replies from a file: `scripted:FILE`, JSON Lines, one reply each.
//!
//! Errors pass through the same retry as a server's: a try consumes a line.

use std::collections::VecDeque;
use std::io::Read;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use elysia_types::{JsonPolicy, Object, Usage, parse_json};
use serde_json::Value;

use crate::error::ProviderError;
use crate::model::{Features, LanguageModel, ModelRequest, Reply, Stop, estimate};
use crate::openai::from_status;
use crate::retry::Retry;

const MAX_SCRIPT_BYTES: u64 = 64 * 1024 * 1024;
const POLICY: JsonPolicy = JsonPolicy { max_bytes: 8 * 1024 * 1024, max_depth: 64 };

/// The model that the file at `path` plays.
///
/// # Errors
/// [`ProviderError::Config`] when the file cannot be read or a line is not of the format; it names file and line.
pub fn scripted(path: &Path) -> Result<Arc<dyn LanguageModel>, ProviderError> {
    scripted_with(path, Retry::default())
}

/// The same with other retries.
///
/// # Errors
/// As [`scripted`].
pub fn scripted_with(path: &Path, retry: Retry) -> Result<Arc<dyn LanguageModel>, ProviderError> {
    let name = path.display().to_string();
    let bad = |what: String| ProviderError::Config { what, hint: "give the path of a JSON Lines file".to_owned() };
    let mut text = String::new();
    std::fs::File::open(path)
        .and_then(|file| file.take(MAX_SCRIPT_BYTES + 1).read_to_string(&mut text))
        .map_err(|e| bad(format!("the script `{name}` cannot be read: {e}")))?;
    if text.len() as u64 > MAX_SCRIPT_BYTES {
        return Err(bad(format!("the script `{name}` is over {MAX_SCRIPT_BYTES} bytes")));
    }
    scripted_from(&name, &text, retry)
}

/// The model that `text` plays; `name` stands for it in errors.
///
/// # Errors
/// As [`scripted`].
pub fn scripted_from(name: &str, text: &str, retry: Retry) -> Result<Arc<dyn LanguageModel>, ProviderError> {
    let mut lines = VecDeque::new();
    for (number, line) in (1..).zip(text.lines()) {
        if !line.trim().is_empty() {
            lines.push_back(parse_line(line).map_err(|reason| ProviderError::Config {
                what: format!("line {number} of the script `{name}` is not a reply: {reason}"),
                hint: "a line is an object with one of `choices`, `raw`, `text` or `error`".to_owned(),
            })?);
        }
    }
    let n_lines = lines.len();
    Ok(Arc::new(Scripted { script: name.to_owned(), n_lines, lines: Mutex::new(lines), retry }))
}

#[derive(Clone, Debug, PartialEq)]
enum Line {
    Text(String),
    Error { status: u16, retry_after: Option<Duration> },
}

struct Scripted {
    script: String,
    n_lines: usize,
    lines: Mutex<VecDeque<Line>>,
    retry: Retry,
}

impl Scripted {
    fn next(&self, request: &ModelRequest) -> Result<Reply, ProviderError> {
        let line = self.lines.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
        match line {
            None => Err(ProviderError::Exhausted { script: self.script.clone(), used: self.n_lines }),
            Some(Line::Error { status, retry_after }) => {
                let reason = "the script says so".to_owned();
                Err(from_status(&self.name(), status, reason, retry_after, &self.script, false))
            }
            Some(Line::Text(text)) => {
                let (input, output) = (estimate(request.n_bytes()), estimate(text.len()));
                let usage = Usage { input, output, cached: None };
                Ok(Reply { text, tool_calls: Vec::new(), usage, stop: Stop::End })
            }
        }
    }
}

#[async_trait]
impl LanguageModel for Scripted {
    fn name(&self) -> String {
        format!("scripted:{}", self.script)
    }

    fn features(&self) -> Features {
        Features { native_tools: false, reply_schema: true, streams: false }
    }

    async fn complete(&self, request: &ModelRequest, deadline: Instant) -> Result<Reply, ProviderError> {
        self.retry.run(deadline, || std::future::ready(self.next(request))).await
    }
}

fn parse_line(line: &str) -> Result<Line, String> {
    let json = parse_json(line, POLICY).map_err(|e| e.to_string())?;
    let Value::Object(fields) = &json else {
        return Err("it is not an object".to_owned());
    };
    if let Some(value) = fields.get("raw").or_else(|| fields.get("text")) {
        let key = if fields.contains_key("raw") { "raw" } else { "text" };
        only(fields, &[key])?;
        let text = value.as_str().ok_or_else(|| format!("`{key}` is not a string"))?;
        return Ok(Line::Text(text.to_owned()));
    }
    if let Some(error) = fields.get("error") {
        only(fields, &["error"])?;
        return parse_error(error);
    }
    only(fields, &["choices", "message", "reason", "end", "impossible"])?;
    check_decision(fields)?;
    Ok(Line::Text(json.to_string()))
}

fn parse_error(error: &Value) -> Result<Line, String> {
    let fields = error.as_object().ok_or("`error` is not an object")?;
    only(fields, &["status", "retry_after"])?;
    let status = fields.get("status").and_then(Value::as_u64).and_then(|s| u16::try_from(s).ok());
    let status = status.filter(|s| (300..=599).contains(s)).ok_or("`error.status` is not a status from 300 to 599")?;
    let retry_after = match fields.get("retry_after") {
        None => None,
        Some(value) => {
            let seconds =
                value.as_f64().filter(|s| *s >= 0.0).ok_or("`error.retry_after` is not a number of seconds")?;
            Some(Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX))
        }
    };
    Ok(Line::Error { status, retry_after })
}

fn check_decision(fields: &Object) -> Result<(), String> {
    let impossible = fields.get("impossible") == Some(&Value::Bool(true));
    match fields.get("choices") {
        Some(Value::Array(choices)) => {
            for choice in choices {
                let choice = choice.as_object().ok_or("a choice is not an object")?;
                only(choice, &["option", "inputs"])?;
                if !choice.get("option").is_some_and(Value::is_string) {
                    return Err("a choice has no `option`".to_owned());
                }
            }
        }
        Some(_) => return Err("`choices` is not a list".to_owned()),
        None if impossible => {}
        None => return Err("it has none of `choices`, `raw`, `text` and `error`".to_owned()),
    }
    for key in ["message", "reason"] {
        if fields.get(key).is_some_and(|v| !v.is_string()) {
            return Err(format!("`{key}` is not a string"));
        }
    }
    for key in ["end", "impossible"] {
        if fields.get(key).is_some_and(|v| !v.is_boolean()) {
            return Err(format!("`{key}` is not true or false"));
        }
    }
    Ok(())
}

fn only(fields: &Object, known: &[&str]) -> Result<(), String> {
    match fields.keys().find(|key| !known.contains(&key.as_str())) {
        Some(key) => Err(format!("`{}` does not belong there", elysia_types::clean_line(key))),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests;
