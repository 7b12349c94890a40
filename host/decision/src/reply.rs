//! A model's words → a legal decision, or a complaint to send back. Nothing that is not on offer gets through.
//!
//! Accepted, in this order: native tool calls; a JSON reply; JSON found in text, fenced or bare. Unknown names are
//! never matched to the nearest known one.

use elysia_types::{Chosen, Decision, JsonPolicy, ToolInputs, Usage, clean, parse_json, truncate};
use serde_json::{Map, Value};

use crate::entry::{IMPOSSIBLE, TEXT_RESPONSE, no_inputs};
use crate::grammar::{MOST_CHOICES, built_in_inputs};
use crate::offer::{Offer, Pick};
use crate::tree::{ToolIdx, Tree};

/// Longest JSON read from a model.
const POLICY: JsonPolicy = JsonPolicy { max_bytes: 1 << 20, max_depth: 64 };
/// Largest inputs of one call, as JSON.
const MAX_INPUTS: usize = 256 * 1024;
/// Longest message beside a choice: it is one sentence.
const MAX_MESSAGE: usize = 2 * 1024;

/// What a model said.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ModelReply {
    /// Text.
    pub text: String,
    /// Native tool calls.
    pub tool_calls: Vec<ModelToolCall>,
    /// Tokens.
    pub usage: Usage,
}

/// One native tool call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelToolCall {
    /// Name of an option.
    pub name: String,
    /// JSON text.
    pub arguments: String,
}

/// What a legal decision does.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// Run these, in this order of telling; inputs are complete.
    Tools(Vec<(ToolIdx, ToolInputs)>),
    /// Go to a branch or back.
    Move(Pick),
    /// Answer with this text and end.
    Answer(String),
    /// Say that it cannot be done and end; beside the decision's message, this text.
    Impossible(Option<String>),
}

/// A reply that may be acted on.
#[derive(Clone, Debug, PartialEq)]
pub struct Legal {
    /// What to do.
    pub verdict: Verdict,
    /// What to report.
    pub decision: Decision,
    /// Whether an option was named; false for an answer in plain words.
    pub is_choice: bool,
}

/// What is wrong with a reply, for the model to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Complaint {
    /// JSON pointer into the reply; empty for the whole.
    pub pointer: String,
    /// What is wrong and what would be right.
    pub reason: String,
    /// Set when the reply is text without a choice: the second such reply in a row is the answer.
    pub text_only: Option<String>,
}

impl Complaint {
    fn at(pointer: impl Into<String>, reason: impl Into<String>) -> Self {
        Self { pointer: pointer.into(), reason: reason.into(), text_only: None }
    }
}

impl std::fmt::Display for Complaint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.pointer.is_empty() { f.write_str(&self.reason) } else { write!(f, "{}: {}", self.pointer, self.reason) }
    }
}

/// A reply before it is checked against an offer.
#[derive(Debug, Default)]
struct Raw {
    choices: Vec<(String, Inputs)>,
    message: Option<String>,
    reason: Option<String>,
    end: bool,
    impossible: bool,
}

/// Inputs as given; a wrapped native call may turn out to be flat.
#[derive(Debug)]
struct Inputs {
    given: Value,
    flat: Option<Value>,
}

/// Reads a reply to an offer.
///
/// # Errors
/// [`Complaint`] says where and why the reply cannot be acted on.
pub fn read(reply: &ModelReply, tree: &Tree, offer: &Offer) -> Result<Legal, Complaint> {
    let raw = if reply.tool_calls.is_empty() { raw_from_text(&reply.text)? } else { raw_from_calls(reply)? };
    check(raw, tree, offer)
}

/// Reads a reply to a prompt that asks for an answer in words.
///
/// # Errors
/// [`Complaint`] when it chooses a tool all the same or says nothing.
pub fn read_answer(reply: &ModelReply) -> Result<Legal, Complaint> {
    let structured = if reply.tool_calls.is_empty() {
        whole_json(&reply.text).and_then(raw_from_json)
    } else {
        Some(raw_from_calls(reply)?)
    };
    let Some(raw) = structured else {
        let text = clean(reply.text.trim()).into_owned();
        if text.is_empty() {
            return Err(Complaint::at("", "the reply is empty; answer the user in words"));
        }
        return Ok(answer(text));
    };
    if raw.impossible || raw.choices.iter().any(|(name, _)| name == IMPOSSIBLE) {
        return impossible(raw);
    }
    match raw.choices.as_slice() {
        [(name, inputs)] if name == TEXT_RESPONSE => Ok(answering(text_of(inputs, "text", "/choices/0/inputs")?, &raw)),
        [] if raw.message.is_some() => Ok(answer(raw.message.clone().unwrap_or_default())),
        _ => Err(Complaint::at("/choices", "no option is on offer any more; answer the user in words")),
    }
}

