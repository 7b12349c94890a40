//! Returned values: what each kind of JSON becomes.

use elysia_types::{Failure, FailureCode, Object, ResultName, ToolResult};
use serde_json::Value;

use crate::action::CallPlan;

/// What a returned value means.
pub(super) enum Returned {
    Nothing,
    Speech(String),
    Result(ToolResult),
}

/// string → speech; map → one result; list → one result of its items; number, boolean → wrapped; null → nothing.
pub(super) fn read(returned: Value, plan: &CallPlan) -> Returned {
    let objects = match returned {
        Value::Null => return Returned::Nothing,
        Value::String(text) => return Returned::Speech(text),
        Value::Object(map) => vec![map],
        Value::Array(items) => items.into_iter().map(wrapped).collect(),
        scalar @ (Value::Bool(_) | Value::Number(_)) => vec![wrapped(scalar)],
    };
    let mut metadata = Object::new();
    metadata.insert("tool_name".to_owned(), Value::String(plan.call.tool.to_string()));
    metadata.insert("inputs_used".to_owned(), Value::Object(plan.inputs.clone()));
    Returned::Result(ToolResult {
        name: None,
        objects,
        metadata,
        payload_type: None,
        mapping: Vec::new(),
        llm_message: None,
        display: true,
        annotations: Vec::new(),
    })
}

fn wrapped(value: Value) -> Object {
    match value {
        Value::Object(map) => map,
        other => std::iter::once(("tool_result".to_owned(), other)).collect(),
    }
}

/// The name of a result that has none.
pub(super) fn default_name() -> Result<ResultName, Failure> {
    "default".parse().map_err(|e: elysia_types::IdError| Failure::new(FailureCode::Internal, e.to_string()))
}

/// Pairs as `{front-end field: object field}`; none when there are none.
pub(super) fn mapping(pairs: Vec<(String, String)>) -> Option<Object> {
    (!pairs.is_empty()).then(|| pairs.into_iter().map(|(front, field)| (front, Value::String(field))).collect())
}
