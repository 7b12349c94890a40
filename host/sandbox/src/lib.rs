//! Runs plugins: WebAssembly components under limits, deadlines and a policy that denies by default.
//!
//! The only crate that names wasmtime. It knows no language model, no tree, no session. Start with [`Engine`], which
//! loads a [`Component`] and runs its functions, each in a fresh store; `call.rs` shows how a call ends.
//! Modules are listed bottom-up: each may use those above it; `error.rs` is used by all.

mod error;

mod bindings;

mod policy;

mod limits;

mod clock;

mod convert;

mod output;

mod view;

mod stdio;

mod state;

mod wasi;

mod end;

mod ticker;

mod cache;

mod scan;

mod compile;

mod engine;

mod call;

pub use cache::{Cache, CacheDirs};
pub use call::{AskRequest, CallRequest};
pub use compile::Component;
pub use engine::{Engine, EngineOptions};
pub use error::SandboxError;
pub use output::Yielded;
pub use policy::{FileGrant, Policy};
pub use view::GuestContext;
