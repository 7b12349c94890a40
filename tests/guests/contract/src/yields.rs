//! Tools that say something: each kind of yield, each kind of returned value, each kind of input.

use std::collections::BTreeMap;

use elysia_plugin::{
    CitedText, Descriptor, Inputs, Object, Output, RefId, Tool, ToolError, ToolInput, ToolResult, Value, environment,
    json, log, object, tool,
};

/// Yields one of each kind, with every field set.
#[tool]
pub(crate) fn yield_all(out: &mut Output) -> Result<(), ToolError> {
    out.status("working");
    out.progress(1, 2);
    out.warning("careful");
    out.text("plain text");
    let everything = ToolResult::new([object! { "title": "A", "body": "a" }, object! { "title": "B", "body": "b" }])
        .name("everything")
        .payload_type("document")
        .mapping([("title", "title"), ("content", "body")])
        .metadata(object! { "source": "contract", "n": 2 })
        .llm_message("two documents")
        .annotation("contract.note", json!({"kept": true}));
    let references = out.result(everything)?;
    out.cited_text("Cited", [CitedText::new("Both agree.", references), CitedText::new("Nobody says this.", [])]);
    out.progress(2, 2);
    Ok(())
}

/// Yields one result as told.
#[tool]
pub(crate) fn result(
    /// The objects.
    objects: Vec<Object>,
    name: Option<String>,
    payload_type: Option<String>,
    /// Front-end field to object field.
    mapping: Option<BTreeMap<String, String>>,
    metadata: Option<Object>,
    llm_message: Option<String>,
    #[default(true)] display: bool,
    out: &mut Output,
) -> Result<(), ToolError> {
    let mut result = ToolResult::new(objects).display(display);
    if let Some(name) = name {
        result = result.name(name);
    }
    if let Some(payload_type) = payload_type {
        result = result.payload_type(payload_type);
    }
    for (front_end, object) in mapping.unwrap_or_default() {
        result = result.map(front_end, object);
    }
    if let Some(metadata) = metadata {
        result = result.metadata(metadata);
    }
    if let Some(message) = llm_message {
        result = result.llm_message(message);
    }
    out.result(result).map(drop)
}

/// What to return.
#[derive(ToolInput)]
enum Kind {
    String,
    Map,
    List,
    MixedList,
    EmptyList,
    Integer,
    Float,
    Bool,
    Null,
    None,
}

#[derive(ToolInput)]
struct ReturnsInputs {
    kind: Kind,
}

/// Written by hand: `#[tool]` makes no difference between null and nothing, the interface does.
#[expect(non_camel_case_types, reason = "named like its function would be")]
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct returns {}

impl Tool for returns {
    fn descriptor(&self) -> Descriptor {
        Descriptor::new("returns", "Returns a value of the kind named, and yields nothing.").inputs::<ReturnsInputs>()
    }

    fn call(&self, mut inputs: Inputs, _: &mut Output) -> Result<Option<Value>, ToolError> {
        Ok(match inputs.take("kind")? {
            Kind::String => Some(json!("a string")),
            Kind::Map => Some(json!({"b": 1, "a": [true, null]})),
            Kind::List => Some(json!([{"n": 1}, {"n": 2}])),
            Kind::MixedList => Some(json!([{"n": 1}, "two", 3, null, [4]])),
            Kind::EmptyList => Some(json!([])),
            Kind::Integer => Some(json!(42)),
            Kind::Float => Some(json!(1.5)),
            Kind::Bool => Some(json!(true)),
            Kind::Null => Some(Value::Null),
            Kind::None => None,
        })
    }
}

/// Yields two objects, reads the first one back and cites both.
#[tool]
pub(crate) fn cite(out: &mut Output) -> Result<(), ToolError> {
    let facts = ToolResult::new([object! { "fact": "water is wet" }, object! { "fact": "fire is hot" }]).name("facts");
    let references = out.result(facts)?;
    let first = references.first().cloned().unwrap_or_else(|| RefId::new("missing"));
    let read: Option<Object> = environment::object(&first)?;
    out.text(format!("read back: {}", read.map(Value::Object).unwrap_or_default()));
    out.cited_text("Facts", [CitedText::new("Two facts.", references)]);
    Ok(())
}

/// Returns its input in an object.
#[tool(effects = "none", idempotent)]
pub(crate) fn echo(value: Value) -> Object {
    object! { "value": value }
}

/// A unit of length.
#[derive(ToolInput)]
pub(crate) enum Unit {
    Metre,
    #[input(name = "ft")]
    Foot,
}

/// A point.
#[derive(ToolInput)]
pub(crate) struct Point {
    /// To the right.
    x: f64,
    /// Upwards.
    #[default(0.0)]
    y: f64,
}

/// Returns the inputs it got, defaults filled in.
#[tool]
pub(crate) fn defaults(
    /// Required.
    required: String,
    #[default("hello")] text: String,
    #[default(3)]
    #[range(1..=10)]
    count: u8,
    #[default(0.5)] ratio: f64,
    #[default(true)] flag: bool,
    #[default(Unit::Metre)] unit: Unit,
    point: Option<Point>,
    maybe: Option<String>,
    #[default(vec!["a".to_owned()])] list: Vec<String>,
) -> Object {
    object! {
        "required": required, "text": text, "count": count, "ratio": ratio, "flag": flag, "unit": unit.to_json(),
        "point": point.map(|p| json!([p.x, p.y])), "maybe": maybe, "list": list,
    }
}

/// Yields text, a status and an object with characters of many scripts, and with some that a host must clean.
#[tool(title = "Ünïcödé ✓")]
pub(crate) fn unicode(out: &mut Output) {
    let text = "Grüße, 世界! 🧑‍🚀 العربية";
    out.status(text);
    out.text(text);
    out.text("bell\u{7}, escape\u{1b}[31m, override\u{202e}, isolate\u{2066}, tag\u{e0041}.");
    out.object(object! { "text": text, "escape": "\u{1b}[31m", "override": "\u{202e}", "\"key\"": "\\" });
}

/// How to yield many bytes.
#[derive(ToolInput)]
pub(crate) enum Carrier {
    Text,
    Object,
    Status,
    Warning,
    Returned,
}

/// Yields or returns one value of about so many bytes.
#[tool]
pub(crate) fn big(bytes: u32, #[default(Carrier::Object)] carrier: Carrier, out: &mut Output) -> Option<String> {
    let text = "x".repeat(usize::try_from(bytes).unwrap_or(usize::MAX));
    match carrier {
        Carrier::Text => out.text(text),
        Carrier::Object => drop(out.object(object! { "text": text })),
        Carrier::Status => out.status(text),
        Carrier::Warning => out.warning(text),
        Carrier::Returned => return Some(text),
    }
    None
}

/// Yields a result without objects: nothing was found.
#[tool]
pub(crate) fn nothing(out: &mut Output) -> Result<(), ToolError> {
    out.result(ToolResult::new(Vec::<Object>::new()).name("nothing")).map(drop)
}

/// Yields progress, step by step.
#[tool(status = "Counting…")]
pub(crate) fn progress(#[default(3)] steps: u32, out: &mut Output) {
    for step in 1..=steps {
        out.progress(step, steps);
    }
}

/// Yields a warning and goes on.
#[tool]
pub(crate) fn warn(text: String, out: &mut Output) -> &'static str {
    out.warning(text);
    "went on"
}

/// Writes one line of each level to the operator's log.
#[tool]
pub(crate) fn log_line(text: String) {
    log::error!("{text}");
    log::warn!("{text}");
    log::info!("{text}");
    log::debug!("{text}");
    log::trace!("{text}");
}
