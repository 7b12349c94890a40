//! What can go wrong, and the only place that reads `wasmtime::Error`.
//!
//! A guest that misbehaves is not an error of this crate but a [`Failure`] with a stable code; [`SandboxError`] is
//! for components that cannot be loaded and for the engine itself.

use std::path::PathBuf;

use elysia_types::{Failure, FailureCode, LimitReport, PluginName, SizeInBytes, clean, clean_line, truncate};
use wasmtime::{Trap, WasmBacktrace};

/// Longest operator detail of a failure.
const MAX_DETAIL: usize = 4 * 1024;
/// Longest reason quoted from the engine.
const MAX_REASON: usize = 500;

/// Why a component cannot be loaded, or the engine not be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SandboxError {
    /// The engine's configuration does not work on this machine.
    #[error("the WebAssembly engine cannot start here: {0}")]
    Engine(String),
    /// Not a component at all: text, a core module, a truncated file.
    #[error("{reason}")]
    NotAComponent {
        /// What it is.
        reason: String,
        /// What to do.
        hint: String,
    },
    /// A component, but not one of the world this host speaks.
    #[error("{reason}")]
    Interface {
        /// What is missing or not offered.
        reason: String,
        /// What to do.
        hint: String,
    },
    /// More bytes than `limits.file`.
    #[error("the file has {} , over `limits.file` of {}", SizeInBytes(*observed), SizeInBytes(*limit))]
    FileSize {
        /// Configured, in bytes.
        limit: u64,
        /// Given, in bytes.
        observed: u64,
    },
    /// Its memories begin larger than a plugin may.
    #[error("it declares {} of memory to begin with; at most {} is allowed", SizeInBytes(*observed), SizeInBytes(*limit))]
    DeclaredMemory {
        /// Configured, in bytes.
        limit: u64,
        /// Declared, in bytes.
        observed: u64,
    },
    /// It cannot be compiled.
    #[error("it cannot be compiled: {0}")]
    Compile(String),
    /// The folder or key of the compiled code is unusable.
    #[error("the cache of compiled plugins cannot be used: `{}`: {reason}", path.display())]
    Cache {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// A granted folder may not be handed out.
    #[error("the folder `{}` cannot be granted: {reason}", path.display())]
    Grant {
        /// The folder.
        path: PathBuf,
        /// Why.
        reason: String,
    },
}

impl SandboxError {
    /// What to do about it, where something can be done.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::NotAComponent { hint, .. } | Self::Interface { hint, .. } => Some(hint.clone()),
            Self::FileSize { observed, .. } => {
                Some(format!("set `limits = {{ file = \"{}\" }}` under its [grants] entry", raised(*observed)))
            }
            Self::DeclaredMemory { .. } => Some("build it with a smaller initial memory".to_owned()),
            Self::Engine(_) | Self::Compile(_) | Self::Cache { .. } | Self::Grant { .. } => None,
        }
    }

    /// The stable code of this error.
    pub fn code(&self) -> FailureCode {
        match self {
            Self::NotAComponent { .. } | Self::Interface { .. } => FailureCode::Interface,
            Self::FileSize { .. } | Self::Compile(_) => FailureCode::Compile,
            Self::DeclaredMemory { .. } => FailureCode::Memory,
            Self::Grant { .. } => FailureCode::Config,
            Self::Engine(_) | Self::Cache { .. } => FailureCode::Internal,
        }
    }

    /// The same as the failure of a plugin.
    pub fn to_failure(&self, plugin: &PluginName) -> Failure {
        let failure = Failure::new(self.code(), format!("plugin `{plugin}`: {self}"));
        let (name, limit, observed) = match self {
            Self::FileSize { limit, observed } => ("file", *limit, *observed),
            Self::DeclaredMemory { limit, observed } => ("memory", *limit, *observed),
            _ => return failure,
        };
        failure.with_limit(LimitReport {
            name: name.to_owned(),
            configured: SizeInBytes(limit).to_string(),
            observed: SizeInBytes(observed).to_string(),
            raise_with: self.hint().unwrap_or_default(),
        })
    }
}

