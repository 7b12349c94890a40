//! Cleaning of untrusted text: what a guest or a model wrote may inform people, never steer their terminal.

use std::borrow::Cow;

const FLAG_BASE: char = '\u{1F3F4}';
const CANCEL_TAG: char = '\u{E007F}';

fn is_tag(c: char) -> bool {
    ('\u{E0000}'..='\u{E007F}').contains(&c)
}

fn is_forbidden(c: char) -> bool {
    (c.is_control() && c != '\n' && c != '\t')
        || ('\u{202A}'..='\u{202E}').contains(&c)
        || ('\u{2066}'..='\u{2069}').contains(&c)
}

/// Whether `c` can steer a terminal or hide text: what [`clean`] removes, flags aside.
pub fn steers(c: char) -> bool {
    is_forbidden(c) || is_tag(c)
}

/// Removes control characters other than newline and tab, bidirectional overrides and isolates
/// (U+202A–202E, U+2066–2069), and tag characters that are not part of a flag.
///
/// Arabic, Hebrew, emoji and flags survive unchanged. Borrows when nothing has to go.
pub fn clean(text: &str) -> Cow<'_, str> {
    if !text.chars().any(steers) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        if c == FLAG_BASE {
            out.push(c);
            let tags: String = rest.clone().take_while(|t| is_tag(*t)).collect();
            // A flag is the black flag, tags, and the closing tag; anything else hides text.
            if let Some(end) = tags.find(CANCEL_TAG) {
                let flag: Vec<char> = tags.chars().take_while(|t| *t != CANCEL_TAG).collect();
                if end > 0 && flag.len() <= 8 {
                    out.extend(flag.iter());
                    out.push(CANCEL_TAG);
                    for _ in 0..=flag.len() {
                        rest.next();
                    }
                }
            }
        } else if !steers(c) {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

/// [`clean`], with every run of white space, newlines included, made one blank: for places that hold one line.
pub fn clean_line(text: &str) -> String {
    clean(text).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The longest prefix of `text` of at most `max_bytes` bytes that ends between characters.
pub fn truncate(text: &str, max_bytes: usize) -> &str {
    if text.len() <= max_bytes {
        return text;
    }
    let mut end = max_bytes;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default()
}

#[cfg(test)]
mod tests;
