//! Lists: bracketed ones, numbers in a row, names in a row, enum values named, conditions of a filter.

use serde_json::{Map, Value};

use super::atoms::AtomKind;
use super::enums;
use super::numeric;
use super::query::Query;
use super::schema::{self, Param, Type};
use super::spans::{Span, SpanKind};
use super::strings;
use super::text;

/// The bracketed lists of the query as JSON, with their atom's index.
pub(super) fn bracketed(query: &Query) -> Vec<(usize, Value)> {
    let brackets = query.atoms.iter().enumerate().filter(|(_, a)| a.kind == AtomKind::Bracket);
    brackets.filter_map(|(i, a)| loose_json(&a.text).map(|v| (i, v))).collect()
}

/// JSON, or a list as people write it: single quotes, bare words, round brackets.
fn loose_json(source: &str) -> Option<Value> {
    if let Ok(value) = serde_json::from_str(source) {
        return Some(value);
    }
    let doubled = source.replace(['\'', '’', '‘', '“', '”'], "\"").replace('(', "[").replace(')', "]");
    if let Ok(value) = serde_json::from_str(&doubled) {
        return Some(value);
    }
    let inner = source.trim().strip_prefix('[')?.strip_suffix(']')?;
    if inner.contains(['[', '{']) {
        return None;
    }
    let item = |part: &str| {
        let part = part.trim().trim_matches(['\'', '"']);
        part.parse::<i64>()
            .map(Value::from)
            .or_else(|_| part.parse::<f64>().map(Value::from))
            .unwrap_or_else(|_| Value::from(part))
    };
    Some(Value::Array(inner.split(',').filter(|p| !p.trim().is_empty()).map(item).collect()))
}

/// Makes a value fit a schema without loss, or gives nothing.
pub(super) fn coerce(schema: &Value, value: &Value) -> Option<Value> {
    match (schema::kind_of(schema), value) {
        (Type::Integer | Type::Number, Value::Number(n)) => {
            n.as_f64().and_then(|v| numeric::json(schema, v, n.is_i64() || n.is_u64()))
        }
        (Type::Integer | Type::Number, Value::String(s)) => {
            s.trim().parse::<f64>().ok().and_then(|v| numeric::json(schema, v, !s.contains('.')))
        }
        (Type::String, Value::String(s)) => {
            let choices = schema::choices(schema);
            let named = choices.iter().find(|c| c.eq_ignore_ascii_case(s));
            if choices.is_empty() { Some(value.clone()) } else { named.map(|c| Value::from(*c)) }
        }
        (Type::String, Value::Number(n)) => Some(Value::from(n.to_string())),
        (Type::Boolean, Value::Bool(_)) | (Type::Any, _) => Some(value.clone()),
        (Type::Array, Value::Array(list)) => {
            let items = schema.get("items").unwrap_or(&Value::Null);
            list.iter()
                .map(|v| coerce(items, v))
                .collect::<Option<Vec<_>>>()
                .filter(|l| sized(schema, l.len()))
                .map(Value::Array)
        }
        (Type::Object, Value::Object(_)) => Some(value.clone()),
        _ => None,
    }
}

/// Inside `minItems` and `maxItems`.
fn sized(schema: &Value, length: usize) -> bool {
    let bound = |key: &str| schema.get(key).and_then(Value::as_u64).and_then(|n| usize::try_from(n).ok());
    bound("minItems").is_none_or(|n| length >= n) && bound("maxItems").is_none_or(|n| length <= n)
}

/// Fills all array parameters from brackets, in the order that labels or, without them, the schema gives.
pub(super) fn from_brackets(query: &Query, params: &[Param], values: &mut [Option<Value>], used: &mut Vec<usize>) {
    for (atom, list) in bracketed(query) {
        let Some(piece) = query.atoms.get(atom) else { continue };
        let from = query.tokens.iter().position(|t| t.end > piece.start).unwrap_or(0);
        let mut best: Option<(f64, usize, Value)> = None;
        for (p, param) in params.iter().enumerate() {
            if !matches!(param.kind, Type::Array | Type::Object) || values.get(p).is_none_or(Option::is_some) {
                continue;
            }
            let Some(value) = coerce(param.schema, &list) else {
                continue;
            };
            let score = label(query, param, from, params) + if param.required { 1.0 } else { 0.0 };
            if best.as_ref().is_none_or(|b| b.0 < score) {
                best = Some((score, p, value));
            }
        }
        if let Some((_, p, value)) = best {
            used.push(atom);
            if let Some(slot) = values.get_mut(p) {
                *slot = Some(value);
            }
        }
    }
}

