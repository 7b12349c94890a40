//! References survive being moved.

use super::*;

#[test]
fn references_follow_a_moved_schema() {
    let inputs = json!({"type": "object", "$id": "x", "$defs": {"n": {"type": "integer"}},
                        "properties": {"a": {"$ref": "#/$defs/n"}, "$ref": {"type": "string"}, "self": {"$ref": "#"}}});
    let whole = reply(vec![choice("other", &json!({"type": "object"})), choice("t", &inputs)]);
    let target = whole.pointer("/properties/choices/items/anyOf/1/properties/inputs/properties/a/$ref").unwrap();
    let pointer = target.as_str().unwrap().strip_prefix('#').unwrap();
    assert_eq!(whole.pointer(pointer), Some(&json!({"type": "integer"})));
    let own = whole.pointer("/properties/choices/items/anyOf/1/properties/inputs").unwrap();
    assert_eq!(own.get("$id"), None);
    assert!(own.pointer("/properties/$ref/type").is_some());
    let top = own.pointer("/properties/self/$ref").unwrap().as_str().unwrap().strip_prefix('#').unwrap();
    assert_eq!(whole.pointer(top), Some(own));
}
