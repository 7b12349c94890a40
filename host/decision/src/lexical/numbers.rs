//! Numbers in a query: digits, words, magnitudes, signs, currencies, percent, and the unit behind them.

use super::lexicon;
use super::text::{Kind, Token};

/// One number and how it was written.
#[derive(Debug, Clone, Default)]
pub(super) struct Num {
    pub(super) value: f64,
    /// Written without a fraction, so that it may fill an integer.
    pub(super) whole: bool,
    pub(super) percent: bool,
    pub(super) currency: bool,
    pub(super) ordinal: bool,
    /// `a month`, `from rest`: not written as a number.
    pub(super) implied: bool,
    /// Coefficient of a variable, as in `3x`.
    pub(super) coefficient: bool,
    pub(super) spelled: bool,
    pub(super) dim: Option<&'static str>,
    pub(super) factor: f64,
    pub(super) unit: String,
    /// Tokens covered, unit included; `bare` ends before the unit.
    pub(super) from: usize,
    pub(super) bare: usize,
    pub(super) to: usize,
    pub(super) owner: Option<usize>,
}

impl Num {
    /// A calendar year by its looks.
    pub(super) fn like_year(&self) -> bool {
        self.whole
            && !self.currency
            && !self.percent
            && self.dim.is_none()
            && !self.spelled
            && (1000.0..=2100.0).contains(&self.value)
    }
}

const SIGNS: [&str; 5] = ["$", "€", "£", "¥", "₹"];

/// All numbers outside of hidden tokens.
pub(super) fn find(tokens: &[Token], owners: &[Option<usize>], hidden: &[bool]) -> Vec<Num> {
    let mut out = Vec::new();
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        let read = match token.kind {
            _ if hidden.get(at).copied().unwrap_or(false) => None,
            Kind::Number => digits(tokens, at),
            Kind::Word => word(tokens, at),
            Kind::Punct => None,
        };
        if let Some(mut num) = read {
            num.owner = owners.get(at).copied().flatten();
            at = num.to.max(at + 1);
            out.push(num);
        } else {
            at += 1;
        }
    }
    out
}

fn digits(tokens: &[Token], at: usize) -> Option<Num> {
    let token = tokens.get(at)?;
    let value: f64 = token.text.replace(',', "").parse().ok()?;
    let whole = value.fract() == 0.0 && !token.low.contains("e-") && !token.text.contains('.');
    let mut num = Num { value, whole, factor: 1.0, from: at, bare: at + 1, to: at + 1, ..Num::default() };
    let before = |n: usize| at.checked_sub(n).and_then(|i| tokens.get(i));
    let mut steps = 1;
    if before(1).is_some_and(|t| SIGNS.contains(&t.text.as_str())) {
        num.currency = true;
        steps = 2;
    }
    let minus = before(steps).filter(|t| t.text == "-" || t.text == "−");
    let after_sign = if steps == 2 { before(1) } else { Some(token) };
    if minus.is_some_and(|m| {
        m.gap || before(steps + 1).is_none_or(|t| !matches!(t.kind, Kind::Word | Kind::Number) && t.text != ")")
    }) && after_sign.is_some_and(|t| !t.gap)
    {
        num.value = -num.value;
        num.from = at.saturating_sub(steps);
    }
    num.from = num.from.min(at + 1 - steps);
    glued(tokens, &mut num)?;
    magnitude(tokens, &mut num);
    unit(tokens, &mut num);
    Some(num)
}

