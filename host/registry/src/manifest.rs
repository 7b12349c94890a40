//! A plugin's manifest: who it is, what its author asks for. It gives nothing by itself.

use std::path::Path;

use elysia_types::{LimitSettings, PluginName, clean_line};
use serde::{Deserialize, Serialize};

use crate::rule::{Access, HttpRule};
use crate::toml_error::toml_error;

/// Largest manifest that is read, in bytes.
pub(crate) const MANIFEST_BYTES: u64 = 256 * 1024;

const KEYS: [&str; 5] = ["name", "version", "description", "wants", "limits"];

/// `NAME.toml` beside a component, or `plugin.toml` in its folder. Everything is optional.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// Instead of the file's stem.
    pub name: Option<PluginName>,
    /// Shown, never compared.
    pub version: Option<String>,
    /// For people.
    pub description: Option<String>,
    /// Without it, grants alone decide.
    pub wants: Option<Wants>,
    /// Less of anything, and memory up to 256 MiB.
    #[serde(default)]
    pub limits: LimitSettings,
}

/// What the author asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Wants {
    /// Outgoing requests.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub http: Vec<HttpRule>,
    /// Folders.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<FilesWant>,
    /// Environment variables by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub env: Vec<String>,
    /// Secrets that the host puts into requests.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub secrets: Vec<SecretWant>,
    /// The host's language models.
    #[serde(default)]
    pub model: bool,
    /// Other tools' results, although it can send data out.
    #[serde(default)]
    pub environment: bool,
    /// The conversation, although it can send data out.
    #[serde(default)]
    pub conversation: bool,
}

/// A folder as the guest names it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct FilesWant {
    /// Absolute path inside the guest.
    pub guest: String,
    /// `read` unless said.
    #[serde(default)]
    pub access: Access,
}

/// A secret bound to a header of a host.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct SecretWant {
    /// What the operator calls it.
    pub name: String,
    /// The only host it is sent to.
    pub host: String,
    /// The header that carries it.
    pub header: String,
    /// Before the secret, e.g. `Bearer `.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prefix: Option<String>,
}

impl Manifest {
    /// Reads a manifest; `file` is only named in messages.
    ///
    /// # Errors
    /// One line with file, line and the nearest known key.
    pub fn parse(file: &Path, source: &str) -> Result<Self, String> {
        let manifest: Self = toml::from_str(source).map_err(|e| toml_error(file, source, &e, &KEYS))?;
        if let Some(name) = &manifest.name
            && !is_showable(name.as_str())
        {
            let file = clean_line(&file.display().to_string());
            return Err(format!("{file}: `name` has characters that cannot be shown safely"));
        }
        Ok(manifest)
    }
}

/// Whether a name reads the same before and after cleaning: no control, bidi or tag characters, no outer blanks.
pub(crate) fn is_showable(name: &str) -> bool {
    clean_line(name) == name
}

#[cfg(test)]
mod tests;
