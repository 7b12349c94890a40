//! Runs tools natively, without a host: for the unit tests of a plugin. Absent on wasm.
//!
//! ```
//! use elysia_plugin::{json, testing, tool};
//!
//! /// Greets.
//! #[tool]
//! fn greet(name: String) -> String {
//!     format!("Hello {name}!")
//! }
//!
//! # fn main() {
//! let run = testing::run::<greet>(json!({"name": "Ada"}));
//! assert_eq!(run.text(), "Hello Ada!");
//! # }
//! ```
//!
//! A [`Scenario`] sets what the tool finds: a prompt, results of others, state, answers of servers and models. Inputs
//! are read as in a component; limits, grants and schemas are the host's and not checked here.

use std::cell::RefCell;
use std::collections::BTreeMap;

use crate::conversation::Message;
use crate::http::{self, HttpError};
use crate::log::Level;
use crate::model::{self, ModelError};
use crate::{Availability, CitedText, Descriptor, Inputs, Object, Output, Tool, ToolError, Value, json};

/// Runs a tool in an empty conversation.
pub fn run<T: Tool + Default>(inputs: Value) -> Run {
    Scenario::new().run::<T>(inputs)
}

/// What the agent is told about a tool.
pub fn describe<T: Tool + Default>() -> Descriptor {
    T::default().descriptor()
}

type Server = Box<dyn FnMut(http::Request) -> Result<http::Response, HttpError>>;
type Model = Box<dyn FnMut(model::Request) -> Result<model::Reply, ModelError>>;

/// A conversation in which tools run one after the other; results and state stay from one to the next.
#[derive(Default)]
pub struct Scenario {
    prompt: String,
    history: Vec<Message>,
    now: Option<String>,
    environment: Vec<Results>,
    state: BTreeMap<String, String>,
    server: Option<Server>,
    model: Option<Model>,
    // Of the call that is going on.
    tool: Option<String>,
    yields: Vec<Yield>,
    log: Vec<(Level, String)>,
}

/// Everything under one tool and name.
struct Results {
    tool: String,
    name: String,
    entries: Vec<(Object, Vec<Object>)>,
}

/// Something a tool yielded.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub enum Yield {
    /// Speech.
    Text(String),
    /// Speech with citations.
    CitedText {
        /// Above it.
        title: Option<String>,
        /// The paragraphs.
        paragraphs: Vec<CitedText>,
    },
    /// Objects.
    Result(YieldedResult),
    /// Progress in words.
    Status(String),
    /// Steps done and steps in all.
    Progress(u32, u32),
    /// A warning.
    Warning(String),
}

/// A result as the host got it, defaults filled in.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct YieldedResult {
    /// Subkey in the environment.
    pub name: String,
    /// The objects, each with its `_REF_ID`.
    pub objects: Vec<Object>,
    /// What they share.
    pub metadata: Object,
    /// How to show them.
    pub payload_type: String,
    /// (field of the front end, field of the objects).
    pub mapping: Vec<(String, String)>,
    /// For the agent.
    pub llm_message: Option<String>,
    /// Shown to the user.
    pub display: bool,
}

/// What a call did.
#[derive(Debug)]
pub struct Run {
    /// All yields, in order. A returned value is the last one, as the host sees it.
    pub yields: Vec<Yield>,
    /// What it returned.
    pub returned: Result<Option<Value>, ToolError>,
    /// Lines of the log.
    pub log: Vec<(Level, String)>,
}

impl Run {
    /// All speech, one line each.
    pub fn text(&self) -> String {
        let mut lines = Vec::new();
        for seen in &self.yields {
            match seen {
                Yield::Text(text) => lines.push(text.as_str()),
                Yield::CitedText { paragraphs, .. } => lines.extend(paragraphs.iter().map(|p| p.text.as_str())),
                _ => {}
            }
        }
        lines.join("\n")
    }

    /// All results.
    pub fn results(&self) -> Vec<&YieldedResult> {
        self.yields
            .iter()
            .filter_map(|seen| if let Yield::Result(result) = seen { Some(result) } else { None })
            .collect()
    }

