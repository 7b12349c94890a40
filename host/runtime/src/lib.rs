//! Host of sandboxed tools under a decision tree: open a [`Host`], start a [`Session`], ask, read [`Event`]s.
//!
//! ```no_run
//! use elysia_host::{Host, HostConfig, QueryOptions, SessionChoice};
//!
//! # async fn run() -> Result<(), elysia_host::HostError> {
//! let mut config = HostConfig::local("./state".into());
//! config.plugin_dirs.push(elysia_host::PluginDir { path: "./plugins".into(), explicit: true });
//! let host = Host::open(config).await?;
//! let session = host.session(SessionChoice::New).await?;
//! let mut query = session.ask("Which store sold most?", QueryOptions::default()).await?;
//! while let Some(event) = query.next().await {
//!     println!("{}", event.to_json());
//! }
//! let result = query.finish().await;
//! println!("{}", result.response);
//! # Ok(())
//! # }
//! ```
//!
//! This crate joins the columns below it and owns tasks and time; it prints nothing and reads no environment
//! variables. Only `drive.rs` waits for more than one thing at once.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod error;

mod clock;

mod config;

mod journal;

mod model;

mod query;

mod calls;

mod checks;

mod drive;

mod session;

mod host;

pub use config::{HostConfig, ModelChoice, PluginDir, StoreTarget};
pub use elysia_decision::{AgentProfile, BranchConfig, Preset, ToolConfig, Tree, TreeConfig, TreeError};
pub use elysia_provider::{NativeTools, Secret};
pub use elysia_registry::{
    Catalog, CatalogTool, Grant, Loader, Plugin, PluginInspection, PluginReport, Problem, ProjectTrust, nearest,
    toml_error,
};
pub use elysia_store::{QuerySummary, SessionDocument, SessionRecord, SessionStore, SessionSummary, StoreError};
pub use elysia_types::*;
pub use error::HostError;
pub use host::{Host, TrimReport};
pub use query::{ApprovalAnswer, QueryHandle, QueryOptions, QueryResult};
pub use session::{Session, SessionChoice};
