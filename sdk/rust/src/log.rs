//! Lines for the operator's log only; never shown to the user or the model. Usable everywhere.
//!
//! ```
//! use elysia_plugin::log;
//!
//! let n_rows = 3;
//! log::info!("read {n_rows} rows");
//! ```

use std::fmt;

use crate::host;

/// How much a line matters.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Level {
    /// The operator must act.
    Error,
    /// Something works worse than it should.
    Warn,
    /// What happens in the large.
    Info,
    /// What happens in the small.
    Debug,
    /// Everything.
    Trace,
}

/// Writes one line. The macros of this module read better.
pub fn write(level: Level, line: fmt::Arguments<'_>) {
    match line.as_str() {
        Some(line) => host::log_write(level, line),
        None => host::log_write(level, &line.to_string()),
    }
}

/// Logs at [`Level::Debug`].
#[doc(inline)]
pub use crate::__log_debug as debug;
/// Logs at [`Level::Error`].
#[doc(inline)]
pub use crate::__log_error as error;
/// Logs at [`Level::Info`].
#[doc(inline)]
pub use crate::__log_info as info;
/// Logs at [`Level::Trace`].
#[doc(inline)]
pub use crate::__log_trace as trace;
/// Logs at [`Level::Warn`].
#[doc(inline)]
pub use crate::__log_warn as warn;

/// Logs at `Error`: `log::error!("no index in {path}")`.
#[doc(hidden)]
#[macro_export]
macro_rules! __log_error {
    ($($line:tt)+) => { $crate::log::write($crate::log::Level::Error, ::core::format_args!($($line)+)) };
}

/// Logs at `Warn`: `log::warn!("line {n} skipped")`.
#[doc(hidden)]
#[macro_export]
macro_rules! __log_warn {
    ($($line:tt)+) => { $crate::log::write($crate::log::Level::Warn, ::core::format_args!($($line)+)) };
}

/// Logs at `Info`: `log::info!("read {n} rows")`.
#[doc(hidden)]
#[macro_export]
macro_rules! __log_info {
    ($($line:tt)+) => { $crate::log::write($crate::log::Level::Info, ::core::format_args!($($line)+)) };
}

/// Logs at `Debug`: `log::debug!("{query:?}")`.
#[doc(hidden)]
#[macro_export]
macro_rules! __log_debug {
    ($($line:tt)+) => { $crate::log::write($crate::log::Level::Debug, ::core::format_args!($($line)+)) };
}

/// Logs at `Trace`: `log::trace!("{row:?}")`.
#[doc(hidden)]
#[macro_export]
macro_rules! __log_trace {
    ($($line:tt)+) => { $crate::log::write($crate::log::Level::Trace, ::core::format_args!($($line)+)) };
}