    /// The objects of all results.
    pub fn objects(&self) -> Vec<&Object> {
        self.results().into_iter().flat_map(|result| &result.objects).collect()
    }

    /// The objects without their references, for comparing.
    pub fn values(&self) -> Vec<Value> {
        let strip = |object: &Object| {
            let mut object = object.clone();
            object.shift_remove("_REF_ID");
            Value::Object(object)
        };
        self.objects().into_iter().map(strip).collect()
    }

    /// All warnings.
    pub fn warnings(&self) -> Vec<&str> {
        self.yields
            .iter()
            .filter_map(|seen| if let Yield::Warning(text) = seen { Some(text.as_str()) } else { None })
            .collect()
    }

    /// The tool's error.
    pub fn error(&self) -> Option<&ToolError> {
        self.returned.as_ref().err()
    }
}

thread_local! {
    static CURRENT: RefCell<Scenario> = RefCell::default();
}

impl Scenario {
    /// Empty: no prompt, no history, no results, no grants.
    pub fn new() -> Scenario {
        Scenario::default()
    }

    /// The query being answered.
    #[must_use]
    pub fn prompt(mut self, prompt: impl Into<String>) -> Scenario {
        self.prompt = prompt.into();
        self
    }

    /// Something said before.
    #[must_use]
    pub fn message(mut self, message: Message) -> Scenario {
        self.history.push(message);
        self
    }

    /// What time it is, RFC 3339; `2030-01-02T03:04:05+00:00` unless said.
    #[must_use]
    pub fn now(mut self, now: impl Into<String>) -> Scenario {
        self.now = Some(now.into());
        self
    }

    /// A result of a tool that ran before.
    #[must_use]
    pub fn result(mut self, tool: &str, name: &str, objects: impl IntoIterator<Item = Object>) -> Scenario {
        self.add(tool, name, Object::new(), objects.into_iter().collect());
        self
    }

    /// A value kept by an earlier call.
    #[must_use]
    pub fn state(mut self, key: &str, value: &Value) -> Scenario {
        self.state.insert(key.to_owned(), value.to_string());
        self
    }

    /// Grants HTTP; `server` answers. Without it every request is denied.
    #[must_use]
    pub fn server(
        mut self,
        server: impl FnMut(http::Request) -> Result<http::Response, HttpError> + 'static,
    ) -> Scenario {
        self.server = Some(Box::new(server));
        self
    }

    /// Grants models; `model` answers. Without it every request is denied.
    #[must_use]
    pub fn model(
        mut self,
        model: impl FnMut(model::Request) -> Result<model::Reply, ModelError> + 'static,
    ) -> Scenario {
        self.model = Some(Box::new(model));
        self
    }

    /// Runs a tool; what it yields and keeps is there for the next one.
    pub fn run<T: Tool + Default>(&mut self, inputs: Value) -> Run {
        let tool = T::default();
        self.tool = Some(tool.descriptor().name);
        let given = inputs.clone();
        let call = || Inputs::from_json(inputs).map_err(ToolError::from).and_then(|i| tool.call(i, &mut Output::new()));
        let returned = self.entered(call);
        if let Ok(Some(value)) = &returned {
            self.yield_returned(value, &given);
        }
        self.tool = None;
        Run { yields: std::mem::take(&mut self.yields), returned, log: std::mem::take(&mut self.log) }
    }

    /// Whether a tool can be chosen now.
    pub fn available<T: Tool + Default>(&mut self) -> Availability {
        self.entered(|| T::default().available())
    }

    /// The inputs a tool runs with unchosen, if it does now.
    pub fn run_if_true<T: Tool + Default>(&mut self) -> Option<Value> {
        self.entered(|| T::default().run_if_true())
    }

    /// The value kept under a key.
    pub fn kept(&self, key: &str) -> Option<Value> {
        self.state.get(key).and_then(|text| serde_json::from_str(text).ok())
    }

