//! Tokens of a query or of a tool's words, with byte spans, and light English stemming.

/// What a token is; gaps and spans are kept so that callers can look at the text between.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Word,
    Number,
    Punct,
}

#[derive(Debug, Clone)]
pub(super) struct Token {
    pub(super) text: String,
    pub(super) low: String,
    pub(super) stem: String,
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) kind: Kind,
    /// Starts with a capital letter.
    pub(super) cap: bool,
    /// First word of a sentence, where a capital says nothing.
    pub(super) first: bool,
    /// White space stands before it.
    pub(super) gap: bool,
}

impl Token {
    pub(super) fn is_word(&self) -> bool {
        self.kind == Kind::Word
    }

    pub(super) fn is(&self, low: &str) -> bool {
        self.low == low
    }

    pub(super) fn any(&self, lows: &[&str]) -> bool {
        lows.contains(&self.low.as_str())
    }
}

/// The slice, or nothing where the range is not one of the text.
pub(super) fn slice(text: &str, start: usize, end: usize) -> &str {
    text.get(start..end).unwrap_or_default()
}

const ABBREVIATIONS: [&str; 16] =
    ["mr", "mrs", "ms", "dr", "st", "jr", "sr", "inc", "ltd", "co", "corp", "no", "vs", "prof", "mt", "ave"];

/// Splits a text into words, numbers and single punctuation characters.
pub(super) fn tokens(text: &str) -> Vec<Token> {
    let chars: Vec<(usize, char)> = text.char_indices().collect();
    let mut out: Vec<Token> = Vec::new();
    let (mut at, mut first, mut gap) = (0, true, true);
    while let Some(&(_, c)) = chars.get(at) {
        if c.is_whitespace() {
            gap = true;
            at += 1;
            continue;
        }
        let (kind, after) = if c.is_alphabetic() || c == '_' {
            (Kind::Word, word_end(&chars, at))
        } else if c.is_ascii_digit() || (c == '.' && digit_at(&chars, at + 1) && (gap || at == 0)) {
            (Kind::Number, number_end(&chars, at))
        } else {
            (Kind::Punct, at + 1)
        };
        push(text, &chars, (at, after), kind, (first, gap), &mut out);
        // A colon, a quote or a bracket also starts something new, but capitals after them usually are names.
        first = matches!(c, '.' | '!' | '?' | '\n') || (first && kind == Kind::Punct);
        gap = false;
        at = after;
    }
    out
}

fn push(
    text: &str,
    chars: &[(usize, char)],
    range: (usize, usize),
    kind: Kind,
    (first, gap): (bool, bool),
    out: &mut Vec<Token>,
) {
    let byte = |i: usize| chars.get(i).map_or(text.len(), |c| c.0);
    let (start, end) = (byte(range.0), byte(range.1));
    let whole = slice(text, start, end);
    let low = whole.to_lowercase().replace('’', "'");
    let cap = whole.chars().next().is_some_and(char::is_uppercase);
    out.push(Token { text: whole.to_owned(), stem: stem(&low), low, start, end, kind, cap, first, gap });
}

fn digit_at(chars: &[(usize, char)], at: usize) -> bool {
    chars.get(at).is_some_and(|c| c.1.is_ascii_digit())
}

/// Words may hold digits and `_`, and `-`, `.`, `&`, `'` between letters; a possessive `'s` is left outside.
fn word_end(chars: &[(usize, char)], from: usize) -> usize {
    let get = |i: usize| chars.get(i).map(|c| c.1);
    let mut at = from;
    while let Some(c) = get(at) {
        let next = get(at + 1);
        let joins = next.is_some_and(char::is_alphanumeric);
        let inside = match c {
            '-' | '&' | '@' => joins,
            '.' => joins && next.is_some_and(char::is_alphabetic) || is_initials(chars, from, at),
            '\'' | '’' => {
                let possessive = matches!(next, Some('s' | 'S')) && !get(at + 2).is_some_and(char::is_alphanumeric);
                joins && !possessive
            }
            '#' | '+' => !joins && at > from && at - from == 1,
            '♯' | '♭' => true,
            _ => c.is_alphanumeric() || c == '_',
        };
        if !inside {
            break;
        }
        at += 1;
    }
    let word: String = chars.get(from..at).unwrap_or_default().iter().map(|c| c.1).collect();
    if matches!(word.as_str(), "i.e" | "e.g") && get(at) == Some('.') {
        return at + 1;
    }
    let abbreviated =
        get(at) == Some('.') && get(at + 1).is_some() && ABBREVIATIONS.contains(&word.to_lowercase().as_str());
    if abbreviated && word.starts_with(char::is_uppercase) { at + 1 } else { at }
}

