//! From a query and a tool's schema to inputs: enums and flags first, then lists, numbers, and last free text.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::arrays;
use super::enums;
use super::numeric;
use super::phrases;
use super::query::Query;
use super::schema::{self, Class, Param, Side, Type};
use super::spans::{self, Span};
use super::strings;
use super::text;
use super::{Candidate, Filled};

/// Words that announce a condition on a column.
const CONDITION_WORDS: [&str; 16] = [
    "where", "whose", "with", "without", "only", "is", "are", "equals", "equal", "than", "over", "under", "above",
    "below", "between", "contains",
];

struct Filler<'a> {
    query: Query<'a>,
    params: Vec<Param<'a>>,
    values: Vec<Option<Value>>,
    explained: BTreeSet<String>,
    subject: BTreeSet<String>,
    /// Token ranges that are some parameter's value already.
    taken: Vec<(usize, usize)>,
    /// Bracketed lists already used.
    brackets: Vec<usize>,
    /// Required texts and numbers that only what was left over filled.
    weak: usize,
    /// Inputs whose form alone says that they are meant: an expression, an enum's value, a file, a column.
    hard: f64,
    now: Option<&'a str>,
}

/// Inputs for one tool out of one query.
pub(super) fn fill(query: &str, tool: &Candidate, now: Option<&str>) -> Filled {
    let words = format!("{} {} {}", tool.name, tool.title.unwrap_or_default(), tool.description);
    let subject: BTreeSet<String> = text::stems(&words).into_iter().collect();
    fill_schema(query, tool.input_schema, subject, now).0
}

/// How the filling went, for the question whether the tool is meant at all.
#[derive(Debug, Clone, Default)]
pub(super) struct Trace {
    /// Byte ranges of the query that became values.
    pub(super) used: Vec<(usize, usize)>,
    pub(super) weak: usize,
    pub(super) hard: f64,
    pub(super) numbers: usize,
    pub(super) idle_numbers: usize,
}

pub(super) fn traced(query: &str, tool: &Candidate) -> (Filled, Trace) {
    let words = format!("{} {} {}", tool.name, tool.title.unwrap_or_default(), tool.description);
    fill_schema(query, tool.input_schema, text::stems(&words).into_iter().collect(), None)
}

fn fill_schema(query: &str, schema: &Value, subject: BTreeSet<String>, now: Option<&str>) -> (Filled, Trace) {
    let params = schema::params(schema);
    let mut explained = subject.clone();
    explained.extend(params.iter().flat_map(|p| p.name_stems.iter().cloned()));
    let mut filler = Filler {
        query: Query::new(query),
        values: vec![None; params.len()],
        params,
        explained,
        subject,
        taken: Vec::new(),
        brackets: Vec::new(),
        weak: 0,
        hard: 0.0,
        now,
    };
    filler.listed();
    filler.compounds();
    filler.flags();
    filler.phrases();
    filler.lists();
    filler.numbers();
    filler.texts();
    filler.searches();
    filler.half_conditions();
    let trace = filler.trace();
    (filler.finish(schema), trace)
}

