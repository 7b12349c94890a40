//! A tool's inputs as the extractor sees them: one flat list of leaves with what their names and descriptions say.

use serde_json::Value;

use super::lexicon;
use super::numbers;
use super::text::{self, Token};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Type {
    Integer,
    Number,
    Boolean,
    String,
    Array,
    Object,
    Any,
}

/// What kind of text a string input wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    Date,
    Time,
    Month,
    Weekday,
    Place,
    /// A person, a company, a work: something with a name.
    Name,
    Id,
    Email,
    Url,
    File,
    Column,
    Currency,
    Language,
    Unit,
    Colour,
    Expression,
    /// Free text: a search query, a question, a message.
    Text,
    Query,
    Noun,
}

/// Which of a pair a parameter is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Start,
    End,
}

#[derive(Debug, Clone)]
pub(super) struct Param<'a> {
    pub(super) path: Vec<&'a str>,
    pub(super) name: &'a str,
    pub(super) schema: &'a Value,
    pub(super) kind: Type,
    pub(super) required: bool,
    pub(super) description: &'a str,
    /// The description before defaults and examples, lower case.
    pub(super) gist: String,
    pub(super) name_words: Vec<String>,
    pub(super) name_stems: Vec<String>,
    pub(super) gist_stems: Vec<String>,
    pub(super) class: Class,
    pub(super) side: Option<Side>,
    /// `x1`, `second_team`: 1, 2, …
    pub(super) rank: Option<u32>,
    pub(super) dim: Option<&'static str>,
    /// The unit the description asks for, as factor to the base unit.
    pub(super) factor: Option<f64>,
}

impl Param<'_> {
    pub(super) fn has(&self, words: &[&str]) -> bool {
        self.name_words.iter().any(|w| words.contains(&w.as_str()))
    }

    pub(super) fn says(&self, words: &[&str]) -> bool {
        words.iter().any(|w| self.gist.contains(w))
    }

    pub(super) fn choices(&self) -> Vec<&str> {
        choices(self.schema)
    }

    /// The schema's default, or for what must be given the one its description names.
    pub(super) fn fallback(&self) -> Option<Value> {
        self.schema.get("default").cloned().or_else(|| described_default(self))
    }
}

/// String values of an `enum` or `const`.
pub(super) fn choices(schema: &Value) -> Vec<&str> {
    let listed = schema.get("enum").and_then(Value::as_array).into_iter().flatten();
    listed.chain(schema.get("const")).filter_map(Value::as_str).collect()
}

const DEPTH: usize = 4;

/// All leaves below a schema, in the schema's order.
pub(super) fn params(root: &Value) -> Vec<Param<'_>> {
    let mut out = Vec::new();
    collect(root, root, &mut Vec::new(), true, DEPTH, &mut out);
    out
}

fn collect<'a>(
    root: &'a Value,
    schema: &'a Value,
    path: &mut Vec<&'a str>,
    required: bool,
    depth: usize,
    out: &mut Vec<Param<'a>>,
) {
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else {
        return;
    };
    let listed: Vec<&str> =
        schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
    for (name, property) in properties {
        let property = resolve(root, property);
        let needed = required && listed.contains(&name.as_str());
        path.push(name);
        if kind_of(property) == Type::Object && property.get("properties").is_some() && depth > 0 {
            collect(root, property, path, needed, depth - 1, out);
        } else {
            out.push(param(path, property, needed));
        }
        path.pop();
    }
}

/// Follows a local `$ref` and the first branch of `anyOf`/`oneOf`/`allOf` that is not null.
pub(super) fn resolve<'a>(root: &'a Value, schema: &'a Value) -> &'a Value {
    let mut at = schema;
    for _ in 0..8 {
        if let Some(pointer) = at.get("$ref").and_then(Value::as_str).and_then(|r| r.strip_prefix('#')) {
            let Some(target) = root.pointer(pointer) else { break };
            at = target;
            continue;
        }
        let branches = ["anyOf", "oneOf", "allOf"].iter().find_map(|k| at.get(*k)).and_then(Value::as_array);
        let first = branches.and_then(|b| b.iter().find(|s| s.get("type").and_then(Value::as_str) != Some("null")));
        match first {
            Some(branch) if at.get("type").is_none() && at.get("properties").is_none() => at = branch,
            _ => break,
        }
    }
    at
}

