//! Ctrl-C and its like: the first asks for an orderly end, the second ends at once.

use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::complaint::{Complaint, INTERRUPTED};

/// Waits for SIGINT or SIGTERM.
pub(crate) struct Interrupt {
    int: Signal,
    term: Signal,
}

impl Interrupt {
    /// From here on the signals no longer end the process by themselves.
    ///
    /// # Errors
    /// A complaint when the system refuses.
    pub(crate) fn watch() -> Result<Self, Complaint> {
        let watch = |kind| signal(kind).map_err(|e| Complaint::failed(format!("signals cannot be watched: {e}")));
        Ok(Self { int: watch(SignalKind::interrupt())?, term: watch(SignalKind::terminate())? })
    }

    /// The next one. Cancel-safe.
    pub(crate) async fn next(&mut self) {
        tokio::select! {
            _ = self.int.recv() => (),
            _ = self.term.recv() => (),
        }
    }

    /// `work`, unless a signal comes first: then it is dropped.
    ///
    /// # Errors
    /// What `work` says, or that it was interrupted.
    pub(crate) async fn or<T, E: Into<Complaint>>(
        &mut self,
        work: impl Future<Output = Result<T, E>>,
    ) -> Result<T, Complaint> {
        tokio::select! {
            () = self.next() => Err(Complaint::interrupted()),
            done = work => done.map_err(Into::into),
        }
    }
}

/// Ends the process without waiting for anything: asked for twice.
#[expect(clippy::exit, reason = "the second interrupt must not wait for tasks, threads or destructors")]
pub(crate) fn leave() -> ! {
    std::process::exit(i32::from(INTERRUPTED))
}
