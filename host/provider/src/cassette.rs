//! Recorded conversations with a server: written from a live one, replayed without any.
//!
//! A replay matches the request's body too, so that a change of what is sent shows as a failing case.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::ProviderError;
use crate::transport::{Incoming, Outgoing, Transport};

/// One request with its answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Exchange {
    /// What was sent.
    pub request: RecordedRequest,
    /// What came back.
    pub response: RecordedResponse,
}

/// What was sent; the key is in a header and therefore not in it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordedRequest {
    /// Path below the base URL.
    pub path: String,
    /// The body.
    pub body: Value,
}

/// What came back.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordedResponse {
    /// Status.
    pub status: u16,
    /// Header fields that matter.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub headers: Vec<(String, String)>,
    /// The body: JSON as such, anything else as chunks of text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub json: Option<Value>,
    /// The body as it came, chunk by chunk; cut between characters.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub chunks: Vec<String>,
}

/// A transport that records or replays.
pub struct Cassette {
    inner: Option<Arc<dyn Transport>>,
    exchanges: Mutex<VecDeque<Exchange>>,
}

impl Cassette {
    /// Answers with `exchanges`, in order; a request that differs from the recorded one fails.
    pub fn replay(exchanges: Vec<Exchange>) -> Self {
        Self { inner: None, exchanges: Mutex::new(exchanges.into()) }
    }

    /// Passes everything to `inner` and keeps it. Bodies are read whole first, at most 16 MiB.
    pub fn record(inner: Arc<dyn Transport>) -> Self {
        Self { inner: Some(inner), exchanges: Mutex::default() }
    }

    /// What was recorded, or is left to replay.
    pub fn exchanges(&self) -> Vec<Exchange> {
        self.exchanges.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }

    async fn record_one(
        &self,
        inner: &dyn Transport,
        request: &Outgoing,
        deadline: Instant,
    ) -> Result<Incoming, ProviderError> {
        const MAX_BYTES: usize = 16 * 1024 * 1024;
        let mut answer = inner.send(request, deadline).await?;
        let mut raw: Vec<u8> = Vec::new();
        while let Some(chunk) = answer.body.chunk(deadline).await? {
            raw.extend_from_slice(&chunk);
            if raw.len() > MAX_BYTES {
                let what = "recording";
                return Err(ProviderError::TooLarge {
                    endpoint: "cassette".into(),
                    what,
                    limit: MAX_BYTES,
                    partial: None,
                });
            }
        }
        let text = String::from_utf8_lossy(&raw).into_owned();
        let json = serde_json::from_str(&text).ok();
        let chunks = if json.is_some() { Vec::new() } else { vec![text] };
        let response = RecordedResponse { status: answer.status, headers: answer.headers.clone(), json, chunks };
        let request = RecordedRequest { path: request.path.clone(), body: request.body.clone() };
        let exchange = Exchange { request, response };
        self.exchanges.lock().unwrap_or_else(PoisonError::into_inner).push_back(exchange);
        answer.body = Box::new(VecDeque::from([raw]));
        Ok(answer)
    }
}

#[async_trait]
impl Transport for Cassette {
    async fn send(&self, request: &Outgoing, deadline: Instant) -> Result<Incoming, ProviderError> {
        if let Some(inner) = &self.inner {
            return self.record_one(inner.as_ref(), request, deadline).await;
        }
        // Not a passing error: a replay that differs must not be asked again.
        let differs = |what: String| ProviderError::Config {
            what: format!("the recording does not fit: {what}"),
            hint: "record it again".to_owned(),
        };
        let next = self.exchanges.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
        let Some(Exchange { request: recorded, response }) = next else {
            return Err(differs(format!("nothing is left for a request to `{}`", request.path)));
        };
        if recorded.path != request.path {
            return Err(differs(format!("path `{}`, recorded `{}`", request.path, recorded.path)));
        }
        if let Some(place) = difference(&recorded.body, &request.body, String::new()) {
            return Err(differs(format!("the request's body differs at `{place}`: sent {}", request.body)));
        }
        let mut chunks: VecDeque<Vec<u8>> = response.chunks.into_iter().map(String::into_bytes).collect();
        if let Some(json) = response.json {
            chunks.push_front(json.to_string().into_bytes());
        }
        Ok(Incoming { status: response.status, headers: response.headers, body: Box::new(chunks) })
    }
}

/// JSON pointer of the first difference.
fn difference(a: &Value, b: &Value, at: String) -> Option<String> {
    match (a, b) {
        (Value::Object(a), Value::Object(b)) => {
            let missing = a.keys().chain(b.keys()).find(|k| a.contains_key(*k) != b.contains_key(*k));
            if let Some(key) = missing {
                return Some(format!("{at}/{key}"));
            }
            a.iter().find_map(|(key, value)| difference(value, b.get(key)?, format!("{at}/{key}")))
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            a.iter().zip(b).enumerate().find_map(|(i, (x, y))| difference(x, y, format!("{at}/{i}")))
        }
        _ => (a != b).then(|| if at.is_empty() { "/".to_owned() } else { at }),
    }
}
