//! Why a command did not do what was asked: one sentence, one hint, one exit code.

use elysia_host::{HostError, StoreError};

/// Exit code of a command that failed.
pub(crate) const FAILED: u8 = 1;
/// Exit code of wrong usage or configuration.
pub(crate) const USAGE: u8 = 2;
/// Exit code of what policy refuses.
pub(crate) const REFUSED: u8 = 3;
/// Exit code of a query that the agent called impossible.
pub(crate) const IMPOSSIBLE: u8 = 4;
/// Exit code after an interrupt.
pub(crate) const INTERRUPTED: u8 = 130;

/// Shown as `error: …` and `hint: …` on standard error.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub(crate) struct Complaint {
    /// What and why. Nothing is shown when it is empty.
    pub(crate) message: String,
    /// The command or setting that helps.
    pub(crate) hint: Option<String>,
    /// The exit code.
    pub(crate) exit: u8,
    /// What else there is to know, said before.
    pub(crate) notices: Vec<String>,
}

impl Complaint {
    /// Wrong usage or configuration.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self { message: message.into(), hint: None, exit: USAGE, notices: Vec::new() }
    }

    /// Something failed.
    pub(crate) fn failed(message: impl Into<String>) -> Self {
        Self { message: message.into(), hint: None, exit: FAILED, notices: Vec::new() }
    }

    /// The reader of standard output has what it wanted and left: nothing to say, nothing wrong.
    pub(crate) fn reader_left() -> Self {
        Self { message: String::new(), hint: None, exit: 0, notices: Vec::new() }
    }

    /// An interrupt before there was anything to save.
    pub(crate) fn interrupted() -> Self {
        Self { message: String::new(), hint: None, exit: INTERRUPTED, notices: Vec::new() }
    }

    /// The same after these notices.
    #[must_use]
    pub(crate) fn after(mut self, notices: impl Iterator<Item = String>) -> Self {
        self.notices.extend(notices);
        self
    }

    /// The same with a hint.
    #[must_use]
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl From<HostError> for Complaint {
    fn from(error: HostError) -> Self {
        Self { message: error.to_string(), hint: error.hint(), exit: error.exit_code(), notices: Vec::new() }
    }
}

impl From<StoreError> for Complaint {
    fn from(error: StoreError) -> Self {
        HostError::Store(error).into()
    }
}
