//! Input schemas: untrusted programs, checked before use; then inputs are coerced, completed and validated.

use serde_json::{Map, Value};

use crate::tool::ToolInputs;

mod cost;

const MAX_NODES: usize = 2_000;
const MAX_DEPTH: usize = 16;

/// Bytes that defaults may add to the inputs of one call.
const MAX_DEFAULTS: usize = 256 * 1024;

/// Why a schema is refused at load.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SchemaError {
    /// The top level is not `{"type": "object", …}`.
    #[error("the top level must be a schema with `\"type\": \"object\"`")]
    NotAnObject,
    /// A reference leads out of the schema.
    #[error("`$ref` to `{0}` is not local; only `#…` is followed")]
    RemoteReference(String),
    /// Too many values.
    #[error("it has {0} nodes, over the limit of {MAX_NODES}")]
    TooManyNodes(usize),
    /// Nested too deep.
    #[error("it is nested {0} deep, over the limit of {MAX_DEPTH}")]
    TooDeep(usize),
    /// References that multiply: checking one value would take more steps than a host can spend.
    #[error("its references multiply: one value would be checked more than {limit} times", limit = cost::MAX_STEPS)]
    TooCostly,
    /// Not a valid schema, or a pattern that is not a linear-time regular expression.
    #[error("{0}")]
    Invalid(String),
}

/// One thing wrong with inputs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaComplaint {
    /// JSON pointer into the inputs; empty for the whole.
    pub pointer: String,
    /// What is wrong.
    pub message: String,
}

impl std::fmt::Display for SchemaComplaint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "inputs{}: {}", self.pointer, self.message)
    }
}

/// A checked schema with its validator.
#[derive(Debug)]
pub struct InputSchema {
    original: Value,
    /// The original with unnamed fields closed off where the schema does not speak of them.
    closed: Value,
    validator: jsonschema::Validator,
}

impl InputSchema {
    /// Checks and compiles `schema`: local references only, linear-time patterns, bounded size and depth.
    ///
    /// # Errors
    /// [`SchemaError`] says what is not acceptable.
    pub fn new(schema: Value) -> Result<Self, SchemaError> {
        let top = schema.as_object().ok_or(SchemaError::NotAnObject)?;
        if top.get("type").and_then(Value::as_str) != Some("object") {
            return Err(SchemaError::NotAnObject);
        }
        let mut nodes = 0;
        inspect(&schema, 1, &mut nodes)?;
        if !cost::is_bearable(&schema) {
            return Err(SchemaError::TooCostly);
        }
        let mut closed = schema.clone();
        close(&mut closed);
        let validator = jsonschema::draft202012::options()
            .with_pattern_options(jsonschema::PatternOptions::regex())
            .build(&closed)
            .map_err(|e| SchemaError::Invalid(crate::text::clean_line(&e.to_string())))?;
        Ok(Self { original: schema, closed, validator })
    }

    /// The schema as given.
    pub fn as_value(&self) -> &Value {
        &self.original
    }

    /// Whether a call needs no inputs at all: nothing is required.
    pub fn needs_no_inputs(&self) -> bool {
        self.original.get("properties").and_then(Value::as_object).is_none_or(Map::is_empty)
            && self.original.get("required").and_then(Value::as_array).is_none_or(Vec::is_empty)
    }

    /// Coerces without loss ("7" → 7), fills in defaults and validates against the original schema.
    ///
    /// # Errors
    /// Up to 16 complaints, each with a JSON pointer.
    pub fn complete(&self, inputs: ToolInputs) -> Result<ToolInputs, Vec<SchemaComplaint>> {
        let mut value = Value::Object(inputs);
        let mut defaults = MAX_DEFAULTS;
        adapt(&mut value, &self.closed, &self.closed, 0, &mut defaults);
        if defaults == 0 {
            let message = format!("defaults would add more than {MAX_DEFAULTS} bytes");
            return Err(vec![SchemaComplaint { pointer: String::new(), message }]);
        }
        let complaints: Vec<_> = self
            .validator
            .iter_errors(&value)
            .take(16)
            .map(|e| SchemaComplaint {
                pointer: e.instance_path().to_string(),
                message: crate::text::truncate(&crate::text::clean_line(&e.to_string()), 400).to_owned(),
            })
            .collect();
        match value {
            Value::Object(map) if complaints.is_empty() => Ok(map),
            _ => Err(complaints),
        }
    }
}

