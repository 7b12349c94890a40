//! Which stretch of the query fills which text input.

use serde_json::Value;

use super::atoms::AtomKind;
use super::lexicon;
use super::query::Query;
use super::schema::{Class, Param, Side};
use super::spans::{Span, SpanKind};
use super::text;

const OPTIONAL_BAR: f64 = 3.0;
const REQUIRED_BAR: f64 = 0.3;

/// For each parameter the index of its span. Greedy by score: a span, once taken, is gone with all that overlap it.
pub(super) fn assign(
    query: &Query,
    params: &[&Param],
    spans: &[Span],
    taken: &mut Vec<(usize, usize)>,
) -> Vec<Option<usize>> {
    let mut pairs: Vec<(f64, usize, usize)> = Vec::new();
    for (p, param) in params.iter().enumerate() {
        for (s, span) in spans.iter().enumerate() {
            let bar = if !param.required {
                OPTIONAL_BAR
            } else if span.kind == SpanKind::Name {
                REQUIRED_BAR - 0.8
            } else {
                REQUIRED_BAR
            };
            if let Some(score) = score(query, param, params, span).filter(|v| *v >= bar) {
                let order = 0.05 * as_f64(p) + 0.02 * as_f64(span.from);
                pairs.push((score + if param.required { 1.0 } else { 0.0 } - order, p, s));
            }
        }
    }
    pairs.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut out = vec![None; params.len()];
    for (_, p, s) in pairs {
        let (Some(slot), Some(span)) = (out.get_mut(p), spans.get(s)) else {
            continue;
        };
        let free = taken.iter().all(|t| span.to <= t.0 || t.1 <= span.from);
        if slot.is_none() && free {
            *slot = Some(s);
            taken.push((span.from, span.to));
        }
    }
    ordered(query, params, spans, &mut out);
    out
}

#[expect(clippy::cast_precision_loss, reason = "small counts")]
fn as_f64(n: usize) -> f64 {
    n as f64
}

/// Two of a kind without a word that parts them stand in the order of the schema.
fn ordered(query: &Query, params: &[&Param], spans: &[Span], out: &mut [Option<usize>]) {
    for a in 0..params.len() {
        for b in a + 1..params.len() {
            let (Some(pa), Some(pb)) = (params.get(a), params.get(b)) else {
                continue;
            };
            let (Some(Some(sa)), Some(Some(sb))) = (out.get(a).copied(), out.get(b).copied()) else {
                continue;
            };
            let (Some(x), Some(y)) = (spans.get(sa), spans.get(sb)) else {
                continue;
            };
            let pair = matches!((pa.rank, pb.rank), (Some(i), Some(j)) if i < j)
                && pa.class == pb.class
                && pa.name_stems.first() == pb.name_stems.first();
            if pair && x.from > y.from && side(query, pa, x) <= 0.0 && side(query, pb, y) <= 0.0 {
                out.swap(a, b);
            }
        }
    }
}

/// None where the span cannot be the parameter's value.
pub(super) fn score(query: &Query, param: &Param, all: &[&Param], span: &Span) -> Option<f64> {
    let shape = shape(query, param, span)?;
    let mut score = shape + adjacent(query, param, span) + preposition(query, param, span) + side(query, param, span);
    // An optional input does not take a quote that is not labelled as its own.
    if span.kind == SpanKind::Quote && !param.required && adjacent(query, param, span) < 1.0 {
        score -= 1.0;
    }
    if span.kind == SpanKind::Quote && all.iter().any(|p| p.name.eq_ignore_ascii_case(&span.text)) {
        score -= 5.0;
    }
    if span.kind == SpanKind::Name
        && span.to > span.from + 1
        && (span.from..span.to).any(|i| {
            query.token(i).is_some_and(|t| {
                param.name_stems.contains(&t.stem) || (param.class == Class::Name && param.gist_stems.contains(&t.stem))
            })
        })
    {
        score += 1.5;
    }
    if span.kind == SpanKind::Noun || span.kind == SpanKind::Name {
        let low = span.text.to_lowercase();
        if param.gist_stems.contains(&text::stem(&low)) || param.name_stems.contains(&text::stem(&low)) {
            score -= 2.5;
        }
        // The noun right before a quote is its label.
        if query.owner(span.to).is_some_and(|a| a.kind == AtomKind::Quote) {
            score -= 2.0;
        }
        // "Hotel Paradise" is the hotel, not the city.
        let other = |p: &&&Param| {
            p.name != param.name
                && p.class == Class::Name
                && p.name_stems
                    .iter()
                    .any(|s| !param.name_stems.contains(s) && !matches!(s.as_str(), "nam" | "name" | "titl"))
        };
        if span.kind == SpanKind::Name
            && span.to > span.from + 1
            && all.iter().filter(other).any(|p| {
                (span.from..span.to).any(|i| {
                    query
                        .token(i)
                        .is_some_and(|t| p.name_stems.contains(&t.stem) && !param.name_stems.contains(&t.stem))
                })
            })
        {
            score -= 1.5;
        }
        // What another parameter is called is its label, not a value.
        if all.iter().any(|p| p.name_words.len() == 1 && p.name_stems.first() == Some(&text::stem(&low))) {
            score -= 1.5;
        }
    }
    Some(score)
}

