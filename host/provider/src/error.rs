//! Every way a reply can fail to come: what happened, why, and what helps. Never holds a key.

use std::time::Duration;

use elysia_types::{Failure, FailureCode, clean_line, truncate};

/// What a request was waiting for when its time ran out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// A connection.
    Connect,
    /// The head of the answer.
    FirstByte,
    /// The next part of the answer.
    Idle,
    /// The query's own deadline.
    Deadline,
}

/// Why a model gave no usable reply.
///
/// `endpoint` is the base URL without user, query and key; texts of a server are cleaned, cut and scrubbed of the key
/// before they get here.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ProviderError {
    /// A setting that cannot work.
    #[error("{what}")]
    Config {
        /// What is wrong, with the place.
        what: String,
        /// What helps.
        hint: String,
    },
    /// No connection.
    #[error("no connection to `{endpoint}`: {reason}")]
    Unreachable {
        endpoint: String,
        reason: String,
        /// Nobody listens there, so trying again at once is useless.
        refused: bool,
    },
    /// The name does not resolve.
    #[error("the host of `{endpoint}` has no address: {reason}")]
    Dns { endpoint: String, reason: String },
    /// No trust in the other side.
    #[error("no secure connection to `{endpoint}`: {reason}")]
    Tls { endpoint: String, reason: String },
    /// 401 or 403.
    #[error("`{endpoint}` refuses the API key (status {status}): {reason}")]
    Key {
        endpoint: String,
        status: u16,
        reason: String,
        /// Whether a key was sent at all.
        sent: bool,
    },
    /// 404.
    #[error("`{endpoint}` does not know the model `{model}` (status 404): {reason}")]
    ModelNotFound { endpoint: String, model: String, reason: String },
    /// Any other answer that is not success and that trying again does not change.
    #[error("`{endpoint}` refuses the request (status {status}): {reason}")]
    Refused { endpoint: String, status: u16, reason: String },
    /// 429.
    #[error("`{endpoint}` has had too many requests (status 429){}: {reason}", wait(*.retry_after))]
    RateLimited { endpoint: String, reason: String, retry_after: Option<Duration> },
    /// 5xx.
    #[error("`{endpoint}` is failing (status {status}){}: {reason}", wait(*.retry_after))]
    Server { endpoint: String, status: u16, reason: String, retry_after: Option<Duration> },
    /// Nothing came in time.
    #[error("`{endpoint}` {} within {waited:.1?}", waited_for(*.phase))]
    Timeout { endpoint: String, phase: Phase, waited: Duration, partial: Option<String> },
    /// The answer broke off.
    #[error("the reply of `{endpoint}` broke off: {reason}")]
    Cut { endpoint: String, reason: String, partial: Option<String> },
    /// The answer is not of the agreed format.
    #[error("the reply of `{endpoint}` cannot be read: {reason}")]
    BadReply {
        endpoint: String,
        reason: String,
        partial: Option<String>,
        /// Another try may give a whole one: false for what is no model's reply at all.
        passing: bool,
    },
    /// The answer is larger than the host takes.
    #[error("the reply of `{endpoint}` is over {limit} bytes ({what})")]
    TooLarge { endpoint: String, what: &'static str, limit: usize, partial: Option<String> },
    /// A scripted model has no reply left.
    #[error("`{script}` has no reply left after {used}")]
    Exhausted { script: String, used: usize },
}

fn wait(retry_after: Option<Duration>) -> String {
    retry_after.map(|t| format!(", asking to wait {} s", t.as_secs_f64().ceil())).unwrap_or_default()
}

fn waited_for(phase: Phase) -> &'static str {
    match phase {
        Phase::Connect => "gave no connection",
        Phase::FirstByte => "did not begin to answer",
        Phase::Idle => "stopped in the middle of its answer and sent nothing more",
        Phase::Deadline => "did not finish its answer before the query's deadline,",
    }
}

impl ProviderError {
    /// What had come of the reply when it failed, if anything.
    pub fn partial(&self) -> Option<&str> {
        match self {
            Self::Timeout { partial, .. }
            | Self::Cut { partial, .. }
            | Self::BadReply { partial, .. }
            | Self::TooLarge { partial, .. } => partial.as_deref(),
            _ => None,
        }
    }

    /// Whether the same request may work a moment later.
    pub fn is_passing(&self) -> bool {
        match self {
            Self::Unreachable { refused, .. } => !refused,
            Self::Timeout { phase, .. } => *phase != Phase::Deadline,
            Self::BadReply { passing, .. } => *passing,
            Self::RateLimited { .. } | Self::Server { .. } | Self::Cut { .. } => true,
            _ => false,
        }
    }

    /// The pause the server asks for.
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::RateLimited { retry_after, .. } | Self::Server { retry_after, .. } => *retry_after,
            _ => None,
        }
    }

    /// What the user can do, for a `hint:` line.
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Config { hint, .. } => hint.as_str(),
            Self::Unreachable { refused: true, .. } => "start the server, or correct `base_url`",
            Self::Unreachable { .. } => "check the network, a proxy in the way, and `base_url`",
            Self::Dns { .. } => "check the spelling of `base_url` and the network",
            Self::Tls { .. } => {
                "check the certificate of the server and the root certificates of this machine (`SSL_CERT_FILE`)"
            }
            Self::Key { sent: false, .. } => "no key was sent: set the provider's variable, e.g. `OPENAI_API_KEY`",
            Self::Key { .. } => "check that the key is current and belongs to this endpoint and model",
            Self::ModelNotFound { .. } => {
                "check the model's name and that `base_url` ends as the provider says, e.g. in `/v1`"
            }
            Self::Refused { status: 300..=399, .. } => {
                "redirects are not followed: set `base_url` to the final address"
            }
            Self::Refused { status: 402, .. } => "check the credit of the account",
            Self::Refused { .. } => "check the model's name and what the endpoint supports",
            Self::RateLimited { .. } => "wait, use another model, or raise the quota of the account",
            Self::Server { .. } => "try again later or use another model",
            Self::Timeout { phase: Phase::Deadline, .. } => {
                "give the query more time with `--timeout`, or use a faster model"
            }
            Self::Timeout { .. } => "try again later, or use a faster model",
            Self::Cut { .. } => "try again; if it happens again, look at the server's log",
            Self::BadReply { .. } => {
                "check that `base_url` is an OpenAI-compatible endpoint, e.g. `https://api.openai.com/v1`"
            }
            Self::TooLarge { .. } => "use a model that answers more briefly",
            Self::Exhausted { .. } => "add a line to the script",
        };
        Some(hint.to_owned())
    }

    /// The failure as the rest of the host tells it: code `model`, or `config` for a wrong setting.
    pub fn to_failure(&self) -> Failure {
        let code = if matches!(self, Self::Config { .. }) { FailureCode::Config } else { FailureCode::Model };
        Failure::new(code, self.to_string())
    }
}

/// A server's text made fit for one line of an error: cleaned and cut.
pub(crate) fn one_line(text: &str) -> String {
    let line = clean_line(text);
    let short = truncate(&line, 300);
    if short.len() < line.len() { format!("{short}…") } else { line }
}
