//! Functions that cannot be tools.

#![allow(unused_variables, reason = "not what is tested")]

use elysia_plugin::*;

/// Waits.
#[tool]
async fn waits() {}

/// Generic.
#[tool]
fn generic<T>(x: T) {}

struct Store;

impl Store {
    /// Method.
    #[tool]
    fn method(&self) {}
}

/// Pattern.
#[tool]
fn pattern((a, b): (i64, i64)) {}

/// A name that is none.
#[tool]
fn Upper() {}

/// A struct.
#[tool]
struct NotAFunction;

fn main() {}
