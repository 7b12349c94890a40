//! Arithmetic as people write it: a parser that computes while it reads, and errors that show where.
//!
//! Precedence from weak to strong: `+ -`, `* / % mod`, sign, `^` (to the right), `!`. A number before a parenthesis or
//! a name multiplies: `2(3)`, `2 pi`.

use crate::number::{Number, gcd};

/// Parentheses, signs and powers inside each other; more would only exhaust the stack.
const DEPTH: usize = 64;

const FUNCTIONS: &str = "sqrt, abs, round, floor, ceil, trunc, sign, min, max, sum, mean, gcd, lcm, factorial, ln, \
                         log, log10, log2, exp, pow, sin, cos, tan, asin, acos, atan, degrees, radians";

/// What is wrong with an expression, and at which character (from 0).
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Problem {
    pub(crate) message: String,
    pub(crate) at: usize,
}

impl Problem {
    /// The message with the place shown, for a model to correct itself.
    pub(crate) fn explain(&self, expression: &str) -> String {
        let rest: String = expression.chars().skip(self.at).take(12).collect();
        let place = if rest.is_empty() { "at the end".to_owned() } else { format!("at `{rest}`") };
        format!("cannot evaluate `{expression}`: {} (character {}, {place})", self.message, self.at.saturating_add(1))
    }
}

/// The value of an expression.
pub(crate) fn evaluate(expression: &str) -> Result<Number, Problem> {
    let mut parser = Parser { characters: expression.chars().collect(), at: 0, depth: 0 };
    parser.skip_blanks();
    if parser.peek().is_none() {
        return Err(parser.problem("the expression is empty"));
    }
    let value = parser.sum()?;
    parser.accept('=');
    match parser.peek() {
        None => Ok(value),
        Some(')') => Err(parser.problem("a `)` without its `(`")),
        Some(c) => Err(parser.problem(&format!("`{c}` is not expected here"))),
    }
}

struct Parser {
    characters: Vec<char>,
    at: usize,
    depth: usize,
}

impl Parser {
    fn sum(&mut self) -> Result<Number, Problem> {
        let mut value = self.product()?;
        loop {
            let at = self.at;
            let result = if self.accept('+') {
                value.add(self.product()?)
            } else if self.accept_any(&['-', '−', '–']) {
                value.subtract(self.product()?)
            } else {
                return Ok(value);
            };
            value = result.map_err(|message| Problem { message, at })?;
        }
    }

    fn product(&mut self) -> Result<Number, Problem> {
        let mut value = self.signed()?;
        loop {
            let at = self.at;
            let result = if self.accept_power() {
                // `**` binds like `^` and was taken by `power`; here it stands where no operand is.
                return Err(Problem { message: "`**` has no number before it".to_owned(), at });
            } else if self.accept_any(&['*', '×', '·']) {
                value.multiply(self.signed()?)
            } else if self.accept_any(&['/', '÷', ':']) {
                value.divide(self.signed()?)
            } else if self.percent_is_modulo() || self.accept_word("mod") {
                value.modulo(self.signed()?)
            } else if self.peek().is_some_and(|c| c == '(' || c.is_ascii_alphabetic() || matches!(c, 'π' | '√')) {
                value.multiply(self.power()?)
            } else {
                return Ok(value);
            };
            value = result.map_err(|message| Problem { message, at })?;
        }
    }

    fn signed(&mut self) -> Result<Number, Problem> {
        self.deeper(|parser| {
            if parser.accept_any(&['-', '−', '–']) {
                parser.signed().map(Number::negate)
            } else if parser.accept('+') {
                parser.signed()
            } else {
                parser.power()
            }
        })
    }

    fn power(&mut self) -> Result<Number, Problem> {
        let base = self.postfix()?;
        let at = self.at;
        if self.accept('^') || self.accept_power() {
            let exponent = self.signed()?;
            return base.power(exponent).map_err(|message| Problem { message, at });
        }
        Ok(base)
    }

    fn postfix(&mut self) -> Result<Number, Problem> {
        let mut value = self.operand()?;
        loop {
            let at = self.at;
            let result = if self.accept('!') {
                value.factorial()
            } else if self.percent_is_percentage() {
                value.divide(Number::Whole(100))
            } else {
                return Ok(value);
            };
            value = result.map_err(|message| Problem { message, at })?;
        }
    }

