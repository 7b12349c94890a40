//! An honest answer out of the results alone: what was found, how much of it, what went wrong.

use std::fmt::Write as _;

use serde_json::{Map, Value};

use super::ResultView;
use super::text;

/// Objects written out whole before only the first ones are.
const FEW: usize = 5;
const SHOWN: usize = 3;
const FIELDS: usize = 8;
const VALUE: usize = 200;
const SNIPPET: usize = 240;
const LINES: usize = 40;
const HIDDEN: [&str; 4] = ["_REF_ID", "uuid", "ELYSIA_SUMMARY", "collection_name"];
const TITLES: [&str; 6] = ["title", "name", "heading", "subject", "label", "filename"];
const BODIES: [&str; 8] = ["content", "text", "body", "snippet", "summary", "description", "excerpt", "abstract"];

/// Plain text, a few lines. `errors` are messages of calls that failed.
pub(super) fn compose(results: &[ResultView], errors: &[String]) -> String {
    let mut blocks: Vec<String> = results.iter().map(block).collect();
    blocks.extend(errors.iter().map(|e| format!("This did not work: {}", cut(e.trim(), VALUE))));
    if blocks.is_empty() {
        return "Nothing was found.".to_owned();
    }
    let all = blocks.join("\n");
    let lines: Vec<&str> = all.lines().collect();
    if lines.len() <= LINES {
        return all;
    }
    let kept = lines.get(..LINES).unwrap_or_default().join("\n");
    format!("{kept}\n… {} more lines", lines.len() - LINES)
}

fn block(result: &ResultView) -> String {
    let source = source(result);
    let total = result.total.max(result.objects.len());
    if total == 0 {
        return format!("{source}: nothing was found.");
    }
    if let (1, [only]) = (total, result.objects) {
        return single(&source, only);
    }
    let shown = if total <= FEW { result.objects.len().min(FEW) } else { result.objects.len().min(SHOWN) };
    let mut out = format!("{source}: {total} found.");
    for object in result.objects.iter().take(shown) {
        let _ = write!(out, "\n{}", line(object));
    }
    if total > shown {
        let _ = write!(out, "\n… {} more", total - shown);
    }
    out
}

fn source(result: &ResultView) -> String {
    let plain = |s: &str| text::words(s).join(" ");
    let tool = plain(result.tool);
    if result.name.is_empty() || result.name == "default" || plain(result.name) == tool {
        tool
    } else {
        format!("{tool}, {}", plain(result.name))
    }
}

/// The fields a reader cares about.
fn fields(object: &Map<String, Value>) -> Vec<(&str, &Value)> {
    object.iter().filter(|(k, v)| !HIDDEN.contains(&k.as_str()) && !v.is_null()).map(|(k, v)| (k.as_str(), v)).collect()
}

fn single(source: &str, object: &Map<String, Value>) -> String {
    let fields = fields(object);
    if let Some(document) = document(object) {
        return format!("{source}: {document}");
    }
    match fields.as_slice() {
        [] => format!("{source}: an empty result."),
        [(key, value)] if matches!(*key, "tool_result" | "result" | "value" | "answer") => {
            format!("{source}: {}", show(value))
        }
        [(key, value)] => format!("{source}: {} {}", label(key), show(value)),
        many => {
            let mut out = format!("{source}:");
            for (key, value) in many.iter().take(FIELDS) {
                let _ = write!(out, "\n{}: {}", label(key), show(value));
            }
            if many.len() > FIELDS {
                let _ = write!(out, "\n… {} more fields", many.len() - FIELDS);
            }
            out
        }
    }
}

/// One of several objects on one line.
fn line(object: &Map<String, Value>) -> String {
    if let Some(document) = document(object) {
        return format!("- {document}");
    }
    let fields = fields(object);
    let mut parts: Vec<String> =
        fields.iter().take(FIELDS).map(|(k, v)| format!("{}: {}", label(k), show(v))).collect();
    if fields.len() > FIELDS {
        parts.push(format!("… {} more fields", fields.len() - FIELDS));
    }
    // Two fields, a name and a number, read like a chart's row.
    if let [(_, Value::String(name)), (key, value @ Value::Number(_))] = fields.as_slice() {
        return format!("- {}: {} {}", cut(name, VALUE), label(key), show(value));
    }
    format!("- {}", parts.join(", "))
}

/// `Title: the beginning of the text`, for objects that look like documents.
fn document(object: &Map<String, Value>) -> Option<String> {
    let find = |names: &[&str]| {
        names.iter().find_map(|n| object.iter().find(|(k, _)| k.eq_ignore_ascii_case(n)).and_then(|(_, v)| v.as_str()))
    };
    let body = find(&BODIES).filter(|b| b.chars().count() > 60)?;
    let snippet = cut(&body.split_whitespace().collect::<Vec<_>>().join(" "), SNIPPET);
    Some(find(&TITLES).map_or_else(|| snippet.clone(), |title| format!("{}: {snippet}", cut(title, VALUE))))
}

fn label(key: &str) -> String {
    key.replace('_', " ").trim().to_owned()
}

fn show(value: &Value) -> String {
    match value {
        Value::String(s) => cut(&s.split_whitespace().collect::<Vec<_>>().join(" "), VALUE),
        Value::Bool(true) => "yes".to_owned(),
        Value::Bool(false) => "no".to_owned(),
        Value::Number(n) => number(n),
        Value::Null => "none".to_owned(),
        Value::Array(list) => {
            let mut parts: Vec<String> = list.iter().take(6).map(show).collect();
            if list.len() > 6 {
                parts.push(format!("… {} more", list.len() - 6));
            }
            cut(&parts.join(", "), VALUE)
        }
        Value::Object(map) => cut(
            &fields(map)
                .iter()
                .take(6)
                .map(|(k, v)| format!("{} {}", label(k), show(v)))
                .collect::<Vec<_>>()
                .join(", "),
            VALUE,
        ),
    }
}

/// `2.0` as `2`, long fractions rounded; integers as they are.
fn number(n: &serde_json::Number) -> String {
    match n.as_f64().filter(|_| n.is_f64()) {
        Some(v) if v.abs() >= 1e15 || (v != 0.0 && v.abs() < 1e-6) => n.to_string(),
        Some(v) => {
            let fixed = format!("{v:.6}");
            fixed.trim_end_matches('0').trim_end_matches('.').to_owned()
        }
        None => n.to_string(),
    }
}

fn cut(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let kept: String = text.chars().take(most).collect();
    let kept = kept.rsplit_once(' ').map_or(kept.as_str(), |(before, _)| before);
    format!("{kept}…")
}