impl Filler<'_> {
    fn trace(&self) -> Trace {
        let byte = |r: &(usize, usize)| {
            let end = r.1.checked_sub(1).and_then(|i| self.query.token(i)).map_or(0, |t| t.end);
            (self.query.token(r.0).map_or(0, |t| t.start), end)
        };
        let mut used: Vec<(usize, usize)> = self.taken.iter().map(byte).collect();
        used.extend(self.brackets.iter().filter_map(|b| self.query.atoms.get(*b)).map(|a| (a.start, a.end)));
        let said: Vec<_> = self
            .query
            .nums
            .iter()
            .filter(|n| !n.implied && !n.ordinal)
            .filter_map(|n| self.query.token(n.from))
            .collect();
        let idle = said.iter().filter(|t| used.iter().all(|u| t.end <= u.0 || u.1 <= t.start)).count();
        Trace { weak: self.weak, hard: self.hard.min(2.5), numbers: said.len(), idle_numbers: idle, used }
    }

    fn open(&self, index: usize) -> bool {
        self.values.get(index).is_some_and(Option::is_none)
    }

    fn set(&mut self, index: usize, value: Value) {
        if let Some(slot) = self.values.get_mut(index) {
            *slot = Some(value);
        }
    }

    fn indices(&self, wanted: impl Fn(&Param) -> bool) -> Vec<usize> {
        self.params.iter().enumerate().filter(|(i, p)| self.open(*i) && wanted(p)).map(|(i, _)| i).collect()
    }

    /// Enums, and strings whose description lists what they may be.
    fn listed(&mut self) {
        for index in self.indices(|p| matches!(p.kind, Type::String | Type::Any)) {
            let Some(param) = self.params.get(index) else { continue };
            let choices = param.choices();
            if !choices.is_empty() {
                let free = |h: &&enums::Hit| self.taken.iter().all(|t| h.to <= t.0 || t.1 <= h.from);
                let hits = enums::hits(&self.query, &choices, &|s| self.explained.contains(s));
                let led = |h: &enums::Hit| {
                    h.from.checked_sub(1).is_some_and(|i| matches!(self.query.low(i), "to" | "into" | "in" | "as"))
                };
                let side = |h: &&enums::Hit| match param.side {
                    Some(Side::Start) if hits.len() > 1 => !led(h),
                    Some(Side::End) if hits.len() > 1 => led(h),
                    _ => true,
                };
                let best = hits
                    .iter()
                    .find(|h| free(h) && side(h) && (h.score > 1.0))
                    .map(|h| (h.value.clone(), h.from, h.to, h.score));
                if let Some((value, from, to, score)) = best {
                    if score >= 3.0 {
                        self.taken.push((from, to));
                    }
                    self.hard += if score >= 2.0 { 0.8 } else { 0.4 };
                    self.set(index, Value::from(value));
                }
            } else if matches!(param.class, Class::Noun | Class::Unit) {
                self.described(index);
            }
        }
    }

    fn described(&mut self, index: usize) {
        let Some(param) = self.params.get(index) else { return };
        let pairs = enums::described(param.description);
        let meanings: Vec<&str> = pairs.iter().flat_map(|p| [p.0.as_str(), p.1.as_str()]).collect();
        let hits = enums::hits(&self.query, &meanings, &|s| self.explained.contains(s));
        let unit = param.class == Class::Unit;
        if unit && param.side.is_some() {
            return;
        }
        let counted = |h: &enums::Hit| self.query.nums.iter().any(|n| n.from <= h.from && h.from < n.to);
        let free = |h: &enums::Hit| self.taken.iter().all(|t| h.to <= t.0 || t.1 <= h.from);
        let Some(hit) = hits.into_iter().find(|h| h.score >= 2.0 && free(h) && !(unit && counted(h))) else {
            return;
        };
        let Some(value) = pairs.iter().find(|p| p.0 == hit.value || p.1 == hit.value).map(|p| p.0.clone()) else {
            return;
        };
        self.taken.push((hit.from, hit.to));
        self.set(index, Value::from(value));
    }

    /// `gas-fueled` for a `fuel_type`, `sugar-free` for nothing.
    fn compounds(&mut self) {
        for index in self.indices(|p| p.kind == Type::String && p.class == Class::Noun) {
            let Some(param) = self.params.get(index) else { continue };
            let found = self.query.tokens.iter().enumerate().find_map(|(at, t)| {
                let (head, tail) = t.text.split_once('-')?;
                let named =
                    param.name_stems.iter().any(|s| s.len() > 3 && text::kin(&text::stem(&tail.to_lowercase()), s));
                (t.is_word() && named && self.query.owner(at).is_none()).then(|| (head.to_owned(), at))
            });
            if let Some((head, at)) = found {
                self.taken.push((at, at + 1));
                self.set(index, Value::from(head));
            }
        }
    }

    fn flags(&mut self) {
        for index in self.indices(|p| p.kind == Type::Boolean) {
            let Some(param) = self.params.get(index) else { continue };
            let found = enums::flag(&self.query, param, |stem| self.subject.contains(stem));
            let bar = if param.required { 1.0 } else { 2.0 };
            if let Some((value, _)) = found.filter(|f| f.1 >= bar) {
                self.set(index, Value::from(value));
            }
        }
    }

    /// Expressions and columns: their place in the sentence says what they are.
    fn phrases(&mut self) {
        for index in self.indices(|p| p.kind == Type::String && matches!(p.class, Class::Expression | Class::Column)) {
            let Some(param) = self.params.get(index) else { continue };
            let found = if param.class == Class::Expression {
                phrases::expression(&self.query)
            } else {
                phrases::column(&self.query, param)
            };
            let worth = if param.class == Class::Expression { 2.5 } else { 1.2 };
            if let Some((text, from, to)) = found {
                self.hard += worth;
                self.taken.push((from, to));
                self.set(index, Value::from(text));
            }
        }
    }

    fn lists(&mut self) {
        let mut values = std::mem::take(&mut self.values);
        arrays::from_brackets(&self.query, &self.params, &mut values, &mut self.brackets);
        self.values = values;
        for index in self.indices(|p| p.kind == Type::Array) {
            let Some(param) = self.params.get(index) else { continue };
            let items = param.schema.get("items").unwrap_or(&Value::Null);
            let found = match schema::kind_of(items) {
                Type::String => arrays::of_enum(&self.query, param, &|s| self.explained.contains(s), &mut self.taken),
                Type::Object => {
                    arrays::conditions(&self.query, param, &mut self.taken).or_else(|| self.one_object(items))
                }
                _ => None,
            };
            if let Some(value) = found {
                self.set(index, value);
            }
        }
    }

    /// A list of objects with one object, where the query gives all it requires.
    fn one_object(&self, items: &Value) -> Option<Value> {
        items.get("properties")?;
        let (filled, _) = fill_schema(self.query.text, items, self.subject.clone(), self.now);
        let complete = filled.missing.is_empty() && items.get("required").is_some() && !filled.inputs.is_empty();
        complete.then(|| Value::Array(vec![Value::Object(filled.inputs)]))
    }

    fn numbers(&mut self) {
        for index in self.indices(|p| matches!(p.kind, Type::Integer | Type::Number)) {
            if let Some(value) = self.params.get(index).and_then(|p| numeric::clock(&self.query, p)) {
                self.set(index, value);
            }
        }
        let mut free: Vec<usize> = (0..self.query.nums.len()).filter(|i| self.number_free(*i)).collect();
        let mut values = std::mem::take(&mut self.values);
        arrays::number_runs(&self.query, &self.params, &mut values, &mut free);
        self.values = values;
        let open = self.indices(|p| matches!(p.kind, Type::Integer | Type::Number | Type::Any));
        let params: Vec<&Param> = open.iter().filter_map(|i| self.params.get(*i)).collect();
        let chosen = numeric::assign(&self.query, &params, &free);
        self.weak += params
            .iter()
            .zip(&chosen)
            .filter(|(p, n)| p.required && n.is_some_and(|n| !numeric::sure(&self.query, p, &params, n)))
            .count();
        let picked: Vec<(usize, Option<Value>, usize)> = open
            .iter()
            .zip(&params)
            .zip(&chosen)
            .filter_map(|((index, param), num)| {
                let num = (*num)?;
                self.query.nums.get(num).map(|n| (*index, numeric::value(param, n), num))
            })
            .collect();
        for (index, value, num) in picked {
            free.retain(|f| *f != num);
            if let Some(n) = self.query.nums.get(num) {
                self.taken.push((n.from, n.bare.max(n.from + 1)));
            }
            if let Some(value) = value {
                self.set(index, value);
            }
        }
        for index in self.indices(|p| p.kind == Type::Array && p.required) {
            if let Some(value) = self.params.get(index).and_then(|p| arrays::leftovers(&self.query, p, &free)) {
                self.set(index, value);
                free.clear();
            }
        }
    }

    fn number_free(&self, index: usize) -> bool {
        self.query.nums.get(index).is_some_and(|n| {
            let bracket = n.owner.is_some_and(|o| self.brackets.contains(&o));
            !bracket && self.taken.iter().all(|t| n.bare <= t.0 || t.1 <= n.from)
        })
    }

    fn texts(&mut self) {
        let spans = spans::find(&self.query, &self.explained, &self.taken);
        let open =
            self.indices(|p| matches!(p.kind, Type::String | Type::Array) && !searched(p) && p.choices().is_empty());
        let (lists, singles): (Vec<usize>, Vec<usize>) =
            open.into_iter().partition(|i| self.params.get(*i).is_some_and(|p| p.kind == Type::Array));
        let lists: Vec<usize> = lists.into_iter().filter(|i| self.params.get(*i).is_some_and(plain_strings)).collect();
        let lists_first = lists.iter().any(|i| self.params.get(*i).is_some_and(|p| p.required));
        if lists_first {
            self.string_lists(&lists, &spans);
        }
        self.single_texts(&singles, &spans);
        if !lists_first {
            self.string_lists(&lists, &spans);
        }
    }

    fn string_lists(&mut self, lists: &[usize], spans: &[Span]) {
        for index in lists {
            let all: Vec<&Param> = self.params.iter().collect();
            let Some(param) = self.params.get(*index) else { continue };
            if let Some(value) = arrays::of_strings(&self.query, param, &all, spans, &mut self.taken) {
                self.set(*index, value);
            }
        }
    }

    fn single_texts(&mut self, singles: &[usize], spans: &[Span]) {
        let params: Vec<&Param> = singles.iter().filter_map(|i| self.params.get(*i)).collect();
        let chosen = strings::assign(&self.query, &params, spans, &mut self.taken);
        let sure = |p: &Param, s: usize| {
            spans.get(s).and_then(|s| strings::score(&self.query, p, &params, s)).is_some_and(|v| v >= 2.0)
        };
        self.weak += params.iter().zip(&chosen).filter(|(p, s)| p.required && s.is_some_and(|s| !sure(p, s))).count();
        let found: Vec<(usize, String)> = singles
            .iter()
            .zip(&params)
            .zip(&chosen)
            .filter_map(|((index, param), span)| {
                let span = spans.get((*span)?)?;
                strings::value(&self.query, param, span, self.now).map(|v| (*index, v))
            })
            .collect();
        for (index, text) in found {
            if self.params.get(index).is_some_and(|p| acceptable(p.schema, &text)) {
                self.set(index, Value::from(text));
            }
        }
    }

    /// Search texts come last: they take what no other parameter took.
    fn searches(&mut self) {
        let spans = spans::find(&self.query, &self.explained, &self.taken);
        for index in self.indices(|p| p.kind == Type::String && p.required && searched(p)) {
            let whole = self.params.get(index).is_some_and(|p| p.has(&["question", "prompt"]));
            let found = if whole {
                Some((self.query.text.trim().to_owned(), 0, self.query.tokens.len()))
            } else {
                phrases::salient(&self.query, &spans, &self.taken)
            };
            if let Some((text, from, to)) =
                found.filter(|f| self.params.get(index).is_some_and(|p| acceptable(p.schema, &f.0)))
            {
                self.taken.push((from, to));
                self.set(index, Value::from(text));
            }
        }
    }

    /// A condition is a column and a value, and the question says that it is one: else nothing was meant so.
    fn half_conditions(&mut self) {
        let said = self
            .query
            .text
            .split(|c: char| c.is_whitespace() || c == ',' || c == '?')
            .any(|word| CONDITION_WORDS.contains(&word.to_lowercase().as_str()) || word.contains(['=', '<', '>']));
        for prefix in ["where", "filter", "condition"] {
            let part = |p: &Param| p.path.len() == 1 && p.name.strip_prefix(prefix).is_some_and(|n| n.starts_with('_'));
            let all = self.params.iter().enumerate();
            let group: Vec<usize> = all.filter(|(_, p)| part(p) && !p.required).map(|(i, _)| i).collect();
            let given = |names: &[&str]| {
                group.iter().any(|i| {
                    let named = self.params.get(*i).is_some_and(|p| names.iter().any(|n| p.name.ends_with(n)));
                    named && self.values.get(*i).is_some_and(Option::is_some)
                })
            };
            if !said || given(&["_field", "_column", "_key"]) != given(&["_value", "_values"]) {
                for i in group {
                    if let Some(value) = self.values.get_mut(i) {
                        *value = None;
                    }
                }
            }
        }
    }

    fn finish(self, schema: &Value) -> Filled {
        let mut inputs = Map::new();
        for (param, value) in self.params.iter().zip(self.values) {
            let value = value
                .or_else(|| param.fallback().filter(|_| param.required).and_then(|v| arrays::coerce(param.schema, &v)));
            if let Some(value) = value {
                insert(&mut inputs, &param.path, value);
            }
        }
        let mut missing = Vec::new();
        lacking(schema, schema, &inputs, "", 4, &mut missing);
        Filled { inputs, missing }
    }
}

