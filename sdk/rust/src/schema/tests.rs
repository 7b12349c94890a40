//! Schemas as the host and the models read them.

use std::collections::HashMap;

use super::*;

#[test]
fn optional_inputs_may_be_null() {
    assert_eq!(Option::<String>::schema(), json!({"type": ["string", "null"]}));
    assert_eq!(Option::<Option<bool>>::schema(), json!({"type": ["boolean", "null"]}));
    assert_eq!(nullable(enum_schema("", &[("a", "")])), json!({"type": ["string", "null"], "enum": ["a", null]}));
}

#[test]
fn integers_carry_their_bounds() {
    assert_eq!(u8::schema(), json!({"type": "integer", "minimum": 0, "maximum": 255}));
    assert_eq!(u64::schema()["maximum"], json!(u64::MAX));
}

#[test]
fn collections_describe_their_items() {
    assert_eq!(Vec::<f64>::schema(), json!({"type": "array", "items": {"type": "number"}}));
    let map = HashMap::<String, bool>::schema();
    assert_eq!(map, json!({"type": "object", "additionalProperties": {"type": "boolean"}}));
}

#[test]
fn values_of_an_enum_explain_themselves() {
    let schema = enum_schema("How.", &[("sum", "Adds up."), ("mean", ""), ("max", "Largest")]);
    assert_eq!(schema["description"], "How. `sum`: Adds up; `max`: Largest.");
}

#[test]
fn whole_floats_are_integers_and_nothing_else_is() {
    assert_eq!(i32::from_json(json!(7.0)), Ok(7));
    assert_eq!(u64::from_json(json!(u64::MAX)), Ok(u64::MAX));
    for bad in [json!(7.5), json!("7"), json!(3_000_000_000_i64), json!(null), json!(1e300)] {
        assert!(i32::from_json(bad.clone()).is_err(), "{bad}");
    }
    assert!(u8::from_json(json!(-1)).is_err());
}

#[test]
fn errors_point_into_the_inputs() {
    let error = Vec::<HashMap<String, u8>>::from_json(json!([{"a": 1}, {"b/c": 300}])).unwrap_err().at("counts");
    assert_eq!(error.to_string(), "inputs/counts/1/b~1c: want an integer from 0 to 255, got 300");
}
