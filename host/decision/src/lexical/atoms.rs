//! Pieces of a query that stand for themselves: quotes, addresses, files, dates, times, ids, bracketed lists.

use std::sync::LazyLock;

use regex::Regex;

use super::dates::{self, Date};
use super::text::{self, Token};

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum AtomKind {
    Quote,
    Url,
    Email,
    File,
    Bracket,
    Date(Date),
    Time {
        hour: u32,
        minute: u32,
    },
    Id,
    Hex,
    /// `2019-2020`: two years, or one season.
    Range,
}

/// A piece with its place; `text` is the inside where there are quotes.
#[derive(Debug, Clone)]
pub(super) struct Atom {
    pub(super) kind: AtomKind,
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) text: String,
}

impl Atom {
    /// Numbers inside mean something else than a count.
    pub(super) fn hides_numbers(&self) -> bool {
        match self.kind {
            AtomKind::Quote | AtomKind::Bracket | AtomKind::Range => false,
            AtomKind::Date(date) => date.relative.is_none(),
            _ => true,
        }
    }
}

/// A pattern that does not compile finds nothing; the tests see to it that all do.
pub(super) fn pattern(source: &str) -> Option<Regex> {
    Regex::new(source).ok()
}

static URL: LazyLock<Option<Regex>> = LazyLock::new(|| pattern(r#"(?:https?|ftp)://[^\s'"<>]+|\bwww\.[^\s'"<>]+"#));
static EMAIL: LazyLock<Option<Regex>> = LazyLock::new(|| pattern(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+"));
static FILE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let ends = "csv|tsv|json|jsonl|xlsx?|parquet|txt|md|pdf|docx?|pptx?|html?|xml|ya?ml|toml|zip|tar|gz|png|jpe?g|gif|svg|mp3|wav|mp4|avi|mov|py|rs|js|ts|java|cpp|sql|db|sqlite|log|ini|wasm";
    pattern(&format!(r"(?i)(?:[a-z]:)?[\w./\\~-]*[\w-]\.(?:{ends})\b|(?:~|\.{{1,2}}|[a-z]:)?(?:[/\\][\w.-]+){{2,}}/?"))
});
static TIME: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(r"(?i)\b(\d{1,2}):(\d{2})(?::\d{2})?\s*([ap]\.?m\b\.?)?|\b(\d{1,2})\s*([ap]\.?m)\b|\b(noon|midnight)\b")
});
static ID: LazyLock<Option<Regex>> = LazyLock::new(|| pattern(r"[A-Za-z0-9][A-Za-z0-9]*(?:[/_-][A-Za-z0-9]+)*"));
static RANGE: LazyLock<Option<Regex>> =
    LazyLock::new(|| pattern(r"\b(?:19|20)\d{2}\s?[-–/]\s?(?:(?:19|20)\d{2}|\d{2})\b"));
static HEX: LazyLock<Option<Regex>> = LazyLock::new(|| pattern(r"#[0-9A-Fa-f]{6}\b|#[0-9A-Fa-f]{3}\b"));

/// All pieces, not overlapping, by place. Earlier kinds win.
pub(super) fn find(query: &str) -> Vec<Atom> {
    let mut atoms: Vec<Atom> = Vec::new();
    quotes(query, &mut atoms);
    for (regex, kind) in
        [(&URL, AtomKind::Url), (&EMAIL, AtomKind::Email), (&FILE, AtomKind::File), (&HEX, AtomKind::Hex)]
    {
        for found in regex.iter().flat_map(|r| r.find_iter(query)) {
            let text = found.as_str().trim_end_matches(['.', ',', '?', '!', ')', ';']);
            let inside =
                query.get(..found.start()).and_then(|b| b.chars().next_back()).is_some_and(char::is_alphanumeric);
            if inside || (kind == AtomKind::File && text.chars().all(|c| c.is_ascii_digit() || "./-".contains(c))) {
                continue;
            }
            add(
                &mut atoms,
                Atom { kind, start: found.start(), end: found.start() + text.len(), text: text.to_owned() },
            );
        }
    }
    brackets(query, &mut atoms);
    for (start, end, date) in dates::find(query) {
        add(
            &mut atoms,
            Atom { kind: AtomKind::Date(date), start, end, text: text::slice(query, start, end).to_owned() },
        );
    }
    for found in RANGE.iter().flat_map(|r| r.find_iter(query)) {
        add(
            &mut atoms,
            Atom { kind: AtomKind::Range, start: found.start(), end: found.end(), text: found.as_str().to_owned() },
        );
    }
    times(query, &mut atoms);
    ids(query, &mut atoms);
    atoms.sort_by_key(|a| a.start);
    atoms
}

fn add(atoms: &mut Vec<Atom>, atom: Atom) {
    if atom.start < atom.end && atoms.iter().all(|a| atom.end <= a.start || a.end <= atom.start) {
        atoms.push(atom);
    }
}