pub(super) fn kind_of(schema: &Value) -> Type {
    let name = match schema.get("type") {
        Some(Value::String(name)) => name.as_str(),
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).find(|n| *n != "null").unwrap_or_default(),
        _ if schema.get("properties").is_some() => "object",
        _ if schema.get("items").is_some() => "array",
        _ if !choices(schema).is_empty() => "string",
        _ => "",
    };
    match name {
        "integer" => Type::Integer,
        "number" => Type::Number,
        "boolean" => Type::Boolean,
        "string" => Type::String,
        "array" => Type::Array,
        "object" => Type::Object,
        _ => Type::Any,
    }
}

fn param<'a>(path: &[&'a str], schema: &'a Value, required: bool) -> Param<'a> {
    let name = path.last().copied().unwrap_or_default();
    let description = schema.get("description").and_then(Value::as_str).unwrap_or_default();
    let gist = gist(description);
    let name_words = text::words(name);
    let mut name_stems: Vec<String> = name_words.iter().map(|w| text::stem(w)).collect();
    if name_stems.len() > 1 {
        name_stems.retain(|w| !matches!(w.as_str(), "num" | "of" | "is" | "the" | "to" | "for" | "in"));
    }
    let mut out = Param {
        path: path.to_vec(),
        name,
        schema,
        kind: kind_of(schema),
        required,
        description,
        name_words,
        name_stems,
        gist_stems: text::stems(&gist),
        class: Class::Noun,
        side: None,
        rank: None,
        dim: None,
        factor: None,
        gist,
    };
    out.rank = rank(&out);
    out.side = side(&out);
    measure(&mut out);
    out.class = class(&out);
    out
}

/// What a description says before it comes to defaults, examples and options.
fn gist(description: &str) -> String {
    let low = description.to_lowercase();
    let cuts = [
        "default",
        "e.g",
        "for example",
        "for instance",
        "such as",
        "i.e.",
        "if not ",
        "if omitted",
        "(optional",
        "options:",
        "example",
    ];
    let end = cuts.iter().filter_map(|c| low.find(c)).filter(|at| *at > 12).min().unwrap_or(low.len());
    let gist = text::slice(&low, 0, end);
    gist.strip_prefix("optional").unwrap_or(gist).trim_start_matches([':', '.', ' ', ',']).to_owned()
}

fn rank(p: &Param) -> Option<u32> {
    let digit = p.name.trim_end_matches(|c: char| c.is_ascii_digit());
    let own = p.name.get(digit.len()..).and_then(|d| d.parse().ok()).filter(|d| *d < 10);
    own.or_else(|| p.name_words.iter().find_map(|w| lexicon::ordinal_word(w))).or_else(|| {
        let mut words = p.gist.split(|c: char| !c.is_alphanumeric());
        words
            .find_map(lexicon::ordinal_word)
            .filter(|_| !p.gist.contains("second,") && !p.gist.contains("per second") && !p.gist.contains("in second"))
    })
}

const STARTS: [&str; 16] = [
    "start",
    "from",
    "min",
    "minimum",
    "lower",
    "begin",
    "beginning",
    "initial",
    "origin",
    "source",
    "base",
    "low",
    "old",
    "departure",
    "starting",
    "since",
];
const ENDS: [&str; 16] = [
    "end",
    "to",
    "max",
    "maximum",
    "upper",
    "final",
    "finish",
    "target",
    "destination",
    "high",
    "new",
    "arrival",
    "ending",
    "until",
    "stop",
    "dest",
];

fn side(p: &Param) -> Option<Side> {
    // Physical sizes are called base and height without being a pair of ends.
    if p.has(&STARTS) && p.name_words.as_slice() != ["base"] && !p.has(&["step"]) {
        return Some(Side::Start);
    }
    if p.has(&ENDS) && !(p.name_words.len() > 1 && p.name_words.first().is_some_and(|w| w == "to"))
        || p.name_words.first().is_some_and(|w| w == "to")
    {
        return Some(Side::End);
    }
    match p.rank {
        Some(1) => Some(Side::Start),
        Some(2) => Some(Side::End),
        _ => None,
    }
}

