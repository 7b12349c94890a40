//! The HTTP boundary: what goes out and what comes in, so that a recording can stand in for a server.

use std::collections::VecDeque;
use std::time::Instant;

use async_trait::async_trait;
use serde_json::Value;

use crate::error::ProviderError;

/// One POST of JSON.
#[derive(Clone, Debug, PartialEq)]
pub struct Outgoing {
    /// Path below the base URL, e.g. `/chat/completions`.
    pub path: String,
    /// The body.
    pub body: Value,
}

/// Sends requests to one endpoint.
#[async_trait]
pub trait Transport: Send + Sync {
    /// Sends `request`; the answer's body is read by the caller. Cancel-safe: dropping ends the request.
    ///
    /// # Errors
    /// When no head of an answer comes. Any status is an answer.
    async fn send(&self, request: &Outgoing, deadline: Instant) -> Result<Incoming, ProviderError>;
}

/// An answer whose body is still to be read.
pub struct Incoming {
    /// Status.
    pub status: u16,
    /// Header fields, names in small letters.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Box<dyn Body>,
}

impl Incoming {
    /// The value of a header; `name` in small letters.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(n, _)| n == name).map(|(_, value)| value.as_str())
    }
}

/// A body that comes in chunks.
#[async_trait]
pub trait Body: Send {
    /// The next chunk; `None` at the end.
    ///
    /// # Errors
    /// [`ProviderError::Timeout`] or [`ProviderError::Cut`], without a partial text: the reader knows that.
    async fn chunk(&mut self, deadline: Instant) -> Result<Option<Vec<u8>>, ProviderError>;
}

/// A body known already.
#[async_trait]
impl Body for VecDeque<Vec<u8>> {
    async fn chunk(&mut self, _: Instant) -> Result<Option<Vec<u8>>, ProviderError> {
        Ok(self.pop_front())
    }
}
