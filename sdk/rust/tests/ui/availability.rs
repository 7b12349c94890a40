//! Functions beside a tool that answer something else.

#![allow(unused_variables, reason = "not what is tested")]

use elysia_plugin::*;

fn number() -> i64 {
    1
}

/// Guarded.
#[tool(available = number)]
fn guarded() {}

/// Runs by itself.
#[tool(run_if_true = number)]
fn unchosen() {}

fn main() {}
