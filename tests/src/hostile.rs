//! Guests that lie, spin, flood, trap and grow: each file of `cases/hostile` says its limits and its verdict.
//!
//! Causes are compared, never times. What needs a consumer that misbehaves as well is in [`behaviour`].

use std::path::Path;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use elysia_sandbox::{AskRequest, CallRequest, Engine, EngineOptions, GuestContext, Policy, SandboxError, Yielded};
use elysia_types::{
    Availability, CallEnd, Environment, Failure, LimitSettings, Limits, Object, PluginState, REF_ID_KEY,
    SharedEnvironment, ToolDescriptor, Yield,
};
use libtest_mimic::Trial;
use serde::Deserialize;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::{cases, guests};

pub mod behaviour;

/// The `;;!` lines of a case.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    /// `load`, `describe`, `available`, `run-if-true` or `call`.
    #[serde(default = "call")]
    run: String,
    #[serde(default)]
    limits: LimitSettings,
    /// Inputs of the call.
    #[serde(default)]
    inputs: Option<String>,
    /// State before the call.
    #[serde(default)]
    state: Option<String>,
    /// Expected code, or `ok`.
    code: String,
    /// Expected name of the limit that was met.
    #[serde(default)]
    limit: Option<String>,
    /// Expected in the message.
    #[serde(default)]
    message: Vec<String>,
    /// Expected bytes of the feedback.
    #[serde(default)]
    feedback_bytes: Option<usize>,
    /// Expected yields, each in a few words.
    #[serde(default)]
    yields: Option<Vec<String>>,
    /// Expected number of yields.
    #[serde(default)]
    n_yields: Option<usize>,
    /// Expected returned value, as JSON; or what was described or answered, in short.
    #[serde(default)]
    value: Option<String>,
    /// Expected state afterwards, as JSON; `unchanged` when none is given back.
    #[serde(default)]
    state_after: Option<String>,
}

fn call() -> String {
    "call".to_owned()
}

/// The trials of this module.
pub fn trials() -> Vec<Trial> {
    let mut trials = cases::per_file("hostile", "wat", case);
    trials.extend(behaviour::trials());
    trials
}

/// One engine for all: making one costs more than most cases.
pub fn engine() -> &'static Engine {
    static ENGINE: OnceLock<Engine> = OnceLock::new();
    ENGINE.get_or_init(|| Engine::new(EngineOptions::default()).expect("an engine"))
}

/// Runs `future` to its end.
pub fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime").block_on(future)
}

/// Loads without a cache.
pub fn load(bytes: &[u8]) -> Result<elysia_sandbox::Component, SandboxError> {
    engine().load(bytes, &[0; 32], &Limits::default())
}

/// The context of an empty session.
pub fn context() -> GuestContext {
    GuestContext {
        environment: SharedEnvironment::new(Environment::default()).view(None),
        state: PluginState::new(),
        prompt: "what is it?".to_owned(),
        history: Vec::new(),
        now: "2026-01-02T03:04:05+01:00".to_owned(),
    }
}

/// A call of `tool` of plugin `under-test`.
pub fn request(tool: &str, inputs: &str, limits: Limits) -> CallRequest {
    CallRequest {
        plugin: "under-test".parse().expect("a name"),
        tool: tool.parse().expect("a name"),
        inputs: serde_json::from_str(inputs).expect("inputs"),
        limits,
        policy: Policy::default(),
        context: context(),
    }
}

/// What a call gave.
#[derive(Debug)]
pub struct Ran {
    pub end: CallEnd,
    pub yields: Vec<Yield>,
}

/// Runs a call with a consumer that takes everything at once and adds results to an environment.
pub async fn run(component: &elysia_sandbox::Component, mut request: CallRequest) -> Ran {
    let shared = SharedEnvironment::new(Environment::default());
    request.context.environment = shared.view(None);
    let tool = request.tool.clone();
    let (sender, mut receiver) = mpsc::channel::<Yielded>(8);
    let consume = async {
        let mut yields = Vec::new();
        while let Some(Yielded { item, answer }) = receiver.recv().await {
            if let (Some(answer), Yield::Result(result)) = (answer, &item) {
                let name = result.name.clone().unwrap_or_else(|| "default".parse().expect("a name"));
                let (metadata, objects) = (result.metadata.clone(), result.objects.clone());
                let added = shared.write(|e| e.add(&tool, &name, metadata, objects, 0, u64::MAX));
                let _ = answer.send(Ok(added.expect("room").refs));
            }
            yields.push(item);
        }
        yields
    };
    let run = engine().call(component, request, sender, CancellationToken::new());
    let (end, yields) = tokio::join!(run, consume);
    Ran { end, yields }
}

/// A yield in a few words.
pub fn short(item: &Yield) -> String {
    match item {
        Yield::Text(text) => format!("text {text}"),
        Yield::CitedText { paragraphs, .. } => {
            format!("cited {}", paragraphs.iter().map(|p| format!("{} {:?}", p.text, p.ref_ids)).collect::<String>())
        }
        Yield::Result(result) => {
            let name = result.name.as_ref().map_or("default", |name| name.as_str());
            format!("result {name} {}", serde_json::to_string(&result.objects).expect("JSON"))
        }
        Yield::Status(text) => format!("status {text}"),
        Yield::Progress { done, total } => format!("progress {done}/{total}"),
        Yield::Warning(text) => format!("warning {text}"),
    }
}

