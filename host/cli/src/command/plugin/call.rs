//! `plugin call`: one tool, without a model.

use elysia_host::{QueryOptions, SessionChoice};
use elysia_types::{FailureCode, JsonError, JsonPolicy, Limits, SizeInBytes, Tokens, ToolInputs, parse_json};
use serde_json::{Value, json};

use super::super::input;
use super::Context;
use crate::args::{EventFormat, PluginCall};
use crate::complaint::Complaint;
use crate::interrupt::Interrupt;
use crate::printer::Printer;
use crate::settings::{Flags, Need};
use crate::view::{Kind, View};

pub(super) async fn run(context: &Context<'_>, args: PluginCall) -> Result<u8, Complaint> {
    let flags = Flags { forget: args.session.is_none(), ..context.flags() };
    let settings = context.settings(&flags, Need::Plugins)?;
    let limits = Limits::default().with(&settings.host.limits);
    let text = input::argument_or_stdin(&args.inputs, limits.inputs, "inputs")?;
    let inputs = match inputs(&text, &limits) {
        Ok(inputs) => inputs,
        Err(why) => return refuse(context.printer, args.output, &why),
    };
    let mut interrupt = Interrupt::watch()?;
    let host = context.open(&settings, &mut interrupt).await?;
    let choice = args.session.map_or(SessionChoice::Unsaved, SessionChoice::Existing);
    let session = interrupt.or(host.session(choice)).await?;
    let options = QueryOptions { timeout: None, can_approve: context.printer.can_ask() };
    let handle = session.call(&args.tool, inputs, options).await?;
    View::new(context.printer, args.output, Kind::Call).follow(handle, &mut interrupt).await
}

/// The outcome of a call that never became one.
fn refuse(printer: &Printer, format: EventFormat, why: &str) -> Result<u8, Complaint> {
    let message = format!("the inputs are not a JSON object that can be used: {why}");
    if format == EventFormat::Json {
        printer.json(&json!({
            "outcome": null,
            "response": "",
            "objects": [],
            "session_id": null,
            "query_id": null,
            "decisions": 0,
            "tokens": Tokens::default(),
            "errors": [],
            "error": {"code": FailureCode::InvalidInputs, "message": message},
        }))?;
    }
    Err(Complaint::failed(format!("{message} ({})", FailureCode::InvalidInputs))
        .hint("write them like '{\"x\": 1}', or `-` and send them through standard input"))
}

/// The inputs, or why they are none.
fn inputs(text: &str, limits: &Limits) -> Result<ToolInputs, String> {
    let policy = JsonPolicy {
        max_bytes: usize::try_from(limits.inputs).unwrap_or(usize::MAX),
        max_depth: limits.json_depth as usize,
    };
    match parse_json(text, policy) {
        Ok(Value::Object(inputs)) => Ok(inputs),
        Ok(other) => Err(format!("they are {}", kind(&other))),
        Err(JsonError::TooLarge { .. }) => Err(format!(
            "they are larger than the limit `inputs` of {}; raise `inputs` under [limits] in elysia.toml",
            SizeInBytes(limits.inputs)
        )),
        Err(JsonError::TooDeep { limit, .. }) => Err(format!(
            "they are nested deeper than the limit `json_depth` of {limit}; raise `json_depth` under [limits] in elysia.toml"
        )),
        Err(e) => Err(e.to_string()),
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}
