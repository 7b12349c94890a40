//! One run of one function of a plugin: a fresh store, its limits, its clocks, its end.
//!
//! No guest code runs anywhere else: listing tools and asking for availability are runs with smaller limits. Nothing
//! here retries, and guest text goes no further than the operator's debug log.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use elysia_types::{
    Availability, CallEnd, Failure, FailureCode, Limits, PluginName, SizeInBytes, ToolDescriptor, ToolInputs, ToolName,
};
use serde_json::Value;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use wasmtime::component::ResourceTable;
use wasmtime::{Store, UpdateDeadline};
use wasmtime_wasi::WasiCtx;

use crate::bindings::exports::elysia::plugin::tools as export;
use crate::clock::Clock;
use crate::compile::Component;
use crate::convert;
use crate::end;
use crate::engine::Engine;
use crate::error::{limit_failure, raised};
use crate::limits::{MAX_HANDLES, Meter, Terms};
use crate::output::{Phase, Sink, Yielded};
use crate::policy::Policy;
use crate::state::State;
use crate::stdio::Ring;
use crate::view::{Context, GuestContext};
use crate::wasi;

/// One call of a tool.
#[derive(Clone, Debug)]
pub struct CallRequest {
    /// Whose tool it is.
    pub plugin: PluginName,
    /// The tool.
    pub tool: ToolName,
    /// Checked against its schema by the caller.
    pub inputs: ToolInputs,
    /// What the call may use.
    pub limits: Limits,
    /// What it may reach.
    pub policy: Policy,
    /// What it may know.
    pub context: GuestContext,
}

/// One question about several tools of a plugin.
#[derive(Clone, Debug)]
pub struct AskRequest {
    /// Whose tools they are.
    pub plugin: PluginName,
    /// What the question may use; `ask` as CPU time.
    pub limits: Limits,
    /// Shared by all plugins that are asked at once.
    pub deadline: Instant,
    /// What the plugin may know.
    pub context: GuestContext,
}

/// Which function runs, with its arguments.
enum Question {
    Describe,
    Available(Vec<String>),
    RunIfTrue(Vec<String>),
    Call { tool: ToolName, inputs: String },
}

/// What the function gave, unchecked.
enum Answer {
    Descriptors(Vec<export::ToolDescriptor>),
    Available(Vec<export::Availability>),
    Unchosen(Vec<Option<String>>),
    Returned(Result<Option<String>, export::ToolError>),
}

impl Engine {
    /// The tools of a plugin, checked against the limits on descriptors.
    ///
    /// Cancel-safe: dropping the future stops the guest.
    ///
    /// # Errors
    /// A [`Failure`] with the code of what went wrong.
    pub async fn describe(
        &self,
        component: &Component,
        plugin: &PluginName,
        limits: &Limits,
    ) -> Result<Vec<ToolDescriptor>, Failure> {
        let terms = terms(component, plugin.clone(), limits.clone());
        let clock = Clock::new(limits.describe_cpu, after(limits.describe_wall), CancellationToken::new());
        let stdio = ring(limits);
        let state = state(terms, Phase::Describe, Sink::default(), None, clock, wasi::fixed(&stdio), stdio);
        let (answer, state) = self.run(component, state, Question::Describe).await?;
        match answer {
            Answer::Descriptors(given) => convert::descriptors(&state.terms, given),
            _ => Err(mixed_up(&state.terms.plugin)),
        }
    }

    /// Which of `tools` can be chosen now; one answer each, in order.
    ///
    /// Cancel-safe: dropping the future stops the guest.
    ///
    /// # Errors
    /// A [`Failure`] with the code of what went wrong.
    pub async fn available(
        &self,
        component: &Component,
        tools: &[ToolName],
        ask: AskRequest,
    ) -> Result<Vec<Availability>, Failure> {
        let names = tools.iter().map(ToString::to_string).collect();
        let (answer, state) = self.run(component, asking(component, ask), Question::Available(names)).await?;
        match answer {
            Answer::Available(given) => convert::availabilities(&state.terms, tools.len(), given),
            _ => Err(mixed_up(&state.terms.plugin)),
        }
    }

