//! TOML errors with file, line, column and the nearest known key; shared by manifests and `elysia.toml`.

use std::path::Path;

use elysia_types::{clean_line, truncate};

/// `error` as one line: `FILE:LINE:COL: unknown key `grnats`; did you mean `grants`?`
///
/// `known` are the keys of the whole document; they are asked only where the error itself does not list those of
/// its own table. `source` must be the text that was parsed.
pub fn toml_error(file: &Path, source: &str, error: &toml::de::Error, known: &[&str]) -> String {
    let position = error.span().map(|span| line_and_column(source, span.start));
    let place = match position {
        Some((line, column)) => format!("{}:{line}:{column}", clean_line(&file.display().to_string())),
        None => clean_line(&file.display().to_string()),
    };
    format!("{place}: {}", in_words(error.message(), known))
}

fn in_words(message: &str, known: &[&str]) -> String {
    let Some(rest) = message.strip_prefix("unknown field `") else {
        return truncate(&clean_line(message), 400).to_owned();
    };
    let (key, rest) = rest.split_once('`').unwrap_or((rest, ""));
    // serde lists the fields of the table in question: `expected one of `a`, `b`` or `there are no fields`.
    let here: Vec<&str> = rest.split('`').skip(1).step_by(2).collect();
    let shown = truncate(&clean_line(key), 80).to_owned();
    match nearest(key, &here).or_else(|| nearest(key, known)) {
        Some(near) => format!("unknown key `{shown}`; did you mean `{near}`?"),
        None if here.is_empty() => format!("unknown key `{shown}`"),
        None => format!("unknown key `{shown}`; known here: {}", here.join(", ")),
    }
}

/// The known word nearest to `word`, if one is near enough to be a slip: up to a third of its letters.
pub fn nearest<'a>(word: &str, known: &[&'a str]) -> Option<&'a str> {
    let most = (word.chars().count() / 3).clamp(1, 4);
    known
        .iter()
        .map(|candidate| (distance(word, candidate), *candidate))
        .filter(|(distance, _)| *distance <= most)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Edits between two words: insert, remove, replace, or swap two neighbours. Words are cut at 64 letters.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().take(64).collect(), b.chars().take(64).collect());
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, y) in b.iter().enumerate() {
            let at = |row: &[usize], j: usize| row.get(j).copied().unwrap_or(usize::MAX / 2);
            let mut best = (at(&last, j) + usize::from(x != y)).min(at(&last, j + 1) + 1).min(at(&row, j) + 1);
            let swapped = i > 0 && j > 0 && a.get(i - 1) == Some(y) && b.get(j - 1) == Some(x);
            if swapped {
                best = best.min(at(&before, j - 1) + 1);
            }
            row.push(best);
        }
        before = std::mem::replace(&mut last, row);
    }
    last.last().copied().unwrap_or_default()
}

/// Both from 1; columns count characters.
fn line_and_column(source: &str, offset: usize) -> (usize, usize) {
    let before = truncate(source, offset);
    let line_start = before.rfind('\n').map_or(0, |i| i + 1);
    let column = before.get(line_start..).unwrap_or_default().chars().count() + 1;
    (before.matches('\n').count() + 1, column)
}

#[cfg(test)]
mod tests;
