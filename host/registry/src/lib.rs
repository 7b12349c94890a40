//! Plugins on disk → tools in memory.
//!
//! A [`Loader`] scans plugin directories, reads, hashes and checks each entry, asks new ones to describe
//! themselves and gives an immutable [`Catalog`]. Bad entries become [`Problem`]s; they never spoil the good ones.
//! This crate knows no decisions, sessions or models, and runs no guest code itself: the sandbox does.
//! Modules are listed bottom-up: each may use those above it.
#![forbid(unsafe_code)]

mod error;

mod toml_error;

mod rule;

mod manifest;

mod grant;

mod report;

mod package;

mod interface;

mod plugin;

mod descriptors;

mod catalog;

mod bounded;

mod loader;

mod trust;

pub use catalog::{Catalog, CatalogTool};
pub use error::RegistryError;
pub use grant::{Effective, FilesGrant, Grant, Grounds, ModelGrant, SecretGrant};
pub use interface::{ImportUse, Interface, Standing, World};
pub use loader::{Loader, LoaderOptions, PluginInspection};
pub use manifest::{FilesWant, Manifest, SecretWant, Wants};
pub use plugin::Plugin;
pub use report::{PluginReport, PluginState, Problem, ToolReport};
pub use rule::{Access, Approve, HttpRule};
pub use toml_error::{nearest, toml_error};
pub use trust::ProjectTrust;
