//! The host's language models, as far as the operator grants them. Keys stay on the host; tokens count against the
//! query's budget.

use std::fmt;

use serde::de::DeserializeOwned;

pub use crate::conversation::Message;
use crate::{ToolError, Value, host};

/// Which of the host's models.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub enum Tier {
    /// The model that takes decisions: fast.
    #[default]
    Base,
    /// The model for hard work: slower, better.
    Complex,
}

/// What a model is asked.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Request {
    /// Which model.
    pub tier: Tier,
    /// What stands above the messages.
    pub system: Option<String>,
    /// The conversation with the model.
    pub messages: Vec<Message>,
    /// JSON Schema that the reply must satisfy; the reply text is then JSON.
    pub output_schema: Option<Value>,
    /// Bound on the reply.
    pub max_output_tokens: Option<u32>,
    /// Randomness.
    pub temperature: Option<f32>,
    /// Further facts by namespaced key.
    pub annotations: Vec<(String, Value)>,
}

impl Request {
    /// One question to the base model.
    pub fn new(prompt: impl Into<String>) -> Request {
        Request { messages: vec![Message::user(prompt)], ..Request::default() }
    }

    /// Asks the other model.
    #[must_use]
    pub fn tier(mut self, tier: Tier) -> Request {
        self.tier = tier;
        self
    }

    /// Puts instructions above the messages.
    #[must_use]
    pub fn system(mut self, system: impl Into<String>) -> Request {
        self.system = Some(system.into());
        self
    }

    /// Adds a message.
    #[must_use]
    pub fn message(mut self, message: Message) -> Request {
        self.messages.push(message);
        self
    }

    /// Wants a reply in JSON that satisfies a schema.
    #[must_use]
    pub fn output_schema(mut self, schema: Value) -> Request {
        self.output_schema = Some(schema);
        self
    }

    /// Bounds the reply.
    #[must_use]
    pub fn max_output_tokens(mut self, tokens: u32) -> Request {
        self.max_output_tokens = Some(tokens);
        self
    }

    /// Sets the randomness.
    #[must_use]
    pub fn temperature(mut self, temperature: f32) -> Request {
        self.temperature = Some(temperature);
        self
    }
}

/// What a model answered.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reply {
    /// The text; JSON if a schema was asked for.
    pub text: String,
    /// Tokens read.
    pub input_tokens: u32,
    /// Tokens written.
    pub output_tokens: u32,
}

impl Reply {
    /// The text read from JSON.
    ///
    /// # Errors
    /// When it is not the JSON of a `T`.
    pub fn json<T: DeserializeOwned>(&self) -> Result<T, ToolError> {
        serde_json::from_str(&self.text).map_err(|error| ToolError::from(error).during("reading the model's reply"))
    }
}

/// Why there is no reply.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ModelError {
    /// The plugin has no grant for models; says how the operator gives it.
    Denied(String),
    /// The query's budget is spent.
    OverBudget(String),
    /// The model refused, failed, or gave no reply that satisfies the schema.
    Failed(String),
}

impl fmt::Display for ModelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ModelError::Denied(why) | ModelError::OverBudget(why) | ModelError::Failed(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for ModelError {}

impl From<ModelError> for ToolError {
    fn from(error: ModelError) -> ToolError {
        let feedback = error.to_string();
        match error {
            ModelError::Denied(_) => ToolError::denied(feedback),
            ModelError::OverBudget(_) => ToolError::failed(feedback),
            ModelError::Failed(_) => ToolError::unavailable(feedback),
        }
    }
}

/// Asks a model and waits for the whole reply.
///
/// # Errors
/// Without a grant every call is [`ModelError::Denied`].
pub fn complete(request: Request) -> Result<Reply, ModelError> {
    host::model_complete(request)
}
