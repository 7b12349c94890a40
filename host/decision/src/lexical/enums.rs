//! Inputs with listed values: enums, values a description lists, booleans.

use super::lexicon;
use super::query::Query;
use super::schema::Param;
use super::text;

/// Where a listed value stands in the query, in tokens, and how well it matches.
#[derive(Debug, Clone)]
pub(super) struct Hit {
    pub(super) value: String,
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) score: f64,
}

/// All listed values the query names, best first; of overlapping ones the longer.
pub(super) fn hits(query: &Query, values: &[&str], explained: &dyn Fn(&str) -> bool) -> Vec<Hit> {
    let mut out: Vec<Hit> = Vec::new();
    for value in values {
        if let Some(hit) = direct(query, value)
            .or_else(|| unit(query, value))
            .or_else(|| synonym(query, value))
            .or_else(|| partly(query, value, values, explained))
        {
            out.push(hit);
        }
    }
    out.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.from.cmp(&b.from)));
    out
}

/// The words of the value in a row, by stem.
fn direct(query: &Query, value: &str) -> Option<Hit> {
    let stems: Vec<String> = text::words(value).iter().map(|w| text::stem(w)).collect();
    if stems.is_empty() {
        let at = query.tokens.iter().position(|t| t.text == value)?;
        return Some(Hit { value: value.to_owned(), from: at, to: at + 1, score: 1.0 });
    }
    let query_words: Vec<(String, usize)> = query
        .tokens
        .iter()
        .enumerate()
        .flat_map(|(i, t)| text::words(&t.text).into_iter().map(move |w| (text::stem(&w), i)))
        .collect();
    let single_letter = stems.len() == 1 && stems.first().is_some_and(|s| s.chars().count() == 1);
    for (at, window) in query_words.windows(stems.len()).enumerate() {
        let equal = window.iter().zip(&stems).all(|(w, s)| w.0 == *s);
        let (from, to) = (window.first().map_or(0, |w| w.1), window.last().map_or(0, |w| w.1 + 1));
        // "a" the article is not grade "A".
        let exact = !single_letter
            || (query.token(from).is_some_and(|t| t.text == value) && !(value == "a" || value == "A" && at == 0));
        let case =
            value.len() > 2 || !value.chars().all(|c| c.is_ascii_alphabetic()) || query.between(from, to) == value;
        let stopped = stems.len() == 1 && lexicon::is_stop(&value.to_lowercase()) && query.between(from, to) != value;
        // `history` inside "Natural History Museum" is part of a name.
        let capped = |i: usize| query.token(i).is_some_and(|t| t.cap && t.is_word() && !t.first);
        let inside = value.chars().all(|c| !c.is_uppercase())
            && capped(from)
            && (capped(to) || from.checked_sub(1).is_some_and(capped));
        if equal && exact && case && !stopped && !inside {
            let literal = query.between(from, to).eq_ignore_ascii_case(value);
            let sure = 3.0 + 0.1 * as_f64(value.len()) + if literal { 1.0 } else { 0.0 };
            return Some(Hit { value: value.to_owned(), from, to, score: sure });
        }
    }
    None
}

#[expect(clippy::cast_precision_loss, reason = "small counts")]
fn as_f64(n: usize) -> f64 {
    n as f64
}

/// `miles` for `mi`: the same unit, spelled differently.
fn unit(query: &Query, value: &str) -> Option<Hit> {
    let wanted = lexicon::unit(&value.to_lowercase()).filter(|u| u.0 != "percent" && u.0 != "money")?;
    let from =
        query.tokens.iter().position(|t| t.is_word() && t.low.len() > 1 && lexicon::unit(&t.low) == Some(wanted))?;
    Some(Hit { value: value.to_owned(), from, to: from + 1, score: 3.0 })
}

fn synonym(query: &Query, value: &str) -> Option<Hit> {
    let low = value.to_lowercase().replace(['_', '-'], " ");
    for (phrase, names) in lexicon::synonym_phrases() {
        if !names.contains(&low.as_str()) {
            continue;
        }
        let words: Vec<&str> = phrase.split(' ').collect();
        let at = (0..query.tokens.len()).find(|i| {
            words
                .iter()
                .enumerate()
                .all(|(k, w)| query.low(i + k) == *w || query.low(i + k).strip_suffix('s') == Some(*w))
        });
        if let Some(from) = at {
            let sure = if phrase == "most" { 1.2 } else { 2.0 };
            return Some(Hit { value: value.to_owned(), from, to: from + words.len(), score: sure });
        }
    }
    None
}

/// One telling word of several: `main dish` for "a main", `Disabled Access` for "disabled people".
fn partly(query: &Query, value: &str, all: &[&str], explained: &dyn Fn(&str) -> bool) -> Option<Hit> {
    let words = text::words(value);
    let mut best: Option<Hit> = None;
    for word in words.iter().filter(|w| w.len() > 3 && !lexicon::is_stop(w)) {
        let stem = text::stem(word);
        let unique = all.iter().filter(|v| text::words(v).iter().any(|w| text::stem(w) == stem)).count() == 1;
        if words.len() > 1 && explained(&stem) {
            continue;
        }
        let found = query
            .tokens
            .iter()
            .position(|t| t.is_word() && (t.stem == stem || (text::kin(&t.stem, &stem) && words.len() == 1)));
        if let Some(from) = found.filter(|_| unique) {
            let score = 1.0 + 0.8 / as_f64(words.len());
            if best.as_ref().is_none_or(|b| b.score < score) {
                best = Some(Hit { value: value.to_owned(), from, to: from + 1, score });
            }
        }
    }
    best
}

