//! Each limit from both sides, and schemas that are not taken.

use elysia_types::Effects;
use serde_json::{Value, json};

use super::*;

fn tool(name: &str, description: &str, schema: Value) -> ToolDescriptor {
    ToolDescriptor {
        name: name.parse().unwrap(),
        title: None,
        description: description.to_owned(),
        input_schema: schema,
        output_schema: None,
        examples: Vec::new(),
        effects: Effects::None,
        idempotent: true,
        may_end: false,
        status: None,
        placement: None,
        checks_availability: false,
        runs_unchosen: false,
        annotations: Vec::new(),
    }
}

fn plain(name: &str) -> ToolDescriptor {
    tool(name, "d", json!({"type": "object"}))
}

fn checked(descriptors: Vec<ToolDescriptor>, limits: &Limits) -> Result<Checked, RefusedTool> {
    check(&"my plugin".parse().unwrap(), descriptors, limits)
}

#[test]
fn as_many_tools_as_allowed_and_no_more() {
    let limits = Limits { tools: 3, ..Limits::default() };
    let some = |n: usize| (0..n).map(|i| plain(&format!("t{i}"))).collect();
    assert_eq!(checked(some(3), &limits).unwrap().tools.len(), 3);
    let refused = checked(some(4), &limits).unwrap_err();
    assert_eq!(refused.reason, "plugin `my plugin`: `limits.tools` is 3, observed 4");
    assert_eq!(refused.hint.unwrap(), r#"set `limits = { tools = 4 }` under `[grants."my plugin"]` in elysia.toml"#);
    assert!(checked(Vec::new(), &limits).unwrap_err().reason.contains("no tools"));
}

#[test]
fn sizes_up_to_the_limit_and_no_more() {
    let limits = Limits::default();
    let long = |n: usize| vec![tool("t", &"d".repeat(n), json!({"type": "object"}))];
    assert!(checked(long(2048), &limits).is_ok());
    let refused = checked(long(2049), &limits).unwrap_err();
    assert_eq!(refused.reason, "plugin `my plugin` at its tool `t`: `limits.description` is 2 KiB, observed 2049 B");
    let empty = json!({"type": "object", "description": ""}).to_string().len();
    let schema = |n: usize| vec![tool("t", "d", json!({"type": "object", "description": "x".repeat(n)}))];
    assert!(checked(schema(32 * 1024 - empty), &limits).is_ok());
    assert!(checked(schema(32 * 1024 - empty + 1), &limits).unwrap_err().reason.contains("`limits.schema` is 32 KiB"));
    let mut output = plain("t");
    output.output_schema = Some(json!("x".repeat(33 * 1024)));
    assert!(checked(vec![output], &limits).is_err());
    let one = serde_json::to_vec(&plain("t")).unwrap().len() as u64;
    assert!(checked(vec![plain("t")], &Limits { descriptors: one, ..Limits::default() }).is_ok());
    let refused = checked(vec![plain("t")], &Limits { descriptors: one - 1, ..Limits::default() }).unwrap_err();
    assert!(refused.reason.contains("`limits.descriptors`"), "{}", refused.reason);
}

#[test]
fn one_bad_schema_refuses_one_tool() {
    let remote = json!({"type": "object", "properties": {"a": {"$ref": "https://example.com/s.json"}}});
    let file = json!({"type": "object", "properties": {"a": {"$ref": "file:///etc/passwd"}}});
    let tools = vec![plain("a"), tool("b", "", remote), tool("c", "", file), tool("d", "", json!([])), plain("a")];
    let checked = checked(tools, &Limits::default()).unwrap();
    assert_eq!(checked.tools.len(), 1);
    let reasons: Vec<&str> = checked.refused.iter().map(|r| r.reason.as_str()).collect();
    assert!(reasons[0].contains("input schema of its tool `b` is refused") && reasons[0].contains("not local"));
    assert!(reasons[1].contains("`c`") && reasons[2].contains("`d`"));
    assert!(reasons[3].contains("describes its tool `a` twice"));
}
