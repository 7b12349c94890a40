//! The environment as the model sees it: newest first, within a budget of bytes, cut with counts and never silently.
//!
//! One JSON line per entry. Entries are taken one by one from the newest; what does not fit is never looked at.

use elysia_types::{Entry, Environment, REF_ID_KEY, ResultName, ToolName, truncate};
use serde_json::Value;

/// Kept free for the last line, which counts the entries not shown.
const TRAILER: usize = 64;
/// An entry is not begun with less room than this.
const MIN_ENTRY: usize = 160;
/// What an entry may take before it must leave half of the room to older ones.
const FAIR_ENTRY: usize = 4_096;

/// How much of a value is shown.
#[derive(Clone, Copy)]
struct Level {
    text: usize,
    items: usize,
    keys: usize,
    depth: usize,
}

const LEVELS: [Level; 4] = [
    Level { text: 400, items: 16, keys: 48, depth: 6 },
    Level { text: 120, items: 6, keys: 24, depth: 4 },
    Level { text: 40, items: 3, keys: 12, depth: 3 },
    Level { text: 16, items: 1, keys: 4, depth: 1 },
];

/// The environment in at most `budget` bytes; empty when nothing was ever found.
pub fn digest(environment: &Environment, budget: usize) -> String {
    let mut out = String::new();
    let mut n_shown = 0;
    for (tool, name, entry) in environment.newest() {
        let room = budget.saturating_sub(out.len() + TRAILER);
        if room < MIN_ENTRY {
            break;
        }
        let cap = room.min(FAIR_ENTRY.max(room / 2)) - 1;
        let Some(line) = line(tool, name, entry, cap) else {
            break;
        };
        out.push_str(&line);
        out.push('\n');
        n_shown += 1;
    }
    let n_left = environment.n_entries() - n_shown;
    if n_left > 0 {
        let trailer = format!("{{\"older_results_not_shown\":{n_left}}}\n");
        if out.len() + trailer.len() <= budget {
            out.push_str(&trailer);
        }
    }
    out
}

/// One entry in at most `cap` bytes; none when not even its name fits.
fn line(tool: &ToolName, name: &ResultName, entry: &Entry, cap: usize) -> Option<String> {
    let mut out = Line { text: String::new(), cap: cap.saturating_sub(2) };
    out.raw("{\"tool\":")?;
    out.string(tool.as_str())?;
    out.raw(",\"name\":")?;
    out.string(name.as_str())?;
    if !entry.metadata.is_empty() {
        let metadata = fitting_metadata(&entry.metadata, cap / 4);
        out.raw(",\"metadata\":")?;
        out.raw(metadata.as_deref().unwrap_or("\"…\""))?;
    }
    out.raw(",\"objects\":[")?;
    let n_objects = entry.objects.len();
    for (i, object) in entry.objects.iter().enumerate() {
        // Room for the note that stands for the rest must be left, or the cut would be silent.
        let note = entry.objects.get(i + 1).map_or(0, |next| rest_note(n_objects - i - 1, reference(next)).len() + 1);
        let room = out.room().saturating_sub(note + 1);
        let rendered = fitting_object(object, room);
        let comma = if i == 0 { "" } else { "," };
        match rendered {
            Some(text) => out.raw(comma).and_then(|()| out.raw(&text))?,
            None => {
                out.raw(comma)?;
                out.raw(&rest_note(n_objects - i, reference(object)))?;
                break;
            }
        }
    }
    out.cap = cap;
    out.raw("]}")?;
    Some(out.text)
}

fn reference(object: &elysia_types::Object) -> Option<&str> {
    object.get(REF_ID_KEY).and_then(Value::as_str)
}

fn rest_note(count: usize, reference: Option<&str>) -> String {
    quoted(&note(&format!("{count} more"), reference))
}

fn note(what: &str, reference: Option<&str>) -> String {
    match reference {
        Some(reference) => format!("… {what}, see {reference} …"),
        None => format!("… {what} …"),
    }
}

