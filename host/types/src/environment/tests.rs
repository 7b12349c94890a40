//! What no case file can reach: trimming, views beside writers, restoring.

use super::*;

fn object(json: Value) -> Object {
    json.as_object().cloned().unwrap()
}

fn add(e: &mut Environment, tool: &str, name: &str, objects: &[Value]) -> Vec<String> {
    let objects = objects.iter().cloned().map(object).collect();
    let added = e.add(&tool.parse().unwrap(), &name.parse().unwrap(), Object::new(), objects, 0, u64::MAX).unwrap();
    added.refs.iter().map(ToString::to_string).collect()
}

#[test]
fn references_count_entries_from_zero_and_never_clash() {
    let mut e = Environment::default();
    assert_eq!(add(&mut e, "t", "n", &[json!({"a": 1}), json!({"a": 2})]), ["t_n_0_0", "t_n_0_1"]);
    assert_eq!(add(&mut e, "t", "n", &[json!({"a": 3})]), ["t_n_1_0"]);
    assert_eq!(add(&mut e, "t_n", "0", &[json!({"a": 1})]), ["t_n_0_0_0"]);
    assert_eq!(add(&mut e, "a", "b_c", &[json!({"a": 1})]), ["a_b_c_0_0"]);
    assert_eq!(add(&mut e, "a_b", "c", &[json!({"a": 1})]), ["a_b_c_0_0~2"]);
}

#[test]
fn a_repeat_keeps_the_first_reference_and_is_stored_as_a_stub() {
    let mut e = Environment::default();
    add(&mut e, "t", "n", &[json!({"a": 1, "b": 2}), json!({"a": 1, "b": 2})]);
    assert_eq!(add(&mut e, "t", "n", &[json!({"b": 2, "a": 1, "_REF_ID": "forged"})]), ["t_n_0_0"]);
    assert_eq!(e.to_json()["t"]["n"][1]["objects"][0], json!({"object_info": "[repeat]", "_REF_ID": "t_n_0_0"}));
    assert_eq!(add(&mut e, "t", "other", &[json!({"a": 1, "b": 2})]), ["t_other_0_0"]);
    let view = SharedEnvironment::new(e).view(None);
    assert_eq!(view.latest("t", "n").unwrap().1, [object(json!({"a": 1, "b": 2, "_REF_ID": "t_n_0_0"}))]);
}

#[test]
fn nothing_found_creates_the_keys_and_no_entry() {
    let mut e = Environment::default();
    assert!(add(&mut e, "t", "n", &[]).is_empty());
    assert_eq!(e.to_json(), json!({"t": {"n": []}}));
    assert!(e.is_empty());
    assert_eq!(e.locations().len(), 1);
}

#[test]
fn the_limit_refuses_the_whole_addition() {
    let mut e = Environment::default();
    let rows: Vec<Object> = vec![object(json!({"a": "x".repeat(100)}))];
    let refused = e.add(&"t".parse().unwrap(), &"n".parse().unwrap(), Object::new(), rows, 0, 50);
    assert!(matches!(refused, Err(EnvironmentFull { limit: 50, .. })));
    assert_eq!(e.to_json(), json!({}));
}

#[test]
fn trimming_promotes_repeats_and_never_reuses_a_reference() {
    let mut e = Environment::default();
    add(&mut e, "t", "n", &[json!({"a": 1})]);
    add(&mut e, "t", "n", &[json!({"a": 1}), json!({"a": 2})]);
    assert_eq!(e.trim(1, u64::MAX), 1);
    assert_eq!(e.object("t_n_0_0"), Some(&object(json!({"a": 1, "_REF_ID": "t_n_0_0"}))));
    assert_eq!(add(&mut e, "t", "n", &[json!({"a": 3})]), ["t_n_2_0"]);
    let again = {
        let (locations, entries) = e.stored_since(0);
        Environment::restore(locations, entries)
    };
    assert_eq!(again.to_json(), e.to_json());
    assert_eq!(again.bytes(), e.bytes());
    assert_eq!(e.trim(0, u64::MAX), 2);
    assert_eq!(
        (e.bytes(), e.contains("t_n_0_0")),
        (location_size(&"t".parse().unwrap(), &"n".parse().unwrap()) as u64, false)
    );
    assert_eq!(add(&mut e, "t", "n", &[json!({"a": 1})]), ["t_n_3_0"]);
}

#[test]
fn a_view_does_not_see_what_came_later() {
    let shared = SharedEnvironment::default();
    shared.write(|e| add(e, "t", "n", &[json!({"a": 1})]));
    let view = shared.view(None);
    shared.write(|e| add(e, "t", "n", &[json!({"a": 2})]));
    shared.write(|e| add(e, "u", "n", &[json!({"a": 2})]));
    assert_eq!(view.locations().len(), 1);
    assert!(view.get("t", "n", 1).is_none());
    assert!(view.object("t_n_1_0", &HashSet::new()).is_none());
    assert!(view.object("t_n_1_0", &["t_n_1_0".parse().unwrap()].into()).is_some());
    assert!(shared.view(Some(["u".parse().unwrap()].into())).get("t", "n", 0).is_none());
}

#[test]
fn an_object_that_looks_like_a_stub_is_an_object() {
    let mut e = Environment::default();
    assert_eq!(add(&mut e, "t", "n", &[json!({"object_info": "[repeat]"})]), ["t_n_0_0"]);
    let (locations, entries) = e.stored_since(0);
    let mut again = Environment::restore(locations, entries);
    assert!(again.contains("t_n_0_0"));
    assert_eq!((again.trim(0, u64::MAX), again.contains("t_n_0_0")), (1, false));
}

#[test]
fn keys_without_objects_count_too() {
    let mut e = Environment::default();
    let refused = (0..10).find(|i| {
        let name = format!("{i:0100}").parse().unwrap();
        e.add(&"t".parse().unwrap(), &name, Object::new(), Vec::new(), 0, 500).is_err()
    });
    assert_eq!(refused, Some(4));
    let version = e.version();
    assert!(e.stored_since(version).0.is_empty());
}
