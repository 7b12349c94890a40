//! Pauses noted instead of taken.

use std::sync::Mutex;

use super::*;

#[derive(Default)]
struct Noted(Mutex<Vec<Duration>>);

#[async_trait]
impl Pause for Noted {
    async fn pause(&self, time: Duration) {
        self.0.lock().unwrap().push(time);
    }
}

fn limited(retry_after: Option<u64>) -> ProviderError {
    let retry_after = retry_after.map(Duration::from_secs);
    ProviderError::RateLimited { endpoint: "e".to_owned(), reason: "r".to_owned(), retry_after }
}

/// Runs until `errors` are used up; the pauses taken and whether it succeeded.
async fn pauses(errors: Vec<ProviderError>, tries: u32, time: Duration) -> (Vec<Duration>, Result<(), ProviderError>) {
    let noted = Arc::new(Noted::default());
    let retry = Retry { tries, sleep: noted.clone(), ..Retry::default() };
    let errors = Mutex::new(errors.into_iter());
    let attempt = || std::future::ready(errors.lock().unwrap().next().map_or(Ok(()), Err));
    let ended = retry.run(Instant::now() + time, attempt).await;
    let pauses = noted.0.lock().unwrap().clone();
    (pauses, ended)
}

#[tokio::test]
async fn pauses_double_with_jitter_until_the_tries_are_used_up() {
    let (pauses, ended) = pauses(vec![limited(None); 9], 5, Duration::from_secs(300)).await;
    assert_eq!(ended, Err(limited(None)));
    let bounds = [500, 1000, 2000, 4000].map(Duration::from_millis);
    assert_eq!(pauses.len(), 4);
    assert!(pauses.iter().zip(bounds).all(|(p, most)| *p >= most / 2 && *p <= most), "{pauses:?}");
}

#[tokio::test]
async fn what_the_server_asks_is_honoured_within_the_deadline_and_fails_at_once_past_it() {
    let (taken, ended) = pauses(vec![limited(Some(3))], 5, Duration::from_secs(300)).await;
    assert_eq!(ended, Ok(()));
    assert!(taken[0] >= Duration::from_secs(3) && taken[0] <= Duration::from_secs(4), "{taken:?}");
    for absurd in [301, 1_000_000_000, u64::MAX] {
        let (taken, ended) = pauses(vec![limited(Some(absurd))], 5, Duration::from_secs(300)).await;
        assert_eq!((taken, ended), (vec![], Err(limited(Some(absurd)))));
    }
}

#[tokio::test]
async fn what_does_not_pass_is_not_tried_again() {
    let wrong = ProviderError::Key { endpoint: "e".to_owned(), status: 401, reason: "r".to_owned(), sent: true };
    let (taken, ended) = pauses(vec![wrong.clone()], 5, Duration::from_secs(300)).await;
    assert_eq!((taken, ended), (vec![], Err(wrong)));
}

#[test]
fn retry_after_is_read_in_every_form() {
    let now = UNIX_EPOCH + Duration::from_secs(784_111_777);
    let read = |value| parse_retry_after(value, now);
    assert_eq!(read("7"), Some(Duration::from_secs(7)));
    assert_eq!(read(" 0.5 "), Some(Duration::from_millis(500)));
    assert_eq!(read("1e30"), Some(Duration::MAX));
    assert_eq!(read("-1"), None);
    assert_eq!(read("NaN"), None);
    assert_eq!(read("soon"), None);
    assert_eq!(read("Sun, 06 Nov 1994 08:49:37 GMT"), Some(Duration::ZERO));
    assert_eq!(read("Sun, 06 Nov 1994 08:50:37 GMT"), Some(Duration::from_secs(60)));
    assert_eq!(read("Thu, 01 Jan 1970 00:00:00 GMT"), Some(Duration::ZERO));
    assert_eq!(read("Tue, 29 Feb 2028 00:00:00 GMT"), Some(Duration::from_secs(1_835_395_200 - 784_111_777)));
    for bad in
        ["Sun, 06 Nov 1994 25:49:37 GMT", "Sun, 00 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 99999 08:49:37 GMT", "Sun, 06"]
    {
        assert_eq!(read(bad), None, "{bad}");
    }
}