fn quotes(query: &str, atoms: &mut Vec<Atom>) {
    let chars: Vec<(usize, char)> = query.char_indices().collect();
    let alnum = |i: Option<usize>| i.and_then(|i| chars.get(i)).is_some_and(|c| c.1.is_alphanumeric());
    let mut at = 0;
    while let Some(&(start, c)) = chars.get(at) {
        let close = match c {
            '"' => '"',
            '\'' if !alnum(at.checked_sub(1)) => '\'',
            '`' => '`',
            '“' => '”',
            '‘' => '’',
            '«' => '»',
            _ => {
                at += 1;
                continue;
            }
        };
        let ends = |j: usize| {
            chars.get(j).is_some_and(|d| d.1 == close) && !(matches!(close, '\'' | '’') && alnum(Some(j + 1)))
        };
        let Some(end) = (at + 1..chars.len().min(at + 4000)).find(|j| ends(*j)) else {
            at += 1;
            continue;
        };
        let byte = |i: usize| chars.get(i).map_or(query.len(), |c| c.0);
        let inner = text::slice(query, byte(at + 1), byte(end));
        if !inner.trim().is_empty() {
            add(atoms, Atom { kind: AtomKind::Quote, start, end: byte(end + 1), text: inner.trim().to_owned() });
        }
        at = end + 1;
    }
}

/// `[…]` with nesting, `{…}`, and `(a, b)` of numbers. Quotes inside belong to the bracket.
fn brackets(query: &str, atoms: &mut Vec<Atom>) {
    let mut open: Vec<(usize, char)> = Vec::new();
    let mut found = Vec::new();
    for (at, c) in query.char_indices() {
        match c {
            '[' | '(' | '{' => open.push((at, c)),
            ']' | ')' | '}' => {
                let Some((start, opened)) = open.pop() else { continue };
                let inside = open.iter().any(|o| o.1 != '(');
                let inner = text::slice(query, start + 1, at);
                let list = opened != '('
                    || (inner.contains(',') && inner.chars().all(|c| c.is_ascii_digit() || " ,.-+eE°".contains(c)));
                if list && !inside {
                    found.push((start, at + 1));
                }
            }
            _ => {}
        }
    }
    for (start, end) in found {
        atoms.retain(|a| !(a.start >= start && a.end <= end));
        add(atoms, Atom { kind: AtomKind::Bracket, start, end, text: text::slice(query, start, end).to_owned() });
    }
}

fn times(query: &str, atoms: &mut Vec<Atom>) {
    for found in TIME.iter().flat_map(|r| r.captures_iter(query)) {
        let Some(whole) = found.get(0) else { continue };
        let number = |i: usize| found.get(i).and_then(|m| m.as_str().parse::<u32>().ok());
        let half = found.get(3).or_else(|| found.get(5)).map(|m| m.as_str().to_lowercase());
        let (mut hour, minute) = match (number(1), number(4)) {
            (Some(h), _) => (h, number(2).unwrap_or(0)),
            (None, Some(h)) => (h, 0),
            _ => (if whole.as_str().eq_ignore_ascii_case("noon") { 12 } else { 0 }, 0),
        };
        if let Some(half) = half {
            hour = hour % 12 + if half.starts_with('p') { 12 } else { 0 };
        }
        if hour < 24 && minute < 60 {
            let text = whole.as_str().trim();
            add(
                atoms,
                Atom {
                    kind: AtomKind::Time { hour, minute },
                    start: whole.start(),
                    end: whole.start() + text.len(),
                    text: text.to_owned(),
                },
            );
        }
    }
}

/// Letters and digits mixed, like `CA123456` or `2022/AL2562`, but not `10km`, `2nd`, `3x` or `24-hour`.
fn ids(query: &str, atoms: &mut Vec<Atom>) {
    for found in ID.iter().flat_map(|r| r.find_iter(query)) {
        let word = found.as_str();
        let digits = word.chars().filter(char::is_ascii_digit).count();
        let letters = word.chars().filter(char::is_ascii_alphabetic).count();
        let starts_with_number = word.starts_with(|c: char| c.is_ascii_digit());
        let tail = word.trim_start_matches(|c: char| c.is_ascii_digit());
        let measure =
            starts_with_number && tail.chars().all(|c| c.is_ascii_alphabetic() || c == '-') && tail.len() <= 14;
        let size = starts_with_number
            && tail.starts_with(['x', 'X'])
            && tail.len() > 1
            && tail.chars().skip(1).all(|c| c.is_ascii_digit());
        let exponent = starts_with_number && tail.starts_with(['e', 'E']) && tail.contains('-');
        let alone = !query.get(..found.start()).is_some_and(|b| b.ends_with(['^', '*', '+', '=', '(', '.', '$']))
            && !query.get(found.end()..).is_some_and(|a| a.starts_with(['^', '*', '+', '=', '(']));
        if digits > 0 && letters > 0 && digits + letters >= 3 && alone && (!measure || size) && !exponent {
            add(atoms, Atom { kind: AtomKind::Id, start: found.start(), end: found.end(), text: word.to_owned() });
        }
    }
}

/// For each token the piece it lies in.
pub(super) fn owners(tokens: &[Token], atoms: &[Atom]) -> Vec<Option<usize>> {
    tokens.iter().map(|t| atoms.iter().position(|a| a.start < t.end && t.start < a.end)).collect()
}
