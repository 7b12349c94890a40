//! Language models over HTTP, and one read from a file: the only crate that names reqwest.
//!
//! Knows nothing of tools, trees or WebAssembly: a [`ModelRequest`] goes out, a [`Reply`] comes back. Start with
//! [`LanguageModel`]. Modules are listed bottom-up: each may use those above it; `error` is used by all.
//!
//! Redirects are never followed. Proxies: only the standard variables (`HTTPS_PROXY`, `NO_PROXY`, …), never for a
//! loopback address; no other setting of the system is read.
#![forbid(unsafe_code)]

mod error;

mod secret;

mod model;

mod sse;

mod retry;

mod transport;

mod client;

mod cassette;

mod openai;

mod scripted;

pub use cassette::{Cassette, Exchange, RecordedRequest, RecordedResponse};
pub use client::Timeouts;
pub use error::{Phase, ProviderError};
pub use model::{Features, LanguageModel, ModelRequest, Reply, Stop, ToolCall, ToolChoice, ToolSpec};
pub use openai::{DEFAULT_BASE_URL, NativeTools, OpenAiConfig, openai, openai_over};
pub use retry::{Pause, Retry, Sleep};
pub use scripted::{scripted, scripted_from, scripted_with};
pub use secret::Secret;
pub use transport::{Body, Incoming, Outgoing, Transport};