/// A text taken as the answer.
pub(crate) fn answer(text: String) -> Legal {
    Legal { is_choice: false, ..answering(text, &Raw::default()) }
}

fn answering(text: String, raw: &Raw) -> Legal {
    let mut inputs = no_inputs();
    inputs.insert("text".to_owned(), Value::String(text.clone()));
    let choices = vec![Chosen { option: TEXT_RESPONSE.to_owned(), inputs }];
    let (message, reason) = (raw.message.clone(), raw.reason.clone());
    let decision = Decision { choices, message, reason, end: raw.end, impossible: false };
    Legal { verdict: Verdict::Answer(text), decision, is_choice: true }
}

fn raw_from_calls(reply: &ModelReply) -> Result<Raw, Complaint> {
    let mut raw = Raw { message: said(&Value::String(reply.text.clone())), ..Raw::default() };
    for (i, call) in reply.tool_calls.iter().enumerate() {
        let text = if call.arguments.trim().is_empty() { "{}" } else { &call.arguments };
        let parsed = parse_json(text, POLICY);
        let Ok(Value::Object(mut arguments)) = parsed else {
            let why = parsed.err().map_or("they are not a JSON object".to_owned(), |e| e.to_string());
            return Err(Complaint::at(format!("/choices/{i}/inputs"), format!("the arguments cannot be read: {why}")));
        };
        let built_in = built_in_inputs(&call.name).is_some();
        let flat = Value::Object(arguments.clone());
        let wrapped = arguments.get("inputs").is_some_and(|v| v.is_object() || v.is_string());
        if !built_in {
            for (key, slot) in [("message", &mut raw.message), ("reason", &mut raw.reason)] {
                if let Some(text) = arguments.shift_remove(key).as_ref().and_then(said) {
                    slot.get_or_insert(text);
                }
            }
            raw.end |= arguments.shift_remove("end").is_some_and(|v| v == Value::Bool(true));
        }
        let inputs = match arguments.shift_remove("inputs") {
            Some(inner) if wrapped && !built_in => Inputs { given: inner, flat: Some(flat) },
            Some(other) => {
                arguments.insert("inputs".to_owned(), other);
                Inputs { given: Value::Object(arguments), flat: Some(flat) }
            }
            None => Inputs { given: Value::Object(arguments), flat: Some(flat) },
        };
        raw.choices.push((call.name.clone(), inputs));
    }
    Ok(raw)
}

fn raw_from_text(text: &str) -> Result<Raw, Complaint> {
    let trimmed = text.trim();
    if let Some(raw) =
        whole_json(trimmed).and_then(raw_from_json).or_else(|| json_within(trimmed).find_map(raw_from_json))
    {
        return Ok(raw);
    }
    if trimmed.is_empty() {
        return Err(Complaint::at("", "the reply is empty; choose an option"));
    }
    if trimmed.starts_with(['{', '[']) || trimmed.contains("```json") {
        let why = match parse_json(unfenced(trimmed), POLICY) {
            Ok(_) => "it has no `choices`".to_owned(),
            Err(e) => e.to_string(),
        };
        return Err(Complaint::at("", format!("the reply is not a choice that can be read: {why}")));
    }
    let reason = format!("the reply is text without a choice; to answer the user choose `{TEXT_RESPONSE}`");
    Err(Complaint { pointer: String::new(), reason, text_only: Some(clean(trimmed).into_owned()) })
}

fn unfenced(text: &str) -> &str {
    let inner = text.strip_prefix("```").and_then(|t| t.strip_suffix("```"));
    inner.map_or(text, |t| t.trim_start_matches(|c: char| c.is_ascii_alphanumeric()).trim())
}

fn whole_json(text: &str) -> Option<Value> {
    let text = unfenced(text.trim());
    text.starts_with('{').then(|| parse_json(text, POLICY).ok()).flatten()
}

/// JSON objects inside prose, in order; only the first few candidates are tried, so that cost stays linear.
fn json_within(text: &str) -> impl Iterator<Item = Value> + '_ {
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = at + text.get(at..)?.find('{')?;
        let rest = text.get(start..)?;
        match object_end(rest) {
            Some(end) => {
                let candidate = rest.get(..end)?;
                let parsed = parse_json(candidate, POLICY).ok();
                at = start + if parsed.is_some() { end } else { 1 };
                Some(parsed)
            }
            None => {
                at = start + 1;
                Some(None)
            }
        }
    })
    .take(16)
    .flatten()
}

