//! Which tool: BM25 over names, descriptions and parameters, and how sure the best one is.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::fill;
use super::lexicon;
use super::schema;
use super::text;
use super::{Candidate, Choice, Ranked, Thresholds};

const NAME: f64 = 2.5;
const DESCRIPTION: f64 = 1.0;
const EXAMPLE: f64 = 1.2;
const PARAM: f64 = 0.7;
const PARAM_DESCRIPTION: f64 = 0.35;
/// What an input counts whose form alone speaks for the tool; set by hand.
const HARD: f64 = 1.0;
const K1: f64 = 1.2;
const B: f64 = 0.5;
/// Documents nobody sees, so that the weight of a word does not hang on how few tools are on offer.
const BACKGROUND: f64 = 8.0;

/// One tool's words with their weight, and the sets the evidence is taken from.
struct Document {
    weights: BTreeMap<String, f64>,
    length: f64,
    name: BTreeSet<String>,
    gist: BTreeSet<String>,
}

/// One word for those that mean the same in any request.
fn canonical(stem: String) -> String {
    match stem.as_str() {
        "find" | "locat" | "lookup" | "look" => "search".to_owned(),
        "averag" | "avg" => "mean".to_owned(),
        "total" | "add" => "sum".to_owned(),
        "comput" | "evaluat" => "calculat".to_owned(),
        _ => stem,
    }
}

/// The query's content words; of each, how much it says.
struct Terms(Vec<(String, f64)>);

fn terms(query: &str) -> Terms {
    let tokens = text::tokens(query);
    let quoted: Vec<(usize, usize)> = super::atoms::find(query).iter().map(|a| (a.start, a.end)).collect();
    let mut seen: BTreeMap<String, f64> = BTreeMap::new();
    let mut order: Vec<String> = Vec::new();
    for token in tokens.iter().filter(|t| t.is_word()) {
        let inside = quoted.iter().any(|q| q.0 <= token.start && token.end <= q.1);
        // Names and quotes are inputs more often than subjects.
        let weight = if inside {
            0.25
        } else if token.cap && !token.first {
            0.6
        } else {
            1.0
        };
        for word in text::words(&token.low) {
            if lexicon::is_stop(&word) || (word.len() == 1 && !inside) {
                continue;
            }
            let stem = canonical(text::stem(&word));
            let entry = seen.entry(stem.clone()).or_insert_with(|| {
                order.push(stem);
                0.0
            });
            *entry = entry.max(weight);
        }
    }
    Terms(order.into_iter().map(|s| (s.clone(), seen.get(&s).copied().unwrap_or(1.0))).collect())
}

fn document(candidate: &Candidate) -> Document {
    let mut weights: BTreeMap<String, f64> = BTreeMap::new();
    let mut length = 0.0;
    let mut add = |text: &str, weight: f64| {
        for stem in text::stems(text).into_iter().map(canonical) {
            *weights.entry(stem).or_insert(0.0) += weight;
            length += weight;
        }
    };
    add(candidate.name, NAME);
    add(candidate.title.unwrap_or_default(), NAME / 2.0);
    add(candidate.description, DESCRIPTION);
    for example in candidate.examples.iter().take(8) {
        add(example, EXAMPLE);
    }
    for param in schema::params(candidate.input_schema) {
        add(param.name, PARAM);
        add(param.description, PARAM_DESCRIPTION);
        for choice in param.choices() {
            add(choice, PARAM_DESCRIPTION);
        }
        for choice in param.schema.get("items").map(schema::choices).unwrap_or_default() {
            add(choice, PARAM_DESCRIPTION);
        }
    }
    let name = text::stems(candidate.name).into_iter().map(canonical).collect();
    let gist = text::stems(candidate.description).into_iter().map(canonical).collect();
    Document { weights, length, name, gist }
}

/// Weight of a term in a document: the word itself, or at a discount one of its family.
fn weight(document: &Document, term: &str) -> f64 {
    if let Some(found) = document.weights.get(term) {
        return *found;
    }
    let kin = document.weights.iter().filter(|(w, _)| text::kin(w, term)).map(|(_, v)| *v).fold(0.0, f64::max);
    0.6 * kin
}

fn bm25(terms: &Terms, documents: &[Document]) -> Vec<f64> {
    let count = as_f64(documents.len());
    let mean = documents.iter().map(|d| d.length).sum::<f64>() / count.max(1.0);
    let mut scores = vec![0.0; documents.len()];
    for (term, worth) in &terms.0 {
        let found: Vec<f64> = documents.iter().map(|d| weight(d, term)).collect();
        let holding = as_f64(found.iter().filter(|f| **f > 0.0).count());
        let idf = (1.0 + (count + BACKGROUND - holding + 0.5) / (holding + 0.5)).ln();
        for ((score, tf), document) in scores.iter_mut().zip(&found).zip(documents) {
            let norm = K1 * (1.0 - B + B * document.length / mean.max(1.0));
            *score += worth * idf * tf * (K1 + 1.0) / (tf + norm);
        }
    }
    scores
}

#[expect(clippy::cast_precision_loss, reason = "small counts")]
fn as_f64(n: usize) -> f64 {
    n as f64
}

/// What speaks for the best tool being meant at all.
#[derive(Debug, Clone, Copy, Default)]
struct Evidence {
    bm25: f64,
    /// Share of the query's content words the tool knows.
    covered: f64,
    /// Share of the tool's name the query says.
    named: f64,
    /// Share of the description's words the query says.
    told: f64,
    /// Share of the required inputs the query gives.
    given: f64,
    /// Share of the query's content words that are neither known to the tool nor an input's value.
    idle: f64,
    /// Share of the required inputs that only leftovers fill.
    weak: f64,
    /// Inputs whose form alone speaks for the tool.
    hard: f64,
    /// The query is numbers, signs and at most one word, and they fill the tool.
    bare: bool,
    /// Share of the query's numbers that fill nothing.
    idle_numbers: f64,
}

