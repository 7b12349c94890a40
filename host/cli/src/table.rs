//! Results for people: objects as a table, as records where a table would not fit, documents as paragraphs.
//!
//! Objects hold what guests wrote, control characters included: every cell is cleaned here.

use comfy_table::{CellAlignment, Table, presets};
use elysia_types::{Object, REF_ID_KEY, clean_line, truncate};
use serde_json::Value;
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// A column is never narrower than this.
const NARROWEST: usize = 6;
/// A cell is never wider than this.
const WIDEST: usize = 80;
/// Bytes of a value that are looked at; more than any cell can show.
const CELL_BYTES: usize = 4096;
/// Columns of a document's snippet.
const SNIPPET: usize = 400;

/// `text` in at most `width` columns, with `…` where something is missing.
pub(crate) fn cut(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut used = 0;
    let mut out: String = text
        .chars()
        .take_while(|c| {
            used += c.width().unwrap_or(0);
            used < width
        })
        .collect();
    out.push('…');
    out
}

/// A value as one clean line.
pub(crate) fn value_line(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => clean_line(truncate(text, CELL_BYTES)),
        other => clean_line(truncate(&other.to_string(), CELL_BYTES)),
    }
}

/// Keys of all objects, in order of first appearance, without the reference.
fn columns(objects: &[Object]) -> Vec<&str> {
    let mut seen = std::collections::HashSet::new();
    let keys = objects.iter().flat_map(|object| object.keys()).map(String::as_str);
    keys.filter(|key| *key != REF_ID_KEY && seen.insert(*key)).collect()
}

/// Objects in at most `width` columns; of more than `most` objects the rest is counted.
pub(crate) fn objects(objects: &[Object], width: usize, most: usize) -> String {
    let shown = objects.get(..most.min(objects.len())).unwrap_or_default();
    let columns = columns(shown);
    // A border and two blanks per column, and a last border.
    let room = width.saturating_sub(columns.len() * 3 + 1);
    let mut out = if columns.is_empty() || room < columns.len() * NARROWEST {
        records(shown, width)
    } else {
        grid(shown, &columns, room)
    };
    if objects.len() > shown.len() {
        out.push_str(&format!("\n… {} more; `--output json` shows all", objects.len() - shown.len()));
    }
    out
}

fn grid(objects: &[Object], columns: &[&str], room: usize) -> String {
    let heads: Vec<String> = columns.iter().map(|key| clean_line(truncate(key, CELL_BYTES))).collect();
    let rows: Vec<Vec<String>> = objects
        .iter()
        .map(|object| columns.iter().map(|key| object.get(*key).map(value_line).unwrap_or_default()).collect())
        .collect();
    let natural = heads.iter().enumerate().map(|(i, head)| {
        let cells = rows.iter().filter_map(|row| row.get(i)).map(|cell| cell.width());
        cells.chain([head.width()]).max().unwrap_or(0).min(WIDEST)
    });
    let widths = fitted(natural.collect(), room);
    let fit = |cells: &[String]| cells.iter().zip(&widths).map(|(cell, width)| cut(cell, *width)).collect::<Vec<_>>();
    let mut table = Table::new();
    table.load_style(presets::UTF8_FULL_CONDENSED);
    table.set_header(fit(&heads));
    rows.iter().for_each(|row| {
        table.add_row(fit(row));
    });
    for (i, key) in columns.iter().enumerate() {
        let numbers = objects.iter().filter_map(|object| object.get(*key)).all(Value::is_number);
        if let (true, Some(column)) = (numbers, table.column_mut(i)) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table.trim_fmt()
}

/// Widths whose sum fits `room`: the widest give first.
fn fitted(mut widths: Vec<usize>, room: usize) -> Vec<usize> {
    let mut excess = widths.iter().sum::<usize>().saturating_sub(room);
    while excess > 0 {
        let widest = widths.iter().copied().max().unwrap_or(0);
        if widest <= NARROWEST {
            break;
        }
        if let Some(width) = widths.iter_mut().find(|width| **width == widest) {
            *width -= 1;
            excess -= 1;
        }
    }
    widths
}

fn records(objects: &[Object], width: usize) -> String {
    let record = |object: &Object| {
        let keys = object.iter().filter(|(key, _)| object.len() == 1 || *key != REF_ID_KEY);
        let lines = keys.map(|(key, value)| {
            cut(&format!("{}: {}", clean_line(truncate(key, CELL_BYTES)), value_line(value)), width)
        });
        lines.collect::<Vec<_>>().join("\n")
    };
    objects.iter().map(record).collect::<Vec<_>>().join("\n\n")
}

/// Documents as title, snippet and reference; `mapping` says which fields hold them.
pub(crate) fn documents(objects: &[Object], mapping: Option<&Object>, width: usize, most: usize) -> String {
    let field = |object: &Object, wanted: &str, others: &[&str]| {
        let mapped = mapping.and_then(|m| m.get(wanted)).and_then(Value::as_str);
        let mut names = mapped.into_iter().chain([wanted]).chain(others.iter().copied());
        names.find_map(|name| object.get(name)).map(value_line).filter(|text| !text.is_empty())
    };
    let document = |object: &Object| {
        let title = field(object, "title", &["name", "subject"]);
        let snippet = field(object, "content", &["snippet", "text", "summary", "description"]);
        let id = field(object, "id", &["uuid", REF_ID_KEY]);
        let mut lines = vec![cut(title.as_deref().unwrap_or("(no title)"), width)];
        if let Some(snippet) = snippet {
            lines.extend(
                wrapped(&cut(&snippet, SNIPPET), width.saturating_sub(2)).into_iter().map(|l| format!("  {l}")),
            );
        }
        if let Some(id) = id {
            lines.push(cut(&format!("  [{id}]"), width));
        }
        lines.join("\n")
    };
    let shown = objects.get(..most.min(objects.len())).unwrap_or_default();
    let mut out = shown.iter().map(document).collect::<Vec<_>>().join("\n\n");
    if objects.len() > shown.len() {
        out.push_str(&format!("\n\n… {} more; `--output json` shows all", objects.len() - shown.len()));
    }
    out
}

fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let word = cut(word, width);
        let Some(line) = lines.last_mut() else { break };
        if line.is_empty() {
            *line = word;
        } else if line.width() + 1 + word.width() <= width {
            line.push(' ');
            line.push_str(&word);
        } else {
            lines.push(word);
        }
    }
    lines
}

/// Rows under heads, for lists: no borders, cut to `width`.
pub(crate) fn list(heads: &[&str], rows: &[Vec<String>], width: usize) -> String {
    let mut widths: Vec<usize> = heads.iter().map(|head| head.width()).collect();
    for row in rows {
        widths.iter_mut().zip(row).for_each(|(width, cell)| *width = (*width).max(cell.width()).min(WIDEST));
    }
    let widths = fitted(widths, width.saturating_sub(2 * heads.len().saturating_sub(1)));
    let line = |cells: &mut dyn Iterator<Item = &str>| {
        let mut out = String::new();
        for (cell, width) in cells.zip(&widths) {
            let cell = cut(cell, *width);
            let blanks = width.saturating_sub(cell.width()) + 2;
            out.push_str(&cell);
            out.push_str(&" ".repeat(blanks));
        }
        out.trim_end().to_owned()
    };
    let head = line(&mut heads.iter().copied());
    let rows = rows.iter().map(|row| line(&mut row.iter().map(String::as_str)));
    std::iter::once(head).chain(rows).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests;
