//! What a manifest may say, and how it is told what is wrong.

use std::path::Path;

use super::*;

fn parse(source: &str) -> Result<Manifest, String> {
    Manifest::parse(Path::new("web.toml"), source)
}

#[test]
fn everything_of_the_contract_parses() {
    let manifest = parse(
        r#"
        name = "web-fetch"
        version = "0.1.0"
        description = "…"
        [wants]
        http = [{ host = "api.example.com", methods = ["GET"], paths = ["/v1/*"] }]
        files = [{ guest = "/data", access = "read" }, { guest = "/out", access = "write" }]
        env = ["TZ"]
        secrets = [{ name = "EXAMPLE_TOKEN", host = "api.example.com", header = "authorization", prefix = "Bearer " }]
        model = true
        environment = true
        conversation = true
        [limits]
        memory = "128MiB"
        "#,
    )
    .unwrap();
    assert_eq!(manifest.name.unwrap().as_str(), "web-fetch");
    let wants = manifest.wants.unwrap();
    assert_eq!(wants.files.iter().map(|f| f.access).collect::<Vec<_>>(), [Access::Read, Access::Write]);
    assert!(wants.model && wants.environment && wants.conversation);
    assert_eq!(wants.secrets[0].prefix.as_deref(), Some("Bearer "));
    assert_eq!(manifest.limits.memory.unwrap().0, 128 << 20);
}

#[test]
fn an_empty_one_wants_nothing_and_limits_nothing() {
    assert_eq!(parse("").unwrap(), Manifest::default());
    assert_eq!(parse("[wants]").unwrap().wants, Some(Wants::default()));
}

#[test]
fn unknown_keys_are_errors_with_place() {
    for (source, expected) in [
        ("nam = \"x\"", "web.toml:1:1: unknown key `nam`; did you mean `name`?"),
        ("\n[want]", "web.toml:2:2: unknown key `want`; did you mean `wants`?"),
        ("[wants]\nhtpp = []", "web.toml:2:1: unknown key `htpp`; did you mean `http`?"),
        ("[limits]\nmemroy = 1", "web.toml:2:1: unknown key `memroy`; did you mean `memory`?"),
    ] {
        assert_eq!(parse(source).unwrap_err(), expected);
    }
    let inner = parse("[wants]\nfiles = [{ guest = \"/a\", acces = \"read\" }]").unwrap_err();
    assert!(inner.starts_with("web.toml:2:") && inner.contains("did you mean `access`?"), "{inner}");
}

#[test]
fn names_that_mislead_are_errors() {
    assert!(parse("name = \"a\\u202eb\"").unwrap_err().contains("shown safely"));
    assert!(parse("name = \" a\"").is_err());
    assert!(parse("name = \"a/b\"").unwrap_err().contains("plugin name"));
    assert!(parse("name = \"\"").is_err());
    assert!(parse("name = \"a\\u001bb\"").is_err());
}
