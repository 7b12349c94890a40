//! Many futures, few at a time, without tasks of their own: dropping the whole drops each.

use std::future::poll_fn;
use std::task::Poll;

/// The outputs of `work` in order, at most `most` (at least one) running at a time.
pub(crate) async fn join_bounded<F: Future>(work: impl IntoIterator<Item = F>, most: usize) -> Vec<F::Output> {
    let mut waiting = work.into_iter().enumerate();
    let mut running = Vec::new();
    let mut done = Vec::new();
    poll_fn(|cx| {
        loop {
            let free = most.max(1).saturating_sub(running.len());
            running.extend(waiting.by_ref().take(free).map(|(n, future)| (n, Box::pin(future))));
            let before = running.len();
            running.retain_mut(|(n, future)| match future.as_mut().poll(cx) {
                Poll::Ready(output) => {
                    done.push((*n, output));
                    false
                }
                Poll::Pending => true,
            });
            if running.is_empty() && before == 0 {
                return Poll::Ready(());
            }
            // All wait, each with this waker; otherwise there is room for more.
            if running.len() == before {
                return Poll::Pending;
            }
        }
    })
    .await;
    done.sort_by_key(|(n, _)| *n);
    done.into_iter().map(|(_, output)| output).collect()
}