/// A size to suggest where `observed` was too much: the next power of two, as it is written in elysia.toml.
pub(crate) fn raised(observed: u64) -> String {
    let bytes = observed.max(1024).checked_next_power_of_two().unwrap_or(u64::MAX);
    match bytes {
        b if b >= 1 << 30 => format!("{}GiB", b >> 30),
        b if b >= 1 << 20 => format!("{}MiB", b >> 20),
        b => format!("{}KiB", b >> 10),
    }
}

/// The setting that raises a limit of `plugin`, ready to paste. `setting` is such as `memory = "128MiB"`.
pub(crate) fn raise_with(plugin: &PluginName, setting: &str) -> String {
    let bare = plugin.as_str().bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_');
    let quote = if bare { "" } else { "\"" };
    format!("set `limits = {{ {setting} }}` under `[grants.{quote}{plugin}{quote}]` in elysia.toml")
}

/// A limit that was met, with all that people need to know.
pub(crate) fn limit_failure(
    plugin: &PluginName,
    code: FailureCode,
    what: &str,
    (name, setting): (&str, &str),
    (configured, observed): (String, String),
) -> Failure {
    let raise_with = raise_with(plugin, setting);
    let message = format!(
        "plugin `{plugin}` {what}: `limits.{name}` is {configured}, observed {observed}; to raise it, {raise_with}"
    );
    Failure::new(code, message)
        .with_feedback(format!("the tool was stopped: it {what} ({name}: {configured}, observed {observed})"))
        .with_limit(LimitReport { name: name.to_owned(), configured, observed, raise_with })
}

/// What the engine says ended a guest.
pub(crate) enum Ended {
    /// `wasi:cli/exit`, with its status.
    Exit(i32),
    /// A trap, in words, with its backtrace.
    Trap { what: String, detail: String },
    /// The guest passed more data to the host in one step than it may.
    TooMuchData,
    /// Too many instances or memories.
    TooManyInstances(u64),
}

/// Reads an error of the engine. The engine's own types for the last two are private, hence the look at its words;
/// the cases of `hostile` would fail if they changed.
pub(crate) fn classify(error: &wasmtime::Error) -> Ended {
    if let Some(wasmtime_wasi::I32Exit(status)) = error.downcast_ref() {
        return Ended::Exit(*status);
    }
    // Only the cause itself: the words around it hold names that the guest chose. A trap is the engine's own type.
    let text = match error.downcast_ref::<Trap>() {
        Some(_) => String::new(),
        None => error.root_cause().to_string(),
    };
    if text.contains("fuel allocated for hostcalls has been exhausted") {
        return Ended::TooMuchData;
    }
    if let Some((_, rest)) = text.split_once(" count too high at ")
        && text.contains("resource limit exceeded")
    {
        let digits = rest.split(|c: char| !c.is_ascii_digit()).next().unwrap_or_default();
        return Ended::TooManyInstances(digits.parse().unwrap_or_default());
    }
    let what = match error.downcast_ref::<Trap>() {
        Some(trap) => trap_in_words(*trap).to_owned(),
        None => truncate(&clean_line(&error.root_cause().to_string()), MAX_REASON).to_owned(),
    };
    let backtrace = error.downcast_ref::<WasmBacktrace>().map(ToString::to_string).unwrap_or_default();
    let detail = truncate(&clean(&format!("{what}\n{backtrace}")), MAX_DETAIL).trim_end().to_owned();
    Ended::Trap { what, detail }
}

fn trap_in_words(trap: Trap) -> &'static str {
    match trap {
        Trap::UnreachableCodeReached => "unreachable code reached (a panic or an abort)",
        Trap::MemoryOutOfBounds => "memory access out of bounds",
        Trap::TableOutOfBounds => "table access out of bounds",
        Trap::StackOverflow => "stack overflow",
        Trap::IntegerDivisionByZero => "division by zero",
        Trap::IntegerOverflow => "integer overflow",
        Trap::BadConversionToInteger => "number that fits no integer",
        Trap::IndirectCallToNull | Trap::BadSignature => "call of a wrong function",
        Trap::Interrupt => "interrupted",
        _ => "the guest broke a rule of the engine",
    }
}

/// An error of the engine while loading, as one line.
pub(crate) fn in_one_line(error: &wasmtime::Error) -> String {
    truncate(&clean_line(&format!("{error:#}")), MAX_REASON).to_owned()
}

#[cfg(test)]
mod tests;