    fn operand(&mut self) -> Result<Number, Problem> {
        match self.peek() {
            Some(c) if c.is_ascii_digit() || c == '.' => self.number(),
            Some('(') => {
                let open = self.at;
                self.accept('(');
                let value = self.deeper(Parser::sum)?;
                if self.accept(')') { Ok(value) } else { Err(self.unclosed(open)) }
            }
            Some('√') => {
                let at = self.at;
                self.accept('√');
                let value = self.deeper(Parser::operand)?;
                apply("sqrt", &[value]).map_err(|message| Problem { message, at })
            }
            Some('π') => {
                self.accept('π');
                Ok(Number::Real(std::f64::consts::PI))
            }
            Some(c) if c.is_ascii_alphabetic() => self.name(),
            Some(c) => Err(self.problem(&format!("want a number, `(` or a function, got `{c}`"))),
            None => Err(self.problem("a number is missing")),
        }
    }

    fn number(&mut self) -> Result<Number, Problem> {
        let start = self.at;
        let mut text = String::new();
        let mut is_whole = true;
        while let Some(c) = self.raw() {
            let next_is_digit = self.characters.get(self.at.saturating_add(1)).is_some_and(char::is_ascii_digit);
            match c {
                '0'..='9' => text.push(c),
                '.' => {
                    is_whole = false;
                    text.push(c);
                }
                // `1_000`; and `1,000` only where the digits after it are three, so that `max(1,2)` stays a list.
                '_' if next_is_digit => {}
                ',' if self.groups_thousands(&text) => {}
                'e' | 'E' if self.exponent_follows() => {
                    is_whole = false;
                    text.push('e');
                    if let Some(sign) =
                        self.characters.get(self.at.saturating_add(1)).filter(|c| matches!(c, '+' | '-'))
                    {
                        text.push(*sign);
                        self.at = self.at.saturating_add(1);
                    }
                }
                _ => break,
            }
            self.at = self.at.saturating_add(1);
        }
        self.skip_blanks();
        let whole = if is_whole { text.parse().ok().map(Number::Whole) } else { None };
        let real = || text.parse().ok().and_then(|real| Number::real(real).ok());
        whole.or_else(real).ok_or_else(|| Problem { message: format!("`{text}` is not a number"), at: start })
    }

    fn groups_thousands(&self, before: &str) -> bool {
        let digits = self.characters.iter().skip(self.at.saturating_add(1)).take_while(|c| c.is_ascii_digit()).count();
        self.depth_is_flat() && digits == 3 && !before.is_empty() && !before.contains('.')
    }

    /// Inside parentheses a comma may part arguments; there digits are never grouped.
    fn depth_is_flat(&self) -> bool {
        let before = self.characters.iter().take(self.at);
        before.fold(0_i32, |open, c| open.saturating_add(i32::from(*c == '(')).saturating_sub(i32::from(*c == ')')))
            <= 0
    }

    fn exponent_follows(&self) -> bool {
        let mut rest = self.characters.iter().skip(self.at.saturating_add(1)).peekable();
        rest.next_if(|c| matches!(c, '+' | '-'));
        rest.peek().is_some_and(|c| c.is_ascii_digit())
    }

    fn name(&mut self) -> Result<Number, Problem> {
        let start = self.at;
        let mut name = String::new();
        while let Some(c) = self.raw().filter(|c| c.is_ascii_alphanumeric() || *c == '_') {
            name.push(c.to_ascii_lowercase());
            self.at = self.at.saturating_add(1);
        }
        self.skip_blanks();
        if self.peek() == Some('(') {
            let arguments = self.arguments()?;
            return apply(&name, &arguments).map_err(|message| Problem { message, at: start });
        }
        match name.as_str() {
            "pi" => Ok(Number::Real(std::f64::consts::PI)),
            "tau" => Ok(Number::Real(std::f64::consts::TAU)),
            "e" => Ok(Number::Real(std::f64::consts::E)),
            _ if FUNCTIONS.split(", ").any(|function| function == name) => {
                Err(Problem { message: format!("`{name}` needs its argument in parentheses: {name}(…)"), at: start })
            }
            _ => Err(Problem {
                message: format!("`{name}` is unknown; there are pi, tau, e and {FUNCTIONS}"),
                at: start,
            }),
        }
    }