fn inspect(value: &Value, depth: usize, nodes: &mut usize) -> Result<(), SchemaError> {
    *nodes += 1;
    if *nodes > MAX_NODES {
        return Err(SchemaError::TooManyNodes(*nodes));
    }
    let children: Box<dyn Iterator<Item = (&str, &Value)>> = match value {
        Value::Array(items) => Box::new(items.iter().map(|v| ("", v))),
        Value::Object(map) => Box::new(map.iter().map(|(k, v)| (k.as_str(), v))),
        _ => return Ok(()),
    };
    if depth > MAX_DEPTH {
        return Err(SchemaError::TooDeep(depth));
    }
    for (key, child) in children {
        if let ("$ref" | "$dynamicRef" | "$recursiveRef" | "$schema" | "$id", Some(target)) = (key, child.as_str()) {
            let local =
                target.starts_with('#') || (key == "$schema" && target.contains("json-schema.org/")) || key == "$id";
            if !local {
                return Err(SchemaError::RemoteReference(
                    crate::text::truncate(&crate::text::clean_line(target), 120).to_owned(),
                ));
            }
        }
        inspect(child, depth + 1, nodes)?;
    }
    Ok(())
}

/// Keywords whose presence means that properties may be named elsewhere.
const COMPOSING: [&str; 9] = [
    "additionalProperties",
    "unevaluatedProperties",
    "patternProperties",
    "$ref",
    "allOf",
    "anyOf",
    "oneOf",
    "if",
    "dependentSchemas",
];

/// Adds `additionalProperties: false` to every object schema that names properties and does not say otherwise.
fn close(schema: &mut Value) {
    let Some(map) = schema.as_object_mut() else { return };
    let names = map.get("properties").and_then(Value::as_object).is_some_and(|p| !p.is_empty());
    if names && !COMPOSING.iter().any(|key| map.contains_key(*key)) {
        map.insert("additionalProperties".to_owned(), Value::Bool(false));
    }
    for (key, child) in map.iter_mut() {
        match key.as_str() {
            "properties" | "patternProperties" | "$defs" | "definitions" => {
                child.as_object_mut().into_iter().flat_map(|m| m.values_mut()).for_each(close);
            }
            "items" | "additionalProperties" | "contains" => close(child),
            "prefixItems" => child.as_array_mut().into_iter().flatten().for_each(close),
            // Inside a combination another branch may name the field.
            _ => {}
        }
    }
}

/// Lossless coercion and defaults, following local references.
fn adapt(value: &mut Value, schema: &Value, root: &Value, depth: usize, defaults: &mut usize) {
    if depth > 64 {
        return;
    }
    let schema = resolve(schema, root);
    let Some(map) = schema.as_object() else { return };
    if let Some(kinds) = kinds(map)
        && !kinds.iter().any(|kind| is_kind(value, kind))
        && let Some(coerced) = kinds.iter().find_map(|kind| coerce(value, kind))
    {
        *value = coerced;
    }
    if kinds(map).is_some_and(|kinds| kinds.contains(&"integer") && !kinds.contains(&"number"))
        && let Some(whole) = value.as_f64().filter(|_| value.is_f64()).and_then(whole_number)
    {
        *value = whole;
    }
    match value {
        Value::Object(fields) => adapt_fields(fields, map, root, depth, defaults),
        Value::Array(items) => {
            let prefix = map.get("prefixItems").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
            for (i, item) in items.iter_mut().enumerate() {
                if let Some(schema) = prefix.get(i).or_else(|| map.get("items")) {
                    adapt(item, schema, root, depth + 1, defaults);
                }
            }
        }
        _ => {}
    }
}

