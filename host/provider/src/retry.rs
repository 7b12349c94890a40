//! Trying again: how often, after which pause, and when it is no use.

use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use async_trait::async_trait;

use crate::error::ProviderError;

/// How to wait between two tries; injected so that tests need no time.
#[async_trait]
pub trait Pause: Send + Sync {
    /// Waits.
    async fn pause(&self, time: Duration);
}

/// Waits in earnest.
#[derive(Clone, Copy, Debug)]
pub struct Sleep;

#[async_trait]
impl Pause for Sleep {
    async fn pause(&self, time: Duration) {
        tokio::time::sleep(time).await;
    }
}

/// When to try again.
#[derive(Clone)]
pub struct Retry {
    /// Tries in all, the first one included.
    pub tries: u32,
    /// Longest first pause; doubles with each try. The pause taken is 50–100 % of it, by chance.
    pub first_pause: Duration,
    /// Longest pause, unless the server asks for a longer one.
    pub max_pause: Duration,
    /// How to wait.
    pub sleep: Arc<dyn Pause>,
}

impl Default for Retry {
    fn default() -> Self {
        Self {
            tries: 5,
            first_pause: Duration::from_millis(500),
            max_pause: Duration::from_secs(20),
            sleep: Arc::new(Sleep),
        }
    }
}

impl fmt::Debug for Retry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { tries, first_pause, max_pause, sleep: _ } = self;
        f.debug_struct("Retry")
            .field("tries", tries)
            .field("first_pause", first_pause)
            .field("max_pause", max_pause)
            .finish_non_exhaustive()
    }
}

impl Retry {
    /// Runs `attempt` until it succeeds, fails for good, the tries are used up, or the next pause would end past
    /// `deadline`. The error is that of the last try.
    pub(crate) async fn run<T, F, Fut>(&self, deadline: Instant, mut attempt: F) -> Result<T, ProviderError>
    where
        F: FnMut() -> Fut,
        Fut: Future<Output = Result<T, ProviderError>>,
    {
        let mut n_tries = 0;
        loop {
            let error = match attempt().await {
                Ok(value) => return Ok(value),
                Err(error) => error,
            };
            n_tries += 1;
            if !error.is_passing() || n_tries >= self.tries {
                return Err(error);
            }
            let pause = self.pause_before(n_tries, error.retry_after());
            // A pause that reaches the deadline would only turn a clear cause into "no time left".
            if Instant::now().checked_add(pause).is_none_or(|end| end >= deadline) {
                return Err(error);
            }
            tracing::debug!(n_tries, ?pause, %error, "the model is asked again");
            self.sleep.pause(pause).await;
        }
    }

    fn pause_before(&self, n_tries: u32, asked: Option<Duration>) -> Duration {
        let doubled = self.first_pause.saturating_mul(1u32.checked_shl(n_tries - 1).unwrap_or(u32::MAX));
        let jittered = doubled.min(self.max_pause).mul_f64(0.5 + chance() / 2.0);
        // What the server asks is a lower bound; a little more keeps many clients from coming back together.
        asked.map_or(jittered, |asked| asked.saturating_add(jittered.min(asked / 10)))
    }
}

/// A number from 0 to 1. Without randomness from the system there is no jitter, which is no reason to fail.
fn chance() -> f64 {
    getrandom::u32().map_or(1.0, |n| f64::from(n) / f64::from(u32::MAX))
}

/// The pause a `Retry-After` header asks for: seconds, or a date. `None` when it makes no sense.
pub(crate) fn parse_retry_after(value: &str, now: SystemTime) -> Option<Duration> {
    let value = value.trim();
    if let Ok(seconds) = value.parse::<f64>() {
        return (seconds >= 0.0).then(|| Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX));
    }
    let at = UNIX_EPOCH + Duration::from_secs(parse_date(value)?);
    Some(at.duration_since(now).unwrap_or_default())
}

/// Seconds since 1970 of an HTTP date, e.g. `Sun, 06 Nov 1994 08:49:37 GMT`.
fn parse_date(text: &str) -> Option<u64> {
    const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let mut parts = text.split_once(", ")?.1.split(' ');
    let day: u64 = parts.next()?.parse().ok().filter(|d| (1..=31).contains(d))?;
    let name = parts.next()?;
    let month = MONTHS.iter().position(|m| *m == name)? as u64 + 1;
    let year: u64 = parts.next()?.parse().ok().filter(|y| (1970..=9999).contains(y))?;
    let mut clock = parts.next()?.split(':').map(|part| part.parse::<u64>().ok());
    let (hour, minute, second) = (clock.next()??, clock.next()??, clock.next()??);
    if hour > 23 || minute > 59 || second > 60 || parts.next() != Some("GMT") {
        return None;
    }
    // Days from the civil calendar, with years that begin in March so that the leap day is the last one.
    let (y, m) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days = 365 * y + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + day - 1;
    let since_1970 = days.checked_sub(719_468)?;
    Some(since_1970 * 86_400 + hour * 3_600 + minute * 60 + second)
}

#[cfg(test)]
mod tests;