/// A text that is the salient part of the query, not one span of it.
fn searched(param: &Param) -> bool {
    matches!(param.class, Class::Query | Class::Text)
        && param.has(&[
            "query", "search", "q", "question", "prompt", "keyword", "keywords", "terms", "text", "message", "content",
            "input", "sentence", "body",
        ])
}

fn plain_strings(param: &Param) -> bool {
    param.schema.get("items").is_none_or(|i| {
        matches!(schema::kind_of(i), Type::String | Type::Any)
            && schema::choices(i).is_empty()
            && i.get("properties").is_none()
    })
}

/// Length and pattern of the schema hold.
fn acceptable(schema: &Value, text: &str) -> bool {
    let bound = |key: &str| schema.get(key).and_then(Value::as_u64).and_then(|n| usize::try_from(n).ok());
    let length = text.chars().count();
    let sized = bound("minLength").is_none_or(|n| length >= n) && bound("maxLength").is_none_or(|n| length <= n);
    let pattern = schema.get("pattern").and_then(Value::as_str);
    let matches =
        pattern.is_none_or(|p| regex::RegexBuilder::new(p).size_limit(1 << 18).build().is_ok_and(|r| r.is_match(text)));
    sized && matches
}

fn insert(map: &mut Map<String, Value>, path: &[&str], value: Value) {
    match path {
        [] => {}
        [name] => {
            map.insert((*name).to_owned(), value);
        }
        [name, rest @ ..] => {
            let inner = map.entry(*name).or_insert_with(|| Value::Object(Map::new()));
            if let Value::Object(inner) = inner {
                insert(inner, rest, value);
            }
        }
    }
}

/// Dotted paths of required fields without a value.
fn lacking(
    root: &Value,
    schema: &Value,
    inputs: &Map<String, Value>,
    prefix: &str,
    depth: usize,
    out: &mut Vec<String>,
) {
    for name in schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str) {
        let path = if prefix.is_empty() { name.to_owned() } else { format!("{prefix}.{name}") };
        let below = schema.get("properties").and_then(|p| p.get(name)).map(|s| schema::resolve(root, s));
        match (inputs.get(name), below) {
            (None, _) => out.push(path),
            (Some(Value::Object(inner)), Some(below)) if depth > 0 => {
                lacking(root, below, inner, &path, depth - 1, out)
            }
            _ => {}
        }
    }
}