fn quoted(text: &str) -> String {
    // A string always serializes.
    serde_json::to_string(text).unwrap_or_default()
}

fn fitting_object(object: &elysia_types::Object, room: usize) -> Option<String> {
    LEVELS.iter().find_map(|level| {
        let mut out = Line { text: String::new(), cap: room };
        out.object(object, level, reference(object), 0, true)?;
        Some(out.text)
    })
}

/// Metadata has no reference of its own.
fn fitting_metadata(metadata: &elysia_types::Object, room: usize) -> Option<String> {
    LEVELS.iter().find_map(|level| {
        let mut out = Line { text: String::new(), cap: room };
        out.object(metadata, level, None, 0, false)?;
        Some(out.text)
    })
}

/// JSON text that refuses to grow past its cap, so that cost is bounded by the budget and not by the data.
struct Line {
    text: String,
    cap: usize,
}

impl Line {
    fn room(&self) -> usize {
        self.cap.saturating_sub(self.text.len())
    }

    fn raw(&mut self, text: &str) -> Option<()> {
        (text.len() <= self.room()).then(|| self.text.push_str(text))
    }

    fn string(&mut self, text: &str) -> Option<()> {
        (text.len() <= self.room()).then_some(())?;
        self.raw(&quoted(text))
    }

    fn value(&mut self, value: &Value, level: &Level, reference: Option<&str>, depth: usize) -> Option<()> {
        match value {
            Value::Null | Value::Bool(_) | Value::Number(_) => self.raw(&value.to_string()),
            Value::String(text) => self.cut_string(text, level.text, reference),
            Value::Array(items) if depth >= level.depth => {
                self.raw(&quoted(&note(&format!("{} items", items.len()), reference)))
            }
            Value::Object(map) if depth >= level.depth => {
                self.raw(&quoted(&note(&format!("{} fields", map.len()), reference)))
            }
            Value::Array(items) => {
                self.raw("[")?;
                for (i, item) in items.iter().take(level.items).enumerate() {
                    if i > 0 {
                        self.raw(",")?;
                    }
                    self.value(item, level, reference, depth + 1)?;
                }
                if items.len() > level.items {
                    self.raw(",")?;
                    self.raw(&rest_note(items.len() - level.items, reference))?;
                }
                self.raw("]")
            }
            Value::Object(map) => self.object(map, level, reference, depth, false),
        }
    }

    fn object(
        &mut self,
        map: &elysia_types::Object,
        level: &Level,
        reference: Option<&str>,
        depth: usize,
        is_top: bool,
    ) -> Option<()> {
        self.raw("{")?;
        let mut first = true;
        // The reference leads, so that no cut can take it away.
        if let Some(own) = reference.filter(|_| is_top) {
            self.raw("\"_REF_ID\":")?;
            self.string(own)?;
            first = false;
        }
        let others = || map.iter().filter(|(key, _)| !(is_top && *key == REF_ID_KEY));
        for (key, value) in others().take(level.keys) {
            if !first {
                self.raw(",")?;
            }
            first = false;
            self.cut_string(key, 80, None)?;
            self.raw(":")?;
            self.value(value, level, reference, depth + 1)?;
        }
        let n_cut = map.len().saturating_sub(usize::from(is_top && map.contains_key(REF_ID_KEY)) + level.keys);
        if n_cut > 0 {
            self.raw(if first { "" } else { "," })?;
            self.raw(&format!("\"…\":{}", quoted(&note(&format!("{n_cut} more fields"), None))))?;
        }
        self.raw("}")
    }

    fn cut_string(&mut self, text: &str, most: usize, reference: Option<&str>) -> Option<()> {
        let shown = truncate(text, most);
        let cut = text.len() - shown.len();
        // A few bytes are not worth the sentence that counts them.
        if cut <= 48 && text.len() <= most + 48 {
            return self.string(text);
        }
        let tail = note(&format!("{cut} more bytes"), reference);
        self.string(&format!("{shown}{tail}"))
    }
}
