//! WIT values to and from `elysia-types`: towards the guest always possible, from the guest checked.
//!
//! All text of a guest is cleaned here, and all its JSON parsed under the plugin's limits.

use elysia_types::{
    Availability, CitedText, Effects, Failure, FailureCode, JsonError, JsonPolicy, Limits, Message, Object, Placement,
    Role, SizeInBytes, ToolDescriptor, ToolInputs, ToolResult, clean, clean_line, parse_json, truncate,
};
use serde_json::Value;

use crate::bindings::elysia::plugin::{conversation, types as wit};
use crate::bindings::exports::elysia::plugin::tools as export;
use crate::error::{limit_failure, raised};
use crate::limits::Terms;

/// Longest sentence for the decision agent about one result.
const MAX_LLM_MESSAGE: usize = 500;

/// A finding about what a guest gave: where, and what is wrong.
pub(crate) fn invalid(terms: &Terms, place: &str, what: &str) -> Failure {
    let message = format!("plugin `{}` gave something that is not valid: {place}: {what}", terms.plugin);
    Failure::new(FailureCode::InvalidOutput, message)
        .with_feedback(format!("the tool's output was refused: {place}: {what}"))
}

fn invalid_json(terms: &Terms, place: &str, error: &JsonError) -> Failure {
    match error {
        JsonError::TooDeep { limit, observed } => {
            let setting = format!("json_depth = {}", observed.saturating_mul(2));
            let depths = (limit.to_string(), format!("{observed} or more"));
            let what = format!("gave {place} nested too deep");
            limit_failure(&terms.plugin, FailureCode::InvalidOutput, &what, ("json_depth", &setting), depths)
        }
        _ => invalid(terms, place, &error.to_string()),
    }
}

fn policy(limits: &Limits, max_bytes: u64) -> JsonPolicy {
    JsonPolicy { max_bytes: usize::try_from(max_bytes).unwrap_or(usize::MAX), max_depth: limits.json_depth as usize }
}

/// Parses JSON of a guest.
pub(crate) fn json(terms: &Terms, place: &str, text: &str, max_bytes: u64) -> Result<Value, Failure> {
    parse_json(text, policy(&terms.limits, max_bytes)).map_err(|error| invalid_json(terms, place, &error))
}

