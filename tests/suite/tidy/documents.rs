//! What documents promise: links that lead somewhere, an open changelog, a full glossary, a true code map.

use super::{Checkout, File};

/// Words with one meaning here; each is a `**word**` entry of the glossary.
const GLOSSARY: [&str; 24] = [
    "plugin",
    "component",
    "guest",
    "host",
    "tool",
    "descriptor",
    "call",
    "tree",
    "branch",
    "option",
    "offer",
    "decision",
    "environment",
    "entry",
    "object",
    "yield",
    "query",
    "session",
    "grant",
    "policy",
    "limit",
    "budget",
    "trap",
    "event",
];

const MAX_ARCHITECTURE_LINES: usize = 200;

/// Every relative link names a file or folder of the project, and its anchor a heading there.
pub(super) fn links(checkout: &Checkout) -> Vec<String> {
    let mut complaints = Vec::new();
    for file in checkout.under("", ".md") {
        for target in prose(file).flat_map(|line| link_targets(line).collect::<Vec<_>>()) {
            if target.contains("://") || target.starts_with("mailto:") {
                continue;
            }
            let (path, anchor) = target.split_once('#').map_or((target, None), |(p, a)| (p, Some(a)));
            let full = if path.is_empty() { file.path.clone() } else { resolve(&file.path, path) };
            if !checkout.has(&full) {
                complaints.push(format!("{}: `{target}` leads nowhere", file.path));
                continue;
            }
            let there = checkout.under(&full, "").find(|f| f.path == full);
            if let (Some(anchor), Some(there)) = (anchor, there)
                && !prose(there).any(|line| slug(line).as_deref() == Some(anchor))
            {
                complaints.push(format!("{}: `{target}`: no such heading", file.path));
            }
        }
    }
    complaints
}

/// Lines outside code fences.
fn prose(file: &File) -> impl Iterator<Item = &str> {
    let mut fenced = false;
    file.lines().filter(move |line| {
        let fence = line.trim_start().starts_with("```");
        fenced ^= fence;
        !fenced && !fence
    })
}

fn link_targets(line: &str) -> impl Iterator<Item = &str> {
    let inline = line.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let reference = line.strip_prefix('[').and_then(|rest| rest.split_once("]: ")).map(|(_, target)| target.trim());
    inline.chain(reference).map(|target| target.split_whitespace().next().unwrap_or_default())
}

fn resolve(from: &str, target: &str) -> String {
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            name => parts.push(name),
        }
    }
    parts.join("/")
}

/// The anchor a heading gets.
fn slug(line: &str) -> Option<String> {
    let heading = line.strip_prefix('#')?.trim_start_matches('#').strip_prefix(' ')?;
    let kept = heading.trim().to_lowercase().replace(' ', "-");
    Some(kept.chars().filter(|c| c.is_alphanumeric() || *c == '-' || *c == '_').collect())
}

/// There is a place for the next change.
pub(super) fn changelog(checkout: &Checkout) -> Vec<String> {
    let open = checkout.text("CHANGELOG.md").is_some_and(|t| t.lines().any(|line| line == "## [Unreleased]"));
    if open { Vec::new() } else { vec![String::from("CHANGELOG.md: no `## [Unreleased]` section")] }
}

/// One word per thing, each explained.
pub(super) fn glossary(checkout: &Checkout) -> Vec<String> {
    let Some(text) = checkout.text("docs/glossary.md") else {
        return vec![String::from("docs/glossary.md is missing")];
    };
    let explained = |word: &str| text.contains(&format!("**{word}**"));
    GLOSSARY.iter().filter(|w| !explained(w)).map(|w| format!("docs/glossary.md: no entry `**{w}**`")).collect()
}

/// ARCHITECTURE.md is short, names every crate, and no file that is gone.
pub(super) fn code_map(checkout: &Checkout) -> Vec<String> {
    let Some(text) = checkout.text("ARCHITECTURE.md") else { return vec![String::from("ARCHITECTURE.md is missing")] };
    let mut complaints = Vec::new();
    let lines = text.lines().count();
    if lines > MAX_ARCHITECTURE_LINES {
        complaints.push(format!("ARCHITECTURE.md: {lines} lines, at most {MAX_ARCHITECTURE_LINES}"));
    }
    let crates = checkout.folders_in("host/").into_iter().map(|name| format!("host/{name}"));
    complaints.extend(
        crates.filter(|c| !text.contains(&format!("`{c}`"))).map(|c| format!("ARCHITECTURE.md: says nothing of `{c}`")),
    );
    let quoted = text.split('`').skip(1).step_by(2);
    let paths =
        quoted.filter(|q| q.contains('/') && q.chars().all(|c| c.is_ascii_alphanumeric() || "/._-".contains(c)));
    complaints.extend(
        paths
            .filter(|p| !checkout.has(p.trim_end_matches('/')))
            .map(|p| format!("ARCHITECTURE.md: `{p}` does not exist")),
    );
    complaints
}

/// `cargo xtask WORD` in a document is a command that exists.
pub(super) fn tasks(checkout: &Checkout) -> Vec<String> {
    let Some(help) = checkout.text("xtask/src/main.rs") else { return vec![String::from("xtask is missing")] };
    let known = |task: &str| help.contains(&format!("\n  {task} "));
    let mut complaints = Vec::new();
    for file in checkout.under("", ".md") {
        let named = file.lines().flat_map(|line| line.split("cargo xtask ").skip(1));
        let words = named.map(|rest| rest.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default());
        complaints.extend(
            words
                .filter(|w| !w.is_empty() && !known(w))
                .map(|w| format!("{}: `cargo xtask {w}` does not exist", file.path)),
        );
    }
    complaints
}