    /// Which of `tools` run unchosen now, with their inputs; one answer each, in order.
    ///
    /// Cancel-safe: dropping the future stops the guest.
    ///
    /// # Errors
    /// A [`Failure`] with the code of what went wrong.
    pub async fn run_if_true(
        &self,
        component: &Component,
        tools: &[ToolName],
        ask: AskRequest,
    ) -> Result<Vec<Option<ToolInputs>>, Failure> {
        let names = tools.iter().map(ToString::to_string).collect();
        let (answer, state) = self.run(component, asking(component, ask), Question::RunIfTrue(names)).await?;
        match answer {
            Answer::Unchosen(given) => convert::unchosen(&state.terms, tools.len(), given),
            _ => Err(mixed_up(&state.terms.plugin)),
        }
    }

    /// Runs a tool. What it yields goes to `yields`, in order, before this returns; a full channel makes the guest
    /// wait, which counts as its time, and a closed one ends the call. State is kept when the tool returned, a tool
    /// error included.
    ///
    /// Cancel-safe: dropping the future stops the guest, as `cancel` does, within a tick.
    pub async fn call(
        &self,
        component: &Component,
        request: CallRequest,
        yields: mpsc::Sender<Yielded>,
        cancel: CancellationToken,
    ) -> CallEnd {
        let CallRequest { plugin, tool, inputs, limits, policy, context } = request;
        let failed = |failure| CallEnd { outcome: Err(failure), state: None };
        let inputs = convert::to_text(&inputs);
        if inputs.len() as u64 > limits.inputs {
            return failed(too_long_inputs(&plugin, limits.inputs, inputs.len() as u64));
        }
        let clock = Clock::new(limits.cpu, after(limits.wall), cancel);
        let stdio = ring(&limits);
        let wasi = match wasi::granted(&policy, &stdio) {
            Ok(wasi) => wasi,
            Err(error) => return failed(error.to_failure(&plugin)),
        };
        let terms = terms(component, plugin, limits);
        let context = Some(Context::new(context));
        let state = state(terms, Phase::Starting, Sink::new(yields), context, clock, wasi, stdio);
        match self.run(component, state, Question::Call { tool, inputs }).await {
            Ok((Answer::Returned(returned), state)) => ended(state, returned),
            Ok((_, state)) => failed(mixed_up(&state.terms.plugin)),
            Err(failure) => failed(failure),
        }
    }

    /// Runs one function in a fresh store on the guests' threads.
    async fn run(&self, component: &Component, state: State, question: Question) -> Result<(Answer, State), Failure> {
        let plugin = state.terms.plugin.clone();
        let component = component.clone();
        let done = self.on_guest_threads(async move {
            let mut store = store(&component, state);
            let clock = store.data().clock.clone();
            let watched = clock.watch(work(&component, &mut store, question)).await;
            let mut state = store.into_data();
            let stdio = end::told(&state);
            match watched {
                Ok(Ok(answer)) => Ok((answer, state)),
                Ok(Err(error)) => Err(end::failed(&mut state, &error, stdio)),
                Err(stop) => Err(end::stopped(&state, stop)),
            }
        });
        let gone = || Failure::new(FailureCode::Internal, format!("the host failed while plugin `{plugin}` ran"));
        done.await.unwrap_or_else(|| Err(gone()))
    }
}

async fn work(component: &Component, store: &mut Store<State>, question: Question) -> wasmtime::Result<Answer> {
    let plugin = component.pre().instantiate_async(&mut *store).await?;
    let tools = plugin.elysia_plugin_tools();
    Ok(match question {
        Question::Describe => Answer::Descriptors(tools.call_describe(store).await?),
        Question::Available(names) => Answer::Available(tools.call_available(store, &names).await?),
        Question::RunIfTrue(names) => Answer::Unchosen(tools.call_run_if_true(store, &names).await?),
        Question::Call { tool, inputs } => {
            store.data_mut().phase = Phase::Call;
            Answer::Returned(tools.call_call(store, tool.as_str(), &inputs).await?)
        }
    })
}

