//! Tools that read what the host offers: environment, state, conversation, HTTP, models, files, variables.

use elysia_plugin::conversation::Role;
use elysia_plugin::{
    Availability, Object, Output, RefId, ToolError, ToolInput, ToolResult, Value, environment, http, json, model,
    object, state, tool,
};

/// Lists where results are.
#[tool]
pub(crate) fn locations(out: &mut Output) -> Result<(), ToolError> {
    let row = |l: environment::Location| object! { "tool": l.tool, "name": l.name, "entries": l.entries };
    out.result(ToolResult::new(environment::locations().into_iter().map(row)).name("locations").display(false))?;
    Ok(())
}

/// Returns an entry of the environment: the newest one, or that at an index.
#[tool]
pub(crate) fn read_entry(
    tool: String,
    #[default("default")] name: String,
    index: Option<u32>,
) -> Result<Object, ToolError> {
    let entry = match index {
        Some(index) => environment::get::<Value>(&tool, &name, index)?,
        None => environment::latest::<Value>(&tool, &name)?,
    };
    let entry = entry.ok_or_else(|| ToolError::not_found(format!("no entry under {tool}/{name}")))?;
    Ok(object! { "metadata": entry.metadata, "objects": entry.objects })
}

/// Returns an object of the environment by its reference.
#[tool]
pub(crate) fn read_object(ref_id: String) -> Result<Object, ToolError> {
    let object = environment::object::<Object>(&RefId::new(&ref_id))?;
    object.map(|found| object! { "found": found }).ok_or_else(|| ToolError::not_found(format!("no object {ref_id}")))
}

/// What to do after writing state.
#[derive(ToolInput)]
pub(crate) enum Then {
    Return,
    Fail,
    Trap,
}

/// Keeps a value in the plugin's state, then ends as told.
#[tool]
#[expect(clippy::panic, reason = "the trap is one of the ways to end")]
pub(crate) fn remember(key: String, value: Value, #[default(Then::Return)] then: Then) -> Result<String, ToolError> {
    state::set(&key, &value)?;
    let read: Option<Value> = state::get(&key)?;
    match then {
        Then::Return => Ok(format!("{key} = {}", read.unwrap_or_default())),
        Then::Fail => Err(ToolError::failed("kept, then failed")),
        Then::Trap => panic!("kept, then trapped"),
    }
}

/// Returns a value of the plugin's state.
#[tool]
pub(crate) fn recall(key: String) -> Result<Object, ToolError> {
    let value: Option<Value> = state::get(&key)?;
    Ok(object! { "known": value.is_some(), "value": value })
}

/// Removes a value from the plugin's state.
#[tool]
pub(crate) fn forget(key: String) -> String {
    state::remove(&key);
    format!("forgot {key}")
}

/// Returns the keys of the plugin's state, sorted.
#[tool]
pub(crate) fn remembered() -> Object {
    let mut keys = state::keys();
    keys.sort();
    object! { "keys": keys }
}

/// Returns the prompt and what was said before.
#[tool]
pub(crate) fn conversation() -> Object {
    let message = |message: elysia_plugin::conversation::Message| json!({"role": if message.role == Role::User { "user" } else { "assistant" }, "text": message.text});
    let history: Vec<Value> = elysia_plugin::conversation::history().into_iter().map(message).collect();
    object! { "prompt": elysia_plugin::conversation::prompt(), "history": history }
}

/// Says what time it is, twice: the time stands still during a call.
#[tool]
pub(crate) fn now() -> Object {
    object! { "now": elysia_plugin::conversation::now(), "again": elysia_plugin::conversation::now() }
}

/// On offer only while the state `open` is true.
#[tool(available = is_open)]
pub(crate) fn guarded() -> &'static str {
    "the gate was open"
}

fn is_open() -> Availability {
    match state::get::<bool>("open") {
        Ok(Some(true)) => Availability::yes(),
        _ => Availability::no("call `remember` with key `open` and value true first"),
    }
}

/// Never on offer; its reason says what happened when state was written outside a call.
#[tool(available = write_outside)]
pub(crate) fn outside() {}

fn write_outside() -> Availability {
    let kept = match state::set("outside", &true) {
        Ok(()) => "kept".to_owned(),
        Err(error) => format!("refused: {error}"),
    };
    Availability::no(kept)
}

/// Runs unchosen when the prompt has the word `automatically`.
#[tool(run_if_true = wants_to_run)]
pub(crate) fn automatic(reason: String) -> String {
    format!("ran because {reason}")
}

fn wants_to_run() -> Option<Value> {
    let prompt = elysia_plugin::conversation::prompt();
    prompt.contains("automatically").then(|| json!({"reason": "the prompt asked for it"}))
}

/// Fetches a URL and returns status and text; an error of the host becomes a tool error.
#[tool(effects = "reads")]
pub(crate) fn fetch(
    url: String,
    #[default("GET")] method: String,
    headers: Option<Object>,
) -> Result<Object, ToolError> {
    let mut request = http::Request::new(method, url);
    for (name, value) in headers.unwrap_or_default() {
        request = request.header(name, value.as_str().unwrap_or_default());
    }
    let response = http::fetch(request)?;
    Ok(object! { "status": response.status, "body": String::from_utf8_lossy(&response.body) })
}

/// Asks the host's model; an error of the host becomes a tool error.
#[tool]
pub(crate) fn ask_model(prompt: String, output_schema: Option<Object>) -> Result<Object, ToolError> {
    let mut request = model::Request::new(prompt).system("Answer in one word.").max_output_tokens(50);
    if let Some(schema) = output_schema {
        request = request.output_schema(Value::Object(schema));
    }
    let reply = model::complete(request)?;
    Ok(object! { "text": reply.text, "input_tokens": reply.input_tokens, "output_tokens": reply.output_tokens })
}

/// Returns the text of a file, or writes it when `write` is given.
#[tool(effects = "writes")]
pub(crate) fn read_file(path: String, write: Option<String>) -> Result<Object, ToolError> {
    if let Some(text) = write {
        std::fs::write(&path, text)?;
    }
    Ok(object! { "text": std::fs::read_to_string(&path)? })
}

/// Returns an environment variable, and how many variables and arguments there are.
#[tool(effects = "reads")]
pub(crate) fn read_env(name: String) -> Object {
    object! { "value": std::env::var(&name).ok(), "variables": std::env::vars().count(), "arguments": std::env::args().count() }
}

/// One row of `decorated`.
#[derive(ToolInput)]
struct Row {
    /// A number.
    n: i64,
}

/// Has every field of a descriptor set; returns one row.
#[tool(
    name = "decorated",
    title = "Fully decorated",
    effects = "destructive",
    idempotent = true,
    may_end = true,
    status = "Decorating…",
    branch = "extras",
    after = ["echo", "now"],
    examples = ["decorate it", "show every field"],
    annotations("contract.level" = 3, "contract.tags" = ["a", "b"]),
    output_schema = Row::schema()
)]
pub(crate) fn decorated() -> Object {
    object! { "n": 1 }
}
