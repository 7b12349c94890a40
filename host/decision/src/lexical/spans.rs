//! Stretches of a query that could be the value of a text input.

use std::collections::BTreeSet;

use super::atoms::{Atom, AtomKind};
use super::lexicon;
use super::query::Query;
use super::text::{Kind, Token};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SpanKind {
    Quote,
    /// A name: capitals, with the small words inside it.
    Name,
    /// A noun phrase.
    Noun,
    /// A self-standing piece; its kind is in the atom.
    Atom,
    Number,
    /// The unit of a number.
    Unit,
}

#[derive(Debug, Clone)]
pub(super) struct Span {
    pub(super) text: String,
    pub(super) kind: SpanKind,
    /// Tokens covered.
    pub(super) from: usize,
    pub(super) to: usize,
    /// Share of its content words that the tool's own words explain.
    pub(super) explained: f64,
    /// `Denver, Colorado` is one of these; its parts are spans of their own.
    pub(super) composite: bool,
    /// The words before the head of a noun phrase.
    pub(super) modifier: bool,
    pub(super) atom: Option<usize>,
}

const JOINERS: [&str; 14] = ["of", "the", "de", "du", "da", "la", "le", "van", "von", "der", "&", "vs", "v", "del"];
#[rustfmt::skip]
const FILLERS: &[&str] = &[
    "latest", "current", "currently", "nearby", "nearest", "closest", "top", "best", "new", "official", "detailed", "detail", "average", "recent", "upcoming", "next", "last", "past", "good",
    "popular", "available", "specific", "certain", "various", "different", "full", "total", "overall", "exact", "information", "info", "details", "data", "right", "now", "today", "tomorrow",
    "high", "highest", "low", "lowest", "cheapest", "major", "main", "important", "famous", "possible", "required", "near", "around", "along", "including", "local", "common", "another", "other", "same",
    "number", "list", "name", "names", "result", "results", "value", "type", "kind", "time", "way", "recommended", "different", "exactly", "approximately", "roughly", "ongoing", "currently", "please", "amount", "amounts", "level", "somewhere", "someone", "something", "anything",
];
#[rustfmt::skip]
const BREAKS: &[&str] = &[
    "related", "located", "called", "named", "titled", "starring", "involving", "performing", "happening", "based", "found", "starting", "ending", "beginning", "containing", "offering", "offers", "offer", "specializing", "regarding",
    "concerning", "covering", "considering", "featuring", "following", "including", "excluding", "avoiding", "having", "being", "going", "driving", "coming", "wearing", "living", "lasting", "made", "takes", "take", "serves", "serve", "contains", "contain",
    "requires", "require", "discovered", "invented", "proposed", "published", "written", "released", "created", "built", "held", "filed", "heard", "occurred", "happened", "used", "uses", "produced", "given", "needed", "said", "says", "goes", "comes", "became", "become",
    "weighs", "weigh", "travels", "travel", "travelled", "traveled", "moving", "moves", "dropped", "thrown", "heated", "mixed", "invested", "compounded", "priced", "rated", "ranked", "set", "according", "due", "against", "across", "through", "toward", "towards", "upon", "among", "amongst", "throughout", "without",
    "currently", "please", "looking", "interested", "planning", "trying", "thinking", "wondering", "staying", "traveling", "travelling", "allows", "allow", "accepts", "provides", "provide", "has", "have", "won", "win", "played", "plays", "play", "cost", "costs", "only", "less", "more", "than", "least", "away", "long", "tall", "old", "ago", "later", "earlier", "wide", "deep", "instead", "yet", "still", "already", "well", "first", "equal", "equals",
    "prepare", "cook", "eat", "watch", "visit", "wear", "learn", "reach", "spend", "paint", "know", "go", "travel", "drive", "fly", "walk", "attend", "stay", "measure", "boil", "bake", "pay", "earn", "borrow", "save", "keep", "follow", "happen", "occur", "exist", "lie", "stand", "stands", "belong", "mean", "means",
    "finished", "finish", "scored", "score's", "taken", "taking", "made", "making", "done", "doing", "getting", "want", "wants", "wanted", "allowed", "expected", "considered", "assumed", "known", "seen", "born", "died", "lived", "ruled", "founded", "signed", "started", "ended", "began", "ate", "went", "came", "saw", "bought", "sold",
];

