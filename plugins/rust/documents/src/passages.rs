//! Which part of a document is shown: all of a short one, the fitting sentences of a long one.

use crate::search::terms;

/// Up to here a document is shown whole.
const WHOLE: usize = 2000;
const HIGHLIGHTS: usize = 3;

/// What is shown of a document.
#[derive(PartialEq, Eq, Debug)]
pub(crate) struct Shown {
    pub(crate) content: String,
    /// The sentences that fit best, best first.
    pub(crate) highlights: Vec<String>,
    /// Where they stand in `content`: start and end, in characters.
    pub(crate) spans: Vec<(usize, usize)>,
}

pub(crate) fn shown(content: &str, query: &[String]) -> Shown {
    let sentences = sentences(content);
    let mut ranked: Vec<(usize, usize)> =
        sentences.iter().map(|s| fit(s, query)).enumerate().filter(|(_, fit)| *fit > 0).collect();
    ranked.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
    ranked.truncate(HIGHLIGHTS);
    let best: Vec<&str> = ranked.iter().filter_map(|(i, _)| sentences.get(*i).copied()).collect();
    let content = if content.len() <= WHOLE { content.to_owned() } else { excerpt(content, &sentences, &ranked) };
    let mut spans: Vec<(usize, usize)> = best.iter().filter_map(|sentence| span(&content, sentence)).collect();
    spans.sort_unstable();
    let highlights =
        best.into_iter().map(|sentence| sentence.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    Shown { content, highlights, spans }
}

/// How many different words of the query a sentence has.
fn fit(sentence: &str, query: &[String]) -> usize {
    let mut found: Vec<String> = terms(sentence).into_iter().filter(|term| query.contains(term)).collect();
    found.sort();
    found.dedup();
    found.len()
}

/// Pieces of the text between full stops, blank lines and the lines of lists and tables.
fn sentences(content: &str) -> Vec<&str> {
    let mut sentences = Vec::new();
    let mut start = 0;
    let bytes = content.as_bytes();
    for (i, c) in content.char_indices() {
        let next = bytes.get(i.saturating_add(1)).copied();
        let ends = match c {
            '.' | '!' | '?' => next.is_none_or(|byte| byte.is_ascii_whitespace()),
            '\n' => {
                next.is_none_or(|byte| matches!(byte, b'\n' | b'-' | b'*' | b'|' | b'#'))
                    || content.get(start..i).is_some_and(is_line)
            }
            _ => false,
        };
        if ends {
            let end = i.saturating_add(c.len_utf8());
            sentences.extend(content.get(start..end));
            start = end;
        }
    }
    sentences.extend(content.get(start..));
    sentences.into_iter().map(str::trim).filter(|sentence| sentence.chars().any(char::is_alphanumeric)).collect()
}

/// A line of a list, a table, a heading or a fact: whole by itself.
fn is_line(text: &str) -> bool {
    let text = text.trim_start();
    text.starts_with(['-', '*', '|', '#']) || text.split_once(": ").is_some_and(|(key, _)| !key.contains([' ', '\n']))
}

/// The best sentences with their neighbours, in the order of the text.
fn excerpt(content: &str, sentences: &[&str], ranked: &[(usize, usize)]) -> String {
    let near = |i: &usize| ranked.iter().any(|(best, _)| best.abs_diff(*i) <= 1);
    let chosen: Vec<usize> = (0..sentences.len()).filter(near).collect();
    let mut text = String::new();
    let mut last = None;
    for i in chosen {
        if last.is_some_and(|last: usize| last.saturating_add(1) != i) || (last.is_none() && i > 0) {
            text.push_str("… ");
        }
        text.push_str(sentences.get(i).copied().unwrap_or_default());
        text.push(' ');
        last = Some(i);
    }
    if text.is_empty() {
        format!("{}…", content.chars().take(WHOLE).collect::<String>())
    } else {
        format!("{}…", text.trim_end())
    }
}

fn span(content: &str, sentence: &str) -> Option<(usize, usize)> {
    let start = content.get(..content.find(sentence)?)?.chars().count();
    Some((start, start.saturating_add(sentence.chars().count())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fitting_sentences_are_marked() {
        let shown =
            shown("Beans are brown. Milk is white.\n\n- Milk keeps two days.\n- Tea keeps.", &terms("milk days"));
        assert_eq!(shown.highlights, ["- Milk keeps two days.", "Milk is white."]);
        let marked: Vec<String> =
            shown.spans.iter().map(|(a, b)| shown.content.chars().skip(*a).take(b - a).collect()).collect();
        assert_eq!(marked, ["Milk is white.", "- Milk keeps two days."]);
    }

    #[test]
    fn a_long_text_is_cut_to_what_fits() {
        let long =
            format!("{}The key is under the mat. {}", "Nothing here. ".repeat(200), "Nothing there. ".repeat(200));
        let shown = shown(&long, &terms("where is the key"));
        assert_eq!(shown.content, "… Nothing here. The key is under the mat. Nothing there.…");
        assert_eq!(shown.highlights, ["The key is under the mat."]);
    }
}
