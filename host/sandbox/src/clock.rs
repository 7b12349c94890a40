//! The clocks of a call: wall time with an absolute deadline, CPU time of the thread that runs the guest, cancelling.
//!
//! Two watches look at them. The epoch callback stops a guest that spins; a timer beside the guest's future stops one
//! that waits. Neither alone is enough: epochs do not wake a waiting host call, and a guest that never yields pins
//! the worker that may be the one to drive the timers.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Poll;
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};
use tokio_util::sync::CancellationToken;

/// Why the host stopped a guest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    Cpu,
    Deadline,
    Cancelled,
}

/// CPU time of one guest, whichever thread polls it. Only the polling thread writes, hence relaxed.
#[derive(Debug)]
struct Cpu {
    limit: u64,
    spent: AtomicU64,
    since: AtomicU64,
}

/// The clocks of one call.
#[derive(Clone, Debug)]
pub(crate) struct Clock {
    cpu: Arc<Cpu>,
    deadline: Instant,
    cancel: CancellationToken,
}

fn thread_cpu() -> u64 {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    u64::try_from(now.tv_sec).unwrap_or_default() * 1_000_000_000 + u64::try_from(now.tv_nsec).unwrap_or_default()
}

impl Clock {
    pub(crate) fn new(cpu: Duration, deadline: Instant, cancel: CancellationToken) -> Self {
        let limit = u64::try_from(cpu.as_nanos()).unwrap_or(u64::MAX);
        Self { cpu: Arc::new(Cpu { limit, spent: AtomicU64::new(0), since: AtomicU64::new(0) }), deadline, cancel }
    }

    /// Asked by the engine at each tick while the guest's code runs, and after each poll. Where several are due, wall
    /// time is named before CPU time: it is what the caller waits for.
    pub(crate) fn check(&self) -> Option<Stop> {
        let running = thread_cpu().saturating_sub(self.cpu.since.load(Ordering::Relaxed));
        if self.cancel.is_cancelled() {
            Some(Stop::Cancelled)
        } else if Instant::now() >= self.deadline {
            Some(Stop::Deadline)
        } else if self.cpu.spent.load(Ordering::Relaxed).saturating_add(running) > self.cpu.limit {
            Some(Stop::Cpu)
        } else {
            None
        }
    }

    /// Runs a guest's future until it ends or one of the clocks stops it. Dropping it stops the guest as well.
    pub(crate) async fn watch<F: Future>(&self, work: F) -> Result<F::Output, Stop> {
        let deadline = tokio::time::Instant::from_std(self.deadline);
        tokio::select! {
            biased;
            () = self.cancel.cancelled() => Err(Stop::Cancelled),
            ended = tokio::time::timeout_at(deadline, self.metered(work)) => ended.unwrap_or(Err(Stop::Deadline)),
        }
    }

    async fn metered<F: Future>(&self, work: F) -> Result<F::Output, Stop> {
        let mut work = pin!(work);
        poll_fn(|context| {
            let begin = thread_cpu();
            self.cpu.since.store(begin, Ordering::Relaxed);
            let polled = work.as_mut().poll(context);
            let end = thread_cpu();
            self.cpu.spent.fetch_add(end.saturating_sub(begin), Ordering::Relaxed);
            self.cpu.since.store(end, Ordering::Relaxed);
            match polled {
                Poll::Ready(output) => Poll::Ready(Ok(output)),
                Poll::Pending => self.check().map_or(Poll::Pending, |stop| Poll::Ready(Err(stop))),
            }
        })
        .await
    }
}