    fn arguments(&mut self) -> Result<Vec<Number>, Problem> {
        let open = self.at;
        self.accept('(');
        let mut arguments = Vec::new();
        if self.accept(')') {
            return Ok(arguments);
        }
        loop {
            arguments.push(self.deeper(Parser::sum)?);
            if self.accept(')') {
                return Ok(arguments);
            }
            if !self.accept_any(&[',', ';']) {
                return Err(self.unclosed(open));
            }
        }
    }

    fn unclosed(&self, open: usize) -> Problem {
        match self.peek() {
            None => Problem { message: "this `(` is never closed".to_owned(), at: open },
            Some(c) => self.problem(&format!("want an operator or `)`, got `{c}`")),
        }
    }

    /// `%` before a number or a parenthesis is the rest of a division, else a percentage.
    fn percent_is_modulo(&mut self) -> bool {
        self.percent_has_operand() && self.accept('%')
    }

    fn percent_is_percentage(&mut self) -> bool {
        !self.percent_has_operand() && self.accept('%')
    }

    fn percent_has_operand(&self) -> bool {
        let mut rest = self.characters.iter().skip(self.at);
        let after = (rest.next() == Some(&'%')).then(|| rest.find(|c| !c.is_whitespace())).flatten();
        after.is_some_and(|c| c.is_ascii_alphanumeric() || matches!(c, '(' | '.' | 'π' | '√'))
    }

    fn accept_power(&mut self) -> bool {
        let stars = self.characters.iter().skip(self.at).take_while(|c| **c == '*').count();
        if stars >= 2 {
            self.at = self.at.saturating_add(2);
            self.skip_blanks();
        }
        stars >= 2
    }

    fn accept_word(&mut self, word: &str) -> bool {
        let there: String = self.characters.iter().skip(self.at).take_while(|c| c.is_ascii_alphabetic()).collect();
        let found = there.eq_ignore_ascii_case(word);
        if found {
            self.at = self.at.saturating_add(there.chars().count());
            self.skip_blanks();
        }
        found
    }

    fn accept(&mut self, wanted: char) -> bool {
        self.accept_any(&[wanted])
    }

    fn accept_any(&mut self, wanted: &[char]) -> bool {
        let found = self.peek().is_some_and(|c| wanted.contains(&c));
        if found {
            self.at = self.at.saturating_add(1);
            self.skip_blanks();
        }
        found
    }

    fn deeper<T>(&mut self, body: impl FnOnce(&mut Parser) -> Result<T, Problem>) -> Result<T, Problem> {
        if self.depth >= DEPTH {
            return Err(self.problem("too many parentheses or signs inside each other"));
        }
        self.depth = self.depth.saturating_add(1);
        let result = body(self);
        self.depth = self.depth.saturating_sub(1);
        result
    }

    fn skip_blanks(&mut self) {
        let blanks = self.characters.iter().skip(self.at).take_while(|c| c.is_whitespace()).count();
        self.at = self.at.saturating_add(blanks);
    }

    /// The next character; blanks are skipped already.
    fn peek(&self) -> Option<char> {
        self.raw()
    }

    fn raw(&self) -> Option<char> {
        self.characters.get(self.at).copied()
    }

    fn problem(&self, message: &str) -> Problem {
        Problem { message: message.to_owned(), at: self.at }
    }
}

