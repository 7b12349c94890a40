//! Calls in flight: each a future that ends with its outcome, and the yields it has sent.
//!
//! A call first takes its permits (plugin, session, host), then runs on the guests' runtime. Dropping a [`Running`]
//! stops its guest.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Instant;

use elysia_decision::CallPlan;
use elysia_registry::Plugin;
use elysia_sandbox::{CallRequest, Engine, GuestContext, Yielded};
use elysia_types::{CallEnd, CallId, Failure, FailureCode, PluginState};
use tokio::sync::{Semaphore, mpsc};
use tokio_util::sync::CancellationToken;

/// Yields that wait for the drive. The guest waits when it is full.
const WAITING_YIELDS: usize = 16;

/// One call in flight.
pub(crate) struct Running {
    pub(crate) id: CallId,
    pub(crate) plugin: Arc<Plugin>,
    pub(crate) cancel: CancellationToken,
    started: Instant,
    yields: mpsc::Receiver<Yielded>,
    end: Pin<Box<dyn Future<Output = Whole> + Send>>,
    ended: Option<Whole>,
}

/// How a call ended, and the plugin's state as it began.
type Whole = (CallEnd, PluginState);

/// What a call did.
pub(crate) enum Progress {
    /// It said something.
    Yielded(Yielded),
    /// It is over; nothing more comes from it.
    Ended { end: CallEnd, state_before: PluginState, ms: u64 },
}

/// Who may run at once. Semaphores of tokio are fair: first come, first served.
#[derive(Clone)]
pub(crate) struct Permits {
    pub(crate) plugin: Arc<Semaphore>,
    pub(crate) session: Arc<Semaphore>,
    pub(crate) host: Arc<Semaphore>,
}

impl Running {
    /// `context` is taken once the call has its permits: what calls before it changed is seen.
    pub(crate) fn start(
        engine: Engine,
        plugin: Arc<Plugin>,
        plan: CallPlan,
        context: impl FnOnce() -> GuestContext + Send + 'static,
        permits: Permits,
    ) -> Self {
        let (to_drive, yields) = mpsc::channel(WAITING_YIELDS);
        let cancel = CancellationToken::new();
        let id = plan.call.call_id.clone();
        let end = Box::pin(run(engine, plugin.clone(), plan, context, permits, to_drive, cancel.clone()));
        Self { id, plugin, cancel, started: Instant::now(), yields, end, ended: None }
    }

    /// A call that ended before it began.
    pub(crate) fn refused(plugin: Arc<Plugin>, id: CallId, failure: Failure) -> Self {
        let (_, yields) = mpsc::channel(1);
        let end = CallEnd { outcome: Err(failure), state: None };
        Self {
            id,
            plugin,
            cancel: CancellationToken::new(),
            started: Instant::now(),
            yields,
            end: Box::pin(std::future::pending()),
            ended: Some((end, PluginState::new())),
        }
    }

    /// Yields first, then the end: what was said before a failure is never lost.
    pub(crate) fn poll_progress(&mut self, context: &mut Context<'_>) -> Poll<Progress> {
        if let Poll::Ready(Some(yielded)) = self.yields.poll_recv(context) {
            return Poll::Ready(Progress::Yielded(yielded));
        }
        if self.ended.is_none()
            && let Poll::Ready(end) = self.end.as_mut().poll(context)
        {
            self.ended = Some(end);
        }
        if self.ended.is_none() {
            return Poll::Pending;
        }
        // The sender went with the guest, so this either drains what is left or says that nothing is.
        match self.yields.poll_recv(context) {
            Poll::Ready(Some(yielded)) => Poll::Ready(Progress::Yielded(yielded)),
            Poll::Ready(None) => match self.ended.take() {
                Some((end, state_before)) => {
                    Poll::Ready(Progress::Ended { end, state_before, ms: millis(self.started) })
                }
                None => Poll::Pending,
            },
            Poll::Pending => Poll::Pending,
        }
    }
}

async fn run(
    engine: Engine,
    plugin: Arc<Plugin>,
    plan: CallPlan,
    context: impl FnOnce() -> GuestContext,
    permits: Permits,
    to_drive: mpsc::Sender<Yielded>,
    cancel: CancellationToken,
) -> Whole {
    let refused = |failure| (CallEnd { outcome: Err(failure), state: None }, PluginState::new());
    // Narrow to wide, always in this order, so that two calls cannot wait for each other.
    let ready = async {
        // Permits are never closed while the host lives.
        let closed = |_| Failure::new(FailureCode::Cancelled, "the host is shutting down");
        let of_plugin = permits.plugin.acquire_owned().await.map_err(closed)?;
        let of_session = permits.session.acquire_owned().await.map_err(closed)?;
        let of_host = permits.host.acquire_owned().await.map_err(closed)?;
        // Usually at hand; compiled anew when the cache has lost it, and that may take long.
        Ok(((of_plugin, of_session, of_host), plugin.component().await?))
    };
    let cancelled = || Failure::new(FailureCode::Cancelled, "the call was cancelled while it waited");
    let ready = tokio::select! {
        biased;
        () = cancel.cancelled() => Err(cancelled()),
        ready = ready => ready,
    };
    let (held, component) = match ready {
        Ok(ready) => ready,
        Err(failure) => return refused(failure),
    };
    let context = context();
    let state_before = context.state.clone();
    let request = CallRequest {
        plugin: plugin.name.clone(),
        tool: plan.call.tool,
        inputs: plan.inputs,
        limits: plugin.limits.clone(),
        policy: plugin.policy.clone(),
        context,
    };
    let end = engine.call(&component, request, to_drive, cancel).await;
    drop(held);
    (end, state_before)
}

pub(crate) fn millis(since: Instant) -> u64 {
    u64::try_from(since.elapsed().as_millis()).unwrap_or(u64::MAX)
}
