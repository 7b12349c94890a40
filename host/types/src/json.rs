//! JSON from outside, parsed once, at the boundary: bounded in size and depth, no duplicate keys, no lost digits.

use std::fmt;

use serde::de::{DeserializeSeed, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// What is accepted; the same on every surface.
#[derive(Clone, Copy, Debug)]
pub struct JsonPolicy {
    /// Longest text in bytes.
    pub max_bytes: usize,
    /// Deepest nesting of arrays and objects; a scalar has depth 0. At most 127 is honoured.
    pub max_depth: usize,
}

/// Why a text was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum JsonError {
    /// Longer than allowed.
    #[error("JSON of {observed} bytes is over the limit of {limit}")]
    TooLarge {
        /// Configured, in bytes.
        limit: usize,
        /// Given, in bytes.
        observed: usize,
    },
    /// Nested deeper than allowed.
    #[error("JSON is nested {observed} deep, over the limit of {limit}")]
    TooDeep {
        /// Configured.
        limit: usize,
        /// First depth over the limit.
        observed: usize,
    },
    /// An integer outside −2⁶³…2⁶⁴−1 would lose digits.
    #[error("the integer `{0}` does not fit 64 bits; send it as a string")]
    IntegerRange(String),
    /// Not JSON, a number out of range, or an object with the same key twice.
    #[error("{0}")]
    Syntax(String),
}

/// Parses `text` as RFC 8259 JSON under `policy`.
///
/// # Errors
/// [`JsonError`] for too large or deep texts, bad syntax, duplicate keys, integers outside −2⁶³…2⁶⁴−1 and numbers
/// beyond the range of a double.
pub fn parse_json(text: &str, policy: JsonPolicy) -> Result<Value, JsonError> {
    if text.len() > policy.max_bytes {
        return Err(JsonError::TooLarge { limit: policy.max_bytes, observed: text.len() });
    }
    scan(text.as_bytes(), policy.max_depth.min(127))?;
    let mut reader = serde_json::Deserializer::from_str(text);
    let value =
        Strict.deserialize(&mut reader).map_err(|e| JsonError::Syntax(crate::text::clean_line(&e.to_string())))?;
    reader.end().map_err(|e| JsonError::Syntax(e.to_string()))?;
    Ok(value)
}

/// Depth and integer range, checked on the text: once parsed, a large integer has become a double.
fn scan(bytes: &[u8], max_depth: usize) -> Result<(), JsonError> {
    let (mut depth, mut i) = (0usize, 0usize);
    while let Some(&b) = bytes.get(i) {
        match b {
            b'"' => i = end_of_string(bytes, i),
            b'[' | b'{' => {
                depth += 1;
                if depth > max_depth {
                    return Err(JsonError::TooDeep { limit: max_depth, observed: depth });
                }
            }
            b']' | b'}' => depth = depth.saturating_sub(1),
            b'-' | b'0'..=b'9' => {
                let end = i + bytes
                    .iter()
                    .skip(i)
                    .take_while(|b| matches!(b, b'-' | b'+' | b'.' | b'e' | b'E' | b'0'..=b'9'))
                    .count();
                let token = bytes.get(i..end).and_then(|t| std::str::from_utf8(t).ok()).unwrap_or_default();
                let integer = !token.contains(['.', 'e', 'E']);
                if integer && token.parse::<i64>().is_err() && token.parse::<u64>().is_err() && token.len() > 18 {
                    return Err(JsonError::IntegerRange(crate::text::truncate(token, 80).to_owned()));
                }
                i = end - 1;
            }
            _ => {}
        }
        i += 1;
    }
    Ok(())
}

fn end_of_string(bytes: &[u8], start: usize) -> usize {
    let mut i = start + 1;
    while let Some(&b) = bytes.get(i) {
        match b {
            b'\\' => i += 1,
            b'"' => return i,
            _ => {}
        }
        i += 1;
    }
    i
}

struct Strict;

impl<'de> DeserializeSeed<'de> for Strict {
    type Value = Value;
    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }
    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }
    fn visit_bool<E>(self, v: bool) -> Result<Value, E> {
        Ok(Value::Bool(v))
    }
    fn visit_i64<E>(self, v: i64) -> Result<Value, E> {
        Ok(Value::Number(v.into()))
    }
    fn visit_u64<E>(self, v: u64) -> Result<Value, E> {
        Ok(Value::Number(v.into()))
    }
    fn visit_f64<E: serde::de::Error>(self, v: f64) -> Result<Value, E> {
        Number::from_f64(v).map(Value::Number).ok_or_else(|| E::custom("number is not finite"))
    }
    fn visit_str<E>(self, v: &str) -> Result<Value, E> {
        Ok(Value::String(v.to_owned()))
    }
    fn visit_string<E>(self, v: String) -> Result<Value, E> {
        Ok(Value::String(v))
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(Strict)? {
            list.push(item);
        }
        Ok(Value::Array(list))
    }
    fn visit_map<A: MapAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some(key) = items.next_key::<String>()? {
            let value = items.next_value_seed(Strict)?;
            if map.contains_key(&key) {
                return Err(A::Error::custom(format!("duplicate key `{}`", crate::text::truncate(&key, 80))));
            }
            map.insert(key, value);
        }
        Ok(Value::Object(map))
    }
}

#[cfg(test)]
mod tests;
