//! Which number of the query fills which parameter: scores from the words around, then the best whole assignment.

use serde_json::{Number, Value};

use super::atoms::AtomKind;
use super::numbers::Num;
use super::query::Query;
use super::schema::{Param, Side, Type};
use super::text::{self, Kind};

/// More numbers than this are cut: the assignment is exponential in them.
const MOST: usize = 10;
/// What an optional parameter must score to be filled.
const OPTIONAL_BAR: f64 = 2.2;
const REQUIRED_BAR: f64 = -2.0;
const REQUIRED_BONUS: f64 = 7.0;

/// Best value so far with a set of numbers used, and the number chosen for each parameter so far.
type State = Option<(f64, Vec<Option<usize>>)>;

/// For each parameter the index of its number.
pub(super) fn assign(query: &Query, params: &[&Param], nums: &[usize]) -> Vec<Option<usize>> {
    let nums: Vec<usize> = nums.iter().copied().take(MOST).collect();
    let scores = scores(query, params, &nums);
    let full = 1_usize << nums.len();
    // best[mask] after the parameters so far: value and the choice made for each.
    let mut best: Vec<State> = vec![None; full];
    if let Some(slot) = best.first_mut() {
        *slot = Some((0.0, Vec::new()));
    }
    for row in scores.iter().take(16) {
        let mut next: Vec<State> = vec![None; full];
        for (mask, state) in best.iter().enumerate() {
            let Some((value, chosen)) = state else { continue };
            offer(&mut next, mask, *value, chosen, None);
            for (i, gain) in row.iter().enumerate() {
                if let Some(gain) = gain.filter(|_| mask & (1 << i) == 0) {
                    offer(&mut next, mask | (1 << i), value + gain, chosen, Some(i));
                }
            }
        }
        best = next;
    }
    let top = best.into_iter().flatten().max_by(|a, b| a.0.total_cmp(&b.0));
    let chosen = top.map(|t| t.1).unwrap_or_default();
    (0..params.len()).map(|p| chosen.get(p).copied().flatten().and_then(|i| nums.get(i).copied())).collect()
}

/// Whether words or units speak for this number, not only that it was left over.
pub(super) fn sure(query: &Query, param: &Param, all: &[&Param], num: usize) -> bool {
    let listed = respective(query, all, &[num]);
    let Some(num) = query.nums.get(num) else { return false };
    !listed.is_empty()
        || fit(param, num).is_some_and(|f| f + roles(query, param, num) + context(query, param, all, num) >= 1.0)
}

fn offer(next: &mut [State], mask: usize, value: f64, chosen: &[Option<usize>], add: Option<usize>) {
    let Some(slot) = next.get_mut(mask) else { return };
    if slot.as_ref().is_none_or(|s| s.0 < value) {
        let mut chosen = chosen.to_vec();
        chosen.push(add);
        *slot = Some((value, chosen));
    }
}

/// Gain of each pair, none where it may not be.
fn scores(query: &Query, params: &[&Param], nums: &[usize]) -> Vec<Vec<Option<f64>>> {
    let listed = respective(query, params, nums);
    let mut rows = Vec::new();
    for (rank, param) in params.iter().enumerate() {
        let mut row = Vec::new();
        for (place, index) in nums.iter().enumerate() {
            let score = query.nums.get(*index).and_then(|num| {
                let mut score = fit(param, num)? + roles(query, param, num);
                score += match listed.iter().find(|l| l.1 == *index) {
                    Some(pair) => {
                        if pair.0 == rank {
                            6.0
                        } else {
                            0.0
                        }
                    }
                    None => context(query, param, params, num),
                };
                Some(score)
            });
            let order = 0.12 * (as_f64(rank) - as_f64(place)).abs();
            row.push(score.and_then(|s| {
                let (bar, bonus) =
                    if param.required { (REQUIRED_BAR, REQUIRED_BONUS) } else { (OPTIONAL_BAR, -OPTIONAL_BAR) };
                (s >= bar).then_some(s + bonus - order)
            }));
        }
        rows.push(row);
    }
    rows
}

#[expect(clippy::cast_precision_loss, reason = "small counts")]
fn as_f64(n: usize) -> f64 {
    n as f64
}

