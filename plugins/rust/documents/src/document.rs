//! One document, and the ways it is written down: a page of Markdown, a row, a table.

use elysia_plugin::{Object, Value, object};
use records::Row;

/// Columns that hold a row's title, best first.
const TITLES: [&str; 7] = ["title", "name", "question", "subject", "headline", "product", "id"];
/// Columns that hold a row's text, best first. A row without one is no document by itself.
const TEXTS: [&str; 8] = ["content", "text", "body", "answer", "description", "summary", "message", "comment"];

/// Something to read.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Document {
    /// The same for the same file and row, so that a document can be asked for again.
    pub(crate) uuid: String,
    pub(crate) title: String,
    pub(crate) content: String,
    pub(crate) category: Option<String>,
    pub(crate) author: Option<String>,
    pub(crate) date: Option<String>,
    /// File, and row where there are several documents in it.
    pub(crate) source: String,
}

impl Document {
    /// A page with optional front matter (`key: value` lines between two lines of `---`).
    pub(crate) fn from_markdown(source: &str, text: &str) -> Document {
        let (matter, body) = front_matter(text);
        let field =
            |name: &str| matter.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.clone());
        let heading = body.lines().find_map(|line| line.strip_prefix("# ")).map(|line| line.trim().to_owned());
        let title = field("title").or(heading).unwrap_or_else(|| stem(source));
        let body = body.trim();
        // The heading says the title again: shown once is enough.
        let content = body.strip_prefix(&format!("# {title}")).unwrap_or(body).trim().to_owned();
        Document {
            uuid: uuid(source),
            title,
            content,
            category: field("category"),
            author: field("author"),
            date: field("date"),
            source: source.to_owned(),
        }
    }

    /// A row that has text, or `None`.
    pub(crate) fn from_row(file: &str, number: usize, row: &Row) -> Option<Document> {
        let key = |names: &[&str]| names.iter().find_map(|name| row.keys().find(|key| key.eq_ignore_ascii_case(name)));
        let text_key = key(&TEXTS)?;
        let title_key = key(&TITLES).filter(|key| *key != text_key);
        let (special, source) = (["author", "date", "category"], format!("{file}#{number}"));
        let field =
            |name: &str| row.keys().find(|key| key.eq_ignore_ascii_case(name)).and_then(|key| row.get(key)).map(plain);
        let mut content = row.get(text_key).map(plain).unwrap_or_default();
        let rest = row.iter().filter(|(key, value)| {
            *key != text_key
                && Some(*key) != title_key
                && !value.is_null()
                && !special.contains(&key.to_lowercase().as_str())
        });
        let facts: Vec<String> = rest.map(|(key, value)| format!("{key}: {}", plain(value))).collect();
        if !facts.is_empty() {
            content = format!("{content}\n\n{}", facts.join("\n"));
        }
        Some(Document {
            uuid: uuid(&source),
            title: title_key.and_then(|key| row.get(key)).map_or_else(|| source.clone(), plain),
            content,
            category: field("category"),
            author: field("author"),
            date: field("date"),
            source,
        })
    }

    /// Rows without text, as one document: what is in the file and how it begins.
    pub(crate) fn from_table(file: &str, rows: &[Row]) -> Document {
        let columns: Vec<&str> = rows.first().map(|row| row.keys().map(String::as_str).collect()).unwrap_or_default();
        let line = |row: &Row| row.values().map(plain).collect::<Vec<_>>().join(" | ");
        let first: Vec<String> = rows.iter().take(5).map(line).collect();
        let content = format!(
            "A table of {} rows with the columns {}. The first rows:\n\n{}\n{}",
            rows.len(),
            columns.join(", "),
            columns.join(" | "),
            first.join("\n")
        );
        Document {
            uuid: uuid(file),
            title: stem(file),
            content,
            category: Some("table".to_owned()),
            author: None,
            date: None,
            source: file.to_owned(),
        }
    }

    /// As a front end and the agent see it, with this much of the content.
    pub(crate) fn to_object(&self, content: &str) -> Object {
        object! {
            "uuid": self.uuid, "title": self.title, "author": self.author, "date": self.date, "category": self.category,
            "content": content, "source": self.source, "collection_name": "documents",
        }
    }

    /// As a line of a list: all but the content.
    pub(crate) fn to_entry(&self) -> Object {
        object! {
            "title": self.title, "category": self.category, "author": self.author, "date": self.date,
            "n_words": self.content.split_whitespace().count(), "source": self.source, "uuid": self.uuid,
        }
    }
}

fn front_matter(text: &str) -> (Vec<(String, String)>, &str) {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let inside = text.strip_prefix("---\n").and_then(|rest| rest.split_once("\n---\n"));
    let Some((matter, body)) = inside else {
        return (Vec::new(), text);
    };
    let pair = |line: &str| {
        line.split_once(':').map(|(key, value)| (key.trim().to_owned(), value.trim().trim_matches('"').to_owned()))
    };
    (matter.lines().filter_map(pair).collect(), body)
}

/// A value in words.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) if items.is_empty() => "none".to_owned(),
        Value::Array(items) => items.iter().map(plain).collect::<Vec<_>>().join(", "),
        Value::Bool(flag) => if *flag { "yes" } else { "no" }.to_owned(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

fn stem(source: &str) -> String {
    let file = source.rsplit('/').next().unwrap_or(source);
    file.rsplit_once('.').map_or(file, |(stem, _)| stem).replace(['-', '_'], " ")
}

/// A UUID (version 8: made by rules of our own) from the source: FNV-1a of 128 bits.
fn uuid(source: &str) -> String {
    let step = |hash: u128, byte: u8| (hash ^ u128::from(byte)).wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013B);
    let hash = source.bytes().fold(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d, step);
    let marked = (hash & !(0xF << 76) & !(0x3 << 62)) | (0x8 << 76) | (0x2 << 62);
    let hex = format!("{marked:032x}");
    let mut text = String::with_capacity(36);
    for (i, digit) in hex.chars().enumerate() {
        if matches!(i, 8 | 12 | 16 | 20) {
            text.push('-');
        }
        text.push(digit);
    }
    text
}