/// Heads of names made with `of`.
#[rustfmt::skip]
const NAMING: &[&str] = &[
    "theory", "law", "laws", "battle", "siege", "treaty", "declaration", "war", "bank", "university", "museum", "kingdom", "republic", "king", "queen", "statue", "gulf", "isle", "principle", "doctrine", "fall", "rise", "age", "era",
    "house", "lord", "art", "history", "freedom", "right", "bill", "church", "board", "department", "ministry", "institute", "school", "college", "temple", "tower", "bay", "cape", "act",
];

/// All candidates, in the order of the text.
pub(super) fn find(query: &Query, explained: &BTreeSet<String>, taken: &[(usize, usize)]) -> Vec<Span> {
    let mut out = Vec::new();
    for (index, atom) in query.atoms.iter().enumerate() {
        atom_span(query, index, atom, &mut out);
    }
    names(query, &mut out);
    nouns(query, explained, taken, &mut out);
    extended(query, explained, &mut out);
    for num in query.nums.iter().filter(|n| !n.implied && n.owner.is_none()) {
        let text = query.between(num.from, num.bare).trim_start_matches(['$', '€', '£']).to_owned();
        out.push(Span {
            text,
            kind: SpanKind::Number,
            from: num.from,
            to: num.bare,
            explained: 0.0,
            composite: false,
            modifier: false,
            atom: None,
        });
        if num.to > num.bare {
            out.push(Span {
                text: query.between(num.bare, num.to).to_owned(),
                kind: SpanKind::Unit,
                from: num.bare,
                to: num.to,
                explained: 0.0,
                composite: false,
                modifier: false,
                atom: None,
            });
        }
    }
    // A noun phrase that cuts a name apart is none.
    let names: Vec<(usize, usize)> =
        out.iter().filter(|s| s.kind == SpanKind::Name && !s.composite).map(|s| (s.from, s.to)).collect();
    out.retain(|s| {
        s.kind != SpanKind::Noun
            || names
                .iter()
                .all(|n| s.to <= n.0 || n.1 <= s.from || (s.from <= n.0 && n.1 <= s.to && (s.from, s.to) != *n))
    });
    for span in &mut out {
        span.explained = share(query, span, explained);
    }
    out.sort_by_key(|s| (s.from, std::cmp::Reverse(s.to)));
    out
}

fn atom_span(query: &Query, index: usize, atom: &Atom, out: &mut Vec<Span>) {
    if atom.kind == AtomKind::Bracket {
        return;
    }
    let from = query.tokens.iter().position(|t| t.end > atom.start);
    let to = query.tokens.iter().rposition(|t| t.start < atom.end).map(|i| i + 1);
    if let (Some(from), Some(to)) = (from, to) {
        let kind = if atom.kind == AtomKind::Quote { SpanKind::Quote } else { SpanKind::Atom };
        out.push(Span {
            text: atom.text.clone(),
            kind,
            from,
            to,
            explained: 0.0,
            composite: false,
            modifier: false,
            atom: Some(index),
        });
    }
}

fn share(query: &Query, span: &Span, explained: &BTreeSet<String>) -> f64 {
    let content = || {
        query.tokens.get(span.from..span.to).into_iter().flatten().filter(|t| t.is_word() && !lexicon::is_stop(&t.low))
    };
    // `theory of evolution` is explained by what is not its head.
    let named = span.kind == SpanKind::Noun && (span.from + 1..span.to).any(|i| query.low(i) == "of");
    if named {
        return 0.0;
    }
    let all = content().count();
    let known = content().filter(|t| explained.contains(&t.stem)).count();
    if all == 0 { 0.0 } else { count(known) / count(all) }
}

#[expect(clippy::cast_precision_loss, reason = "small counts")]
fn count(n: usize) -> f64 {
    n as f64
}

/// A token that can begin or continue a name.
fn named(query: &Query, at: usize) -> bool {
    let Some(token) = query.token(at) else { return false };
    let owned = query.owner(at).is_some_and(|a| a.kind != AtomKind::Id);
    if !token.is_word() || !token.cap || owned {
        return false;
    }
    if token.first {
        let next = query.token(at + 1).is_some_and(|t| t.cap && t.is_word());
        let plain = lexicon::is_stop(&token.low) || lexicon::is_imperative(&token.low);
        return !plain && (next || !common_opening(&token.low));
    }
    // Articles and letters that are also names: "The Beatles", "in C", "US".
    let letter =
        matches!(token.text.as_str(), "The" | "A" | "US" | "IT" | "D" | "C" | "F" | "E" | "G" | "B" | "T" | "M" | "S");
    let pronoun = token.text == "I" || token.low.starts_with("i'");
    (letter || !lexicon::is_stop(&token.low)) && !pronoun
}

