//! What can go wrong as a whole; one bad plugin is never an error of this kind but a [`Problem`](crate::Problem).

use std::io;
use std::path::PathBuf;

/// Why nothing could be loaded, or why trust could not be recorded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RegistryError {
    /// A plugins directory that the user named is not there or cannot be read.
    #[error("the plugins directory `{}` cannot be read: {reason}", path.display())]
    Directory {
        /// As the user named it.
        path: PathBuf,
        /// In words.
        reason: String,
    },
    /// A file or folder of the state folder cannot be used.
    #[error("`{}` cannot be used: {reason}", path.display())]
    State {
        /// The file.
        path: PathBuf,
        /// In words.
        reason: String,
    },
    /// A project file whose path cannot be recorded.
    #[error("`{}` cannot be trusted: {reason}", path.display())]
    Untrustable {
        /// The file.
        path: PathBuf,
        /// In words.
        reason: &'static str,
    },
    /// Work on a helper thread did not come to an end.
    #[error("a loading task ended early: {0}")]
    Task(String),
}

impl RegistryError {
    /// The command or setting that helps.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Directory { path, .. } => {
                Some(format!("create it (`mkdir -p {}`) or name another with `--plugins DIR`", path.display()))
            }
            Self::State { .. } => {
                Some("check its permissions, or move it away and run `elysia-host trust` again".to_owned())
            }
            Self::Untrustable { .. } => Some("use `--config FILE`: a file named there is trusted".to_owned()),
            Self::Task(_) => None,
        }
    }
}

/// An I/O error in a user's words, without the number.
pub(crate) fn io_reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "it does not exist".to_owned(),
        io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        io::ErrorKind::NotADirectory => "it is not a directory".to_owned(),
        _ => {
            let text = error.to_string();
            text.split(" (os error").next().unwrap_or_default().to_lowercase()
        }
    }
}
