//! Types without a schema, as inputs and as values.

#![allow(unused_variables, reason = "not what is tested")]

use elysia_plugin::*;

struct Opaque;

/// Takes it.
#[tool]
fn takes(opaque: Opaque) {}

/// Returns it.
#[tool]
fn returns() -> Opaque {
    Opaque
}

/// Fails with it.
#[tool]
fn fails() -> Result<(), Opaque> {
    Err(Opaque)
}

fn main() {}
