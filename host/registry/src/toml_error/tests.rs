//! Places, near keys, far keys, and errors that are not about keys.

use super::*;

#[derive(Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "only its shape matters")]
struct Config {
    #[serde(default)]
    grants: std::collections::BTreeMap<String, Inner>,
    #[serde(default)]
    agent: Option<Inner>,
}

#[derive(Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "only its shape matters")]
struct Inner {
    style: Option<String>,
    end_goal: Option<String>,
}

fn explain(source: &str) -> String {
    let error = toml::from_str::<Config>(source).unwrap_err();
    toml_error(Path::new("elysia.toml"), source, &error, &["grants", "agent", "models"])
}

#[test]
fn unknown_keys_name_place_and_nearest() {
    assert_eq!(explain("# über\n\n[grnats.x]\n"), "elysia.toml:3:2: unknown key `grnats`; did you mean `grants`?");
    assert_eq!(
        explain("[agent]\nstyle = \"s\"\n  endgoal = \"x\"\n"),
        "elysia.toml:3:3: unknown key `endgoal`; did you mean `end_goal`?"
    );
    assert_eq!(explain("grants = {}\nquux = 1\n"), "elysia.toml:2:1: unknown key `quux`; known here: grants, agent");
    assert_eq!(explain("[agent]\nmodles = 1\n"), "elysia.toml:2:1: unknown key `modles`; did you mean `models`?");
}

#[test]
fn columns_count_characters() {
    assert!(explain("grants = { \"ü\" = { é = 1 } }").starts_with("elysia.toml:1:"));
    assert_eq!(
        explain("grants = { \"ü\" = { stile = 1 } }"),
        "elysia.toml:1:20: unknown key `stile`; did you mean `style`?"
    );
}

#[test]
fn other_errors_keep_their_words_in_one_clean_line() {
    let text = explain("[agent]\nstyle = 7\n");
    assert!(text.starts_with("elysia.toml:2:9: invalid type: integer `7`"), "{text}");
    let text = explain("[agent\n");
    assert!(text.starts_with("elysia.toml:1:") && !text.contains('\n'), "{text}");
    let text = explain("\"a\\u001b[31mb\" = 1\n");
    assert!(!text.contains('\u{1b}'), "{text}");
}

#[test]
fn nearest_takes_slips_and_leaves_strangers() {
    let known = ["grants", "models", "plugins"];
    assert_eq!(nearest("grant", &known), Some("grants"));
    assert_eq!(nearest("garnts", &known), Some("grants"));
    assert_eq!(nearest("pluigns", &known), Some("plugins"));
    assert_eq!(nearest("store", &known), None);
    assert_eq!(nearest("", &known), None);
    assert_eq!(nearest(&"x".repeat(10_000), &known), None);
}