fn adapt_fields(
    fields: &mut Map<String, Value>,
    schema: &Map<String, Value>,
    root: &Value,
    depth: usize,
    defaults: &mut usize,
) {
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else {
        return;
    };
    let required = |name: &str| {
        schema.get("required").and_then(Value::as_array).is_some_and(|r| r.iter().any(|n| n.as_str() == Some(name)))
    };
    for (name, property) in properties {
        let resolved = resolve(property, root);
        // Models write null for "not given".
        let nullable = resolved.as_object().and_then(kinds).is_none_or(|k| k.contains(&"null"));
        if fields.get(name).is_some_and(Value::is_null) && !nullable && !required(name) {
            fields.shift_remove(name);
        }
        match fields.get_mut(name) {
            Some(value) => adapt(value, property, root, depth + 1, defaults),
            None => {
                if let Some(default) = resolved.get("default").or_else(|| property.get("default")) {
                    *defaults = defaults.saturating_sub(name.len() + default.to_string().len());
                    // Spent: the caller refuses the whole.
                    if *defaults == 0 {
                        return;
                    }
                    fields.insert(name.clone(), default.clone());
                }
            }
        }
    }
}

fn resolve<'a>(schema: &'a Value, root: &'a Value) -> &'a Value {
    let mut current = schema;
    for _ in 0..16 {
        let Some(pointer) = current.get("$ref").and_then(Value::as_str).and_then(|r| r.strip_prefix('#')) else {
            break;
        };
        match root.pointer(pointer) {
            Some(target) => current = target,
            None => break,
        }
    }
    current
}

fn kinds(schema: &Map<String, Value>) -> Option<Vec<&str>> {
    match schema.get("type")? {
        Value::String(kind) => Some(vec![kind]),
        Value::Array(kinds) => Some(kinds.iter().filter_map(Value::as_str).collect()),
        _ => None,
    }
}

fn is_kind(value: &Value, kind: &str) -> bool {
    match kind {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        "number" => value.is_number(),
        "integer" => value.is_i64() || value.is_u64() || value.as_f64().is_some_and(|f| f.fract() == 0.0),
        _ => true,
    }
}

fn coerce(value: &Value, kind: &str) -> Option<Value> {
    match (kind, value) {
        ("integer", Value::String(text)) => parse_number(text).filter(|n| n.is_i64() || n.is_u64()),
        ("number", Value::String(text)) => parse_number(text),
        ("boolean", Value::String(text)) => match text.trim() {
            "true" | "True" => Some(Value::Bool(true)),
            "false" | "False" => Some(Value::Bool(false)),
            _ => None,
        },
        ("string", Value::Number(n)) => Some(Value::String(n.to_string())),
        ("string", Value::Bool(b)) => Some(Value::String(b.to_string())),
        ("object" | "array", Value::String(text)) => {
            let policy = crate::json::JsonPolicy { max_bytes: 1 << 20, max_depth: 64 };
            crate::json::parse_json(text, policy).ok().filter(|v| is_kind(v, kind))
        }
        _ => None,
    }
}

fn parse_number(text: &str) -> Option<Value> {
    let policy = crate::json::JsonPolicy { max_bytes: 64, max_depth: 0 };
    let value = crate::json::parse_json(text.trim(), policy).ok()?;
    match &value {
        Value::Number(n) if n.is_f64() => n.as_f64().and_then(whole_number).or(Some(value)),
        Value::Number(_) => Some(value),
        _ => None,
    }
}

/// `7.0` as `7`, where that is exact.
fn whole_number(f: f64) -> Option<Value> {
    (f.fract() == 0.0 && f.abs() <= 9_007_199_254_740_992.0).then_some(Value::Number((f as i64).into()))
}

#[cfg(test)]
mod tests;
