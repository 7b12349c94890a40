//! What a tool can take: types that have a JSON Schema and come from JSON.
//!
//! The host validates inputs before a call; what is checked again here is what a type cannot hold, so that a plugin
//! run by anything else fails with a message and not with nonsense.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::hash::BuildHasher;

use crate::{Object, Value, json};

/// A type of a tool's input.
///
/// Implemented for the integers of up to 64 bits, floats, `bool`, `char`, `String`, [`Value`], [`Object`], and for
/// `Option` (may be left out or null), `Vec`, `Box`, `HashMap` and `BTreeMap` of such types. Derive it for structs
/// with named fields and for enums without data:
///
/// ```
/// use elysia_plugin::ToolInput;
///
/// /// How to order.
/// #[derive(ToolInput)]
/// enum Order {
///     /// Smallest first.
///     Ascending,
///     #[input(name = "desc")]
///     Descending,
/// }
///
/// /// One condition on the rows.
/// #[derive(ToolInput)]
/// struct Sort {
///     /// A column.
///     field: String,
///     #[default(Order::Ascending)]
///     order: Order,
/// }
///
/// assert_eq!(Order::schema()["enum"][1], "desc");
/// assert_eq!(Sort::schema()["properties"]["order"]["default"], "ascending");
/// ```
///
/// Fields and parameters take a doc comment (the description), `#[default(expression)]`, `#[range(1..=100)]` and
/// `#[input(name = "…")]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an input of a tool",
    label = "no JSON Schema is known for this type",
    note = "for your own struct or enum write `#[derive(ToolInput)]`; for open JSON take `elysia_plugin::Value`"
)]
pub trait ToolInput: Sized {
    /// JSON Schema of one value.
    fn schema() -> Value;

    /// Reads a value.
    ///
    /// # Errors
    /// When the type cannot hold it; the error says where and what was wanted.
    fn from_json(value: Value) -> Result<Self, InputError>;

    /// Writes a value, for defaults in the schema.
    fn to_json(&self) -> Value;

    /// What an input that was left out becomes; `None`, the default, makes it required.
    fn absent() -> Option<Self> {
        None
    }
}

/// Why a value is no input of the wanted type.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InputError {
    /// JSON pointer from the inputs to the value, without the leading slash.
    path: String,
    message: String,
}

impl InputError {
    /// An error at the value itself.
    pub fn new(message: impl Into<String>) -> InputError {
        InputError { path: String::new(), message: message.into() }
    }

    /// `value` is none of the texts that stand for something.
    pub fn not_one_of(names: &[&str], value: &Value) -> InputError {
        InputError::new(format!("want one of {}, got {}", Listed(names), shown(value)))
    }

    /// The same error seen from one level further out.
    #[must_use]
    pub fn at(mut self, key: &str) -> InputError {
        let key = key.replace('~', "~0").replace('/', "~1");
        self.path = if self.path.is_empty() { key } else { format!("{key}/{}", self.path) };
        self
    }
}

impl fmt::Display for InputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.path.is_empty() {
            write!(f, "inputs/{}: ", self.path)?;
        }
        f.write_str(&self.message)
    }
}

impl std::error::Error for InputError {}

struct Listed<'a>(&'a [&'a str]);

impl fmt::Display for Listed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, name) in self.0.iter().enumerate() {
            write!(f, "{}`{name}`", if i == 0 { "" } else { ", " })?;
        }
        Ok(())
    }
}

/// A value as an error shows it: short.
fn shown(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Array(items) => format!("a list of {}", items.len()),
        Value::Object(_) => "an object".to_owned(),
        other => {
            let text = other.to_string();
            if text.chars().count() <= 60 { text } else { format!("{}…", text.chars().take(60).collect::<String>()) }
        }
    }
}

fn want(what: &str, value: &Value) -> InputError {
    InputError::new(format!("want {what}, got {}", shown(value)))
}

/// The inputs of one call, or the fields of a struct among them.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Inputs {
    fields: Object,
    taken: Vec<&'static str>,
}

impl Inputs {
    /// From a JSON object; null counts as an empty one.
    ///
    /// # Errors
    /// When `value` is something else.
    pub fn from_json(value: Value) -> Result<Inputs, InputError> {
        match value {
            Value::Object(fields) => Ok(Inputs { fields, taken: Vec::new() }),
            Value::Null => Ok(Inputs::default()),
            other => Err(want("an object", &other)),
        }
    }

