//! A request as chat completions want it.

use elysia_types::Role;
use serde_json::{Map, Value, json};

use crate::model::{ModelRequest, ToolChoice, ToolSpec};
use crate::openai::quirks::{Mode, Quirks};

/// The body to send. Keys stand in a fixed order and stable parts come first, so that prompt caches hit.
pub(crate) fn body(request: &ModelRequest, model: &str, stream: bool, quirks: Quirks) -> Value {
    let has_tools = request.tool_choice == ToolChoice::Required && !request.tools.is_empty();
    let native = has_tools && (quirks.insists || matches!(quirks.mode, Mode::Tools | Mode::OptionalTools));
    let schema = match &request.reply_schema {
        _ if native => None,
        Some(schema) => Some(schema.clone()),
        None => has_tools.then(|| choices_schema(&request.tools)),
    };
    let mut body = Map::new();
    body.insert("model".to_owned(), json!(model));
    if native {
        body.insert("tools".to_owned(), request.tools.iter().map(tool).collect());
        let choice = if quirks.mode == Mode::OptionalTools { "auto" } else { "required" };
        body.insert("tool_choice".to_owned(), json!(choice));
    }
    if let (Some(schema), true) = (&schema, quirks.mode != Mode::Text) {
        let format = json!({"type": "json_schema", "json_schema": {"name": "reply", "schema": plain_schema(schema)}});
        body.insert("response_format".to_owned(), format);
    }
    body.insert("messages".to_owned(), messages(request, has_tools && !native, schema.as_ref()));
    if let Some(limit) = request.max_output_tokens {
        let key = if quirks.completion_tokens { "max_completion_tokens" } else { "max_tokens" };
        body.insert(key.to_owned(), json!(limit));
    }
    if let (Some(temperature), false) = (request.temperature, quirks.no_temperature) {
        body.insert("temperature".to_owned(), json!(temperature));
    }
    if stream {
        body.insert("stream".to_owned(), json!(true));
        if !quirks.no_stream_options {
            body.insert("stream_options".to_owned(), json!({"include_usage": true}));
        }
    }
    Value::Object(body)
}

fn messages(request: &ModelRequest, describe_tools: bool, schema: Option<&Value>) -> Value {
    let mut system = request.system.clone();
    if describe_tools {
        push_section(&mut system, &request.tools_as_text.clone().unwrap_or_else(|| describe(&request.tools)));
    }
    if let Some(schema) = schema {
        // Stated even where it is enforced: a grammar the model does not see makes it choose blindly.
        let text = format!(
            "Reply with one JSON object and nothing else: no text around it, no code fence. Its JSON Schema:\n{schema}"
        );
        push_section(&mut system, &text);
    }
    let mut all = Vec::with_capacity(request.messages.len() + 1);
    if !system.is_empty() {
        all.push(json!({"role": "system", "content": system}));
    }
    all.extend(request.messages.iter().map(|message| {
        let role = match message.role {
            Role::User => "user",
            Role::Assistant => "assistant",
        };
        json!({"role": role, "content": message.text})
    }));
    Value::Array(all)
}

fn push_section(text: &mut String, section: &str) {
    if !text.is_empty() {
        text.push_str("\n\n");
    }
    text.push_str(section);
}

fn describe(tools: &[ToolSpec]) -> String {
    let mut text = "Options you may choose, one JSON object a line:".to_owned();
    for ToolSpec { name, description, schema } in tools {
        // As JSON, so that a description cannot look like an instruction of ours or like another option.
        let line = json!({"option": name, "description": description, "inputs": schema});
        text.push('\n');
        text.push_str(&line.to_string());
    }
    text
}

/// The schema of a reply when the caller gives none: one or more of the tools with their inputs.
fn choices_schema(tools: &[ToolSpec]) -> Value {
    let options: Value = tools
        .iter()
        .map(|tool| {
            json!({
                "type": "object",
                "properties": {"option": {"const": tool.name}, "inputs": plain_schema(&tool.schema)},
                "required": ["option", "inputs"],
            })
        })
        .collect();
    json!({
        "type": "object",
        "properties": {"choices": {"type": "array", "minItems": 1, "items": {"anyOf": options}}},
        "required": ["choices"],
    })
}

fn tool(tool: &ToolSpec) -> Value {
    let mut parameters = plain_schema(&tool.schema);
    if let Some(fields) = parameters.as_object_mut() {
        // Endpoints refuse parameters that are not plainly an object; inputs are checked against the original anyway.
        for combiner in ["anyOf", "oneOf", "allOf", "not", "enum", "const", "if", "then", "else"] {
            fields.shift_remove(combiner);
        }
        fields.insert("type".to_owned(), json!("object"));
        fields.entry("properties").or_insert_with(|| json!({}));
    } else {
        parameters = json!({"type": "object", "properties": {}});
    }
    let ToolSpec { name, description, schema: _ } = tool;
    json!({"type": "function", "function": {"name": name, "description": description, "parameters": parameters}})
}

/// Without the keywords that say something about the schema as a document.
fn plain_schema(schema: &Value) -> Value {
    let mut schema = schema.clone();
    if let Some(fields) = schema.as_object_mut() {
        for keyword in ["$schema", "$id", "$comment", "$vocabulary"] {
            fields.shift_remove(keyword);
        }
    }
    schema
}