/// How strongly the words before a token name the parameter.
fn label(query: &Query, param: &Param, from: usize, all: &[Param]) -> f64 {
    let mut score: f64 = 0.0;
    let words = (0..from)
        .rev()
        .filter_map(|i| query.token(i).filter(|_| query.owner(i).is_none_or(|a| a.kind != AtomKind::Bracket)));
    for (distance, token) in words.filter(|t| t.is_word()).take(6).enumerate() {
        let weight = 0.8_f64.powi(i32::try_from(distance).unwrap_or(9));
        if param.name_stems.contains(&token.stem) || param.name.eq_ignore_ascii_case(&token.text) {
            let shared = all.iter().filter(|p| p.name_stems.contains(&token.stem)).count();
            score = score.max(if shared > 1 { 0.5 } else { 2.5 } * weight);
        } else if param.gist_stems.contains(&token.stem) {
            score = score.max(0.5 * weight);
        }
    }
    score
}

/// Runs of numbers, as positions in `nums`, for arrays of numbers; longest and best labelled first.
pub(super) fn number_runs(query: &Query, params: &[Param], values: &mut [Option<Value>], free: &mut Vec<usize>) {
    let mut runs: Vec<Vec<usize>> = Vec::new();
    let mut at = 0;
    while at < free.len() {
        let run = query.run(free, at).max(1);
        runs.push(free.get(at..at + run).unwrap_or_default().to_vec());
        at += run;
    }
    let scalars = params.iter().filter(|p| p.required && matches!(p.kind, Type::Integer | Type::Number)).count();
    for run in runs {
        let open: Vec<usize> = (0..params.len())
            .filter(|p| values.get(*p).is_some_and(Option::is_none) && numbers_wanted(params.get(*p)))
            .collect();
        let from = run.first().and_then(|i| query.nums.get(*i)).map_or(0, |n| n.from);
        let mut best: Option<(f64, usize, Value)> = None;
        for p in open {
            let Some(param) = params.get(p) else { continue };
            let labelled = label(query, param, from, params);
            let items = param.schema.get("items").unwrap_or(&Value::Null);
            let list: Option<Vec<Value>> =
                run.iter().map(|i| query.nums.get(*i).and_then(|n| list_item(param, items, n))).collect();
            let Some(list) = list.filter(|l| sized(param.schema, l.len())) else {
                continue;
            };
            let enough =
                run.len() > 1 || (param.required && (labelled > 1.0 || scalars == 0) && free.len() <= scalars + 1);
            let score = labelled + if param.required { 1.0 } else { -0.6 };
            if enough && score > 0.0 && best.as_ref().is_none_or(|b| b.0 < score) {
                best = Some((score, p, Value::Array(list)));
            }
        }
        if let Some((_, p, value)) = best {
            free.retain(|i| !run.contains(i));
            if let Some(slot) = values.get_mut(p) {
                *slot = Some(value);
            }
        }
    }
}

fn numbers_wanted(param: Option<&Param>) -> bool {
    param.is_some_and(|p| {
        p.kind == Type::Array
            && p.schema.get("items").is_some_and(|i| matches!(schema::kind_of(i), Type::Integer | Type::Number))
    })
}

fn list_item(param: &Param, items: &Value, num: &super::numbers::Num) -> Option<Value> {
    let inner = Param { schema: items, kind: schema::kind_of(items), ..param.clone() };
    numeric::value(&inner, num)
}

/// What is left of the numbers, for a required list nothing was found for.
pub(super) fn leftovers(query: &Query, param: &Param, free: &[usize]) -> Option<Value> {
    let items = param.schema.get("items")?;
    if !numbers_wanted(Some(param)) || free.is_empty() {
        return None;
    }
    let list: Option<Vec<Value>> = free
        .iter()
        .map(|i| query.nums.get(*i).filter(|n| !n.implied && !n.ordinal).and_then(|n| list_item(param, items, n)))
        .collect();
    list.filter(|l| sized(param.schema, l.len())).map(Value::Array)
}

