//! Between the crate's types and the bindings: the component's exports for any [`Plugin`], and its imports.

use crate::bindings::elysia::plugin::types;
use crate::bindings::exports::elysia::plugin::tools::Guest;
use crate::{Availability, Descriptor, Effects, Inputs, Output, Plugin, Tool, ToolError, ToolErrorKind, Value};

impl<P: Plugin> Guest for P {
    fn describe() -> Vec<types::ToolDescriptor> {
        P::tools().into_iter().map(|tool| descriptor(tool.descriptor())).collect()
    }

    fn available(names: Vec<String>) -> Vec<types::Availability> {
        let answer = |name: &String| match find::<P>(name) {
            Some(tool) => tool.available(),
            None => Availability::no(format!("this plugin has no tool `{name}`")),
        };
        names
            .iter()
            .map(answer)
            .map(|Availability { available, reason }| types::Availability { available, reason })
            .collect()
    }

    fn run_if_true(names: Vec<String>) -> Vec<Option<String>> {
        names.iter().map(|name| find::<P>(name)?.run_if_true()).map(|inputs| inputs.map(|i| i.to_string())).collect()
    }

    fn call(name: String, inputs: String) -> Result<Option<String>, types::ToolError> {
        let call = || {
            let tool =
                find::<P>(&name).ok_or_else(|| ToolError::not_found(format!("this plugin has no tool `{name}`")))?;
            // Hosts check inputs before; the parser's own words would only make every plugin larger.
            let inputs: Value =
                serde_json::from_str(&inputs).map_err(|_| ToolError::invalid_inputs("the inputs are not JSON"))?;
            tool.call(Inputs::from_json(inputs)?, &mut Output::new())
        };
        call().map(|value| value.map(|value| value.to_string())).map_err(tool_error)
    }
}

fn find<P: Plugin>(name: &str) -> Option<&'static dyn Tool> {
    P::tools().into_iter().find(|tool| tool.is_called(name))
}

fn tool_error(error: ToolError) -> types::ToolError {
    let kind = match error.kind {
        ToolErrorKind::InvalidInputs => types::ToolErrorKind::InvalidInputs,
        ToolErrorKind::NotFound => types::ToolErrorKind::NotFound,
        ToolErrorKind::Unavailable => types::ToolErrorKind::Unavailable,
        ToolErrorKind::RateLimited => types::ToolErrorKind::RateLimited,
        ToolErrorKind::Denied => types::ToolErrorKind::Denied,
        ToolErrorKind::Failed => types::ToolErrorKind::Failed,
    };
    types::ToolError { kind, feedback: error.feedback }
}

fn annotations(pairs: Vec<(String, Value)>) -> Vec<(String, String)> {
    pairs.into_iter().map(|(key, value)| (key, value.to_string())).collect()
}

fn descriptor(descriptor: Descriptor) -> types::ToolDescriptor {
    types::ToolDescriptor {
        name: descriptor.name,
        title: descriptor.title,
        description: descriptor.description,
        input_schema: descriptor.input_schema.to_string(),
        output_schema: descriptor.output_schema.map(|schema| schema.to_string()),
        examples: descriptor.examples,
        effects: match descriptor.effects {
            Effects::None => types::Effects::None,
            Effects::Reads => types::Effects::Reads,
            Effects::Writes => types::Effects::Writes,
            Effects::Destructive => types::Effects::Destructive,
        },
        idempotent: descriptor.idempotent,
        may_end: descriptor.may_end,
        status: descriptor.status,
        placement: descriptor.placement.map(|p| types::Placement { branch: p.branch, after: p.after }),
        checks_availability: descriptor.checks_availability,
        runs_unchosen: descriptor.runs_unchosen,
        annotations: annotations(descriptor.annotations),
    }
}

/// What `host` offers, by way of the component's imports.
pub(crate) mod imports {
    use crate::bindings::elysia::plugin as wit;
    use crate::conversation::{Message, Role};
    use crate::environment::Location;
    use crate::http::{self, HttpError};
    use crate::log::Level;
    use crate::model::{self, ModelError};
    use crate::{CitedText, RefId, ToolResult, Value};

    pub(crate) use crate::host::RawEntry;

    pub(crate) fn yield_text(text: &str) {
        wit::output::yield_text(text);
    }

    pub(crate) fn yield_cited_text(title: Option<&str>, paragraphs: &[CitedText]) {
        let paragraph = |paragraph: &CitedText| wit::types::CitedText {
            text: paragraph.text.clone(),
            ref_ids: paragraph.ref_ids.iter().map(ToString::to_string).collect(),
        };
        wit::output::yield_cited_text(title, &paragraphs.iter().map(paragraph).collect::<Vec<_>>());
    }

