//! JSON Schemas of legal replies: one branch per option with its name as a constant, so that a constrained endpoint
//! cannot mix one tool's name with another's inputs. The guarantee stays ours: replies are checked against the originals.

use serde_json::{Value, json};

use crate::entry::{BACK, IMPOSSIBLE, TEXT_RESPONSE, ToolEntry};

/// Most choices in one decision.
pub const MOST_CHOICES: usize = 8;

/// Parameters of a tool's native function: its inputs in a wrapper, `message` and, where allowed, `end` beside them.
pub(crate) fn native_parameters(entry: &ToolEntry) -> Value {
    let mut properties = serde_json::Map::new();
    let mut required: Vec<&str> = Vec::new();
    if !entry.schema.needs_no_inputs() {
        properties.insert("inputs".to_owned(), mounted(entry.schema.as_value(), "/properties/inputs"));
        required.push("inputs");
    }
    properties.insert("message".to_owned(), json!({"type": "string"}));
    if entry.descriptor.may_end {
        properties.insert("end".to_owned(), json!({"type": "boolean"}));
    }
    json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
}

/// Parameters of a branch's native function.
pub(crate) fn branch_parameters() -> Value {
    json!({"type": "object", "properties": {"message": {"type": "string"}}, "additionalProperties": false})
}

/// Inputs of the built-in options; none for other names.
pub(crate) fn built_in_inputs(name: &str) -> Option<Value> {
    let one = |field: &str, about: &str| {
        json!({"type": "object", "properties": {field: {"type": "string", "minLength": 1, "description": about}},
               "required": [field], "additionalProperties": false})
    };
    match name {
        TEXT_RESPONSE => Some(one("text", "the answer to the user")),
        IMPOSSIBLE => Some(one("reason", "what is missing, said to the user")),
        BACK => Some(json!({"type": "object", "properties": {}, "additionalProperties": false})),
        _ => None,
    }
}

/// The part of the reply's schema that chooses `name`; references inside `inputs` still point to its own top.
pub(crate) fn choice(name: &str, inputs: &Value) -> Value {
    json!({"type": "object", "properties": {"option": {"const": name}, "inputs": inputs},
           "required": ["option", "inputs"], "additionalProperties": false})
}

/// The whole reply, given one part per option.
pub(crate) fn reply(choices: Vec<Value>) -> Value {
    let parts: Vec<Value> = choices
        .into_iter()
        .enumerate()
        .map(|(i, mut part)| {
            if let Some(inputs) = part.pointer_mut("/properties/inputs") {
                rebase(inputs, &format!("/properties/choices/items/anyOf/{i}/properties/inputs"));
            }
            part
        })
        .collect();
    json!({
        "type": "object",
        "properties": {
            "message": {"type": "string"},
            "choices": {"type": "array", "minItems": 1, "maxItems": MOST_CHOICES, "items": {"anyOf": parts}},
            "end": {"type": "boolean"},
        },
        "required": ["choices"],
        "additionalProperties": false,
    })
}

fn mounted(schema: &Value, at: &str) -> Value {
    let mut moved = schema.clone();
    rebase(&mut moved, at);
    moved
}

/// Makes local references of a schema that is moved to `at` point to where their targets now are.
fn rebase(schema: &mut Value, at: &str) {
    match schema {
        Value::Array(items) => items.iter_mut().for_each(|item| rebase(item, at)),
        Value::Object(map) => {
            // With an own identity the schema would be a document of its own, and references relative to that.
            if map.get("$id").is_some_and(Value::is_string) {
                map.shift_remove("$id");
            }
            if map.get("$schema").is_some_and(Value::is_string) {
                map.shift_remove("$schema");
            }
            for (key, value) in map.iter_mut() {
                match value {
                    Value::String(target) if key == "$ref" && (target == "#" || target.starts_with("#/")) => {
                        let path = target.strip_prefix('#').unwrap_or_default().to_owned();
                        *target = format!("#{at}{path}");
                    }
                    _ => rebase(value, at),
                }
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests;