/// How the span's form suits the class of the parameter.
fn shape(query: &Query, param: &Param, span: &Span) -> Option<f64> {
    if let Some(atom) = span.atom.and_then(|a| query.atoms.get(a)).filter(|a| a.kind != AtomKind::Quote) {
        return piece(param, atom.kind);
    }
    let low = span.text.to_lowercase();
    let quoted = span.kind == SpanKind::Quote;
    match param.class {
        Class::Email => (quoted && low.contains('@') && !low.contains(' ')).then_some(6.0),
        Class::Url => (quoted && low.contains("://")).then_some(6.0),
        Class::Date => (quoted && low.starts_with(|c: char| c.is_ascii_digit())).then_some(3.0),
        Class::Time => None,
        Class::File if quoted => Some(4.0),
        Class::Id => identifier(span),
        Class::Month => lexicon::month(&low).filter(|_| low.len() > 2).map(|_| 6.0),
        Class::Weekday => lexicon::WEEKDAYS.contains(&low.as_str()).then_some(6.0),
        Class::Language => Some(if lexicon::is_language(&low) { 6.0 } else { -1.0 }),
        Class::Currency => lexicon::currency(&low).map(|_| 6.0 + counted(query, param, span)),
        Class::Unit => unit_span(query, param, span),
        Class::Colour if lexicon::is_colour(&low) => Some(5.0),
        Class::Colour => Some(if span.kind == SpanKind::Noun { 0.2 } else { 0.0 }),
        _ => general(param, span),
    }
}

/// A self-standing piece fits its own class, and little else.
fn piece(param: &Param, atom: AtomKind) -> Option<f64> {
    let frame =
        param.says(&["time frame", "timeframe", "period", "when"]) || param.has(&["when", "period", "schedule"]);
    let seasons = param.has(&["season", "year", "years", "period", "term"]) || param.says(&["season", "two years"]);
    match (param.class, atom) {
        (Class::Date, AtomKind::Date(date)) if date.relative.is_some() => Some(5.0),
        (Class::Date, AtomKind::Date(_))
        | (Class::Time, AtomKind::Time { .. })
        | (Class::Email, AtomKind::Email)
        | (Class::Url, AtomKind::Url)
        | (Class::File, AtomKind::File)
        | (Class::Colour, AtomKind::Hex) => Some(6.0),
        (Class::Id, AtomKind::Id) => Some(4.5),
        (Class::Noun | Class::Name | Class::Text | Class::Query, AtomKind::Id) => Some(0.9),
        (_, AtomKind::File) => param.has(&["source", "dataset", "data", "table", "document"]).then_some(4.0),
        (_, AtomKind::Range) => seasons.then_some(4.0),
        (_, AtomKind::Date(_) | AtomKind::Time { .. }) => frame.then_some(2.5),
        _ => None,
    }
}

fn identifier(span: &Span) -> Option<f64> {
    match span.kind {
        SpanKind::Number => Some(2.0),
        SpanKind::Quote => Some(4.0),
        SpanKind::Name => {
            let code = span.text.chars().all(|c| c.is_uppercase() || c.is_ascii_digit() || c == '-');
            Some(if code { 1.5 } else { 0.4 })
        }
        _ => None,
    }
}

/// What a number counts is what one converts from.
fn counted(query: &Query, param: &Param, span: &Span) -> f64 {
    let counts = query.nums.iter().any(|n| n.bare == span.from || (n.currency && n.to == span.to));
    match (param.side, counts) {
        (Some(Side::Start), true) | (Some(Side::End), false) => 2.0,
        (Some(Side::End), true) => -2.0,
        _ => 0.0,
    }
}

/// Wants a kind of something, which English puts before the noun.
fn kind_like(param: &Param) -> bool {
    param.has(&[
        "type",
        "genre",
        "kind",
        "category",
        "style",
        "cuisine",
        "specialty",
        "specialization",
        "field",
        "material",
        "flavor",
        "diet",
        "mode",
        "method",
        "class",
    ])
}