/// What follows without a space: `th`, `k`, `M`, `x`, or nothing of a size like `12x18`.
fn glued(tokens: &[Token], num: &mut Num) -> Option<()> {
    let Some(next) = tokens.get(num.to).filter(|t| !t.gap) else {
        return Some(());
    };
    match next.low.as_str() {
        "st" | "nd" | "rd" | "th" => num.ordinal = true,
        "k" if num.currency || next.text == "k" => num.times(1e3),
        "m" if num.currency || next.text == "M" => num.times(1e6),
        "b" | "bn" if num.currency || next.text == "B" => num.times(1e9),
        "s" if num.like_year() => {}
        "x" | "y" | "z" | "t" | "n" | "i" => num.coefficient = true,
        low if low.starts_with('x') && low.chars().skip(1).all(|c| c.is_ascii_digit()) => return None,
        _ => {
            // `4/5`: a score out of five counts as its first part.
            let ratio = next.text == "/" && tokens.get(num.to + 1).is_some_and(|t| t.kind == Kind::Number && !t.gap);
            if ratio {
                num.to += 2;
                num.bare = num.to;
            }
            return Some(());
        }
    }
    num.to += 1;
    num.bare = num.to;
    Some(())
}

impl Num {
    fn times(&mut self, by: f64) {
        self.value *= by;
        self.whole = self.value.fract() == 0.0;
    }
}

fn magnitude(tokens: &[Token], num: &mut Num) {
    while let Some(by) = tokens.get(num.to).and_then(|t| lexicon::magnitude(&t.low)) {
        num.times(by);
        num.to += 1;
        num.bare = num.to;
    }
}

fn unit(tokens: &[Token], num: &mut Num) {
    let low = |i: usize| tokens.get(i).map_or("", |t| t.low.as_str());
    let mut at = num.to;
    if low(at) == "%" {
        num.percent = true;
    }
    if low(at) == "-"
        && tokens.get(at).is_some_and(|t| !t.gap)
        && tokens.get(at + 1).is_some_and(|t| !t.gap && t.is_word())
    {
        at += 1;
    }
    if low(at) == "°" || low(at) == "º" {
        at += 1;
        if !matches!(low(at), "c" | "f") {
            (num.dim, num.to) = (Some("angle"), at);
            return;
        }
    }
    let (mut squared, mut cubed) = (false, false);
    if matches!(low(at), "square" | "sq" | "cubic") {
        (squared, cubed) = (low(at) != "cubic", low(at) == "cubic");
        at += 1;
        if low(at) == "." {
            at += 1;
        }
    } else if matches!(low(at), "degree" | "degrees") && lexicon::unit(low(at + 1)).is_some_and(|u| u.0 == "temp") {
        at += 1;
    }
    let word = low(at).trim_end_matches(['²', '³']);
    squared |= low(at).ends_with('²');
    cubed |= low(at).ends_with('³');
    // One letter with a space before it is a unit only for the common ones: "5 a day", "2 s".
    let lone = word.len() == 1
        && tokens.get(at).is_some_and(|t| t.gap)
        && !matches!(word, "m" | "g" | "s" | "h" | "l" | "w" | "n" | "j" | "k" | "c" | "f" | "v" | "%");
    let Some((dim, factor)) = lexicon::unit(word).filter(|_| !lone) else {
        return;
    };
    word.clone_into(&mut num.unit);
    (num.dim, num.factor, num.to) = (Some(dim), factor, at + 1);
    num.percent |= dim == "percent";
    num.currency |= dim == "money";
    compound(tokens, num, squared, cubed);
}