/// The dimension and unit a number should have.
fn measure(p: &mut Param) {
    if let Some((dim, factor)) = unit_in(&p.description.to_lowercase()) {
        (p.dim, p.factor) = (Some(dim), Some(factor));
        return;
    }
    let own = p
        .name_words
        .iter()
        .skip(1)
        .rev()
        .find_map(|w| lexicon::unit(w).filter(|_| w.len() > 1 || p.name_words.len() > 1));
    if let Some((dim, factor)) = own.or_else(|| {
        p.name_words.first().filter(|w| w.len() > 2 && w.as_str() != "second").and_then(|w| lexicon::unit(w))
    }) {
        (p.dim, p.factor) = (Some(dim), Some(factor));
        return;
    }
    let named = p.name_words.iter().rev().find_map(|w| lexicon::quantity(w));
    p.dim = named.or_else(|| p.gist.split(|c: char| !c.is_alphanumeric()).find_map(lexicon::quantity));
}

/// `in kilograms`, `(kg)`, `in m/s^2`: read with the parser for the query's own units.
fn unit_in(low: &str) -> Option<(&'static str, f64)> {
    for mark in ["in the unit of ", "measured in ", " in ", "(in ", "(", "number of "] {
        for (at, _) in low.match_indices(mark) {
            let rest = text::slice(low, at + mark.len(), low.len());
            let sentence: String = format!("1 {}", rest.chars().take(30).collect::<String>());
            let tokens = text::tokens(&sentence);
            let found = numbers::find(&tokens, &[], &[]);
            let Some(num) = found.first().filter(|n| n.to > n.bare) else {
                continue;
            };
            // A full word, or a short unit that ends there: `(a list …)` is no ampere.
            let ends = tokens
                .get(num.to)
                .is_none_or(|t| !t.is_word() || t.any(&["per", "of", "from", "and", "or", "for", "to"]));
            if let Some(dim) = num.dim.filter(|_| num.unit.len() > 2 || ends) {
                return Some((dim, num.factor));
            }
        }
    }
    None
}

fn class(p: &Param) -> Class {
    let format = p.schema.get("format").and_then(Value::as_str).unwrap_or_default();
    match format {
        "date" | "date-time" => return Class::Date,
        "time" => return Class::Time,
        "email" => return Class::Email,
        "uri" | "url" | "iri" => return Class::Url,
        "uuid" => return Class::Id,
        _ => {}
    }
    by_name(p).or_else(|| by_gist(p)).unwrap_or(Class::Noun)
}

