//! Options that are misspelled, doubled or of the wrong kind.

#![allow(unused_variables, reason = "not what is tested")]

use elysia_plugin::*;

/// Adds.
#[tool(effect = "reads")]
fn misspelled(x: i64) -> i64 {
    x
}

/// Adds.
#[tool(effects = "read")]
fn wrong_value(x: i64) -> i64 {
    x
}

/// Adds.
#[tool(title = "A", title = "B")]
fn doubled(x: i64) -> i64 {
    x
}

/// Adds.
#[tool(examples = "one")]
fn not_a_list(x: i64) -> i64 {
    x
}

fn main() {}
