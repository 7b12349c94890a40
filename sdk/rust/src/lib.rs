//! Write tools for `elysia-host` in Rust: a function with an attribute becomes a plugin.
//!
//! ```
//! use elysia_plugin::{Output, object, tool};
//!
//! /// This function calculates the sum, product, and difference of two numbers.
//! #[tool]
//! fn calculate_two_numbers(x: i32, y: i32, out: &mut Output) -> String {
//!     let (a, b) = (i64::from(x), i64::from(y));
//!     out.object(object! { "sum": a + b, "product": a * b, "difference": a - b });
//!     format!("I just performed some calculations on {x} and {y}.")
//! }
//!
//! elysia_plugin::export!(calculate_two_numbers);
//! ```
//!
//! Build it with `cargo build --release --target wasm32-wasip2` as a `cdylib`; the file that comes out is the plugin.
//! Natively the same code compiles too, and [`testing`] runs its tools without a host.
//!
//! Where to start reading: [`tool`](macro@tool) for what the attribute takes, [`Output`] for what a tool can say,
//! [`ToolInput`] for what it can take, [`ToolError`] for how it fails. [`environment`], [`state`], [`conversation`],
//! [`http`] and [`model`] are what the host offers a running tool; [`log`](mod@log) is for its operator.

#![warn(missing_docs)]

mod descriptor;
mod error;
mod host;
mod input;
mod output;
mod reference;
mod schema;
mod tool;

pub mod conversation;
pub mod environment;
pub mod http;
pub mod log;
pub mod model;
pub mod state;
#[cfg(not(target_family = "wasm"))]
pub mod testing;

// Public only because `export!` must reach it from the plugin's crate.
#[cfg(target_family = "wasm")]
#[doc(hidden)]
pub mod bindings;
#[cfg(target_family = "wasm")]
mod component;

pub use descriptor::{Availability, Descriptor, Effects, Placement};
pub use elysia_plugin_macros::{ToolInput, tool};
pub use error::{ToolError, ToolErrorKind};
pub use input::{InputError, Inputs, ToolInput};
pub use output::{CitedText, Output, ToolResult};
pub use reference::RefId;
pub use serde_json::{Value, json};
pub use tool::{Plugin, Tool};

/// A JSON object, its keys in the order they were put in.
pub type Object = serde_json::Map<String, Value>;

/// For the code our macros write; not part of the interface.
#[doc(hidden)]
pub mod __private {
    #[cfg(target_family = "wasm")]
    pub use crate::bindings;
    pub use crate::schema::{ObjectSchema, check_range, enum_schema};
    pub use crate::tool::{Returned, SettleValue, object_from, unchosen_inputs};
    pub use serde_json::json;
}

// The examples of the guide and of the read-me are compiled and run like those of this crate.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/writing-plugins.md")]
struct Guide;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadMe;
