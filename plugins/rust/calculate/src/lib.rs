//! Arithmetic: `calculate_two_numbers`, the first example of Elysia's documentation, and `evaluate` for expressions.
//!
//! Both compute only: no grants, no state. `expression` parses, `number` computes.

mod expression;
mod number;
#[cfg(test)]
mod tests;

use elysia_plugin::{Object, Output, ToolError, object, tool};

/// Calculates the sum, product, and difference of two whole numbers x and y. Choose it when two numbers are given and
/// their sum, product or difference is wanted.
#[tool(
    title = "Calculate two numbers",
    idempotent,
    may_end,
    status = "Calculating…",
    examples = [
        "What is the sum, product and difference of 8 and 3?",
        "Calculate the sum of 12 and 30",
        "add 5 and 7",
        "multiply 6 by 7",
        "the difference between 100 and 58",
    ]
)]
fn calculate_two_numbers(
    /// The first number.
    x: i64,
    /// The second number.
    y: i64,
    out: &mut Output,
) -> Result<String, ToolError> {
    let fits =
        |value: Option<i64>| value.ok_or_else(|| ToolError::invalid_inputs("too large for 64 bits: use `evaluate`"));
    out.object(object! {
        "sum": fits(x.checked_add(y))?, "product": fits(x.checked_mul(y))?, "difference": fits(x.checked_sub(y))?,
    });
    Ok(format!("I just performed some calculations on {x} and {y}."))
}

/// Evaluates an arithmetic or mathematical expression and says the value. Choose it to compute, calculate or work out a
/// formula of numbers: + - * / % ^, parentheses, percentages, square roots, powers, factorials, logarithms,
/// trigonometry.
///
/// Functions: sqrt, abs, round, floor, ceil, trunc, sign, min, max, sum, mean, gcd, lcm, factorial, ln, log,
/// log10, log2, exp, pow, sin, cos, tan, asin, acos, atan, degrees, radians. Constants: pi, tau, e. `x!` is a
/// factorial. Angles are in radians. Whole numbers are exact up to 38 digits.
#[tool(
    title = "Evaluate an expression",
    idempotent,
    may_end,
    status = "Calculating…",
    examples = [
        "What is 17 * 23 + 4?",
        "calculate (2 + 3) * 4 ^ 2",
        "compute the square root of 2: sqrt(2)",
        "how much is 15% of 80, i.e. 80 * 15 / 100",
        "evaluate 2^64 - 1",
        "work out 20! / 18!",
    ]
)]
fn evaluate(
    /// The expression, with numbers written out, such as `(2 + 3) * 4 ^ 2` or `sqrt(2) / 3`. No words and no units.
    expression: String,
    out: &mut Output,
) -> Result<String, ToolError> {
    let value =
        expression::evaluate(&expression).map_err(|problem| ToolError::invalid_inputs(problem.explain(&expression)))?;
    out.object(answer(&expression, value));
    Ok(format!("{} = {value}", expression.trim()))
}

/// Whole numbers past 64 bits are no JSON number that every reader keeps exact, so they travel as text.
fn answer(expression: &str, value: number::Number) -> Object {
    match value.to_json() {
        Some(json) => object! { "expression": expression.trim(), "value": json, "exact": value.is_exact() },
        None => object! { "expression": expression.trim(), "value": value.to_string(), "exact": value.is_exact() },
    }
}

elysia_plugin::export!(calculate_two_numbers, evaluate);