    /// Removes and reads one input.
    ///
    /// # Errors
    /// When it is required and missing, or not of the type.
    pub fn take<T: ToolInput>(&mut self, name: &'static str) -> Result<T, InputError> {
        self.taken.push(name);
        match self.fields.shift_remove(name) {
            Some(value) => T::from_json(value).map_err(|error| error.at(name)),
            None => T::absent().ok_or_else(|| InputError::new("required and missing").at(name)),
        }
    }

    /// Removes and reads one input that has a default.
    ///
    /// # Errors
    /// When it is not of the type.
    pub fn take_or<T: ToolInput>(&mut self, name: &'static str, default: impl FnOnce() -> T) -> Result<T, InputError> {
        self.taken.push(name);
        match self.fields.shift_remove(name) {
            Some(value) => T::from_json(value).map_err(|error| error.at(name)),
            None => Ok(default()),
        }
    }

    /// Checks that nothing is left.
    ///
    /// # Errors
    /// Names the first input that nobody took, and those there are.
    pub fn finish(self) -> Result<(), InputError> {
        match self.fields.keys().next() {
            None => Ok(()),
            Some(unknown) if self.taken.is_empty() => Err(InputError::new("no inputs are taken here").at(unknown)),
            Some(unknown) => Err(InputError::new(format!("unknown, there are {}", Listed(&self.taken))).at(unknown)),
        }
    }

    /// Everything that is left, as JSON.
    pub fn into_json(self) -> Value {
        Value::Object(self.fields)
    }
}

macro_rules! integers {
    ($($type:ty),*) => {
        $(impl ToolInput for $type {
            fn schema() -> Value {
                json!({"type": "integer", "minimum": <$type>::MIN, "maximum": <$type>::MAX})
            }

            fn from_json(value: Value) -> Result<Self, InputError> {
                let whole = || whole_float(&value).and_then(|float| <$type>::try_from(float).ok());
                let integer = value.as_i64().map(<$type>::try_from).and_then(Result::ok);
                let unsigned = || value.as_u64().map(<$type>::try_from).and_then(Result::ok);
                integer.or_else(unsigned).or_else(whole).ok_or_else(|| {
                    want(&format!("an integer from {} to {}", <$type>::MIN, <$type>::MAX), &value)
                })
            }

            fn to_json(&self) -> Value {
                Value::from(*self)
            }
        })*
    };
}

integers!(i8, i16, i32, i64, isize, u8, u16, u32, u64, usize);

/// `7.0` as 7: models write whole numbers so. Only where no digit can be lost.
fn whole_float(value: &Value) -> Option<i64> {
    const EXACT: f64 = 9_007_199_254_740_992.0; // 2^53
    let float = value.as_f64().filter(|f| f.fract() == 0.0 && f.abs() <= EXACT)?;
    #[expect(clippy::cast_possible_truncation, reason = "whole and at most 2^53, checked above")]
    Some(float as i64)
}

impl ToolInput for f64 {
    fn schema() -> Value {
        json!({"type": "number"})
    }

    fn from_json(value: Value) -> Result<Self, InputError> {
        value.as_f64().ok_or_else(|| want("a number", &value))
    }

    fn to_json(&self) -> Value {
        Value::from(*self)
    }
}

impl ToolInput for f32 {
    fn schema() -> Value {
        f64::schema()
    }

    fn from_json(value: Value) -> Result<Self, InputError> {
        let wide = f64::from_json(value)?;
        #[expect(clippy::cast_possible_truncation, reason = "rounding is what f32 means; infinity is refused")]
        let narrow = wide as f32;
        if narrow.is_finite() { Ok(narrow) } else { Err(InputError::new(format!("{wide} is too large for 32 bits"))) }
    }

    fn to_json(&self) -> Value {
        Value::from(*self)
    }
}

impl ToolInput for bool {
    fn schema() -> Value {
        json!({"type": "boolean"})
    }

    fn from_json(value: Value) -> Result<Self, InputError> {
        value.as_bool().ok_or_else(|| want("true or false", &value))
    }

    fn to_json(&self) -> Value {
        Value::from(*self)
    }
}

