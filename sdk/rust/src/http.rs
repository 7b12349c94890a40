//! Outgoing HTTP, as far as the operator grants it. The host follows no redirects and keeps the secrets.

use std::fmt;

use serde::de::DeserializeOwned;

use crate::{ToolError, host};

/// A request to send.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Request {
    /// GET, POST, …
    pub method: String,
    /// Where to; absolute.
    pub url: String,
    /// Names and values.
    pub headers: Vec<(String, String)>,
    /// What is sent along.
    pub body: Option<Vec<u8>>,
}

impl Request {
    /// A request with any method.
    pub fn new(method: impl Into<String>, url: impl Into<String>) -> Request {
        Request { method: method.into(), url: url.into(), headers: Vec::new(), body: None }
    }

    /// A GET request.
    pub fn get(url: impl Into<String>) -> Request {
        Request::new("GET", url)
    }

    /// A POST request.
    pub fn post(url: impl Into<String>) -> Request {
        Request::new("POST", url)
    }

    /// Adds a header.
    #[must_use]
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Request {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// Sends bytes along.
    #[must_use]
    pub fn body(mut self, body: impl Into<Vec<u8>>) -> Request {
        self.body = Some(body.into());
        self
    }

    /// Sends a value along as JSON.
    #[must_use]
    pub fn json(self, value: &crate::Value) -> Request {
        self.header("content-type", "application/json").body(value.to_string())
    }
}

/// What came back.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Response {
    /// The status code.
    pub status: u16,
    /// Names and values.
    pub headers: Vec<(String, String)>,
    /// What was sent.
    pub body: Vec<u8>,
}

impl Response {
    /// The first header of this name, whatever its case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    /// The body as text.
    ///
    /// # Errors
    /// When it is not UTF-8.
    pub fn text(&self) -> Result<&str, ToolError> {
        Ok(std::str::from_utf8(&self.body)?)
    }

    /// The body read from JSON.
    ///
    /// # Errors
    /// When it is not the JSON of a `T`.
    pub fn json<T: DeserializeOwned>(&self) -> Result<T, ToolError> {
        serde_json::from_slice(&self.body).map_err(|error| ToolError::from(error).during("reading the response"))
    }

    /// This response if its status is 2xx.
    ///
    /// # Errors
    /// The kind follows the status: 404 not found, 429 rate limited, 5xx unavailable.
    pub fn success(self) -> Result<Response, ToolError> {
        let feedback = format!("the server answered {}", self.status);
        match self.status {
            200..=299 => Ok(self),
            401 | 403 => Err(ToolError::denied(feedback)),
            404 | 410 => Err(ToolError::not_found(feedback)),
            429 => Err(ToolError::rate_limited(feedback)),
            500..=599 => Err(ToolError::unavailable(feedback)),
            _ => Err(ToolError::failed(feedback)),
        }
    }
}

/// Why there is no response.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum HttpError {
    /// No grant covers it; says which rule failed and how the operator allows it.
    Denied(String),
    /// It took too long.
    Timeout(String),
    /// The response is over the limit.
    TooLarge(String),
    /// Name not found, refused, TLS failure, broken reply.
    Failed(String),
}

impl fmt::Display for HttpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HttpError::Denied(why) | HttpError::Timeout(why) | HttpError::TooLarge(why) | HttpError::Failed(why) => {
                f.write_str(why)
            }
        }
    }
}

impl std::error::Error for HttpError {}

impl From<HttpError> for ToolError {
    fn from(error: HttpError) -> ToolError {
        let feedback = error.to_string();
        match error {
            HttpError::Denied(_) => ToolError::denied(feedback),
            HttpError::Timeout(_) | HttpError::Failed(_) => ToolError::unavailable(feedback),
            HttpError::TooLarge(_) => ToolError::failed(feedback),
        }
    }
}

/// Sends a request and waits for the whole response.
///
/// # Errors
/// Without a grant every call is [`HttpError::Denied`].
pub fn fetch(request: Request) -> Result<Response, HttpError> {
    host::http_fetch(request)
}
