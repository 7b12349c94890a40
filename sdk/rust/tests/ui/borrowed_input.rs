//! Inputs that are borrowed, and an output that is not.

#![allow(unused_variables, reason = "not what is tested")]

use elysia_plugin::*;

/// Greets.
#[tool]
fn greet(name: &str) -> String {
    name.to_owned()
}

/// Greets.
#[tool]
fn shared(out: &Output) {}

/// Greets.
#[tool]
fn owned(out: Output) {}

/// Greets.
#[tool]
fn many(names: &[String]) {}

fn main() {}