/// How well the number's kind suits the parameter, whatever stands around.
fn fit(param: &Param, num: &Num) -> Option<f64> {
    value(param, num)?;
    let mut score = 0.0;
    let head =
        param.name_words.iter().rev().find(|w| !w.chars().all(|c| c.is_ascii_digit())).map_or("", String::as_str);
    let told = param.gist.contains("the year") || param.gist.contains("which year");
    let year = head == "year" || (told && param.dim.is_none_or(|d| d == "time"));
    let year = year
        && !param.says(&["number of year", "in years", "period", "duration", "per year"])
        && !param.has(&["years", "per", "in"]);
    match (num.like_year(), year) {
        (true, true) => score += 3.0,
        (true, false) => score -= 2.0,
        (false, true) if num.value < 3000.0 && num.whole && num.dim.is_none() && !num.implied && !num.ordinal => {
            score -= 1.0
        }
        (false, true) => score -= 4.0,
        _ => {}
    }
    score += dimension(param, num);
    if num.ordinal {
        score += if param.says(&["century", "position", "order", "rank", "place"])
            || param.has(&["century", "grade", "floor", "season", "n", "edition"])
        {
            1.5
        } else {
            -1.5
        };
    }
    score -= if num.spelled && num.dim.is_none() { 0.8 } else { 0.0 };
    score -= f64::from(u8::from(num.implied)) * 1.5 + f64::from(u8::from(num.coefficient)) * 3.0;
    Some(score)
}

fn dimension(param: &Param, num: &Num) -> f64 {
    let unit_named = !num.unit.is_empty() && {
        let unit = text::stem(&num.unit);
        param.name_stems.contains(&unit) || param.gist_stems.contains(&unit)
    };
    let mut score = if unit_named { 2.5 } else { 0.0 };
    let counts = param.has(&["num", "number", "count", "limit", "top", "quantity", "size", "n"]);
    score += match (param.dim, num.dim) {
        (Some(a), Some(b)) if a == b => 2.5,
        (Some("money"), _) if num.currency => 3.0,
        (_, _) if num.currency && !unit_named => -2.5,
        (Some("percent"), _) if num.percent => 2.5,
        (_, _) if num.percent => -2.0,
        (Some("percent"), None) if !num.whole => 0.5,
        (Some("time"), Some("percent" | "money")) | (Some("percent"), Some("money")) => -3.0,
        (Some(_), Some(_)) if !unit_named => -3.0,
        (None, Some(_)) if !unit_named => {
            if counts {
                -2.0
            } else {
                -0.8
            }
        }
        _ => 0.0,
    };
    // Day and month are both time, but five days are not five months: prefer the parameter that names the unit.
    if num.dim == Some("time") && param.factor.is_some_and(|f| (f - num.factor).abs() > 1e-9) && param.dim == num.dim {
        score -= 1.0;
    }
    score
}

/// `from`/`to`, `less than`/`at least`, `top 5`, `next 3`.
fn roles(query: &Query, param: &Param, num: &Num) -> f64 {
    let before = |n: usize| num.from.checked_sub(n).map_or("", |i| query.low(i));
    let near = [before(1), before(2), before(3)];
    // "the two numbers", "of two sides": says how many there are, and is none of them.
    let mut score = if num.spelled
        && num.dim.is_none()
        && matches!(
            before(1),
            "the" | "of" | "between" | "other" | "these" | "its" | "from" | "for" | "with" | "two" | "given"
        ) {
        -3.0
    } else {
        0.0
    };
    let (upper, lower) = bound(query, num);
    let ranged = matches!(query.low(num.to), "to" | "-" | "–" | "and")
        && query.nums.iter().any(|n| n.from == num.to + 1 || n.from == num.to + 2);
    let (upper, lower) = (upper && !ranged, lower && !ranged);
    let ends = param.says(&["maximum", "at most", "up to", "limit"]) || param.has(&["max", "maximum", "limit"]);
    let starts = param.says(&["minimum", "at least"]) || param.has(&["min", "minimum", "threshold"]);
    score += f64::from(u8::from((upper && ends) || (lower && starts))) * 2.0;
    score -= f64::from(u8::from((upper && starts) || (lower && ends))) * 2.0;
    let from = near.iter().take(2).any(|w| matches!(*w, "from" | "between")) || (ranged && query.low(num.to) != "and");
    let to = before(1) == "to"
        || (before(1) == "$" && before(2) == "to")
        || before(1) == "-"
        || before(1) == "until"
        || (before(1) == "and" && query.opened_between(num.from));
    match param.side {
        Some(Side::Start) if from => score += 2.0,
        Some(Side::End) if to => score += 2.0,
        Some(Side::End) if from && !to => score -= 1.0,
        Some(Side::Start) if to => score -= 1.0,
        _ => {}
    }
    score + counting(query, param, num)
}

