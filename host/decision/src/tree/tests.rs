//! Views of a tree for people and front ends.

use elysia_types::{Effects, InputSchema, Placement};

use super::*;
use crate::config::{BranchConfig, ToolConfig};

fn entry(name: &str, branch: Option<&str>, after: &[&str]) -> ToolEntry {
    let schema = json!({"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]});
    let placement = Placement {
        branch: branch.map(|b| b.parse().unwrap()),
        after: after.iter().map(|a| a.parse().unwrap()).collect(),
    };
    let descriptor = ToolDescriptor {
        name: name.parse().unwrap(),
        title: None,
        description: format!("does {name}"),
        input_schema: schema.clone(),
        output_schema: None,
        examples: Vec::new(),
        effects: Effects::Reads,
        idempotent: true,
        may_end: true,
        status: None,
        placement: Some(placement),
        checks_availability: false,
        runs_unchosen: false,
        annotations: Vec::new(),
    };
    let schema = Arc::new(InputSchema::new(schema).unwrap());
    ToolEntry { descriptor: Arc::new(descriptor), schema, plugin: "demo".parse().unwrap() }
}

fn config() -> TreeConfig {
    let mut config = TreeConfig { instruction: Some("Go.".to_owned()), ..TreeConfig::default() };
    let branch = |under: Option<&str>, text: &str| BranchConfig {
        under: under.map(str::to_owned),
        description: text.to_owned(),
        instruction: None,
    };
    config.branches.insert("web_search".to_owned(), branch(None, "looks outside"));
    config.branches.insert("deep".to_owned(), branch(Some("web_search"), "looks further"));
    config.tools.insert("top".to_owned(), ToolConfig { unchosen: true, ..ToolConfig::default() });
    config
}

fn tree() -> Arc<Tree> {
    let tools = vec![
        entry("top", None, &[]),
        entry("find", Some("web_search"), &[]),
        entry("dig", Some("deep"), &[]),
        entry("refine", None, &["find"]),
    ];
    let (tree, warnings) = Tree::build(&config(), tools).unwrap();
    assert_eq!(warnings, Vec::<String>::new());
    tree
}

#[test]
fn json_has_elysias_shape_and_our_fields() {
    let json = tree().to_json();
    assert_eq!(json["name"], "Base");
    assert_eq!(json["instruction"], "Go.");
    let search = &json["options"]["web_search"];
    assert_eq!(
        (&search["name"], &search["branch"], &search["reasoning"]),
        (&json!("Web search"), &json!(true), &json!(""))
    );
    assert_eq!(search["options"]["deep"]["options"]["dig"]["branch"], false);
    let refine = &json["options"]["refine"];
    assert_eq!(
        (&refine["after"], &refine["plugin"], &refine["may_end"]),
        (&json!(["find"]), &json!("demo"), &json!(true))
    );
    assert_eq!(json["options"]["top"]["unchosen"], true);
}

#[test]
fn text_shows_branches_tools_and_conditions() {
    let expected = "\
base
├─ web_search — looks outside
│  ├─ deep — looks further
│  │  └─ dig (demo) — does dig
│  └─ find (demo) — does find
├─ top (demo) unchosen — does top
└─ refine (demo) after find — does refine
";
    assert_eq!(tree().render(), expected);
}

#[test]
fn levels_and_reach_are_counted() {
    let tree = tree();
    assert_eq!(tree.levels(), 2);
    assert_eq!(tree.branch(tree.root()).unwrap().below.len(), 3);
    assert_eq!(tree.sequels().len(), 1);
}
