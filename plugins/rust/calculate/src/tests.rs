//! The tools as a host would run them.

use elysia_plugin::testing::{describe, run};
use elysia_plugin::{ToolErrorKind, json};

use super::*;

#[test]
fn two_numbers_give_three_values_and_a_sentence() {
    let run = run::<calculate_two_numbers>(json!({"x": 8, "y": 3}));
    assert_eq!(run.values(), [json!({"sum": 11, "product": 24, "difference": 5})]);
    assert_eq!(run.text(), "I just performed some calculations on 8 and 3.");
}

#[test]
fn a_product_that_does_not_fit_is_an_error_and_not_a_wrong_number() {
    let run = run::<calculate_two_numbers>(json!({"x": i64::MAX, "y": 2}));
    assert_eq!(run.error().map(|e| e.kind), Some(ToolErrorKind::InvalidInputs));
}

#[test]
fn the_schema_needs_both_numbers() {
    let schema = describe::<calculate_two_numbers>().input_schema;
    assert_eq!(schema["required"], json!(["x", "y"]));
    assert_eq!(schema["properties"]["x"]["type"], "integer");
    assert_eq!(schema["properties"]["x"]["description"], "The first number.");
}

fn value(expression: &str) -> String {
    match expression::evaluate(expression) {
        Ok(value) => value.to_string(),
        Err(problem) => format!("{} @{}", problem.message, problem.at),
    }
}

#[test]
fn expressions_follow_the_rules_of_arithmetic() {
    let cases = [
        ("2 + 3 * 4", "14"),
        ("(2 + 3) * 4 ^ 2", "80"),
        ("-2 ^ 2", "-4"),
        ("2 ^ 3 ^ 2", "512"),
        ("2 ** 10", "1024"),
        ("2 ^ -1", "0.5"),
        ("7 / 2", "3.5"),
        ("6 / 2", "3"),
        ("-7 % 3", "2"),
        ("7 mod 4", "3"),
        ("10% ", "0.1"),
        ("80 * 15%", "12"),
        ("5!", "120"),
        ("20! / 18!", "380"),
        ("2 pi", "6.28318530717959"),
        ("2(3 + 4)", "14"),
        ("0.1 + 0.2", "0.3"),
        ("sqrt(16)", "4"),
        ("√(2)", "1.4142135623731"),
        ("max(1,200,3)", "200"),
        ("1,000,000 + 1", "1000001"),
        ("1_000 * 2", "2000"),
        ("1e3 + 1", "1001"),
        ("2^64 - 1", "18446744073709551615"),
        ("2^100", "1267650600228229401496703205376"),
        ("round(2.567, 2)", "2.57"),
        ("mean(1, 2, 6)", "3"),
        ("lcm(4, 6) + gcd(12, 18)", "18"),
        ("log(8, 2)", "3"),
        ("17 × 23 = ", "391"),
        ("floor(-2.5)", "-3"),
    ];
    for (expression, wanted) in cases {
        assert_eq!(value(expression), wanted, "{expression}");
    }
}

#[test]
fn errors_say_what_and_where() {
    let cases = [
        ("", "the expression is empty @0"),
        ("2 +", "a number is missing @3"),
        ("2 + * 3", "want a number, `(` or a function, got `*` @4"),
        ("(1 + 2", "this `(` is never closed @0"),
        ("1 + 2)", "a `)` without its `(` @5"),
        ("1 / 0", "division by zero @2"),
        ("sqrt(0 - 1)", "a negative number has no real square root @0"),
        ("171!", "a factorial past 170! is too large @3"),
        ("10 ^ 400", "the value is too large or not defined @3"),
        ("1.2.3", "`1.2.3` is not a number @0"),
        ("2 $ 3", "`$` is not expected here @2"),
        ("min()", "`min` needs at least one argument @0"),
    ];
    for (expression, wanted) in cases {
        assert_eq!(value(expression), wanted, "{expression}");
    }
    assert!(value("foo(2)").starts_with("there is no function `foo`"));
    assert!(value("sqrt 2").starts_with("`sqrt` needs its argument in parentheses"));
}

#[test]
fn what_nests_too_deep_is_refused() {
    let deep = format!("{}1{}", "(".repeat(10_000), ")".repeat(10_000));
    assert!(value(&deep).starts_with("too many parentheses"));
    assert!(value(&"-".repeat(10_000)).starts_with("too many parentheses"));
}

#[test]
fn a_value_past_64_bits_travels_as_text() {
    let run = run::<evaluate>(json!({"expression": "2^100"}));
    assert_eq!(run.values()[0]["value"], "1267650600228229401496703205376");
    assert_eq!(run.text(), "2^100 = 1267650600228229401496703205376");
}

#[test]
fn the_error_is_feedback_a_model_can_act_on() {
    let run = run::<evaluate>(json!({"expression": "2 + * 3"}));
    let error = run.error().map(|e| e.feedback.as_str());
    let wanted = "cannot evaluate `2 + * 3`: want a number, `(` or a function, got `*` (character 5, at `* 3`)";
    assert_eq!(error, Some(wanted));
}
