//! Inputs that take a stretch of the query by its grammar: expressions, search texts, columns to group by.

use super::lexicon;
use super::query::Query;
use super::schema::Param;
use super::spans::{Span, SpanKind};
use super::text::Kind;

const FUNCTIONS: [&str; 16] =
    ["sin", "cos", "tan", "log", "ln", "exp", "sqrt", "pi", "abs", "min", "max", "mod", "e", "log10", "asin", "acos"];
const SPOKEN: &[(&str, &str)] =
    &[("plus", "+"), ("minus", "-"), ("times", "*"), ("multiplied", "*"), ("divided", "/"), ("over", "/")];

/// The longest arithmetic or algebraic expression: `2*(3+4)`, `3x^2 + 2x - 1`, `7 plus 5`.
pub(super) fn expression(query: &Query) -> Option<(String, usize, usize)> {
    let mut best: Option<(usize, usize)> = None;
    let mut at = 0;
    while at < query.tokens.len() {
        let from = at;
        while mathematical(query, at, at == from) {
            at += 1;
        }
        let (a, b) = tightened(query, from, at);
        if a < b && is_expression(query, a, b) && best.is_none_or(|(c, d)| b - a > d - c) {
            best = Some((a, b));
        }
        at = at.max(from + 1);
    }
    let (from, to) = best?;
    let mut text = query.between(from, to).to_owned();
    for (word, sign) in SPOKEN {
        text = text
            .replace(&format!(" {word} by "), &format!(" {sign} "))
            .replace(&format!(" {word} "), &format!(" {sign} "));
    }
    Some((text, from, to))
}

fn mathematical(query: &Query, at: usize, first: bool) -> bool {
    let Some(token) = query.token(at) else { return false };
    let next = query.low(at + 1);
    let before = at.checked_sub(1).map_or("", |i| query.low(i));
    match token.kind {
        Kind::Number => true,
        Kind::Punct => {
            matches!(token.text.as_str(), "+" | "-" | "*" | "/" | "^" | "(" | ")" | "=" | "×" | "÷" | "−" | "%")
                && !(first && matches!(token.text.as_str(), "=" | ")" | "*" | "/"))
        }
        Kind::Word if FUNCTIONS.contains(&token.low.as_str()) => {
            token.low.len() == 1 || next == "(" || token.low == "pi"
        }
        Kind::Word if token.low.len() == 1 => {
            let joined = !token.gap
                || matches!(next, "^" | "+" | "-" | "*" | "/" | "=" | ")" | "(")
                || matches!(before, "+" | "-" | "*" | "/" | "(" | "=");
            joined && token.text.chars().all(char::is_alphabetic)
        }
        Kind::Word => {
            (SPOKEN.iter().any(|s| s.0 == token.low)
                || (token.low == "by" && matches!(before, "divided" | "multiplied")))
                && !first
        }
    }
}

/// Without what cannot begin or end an expression, and without `f(x) =` or `y =`.
fn tightened(query: &Query, mut from: usize, mut to: usize) -> (usize, usize) {
    if let Some(equals) = (from..to).find(|i| query.low(*i) == "=" && query.low(i + 1) != "=") {
        let named = equals - from <= 4
            && (from..equals).all(|i| query.token(i).is_some_and(|t| t.is_word() || t.any(&["(", ")"])));
        if named && equals + 1 < to {
            from = equals + 1;
        }
    }
    while from < to && query.tokens.get(to - 1).is_some_and(|t| t.any(&["+", "-", "*", "/", "^", "=", "("])) {
        to -= 1;
    }
    let depth = |a: usize, b: usize| {
        (a..b).fold((0_i32, 0_i32), |(d, low), i| {
            let d = d + match query.low(i) {
                "(" => 1,
                ")" => -1,
                _ => 0,
            };
            (d, low.min(d))
        })
    };
    while from < to && depth(from, to).1 < 0 {
        to -= 1;
    }
    if depth(from, to).0 > 0 && query.low(from) == "(" {
        from += 1;
    }
    (from, to)
}

fn is_expression(query: &Query, from: usize, to: usize) -> bool {
    let any = |f: &dyn Fn(usize) -> bool| (from..to).any(f);
    let operator = any(&|i| {
        query
            .token(i)
            .is_some_and(|t| t.any(&["+", "-", "*", "/", "^", "(", "×", "÷"]) || SPOKEN.iter().any(|s| s.0 == t.low))
            && i > from
    }) || (from + 1..to).any(|i| query.token(i).is_some_and(|t| t.is_word() && !t.gap));
    let operand = any(&|i| query.token(i).is_some_and(|t| t.kind == Kind::Number || (t.is_word() && t.low.len() == 1)));
    operator && operand && to - from > 1
}

