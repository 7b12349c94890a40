//! The user's folders: configuration, data, state, cache.

use std::path::PathBuf;

use crate::complaint::Complaint;
use crate::env::{self, Variables};

const NAME: &str = "elysia-host";

/// Where things of this user are kept.
#[derive(Clone, Debug)]
pub(crate) struct Folders {
    /// `config.toml`.
    pub(crate) config: PathBuf,
    /// Sessions.
    pub(crate) data: PathBuf,
    /// Keys, trust, history of `chat`.
    pub(crate) state: PathBuf,
    /// Compiled plugins; may be deleted at any time.
    pub(crate) cache: PathBuf,
}

impl Folders {
    /// By the XDG rules; on macOS without such variables in `~/Library`.
    ///
    /// # Errors
    /// A complaint when a folder is asked of a user without a home.
    pub(crate) fn find(variables: &Variables) -> Result<Self, Complaint> {
        let home = std::env::home_dir().filter(|home| home.is_absolute());
        let find = |name: &str, linux: &str, mac: &str| {
            let below_home = if cfg!(target_os = "macos") { mac } else { linux };
            variables
                .absolute(name)
                .or_else(|| home.as_ref().map(|home| home.join(below_home)))
                .map(|folder| folder.join(NAME))
                .ok_or_else(|| {
                    Complaint::usage("there is no home folder to keep sessions and keys in")
                        .hint(format!("set `HOME`, or `{name}` and its like"))
                })
        };
        Ok(Self {
            config: find(env::XDG_CONFIG_HOME, ".config", "Library/Application Support")?,
            data: find(env::XDG_DATA_HOME, ".local/share", "Library/Application Support")?,
            state: find(env::XDG_STATE_HOME, ".local/state", "Library/Application Support")?,
            cache: find(env::XDG_CACHE_HOME, ".cache", "Library/Caches")?,
        })
    }
}