    /// Runs `body` with this scenario as the thread's host.
    fn entered<T>(&mut self, body: impl FnOnce() -> T) -> T {
        let outer = CURRENT.replace(std::mem::take(self));
        let value = body();
        *self = CURRENT.replace(outer);
        value
    }

    /// A returned value as the host takes it.
    fn yield_returned(&mut self, value: &Value, inputs: &Value) {
        let wrap = |value: &Value| match value {
            Value::Object(object) => object.clone(),
            other => crate::object! { "tool_result": other },
        };
        let objects = match value {
            Value::String(text) => return self.yields.push(Yield::Text(text.clone())),
            Value::Array(items) => items.iter().map(wrap).collect(),
            other => vec![wrap(other)],
        };
        let metadata = crate::object! { "tool_name": self.tool.as_deref(), "inputs_used": inputs };
        self.add_yielded(YieldedResult {
            name: "default".to_owned(),
            objects,
            metadata,
            payload_type: "table".to_owned(),
            mapping: Vec::new(),
            llm_message: None,
            display: true,
        });
    }

    fn add_yielded(&mut self, mut result: YieldedResult) -> Vec<String> {
        let tool = self.tool.clone().unwrap_or_default();
        result.objects = self.add(&tool, &result.name, result.metadata.clone(), result.objects);
        let id = |object: &Object| object.get("_REF_ID").and_then(Value::as_str).map(str::to_owned);
        let ids = result.objects.iter().filter_map(id).collect();
        self.yields.push(Yield::Result(result));
        ids
    }

    fn add(&mut self, tool: &str, name: &str, metadata: Object, mut objects: Vec<Object>) -> Vec<Object> {
        let found = self.environment.iter().position(|results| results.tool == tool && results.name == name);
        if found.is_none() {
            self.environment.push(Results { tool: tool.to_owned(), name: name.to_owned(), entries: Vec::new() });
        }
        let at = found.unwrap_or(self.environment.len() - 1);
        if let Some(results) = self.environment.get_mut(at) {
            let k = results.entries.len();
            for (i, object) in objects.iter_mut().enumerate() {
                object.insert("_REF_ID".to_owned(), format!("{tool}_{name}_{k}_{i}").into());
            }
            if !objects.is_empty() {
                results.entries.push((metadata, objects.clone()));
            }
        }
        objects
    }

    fn entries(&self, tool: &str, name: &str) -> &[(Object, Vec<Object>)] {
        self.environment.iter().find(|r| r.tool == tool && r.name == name).map_or(&[], |r| &r.entries)
    }

    fn now_text(&self) -> String {
        self.now.clone().unwrap_or_else(|| "2030-01-02T03:04:05+00:00".to_owned())
    }

    fn find(&self, reference: &str) -> Option<&Object> {
        let mut objects = self.environment.iter().flat_map(|r| &r.entries).flat_map(|(_, objects)| objects);
        objects.find(|object| object.get("_REF_ID") == Some(&json!(reference)))
    }
}

/// What `host` offers, by way of the scenario that runs.
pub(crate) mod imports {
    use super::{CURRENT, Scenario, Yield, YieldedResult};
    use crate::conversation::Message;
    use crate::environment::Location;
    use crate::http::{self, HttpError};
    use crate::log::Level;
    use crate::model::{self, ModelError};
    use crate::{CitedText, Object, RefId, ToolResult, Value};

    pub(crate) use crate::host::RawEntry;

    fn with<T>(body: impl FnOnce(&mut Scenario) -> T) -> T {
        CURRENT.with_borrow_mut(body)
    }

    fn push(seen: Yield) {
        with(|scenario| scenario.yields.push(seen));
    }

    pub(crate) fn yield_text(text: &str) {
        push(Yield::Text(text.to_owned()));
    }

    pub(crate) fn yield_cited_text(title: Option<&str>, paragraphs: &[CitedText]) {
        push(Yield::CitedText { title: title.map(str::to_owned), paragraphs: paragraphs.to_vec() });
    }

