//! Building JSON Schema for the code that `#[tool]` and `#[derive(ToolInput)]` write.

use crate::{InputError, Object, ToolInput, Value, json};

/// Schema of an object with named properties and nothing else in it.
#[derive(Default)]
pub struct ObjectSchema {
    description: String,
    properties: Object,
    required: Vec<Value>,
}

impl ObjectSchema {
    /// Without properties.
    pub fn new() -> ObjectSchema {
        ObjectSchema::default()
    }

    /// What the object is.
    #[must_use]
    pub fn description(mut self, description: &str) -> ObjectSchema {
        description.clone_into(&mut self.description);
        self
    }

    /// Adds a property; it is required without a default and without an answer from [`ToolInput::absent`].
    #[must_use]
    pub fn property<T: ToolInput>(
        mut self,
        name: &str,
        description: &str,
        default: Option<T>,
        minimum: Option<Value>,
        maximum: Option<Value>,
    ) -> ObjectSchema {
        if default.is_none() && T::absent().is_none() {
            self.required.push(name.into());
        }
        let mut schema = T::schema();
        if let Value::Object(fields) = &mut schema {
            if !description.is_empty() {
                describe(fields, description);
            }
            let bounds = [("minimum", minimum), ("maximum", maximum)];
            for (key, bound) in bounds {
                if let Some(bound) = bound {
                    fields.insert(key.into(), bound);
                }
            }
            if let Some(default) = default {
                fields.insert("default".into(), default.to_json());
            }
        }
        self.properties.insert(name.into(), schema);
        self
    }

    /// The schema.
    pub fn build(self) -> Value {
        let mut schema = Object::new();
        schema.insert("type".into(), "object".into());
        if !self.description.is_empty() {
            schema.insert("description".into(), self.description.into());
        }
        schema.insert("properties".into(), Value::Object(self.properties));
        if !self.required.is_empty() {
            schema.insert("required".into(), Value::Array(self.required));
        }
        schema.insert("additionalProperties".into(), Value::Bool(false));
        Value::Object(schema)
    }
}

/// Puts the words of a field before those its type brings along.
fn describe(fields: &mut Object, description: &str) {
    let description = match fields.get("description").and_then(Value::as_str) {
        Some(of_type) => format!("{description} {of_type}"),
        None => description.to_owned(),
    };
    fields.insert("description".into(), description.into());
}

/// Schema of one of some strings; what each means goes into the description.
pub fn enum_schema(description: &str, values: &[(&str, &str)]) -> Value {
    let names: Vec<Value> = values.iter().map(|(name, _)| Value::from(*name)).collect();
    let mut schema = json!({"type": "string", "enum": names});
    let meanings: Vec<String> = values
        .iter()
        .filter(|(_, meaning)| !meaning.is_empty())
        .map(|(name, meaning)| format!("`{name}`: {}", meaning.trim_end_matches('.')))
        .collect();
    let mut text = description.to_owned();
    if !meanings.is_empty() {
        text = format!("{text}{}{}.", if text.is_empty() { "" } else { " " }, meanings.join("; "));
    }
    if let (false, Value::Object(fields)) = (text.is_empty(), &mut schema) {
        fields.insert("description".into(), text.into());
    }
    schema
}

/// The same schema, null allowed.
pub(crate) fn nullable(mut schema: Value) -> Value {
    let Value::Object(fields) = &mut schema else {
        return schema;
    };
    if let Some(Value::Array(values)) = fields.get_mut("enum") {
        values.push(Value::Null);
    }
    match fields.get_mut("type") {
        Some(Value::Array(types)) if !types.contains(&json!("null")) => types.push("null".into()),
        Some(Value::String(name)) => {
            let types = json!([name.as_str(), "null"]);
            fields.insert("type".into(), types);
        }
        _ => {}
    }
    schema
}

/// Checks a number, or each number of a list, against inclusive bounds.
///
/// # Errors
/// Names the bounds.
pub fn check_range<T: ToolInput>(
    name: &str,
    input: &T,
    minimum: Option<Value>,
    maximum: Option<Value>,
) -> Result<(), InputError> {
    let value = input.to_json();
    let Some(number) = value.as_f64() else { return Ok(()) };
    let (low, high) = (minimum.as_ref().and_then(Value::as_f64), maximum.as_ref().and_then(Value::as_f64));
    if low.is_none_or(|low| number >= low) && high.is_none_or(|high| number <= high) {
        return Ok(());
    }
    let bounds = match (minimum, maximum) {
        (Some(low), Some(high)) => format!("a number from {low} to {high}"),
        (Some(low), None) => format!("a number of at least {low}"),
        (None, Some(high)) => format!("a number of at most {high}"),
        (None, None) => "a number".to_owned(),
    };
    Err(InputError::new(format!("want {bounds}, got {value}")).at(name))
}

#[cfg(test)]
mod tests;