/// `D.C.`, `U.S.`: single letters, each with its full stop.
fn is_initials(chars: &[(usize, char)], from: usize, dot: usize) -> bool {
    let word = chars.get(from..dot).unwrap_or_default();
    word.len() >= 3 && word.iter().enumerate().all(|(i, c)| if i % 2 == 0 { c.1.is_uppercase() } else { c.1 == '.' })
}

/// Digits with thousands separators, a fraction and an exponent.
fn number_end(chars: &[(usize, char)], from: usize) -> usize {
    let get = |i: usize| chars.get(i).map(|c| c.1);
    let digits = |mut i: usize| {
        while digit_at(chars, i) {
            i += 1;
        }
        i
    };
    let mut at = digits(from);
    while get(at) == Some(',') && digits(at + 1) == at + 4 && !get(at + 4).is_some_and(char::is_alphabetic) {
        at += 4;
    }
    if get(at) == Some('.') && digit_at(chars, at + 1) {
        at = digits(at + 1);
    }
    if matches!(get(at), Some('e' | 'E')) {
        let sign = usize::from(matches!(get(at + 1), Some('-' | '+')));
        if digit_at(chars, at + 1 + sign) {
            at = digits(at + 1 + sign);
        }
    }
    at
}

/// Words of an identifier or a sentence: camelCase, snake_case, dots and dashes split; lower case.
pub(super) fn words(text: &str) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    let mut word = String::new();
    let mut before: Option<char> = None;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c.is_alphanumeric() {
            let lower_next = chars.peek().is_some_and(|n| n.is_lowercase());
            let boundary = match before {
                Some(b) => {
                    (c.is_uppercase()
                        && (b.is_lowercase() || (b.is_uppercase() && lower_next && word.chars().count() > 1)))
                        || (b.is_alphabetic() && c.is_ascii_digit() && word.chars().count() > 1)
                        || (b.is_ascii_digit() && c.is_alphabetic())
                }
                None => false,
            };
            if boundary && !word.is_empty() {
                out.push(std::mem::take(&mut word));
            }
            word.extend(c.to_lowercase());
            before = Some(c);
        } else {
            if c == '\'' && chars.peek() == Some(&'s') {
                chars.next();
            }
            if !word.is_empty() {
                out.push(std::mem::take(&mut word));
            }
            before = None;
        }
    }
    if !word.is_empty() {
        out.push(word);
    }
    out
}

/// Content words of a text, stemmed, in order.
pub(super) fn stems(text: &str) -> Vec<String> {
    words(text).iter().filter(|w| !super::lexicon::is_stop(w)).map(|w| stem(w)).collect()
}

/// A light stemmer: plural, `-ing`, `-ed`, `-ly`, and the endings that part a verb from its noun.
pub(super) fn stem(word: &str) -> String {
    let n = word.chars().count();
    if n <= 3 || !word.is_ascii() || word.bytes().any(|b| b.is_ascii_digit()) {
        return word.to_owned();
    }
    let word = plural(word);
    let word = suffix(word);
    word.strip_suffix('e').filter(|w| w.len() >= 3).map_or(word.clone(), str::to_owned)
}

fn plural(word: &str) -> String {
    if let Some(base) = word.strip_suffix("ies").filter(|b| b.len() >= 2) {
        return format!("{base}y");
    }
    for ending in ["sses", "ches", "shes", "xes", "zes"] {
        if word.ends_with(ending) {
            return word.strip_suffix("es").unwrap_or(word).to_owned();
        }
    }
    if ["ss", "us", "is"].iter().any(|e| word.ends_with(e)) {
        return word.to_owned();
    }
    word.strip_suffix('s').unwrap_or(word).to_owned()
}

fn suffix(word: String) -> String {
    for (ending, least, with) in [
        ("ization", 4, "iz"),
        ("isation", 4, "is"),
        ("ation", 4, "at"),
        ("ition", 4, "it"),
        ("ction", 3, "ct"),
        ("sion", 4, "s"),
        ("tion", 4, "t"),
        ("ingly", 4, ""),
        ("edly", 4, ""),
        ("ing", 3, ""),
        ("ed", 3, ""),
        ("ly", 4, ""),
        ("ator", 4, "at"),
        ("y", 4, "i"),
    ] {
        if let Some(base) = word.strip_suffix(ending).filter(|b| b.len() >= least) {
            let mut base = base.to_owned();
            let doubled =
                with.is_empty() && ["bb", "dd", "gg", "mm", "nn", "pp", "rr", "tt"].iter().any(|d| base.ends_with(d));
            if doubled {
                base.pop();
            }
            base.push_str(with);
            return base;
        }
    }
    word
}

/// Same word or clearly of one family: a shared beginning of at least five letters that is most of both.
pub(super) fn kin(a: &str, b: &str) -> bool {
    if a == b {
        return true;
    }
    let shared = a.bytes().zip(b.bytes()).take_while(|(x, y)| x == y).count();
    shared >= 5 && shared * 10 >= a.len().max(b.len()) * 6
}