/// Words that open sentences without being names.
fn common_opening(low: &str) -> bool {
    [
        "assuming",
        "suppose",
        "considering",
        "once",
        "since",
        "hi",
        "hello",
        "hey",
        "yes",
        "ok",
        "okay",
        "thanks",
        "thank",
        "today",
        "tomorrow",
        "sometimes",
        "recently",
        "currently",
        "additionally",
    ]
    .contains(&low)
        || low.ends_with("ing")
        || low.ends_with("ly")
}

fn names(query: &Query, out: &mut Vec<Span>) {
    let mut at = 0;
    let mut runs: Vec<(usize, usize)> = Vec::new();
    while at < query.tokens.len() {
        if !named(query, at) {
            at += 1;
            continue;
        }
        let from = at;
        let mut to = at + 1;
        loop {
            if named(query, to) {
                to += 1;
                continue;
            }
            // Up to two joining words, if a name goes on behind them: `Museum of the Arts`, `S&P 500`.
            let joined = (1..=2).find(|n| {
                (0..*n).all(|i| JOINERS.contains(&query.low(to + i)))
                    && named(query, to + n)
                    && !query.tokens.get(to + n).is_some_and(|t| t.first)
            });
            let possessive = query.low(to) == "'" && query.low(to + 1) == "s" && named(query, to + 2);
            match joined {
                Some(n) if !possessive => to += n + 1,
                _ => break,
            }
        }
        let number = query.token(to).is_some_and(|t| t.kind == Kind::Number)
            && query.tokens.get(to - 1).is_some_and(|t| t.low.contains('&'));
        to += usize::from(number);
        runs.push((from, to));
        at = to;
    }
    for (from, to) in &runs {
        out.push(name_span(query, *from, *to, false));
        // `King of France`, `Prime Minister of Japan`: the place alone as well.
        let of = (*from..*to).find(|i| query.low(*i) == "of");
        if let Some(of) = of.filter(|o| o + 1 < *to && lexicon::is_country(&query.between(o + 1, *to).to_lowercase())) {
            out.push(name_span(query, of + 1, *to, false));
            out.push(name_span(query, *from, of, false));
        }
    }
    composites(query, &runs, out);
}

/// `Amazon rainforest`, `ATP synthase`: a name and one small word the tool does not explain.
fn extended(query: &Query, explained: &BTreeSet<String>, out: &mut Vec<Span>) {
    let names: Vec<(usize, usize)> =
        out.iter().filter(|s| s.kind == SpanKind::Name && !s.composite).map(|s| (s.from, s.to)).collect();
    for (from, to) in names {
        let place = query.between(from, to);
        let known = query.token(to).is_none_or(|t| explained.contains(&t.stem) || FILLERS.contains(&t.low.as_str()));
        let ends = !content(query, to + 1);
        let gazetteer = lexicon::is_state(place) || lexicon::is_country(&place.to_lowercase());
        if from + 1 == to
            && content(query, to)
            && ends
            && !known
            && !gazetteer
            && query.token(to).is_some_and(|t| !t.cap && !t.low.ends_with("ing") && !t.low.ends_with("ed"))
        {
            out.push(Span { kind: SpanKind::Name, ..noun_span(query, from, to + 1) });
        }
    }
}

fn name_span(query: &Query, from: usize, to: usize, composite: bool) -> Span {
    let text = query.between(from, to).trim_end_matches([',', ';']).to_owned();
    Span { text, kind: SpanKind::Name, from, to, explained: 0.0, composite, modifier: false, atom: None }
}

/// `Boston, MA`, `London, UK`, `Rome, Italy`.
fn composites(query: &Query, runs: &[(usize, usize)], out: &mut Vec<Span>) {
    for (a, b) in runs.iter().zip(runs.iter().skip(1)) {
        let region = query.between(b.0, b.1);
        let place = lexicon::is_state(region.trim_end_matches('.'))
            || lexicon::is_country(&region.to_lowercase())
            || lexicon::is_state(region);
        let single = query.low(a.1) == "," && b.0 == a.1 + 1;
        if single && place && !lexicon::is_country(&query.between(a.0, a.1).to_lowercase()) {
            out.push(name_span(query, a.0, b.1, true));
        }
    }
}