/// Where the object that opens `text` closes.
fn object_end(text: &str) -> Option<usize> {
    let (mut depth, mut quoted, mut escaped) = (0usize, false, false);
    for (i, b) in text.bytes().enumerate().take(POLICY.max_bytes) {
        match b {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            b'{' if !quoted => depth += 1,
            b'}' if !quoted => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return Some(i + 1);
                }
            }
            _ => {}
        }
    }
    None
}

/// None when the value is not shaped like a decision.
fn raw_from_json(value: Value) -> Option<Raw> {
    let Value::Object(mut map) = value else { return None };
    let choices = match map.shift_remove("choices") {
        Some(Value::Array(items)) => Some(items),
        Some(one @ Value::Object(_)) => Some(vec![one]),
        Some(_) => return None,
        None => None,
    };
    let mut raw = Raw {
        message: map.get("message").and_then(said),
        reason: map.get("reason").and_then(said),
        end: map.get("end") == Some(&Value::Bool(true)),
        impossible: map.get("impossible") == Some(&Value::Bool(true)),
        ..Raw::default()
    };
    match choices {
        Some(items) => {
            for item in items {
                raw.choices.push(
                    choice_from(item).unwrap_or_else(|| (String::new(), Inputs { given: Value::Null, flat: None })),
                );
            }
        }
        None => match choice_from(Value::Object(map)) {
            Some(one) => raw.choices.push(one),
            None if raw.impossible => {}
            None => return None,
        },
    }
    Some(raw)
}

fn choice_from(value: Value) -> Option<(String, Inputs)> {
    let Value::Object(mut map) = value else { return None };
    let (name, inputs) = match map.shift_remove("option") {
        Some(Value::String(name)) => (name, map.shift_remove("inputs")),
        Some(_) => return None,
        None => match (map.shift_remove("name"), map.shift_remove("arguments")) {
            (Some(Value::String(name)), Some(arguments)) => (name, Some(arguments)),
            _ => return None,
        },
    };
    Some((name, Inputs { given: inputs.unwrap_or_else(|| Value::Object(Map::new())), flat: None }))
}

fn said(value: &Value) -> Option<String> {
    let text = value.as_str()?.trim();
    let text = truncate(text, MAX_MESSAGE);
    (!text.is_empty()).then(|| clean(text).into_owned())
}

fn check(raw: Raw, tree: &Tree, offer: &Offer) -> Result<Legal, Complaint> {
    let named_impossible = raw.choices.iter().any(|(name, _)| name == IMPOSSIBLE);
    if raw.impossible || (named_impossible && raw.choices.len() == 1) {
        return impossible(raw);
    }
    if raw.choices.is_empty() {
        return Err(Complaint::at("/choices", "nothing is chosen"));
    }
    if raw.choices.len() > MOST_CHOICES {
        return Err(Complaint::at("/choices", format!("{} choices are more than {MOST_CHOICES}", raw.choices.len())));
    }
    let alone = raw.choices.len() == 1;
    let mut picked: Vec<(ToolIdx, ToolInputs)> = Vec::with_capacity(raw.choices.len());
    for (i, (name, inputs)) in raw.choices.iter().enumerate() {
        let pick = offer.find(tree, name).ok_or_else(|| not_on_offer(i, name, tree, offer))?;
        match pick {
            Pick::Tool(tool) => picked.push((tool, tool_inputs(i, tool, inputs, tree)?)),
            _ if !alone => {
                return Err(Complaint::at(
                    format!("/choices/{i}"),
                    format!("`{name}` stands alone in a decision; choose nothing beside it"),
                ));
            }
            Pick::TextResponse => return Ok(answering(text_of(inputs, "text", "/choices/0/inputs")?, &raw)),
            Pick::Branch(_) | Pick::Back | Pick::Impossible => return Ok(moving(pick, &raw)),
        }
    }
    let choices = raw.choices.iter().zip(&picked);
    let choices =
        choices.map(|((name, _), (_, inputs))| Chosen { option: name.clone(), inputs: inputs.clone() }).collect();
    let decision = Decision { choices, message: raw.message, reason: raw.reason, end: raw.end, impossible: false };
    Ok(Legal { verdict: Verdict::Tools(picked), decision, is_choice: true })
}