fn general(param: &Param, span: &Span) -> Option<f64> {
    if span.modifier && !kind_like(param) {
        return None;
    }
    let low = span.text.to_lowercase();
    let unit = |w: &str| w.len() > 2 && lexicon::unit(w).is_some();
    if span.kind != SpanKind::Quote && low.split(' ').all(unit) {
        return None;
    }
    let calendar = lexicon::month(&low).is_some() || lexicon::WEEKDAYS.contains(&low.as_str());
    let named = matches!(param.class, Class::Name | Class::Place);
    let mut score = match span.kind {
        SpanKind::Quote if param.class == Class::Place => 1.0,
        SpanKind::Quote => 3.5,
        SpanKind::Name if named => 2.6,
        SpanKind::Name if kind_like(param) => 1.2,
        SpanKind::Name => 1.9,
        SpanKind::Noun if named => 0.9,
        SpanKind::Noun => 1.6,
        SpanKind::Atom | SpanKind::Unit => return None,
        SpanKind::Number => {
            return (param.class == Class::Noun && param.has(&["season", "version", "year", "size"])).then_some(1.0);
        }
    };
    score -= if calendar { 2.5 } else { 0.0 };
    score += if span.modifier { 0.5 } else { 0.0 };
    score -= match span.kind {
        SpanKind::Quote => 0.0,
        SpanKind::Name => 1.4 * span.explained,
        _ => 2.6 * span.explained,
    };
    let place = lexicon::is_country(&low) || lexicon::is_state(&span.text);
    if param.class == Class::Place {
        score += placed(param, span, &low);
    } else if span.composite {
        score -= 3.0;
    } else if place && !param.has(&["team", "nation", "nationality"]) {
        score -= 1.2;
    }
    score -= if lexicon::is_language(&low) && param.class == Class::Name { 1.5 } else { 0.0 };
    Some(score)
}

/// What the lists of countries and states add for a place.
fn placed(param: &Param, span: &Span, low: &str) -> f64 {
    let (country, state) = (lexicon::is_country(low), lexicon::is_state(&span.text));
    let wrong = (param.has(&["country"]) && !country) || (param.has(&["state", "province"]) && !state);
    let city = param.has(&["city"]) && !param.has(&["country", "state"]);
    let mut score = match (country || state, wrong) {
        (true, true) => -2.5,
        (true, false) if city => 0.3,
        (true, false) => 1.5,
        (false, true) => -1.5,
        (false, false) => 0.0,
    };
    if span.composite {
        let narrow = param.has(&["city", "country", "state"]) && !param.says(&["city and state", "city, "]);
        score += if narrow { -2.5 } else { 0.6 };
    }
    score
}

/// `in feet`, `to miles`: a unit asked for, not the unit of a number.
fn unit_span(query: &Query, param: &Param, span: &Span) -> Option<f64> {
    let word = query.low(span.from);
    if !matches!(span.kind, SpanKind::Unit | SpanKind::Noun | SpanKind::Name) {
        return None;
    }
    let (dim, _) = lexicon::unit(word).filter(|_| word.len() > 1 && span.to == span.from + 1)?;
    let counted = query.nums.iter().any(|n| n.from <= span.from && span.from < n.to);
    let before = span.from.checked_sub(1).map_or("", |i| query.low(i));
    let named_dim = lexicon::quantity("").is_none() && !matches!(dim, "percent");
    match param.side {
        Some(Side::Start) => Some(if counted { 4.0 } else { 1.0 }),
        Some(Side::End) => Some(if counted { 0.2 } else { 4.0 }),
        None if !counted && matches!(before, "in" | "to" | "into" | "as") && named_dim => Some(4.0),
        None => None,
    }
}

/// Words that may stand between a label and its value.
const LINKS: [&str; 24] = [
    "of", "is", "named", "called", "titled", "to", "as", "=", ":", "with", "a", "an", "the", "are", "be", "equals",
    "by", "being", "using", "name", "title", "for", "was", "numbered",
];

/// The parameter's own words right before or right behind the span.
fn adjacent(query: &Query, param: &Param, span: &Span) -> f64 {
    let generic = ["name", "type", "title", "value", "info", "text", "id", "string", "list", "number", "code"];
    let heads: Vec<&String> = param
        .name_stems
        .iter()
        .filter(|w| w.len() > 1 && (param.name_stems.len() == 1 || !generic.contains(&w.as_str())))
        .collect();
    let weight = |stem: &str| {
        if heads.iter().any(|h| text::kin(h, stem)) {
            1.0
        } else if param.gist_stems.iter().take(12).any(|g| g == stem) {
            0.4
        } else {
            0.0
        }
    };
    let mut before = 0.0;
    let mut steps = 0;
    let mut at = span.from;
    while let Some(i) = at.checked_sub(1) {
        let Some(token) = query.token(i) else { break };
        if (LINKS.contains(&token.low.as_str()) || matches!(token.text.as_str(), "'" | "\"")) && steps < 4 {
            steps += 1;
            at = i;
            // The label may itself be called `name`: "player name is X".
            if matches!(token.low.as_str(), "name" | "title") && param.name_stems.contains(&token.stem) {
                before = 1.0;
            }
            continue;
        }
        // Apposition: "the player, Serena".
        if token.text == "," && steps == 0 && span.kind != SpanKind::Noun {
            steps += 4;
            at = i;
            continue;
        }
        if token.is_word() {
            before = f64::max(before, weight(&token.stem));
        }
        break;
    }
    let after = (0..2)
        .find_map(|i| query.token(span.to + i).filter(|t| t.is_word()))
        .filter(|_| query.token(span.to).is_some_and(|t| t.is_word() || t.text == "'"));
    let behind = after.filter(|t| t.low != "s").map_or(0.0, |t| weight(&t.stem));
    f64::max(before * 2.6, behind * 1.8)
}

