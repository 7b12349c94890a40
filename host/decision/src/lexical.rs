//! The decision agent without a model: choose a tool, fill its inputs, compose an answer, from words alone.
//!
//! * [`rank`] and [`choose`]: BM25 over names, titles, descriptions, examples and parameters; then how sure the best one is.
//! * [`fill`]: inputs out of the query by type, enum, format, quotes, units, dates and the words around. A required input
//!   for which the query has no span is listed in [`Filled::missing`], never invented: the agent asks for it.
//! * [`compose`]: an answer that says what the results hold and nothing else.
//!
//! Pure and deterministic: no clock (`now` is an input), no I/O, no randomness, linear patterns. Well below a millisecond.
//! `cargo xtask eval` measures it; the weights of [`Thresholds`] and of the confidence were fitted on even items only.

mod arrays;
mod atoms;
mod compose;
mod dates;
mod enums;
mod fill;
mod lexicon;
mod numbers;
mod numeric;
mod phrases;
mod query;
mod rank;
mod schema;
mod spans;
mod strings;
mod text;

#[cfg(test)]
mod tests;

use serde_json::{Map, Value};

/// Longer queries are cut here: nobody says the inputs of one tool after this many bytes.
const LONGEST: usize = 8_192;

/// A tool on offer.
#[derive(Debug, Clone, Copy)]
pub struct Candidate<'a> {
    pub name: &'a str,
    pub title: Option<&'a str>,
    pub description: &'a str,
    /// Queries this tool is meant for.
    pub examples: &'a [String],
    pub input_schema: &'a Value,
}

/// When to say no and when to ask.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Thresholds {
    /// Below this confidence (0 to 1) nothing on offer is meant.
    pub impossible: f64,
    /// Tools whose score is nearer to the best than this share of it are not told apart.
    pub ambiguous_margin: f64,
    /// At most so many tools are named when asking.
    pub most_asked: usize,
}

impl Default for Thresholds {
    fn default() -> Self {
        Self { impossible: 0.5, ambiguous_margin: 0.01, most_asked: 4 }
    }
}

/// A candidate's place in the list and its score; scores of different queries do not compare.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ranked {
    pub index: usize,
    pub score: f64,
}

/// What to do with a query.
#[derive(Debug, Clone, PartialEq)]
pub enum Choice {
    /// `score`: confidence that this tool is meant, 0 to 1. `margin`: lead over the second, as a share of the first.
    Pick { index: usize, score: f64, margin: f64 },
    /// These are too close to call; best first.
    Ambiguous(Vec<usize>),
    /// None of them.
    Impossible,
}

/// Inputs found, and the required ones that were not, nested ones with dots.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Filled {
    pub inputs: Map<String, Value>,
    pub missing: Vec<String>,
}

/// One result as the answer is composed from.
#[derive(Debug, Clone, Copy)]
pub struct ResultView<'a> {
    pub tool: &'a str,
    pub name: &'a str,
    pub objects: &'a [Map<String, Value>],
    /// How many there are, also where `objects` holds only the first ones.
    pub total: usize,
}

/// All candidates, best first.
#[must_use]
pub fn rank(query: &str, candidates: &[Candidate<'_>]) -> Vec<Ranked> {
    rank::rank(cut(query), candidates)
}

/// Picks one, asks which, or says that none is meant.
#[must_use]
pub fn choose(query: &str, candidates: &[Candidate<'_>], thresholds: &Thresholds) -> Choice {
    rank::choose(cut(query), candidates, thresholds)
}

/// Inputs of a tool out of a query; `now` is RFC 3339 and only needed for `tomorrow`, `next week` and dates without a year.
#[must_use]
pub fn fill(query: &str, tool: &Candidate<'_>, now: Option<&str>) -> Filled {
    fill::fill(cut(query), tool, now)
}

/// An answer from the results alone; `errors` are the messages of failed calls.
#[must_use]
pub fn compose(results: &[ResultView<'_>], errors: &[String]) -> String {
    compose::compose(results, errors)
}

fn cut(query: &str) -> &str {
    let mut end = query.len().min(LONGEST);
    while !query.is_char_boundary(end) {
        end -= 1;
    }
    query.get(..end).unwrap_or_default()
}