/// Words a noun phrase may be made of.
fn content(query: &Query, at: usize) -> bool {
    let Some(token) = query.token(at) else { return false };
    let owned = query.owner(at).is_some();
    let verb = lexicon::is_imperative(&token.low)
        && (at == 0
            || token.first
            || query.token(at.wrapping_sub(1)).is_some_and(|t| t.any(&["to", "and", "you", "i", ",", "me", "please"])));
    token.is_word()
        && !owned
        && (!lexicon::is_stop(&token.low) || token.text == "US")
        && !verb
        && !BREAKS.contains(&token.low.as_str())
        && !numeric(query, at)
        && !token.low.contains('\'')
}

fn numeric(query: &Query, at: usize) -> bool {
    query.nums.iter().any(|n| n.from <= at && at < n.to && !n.implied)
}

fn nouns(query: &Query, explained: &BTreeSet<String>, taken: &[(usize, usize)], out: &mut Vec<Span>) {
    let mut runs: Vec<(usize, usize)> = Vec::new();
    let mut at = 0;
    while at < query.tokens.len() {
        let from = at;
        while content(query, at) && taken.iter().all(|t| at < t.0 || t.1 <= at) {
            at += 1;
        }
        if at > from {
            // "…, selling tomatoes": a participle, unless an article or preposition makes it part of the noun.
            let led = from
                .checked_sub(1)
                .is_some_and(|i| lexicon::is_stop(query.low(i)) && !matches!(query.low(i), "and" | "or"));
            let participle = query.low(from).ends_with("ing") && at > from + 1 && !led && from > 0;
            runs.push((from + usize::from(participle), at));
        } else {
            at += 1;
        }
    }
    for (from, to) in &runs {
        trimmed(query, explained, *from, *to, out);
    }
    // `theory of relativity`, `law of universal gravitation`.
    for (a, b) in runs.iter().zip(runs.iter().skip(1)) {
        let link = query.low(a.1) == "of" && (b.0 == a.1 + 1 || (b.0 == a.1 + 2 && query.low(a.1 + 1) == "the"));
        let head = a.1 - 1;
        let head_known = query.token(head).is_some_and(|t| explained.contains(&t.stem));
        if link && !FILLERS.contains(&query.low(head)) && (NAMING.contains(&query.low(head)) || !head_known) {
            let from = trim_left(query, a.0, a.1);
            let whole = Span { composite: false, ..noun_span(query, from.min(head), b.1) };
            if NAMING.contains(&query.low(head)) {
                out.retain(|s| {
                    s.kind != SpanKind::Noun
                        || s.to <= whole.from
                        || whole.to <= s.from
                        || s.from < whole.from
                        || whole.to < s.to
                });
            }
            out.push(whole);
        }
    }
}

fn trim_left(query: &Query, mut from: usize, to: usize) -> usize {
    while from < to && FILLERS.contains(&query.low(from)) {
        from += 1;
    }
    from
}

/// The phrase without fillers, and again without the words the tool's own description explains.
fn trimmed(query: &Query, explained: &BTreeSet<String>, from: usize, to: usize, out: &mut Vec<Span>) {
    let known = |i: usize| query.token(i).is_none_or(|t: &Token| explained.contains(&t.stem));
    let filler = |i: usize| FILLERS.contains(&query.low(i));
    let (mut a, mut b) = (from, to);
    while a < b && filler(a) {
        a += 1;
    }
    while a < b && filler(b - 1) {
        b -= 1;
    }
    if a < b {
        out.push(noun_span(query, a, b));
    }
    if a + 1 < b {
        out.push(Span { modifier: true, ..noun_span(query, a, b - 1) });
    }
    let (mut c, mut d) = (a, b);
    while c < d && (known(c) || filler(c)) {
        c += 1;
    }
    while c < d && (known(d - 1) || filler(d - 1)) {
        d -= 1;
    }
    if c < d && (c, d) != (a, b) {
        out.push(noun_span(query, c, d));
    }
}

fn noun_span(query: &Query, from: usize, to: usize) -> Span {
    Span {
        text: query.between(from, to).trim_end_matches([',', '.']).to_owned(),
        kind: SpanKind::Noun,
        from,
        to,
        explained: 0.0,
        composite: false,
        modifier: false,
        atom: None,
    }
}
