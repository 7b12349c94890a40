//! Why a host, a session or a query could not start. What goes wrong inside a query is an event, not this.

use std::path::PathBuf;

use elysia_decision::TreeError;
use elysia_provider::ProviderError;
use elysia_registry::RegistryError;
use elysia_sandbox::SandboxError;
use elysia_store::StoreError;
use elysia_types::SessionId;

/// Why nothing was started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HostError {
    /// A setting has no meaning.
    #[error("{0}")]
    Config(String),
    /// The tree of the configuration is not one.
    #[error("the decision tree is not valid: {0}")]
    Tree(TreeError),
    /// The engine could not start.
    #[error("the WebAssembly engine could not start: {0}")]
    Engine(SandboxError),
    /// Plugins could not be read at all.
    #[error("{0}")]
    Plugins(RegistryError),
    /// The model could not be set up.
    #[error("{0}")]
    Model(ProviderError),
    /// The session store failed.
    #[error("the session store failed: {0}")]
    Store(StoreError),
    /// No such session.
    #[error("there is no session `{0}`")]
    UnknownSession(SessionId),
    /// There is no session at all.
    #[error("there is no session yet to continue")]
    NoSession,
    /// One query at a time.
    #[error("session `{0}` is answering another query")]
    Busy(SessionId),
    /// The prompt is empty.
    #[error("the query is empty")]
    EmptyPrompt,
    /// The prompt is over `limits.query`.
    #[error("the query has {observed} bytes, over the limit `query` of {limit}")]
    PromptTooLong {
        /// Configured, in bytes.
        limit: u64,
        /// Given, in bytes.
        observed: usize,
    },
    /// A folder could not be used.
    #[error("cannot use the folder `{}`: {reason}", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// Why.
        reason: String,
    },
}

impl HostError {
    /// A command or setting that helps.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Model(e) => e.hint(),
            Self::Store(e) => e.hint(),
            Self::UnknownSession(_) => Some("`elysia-host session list` shows the sessions there are".into()),
            Self::NoSession => Some("ask without `--continue` to start one".into()),
            Self::Busy(_) => Some("wait for it, or ask without `--session`".into()),
            Self::EmptyPrompt => Some("write the question in quotes: elysia-host \"Which store sold most?\"".into()),
            Self::PromptTooLong { .. } => Some("shorten it, or raise `query` under [limits] in elysia.toml".into()),
            Self::Plugins(e) => e.hint(),
            _ => None,
        }
    }

    /// 2 for usage and configuration, 1 for what failed.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Engine(_) | Self::Store(_) | Self::Busy(_) => 1,
            _ => 2,
        }
    }
}