/// Values a description lists: quoted ones, `such as a, b`, `e.g. a`, `options: a, b`; with `'c' for Celsius` as a pair.
pub(super) fn described(description: &str) -> Vec<(String, String)> {
    let mut out = quoted(description);
    let low = description.to_lowercase();
    for cue in CUES {
        let Some(at) = low.find(cue) else { continue };
        let listed = text::slice(description, at + cue.len(), description.len());
        let listed = listed.split(['.', ')', ';', '(']).next().unwrap_or_default();
        let parts = listed.split([',', '/']).flat_map(|p| p.split(" or "));
        for part in parts.flat_map(|p| p.split(" and ")) {
            let part = part.trim().trim_matches(['\'', '"', '`']);
            let part = part.trim_end_matches(" etc").trim();
            let short = part.len() <= 40 && part.split(' ').count() <= 3 && part != "etc";
            if part.starts_with(char::is_alphanumeric) && short && !out.iter().any(|o| o.0 == part) {
                out.push((part.to_owned(), part.to_owned()));
            }
        }
    }
    out
}

#[rustfmt::skip]
const CUES: [&str; 15] = [
    "such as ", "e.g. ", "e.g., ", "e.g ", "i.e., ", "i.e. ", "like ", "options are ", "options: ", "either ",
    "possible values are ", "possible values: ", "options include: ", "for instance ", "can be ",
];

/// Quoted values before the default, with what `'c' for Celsius` says they mean.
fn quoted(description: &str) -> Vec<(String, String)> {
    let mut out: Vec<(String, String)> = Vec::new();
    let default_at = description.to_lowercase().find("default").unwrap_or(description.len());
    let mut rest = description;
    while let Some(open) = rest.find(['\'', '"', '`']) {
        let mark = rest.get(open..).and_then(|r| r.chars().next()).unwrap_or('\'');
        let inside = text::slice(rest, open + mark.len_utf8(), rest.len());
        let Some(close) = inside.find(mark) else { break };
        let value = text::slice(inside, 0, close);
        let after = text::slice(inside, close + mark.len_utf8(), inside.len());
        let before = rest.get(..open).and_then(|b| b.chars().next_back());
        let place = description.len() - rest.len() + open;
        let apostrophe = before.is_some_and(char::is_alphanumeric);
        if !apostrophe && !value.is_empty() && value.len() <= 40 && place < default_at + 60 {
            let said = after.trim_start();
            let said = said.strip_prefix("for ").or_else(|| said.strip_prefix("refers to "));
            let meaning = said.map(|m| m.split([',', '.', ';', ')']).next().unwrap_or_default().trim());
            out.push((value.to_owned(), meaning.unwrap_or(value).to_owned()));
        }
        rest = after;
    }
    out
}

/// Whether the query asks for (or rejects) what a flag is called. None where it says nothing.
pub(super) fn flag(query: &Query, param: &Param, explained: impl Fn(&str) -> bool) -> Option<(bool, f64)> {
    let words = param.name_words.iter();
    let telling = words.filter(|w| !EMPTY.contains(&w.as_str()) && !lexicon::is_stop(w));
    let telling: Vec<String> = telling.map(|w| text::stem(w)).collect();
    let places: Vec<usize> = telling.iter().filter_map(|stem| mention(query, stem)).collect();
    let at = places.iter().copied().min()?;
    // A word the tool's own name holds is the subject, not a wish.
    let news = telling.iter().any(|s| !explained(s));
    let negated = (1..=4).any(|n| at.checked_sub(n).is_some_and(|i| NEGATIONS.contains(&query.low(i))));
    let whole = places.len() == telling.len();
    let sure = if whole { 2.0 } else { 1.0 } + if news { 1.0 } else { 0.0 };
    Some((!negated, sure))
}

/// Words of a flag's name that say nothing about what it switches.
#[rustfmt::skip]
const EMPTY: [&str; 22] = [
    "include", "is", "get", "has", "show", "return", "with", "enable", "use", "allow", "want", "only", "flag", "should", "do",
    "calculate", "need", "add", "if", "available", "required", "status",
];
#[rustfmt::skip]
const NEGATIONS: [&str; 11] =
    ["no", "not", "without", "don't", "exclude", "excluding", "non", "never", "doesn't", "ignore", "ignoring"];

fn mention(query: &Query, stem: &str) -> Option<usize> {
    let says = |t: &text::Token| {
        t.stem == stem
            || text::kin(&t.stem, stem)
            || text::stem(&t.low.replace('-', "")) == stem
            || text::words(&t.low).iter().any(|w| text::stem(w) == stem)
    };
    query.tokens.iter().position(|t| t.is_word() && says(t))
}