fn evidence(query: &str, terms: &Terms, candidate: &Candidate, document: &Document, bm25: f64) -> Evidence {
    let worth: f64 = terms.0.iter().map(|t| t.1).sum();
    let known: f64 = terms.0.iter().filter(|t| weight(document, &t.0) > 0.0).map(|t| t.1).sum();
    let said = |set: &BTreeSet<String>| {
        let hit = set.iter().filter(|s| terms.0.iter().any(|t| text::kin(&t.0, s))).count();
        if set.is_empty() { 0.0 } else { as_f64(hit) / as_f64(set.len()) }
    };
    let (filled, trace) = fill::traced(query, candidate);
    let tokens = text::tokens(query);
    let content: Vec<_> = tokens
        .iter()
        .filter(|t| t.is_word() && !lexicon::is_stop(&t.low) && !(t.first && lexicon::is_imperative(&t.low)))
        .collect();
    let idle = content
        .iter()
        .filter(|t| {
            trace.used.iter().all(|u| t.end <= u.0 || u.1 <= t.start)
                && weight(document, &canonical(t.stem.clone())) <= 0.0
        })
        .count();
    let required = candidate.input_schema.get("required").and_then(Value::as_array).map_or(0, Vec::len);
    let given = if required == 0 { 1.0 } else { 1.0 - (as_f64(filled.missing.len()) / as_f64(required)).min(1.0) };
    Evidence {
        bm25: bm25 / as_f64(terms.0.len()).max(1.0).sqrt(),
        covered: if worth > 0.0 { known / worth } else { 0.0 },
        named: said(&document.name),
        told: said(&document.gist),
        given,
        idle: as_f64(idle) / as_f64(content.len()).max(1.0),
        weak: as_f64(trace.weak) / as_f64(required).max(1.0),
        hard: trace.hard,
        bare: terms.0.len() <= 1
            && trace.numbers > 0
            && trace.idle_numbers == 0
            && filled.missing.is_empty()
            && required > 0,
        idle_numbers: as_f64(trace.idle_numbers) / as_f64(trace.numbers).max(1.0),
    }
}

impl Evidence {
    /// From 0 (not meant) to 1; a logistic fit on items with an even index.
    fn confidence(self) -> f64 {
        let z = -4.15 + 0.74 * (self.bm25 + 0.1).ln() - 0.74 * self.covered
            + 2.68 * self.named
            + 2.11 * self.told
            + 4.93 * self.given
            - 1.05 * self.idle
            - 0.47 * self.weak
            - 0.94 * self.idle_numbers
            + HARD * self.hard
            + if self.bare { 2.0 } else { 0.0 };
        1.0 / (1.0 + (-z).exp())
    }
}

/// All candidates, best first. Equal ones keep their order.
pub(super) fn rank(query: &str, candidates: &[Candidate]) -> Vec<Ranked> {
    let terms = terms(query);
    let documents: Vec<Document> = candidates.iter().map(document).collect();
    sorted(&bm25(&terms, &documents))
}

fn sorted(scores: &[f64]) -> Vec<Ranked> {
    let mut out: Vec<Ranked> =
        scores.iter().enumerate().map(|(index, score)| Ranked { index, score: *score }).collect();
    out.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.index.cmp(&b.index)));
    out
}

/// So many are looked at when the first one is not meant.
const RESCUED: usize = 6;

pub(super) fn choose(query: &str, candidates: &[Candidate], t: &Thresholds) -> Choice {
    let terms = terms(query);
    let documents: Vec<Document> = candidates.iter().map(document).collect();
    let ranked = sorted(&bm25(&terms, &documents));
    let confidence = |r: &Ranked| {
        let pair = candidates.get(r.index).zip(documents.get(r.index));
        pair.map_or(0.0, |(c, d)| evidence(query, &terms, c, d, r.score).confidence())
    };
    let Some(top) = ranked.first() else {
        return Choice::Impossible;
    };
    let sure = confidence(top);
    if top.score <= 0.0 || sure < t.impossible {
        // Words did not find it; inputs that fit one tool alone still may: "12*(3+4)".
        let others = ranked.iter().take(RESCUED).map(|r| (r, confidence(r)));
        let mut fit: Vec<(&Ranked, f64)> = others.filter(|o| o.1 >= t.impossible).collect();
        fit.sort_by(|a, b| b.1.total_cmp(&a.1));
        let margin = fit.first().map_or(0.0, |a| (a.1 - fit.get(1).map_or(0.0, |b| b.1)) / a.1);
        return match fit.as_slice() {
            [] => Choice::Impossible,
            many if many.len() > 1 && margin < t.ambiguous_margin => {
                Choice::Ambiguous(many.iter().map(|r| r.0.index).take(t.most_asked).collect())
            }
            [first, ..] => Choice::Pick { index: first.0.index, score: first.1, margin },
        };
    }
    let second = ranked.get(1).map_or(0.0, |r| r.score);
    let margin = (top.score - second) / top.score;
    if ranked.len() > 1 && margin < t.ambiguous_margin {
        let near = ranked.iter().filter(|r| (top.score - r.score) / top.score < t.ambiguous_margin);
        return Choice::Ambiguous(near.map(|r| r.index).take(t.most_asked).collect());
    }
    Choice::Pick { index: top.index, score: sure, margin }
}