    pub(crate) fn yield_result(result: &ToolResult) -> Vec<RefId> {
        let result = wit::types::ToolResult {
            name: result.name.clone(),
            objects: result.objects.iter().map(ToString::to_string).collect(),
            metadata: result.metadata.clone().map(|metadata| Value::Object(metadata).to_string()),
            payload_type: result.payload_type.clone(),
            mapping: result.mapping.clone(),
            llm_message: result.llm_message.clone(),
            display: result.display,
            annotations: super::annotations(result.annotations.clone()),
        };
        wit::output::yield_result(&result).into_iter().map(RefId::from).collect()
    }

    pub(crate) fn yield_status(status: &str) {
        wit::output::yield_status(status);
    }

    pub(crate) fn yield_progress(done: u32, total: u32) {
        wit::output::yield_progress(done, total);
    }

    pub(crate) fn yield_warning(warning: &str) {
        wit::output::yield_warning(warning);
    }

    pub(crate) fn log_write(level: Level, line: &str) {
        let level = match level {
            Level::Error => wit::log::Level::Error,
            Level::Warn => wit::log::Level::Warn,
            Level::Info => wit::log::Level::Info,
            Level::Debug => wit::log::Level::Debug,
            Level::Trace => wit::log::Level::Trace,
        };
        wit::log::write(level, line);
    }

    pub(crate) fn environment_locations() -> Vec<Location> {
        let location = |wit::environment::Location { tool, name, entries }| Location { tool, name, entries };
        wit::environment::locations().into_iter().map(location).collect()
    }

    pub(crate) fn environment_get(tool: &str, name: &str, index: u32) -> Option<RawEntry> {
        wit::environment::get(tool, name, index).map(entry)
    }

    pub(crate) fn environment_latest(tool: &str, name: &str) -> Option<RawEntry> {
        wit::environment::latest(tool, name).map(entry)
    }

    fn entry(wit::environment::Entry { metadata, objects }: wit::environment::Entry) -> RawEntry {
        RawEntry { metadata, objects }
    }

    pub(crate) fn environment_object(reference: &str) -> Option<String> {
        wit::environment::object(reference)
    }

    pub(crate) fn state_get(key: &str) -> Option<String> {
        wit::state::get(key)
    }

    pub(crate) fn state_set(key: &str, value: &str) -> Result<(), String> {
        wit::state::set(key, value)
    }

    pub(crate) fn state_remove(key: &str) {
        wit::state::remove(key);
    }

    pub(crate) fn state_keys() -> Vec<String> {
        wit::state::keys()
    }

    pub(crate) fn conversation_prompt() -> String {
        wit::conversation::prompt()
    }

    pub(crate) fn conversation_history() -> Vec<Message> {
        let message = |message: wit::conversation::Message| Message {
            role: match message.role {
                wit::conversation::Role::User => Role::User,
                wit::conversation::Role::Assistant => Role::Assistant,
            },
            text: message.text,
        };
        wit::conversation::history().into_iter().map(message).collect()
    }

    pub(crate) fn conversation_now() -> String {
        wit::conversation::now()
    }

    pub(crate) fn http_fetch(request: http::Request) -> Result<http::Response, HttpError> {
        let http::Request { method, url, headers, body } = request;
        match wit::http::fetch(&wit::http::Request { method, url, headers, body }) {
            Ok(wit::http::Response { status, headers, body }) => Ok(http::Response { status, headers, body }),
            Err(wit::http::HttpError::Denied(why)) => Err(HttpError::Denied(why)),
            Err(wit::http::HttpError::Timeout(why)) => Err(HttpError::Timeout(why)),
            Err(wit::http::HttpError::TooLarge(why)) => Err(HttpError::TooLarge(why)),
            Err(wit::http::HttpError::Failed(why)) => Err(HttpError::Failed(why)),
        }
    }

    pub(crate) fn model_complete(request: model::Request) -> Result<model::Reply, ModelError> {
        let message = |message: Message| wit::conversation::Message {
            role: match message.role {
                Role::User => wit::conversation::Role::User,
                Role::Assistant => wit::conversation::Role::Assistant,
            },
            text: message.text,
        };
        let request = wit::model::Request {
            tier: match request.tier {
                model::Tier::Base => wit::model::Tier::Base,
                model::Tier::Complex => wit::model::Tier::Complex,
            },
            system: request.system,
            messages: request.messages.into_iter().map(message).collect(),
            output_schema: request.output_schema.map(|schema| schema.to_string()),
            max_output_tokens: request.max_output_tokens,
            temperature: request.temperature,
            annotations: super::annotations(request.annotations),
        };
        match wit::model::complete(&request) {
            Ok(wit::model::Reply { text, input_tokens, output_tokens }) => {
                Ok(model::Reply { text, input_tokens, output_tokens })
            }
            Err(wit::model::ModelError::Denied(why)) => Err(ModelError::Denied(why)),
            Err(wit::model::ModelError::OverBudget(why)) => Err(ModelError::OverBudget(why)),
            Err(wit::model::ModelError::Failed(why)) => Err(ModelError::Failed(why)),
        }
    }
}
