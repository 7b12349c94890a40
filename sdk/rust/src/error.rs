//! How a tool fails: a kind the host acts on, and feedback for the model.

use std::fmt;

/// Why a call gave no usable answer.
///
/// `feedback` goes to the decision agent, which may try again: say what went wrong *and what to do differently*.
/// The host cuts it at 2 KiB. What was yielded before stays.
///
/// ```
/// use elysia_plugin::ToolError;
///
/// fn price(product: &str) -> Result<f64, ToolError> {
///     match product {
///         "espresso" => Ok("2.50".parse()?),
///         _ => Err(ToolError::not_found(format!("no product `{product}`: try `espresso`"))),
///     }
/// }
/// # assert!(price("tea").is_err());
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ToolError {
    /// What kind of failure it is; decides whether the host lets the call be tried again.
    pub kind: ToolErrorKind,
    /// What went wrong and what to do differently, in words a model can act on.
    pub feedback: String,
}

/// The kinds of failure the host tells apart.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ToolErrorKind {
    /// The inputs were wrong; different inputs may work.
    InvalidInputs,
    /// What was asked for does not exist.
    NotFound,
    /// Something the tool depends on did not answer; the same call may work later.
    Unavailable,
    /// Too many requests; the same call may work later.
    RateLimited,
    /// The host refused a capability the tool needs.
    Denied,
    /// Anything else.
    Failed,
}

macro_rules! constructors {
    ($($(#[$doc:meta])* $name:ident => $kind:ident,)*) => {
        impl ToolError {
            $($(#[$doc])*
            pub fn $name(feedback: impl Into<String>) -> ToolError {
                ToolError { kind: ToolErrorKind::$kind, feedback: feedback.into() }
            })*
        }
    };
}

constructors! {
    /// The inputs were wrong; different inputs may work.
    invalid_inputs => InvalidInputs,
    /// What was asked for does not exist.
    not_found => NotFound,
    /// Something the tool depends on did not answer; the same call may work later.
    unavailable => Unavailable,
    /// Too many requests; the same call may work later.
    rate_limited => RateLimited,
    /// The host refused a capability the tool needs.
    denied => Denied,
    /// Anything else.
    failed => Failed,
}

impl ToolError {
    /// The same error with `what` was being done before its feedback: `reading sales.csv: no such file`.
    pub fn during(mut self, what: impl fmt::Display) -> ToolError {
        self.feedback = format!("{what}: {}", self.feedback);
        self
    }
}

impl fmt::Display for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.feedback)
    }
}

impl std::error::Error for ToolError {}

impl From<&str> for ToolError {
    fn from(feedback: &str) -> ToolError {
        ToolError::failed(feedback)
    }
}

impl From<String> for ToolError {
    fn from(feedback: String) -> ToolError {
        ToolError::failed(feedback)
    }
}

impl From<std::io::Error> for ToolError {
    fn from(error: std::io::Error) -> ToolError {
        use std::io::ErrorKind;
        let kind = match error.kind() {
            ErrorKind::NotFound => ToolErrorKind::NotFound,
            ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => ToolErrorKind::Denied,
            ErrorKind::TimedOut | ErrorKind::Interrupted | ErrorKind::ResourceBusy => ToolErrorKind::Unavailable,
            _ => ToolErrorKind::Failed,
        };
        ToolError { kind, feedback: error.to_string() }
    }
}

macro_rules! from_errors {
    ($($error:ty => $name:ident,)*) => {
        $(impl From<$error> for ToolError {
            fn from(error: $error) -> ToolError {
                ToolError::$name(error.to_string())
            }
        })*
    };
}

from_errors! {
    std::num::ParseIntError => invalid_inputs,
    std::num::ParseFloatError => invalid_inputs,
    std::num::TryFromIntError => invalid_inputs,
    std::str::ParseBoolError => invalid_inputs,
    std::char::ParseCharError => invalid_inputs,
    std::str::Utf8Error => failed,
    std::string::FromUtf8Error => failed,
    std::fmt::Error => failed,
    serde_json::Error => failed,
    crate::InputError => invalid_inputs,
}