/// Whether the words before say that the number is the most, or the least.
fn bound(query: &Query, num: &Num) -> (bool, bool) {
    let before = |n: usize| num.from.checked_sub(n).map_or("", |i| query.low(i));
    let upper = matches!(
        (before(2), before(1)),
        (_, "under" | "below" | "within" | "max" | "maximum" | "exceeding")
            | ("less" | "fewer" | "lower" | "cheaper", "than")
            | ("up", "to")
            | ("at", "most")
            | ("not", "over")
    );
    let lower = matches!(
        (before(2), before(1)),
        (_, "over" | "above" | "minimum" | "exceeds")
            | ("more" | "greater" | "higher" | "larger", "than")
            | ("at", "least")
    );
    (upper, lower && !upper)
}

/// `top 5`, `the next 3`, `find ten …` for what says how many.
fn counting(query: &Query, param: &Param, num: &Num) -> f64 {
    let before = num.from.checked_sub(1).map_or("", |i| query.low(i));
    let mut score = 0.0;
    let count = param.has(&["limit", "count", "n", "k", "top", "number", "num", "quantity", "max", "amount", "size"])
        && (param.dim.is_none() || param.has(&["limit", "count", "num"]))
        && param.kind == Type::Integer;
    if count && num.dim.is_none() && !num.like_year() {
        score += if matches!(before, "top" | "first" | "last" | "next" | "latest" | "best" | "only" | "past") {
            2.5
        } else {
            0.0
        };
        let verb_before = num.from == 0
            || query
                .token(num.from.wrapping_sub(1))
                .is_some_and(|t| super::lexicon::is_imperative(&t.low) || t.any(&["me", "the"]));
        let noun_after = query.token(num.to).is_some_and(|t| t.is_word() && !super::lexicon::is_stop(&t.low));
        score += if verb_before && noun_after && num.whole { 3.2 } else { 0.0 };
    }
    score
}

/// Names of the parameter near the number: before it up to the previous number, or in the noun phrase after it.
fn context(query: &Query, param: &Param, all: &[&Param], num: &Num) -> f64 {
    let mut score: f64 = 0.0;
    let equals = before_equals(query, num);
    if equals.is_some_and(|name| name.eq_ignore_ascii_case(param.name)) {
        return 6.0;
    }
    if equals.is_some() && all.iter().any(|p| equals.is_some_and(|n| n.eq_ignore_ascii_case(p.name))) {
        return -4.0;
    }
    let found = around(query, num);
    for stem in &param.name_stems {
        let shared = as_f64(all.iter().filter(|p| p.name_stems.contains(stem)).count());
        score += best(&found, stem) / shared.max(1.0).sqrt() / if shared > 1.0 { 1.4 } else { 1.0 };
    }
    score /= as_f64(param.name_stems.len()).max(1.0).sqrt();
    let mut described: f64 = 0.0;
    for stem in param.gist_stems.iter().take(14).filter(|s| !param.name_stems.contains(s)) {
        let shared = as_f64(all.iter().filter(|p| p.gist_stems.contains(stem)).count());
        described += 0.4 * best(&found, stem) / shared.max(1.0).powi(2);
    }
    score + described.min(2.6)
}