/// Every listed value the query names, in the order of the query.
pub(super) fn of_enum(
    query: &Query,
    param: &Param,
    explained: &dyn Fn(&str) -> bool,
    taken: &mut Vec<(usize, usize)>,
) -> Option<Value> {
    let items = param.schema.get("items")?;
    let mut choices = schema::choices(items);
    let listed = enums::described(param.description);
    let described = choices.is_empty();
    if described {
        choices = listed.iter().map(|l| l.0.as_str()).filter(|c| c.len() > 2).collect();
    }
    let mut hits = enums::hits(query, &choices, explained);
    hits.retain(|h| h.score > if described { 3.0 } else { 1.3 } && taken.iter().all(|t| h.to <= t.0 || t.1 <= h.from));
    let mut kept: Vec<enums::Hit> = Vec::new();
    for hit in hits {
        if kept.iter().all(|k| hit.to <= k.from || k.to <= hit.from) {
            kept.push(hit);
        }
    }
    kept.sort_by_key(|h| h.from);
    for hit in kept.iter().filter(|h| h.score >= 3.0) {
        taken.push((hit.from, hit.to));
    }
    let list: Vec<Value> = kept.into_iter().map(|h| Value::from(h.value)).collect();
    (!list.is_empty() && sized(param.schema, list.len())).then_some(Value::Array(list))
}

/// Names, quotes or nouns in a row; or the one best span.
pub(super) fn of_strings(
    query: &Query,
    param: &Param,
    all: &[&Param],
    spans: &[Span],
    taken: &mut Vec<(usize, usize)>,
) -> Option<Value> {
    let free: Vec<&Span> = spans
        .iter()
        .filter(|s| {
            taken.iter().all(|t| s.to <= t.0 || t.1 <= s.from) && s.atom.is_none_or(|_| s.kind == SpanKind::Quote)
        })
        .collect();
    let mut best: Option<(f64, Vec<&Span>)> = None;
    for first in &free {
        let mut run = vec![*first];
        while let Some(next) = run.last().and_then(|last| follower(query, last, &free)) {
            run.push(next);
        }
        let scored: Option<Vec<f64>> = run.iter().map(|s| strings::score(query, param, all, s)).collect();
        let Some(scored) = scored else { continue };
        let top = scored.iter().copied().fold(f64::MIN, f64::max);
        let mean = scored.iter().sum::<f64>() / as_f64(scored.len());
        let more = if run.len() > 1 { 1.2 } else { 0.0 };
        let score = 0.5 * top + 0.5 * mean + more;
        if best.as_ref().is_none_or(|b| b.0 < score) {
            best = Some((score, run));
        }
    }
    let (score, run) = best?;
    let bar = if param.required { 0.3 } else { 3.2 };
    if score < bar || !sized(param.schema, run.len()) {
        return None;
    }
    taken.extend(run.iter().map(|s| (s.from, s.to)));
    Some(Value::Array(run.iter().map(|s| Value::from(s.text.clone())).collect()))
}

#[expect(clippy::cast_precision_loss, reason = "small counts")]
fn as_f64(n: usize) -> f64 {
    n as f64
}

/// The span that follows behind a comma or `and`, of the same kind where there is a choice.
fn follower<'a>(query: &Query, last: &Span, free: &[&'a Span]) -> Option<&'a Span> {
    let mut at = last.to;
    while at < last.to + 3 && matches!(query.low(at), "," | "and" | "&" | "or" | "the" | "a" | "an") {
        at += 1;
    }
    let link = at > last.to && (last.to..at).any(|i| matches!(query.low(i), "," | "and" | "&" | "or"));
    let here = free.iter().filter(|s| {
        link && s.from == at && !s.composite && (s.kind == SpanKind::Quote) == (last.kind == SpanKind::Quote)
    });
    here.min_by_key(|s| (s.kind != last.kind, s.explained > 0.01, usize::MAX - (s.to - s.from))).copied()
}

/// `where age is greater than 25 and job is 'engineer'` as a list of conditions.
pub(super) fn conditions(query: &Query, param: &Param, taken: &mut Vec<(usize, usize)>) -> Option<Value> {
    let items = param.schema.get("items")?;
    let properties = items.get("properties").and_then(Value::as_object)?;
    let find = |names: &[&str]| {
        properties
            .iter()
            .find(|(k, _)| text::words(k).iter().any(|w| names.contains(&w.as_str())))
            .map(|(k, v)| (k.as_str(), v))
    };
    let field = find(&["field", "column", "key", "attribute", "property", "name"])?;
    let value = find(&["value", "values", "val"])?;
    let op = find(&["op", "operator", "operation", "comparison", "condition"]);
    let start = query.tokens.iter().position(|t| t.any(&["where", "whose", "having", "with"]))?;
    let mut out = Vec::new();
    let mut at = start + 1;
    while let Some((name, sign, found, next)) = condition(query, at) {
        let Some(coerced) = coerce(value.1, &found) else { break };
        let mut object = Map::new();
        object.insert(field.0.to_owned(), Value::from(name));
        if let Some((key, schema)) = op {
            object.insert(key.to_owned(), Value::from(spelling(schema, sign)?));
        }
        object.insert(value.0.to_owned(), coerced);
        out.push(Value::Object(object));
        taken.push((at, next));
        at = next;
        while matches!(query.low(at), "and" | "," | "where" | "whose" | "the") {
            at += 1;
        }
    }
    (!out.is_empty() && sized(param.schema, out.len())).then_some(Value::Array(out))
}