fn apply(name: &str, arguments: &[Number]) -> Result<Number, String> {
    match (name, arguments) {
        ("min" | "max" | "sum" | "mean" | "average" | "avg" | "gcd" | "lcm", []) => {
            Err(format!("`{name}` needs at least one argument"))
        }
        ("min", [first, rest @ ..]) => {
            Ok(rest.iter().fold(*first, |a, b| if b.as_f64() < a.as_f64() { *b } else { a }))
        }
        ("max", [first, rest @ ..]) => {
            Ok(rest.iter().fold(*first, |a, b| if b.as_f64() > a.as_f64() { *b } else { a }))
        }
        ("sum", all) => total(all),
        ("mean" | "average" | "avg", all) => total(all)?.divide(Number::Whole(i128::try_from(all.len()).unwrap_or(1))),
        ("gcd", all) => whole_numbers(name, all).map(|all| Number::Whole(all.into_iter().fold(0, gcd))),
        ("lcm", all) => least_common_multiple(&whole_numbers(name, all)?),
        ("pow", [base, exponent]) => base.power(*exponent),
        ("log", [x, base]) => logarithm(x.as_f64(), base.as_f64()),
        ("round", [x, digits]) => rounded(*x, *digits),
        ("factorial", [n]) => n.factorial(),
        (_, [x]) => of_one(name, *x),
        _ if FUNCTIONS.split(", ").any(|function| function == name) => {
            Err(format!("`{name}` does not take {} arguments", arguments.len()))
        }
        _ => Err(format!("there is no function `{name}`; there are {FUNCTIONS}")),
    }
}

fn of_one(name: &str, x: Number) -> Result<Number, String> {
    let whole = |function: fn(f64) -> f64| match x {
        Number::Whole(_) => Ok(x),
        Number::Real(real) => Number::real(function(real)).map(|r| r.whole().map_or(r, Number::Whole)),
    };
    let real = x.as_f64();
    match name {
        "round" => whole(f64::round),
        "floor" => whole(f64::floor),
        "ceil" => whole(f64::ceil),
        "trunc" => whole(f64::trunc),
        "abs" => Ok(if real < 0.0 { x.negate() } else { x }),
        "sign" => Ok(Number::Whole(if real > 0.0 { 1 } else { -i128::from(real < 0.0) })),
        "sqrt" if real < 0.0 => Err("a negative number has no real square root".to_owned()),
        "sqrt" => Number::real(real.sqrt()),
        "ln" | "log" | "log10" | "log2" if real <= 0.0 => Err("only numbers above 0 have a logarithm".to_owned()),
        "ln" => Number::real(real.ln()),
        "log" | "log10" => Number::real(real.log10()),
        "log2" => Number::real(real.log2()),
        "exp" => Number::real(real.exp()),
        "sin" => Number::real(real.sin()),
        "cos" => Number::real(real.cos()),
        "tan" => Number::real(real.tan()),
        "asin" | "acos" if real.abs() > 1.0 => Err(format!("`{name}` is defined from -1 to 1")),
        "asin" => Number::real(real.asin()),
        "acos" => Number::real(real.acos()),
        "atan" => Number::real(real.atan()),
        "degrees" => Number::real(real.to_degrees()),
        "radians" => Number::real(real.to_radians()),
        "pow" => Err("`pow` takes two arguments".to_owned()),
        _ => Err(format!("there is no function `{name}`; there are {FUNCTIONS}")),
    }
}

fn total(all: &[Number]) -> Result<Number, String> {
    all.iter().try_fold(Number::Whole(0), |sum, x| sum.add(*x))
}

fn whole_numbers(name: &str, all: &[Number]) -> Result<Vec<i128>, String> {
    all.iter().map(|x| x.whole().ok_or_else(|| format!("`{name}` takes whole numbers"))).collect()
}

fn least_common_multiple(all: &[i128]) -> Result<Number, String> {
    let step = |lcm: i128, x: &i128| match gcd(lcm, *x) {
        0 => Some(0),
        divisor => lcm.checked_div(divisor)?.checked_mul(*x)?.checked_abs(),
    };
    let lcm = all.iter().try_fold(1, step).ok_or("the value is too large")?;
    Ok(Number::Whole(lcm))
}

fn logarithm(x: f64, base: f64) -> Result<Number, String> {
    if x <= 0.0 || base <= 0.0 || base == 1.0 {
        return Err("a logarithm needs a number above 0 and a base above 0 that is not 1".to_owned());
    }
    Number::real(x.log(base))
}

fn rounded(x: Number, digits: Number) -> Result<Number, String> {
    let digits = digits.whole().and_then(|d| i32::try_from(d).ok()).filter(|d| (0..=15).contains(d));
    let digits = digits.ok_or("`round` takes a number and 0 to 15 digits")?;
    let scale = 10_f64.powi(digits);
    match x {
        Number::Whole(_) => Ok(x),
        Number::Real(real) => Number::real((real * scale).round() / scale),
    }
}