impl ToolInput for String {
    fn schema() -> Value {
        json!({"type": "string"})
    }

    fn from_json(value: Value) -> Result<Self, InputError> {
        match value {
            Value::String(text) => Ok(text),
            other => Err(want("a string", &other)),
        }
    }

    fn to_json(&self) -> Value {
        Value::from(self.as_str())
    }
}

impl ToolInput for char {
    fn schema() -> Value {
        json!({"type": "string", "minLength": 1, "maxLength": 1})
    }

    fn from_json(value: Value) -> Result<Self, InputError> {
        value.as_str().and_then(|text| text.parse().ok()).ok_or_else(|| want("one character", &value))
    }

    fn to_json(&self) -> Value {
        Value::from(self.to_string())
    }
}

impl ToolInput for Value {
    fn schema() -> Value {
        json!({})
    }

    fn from_json(value: Value) -> Result<Self, InputError> {
        Ok(value)
    }

    fn to_json(&self) -> Value {
        self.clone()
    }
}

impl ToolInput for Object {
    fn schema() -> Value {
        json!({"type": "object"})
    }

    fn from_json(value: Value) -> Result<Self, InputError> {
        match value {
            Value::Object(object) => Ok(object),
            other => Err(want("an object", &other)),
        }
    }

    fn to_json(&self) -> Value {
        Value::Object(self.clone())
    }
}

impl<T: ToolInput> ToolInput for Option<T> {
    fn schema() -> Value {
        crate::schema::nullable(T::schema())
    }

    fn from_json(value: Value) -> Result<Self, InputError> {
        if value.is_null() { Ok(None) } else { T::from_json(value).map(Some) }
    }

    fn to_json(&self) -> Value {
        self.as_ref().map_or(Value::Null, T::to_json)
    }

    fn absent() -> Option<Self> {
        Some(None)
    }
}

impl<T: ToolInput> ToolInput for Box<T> {
    fn schema() -> Value {
        T::schema()
    }

    fn from_json(value: Value) -> Result<Self, InputError> {
        T::from_json(value).map(Box::new)
    }

    fn to_json(&self) -> Value {
        T::to_json(self)
    }

    fn absent() -> Option<Self> {
        T::absent().map(Box::new)
    }
}

impl<T: ToolInput> ToolInput for Vec<T> {
    fn schema() -> Value {
        json!({"type": "array", "items": T::schema()})
    }

    fn from_json(value: Value) -> Result<Self, InputError> {
        let Value::Array(items) = value else {
            return Err(want("a list", &value));
        };
        let read = |(i, item)| T::from_json(item).map_err(|error: InputError| error.at(&format!("{i}")));
        items.into_iter().enumerate().map(read).collect()
    }

    fn to_json(&self) -> Value {
        self.iter().map(T::to_json).collect()
    }
}

fn entries<T: ToolInput>(value: Value) -> Result<Vec<(String, T)>, InputError> {
    let Value::Object(fields) = value else {
        return Err(want("an object", &value));
    };
    let read = |(key, value): (String, Value)| match T::from_json(value) {
        Ok(value) => Ok((key, value)),
        Err(error) => Err(error.at(&key)),
    };
    fields.into_iter().map(read).collect()
}

impl<T: ToolInput, S: BuildHasher + Default> ToolInput for HashMap<String, T, S> {
    fn schema() -> Value {
        json!({"type": "object", "additionalProperties": T::schema()})
    }

    fn from_json(value: Value) -> Result<Self, InputError> {
        entries(value).map(|entries| entries.into_iter().collect())
    }

    fn to_json(&self) -> Value {
        // By key, so that a descriptor is the same each time it is asked for.
        let sorted: BTreeMap<_, _> = self.iter().map(|(key, value)| (key.clone(), value.to_json())).collect();
        Value::Object(sorted.into_iter().collect())
    }
}

impl<T: ToolInput> ToolInput for BTreeMap<String, T> {
    fn schema() -> Value {
        json!({"type": "object", "additionalProperties": T::schema()})
    }

    fn from_json(value: Value) -> Result<Self, InputError> {
        entries(value).map(|entries| entries.into_iter().collect())
    }

    fn to_json(&self) -> Value {
        Value::Object(self.iter().map(|(key, value)| (key.clone(), value.to_json())).collect())
    }
}