const OPERATORS: &[(&str, &[&str])] = &[
    (">=", &["greater than or equal to", "at least", "> =", "not less than"]),
    ("<=", &["less than or equal to", "at most", "< =", "no more than", "up to"]),
    (
        ">",
        &[
            "greater than",
            "more than",
            "larger than",
            "higher than",
            "bigger than",
            "older than",
            "above",
            "over",
            "exceeds",
            "exceeding",
            ">",
            "after",
        ],
    ),
    ("<", &["less than", "fewer than", "smaller than", "lower than", "younger than", "below", "under", "<", "before"]),
    ("!=", &["not equal to", "is not", "not", "! =", "different from"]),
    ("contains", &["contains", "containing", "including", "like"]),
    ("=", &["equal to", "equals", "= =", "=", ":", "is", "of"]),
];

/// One condition from a token on: field, sign, value, where it ends.
fn condition(query: &Query, from: usize) -> Option<(String, &'static str, Value, usize)> {
    let mut at = from;
    while matches!(query.low(at), "the" | "a" | "an" | "their" | "its") {
        at += 1;
    }
    let name = query.token(at).filter(|t| t.is_word())?.text.clone();
    at += 1;
    if matches!(query.low(at), "is" | "are" | "was" | "has") && !matches!(query.low(at + 1), "'" | "\"") {
        let longer = OPERATORS.iter().any(|(_, ps)| ps.iter().any(|p| phrase(query, at + 1, p).is_some()));
        at += usize::from(longer);
    }
    let (sign, next) = OPERATORS
        .iter()
        .find_map(|(sign, phrases)| phrases.iter().find_map(|p| phrase(query, at, p)).map(|n| (*sign, n)))?;
    at = next;
    while matches!(query.low(at), "the" | "a" | "an") {
        at += 1;
    }
    if let Some(atom) = query.owner(at) {
        let end = query.tokens.iter().rposition(|t| t.start < atom.end)? + 1;
        return Some((name, sign, Value::from(atom.text.clone()), end));
    }
    if let Some(num) = query.nums.iter().find(|n| n.from == at) {
        let value = if num.whole { numeric::json(&Value::Null, num.value, true)? } else { Value::from(num.value) };
        return Some((name, sign, value, num.to));
    }
    let word = query.token(at).filter(|t| t.is_word())?;
    let mut end = at + 1;
    while word.cap && query.token(end).is_some_and(|t| t.cap && t.is_word()) {
        end += 1;
    }
    Some((name, sign, Value::from(query.between(at, end)), end))
}

/// Where a phrase of words ends, if it begins here.
fn phrase(query: &Query, at: usize, phrase: &str) -> Option<usize> {
    let words: Vec<&str> = phrase.split(' ').collect();
    words.iter().enumerate().all(|(i, w)| query.low(at + i) == *w).then_some(at + words.len())
}

/// The name a schema has for a comparison.
fn spelling(schema: &Value, sign: &'static str) -> Option<String> {
    let names: &[&str] = match sign {
        ">" => &[">", "gt", "greater_than", "greater", "greaterthan", "after"],
        "<" => &["<", "lt", "less_than", "less", "lessthan", "before"],
        ">=" => &[">=", "gte", "ge", "greater_or_equal", "at_least"],
        "<=" => &["<=", "lte", "le", "less_or_equal", "at_most"],
        "!=" => &["!=", "<>", "ne", "neq", "not_equal", "not"],
        "contains" => &["contains", "like", "in", "includes"],
        _ => &["=", "==", "eq", "equals", "equal", "is"],
    };
    let choices = schema::choices(schema);
    if choices.is_empty() {
        return Some(sign.to_owned());
    }
    names.iter().find_map(|n| choices.iter().find(|c| c.eq_ignore_ascii_case(n))).map(|c| (*c).to_owned())
}
