//! Untrusted text inside a prompt: delimited, attributed, and unable to forge a delimiter.
//!
//! There is one delimiter, `<data of="…"> … </data>`; inside, a `<` that could begin or end one is written `&lt;`.

use std::borrow::Cow;
use std::fmt::Write;

use elysia_types::{Effects, clean, truncate};
use serde_json::{Map, Value};

use crate::entry::ToolEntry;

const TAG: &str = "data";

/// `text` with every `<` that could start a delimiter written `&lt;`.
pub fn neutralise(text: &str) -> Cow<'_, str> {
    if !text.match_indices('<').any(|(i, _)| starts_delimiter(text, i)) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 8);
    for (i, c) in text.char_indices() {
        if c == '<' && starts_delimiter(text, i) { out.push_str("&lt;") } else { out.push(c) }
    }
    Cow::Owned(out)
}

/// Whether the word `data` follows the `<` at `at`, whatever stands between that is not a letter or digit.
fn starts_delimiter(text: &str, at: usize) -> bool {
    let rest = text.get(at + 1..).unwrap_or_default();
    let word = rest.chars().take(64).skip_while(|c| !c.is_alphanumeric()).take(TAG.len());
    word.map(|c| c.to_ascii_lowercase()).eq(TAG.chars())
}

/// Appends one block; nothing when `body` is empty.
pub(crate) fn data(out: &mut String, of: &str, body: &str) {
    if body.is_empty() {
        return;
    }
    let _ = writeln!(out, "<data of=\"{}\">\n{}\n</data>", attribute(of), neutralise(body.trim_end_matches('\n')));
}

/// A name inside the delimiter's quotes.
fn attribute(text: &str) -> Cow<'_, str> {
    if text.contains(['"', '<', '>', '&']) {
        Cow::Owned(text.replace(['"', '<', '>', '&'], "_"))
    } else {
        Cow::Borrowed(text)
    }
}

/// What an endpoint with native tools is told about a tool; its schema stands beside it.
pub(crate) fn native_description(entry: &ToolEntry) -> String {
    let d = &entry.descriptor;
    let mut told = d.title.as_deref().map(|t| format!("{}: ", clean(t))).unwrap_or_default();
    told.push_str(&clean(&d.description));
    for example in d.examples.iter().take(3) {
        let _ = write!(told, "\nExample: {}", truncate(&clean(example), 200));
    }
    let of = format!("plugin {}", entry.plugin);
    let mut out = format!("<data of=\"{}\">{}</data>", attribute(&of), neutralise(&told));
    let _ = write!(out, "{}{}", effects_note(d.effects), if d.may_end { " May end." } else { "" });
    out
}

fn effects_note(effects: Effects) -> &'static str {
    match effects {
        Effects::None | Effects::Reads => "",
        Effects::Writes => " Changes something outside.",
        Effects::Destructive => " Changes something outside for good.",
    }
}

/// One line of JSON about a tool, schema included, for endpoints without native tools.
pub(crate) fn option_text(entry: &ToolEntry) -> String {
    let d = &entry.descriptor;
    let mut line = Map::new();
    let mut put = |key: &str, value: Value| line.insert(key.to_owned(), value);
    put("option", Value::String(d.name.to_string()));
    put("plugin", Value::String(entry.plugin.to_string()));
    if let Some(title) = &d.title {
        put("title", Value::String(clean(title).into_owned()));
    }
    put("description", Value::String(clean(&d.description).into_owned()));
    if !d.examples.is_empty() {
        let examples = d.examples.iter().take(3).map(|e| Value::String(truncate(&clean(e), 200).to_owned()));
        put("examples", Value::Array(examples.collect()));
    }
    if d.effects.changes_world() {
        put("effects", Value::String(effects_note(d.effects).trim().to_owned()));
    }
    if d.may_end {
        put("may_end", Value::Bool(true));
    }
    put("inputs", entry.schema.as_value().clone());
    // A map of JSON values always serializes.
    serde_json::to_string(&line).unwrap_or_default()
}

#[cfg(test)]
mod tests;