/// Stems near a number and how near they are.
fn around(query: &Query, num: &Num) -> Vec<(f64, String)> {
    let mut found: Vec<(f64, String)> = Vec::new();
    let mut distance = 0.0;
    let floor = after_previous(query, num);
    for at in (floor..num.from).rev().take(14) {
        let Some(token) = query.token(at) else { break };
        match token.kind {
            Kind::Punct if matches!(token.text.as_str(), "." | ";" | "?" | "!") => break,
            Kind::Punct => distance += if token.text == "," { 1.5 } else { 0.0 },
            Kind::Number => break,
            Kind::Word if token.is("and") => distance += 1.0,
            Kind::Word if super::lexicon::is_stop(&token.low) && token.low.len() > 1 => {}
            Kind::Word => {
                found.push((3.4 * 0.86_f64.powf(distance), token.stem.clone()));
                parts(token, 3.4 * 0.86_f64.powf(distance), &mut found);
                distance += 1.0;
            }
        }
    }
    distance = 0.0;
    for at in (num.bare..num.bare + 7).skip_while(|a| *a < num.to && num.to > num.bare + 1) {
        let Some(token) = query.token(at) else { break };
        let stops = token.kind != Kind::Word
            || token.any(&[
                "and", "or", "with", "at", "from", "to", "for", "in", "by", "is", "as", "on", "that", "who", "which",
            ]);
        if stops && token.text != "-" {
            break;
        }
        if !super::lexicon::is_stop(&token.low) {
            found.push((3.0 * 0.75_f64.powf(distance), token.stem.clone()));
            parts(token, 3.0 * 0.75_f64.powf(distance), &mut found);
            distance += 1.0;
        }
    }
    found
}

/// Where the words before a number begin: behind the previous number and the noun phrase that belongs to it.
fn after_previous(query: &Query, num: &Num) -> usize {
    let Some(end) = query.nums.iter().filter(|n| n.to <= num.from && !n.implied).map(|n| n.to).max() else {
        return 0;
    };
    let noun = |i: usize| query.token(i).is_some_and(|t| t.is_word() && !super::lexicon::is_stop(&t.low));
    let mut at = end;
    while at < num.from && noun(at) {
        at += 1;
    }
    // All the words up to this number: they may as well be its label.
    if at >= num.from { end } else { at }
}

/// The words inside `at-bats` or `daily_budget`.
fn parts(token: &text::Token, weight: f64, found: &mut Vec<(f64, String)>) {
    if token.low.contains(['-', '_']) {
        found.extend(text::words(&token.text).iter().map(|w| (weight, text::stem(w))));
    }
}

fn best(found: &[(f64, String)], stem: &str) -> f64 {
    found.iter().filter(|f| text::kin(&f.1, stem)).map(|f| f.0).fold(0.0, f64::max)
}

/// The name in `a = 2`, `b: 3`, `c is 4`.
fn before_equals<'a>(query: &'a Query, num: &Num) -> Option<&'a str> {
    let link = query.token(num.from.checked_sub(1)?)?;
    let name = query.token(num.from.checked_sub(2)?)?;
    let linked = link.any(&["=", ":", "is", "equals", "are"]);
    (linked && name.is_word()).then_some(name.text.as_str())
}

/// `base and height as 6 cm and 10 cm`: as many parameters named in a row as numbers follow in a row.
fn respective(query: &Query, params: &[&Param], nums: &[usize]) -> Vec<(usize, usize)> {
    let mut out = Vec::new();
    let mut at = 0;
    while at < nums.len() {
        let run = query.run(nums, at);
        let first = nums.get(at).and_then(|i| query.nums.get(*i));
        if let Some(first) = first.filter(|_| run > 1) {
            let floor = query.nums.iter().filter(|n| n.to <= first.from && !n.implied).map(|n| n.to).max().unwrap_or(0);
            let mut named: Vec<usize> = Vec::new();
            for t in (floor..first.from).filter_map(|i| query.token(i)) {
                let hit = params.iter().position(|p| {
                    p.name_stems.iter().any(|s| {
                        *s == t.stem && s.len() > 1 && params.iter().filter(|q| q.name_stems.contains(s)).count() == 1
                    })
                });
                if let Some(hit) = hit.filter(|h| !named.contains(h)) {
                    named.push(hit);
                }
            }
            if named.len() == run {
                out.extend(named.into_iter().zip(nums.iter().skip(at).copied()));
            }
        }
        at += run.max(1);
    }
    out
}

