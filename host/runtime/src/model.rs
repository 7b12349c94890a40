//! From the configured choice to something that answers prompts.

use std::sync::Arc;
use std::time::Instant;

use elysia_decision::{ModelReply, ModelToolCall, Prompt, PromptKind};
use elysia_provider::{LanguageModel, ModelRequest, OpenAiConfig, ProviderError, ToolChoice, ToolSpec};
use elysia_types::{Failure, Message, Role};

use crate::config::ModelChoice;

/// What decides.
#[derive(Clone)]
pub(crate) enum Model {
    /// The embedded agent.
    Local,
    /// A language model behind a provider.
    Remote(Arc<dyn LanguageModel>),
}

impl Model {
    pub(crate) fn open(choice: &ModelChoice) -> Result<Self, ProviderError> {
        Ok(match choice {
            ModelChoice::Local => Self::Local,
            ModelChoice::Scripted(path) => Self::Remote(elysia_provider::scripted(path)?),
            ModelChoice::OpenAi { provider_label, base_url, model, api_key, native_tools } => {
                let mut config = OpenAiConfig::new(model.clone());
                config.label.clone_from(provider_label);
                config.base_url.clone_from(base_url);
                config.api_key.clone_from(api_key);
                config.native_tools = *native_tools;
                Self::Remote(elysia_provider::openai(config)?)
            }
        })
    }

    pub(crate) fn name(&self) -> String {
        match self {
            Self::Local => "local".to_owned(),
            Self::Remote(model) => model.name(),
        }
    }

    /// Answers one prompt. Cancel-safe: dropping the future drops the request.
    ///
    /// # Errors
    /// What failed, and the text that came before it did.
    pub(crate) async fn reply(
        &self,
        prompt: &Prompt,
        deadline: Instant,
    ) -> Result<ModelReply, (Failure, Option<String>)> {
        let model = match self {
            Self::Local => return Ok(elysia_decision::local::reply(&prompt.local)),
            Self::Remote(model) => model,
        };
        let request = request_for(prompt);
        match model.complete(&request, deadline).await {
            Ok(reply) => Ok(ModelReply {
                text: reply.text,
                tool_calls: reply
                    .tool_calls
                    .into_iter()
                    .map(|call| ModelToolCall { name: call.name, arguments: call.arguments })
                    .collect(),
                usage: reply.usage,
            }),
            Err(e) => Err((e.to_failure(), e.partial().map(str::to_owned))),
        }
    }

    /// One tiny request, to see whether the model answers.
    pub(crate) async fn check(&self, deadline: Instant) -> Result<String, Failure> {
        let Self::Remote(model) = self else { return Ok("the embedded agent needs no connection".to_owned()) };
        if self.name().starts_with("scripted") {
            return Ok("a script needs no connection".to_owned());
        }
        let request = ModelRequest {
            system: "Answer with the single word ok.".to_owned(),
            messages: vec![Message { role: Role::User, text: "Are you there?".to_owned() }],
            ..ModelRequest::default()
        };
        match model.complete(&request, deadline).await {
            Ok(reply) => Ok(format!("answered with {} tokens", reply.usage.output)),
            Err(e) => Err(e.to_failure()),
        }
    }
}

fn request_for(prompt: &Prompt) -> ModelRequest {
    let tools = prompt.tools.iter().map(|tool| ToolSpec {
        name: tool.name.clone(),
        description: tool.description.clone(),
        schema: tool.schema.as_ref().clone(),
    });
    ModelRequest {
        system: prompt.system.to_string(),
        messages: prompt.messages.clone(),
        tools: tools.collect(),
        tools_as_text: (!prompt.options.is_empty()).then(|| prompt.options.clone()),
        tool_choice: match prompt.kind {
            PromptKind::Decide => ToolChoice::Required,
            PromptKind::Answer => ToolChoice::None,
        },
        reply_schema: prompt.reply_schema.clone(),
        max_output_tokens: None,
        temperature: None,
    }
}