fn preposition(query: &Query, param: &Param, span: &Span) -> f64 {
    let mut at = span.from;
    while at.checked_sub(1).is_some_and(|i| matches!(query.low(i), "the" | "a" | "an" | "my" | "city" | "state")) {
        at -= 1;
    }
    let before = at.checked_sub(1).map_or("", |i| query.low(i));
    match param.class {
        Class::Place => match before {
            "in" | "at" | "near" | "around" | "within" | "across" | "outside" => 1.5,
            "for" | "of" | "from" | "to" => 0.5,
            "by" | "about" | "with" => -1.0,
            "," if span.kind == SpanKind::Name => 0.6,
            _ => 0.0,
        },
        Class::Name => {
            let maker = param.has(&[
                "author",
                "artist",
                "manufacturer",
                "brand",
                "director",
                "composer",
                "creator",
                "designer",
                "developer",
            ]) || param.says(&["author", "artist"]);
            match before {
                "by" if maker => 2.5,
                "from" | "of" if maker => 0.8,
                "in" => -0.8,
                "at" | "from" if param.has(&["store", "shop", "market", "hotel", "restaurant", "library"]) => 1.5,
                "for" | "of" | "by" => 0.4,
                _ => 0.0,
            }
        }
        Class::Query => {
            if matches!(before, "about" | "on" | "regarding" | "for") {
                1.5
            } else {
                0.0
            }
        }
        _ => match before {
            "in" | "near" | "at" if span.kind == SpanKind::Name => -0.6,
            "about" | "for" | "of" | "with" => 0.3,
            _ => 0.0,
        },
    }
}

/// `from A to B`, `between A and B`, `A with B`.
fn side(query: &Query, param: &Param, span: &Span) -> f64 {
    let Some(side) = param.side else { return 0.0 };
    let mut at = span.from;
    while at.checked_sub(1).is_some_and(|i| matches!(query.low(i), "the" | "a" | "an" | "$"))
        || at.checked_sub(1).is_some_and(|i| query.nums.iter().any(|n| n.from <= i && i < n.to))
    {
        at -= 1;
    }
    let before = at.checked_sub(1).map_or("", |i| query.low(i));
    let start = matches!(before, "from" | "between");
    let end = matches!(before, "to" | "into" | "until" | "till" | "in")
        || (before == "and" && query.opened_between(at))
        || (before == "-");
    match side {
        Side::Start if start => 2.5,
        Side::Start if end && before != "in" => -1.5,
        Side::End if end => 2.5,
        Side::End if start => -1.5,
        _ => 0.0,
    }
}

/// The value as the parameter wants it written.
pub(super) fn value(query: &Query, param: &Param, span: &Span, now: Option<&str>) -> Option<String> {
    let atom = span.atom.and_then(|a| query.atoms.get(a)).map(|a| a.kind);
    if let (Class::Date | Class::Month, Some(AtomKind::Date(date))) = (param.class, atom) {
        let date_time = param.schema.get("format").and_then(Value::as_str) == Some("date-time");
        return date.render(param.description, date_time, now).or_else(|| Some(span.text.clone()));
    }
    let formatted = param.schema.get("format").is_some();
    let clock = param.class == Class::Time && (formatted || param.says(&["24", "hh:mm"]));
    if let Some(AtomKind::Time { hour, minute }) = atom.filter(|_| clock) {
        let seconds = if formatted || param.says(&["hh:mm:ss"]) { ":00" } else { "" };
        return Some(format!("{hour:02}:{minute:02}{seconds}"));
    }
    if param.class == Class::Currency {
        return lexicon::currency(&span.text.to_lowercase()).map(str::to_owned);
    }
    let text = span.text.trim().trim_end_matches(['?', '!', ',', ';']);
    if param.class == Class::Unit {
        let listed = super::enums::described(param.description)
            .into_iter()
            .find(|d| text::stem(&d.0.to_lowercase()) == text::stem(&text.to_lowercase()));
        return Some(listed.map_or_else(|| text.to_owned(), |l| l.0));
    }
    Some(text.to_owned())
}
