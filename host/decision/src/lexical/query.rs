//! A query taken apart once: tokens, self-standing pieces, numbers.

use super::atoms::{self, Atom};
use super::numbers::{self, Num};
use super::text::{self, Token};

pub(super) struct Query<'a> {
    pub(super) text: &'a str,
    pub(super) tokens: Vec<Token>,
    pub(super) atoms: Vec<Atom>,
    /// For each token the piece it lies in.
    pub(super) owners: Vec<Option<usize>>,
    pub(super) nums: Vec<Num>,
}

impl<'a> Query<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        let tokens = text::tokens(text);
        let atoms = atoms::find(text);
        let owners = atoms::owners(&tokens, &atoms);
        let hidden: Vec<bool> =
            owners.iter().map(|o| o.and_then(|o| atoms.get(o)).is_some_and(Atom::hides_numbers)).collect();
        let mut nums = numbers::find(&tokens, &owners, &hidden);
        nums.retain(|n| n.value.is_finite());
        Self { text, tokens, atoms, owners, nums }
    }

    pub(super) fn token(&self, at: usize) -> Option<&Token> {
        self.tokens.get(at)
    }

    pub(super) fn low(&self, at: usize) -> &str {
        self.tokens.get(at).map_or("", |t| t.low.as_str())
    }

    pub(super) fn owner(&self, at: usize) -> Option<&Atom> {
        self.owners.get(at).copied().flatten().and_then(|o| self.atoms.get(o))
    }

    /// The text from one token up to another.
    pub(super) fn between(&self, from: usize, to: usize) -> &'a str {
        let start = self.tokens.get(from).map_or(0, |t| t.start);
        let end = to.checked_sub(1).and_then(|i| self.tokens.get(i)).map_or(0, |t| t.end);
        text::slice(self.text, start, end.max(start))
    }

    /// Whether a `between` stands before this token in its sentence.
    pub(super) fn opened_between(&self, at: usize) -> bool {
        self.tokens
            .iter()
            .take(at)
            .rev()
            .take(12)
            .take_while(|t| t.text != "." && t.text != "?")
            .any(|t| t.is("between"))
    }

    /// How many of `nums` from `at` on stand in a row, parted only by commas and `and`.
    pub(super) fn run(&self, nums: &[usize], at: usize) -> usize {
        let mut length = 1;
        while let (Some(a), Some(b)) = (nums.get(at + length - 1), nums.get(at + length)) {
            let (Some(a), Some(b)) = (self.nums.get(*a), self.nums.get(*b)) else {
                break;
            };
            let link = a.to < b.from && (a.to..b.from).all(|i| matches!(self.low(i), "," | "and" | "&" | "or" | "$"));
            if !link {
                break;
            }
            length += 1;
        }
        length
    }
}
