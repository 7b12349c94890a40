//! Any OpenAI-compatible endpoint: chat completions with tools, or a schema, or plain text, as far as it goes.
//!
//! What an endpoint refuses is learned once and remembered in [`Quirks`]; each refusal costs one request, not a query.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use async_trait::async_trait;

use crate::client::{Endpoint, LiveTransport, Timeouts};
use crate::error::ProviderError;
use crate::model::{Features, LanguageModel, ModelRequest, Reply};
use crate::openai::quirks::{Mode, Quirks};
use crate::retry::Retry;
use crate::secret::Secret;
use crate::transport::{Outgoing, Transport};

mod answer;
mod quirks;
mod request;
mod status;
mod stream;

pub(crate) use status::from_status;

/// Where `openai:` goes unless told otherwise.
pub const DEFAULT_BASE_URL: &str = "https://api.openai.com/v1";

/// Whether tools are sent as tools.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NativeTools {
    /// Until the endpoint refuses them.
    #[default]
    Auto,
    /// Always.
    On,
    /// Never: the reply is JSON by a schema.
    Off,
}

/// How to reach a model.
#[derive(Clone, Debug)]
pub struct OpenAiConfig {
    /// Provider as the user names it: `openai`, `ollama`.
    pub label: String,
    /// Base URL, a trailing slash or not.
    pub base_url: String,
    /// Sent as bearer token.
    pub api_key: Option<Secret>,
    /// The model's name at the endpoint.
    pub model: String,
    /// Whether tools are sent as tools.
    pub native_tools: NativeTools,
    /// Whether replies are streamed. Nothing is shown early; it keeps the idle timeout meaningful.
    pub stream: bool,
    /// Timeouts.
    pub timeouts: Timeouts,
    /// Retries.
    pub retry: Retry,
}

impl OpenAiConfig {
    /// `model` at [`DEFAULT_BASE_URL`], without a key.
    pub fn new(model: impl Into<String>) -> Self {
        Self {
            label: "openai".to_owned(),
            base_url: DEFAULT_BASE_URL.to_owned(),
            api_key: None,
            model: model.into(),
            native_tools: NativeTools::Auto,
            stream: true,
            timeouts: Timeouts::default(),
            retry: Retry::default(),
        }
    }
}

/// A model at an OpenAI-compatible endpoint. Connects when first asked.
///
/// # Errors
/// [`ProviderError::Config`] for a base URL or model name that cannot work.
pub fn openai(config: OpenAiConfig) -> Result<Arc<dyn LanguageModel>, ProviderError> {
    let endpoint = Endpoint::parse(&config.base_url, config.api_key.is_some())?;
    let transport = LiveTransport::new(endpoint, config.api_key.clone(), config.timeouts)?;
    openai_over(config, Arc::new(transport))
}

/// The same over any transport, e.g. a recording.
///
/// # Errors
/// As [`openai`].
pub fn openai_over(
    config: OpenAiConfig,
    transport: Arc<dyn Transport>,
) -> Result<Arc<dyn LanguageModel>, ProviderError> {
    let endpoint = Endpoint::parse(&config.base_url, config.api_key.is_some())?;
    if config.model.trim().is_empty() {
        return Err(ProviderError::Config {
            what: "`openai:` lacks the model's name".to_owned(),
            hint: "name one, e.g. `--model openai:gpt-5-mini`".to_owned(),
        });
    }
    let quirks = Quirks::new(config.native_tools, endpoint.host() == "api.openai.com");
    Ok(Arc::new(OpenAi { endpoint: endpoint.label, config, transport, quirks: Mutex::new(quirks) }))
}

struct OpenAi {
    endpoint: String,
    config: OpenAiConfig,
    transport: Arc<dyn Transport>,
    quirks: Mutex<Quirks>,
}

impl OpenAi {
    fn quirks(&self) -> Quirks {
        *self.quirks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// One reply, with as many requests as it takes to learn what the endpoint refuses; each teaches one thing at least.
    async fn attempt(&self, request: &ModelRequest, deadline: Instant) -> Result<Reply, ProviderError> {
        loop {
            let quirks = self.quirks();
            let body = request::body(request, &self.config.model, self.config.stream, quirks);
            let outgoing = Outgoing { path: "/chat/completions".to_owned(), body };
            let incoming = self.transport.send(&outgoing, deadline).await?;
            let reader = answer::Reader { endpoint: &self.endpoint, key: self.config.api_key.as_ref() };
            if incoming.status == 200 {
                return reader.reply(incoming, request, deadline).await;
            }
            let refusal = reader.refusal(incoming, deadline).await;
            let learned = quirks.learn(refusal.status, &refusal.text, &outgoing.body);
            let Some(learned) = learned else {
                return Err(refusal.into_error(&self.endpoint, &self.config));
            };
            tracing::debug!(
                ?learned,
                status = refusal.status,
                "the endpoint refuses what was sent; asking differently"
            );
            *self.quirks.lock().unwrap_or_else(PoisonError::into_inner) = learned;
        }
    }
}

#[async_trait]
impl LanguageModel for OpenAi {
    fn name(&self) -> String {
        format!("{}:{}", self.config.label, self.config.model)
    }

    fn features(&self) -> Features {
        let quirks = self.quirks();
        Features {
            native_tools: matches!(quirks.mode, Mode::Tools | Mode::OptionalTools),
            reply_schema: quirks.mode != Mode::Text,
            streams: self.config.stream,
        }
    }

    async fn complete(&self, request: &ModelRequest, deadline: Instant) -> Result<Reply, ProviderError> {
        self.config.retry.run(deadline, || self.attempt(request, deadline)).await
    }
}

#[cfg(test)]
mod tests;
