//! Every environment variable that is read, by name, and the one snapshot they are read from.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use crate::complaint::Complaint;

/// The model, as `PROVIDER:NAME`; `--model` beats it, configuration files yield to it.
pub(crate) const ELYSIA_MODEL: &str = "ELYSIA_MODEL";
/// Where sessions are kept; `--store` beats it.
pub(crate) const ELYSIA_STORE: &str = "ELYSIA_STORE";
/// Key of the OpenAI-compatible endpoint.
pub(crate) const OPENAI_API_KEY: &str = "OPENAI_API_KEY";
/// Address of the OpenAI-compatible endpoint, up to and with `/v1`.
pub(crate) const OPENAI_BASE_URL: &str = "OPENAI_BASE_URL";
/// Key of a provider that is not available yet; set, it is passed over with a note.
pub(crate) const ANTHROPIC_API_KEY: &str = "ANTHROPIC_API_KEY";
/// Key of a provider that is not available yet; set, it is passed over with a note.
pub(crate) const GEMINI_API_KEY: &str = "GEMINI_API_KEY";
/// Address of Ollama, as Ollama itself reads it: `HOST`, `HOST:PORT` or a URL.
pub(crate) const OLLAMA_HOST: &str = "OLLAMA_HOST";
/// The user's configuration folder.
pub(crate) const XDG_CONFIG_HOME: &str = "XDG_CONFIG_HOME";
/// The user's data folder: sessions.
pub(crate) const XDG_DATA_HOME: &str = "XDG_DATA_HOME";
/// The user's state folder: keys, trust, history of `chat`.
pub(crate) const XDG_STATE_HOME: &str = "XDG_STATE_HOME";
/// The user's cache folder: compiled plugins.
pub(crate) const XDG_CACHE_HOME: &str = "XDG_CACHE_HOME";
/// Set to anything but nothing: no colour.
pub(crate) const NO_COLOR: &str = "NO_COLOR";
/// `dumb` means neither colour nor a spinner.
pub(crate) const TERM: &str = "TERM";
/// Width of tables where the terminal does not tell.
pub(crate) const COLUMNS: &str = "COLUMNS";
/// Time zone, by IANA name; `[agent] timezone` beats it.
pub(crate) const TZ: &str = "TZ";

/// The environment as it was when the program started.
#[derive(Clone, Default)]
pub(crate) struct Variables(HashMap<OsString, OsString>);

impl Variables {
    /// That of this process.
    pub(crate) fn of_process() -> Self {
        Self(std::env::vars_os().collect())
    }

    /// A variable as text; none when unset or empty.
    ///
    /// # Errors
    /// A complaint when it is not UTF-8; the value is not shown.
    pub(crate) fn text(&self, name: &str) -> Result<Option<String>, Complaint> {
        match self.raw(name) {
            None => Ok(None),
            Some(value) => match value.to_str() {
                Some(text) => Ok(Some(text.trim().to_owned()).filter(|t| !t.is_empty())),
                None => Err(Complaint::usage(format!("the environment variable `{name}` is not valid UTF-8"))
                    .hint(format!("set it anew, or `unset {name}`"))),
            },
        }
    }

    /// A variable as an absolute path; none when unset, empty or relative.
    pub(crate) fn absolute(&self, name: &str) -> Option<PathBuf> {
        self.raw(name).map(PathBuf::from).filter(|path| path.is_absolute())
    }

    /// Whether a variable is set to anything but nothing.
    pub(crate) fn is_set(&self, name: &str) -> bool {
        self.raw(name).is_some()
    }

    fn raw(&self, name: &str) -> Option<&OsStr> {
        self.0.get(OsStr::new(name)).map(OsString::as_os_str).filter(|value| !value.is_empty())
    }
}

#[cfg(test)]
impl<const N: usize> From<[(&str, &str); N]> for Variables {
    fn from(pairs: [(&str, &str); N]) -> Self {
        Self(pairs.into_iter().map(|(name, value)| (name.into(), value.into())).collect())
    }
}
