//! Refusals at load, coercion, defaults, complaints.

use super::*;
use serde_json::json;

fn schema(value: Value) -> InputSchema {
    InputSchema::new(value).unwrap()
}

fn complete(s: &InputSchema, inputs: Value) -> Result<Value, Vec<String>> {
    s.complete(inputs.as_object().cloned().unwrap())
        .map(Value::Object)
        .map_err(|c| c.iter().map(ToString::to_string).collect())
}

#[test]
fn untrusted_schemas_are_refused() {
    let refused = |v: Value| InputSchema::new(v).unwrap_err();
    assert_eq!(refused(json!(true)), SchemaError::NotAnObject);
    assert_eq!(refused(json!({"type": "array"})), SchemaError::NotAnObject);
    for target in ["http://x/y.json", "file:///etc/passwd", "other.json#/a"] {
        let s = json!({"type": "object", "properties": {"a": {"$ref": target}}});
        assert_eq!(refused(s), SchemaError::RemoteReference(target.into()));
    }
    assert!(matches!(
        refused(json!({"type": "object", "properties": {"a": {"pattern": "(?=x)"}}})),
        SchemaError::Invalid(_)
    ));
    assert!(matches!(
        refused(json!({"type": "object", "properties": {"a": {"type": "nonsense"}}})),
        SchemaError::Invalid(_)
    ));
    let wide: Map<String, Value> = (0..2_000).map(|i| (format!("p{i}"), json!({}))).collect();
    assert!(matches!(refused(json!({"type": "object", "properties": wide})), SchemaError::TooManyNodes(_)));
    let mut deep = json!({"type": "object"});
    for _ in 0..8 {
        deep = json!({"type": "object", "properties": {"a": deep}});
    }
    assert!(matches!(refused(deep), SchemaError::TooDeep(_)));
}

#[test]
fn coercion_is_lossless() {
    let s = schema(json!({"type": "object", "properties": {
        "n": {"type": "integer"}, "x": {"type": "number"}, "b": {"type": "boolean"}, "s": {"type": "string"},
        "l": {"type": "array", "items": {"type": "integer"}}}}));
    assert_eq!(
        complete(&s, json!({"n": "7", "x": "2.5", "b": "true", "s": 7, "l": ["1", 2.0]})).unwrap(),
        json!({"n": 7, "x": 2.5, "b": true, "s": "7", "l": [1, 2]})
    );
    assert!(complete(&s, json!({"n": "7.5"})).is_err());
    assert!(complete(&s, json!({"n": "seven"})).is_err());
    assert_eq!(complete(&s, json!({"l": "[1,2]", "n": null})).unwrap(), json!({"l": [1, 2]}));
}

#[test]
fn defaults_fill_and_references_are_followed() {
    let s = schema(
        json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/A"}, "k": {"type": "integer", "default": 3}},
        "$defs": {"A": {"type": "object", "properties": {"u": {"type": "integer", "default": 1}}}}}),
    );
    assert_eq!(complete(&s, json!({"a": {}})).unwrap(), json!({"a": {"u": 1}, "k": 3}));
}

#[test]
fn complaints_carry_pointers_and_unknown_fields_are_complaints() {
    let s = schema(
        json!({"type": "object", "properties": {"a": {"type": "object", "properties": {"n": {"type": "integer"}},
        "required": ["n"]}}, "required": ["a"]}),
    );
    assert!(complete(&s, json!({"a": {"n": true}})).unwrap_err()[0].starts_with("inputs/a/n: "));
    assert!(complete(&s, json!({"a": {"n": 1, "zz": 1}})).unwrap_err()[0].starts_with("inputs/a: "));
    assert!(complete(&s, json!({})).unwrap_err()[0].starts_with("inputs: "));
    let open = schema(json!({"type": "object", "properties": {"a": {}}, "additionalProperties": true}));
    assert!(complete(&open, json!({"zz": 1})).is_ok());
    assert!(complete(&schema(json!({"type": "object"})), json!({"zz": 1})).is_ok());
}

#[test]
fn no_inputs_are_needed_when_nothing_is_named() {
    assert!(schema(json!({"type": "object"})).needs_no_inputs());
    assert!(!schema(json!({"type": "object", "properties": {"a": {}}})).needs_no_inputs());
}

#[test]
fn references_that_multiply_are_refused_and_trees_are_not() {
    let mut defs = Map::new();
    for i in 0..30 {
        let next = json!({"$ref": format!("#/$defs/a{}", i + 1)});
        defs.insert(format!("a{i}"), json!({"allOf": [next, next]}));
    }
    defs.insert("a30".to_owned(), json!({"type": "integer"}));
    let bomb = json!({"type": "object", "properties": {"x": {"$ref": "#/$defs/a0"}}, "$defs": defs});
    assert_eq!(InputSchema::new(bomb).unwrap_err(), SchemaError::TooCostly);
    let endless =
        json!({"type": "object", "properties": {"x": {"$ref": "#/$defs/a"}}, "$defs": {"a": {"$ref": "#/$defs/a"}}});
    assert_eq!(InputSchema::new(endless).unwrap_err(), SchemaError::TooCostly);
    let twice =
        json!({"anyOf": [{"properties": {"n": {"$ref": "#/$defs/t"}}}, {"properties": {"n": {"$ref": "#/$defs/t"}}}]});
    let doubling = json!({"type": "object", "properties": {"x": {"$ref": "#/$defs/t"}}, "$defs": {"t": twice}});
    assert_eq!(InputSchema::new(doubling).unwrap_err(), SchemaError::TooCostly);
    let tree = json!({"type": "object", "properties": {"left": {"$ref": "#/$defs/t"}, "right": {"$ref": "#/$defs/t"}},
        "$defs": {"t": {"anyOf": [{"type": "integer"}, {"type": "object", "properties": {
            "left": {"$ref": "#/$defs/t"}, "right": {"$ref": "#/$defs/t"}}}]}}});
    assert!(InputSchema::new(tree).is_ok());
}

#[test]
fn defaults_cannot_blow_inputs_up() {
    let s = schema(json!({"type": "object", "properties": {"a": {"type": "array", "items": {"type": "object",
        "properties": {"x": {"type": "string", "default": "y".repeat(20_000)}}}}}}));
    let many = json!({"a": vec![json!({}); 1000]});
    assert!(complete(&s, many).unwrap_err()[0].contains("defaults would add"));
    assert!(complete(&s, json!({"a": [{}, {}]})).is_ok());
}