fn store(component: &Component, state: State) -> Store<State> {
    let fuel = state.terms.hostcall_fuel();
    let mut store = Store::new(component.pre().engine(), state);
    store.limiter(|state| &mut state.meter);
    // What the guest may hand over in one step, and hold open at once. The engine's defaults are far larger.
    store.set_hostcall_fuel(fuel);
    store.set_max_component_handles(MAX_HANDLES);
    store.set_epoch_deadline(1);
    store.epoch_deadline_callback(|mut store| {
        let state = store.data_mut();
        state.stopped = state.clock.check();
        // Yielding lets the runtime turn to its timers and to other guests.
        Ok(if state.stopped.is_some() { UpdateDeadline::Interrupt } else { UpdateDeadline::Yield(1) })
    });
    store
}

fn state(
    terms: Terms,
    phase: Phase,
    sink: Sink,
    context: Option<Context>,
    clock: Clock,
    wasi: WasiCtx,
    stdio: Arc<Mutex<Ring>>,
) -> State {
    let mut table = ResourceTable::new();
    table.set_max_capacity(MAX_HANDLES);
    let meter = Meter::new(&terms);
    State { terms, phase, meter, sink, context, clock, stopped: None, wasi, table, stdio }
}

fn terms(component: &Component, plugin: PluginName, limits: Limits) -> Terms {
    Terms { plugin, limits, declared: component.declared_memory() }
}

fn ring(limits: &Limits) -> Arc<Mutex<Ring>> {
    Arc::new(Mutex::new(Ring::new(limits.stdio)))
}

fn after(wall: Duration) -> Instant {
    let now = Instant::now();
    // A limit too large for the clock is none.
    now.checked_add(wall).unwrap_or_else(|| now + Duration::from_secs(u64::from(u32::MAX)))
}

fn asking(component: &Component, ask: AskRequest) -> State {
    let AskRequest { plugin, limits, deadline, context } = ask;
    let clock = Clock::new(limits.ask, deadline, CancellationToken::new());
    let stdio = ring(&limits);
    let wasi = wasi::nothing(&stdio);
    let terms = terms(component, plugin, limits);
    state(terms, Phase::Ask, Sink::default(), Some(Context::new(context)), clock, wasi, stdio)
}

/// The end of a call whose tool returned.
fn ended(mut state: State, returned: Result<Option<String>, export::ToolError>) -> CallEnd {
    match returned {
        Err(error) => {
            let failure = convert::tool_error(&state.terms, &error);
            state.finish(Err(failure), true)
        }
        Ok(None) => state.finish(Ok(None), true),
        Ok(Some(text)) => match last_yield(&mut state, &text) {
            Ok(value) => state.finish(Ok(Some(value)), true),
            Err(failure) => state.finish(Err(failure), false),
        },
    }
}

/// The returned value counts as a last yield, with the limits of one.
fn last_yield(state: &mut State, text: &str) -> Result<Value, Failure> {
    state.sink.charge(&state.terms, text.len())?;
    convert::json(&state.terms, "returned value", text, state.terms.limits.yield_size)
}

fn too_long_inputs(plugin: &PluginName, limit: u64, observed: u64) -> Failure {
    let setting = format!("inputs = \"{}\"", raised(observed));
    let sizes = (SizeInBytes(limit).to_string(), SizeInBytes(observed).to_string());
    limit_failure(plugin, FailureCode::InvalidInputs, "was given too long inputs", ("inputs", &setting), sizes)
}

fn mixed_up(plugin: &PluginName) -> Failure {
    Failure::new(FailureCode::Internal, format!("the host mixed up answers of plugin `{plugin}`"))
}
