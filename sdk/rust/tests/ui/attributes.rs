//! Attributes of inputs.

#![allow(unused_variables, reason = "not what is tested")]

use elysia_plugin::*;

/// Adds.
#[tool]
fn add(#[default = 3] x: i64, #[range(1..5)] y: i64, #[input(rename = "z")] z: i64, #[serde_as] w: i64) {}

/// A default of another type.
#[tool]
fn wrong(#[default("three")] x: i64) {}

fn main() {}
