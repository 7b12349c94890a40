//! An answer that is not success, as one clear cause.

use std::time::{Duration, SystemTime};

use serde_json::Value;

use super::OpenAiConfig;
use crate::error::{ProviderError, one_line};
use crate::retry::parse_retry_after;

/// A status other than 200 with what the server says about it, scrubbed of the key.
pub(crate) struct Refusal {
    pub(crate) status: u16,
    /// The body's beginning.
    pub(crate) text: String,
    pub(crate) retry_after: Option<String>,
    pub(crate) location: Option<String>,
}

impl Refusal {
    pub(crate) fn into_error(self, endpoint: &str, config: &OpenAiConfig) -> ProviderError {
        let reason = self.reason();
        let retry_after = self.retry_after.as_deref().and_then(|v| parse_retry_after(v, SystemTime::now()));
        let sent = config.api_key.is_some();
        from_status(endpoint, self.status, reason, retry_after, &config.model, sent)
    }

    fn reason(&self) -> String {
        if let (300..=399, Some(location)) = (self.status, &self.location) {
            return one_line(&format!("it points to {location}"));
        }
        let text = match serde_json::from_str::<Value>(&self.text) {
            Ok(json) => error_text(&json).unwrap_or_else(|| self.text.clone()),
            Err(_) => strip_tags(&self.text),
        };
        let line = one_line(&text);
        if line.is_empty() { "no reason given".to_owned() } else { line }
    }
}

/// The cause that stands for a status.
pub(crate) fn from_status(
    endpoint: &str,
    status: u16,
    reason: String,
    retry_after: Option<Duration>,
    model: &str,
    sent: bool,
) -> ProviderError {
    let endpoint = endpoint.to_owned();
    match status {
        401 | 403 => ProviderError::Key { endpoint, status, reason, sent },
        404 => ProviderError::ModelNotFound { endpoint, model: model.to_owned(), reason },
        429 => ProviderError::RateLimited { endpoint, reason, retry_after },
        500..=599 => ProviderError::Server { endpoint, status, reason, retry_after },
        _ => ProviderError::Refused { endpoint, status, reason },
    }
}

/// The message of an error object in any of its usual shapes.
pub(crate) fn error_text(json: &Value) -> Option<String> {
    let error = json.get("error").unwrap_or(json);
    let text = error.get("message").or_else(|| error.get("detail")).or_else(|| json.get("detail")).unwrap_or(error);
    match text {
        Value::String(text) => Some(text.clone()),
        Value::Null => None,
        other => Some(other.to_string()),
    }
}

/// What an HTML page says, roughly.
fn strip_tags(html: &str) -> String {
    let mut text = String::new();
    let mut inside = false;
    for c in html.chars() {
        match c {
            '<' => inside = true,
            '>' if inside => {
                inside = false;
                text.push(' ');
            }
            _ if !inside => text.push(c),
            _ => {}
        }
    }
    text
}
