//! A tool without a doc comment.

#![allow(unused_variables, reason = "not what is tested")]

use elysia_plugin::*;

#[tool]
fn silent(x: i64) -> i64 {
    x
}

fn main() {}