/// The word after which a search text begins.
fn cue(query: &Query) -> Option<usize> {
    query
        .tokens
        .iter()
        .position(|t| {
            t.any(&[
                "about",
                "on",
                "regarding",
                "concerning",
                "mentioning",
                "containing",
                "covering",
                "mention",
                "mentions",
                "contain",
                "contains",
                "discuss",
                "discusses",
            ])
        })
        .or_else(|| query.tokens.iter().position(|t| t.any(&["for"])))
        .filter(|c| query.token(c + 1).is_some_and(|t| t.is_word() || t.kind == Kind::Number))
}

/// The part of the query that says what to look for.
pub(super) fn salient(query: &Query, spans: &[Span], taken: &[(usize, usize)]) -> Option<(String, usize, usize)> {
    let free = |s: &&Span| taken.iter().all(|t| s.to <= t.0 || t.1 <= s.from);
    if let Some(quote) = spans.iter().filter(free).find(|s| s.kind == SpanKind::Quote) {
        return Some((quote.text.clone(), quote.from, quote.to));
    }
    let content = |s: &&Span| matches!(s.kind, SpanKind::Noun | SpanKind::Name) && s.explained < 0.99;
    let first = match cue(query) {
        Some(cue) => Some(cue + 1),
        None => spans.iter().filter(free).filter(content).map(|s| s.from).min(),
    };
    let first = first.or_else(|| {
        query.tokens.iter().position(|t| t.is_word() && !lexicon::is_stop(&t.low) && !lexicon::is_imperative(&t.low))
    })?;
    let mut from = first;
    while matches!(query.low(from), "the" | "a" | "an" | "my" | "all" | "any") {
        from += 1;
    }
    let end = (from..query.tokens.len()).find(|i| {
        let stop = query.token(*i).is_some_and(|t| {
            matches!(t.text.as_str(), "." | "?" | "!" | ";" | ",") && query.token(i + 1).is_none_or(|n| n.gap)
        });
        stop || taken.iter().any(|t| t.0 == *i && *i > from)
    });
    let mut to = end.unwrap_or(query.tokens.len());
    while to > from + 1
        && query.tokens.get(to - 1).is_some_and(|t| lexicon::is_stop(&t.low) || t.kind == Kind::Punct || t.is("please"))
    {
        to -= 1;
    }
    let text = query.between(from, to);
    (!text.is_empty()).then(|| (text.to_owned(), from, to))
}

/// A column named by its place: `by category`, `which store`, `mean price`, `sorted by date`.
pub(super) fn column(query: &Query, param: &Param) -> Option<(String, usize, usize)> {
    let word = |at: usize| {
        let mut at = at;
        while matches!(query.low(at), "the" | "of" | "each" | "every" | "all" | "its" | "their") {
            at += 1;
        }
        let token =
            query.token(at).filter(|t| t.is_word() && !lexicon::is_stop(&t.low) && query.owner(at).is_none())?;
        Some((token.text.clone(), at, at + 1))
    };
    let after =
        |cues: &[&str]| (0..query.tokens.len()).filter(|i| cues.contains(&query.low(*i))).find_map(|i| word(i + 1));
    let sorted = (0..query.tokens.len()).find(|i| {
        matches!(query.low(*i), "sorted" | "sort" | "ordered" | "order" | "ranked") && query.low(i + 1) == "by"
    });
    if param.has(&["sort", "order", "sortby", "orderby"]) {
        return sorted.and_then(|i| word(i + 2));
    }
    if param.has(&["group", "by", "groupby", "dimension", "per"]) {
        let by = (0..query.tokens.len())
            .filter(|i| matches!(query.low(*i), "by" | "per") && sorted.is_none_or(|s| s + 1 != *i))
            .find_map(|i| word(i + 1));
        return by
            .or_else(|| after(&["each", "every"]))
            .or_else(|| (0..3).filter(|i| matches!(query.low(*i), "which" | "what")).find_map(|i| word(i + 1)));
    }
    let measures = [
        "average", "mean", "sum", "total", "median", "maximum", "max", "minimum", "min", "highest", "lowest",
        "largest", "smallest", "avg",
    ];
    if let Some(found) = (0..query.tokens.len()).filter(|i| measures.contains(&query.low(*i))).find_map(|i| word(i + 1))
    {
        return Some(found);
    }
    let marked = (0..query.tokens.len()).find_map(|i| match query.low(i) {
        "column" | "field" | "attribute" => {
            word(i + 1).filter(|w| !w.0.eq_ignore_ascii_case("in")).or_else(|| i.checked_sub(1).and_then(word))
        }
        _ => None,
    });
    marked.or_else(|| query.tokens.iter().position(|t| t.is_word() && t.text.contains('_')).and_then(word))
}