fn header(text: &str) -> Result<Header, String> {
    let lines: Vec<_> = text.lines().filter_map(|line| line.strip_prefix(";;!")).collect();
    toml::from_str(&lines.join("\n")).map_err(|e| e.to_string())
}

fn case(path: &Path) -> Result<(), String> {
    let text = std::fs::read_to_string(path).map_err(|e| e.to_string())?;
    let header = header(&text)?;
    let limits = Limits::default().with(&header.limits);
    let bytes = guests::component_from_wat(&text);
    let component = match engine().load(&bytes, &[0; 32], &limits) {
        Ok(component) => component,
        Err(error) => {
            return verdict(&header, Err(error.to_failure(&"under-test".parse().expect("a name"))))
                .map_err(|why| format!("{why}\n{error:?}"));
        }
    };
    block_on(async {
        match header.run.as_str() {
            "load" => verdict(&header, Ok(String::new())),
            "call" => called(&header, &component, limits).await,
            _ => asked(&header, &component, limits).await,
        }
    })
}

async fn asked(header: &Header, component: &elysia_sandbox::Component, limits: Limits) -> Result<(), String> {
    let plugin = "under-test".parse().expect("a name");
    let tools = ["guest".parse().expect("a name")];
    let deadline = Instant::now() + limits.ask;
    let ask = AskRequest { plugin, limits, deadline, context: context() };
    let answer = match header.run.as_str() {
        "describe" => engine().describe(component, &ask.plugin, &ask.limits).await.map(|all| described(&all)),
        "available" => engine().available(component, &tools, ask).await.map(|all| answered(&all)),
        "run-if-true" => {
            engine().run_if_true(component, &tools, ask).await.map(|all| serde_json::to_string(&all).expect("JSON"))
        }
        other => return Err(format!("`run = {other}` is not known")),
    };
    verdict(header, answer)
}

fn described(tools: &[ToolDescriptor]) -> String {
    tools.iter().map(|tool| format!("{} {}", tool.name, tool.input_schema)).collect::<Vec<_>>().join(" | ")
}

fn answered(answers: &[Availability]) -> String {
    let reason = |a: &Availability| a.reason.clone().unwrap_or_default();
    answers.iter().map(|a| format!("{} {}", a.available, reason(a)).trim().to_owned()).collect::<Vec<_>>().join(" | ")
}

async fn called(header: &Header, component: &elysia_sandbox::Component, limits: Limits) -> Result<(), String> {
    let mut request = request("guest", header.inputs.as_deref().unwrap_or("{}"), limits);
    if let Some(state) = &header.state {
        request.context.state = serde_json::from_str(state).map_err(|e| e.to_string())?;
    }
    let Ran { end, yields } = run(component, request).await;
    let value =
        |value: &Option<serde_json::Value>| value.as_ref().map_or_else(|| "none".to_owned(), ToString::to_string);
    verdict(header, end.outcome.clone().map(|v| value(&v)))?;
    let words: Vec<_> = yields.iter().map(short).collect();
    if let Some(expected) = &header.yields
        && *expected != words
    {
        return Err(format!("yields: want {expected:#?}, got {words:#?}"));
    }
    if let Some(expected) = header.n_yields
        && expected != yields.len()
    {
        return Err(format!("yields: want {expected}, got {}", yields.len()));
    }
    let state = end.state.as_ref().map_or_else(|| "unchanged".to_owned(), |s| serde_json::to_string(s).expect("JSON"));
    match &header.state_after {
        Some(expected) if *expected != state => Err(format!("state: want {expected}, got {state}")),
        _ => Ok(()),
    }
}

fn verdict(header: &Header, outcome: Result<String, Failure>) -> Result<(), String> {
    let complain = |what: &str| Err(format!("{what}; it ended with {outcome:#?}"));
    let failure = match (&outcome, header.code.as_str()) {
        (Ok(value), "ok") => {
            return match &header.value {
                Some(expected) if expected != value => complain(&format!("want value {expected}")),
                _ => Ok(()),
            };
        }
        (Err(failure), code) if failure.code.as_str() == code => failure,
        _ => return complain(&format!("want code `{}`", header.code)),
    };
    let limit = failure.limit.as_ref().map(|limit| limit.name.clone());
    if limit != header.limit {
        return complain(&format!("want limit {:?}", header.limit));
    }
    if let Some(limit) = &failure.limit {
        for part in [&limit.name, &limit.configured, &limit.observed] {
            // A refusal at load is told with the plugin's name by whoever loads.
            if header.run != "load" && !failure.message.contains(part.as_str()) {
                return complain(&format!("the message does not name {part}"));
            }
        }
        if limit.raise_with.is_empty() {
            return complain("nothing says how to raise the limit");
        }
    }
    let own_words = ["invalid_inputs", "not_found", "unavailable", "rate_limited", "denied", "failed"]
        .contains(&header.code.as_str());
    if !failure.message.contains("under-test") && !own_words {
        return complain("the message does not name the plugin");
    }
    if let Some(missing) = header.message.iter().find(|part| !failure.message.contains(part.as_str())) {
        return complain(&format!("the message lacks `{missing}`"));
    }
    match header.feedback_bytes {
        Some(n) if n != failure.feedback.len() => complain(&format!("feedback has {} bytes", failure.feedback.len())),
        _ => Ok(()),
    }
}

/// An object without its reference.
pub fn bare(object: &Object) -> Object {
    let mut object = object.clone();
    object.shift_remove(REF_ID_KEY);
    object
}

/// A limit on wall time long enough to be never met by accident.
pub const LONG: Duration = Duration::from_secs(20);
