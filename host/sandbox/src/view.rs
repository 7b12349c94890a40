//! Host side of `environment`, `state`, `conversation`, and of `http` and `model` as far as they need no grant.

use std::collections::HashSet;

use elysia_types::{
    EnvironmentView, JsonPolicy, Message, PluginState, RefId, SizeInBytes, clean_line, parse_json, truncate,
};
use serde_json::Value;

use crate::bindings::elysia::plugin::{conversation, environment, http, model, state, types as wit};
use crate::convert::{self, to_text};
use crate::error::{raise_with, raised};
use crate::limits::{Meter, Refusal, Terms};
use crate::output::{Phase, misplaced};

/// What a guest may know of the conversation it works in.
#[derive(Clone, Debug)]
pub struct GuestContext {
    /// Results so far, as far as this plugin may see them.
    pub environment: EnvironmentView,
    /// The plugin's own state in this session.
    pub state: PluginState,
    /// The query being answered.
    pub prompt: String,
    /// Earlier messages, oldest first.
    pub history: Vec<Message>,
    /// RFC 3339 with offset; the same for the whole call.
    pub now: String,
}

/// The context of one store, with what the call changed.
#[derive(Debug)]
pub(crate) struct Context {
    pub(crate) given: GuestContext,
    /// Bytes of the state; counted when it is first written.
    state_bytes: Option<u64>,
    /// References of objects this call yielded.
    pub(crate) yielded: HashSet<RefId>,
}

impl Context {
    pub(crate) fn new(given: GuestContext) -> Self {
        Self { given, state_bytes: None, yielded: HashSet::new() }
    }

    /// The state, when the call wrote to it.
    pub(crate) fn into_changed_state(self) -> Option<PluginState> {
        self.state_bytes.map(|_| self.given.state)
    }
}

/// The parts of a store that the reading imports work on.
pub(crate) struct ContextView<'a> {
    pub(crate) terms: &'a Terms,
    pub(crate) phase: Phase,
    pub(crate) meter: &'a mut Meter,
    /// None in `describe`.
    pub(crate) context: Option<&'a mut Context>,
}

impl ContextView<'_> {
    fn read(&mut self, function: &str) -> wasmtime::Result<&mut Context> {
        match &mut self.context {
            Some(context) if self.phase != Phase::Describe => Ok(context),
            _ => misplaced(self.meter, self.terms, function, "outside `tools.describe`"),
        }
    }

    fn act(&mut self, function: &str) -> wasmtime::Result<&mut Context> {
        match &mut self.context {
            Some(context) if self.phase == Phase::Call => Ok(context),
            _ => misplaced(self.meter, self.terms, function, "inside `tools.call`"),
        }
    }
}

fn entry((metadata, objects): (elysia_types::Object, Vec<elysia_types::Object>)) -> environment::Entry {
    environment::Entry { metadata: to_text(&metadata), objects: objects.iter().map(to_text).collect() }
}

impl environment::Host for ContextView<'_> {
    async fn locations(&mut self) -> wasmtime::Result<Vec<environment::Location>> {
        let all = self.read("environment.locations")?.given.environment.locations();
        let each = all.into_iter().map(|l| environment::Location {
            tool: l.tool.to_string(),
            name: l.name.to_string(),
            entries: u32::try_from(l.entries).unwrap_or(u32::MAX),
        });
        Ok(each.collect())
    }

    async fn get(&mut self, tool: String, name: String, index: u32) -> wasmtime::Result<Option<environment::Entry>> {
        Ok(self.read("environment.get")?.given.environment.get(&tool, &name, index as usize).map(entry))
    }

    async fn latest(&mut self, tool: String, name: String) -> wasmtime::Result<Option<environment::Entry>> {
        Ok(self.read("environment.latest")?.given.environment.latest(&tool, &name).map(entry))
    }

    async fn object(&mut self, reference: String) -> wasmtime::Result<Option<String>> {
        let context = self.read("environment.object")?;
        Ok(context.given.environment.object(&reference, &context.yielded).as_ref().map(to_text))
    }
}

fn value_size(key: &str, value: &Value) -> u64 {
    (key.len() + to_text(value).len()) as u64
}

