//! Numbers that stay whole as long as they can: 128-bit integers, else floats.

use std::fmt;

use elysia_plugin::Value;

/// The value of an expression.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Number {
    /// Exact.
    Whole(i128),
    /// Rounded to 53 bits; always finite.
    Real(f64),
}

use Number::{Real, Whole};

impl Number {
    /// A float, as a whole number where that loses nothing.
    pub(crate) fn real(value: f64) -> Result<Number, String> {
        if value.is_finite() { Ok(Real(value)) } else { Err("the value is too large or not defined".to_owned()) }
    }

    pub(crate) fn as_f64(self) -> f64 {
        match self {
            #[expect(clippy::cast_precision_loss, reason = "leaving whole numbers is what this does")]
            Whole(whole) => whole as f64,
            Real(real) => real,
        }
    }

    /// The whole number this is, also when it came out of floats: `sqrt(16)` is 4.
    pub(crate) fn whole(self) -> Option<i128> {
        const EXACT: f64 = 9_007_199_254_740_992.0; // 2^53
        match self {
            Whole(whole) => Some(whole),
            #[expect(clippy::cast_possible_truncation, reason = "whole and at most 2^53")]
            Real(real) => (real.fract() == 0.0 && real.abs() <= EXACT).then_some(real as i128),
        }
    }

    pub(crate) fn is_exact(self) -> bool {
        matches!(self, Whole(_))
    }

    /// As a JSON number, if that holds it.
    pub(crate) fn to_json(self) -> Option<Value> {
        match self {
            Whole(whole) => {
                i64::try_from(whole).map(Value::from).or_else(|_| u64::try_from(whole).map(Value::from)).ok()
            }
            Real(real) => match self.whole().and_then(|whole| i64::try_from(whole).ok()) {
                Some(whole) => Some(Value::from(whole)),
                None => Some(Value::from(real)),
            },
        }
    }

    pub(crate) fn negate(self) -> Number {
        match self {
            Whole(whole) => whole.checked_neg().map_or(Real(-self.as_f64()), Whole),
            Real(real) => Real(-real),
        }
    }

    pub(crate) fn add(self, other: Number) -> Result<Number, String> {
        self.exactly(other, i128::checked_add, |a, b| a + b)
    }

    pub(crate) fn subtract(self, other: Number) -> Result<Number, String> {
        self.exactly(other, i128::checked_sub, |a, b| a - b)
    }

    pub(crate) fn multiply(self, other: Number) -> Result<Number, String> {
        self.exactly(other, i128::checked_mul, |a, b| a * b)
    }

    pub(crate) fn divide(self, other: Number) -> Result<Number, String> {
        if other.as_f64() == 0.0 {
            return Err("division by zero".to_owned());
        }
        // Whole where it comes out even.
        self.exactly(
            other,
            |a, b| a.checked_rem(b).filter(|rest| *rest == 0).and_then(|_| a.checked_div(b)),
            |a, b| a / b,
        )
    }

    /// The rest of a division, with the sign of the divisor, as people count hours on a clock.
    pub(crate) fn modulo(self, other: Number) -> Result<Number, String> {
        if other.as_f64() == 0.0 {
            return Err("division by zero".to_owned());
        }
        let whole = |a: i128, b: i128| {
            let rest = a.checked_rem(b)?;
            if rest != 0 && (rest < 0) != (b < 0) { rest.checked_add(b) } else { Some(rest) }
        };
        self.exactly(other, whole, |a, b| a - b * (a / b).floor())
    }

    pub(crate) fn power(self, other: Number) -> Result<Number, String> {
        if let (Some(base), Some(exponent)) = (self.whole(), other.whole().and_then(|e| u32::try_from(e).ok()))
            && let Some(power) = base.checked_pow(exponent)
        {
            return Ok(Whole(power));
        }
        if self.as_f64() == 0.0 && other.as_f64() < 0.0 {
            return Err("division by zero".to_owned());
        }
        if self.as_f64() < 0.0 && other.whole().is_none() {
            return Err("a negative number has no real power with a fraction".to_owned());
        }
        Number::real(self.as_f64().powf(other.as_f64()))
    }

    pub(crate) fn factorial(self) -> Result<Number, String> {
        let n = self.whole().filter(|n| *n >= 0).ok_or("only whole numbers from 0 have a factorial")?;
        if n > 170 {
            return Err("a factorial past 170! is too large".to_owned());
        }
        let whole = (1..=n).try_fold(1_i128, |product, factor| product.checked_mul(factor));
        #[expect(clippy::cast_precision_loss, reason = "past 33! only floats hold it")]
        whole.map_or_else(|| Number::real((1..=n).map(|factor| factor as f64).product()), |whole| Ok(Whole(whole)))
    }

    fn exactly(
        self,
        other: Number,
        whole: impl Fn(i128, i128) -> Option<i128>,
        real: impl Fn(f64, f64) -> f64,
    ) -> Result<Number, String> {
        if let (Whole(a), Whole(b)) = (self, other)
            && let Some(value) = whole(a, b)
        {
            return Ok(Whole(value));
        }
        Number::real(real(self.as_f64(), other.as_f64()))
    }
}

/// Greatest common divisor, never negative.
pub(crate) fn gcd(a: i128, b: i128) -> i128 {
    let (mut a, mut b) = (a, b);
    while b != 0 {
        (a, b) = (b, a.checked_rem(b).unwrap_or(0));
    }
    a.saturating_abs()
}

impl fmt::Display for Number {
    /// Floats are written with up to 15 digits: the 16th and 17th are mostly noise of the binary form.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (*self, self.whole()) {
            (_, Some(whole)) => write!(f, "{whole}"),
            // By way of JSON, whose writer is in every plugin already; that of `f64` would be another 20 KiB.
            (number, None) => write!(f, "{}", Value::from(fifteen_digits(number.as_f64()))),
        }
    }
}

/// The nearest float with 15 digits, where powers of ten are exact; else the same float.
fn fifteen_digits(real: f64) -> f64 {
    let mut scale = 1.0;
    let mut digits = 0;
    while (real * scale).abs() < 1e14 && digits < 22 {
        scale *= 10.0;
        digits += 1;
    }
    if (real * scale).abs() < 1e15 { (real * scale).round() / scale } else { real }
}