fn moving(pick: Pick, raw: &Raw) -> Legal {
    let names = raw.choices.iter().map(|(name, _)| name.clone());
    let choices = names.map(|option| Chosen { option, inputs: no_inputs() }).collect();
    let (message, reason) = (raw.message.clone(), raw.reason.clone());
    let decision = Decision { choices, message, reason, end: raw.end, impossible: false };
    Legal { verdict: Verdict::Move(pick), decision, is_choice: true }
}

fn impossible(raw: Raw) -> Result<Legal, Complaint> {
    let inner = raw.choices.iter().find_map(|(name, inputs)| match name.as_str() {
        IMPOSSIBLE => inputs.given.get("reason").and_then(said),
        TEXT_RESPONSE => inputs.given.get("text").and_then(said),
        _ => None,
    });
    let text = inner.or_else(|| raw.reason.clone().filter(|_| raw.message.is_none()));
    // Whatever was chosen beside it does not run, so it is not reported as chosen.
    let decision =
        Decision { choices: Vec::new(), message: raw.message, reason: raw.reason, end: raw.end, impossible: true };
    Ok(Legal { verdict: Verdict::Impossible(text), decision, is_choice: true })
}

fn not_on_offer(i: usize, name: &str, tree: &Tree, offer: &Offer) -> Complaint {
    let why =
        offer.unavailable.iter().find(|(n, _)| n == name).map(|(_, reason)| format!(" ({reason})")).unwrap_or_default();
    let shown = truncate(name, 80);
    let reason = if name.is_empty() {
        "it names no `option`".to_owned()
    } else {
        format!("`{}` is not on offer{why}; on offer are: {}", clean(shown), offer.names(tree).join(", "))
    };
    Complaint::at(format!("/choices/{i}/option"), reason)
}

fn tool_inputs(i: usize, tool: ToolIdx, inputs: &Inputs, tree: &Tree) -> Result<ToolInputs, Complaint> {
    let pointer = format!("/choices/{i}/inputs");
    let Some(leaf) = tree.leaf(tool) else {
        return Err(Complaint::at(pointer, "there is no such tool"));
    };
    let schema = &leaf.entry.schema;
    let first = complete(schema, &inputs.given, &pointer);
    match (&inputs.flat, first) {
        // A model that ignored the wrapper, or a tool with an input of its own called `inputs`.
        (Some(flat), Err(complaint)) => complete(schema, flat, &pointer).map_err(|_| complaint),
        (_, first) => first,
    }
}

fn complete(schema: &elysia_types::InputSchema, given: &Value, pointer: &str) -> Result<ToolInputs, Complaint> {
    let map = match given {
        Value::Object(map) => map.clone(),
        Value::Null => no_inputs(),
        Value::String(text) => match parse_json(text, POLICY) {
            Ok(Value::Object(map)) => map,
            _ => return Err(Complaint::at(pointer, "inputs must be a JSON object")),
        },
        _ => return Err(Complaint::at(pointer, "inputs must be a JSON object")),
    };
    if elysia_types::object_size(&map) > MAX_INPUTS {
        return Err(Complaint::at(pointer, format!("inputs are larger than {MAX_INPUTS} bytes")));
    }
    schema.complete(map).map_err(|complaints| {
        let mut parts = complaints.iter();
        let first = parts.next();
        let more: String = parts.take(7).map(|c| format!("; {pointer}{}: {}", c.pointer, c.message)).collect();
        let at = first.map_or_else(String::new, |c| c.pointer.clone());
        Complaint::at(format!("{pointer}{at}"), format!("{}{more}", first.map_or("not valid", |c| c.message.as_str())))
    })
}

fn text_of(inputs: &Inputs, field: &str, pointer: &str) -> Result<String, Complaint> {
    let text = match inputs.given.get(field) {
        Some(Value::String(text)) => clean(text.trim()).into_owned(),
        Some(Value::Number(n)) => n.to_string(),
        _ => return Err(Complaint::at(format!("{pointer}/{field}"), "must be a string")),
    };
    let others = inputs.given.as_object().into_iter().flat_map(|m| m.keys()).find(|k| *k != field && *k != "message");
    match others {
        Some(other) => {
            let other = clean(truncate(other, 80)).into_owned();
            Err(Complaint::at(
                format!("{pointer}/{other}"),
                format!("is not an input of `{TEXT_RESPONSE}`; its input is `{field}`"),
            ))
        }
        None if text.is_empty() => Err(Complaint::at(format!("{pointer}/{field}"), "must not be empty")),
        None => Ok(text),
    }
}