impl ContextView<'_> {
    /// Stores a value, or says why not. Only a refusal for size is remembered: the others are the guest's to handle.
    fn store(&mut self, key: String, text: &str) -> wasmtime::Result<Result<(), String>> {
        let (limits, phase) = (&self.terms.limits, self.phase);
        let (limit, depth) = (limits.state, limits.json_depth as usize);
        let context = self.read("state.set")?;
        if phase != Phase::Call {
            return Ok(Err("state can be set only inside `tools.call`".to_owned()));
        }
        let policy = JsonPolicy { max_bytes: usize::MAX, max_depth: depth };
        let value = match parse_json(text, policy) {
            Ok(value) => value,
            Err(error) => return Ok(Err(error.to_string())),
        };
        let all = &mut context.given.state;
        let now = context.state_bytes.unwrap_or_else(|| all.iter().map(|(key, value)| value_size(key, value)).sum());
        let old = all.get(&key).map_or(0, |old| value_size(&key, old));
        let wanted = now.saturating_sub(old).saturating_add(value_size(&key, &value));
        if wanted > limit {
            self.meter.refuse(Refusal::State(wanted));
            let (limit, wanted_size) = (SizeInBytes(limit), SizeInBytes(wanted));
            let raise = raise_with(&self.terms.plugin, &format!("state = \"{}\"", raised(wanted)));
            return Ok(Err(format!("state would take {wanted_size}, over `limits.state` of {limit}; {raise}")));
        }
        context.state_bytes = Some(wanted);
        all.insert(key, value);
        Ok(Ok(()))
    }
}

impl state::Host for ContextView<'_> {
    async fn get(&mut self, key: String) -> wasmtime::Result<Option<String>> {
        Ok(self.read("state.get")?.given.state.get(&key).map(to_text))
    }

    async fn set(&mut self, key: String, value: String) -> wasmtime::Result<Result<(), String>> {
        self.store(key, &value)
    }

    // It has no way to answer that it did nothing, so outside a call it traps rather than pretend.
    async fn remove(&mut self, key: String) -> wasmtime::Result<()> {
        let context = self.act("state.remove")?;
        let all = &mut context.given.state;
        let now = context.state_bytes.unwrap_or_else(|| all.iter().map(|(key, value)| value_size(key, value)).sum());
        if let Some(old) = all.shift_remove(&key) {
            context.state_bytes = Some(now.saturating_sub(value_size(&key, &old)));
        }
        Ok(())
    }

    async fn keys(&mut self) -> wasmtime::Result<Vec<String>> {
        Ok(self.read("state.keys")?.given.state.keys().cloned().collect())
    }
}

impl conversation::Host for ContextView<'_> {
    async fn prompt(&mut self) -> wasmtime::Result<String> {
        Ok(self.read("conversation.prompt")?.given.prompt.clone())
    }

    async fn history(&mut self) -> wasmtime::Result<Vec<conversation::Message>> {
        Ok(self.read("conversation.history")?.given.history.iter().map(convert::message).collect())
    }

    async fn now(&mut self) -> wasmtime::Result<String> {
        Ok(self.read("conversation.now")?.given.now.clone())
    }
}

/// Scheme and host of a URL as a grant names them, for the line that allows it.
fn origin(url: &str) -> String {
    let (scheme, rest) = url.split_once("://").unwrap_or(("https", url));
    let host = rest.split(['/', '?', '#', ' ']).next().unwrap_or_default();
    truncate(&clean_line(&format!("{scheme}://{}", host.rsplit('@').next().unwrap_or_default())), 200).to_owned()
}

impl http::Host for ContextView<'_> {
    async fn fetch(&mut self, request: http::Request) -> wasmtime::Result<Result<http::Response, http::HttpError>> {
        self.act("http.fetch")?;
        let (plugin, origin) = (&self.terms.plugin, origin(&request.url));
        Ok(Err(http::HttpError::Denied(format!(
            "plugin `{plugin}` has no grant for {origin}; do not retry. The operator allows it with \
             `elysia-host plugin grant {plugin} --http {origin}`"
        ))))
    }
}

impl model::Host for ContextView<'_> {
    async fn complete(&mut self, _: model::Request) -> wasmtime::Result<Result<model::Reply, model::ModelError>> {
        self.act("model.complete")?;
        let plugin = &self.terms.plugin;
        Ok(Err(model::ModelError::Denied(format!(
            "plugin `{plugin}` has no grant for models; do not retry. The operator allows it with \
             `elysia-host plugin grant {plugin} --model`"
        ))))
    }
}

impl wit::Host for ContextView<'_> {}
