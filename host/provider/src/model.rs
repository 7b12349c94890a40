//! What is asked of a language model and what it answers, whatever the wire format.

use std::time::Instant;

use async_trait::async_trait;
use elysia_types::{Message, Usage};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::ProviderError;

/// A language model.
#[async_trait]
pub trait LanguageModel: Send + Sync {
    /// Provider and model, as `--model` takes it, e.g. `openai:gpt-5-mini`.
    fn name(&self) -> String;

    /// What the endpoint is known to support so far.
    fn features(&self) -> Features;

    /// One reply. Tries again by itself where that makes sense, never past `deadline`.
    ///
    /// Cancel-safe: dropping the future ends the request.
    ///
    /// # Errors
    /// [`ProviderError`], the cause of the last try.
    async fn complete(&self, request: &ModelRequest, deadline: Instant) -> Result<Reply, ProviderError>;
}

/// What an endpoint supports; learned as it refuses things.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Features {
    /// Tools are sent as such; else they are described in the text.
    pub native_tools: bool,
    /// A reply's schema is sent to be enforced; else only described.
    pub reply_schema: bool,
    /// Replies are streamed.
    pub streams: bool,
}

/// One request. Stable parts stand first, so that prompt caches hit.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ModelRequest {
    /// Instructions.
    pub system: String,
    /// The conversation.
    pub messages: Vec<Message>,
    /// Tools on offer; names match `[a-zA-Z0-9_-]{1,64}`.
    pub tools: Vec<ToolSpec>,
    /// How the options read, for endpoints that have no tools; none is one line of JSON per tool.
    pub tools_as_text: Option<String>,
    /// Whether one of the tools must be called.
    pub tool_choice: ToolChoice,
    /// JSON Schema of a reply given as text. With `tools`, it is for endpoints that have no tools.
    pub reply_schema: Option<Value>,
    /// Longest reply in tokens.
    pub max_output_tokens: Option<u32>,
    /// Temperature.
    pub temperature: Option<f32>,
}

/// A tool as the model sees it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolSpec {
    /// Name.
    pub name: String,
    /// What it does.
    pub description: String,
    /// JSON Schema of its inputs.
    pub schema: Value,
}

/// Whether a tool must be called.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolChoice {
    /// No tool: a reply in text.
    #[default]
    None,
    /// At least one.
    Required,
}

/// One reply.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reply {
    /// Text; empty when there are only tool calls.
    #[serde(default)]
    pub text: String,
    /// Calls in the order given; at most 64 are kept.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<ToolCall>,
    /// Tokens, as the endpoint counted them or estimated as bytes/4.
    pub usage: Usage,
    /// Why the reply ends.
    pub stop: Stop,
}

/// A tool the model calls.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolCall {
    /// The tool's name as the model wrote it.
    pub name: String,
    /// Inputs as JSON text, unchecked.
    pub arguments: String,
}

/// Why a reply ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stop {
    /// The model was done.
    End,
    /// The longest reply was reached: the text or the last call's arguments may be cut.
    Length,
    /// The provider withheld it, or the model refused; the text says what was said.
    Filtered,
    /// The model calls tools.
    ToolCalls,
}

impl ModelRequest {
    /// Bytes of all that is sent, for estimates.
    pub(crate) fn n_bytes(&self) -> usize {
        let messages: usize = self.messages.iter().map(|m| m.text.len()).sum();
        let tools: usize =
            self.tools.iter().map(|t| t.name.len() + t.description.len() + t.schema.to_string().len()).sum();
        // The schema stands in for tools where those cannot be sent.
        let schema = self.reply_schema.as_ref().filter(|_| tools == 0).map_or(0, |s| s.to_string().len());
        self.system.len() + messages + tools + schema
    }
}

impl Reply {
    /// Bytes of text and calls, for estimates.
    pub(crate) fn n_bytes(&self) -> usize {
        self.text.len() + self.tool_calls.iter().map(|c| c.name.len() + c.arguments.len()).sum::<usize>()
    }
}

/// Tokens of that many bytes, by rule of thumb.
pub(crate) fn estimate(bytes: usize) -> u64 {
    bytes.div_ceil(4) as u64
}