    pub(crate) fn yield_result(result: &ToolResult) -> Vec<RefId> {
        let object = |value: &Value| value.as_object().cloned().unwrap_or_default();
        let result = YieldedResult {
            name: result.name.clone().unwrap_or_else(|| "default".to_owned()),
            objects: result.objects.iter().map(object).collect(),
            metadata: result.metadata.clone().unwrap_or_default(),
            payload_type: result.payload_type.clone().unwrap_or_else(|| "table".to_owned()),
            mapping: result.mapping.clone(),
            llm_message: result.llm_message.clone(),
            display: result.display,
        };
        with(|scenario| scenario.add_yielded(result)).into_iter().map(RefId::from).collect()
    }

    pub(crate) fn yield_status(status: &str) {
        push(Yield::Status(status.to_owned()));
    }

    pub(crate) fn yield_progress(done: u32, total: u32) {
        push(Yield::Progress(done, total));
    }

    pub(crate) fn yield_warning(warning: &str) {
        push(Yield::Warning(warning.to_owned()));
    }

    pub(crate) fn log_write(level: Level, line: &str) {
        with(|scenario| scenario.log.push((level, line.to_owned())));
    }

    pub(crate) fn environment_locations() -> Vec<Location> {
        let location = |results: &super::Results| Location {
            tool: results.tool.clone(),
            name: results.name.clone(),
            entries: u32::try_from(results.entries.len()).unwrap_or(u32::MAX),
        };
        with(|scenario| scenario.environment.iter().map(location).collect())
    }

    fn raw((metadata, objects): &(Object, Vec<Object>)) -> RawEntry {
        let text = |object: &Object| Value::Object(object.clone()).to_string();
        RawEntry { metadata: text(metadata), objects: objects.iter().map(text).collect() }
    }

    pub(crate) fn environment_get(tool: &str, name: &str, index: u32) -> Option<RawEntry> {
        with(|scenario| scenario.entries(tool, name).get(usize::try_from(index).ok()?).map(raw))
    }

    pub(crate) fn environment_latest(tool: &str, name: &str) -> Option<RawEntry> {
        with(|scenario| scenario.entries(tool, name).last().map(raw))
    }

    pub(crate) fn environment_object(reference: &str) -> Option<String> {
        with(|scenario| scenario.find(reference).map(|object| Value::Object(object.clone()).to_string()))
    }

    pub(crate) fn state_get(key: &str) -> Option<String> {
        with(|scenario| scenario.state.get(key).cloned())
    }

    pub(crate) fn state_set(key: &str, value: &str) -> Result<(), String> {
        with(|scenario| {
            if scenario.tool.is_none() {
                return Err("state can be set only inside a call".to_owned());
            }
            scenario.state.insert(key.to_owned(), value.to_owned());
            Ok(())
        })
    }

    pub(crate) fn state_remove(key: &str) {
        with(|scenario| scenario.state.remove(key));
    }

    pub(crate) fn state_keys() -> Vec<String> {
        with(|scenario| scenario.state.keys().cloned().collect())
    }

    pub(crate) fn conversation_prompt() -> String {
        with(|scenario| scenario.prompt.clone())
    }

    pub(crate) fn conversation_history() -> Vec<Message> {
        with(|scenario| scenario.history.clone())
    }

    pub(crate) fn conversation_now() -> String {
        with(|scenario| scenario.now_text())
    }

    pub(crate) fn http_fetch(request: http::Request) -> Result<http::Response, HttpError> {
        with(|scenario| match &mut scenario.server {
            Some(server) => server(request),
            None => Err(HttpError::Denied("this scenario has no server: the tool has no grant for HTTP".to_owned())),
        })
    }

    pub(crate) fn model_complete(request: model::Request) -> Result<model::Reply, ModelError> {
        with(|scenario| match &mut scenario.model {
            Some(model) => model(request),
            None => Err(ModelError::Denied("this scenario has no model: the tool has no grant for models".to_owned())),
        })
    }
}