/// `m^2`, `m/s`, `miles per hour`, `m/s^2`.
fn compound(tokens: &[Token], num: &mut Num, mut squared: bool, mut cubed: bool) {
    let low = |i: usize| tokens.get(i).map_or("", |t| t.low.as_str());
    let power = |i: usize| match (low(i), low(i + 1)) {
        ("^", "2") => (2, 2),
        ("^", "3") => (3, 2),
        ("squared", _) => (2, 1),
        ("cubed", _) => (3, 1),
        _ => (1, 0),
    };
    let (own, used) = power(num.to);
    squared |= own == 2;
    cubed |= own == 3;
    num.to += used;
    if num.dim == Some("length") && (squared || cubed) {
        num.factor = num.factor.powi(if squared { 2 } else { 3 });
        num.dim = Some(if squared { "area" } else { "volume" });
    }
    if !matches!(low(num.to), "/" | "per") {
        return;
    }
    let below = low(num.to + 1).to_owned();
    let Some((dim, factor)) = lexicon::unit(below.trim_end_matches(['²', '2'])) else {
        return;
    };
    let (own, used) = power(num.to + 2);
    let again = matches!(low(num.to + 2), "/" | "per") && lexicon::unit(low(num.to + 3)).is_some_and(|u| u.0 == "time");
    let twice = own == 2 || again || below.ends_with(['²', '2']);
    if num.dim == Some("length") && dim == "time" && factor < 80_000.0 {
        num.factor /= if twice { factor * factor } else { factor };
        num.dim = Some(if twice { "acceleration" } else { "speed" });
        num.to += 2 + used + if again { 2 } else { 0 };
    } else if num.dim == Some("length") && dim == "volume" {
        (num.dim, num.to) = (Some("efficiency"), num.to + 2);
    } else if num.dim == Some("mass") && (dim == "volume" || dim == "length") {
        (num.dim, num.to) = (Some("density"), num.to + 2 + used);
    }
}

fn word(tokens: &[Token], at: usize) -> Option<Num> {
    let low = |i: usize| tokens.get(i).map_or("", |t| t.low.as_str());
    let this = low(at);
    let base = Num { whole: true, spelled: true, factor: 1.0, from: at, bare: at + 1, to: at + 1, ..Num::default() };
    if let Some(value) = lexicon::number_word(this) {
        let mut num = Num { value: f64::from(value), ..base };
        spelled_tail(tokens, &mut num);
        unit(tokens, &mut num);
        // "one" is mostly a pronoun.
        num.implied = this == "one" && num.to == at + 1 && !tokens.get(at + 1).is_some_and(Token::is_word);
        return Some(num);
    }
    let time = |i: usize| lexicon::unit(low(i)).is_some_and(|u| u.0 == "time") && low(i).len() > 2;
    let single = matches!(
        this,
        "a" | "an" | "next" | "last" | "past" | "upcoming" | "per" | "each" | "every" | "coming" | "previous" | "this"
    );
    if single && (lexicon::magnitude(low(at + 1)).is_some() || (time(at + 1) && !low(at + 1).ends_with('s'))) {
        let mut num = Num { value: 1.0, implied: lexicon::magnitude(low(at + 1)).is_none(), ..base };
        magnitude(tokens, &mut num);
        unit(tokens, &mut num);
        return Some(num);
    }
    let still = (this == "rest" && matches!(low(at.wrapping_sub(1)), "from" | "at"))
        || (matches!(this, "dropped" | "released") && low(at + 1) == "from");
    if still {
        return Some(Num { implied: true, dim: Some("speed"), ..base });
    }
    let noun_next = tokens.get(at + 1).is_some_and(Token::is_word) || low(at.wrapping_sub(1)) == "the";
    let ordinal = lexicon::ordinal_word(this).filter(|_| noun_next)?;
    Some(Num { value: f64::from(ordinal), ordinal: true, implied: true, ..base })
}

/// `twenty five`, `two hundred and ten`, `three million`.
fn spelled_tail(tokens: &[Token], num: &mut Num) {
    let low = |i: usize| tokens.get(i).map_or("", |t| t.low.as_str());
    let small = |i: usize| lexicon::number_word(low(i)).filter(|v| *v < 100);
    let tens = num.value >= 20.0 && num.value % 10.0 == 0.0;
    if let Some(ones) = small(num.to).filter(|v| tens && *v < 10) {
        num.value += f64::from(ones);
        num.to += 1;
    }
    let mut total = 0.0;
    while let Some(by) = lexicon::magnitude(low(num.to)) {
        num.value *= by;
        num.to += 1;
        let step = usize::from(low(num.to) == "and");
        let Some(more) = small(num.to + step) else { break };
        if lexicon::magnitude(low(num.to + step + 1)).is_some() {
            total += num.value;
            num.value = f64::from(more);
        } else {
            num.value += f64::from(more);
        }
        num.to += step + 1;
    }
    num.value += total;
    num.bare = num.to;
}
