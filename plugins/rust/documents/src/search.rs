//! Ranking by BM25 (Robertson and Zaragoza, 2009) with titles counted more than text.

use std::collections::HashMap;

use crate::document::Document;

const K1: f64 = 1.2;
const B: f64 = 0.75;
/// A word of the title counts like so many in the text.
const TITLE_WEIGHT: f64 = 3.0;

/// Words that are in every question and in every text.
const STOP_WORDS: [&str; 66] = [
    "a", "about", "all", "an", "and", "any", "are", "as", "at", "be", "been", "by", "can", "could", "did", "do",
    "does", "find", "for", "from", "get", "give", "had", "has", "have", "how", "i", "if", "in", "is", "it", "its",
    "may", "me", "much", "must", "my", "of", "on", "or", "our", "please", "say", "search", "should", "show", "tell",
    "that", "the", "their", "there", "they", "this", "to", "was", "we", "what", "when", "where", "which", "who",
    "will", "with", "would", "you", "your",
];

/// The words of a text that count, in a common form: lower case, without endings.
pub(crate) fn terms(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_lowercase);
    words.filter(|word| !STOP_WORDS.contains(&word.as_str())).map(|word| stem(&word)).collect()
}

/// Cuts the commonest English endings, so that "refunds", "refunded" and "refunding" meet. Cruder than Porter's rules
/// and enough for ranking: both sides are cut the same way.
fn stem(word: &str) -> String {
    for (ending, with) in [
        ("ies", "y"),
        ("sses", "ss"),
        ("ches", "ch"),
        ("shes", "sh"),
        ("xes", "x"),
        ("ing", ""),
        ("ed", ""),
        ("es", "e"),
        ("s", ""),
    ] {
        let Some(stem) = word.strip_suffix(ending) else {
            continue;
        };
        if stem.chars().count() < 3 || (ending == "s" && (stem.ends_with('s') || stem.ends_with('u'))) {
            continue;
        }
        return trim_e(&format!("{stem}{with}"));
    }
    trim_e(word)
}

/// "closing" → "clos" must meet "close".
fn trim_e(word: &str) -> String {
    word.strip_suffix('e').filter(|stem| stem.chars().count() >= 3).unwrap_or(word).to_owned()
}

/// What is known of each document for ranking.
pub(crate) struct Index<'a> {
    documents: Vec<(&'a Document, HashMap<String, f64>, f64)>,
    /// In how many documents each word is.
    frequency: HashMap<String, usize>,
    mean_length: f64,
}

/// A document that fits.
pub(crate) struct Hit<'a> {
    pub(crate) document: &'a Document,
    pub(crate) score: f64,
}

impl<'a> Index<'a> {
    pub(crate) fn new(documents: &[&'a Document]) -> Index<'a> {
        let mut frequency = HashMap::new();
        let mut indexed = Vec::with_capacity(documents.len());
        for document in documents {
            let mut counts: HashMap<String, f64> = HashMap::new();
            let mut length = 0.0;
            let category = document.category.as_deref().unwrap_or_default();
            for (text, weight) in [(document.title.as_str(), TITLE_WEIGHT), (category, 1.0), (&document.content, 1.0)] {
                for term in terms(text) {
                    *counts.entry(term).or_default() += weight;
                    length += weight;
                }
            }
            for term in counts.keys() {
                let n: &mut usize = frequency.entry(term.clone()).or_default();
                *n = n.saturating_add(1);
            }
            indexed.push((*document, counts, length));
        }
        let total: f64 = indexed.iter().map(|(_, _, length)| length).sum();
        let mean_length = (total / count(indexed.len())).max(1.0);
        Index { documents: indexed, frequency, mean_length }
    }

    /// The best documents, best first; of equal ones the first by source.
    pub(crate) fn search(&self, terms: &[String], limit: usize) -> Vec<Hit<'a>> {
        let mut unique = terms.to_vec();
        unique.sort();
        unique.dedup();
        let score = |(document, counts, length): &(&'a Document, HashMap<String, f64>, f64)| {
            let score = unique.iter().map(|term| self.score(term, counts, *length)).sum();
            Hit { document, score }
        };
        let mut hits: Vec<Hit<'a>> = self.documents.iter().map(score).filter(|hit| hit.score > 0.0).collect();
        hits.sort_by(|a, b| b.score.total_cmp(&a.score));
        // What fits far worse than the best is noise for a model.
        let enough = hits.first().map_or(0.0, |best| best.score * 0.2);
        hits.retain(|hit| hit.score >= enough);
        hits.truncate(limit);
        hits
    }

    fn score(&self, term: &str, counts: &HashMap<String, f64>, length: f64) -> f64 {
        let Some(n_here) = counts.get(term) else { return 0.0 };
        let (all, with) = (count(self.documents.len()), count(self.frequency.get(term).copied().unwrap_or(0)));
        let rarity = ((all - with + 0.5) / (with + 0.5)).ln_1p();
        rarity * n_here * (K1 + 1.0) / (n_here + K1 * (1.0 - B + B * length / self.mean_length))
    }
}

#[expect(clippy::cast_precision_loss, reason = "no library has 2^53 documents")]
fn count(n: usize) -> f64 {
    n as f64
}