/// The JSON value, in the unit and form the schema wants; none where the schema forbids it.
pub(super) fn value(param: &Param, num: &Num) -> Option<Value> {
    let mut v = num.value;
    let mut whole = num.whole;
    let units = param.factor.filter(|_| param.dim == num.dim).zip(num.dim);
    let units = units.filter(|(_, have)| !matches!(*have, "money" | "temp" | "percent" | "efficiency" | "density"));
    if let Some((want, have)) = units.filter(|(want, _)| (want - num.factor).abs() > 1e-12 * want) {
        let (converted, exact) = convert(v, num.factor, want, have);
        if exact || param.kind == Type::Number {
            (v, whole) = (converted, converted.fract() == 0.0);
        }
    }
    if num.percent && param.kind == Type::Number {
        let low = param.description.to_lowercase();
        let hundred = (low.contains("percent") || low.contains('%') || param.has(&["percent", "percentage"]))
            && !low.contains("decimal")
            && !low.contains("0.0");
        if !hundred {
            v = tidy(v / 100.0);
            whole = false;
        }
    }
    json(param.schema, v, whole)
}

fn convert(v: f64, have: f64, want: f64, dim: &str) -> (f64, bool) {
    let days = |f: f64| {
        if dim != "time" {
            f
        } else if (f - 2_629_746.0).abs() < 1.0 {
            2_592_000.0
        } else if (f - 31_556_952.0).abs() < 1.0 {
            31_536_000.0
        } else {
            f
        }
    };
    let (have, want) = if dim == "time" && want < 2e6 { (days(have), want) } else { (have, want) };
    let out = tidy(v * have / want);
    let near = (out - out.round()).abs() < 0.005 * out.abs().max(1e-9) && out.abs() >= 0.5;
    (if near && (out - out.round()).abs() < 1e-3 { out.round() } else { out }, near)
}

/// Removes the noise of binary fractions.
fn tidy(v: f64) -> f64 {
    format!("{v:.12e}").parse::<f64>().unwrap_or(v)
}

/// A number as the schema's type, inside its bounds and enum.
pub(super) fn json(schema: &Value, v: f64, whole: bool) -> Option<Value> {
    let out = match super::schema::kind_of(schema) {
        Type::Integer if whole || v.fract() == 0.0 => Value::from(integer(v)?),
        Type::Number | Type::Any if whole => {
            integer(v).map(Value::from).or_else(|| Number::from_f64(v).map(Value::Number))?
        }
        Type::Number | Type::Any => Value::Number(Number::from_f64(v)?),
        _ => return None,
    };
    let bound = |key: &str| schema.get(key).and_then(Value::as_f64);
    let fits = bound("minimum").is_none_or(|m| v >= m)
        && bound("maximum").is_none_or(|m| v <= m)
        && bound("exclusiveMinimum").is_none_or(|m| v > m)
        && bound("exclusiveMaximum").is_none_or(|m| v < m)
        && bound("multipleOf").is_none_or(|m| m == 0.0 || ((v / m) - (v / m).round()).abs() < 1e-9);
    let listed = schema.get("enum").and_then(Value::as_array).is_none_or(|e| e.iter().any(|x| x.as_f64() == Some(v)));
    (fits && listed).then_some(out)
}

#[expect(clippy::cast_possible_truncation, reason = "checked to be inside the exact range")]
fn integer(v: f64) -> Option<i64> {
    (v.fract() == 0.0 && v.abs() < 9.0e15).then_some(v as i64)
}

/// Hours and minutes of a clock time, for parameters that ask for them as numbers.
pub(super) fn clock(query: &Query, param: &Param) -> Option<Value> {
    let time = query.atoms.iter().find_map(|a| match a.kind {
        AtomKind::Time { hour, minute } => Some((hour, minute, a.text.contains(['p', 'P']))),
        _ => None,
    })?;
    if param.has(&["minute", "minutes"]) {
        return json(param.schema, f64::from(time.1), true);
    }
    let face = param.says(&["clock face", "12-hour", "12 hour"]) || param.says(&["on the clock"]);
    let hour = if face && time.0 > 12 { time.0 - 12 } else { time.0 };
    param.has(&["hour", "hours"]).then(|| json(param.schema, f64::from(hour), true)).flatten()
}
