//! Whole queries through a real host: `cases/session/NAME/case.toml` (plugins, configuration, questions, scripted
//! replies) → `events.jsonl`, with ids, times and durations made stable.

use std::path::Path;

use elysia_host::{Host, HostConfig, ModelChoice, PluginDir, QueryOptions, Session, SessionChoice};
use libtest_mimic::{Failed, Trial};
use serde::Deserialize;
use serde_json::Value;

use crate::{cases, guests};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    /// What the case claims, one sentence.
    #[expect(dead_code, reason = "for the reader of the case; it must be there")]
    claim: String,
    /// Plugins made from text: file stem → kind.
    plugins: Vec<CasePlugin>,
    /// `[limits]`, `[tree]`, `[agent]`, `[grants]` as in elysia.toml.
    #[serde(default)]
    config: CaseConfig,
    /// One query each, in one session.
    questions: Vec<String>,
    /// Replies of the scripted model, JSON each; none means the embedded agent.
    #[serde(default)]
    replies: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CasePlugin {
    /// File stem, and the name of its one tool, a puppet.
    name: String,
    #[serde(default)]
    description: Option<String>,
    /// As in the WIT: 0 none, 1 reads, 2 writes, 3 destructive.
    #[serde(default)]
    effects: u8,
    #[serde(default)]
    manifest: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct CaseConfig {
    limits: elysia_host::LimitSettings,
    tree: elysia_host::TreeConfig,
    grants: indexmap::IndexMap<String, elysia_host::Grant>,
}

/// One trial per folder of `cases/session`.
///
/// # Panics
/// When there is none.
pub fn trials() -> Vec<Trial> {
    let mut folders: Vec<_> =
        std::fs::read_dir(cases::folder("session")).unwrap().map(|entry| entry.unwrap().path()).collect();
    folders.retain(|path| path.is_dir());
    folders.sort();
    assert!(!folders.is_empty(), "cases/session has no folders");
    let trial = |path: std::path::PathBuf| {
        let name = format!("session/{}", path.file_name().unwrap().to_string_lossy());
        Trial::test(name, move || run(&path).map_err(Failed::from))
    };
    folders.into_iter().map(trial).collect()
}

fn run(folder: &Path) -> Result<(), String> {
    let text = std::fs::read_to_string(folder.join("case.toml")).map_err(|e| e.to_string())?;
    let case: Case = toml::from_str(&text).map_err(|e| e.to_string())?;
    let events = tokio::runtime::Runtime::new().unwrap().block_on(play(case))?;
    let answer = folder.join("events.jsonl");
    if cases::blessing() {
        return std::fs::write(answer, events).map_err(|e| e.to_string());
    }
    let expected = std::fs::read_to_string(&answer).unwrap_or_default();
    if expected == events { Ok(()) } else { Err(cases::difference(&expected, &events)) }
}

async fn play(case: Case) -> Result<String, String> {
    let dir = tempfile::tempdir().unwrap();
    let plugins = dir.path().join("plugins");
    std::fs::create_dir(&plugins).unwrap();
    for plugin in &case.plugins {
        let description = plugin.description.as_deref().unwrap_or("Does what its inputs say.");
        let mut tool = guests::Tool::new(&plugin.name, description);
        tool.effects = plugin.effects;
        std::fs::write(plugins.join(format!("{}.wasm", plugin.name)), guests::puppet_with(tool)).unwrap();
        if let Some(manifest) = &plugin.manifest {
            std::fs::write(plugins.join(format!("{}.toml", plugin.name)), manifest).unwrap();
        }
    }
    let mut config = HostConfig::local(dir.path().to_owned());
    config.plugin_dirs.push(PluginDir { path: plugins, explicit: true });
    (config.limits, config.tree, config.grants) = (case.config.limits, case.config.tree, case.config.grants);
    if !case.replies.is_empty() {
        let script = dir.path().join("script.jsonl");
        std::fs::write(&script, case.replies.join("\n")).unwrap();
        config.model = ModelChoice::Scripted(script);
    }
    let host = Host::open(config).await.map_err(|e| e.to_string())?;
    let session = host.session(SessionChoice::New).await.map_err(|e| e.to_string())?;
    let mut lines = String::new();
    for question in &case.questions {
        lines.push_str(&ask(&session, question).await?);
    }
    Ok(stable(&lines.replace(&*dir.path().to_string_lossy(), "DIR")))
}

async fn ask(session: &Session, question: &str) -> Result<String, String> {
    let mut query = session.ask(question, QueryOptions::default()).await.map_err(|e| e.to_string())?;
    let mut lines = String::new();
    while let Some(event) = query.next().await {
        let mut json = event.to_json();
        for key in ["at", "ms"] {
            json.as_object_mut().unwrap().shift_remove(key);
        }
        if let Some(Value::String(model)) = json.get_mut("model")
            && model.starts_with("scripted")
        {
            *model = "scripted".to_owned();
        }
        lines.push_str(&format!("{json}\n"));
    }
    Ok(lines)
}

/// Ids in the order of their first appearance.
fn stable(lines: &str) -> String {
    let mut out = String::new();
    let mut known: Vec<String> = Vec::new();
    let mut rest = lines;
    while let Some(i) = (0..rest.len()).find(|i| rest.is_char_boundary(*i) && is_uuid(&rest[*i..])) {
        let (before, from) = rest.split_at(i);
        let (id, after) = from.split_at(36);
        let n = known.iter().position(|k| k == id).unwrap_or_else(|| {
            known.push(id.to_owned());
            known.len() - 1
        });
        out.push_str(&format!("{before}id{}", n + 1));
        rest = after;
    }
    out + rest
}

fn is_uuid(text: &str) -> bool {
    text.len() >= 36
        && text.bytes().take(36).enumerate().all(|(i, b)| match i {
            8 | 13 | 18 | 23 => b == b'-',
            _ => b.is_ascii_hexdigit() && !b.is_ascii_uppercase(),
        })
}