fn by_name(p: &Param) -> Option<Class> {
    #[rustfmt::skip]
    const TABLE: &[(Class, &[&str])] = &[
        (Class::Currency, &["currency", "currencies"]),
        (Class::Language, &["language", "lang", "languages"]),
        (Class::Unit, &["unit", "units", "scale"]),
        (Class::Email, &["email", "mail"]),
        (Class::Url, &["url", "uri", "link", "website"]),
        (Class::File, &["file", "path", "filename", "filepath", "csv"]),
        (Class::Column, &["column", "columns", "field", "fields", "groupby", "group"]),
        (Class::Date, &["date", "dates", "deadline", "birthday", "birthdate", "datetime", "checkin", "checkout"]),
        (Class::Month, &["month"]),
        (Class::Weekday, &["day", "weekday"]),
        (Class::Id, &["id", "code", "docket", "isbn", "sku", "identifier", "serial", "zip", "zipcode", "uuid", "vin"]),
        (Class::Colour, &["color", "colour", "colors", "colours"]),
        (Class::Expression, &["expression", "formula", "equation", "expr", "polynomial", "integrand"]),
        (Class::Query, &["query", "search", "keyword", "keywords", "topic", "subject", "q", "term", "terms", "prompt"]),
        (Class::Text, &["text", "message", "content", "sentence", "question", "comment", "paragraph", "review", "input", "description", "note"]),
        (Class::Place, &["location", "city", "country", "state", "place", "region", "address", "origin", "destination", "area", "county", "venue", "town", "locale", "province"]),
        (Class::Time, &["time", "clock"]),
        (Class::Name, &["name", "title", "author", "artist", "player", "actor", "director", "person", "company", "brand", "team", "store", "composer", "league", "book", "movie", "song", "celebrity", "hotel", "museum", "manufacturer", "organization", "stock", "game", "restaurant", "character", "recipient", "sender", "scientist", "inventor", "leader", "athlete", "singer", "musician", "band", "poet", "philosopher", "writer", "owner", "employee", "patient", "customer", "client", "doctor", "lawyer", "teacher", "student", "friend", "contact", "host", "president", "king", "monarch", "battle", "war", "event", "park", "building", "monument", "landmark", "river", "mountain", "university", "school", "hospital", "airport", "airline", "planet", "sculpture", "painting", "artwork", "album", "username", "celebrity", "theater", "theatre", "club", "show", "series", "platform"]),
    ];
    if p.has(&["time"]) && p.has(&["zone", "frame", "period", "range", "span", "limit"]) || p.has(&["timezone"]) {
        return Some(if p.has(&["zone", "timezone"]) { Class::Place } else { Class::Noun });
    }
    if p.has(&["type", "kind", "category", "genre", "mode", "level", "style", "status", "format"]) {
        return Some(Class::Noun);
    }
    if p.name_words.as_slice() == ["function"]
        && p.says(&["derivative", "integra", "polynomial", "expression", "equation", "function"])
    {
        return Some(Class::Expression);
    }
    if p.has(&["number"]) && p.kind == Type::String {
        return Some(Class::Id);
    }
    if p.name_words.as_slice() == ["body"] {
        return Some(Class::Text);
    }
    TABLE.iter().find(|(_, words)| p.has(words)).map(|t| t.0)
}

fn by_gist(p: &Param) -> Option<Class> {
    const TABLE: &[(Class, &[&str])] = &[
        (Class::Currency, &["currency"]),
        (Class::File, &["file path", "path to", "file name"]),
        (Class::Date, &["date of", "the date", "yyyy"]),
        (Class::Expression, &["mathematical expression", "mathematical function", "formula"]),
        (
            Class::Place,
            &[
                "city",
                "location",
                "country",
                "place",
                "region where",
                "state where",
                "address",
                "starting point",
                "end point",
                "ending point",
            ],
        ),
        (
            Class::Name,
            &[
                "name of",
                "title of",
                "'s name",
                "full name",
                "the author",
                "the artist",
                "the company",
                "the brand",
                "the team",
            ],
        ),
        (Class::Id, &["identifier", "unique id", "the id "]),
        (Class::Unit, &["unit of", "unit to", "unit for"]),
    ];
    TABLE.iter().find(|(_, marks)| p.says(marks)).map(|t| t.0)
}

/// `… Default is 'NASDAQ'.`, `defaults to 5`
fn described_default(p: &Param) -> Option<Value> {
    let low = p.description.to_lowercase();
    let at = low.find("default")?;
    let tokens: Vec<Token> = text::tokens(p.description.get(at..)?);
    let start = tokens
        .iter()
        .position(|t| !t.any(&["default", "defaults", "value", "is", "to", "set", "as", ":", "=", "the", "being"]))?;
    let token = tokens.get(start)?;
    let quote = matches!(token.text.as_str(), "'" | "\"" | "`");
    let value = if quote {
        let rest = p.description.get(at + token.end..)?;
        rest.get(..rest.find(token.text.as_str())?)?.to_owned()
    } else {
        token.text.clone()
    };
    match p.kind {
        Type::Integer => value.replace(',', "").parse::<i64>().ok().map(Value::from),
        Type::Number => value.replace(',', "").parse::<f64>().ok().map(Value::from),
        Type::Boolean => value.to_lowercase().parse::<bool>().ok().map(Value::from),
        Type::String if quote => Some(Value::from(value)),
        _ => None,
    }
}
