//! Comparing output with what a case expects.

use serde_json::Value;

use crate::cases::difference;

/// Lines with `[..]` for any part of a line and `...` for any lines.
pub(super) fn lines(wanted: &str, seen: &str) -> Result<(), String> {
    let (want, got): (Vec<&str>, Vec<&str>) = (wanted.lines().collect(), seen.lines().collect());
    if matches(&want, &got, &|pattern, line| line_matches(pattern, line)) {
        Ok(())
    } else {
        Err(difference(wanted, seen))
    }
}

fn matches<T: AsRef<str>>(want: &[T], got: &[&str], same: &dyn Fn(&str, &str) -> bool) -> bool {
    match want.split_first() {
        None => got.is_empty(),
        Some((any, rest)) if any.as_ref() == "..." => (0..=got.len()).any(|n| matches(rest, &got[n..], same)),
        Some((line, rest)) => {
            got.split_first().is_some_and(|(first, others)| same(line.as_ref(), first) && matches(rest, others, same))
        }
    }
}

fn line_matches(pattern: &str, line: &str) -> bool {
    match pattern.split_once("[..]") {
        None => pattern == line,
        Some((head, tail)) => line
            .strip_prefix(head)
            .is_some_and(|rest| (0..=rest.len()).any(|n| rest.get(n..).is_some_and(|rest| line_matches(tail, rest)))),
    }
}

/// One JSON value with `"*"` for any value.
pub(super) fn json(wanted: &str, seen: &str) -> Result<(), String> {
    let want: Value = serde_json::from_str(wanted).map_err(|e| format!("the case's JSON: {e}"))?;
    let got: Value = serde_json::from_str(seen).map_err(|e| format!("standard output is not JSON: {e}"))?;
    value("", &want, &got)
}

fn value(at: &str, want: &Value, got: &Value) -> Result<(), String> {
    let differs = || Err(format!("{at}: {got}, not {want}"));
    match (want, got) {
        (Value::String(any), _) if any == "*" => Ok(()),
        (Value::String(pattern), Value::String(text)) if line_matches(pattern, text) => Ok(()),
        (Value::Object(want_map), Value::Object(got_map)) => {
            if let Some(key) = want_map.keys().find(|key| !got_map.contains_key(*key)) {
                return Err(format!("{at}: no key `{key}`"));
            }
            if let Some(key) = got_map.keys().find(|key| !want_map.contains_key(*key)) {
                return Err(format!("{at}: unexpected key `{key}`"));
            }
            want_map.iter().try_for_each(|(key, want)| value(&format!("{at}/{key}"), want, &got_map[key]))
        }
        (Value::Array(want_list), Value::Array(got_list)) if want_list.len() == got_list.len() => {
            let mut pairs = want_list.iter().zip(got_list).enumerate();
            pairs.try_for_each(|(i, (want, got))| value(&format!("{at}/{i}"), want, got))
        }
        _ if want == got => Ok(()),
        _ => differs(),
    }
}

/// One JSON value per line; `...` stands for any lines.
pub(super) fn json_lines(wanted: &[String], seen: &str) -> Result<(), String> {
    let got: Vec<&str> = seen.lines().collect();
    if matches(wanted, &got, &|want, got| json(want, got).is_ok()) {
        return Ok(());
    }
    let first = wanted.iter().zip(&got).find_map(|(want, got)| json(want, got).err());
    Err(format!("the lines differ: {}", first.unwrap_or_else(|| "there are more or fewer than expected".to_owned())))
}

/// A part of the output: the first line, or what a JSON pointer finds.
pub(super) fn part(pointer: &str, seen: &str) -> Result<String, String> {
    if pointer == "line" {
        return seen.lines().next().map(str::to_owned).ok_or_else(|| "standard output is empty".to_owned());
    }
    let value: Value = serde_json::from_str(seen).map_err(|e| format!("standard output is not JSON: {e}"))?;
    match value.pointer(pointer) {
        Some(Value::String(text)) => Ok(text.clone()),
        Some(other) => Ok(other.to_string()),
        None => Err(format!("nothing at `{pointer}`")),
    }
}