/// Parses JSON of a guest that must be an object.
pub(crate) fn object(terms: &Terms, place: &str, text: &str, max_bytes: u64) -> Result<Object, Failure> {
    match json(terms, place, text, max_bytes)? {
        Value::Object(object) => Ok(object),
        other => Err(invalid(terms, place, &format!("a JSON object is wanted, not {}", kind(&other)))),
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// JSON towards the guest. Values of ours always serialize.
pub(crate) fn to_text(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

/// Bytes of text in a result, before anything is parsed.
pub(crate) fn result_size(result: &wit::ToolResult) -> usize {
    let pairs = |list: &[(String, String)]| list.iter().map(|(a, b)| a.len() + b.len()).sum::<usize>();
    let texts = [&result.name, &result.metadata, &result.payload_type, &result.llm_message];
    result.objects.iter().map(String::len).sum::<usize>()
        + texts.into_iter().flatten().map(String::len).sum::<usize>()
        + pairs(&result.mapping)
        + pairs(&result.annotations)
}

/// Checks a result.
pub(crate) fn result(terms: &Terms, given: wit::ToolResult) -> Result<ToolResult, Failure> {
    let max = terms.limits.yield_size;
    let name = match given.name {
        Some(name) => Some(clean(&name).parse().map_err(|e| invalid(terms, "result name", &format!("{e}")))?),
        None => None,
    };
    let objects = given.objects.iter().enumerate();
    Ok(ToolResult {
        name,
        objects: objects
            .map(|(i, text)| object(terms, &format!("objects[{i}]"), text, max))
            .collect::<Result<_, _>>()?,
        metadata: given.metadata.map_or_else(|| Ok(Object::new()), |text| object(terms, "metadata", &text, max))?,
        payload_type: given.payload_type.map(|text| clean_line(&text)),
        mapping: given
            .mapping
            .iter()
            .map(|(field, key)| (clean(field).into_owned(), clean(key).into_owned()))
            .collect(),
        llm_message: given.llm_message.map(|text| truncate(&clean_line(&text), MAX_LLM_MESSAGE).to_owned()),
        display: given.display,
        annotations: annotations(terms, given.annotations, max)?,
    })
}

fn annotations(terms: &Terms, given: Vec<(String, String)>, max: u64) -> Result<Vec<(String, Value)>, Failure> {
    let each = given.into_iter().map(|(key, text)| {
        let key = clean_line(&key);
        let value = json(terms, &format!("annotation `{}`", truncate(&key, 80)), &text, max)?;
        Ok((key, value))
    });
    each.collect()
}

/// Speech with references.
pub(crate) fn paragraphs(given: Vec<wit::CitedText>) -> Vec<CitedText> {
    let each = given.into_iter().map(|paragraph| CitedText {
        text: clean(&paragraph.text).into_owned(),
        ref_ids: paragraph.ref_ids.iter().map(|reference| clean_line(reference)).collect(),
    });
    each.collect()
}

/// Checks all descriptors of a plugin, with the limits on them.
pub(crate) fn descriptors(terms: &Terms, given: Vec<export::ToolDescriptor>) -> Result<Vec<ToolDescriptor>, Failure> {
    let over = |what: &str, limit: (&str, &str), sizes| {
        Err(limit_failure(&terms.plugin, FailureCode::InvalidOutput, what, limit, sizes))
    };
    let limits = &terms.limits;
    if given.len() > limits.tools as usize {
        let setting = format!("tools = {}", given.len().next_power_of_two());
        return over("offers too many tools", ("tools", &setting), (limits.tools.to_string(), given.len().to_string()));
    }
    let total: u64 = given.iter().map(|d| descriptor_size(d) as u64).sum();
    if total > limits.descriptors {
        let sizes = (SizeInBytes(limits.descriptors).to_string(), SizeInBytes(total).to_string());
        let setting = format!("descriptors = \"{}\"", raised(total));
        return over("describes its tools at too great length", ("descriptors", &setting), sizes);
    }
    for tool in &given {
        let name = truncate(&clean_line(&tool.name), 80).to_owned();
        let schemas = [Some(&tool.input_schema), tool.output_schema.as_ref()];
        let schema = schemas.into_iter().flatten().map(String::len).max().unwrap_or_default() as u64;
        for (key, size, limit) in
            [("description", tool.description.len() as u64, limits.description), ("schema", schema, limits.schema)]
        {
            if size > limit {
                let what = format!("has a {key} of tool `{name}` that is too long");
                let setting = format!("{key} = \"{}\"", raised(size));
                return over(&what, (key, &setting), (SizeInBytes(limit).to_string(), SizeInBytes(size).to_string()));
            }
        }
    }
    given.into_iter().map(|tool| descriptor(terms, tool)).collect()
}

fn descriptor_size(tool: &export::ToolDescriptor) -> usize {
    let optional = [&tool.title, &tool.output_schema, &tool.status];
    tool.name.len()
        + tool.description.len()
        + tool.input_schema.len()
        + optional.into_iter().flatten().map(String::len).sum::<usize>()
        + tool.examples.iter().map(String::len).sum::<usize>()
        + tool.annotations.iter().map(|(key, text)| key.len() + text.len()).sum::<usize>()
}

fn descriptor(terms: &Terms, given: export::ToolDescriptor) -> Result<ToolDescriptor, Failure> {
    let name = given.name.parse().map_err(|e| invalid(terms, "descriptor", &format!("{e}")))?;
    let schema = |what: &str, text: &str| json(terms, &format!("{what} of tool `{name}`"), text, terms.limits.schema);
    Ok(ToolDescriptor {
        title: given.title.map(|text| clean_line(&text)).filter(|text| !text.is_empty()),
        description: clean(&given.description).into_owned(),
        input_schema: schema("input schema", &given.input_schema)?,
        output_schema: given.output_schema.map(|text| schema("output schema", &text)).transpose()?,
        examples: given.examples.iter().map(|text| clean_line(text)).collect(),
        effects: match given.effects {
            wit::Effects::None => Effects::None,
            wit::Effects::Reads => Effects::Reads,
            wit::Effects::Writes => Effects::Writes,
            wit::Effects::Destructive => Effects::Destructive,
        },
        idempotent: given.idempotent,
        may_end: given.may_end,
        status: given.status.map(|text| clean_line(&text)).filter(|text| !text.is_empty()),
        placement: given.placement.map(|wish| placement(terms, wish)).transpose()?,
        checks_availability: given.checks_availability,
        runs_unchosen: given.runs_unchosen,
        annotations: annotations(terms, given.annotations, terms.limits.schema)?,
        name,
    })
}

fn placement(terms: &Terms, wish: wit::Placement) -> Result<Placement, Failure> {
    let wrong = |e: elysia_types::IdError| invalid(terms, "placement", &e.to_string());
    Ok(Placement {
        branch: wish.branch.map(|branch| branch.parse()).transpose().map_err(wrong)?,
        after: wish.after.iter().map(|tool| tool.parse()).collect::<Result<_, _>>().map_err(wrong)?,
    })
}

/// Checks the answers of `available`.
pub(crate) fn availabilities(
    terms: &Terms,
    asked: usize,
    given: Vec<export::Availability>,
) -> Result<Vec<Availability>, Failure> {
    one_each(terms, "available", asked, given.len())?;
    let max = usize::try_from(terms.limits.status).unwrap_or(usize::MAX);
    let reason = |text: String| truncate(&clean_line(&text), max).to_owned();
    let each = given.into_iter().map(|a| Availability { available: a.available, reason: a.reason.map(reason) });
    Ok(each.collect())
}

/// Checks the answers of `run-if-true`.
pub(crate) fn unchosen(
    terms: &Terms,
    asked: usize,
    given: Vec<Option<String>>,
) -> Result<Vec<Option<ToolInputs>>, Failure> {
    one_each(terms, "run-if-true", asked, given.len())?;
    let inputs = |text: String| object(terms, "inputs of run-if-true", &text, terms.limits.inputs);
    given.into_iter().map(|text| text.map(inputs).transpose()).collect()
}

fn one_each(terms: &Terms, function: &str, asked: usize, given: usize) -> Result<(), Failure> {
    let what = format!("{given} answers for {asked} tools; one each is wanted, in order");
    if asked == given { Ok(()) } else { Err(invalid(terms, function, &what)) }
}

/// A tool's own error.
pub(crate) fn tool_error(terms: &Terms, given: &export::ToolError) -> Failure {
    let code = match given.kind {
        wit::ToolErrorKind::InvalidInputs => FailureCode::InvalidInputs,
        wit::ToolErrorKind::NotFound => FailureCode::NotFound,
        wit::ToolErrorKind::Unavailable => FailureCode::Unavailable,
        wit::ToolErrorKind::RateLimited => FailureCode::RateLimited,
        wit::ToolErrorKind::Denied => FailureCode::Denied,
        wit::ToolErrorKind::Failed => FailureCode::Failed,
    };
    let max = usize::try_from(terms.limits.feedback).unwrap_or(usize::MAX);
    let feedback = truncate(&clean(&given.feedback), max).to_owned();
    Failure::new(code, feedback)
}

/// History towards the guest.
pub(crate) fn message(message: &Message) -> conversation::Message {
    conversation::Message {
        role: match message.role {
            Role::User => conversation::Role::User,
            Role::Assistant => conversation::Role::Assistant,
        },
        text: message.text.clone(),
    }
}
