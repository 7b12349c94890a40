//! The pieces that a manifest asks for and an operator gives: HTTP rules, access to files, when to ask.

use serde::{Deserialize, Serialize};

/// Requests that are allowed: host, and optionally scheme, port, methods and paths.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct HttpRule {
    /// A host name, or `*.suffix` on a label boundary.
    pub host: String,
    /// `https` unless said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scheme: Option<String>,
    /// 443 for https and 80 for http unless said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub port: Option<u16>,
    /// Any unless said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub methods: Option<Vec<String>>,
    /// Any unless said; `*` at the end stands for anything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paths: Option<Vec<String>>,
}

/// What may be done with files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Access {
    /// Look.
    #[default]
    Read,
    /// Look and change.
    Write,
}

/// Which calls wait for a person's yes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Approve {
    /// None.
    Never,
    /// Those of tools with effects writes or destructive.
    #[default]
    Writes,
    /// All.
    Always,
}
