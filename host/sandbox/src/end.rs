//! How a run ended badly: what the clocks, the limits and the engine say, as one [`Failure`].
//!
//! The first cause counts: a clock that interrupted, then a host function that refused, then what the engine reports;
//! a trap or an exit that follows a refused growth is told as that growth.

use std::sync::PoisonError;
use std::time::Duration;

use elysia_types::{Failure, FailureCode, Limits, SizeInBytes, SpanOfTime, truncate};

use crate::clock::Stop;
use crate::error::{Ended, classify, limit_failure, raised};
use crate::limits::{Refusal, Terms};
use crate::output::Phase;
use crate::state::State;

/// Most of what a guest wrote to its standard streams that goes into the detail of a failure.
const MAX_STDIO_DETAIL: usize = 2 * 1024;

/// Logs what the guest wrote to its standard streams and gives the last of it for the detail of a failure.
pub(crate) fn told(state: &State) -> Option<String> {
    let (text, dropped) = state.stdio.lock().unwrap_or_else(PoisonError::into_inner).text()?;
    tracing::debug!(target: "elysia::guest", plugin = %state.terms.plugin, dropped, stdio = ?text);
    let skipped = truncate(&text, text.len().saturating_sub(MAX_STDIO_DETAIL)).len();
    text.get(skipped..).map(|tail| truncate(tail, MAX_STDIO_DETAIL).trim().to_owned())
}

/// Names under `limits`, and values, of the clocks that a run goes by: wall time, CPU time.
fn clocks(phase: Phase, limits: &Limits) -> [(&'static str, Duration); 2] {
    match phase {
        Phase::Describe => [("describe.wall", limits.describe_wall), ("describe.cpu", limits.describe_cpu)],
        Phase::Ask => [("ask", limits.ask), ("ask", limits.ask)],
        Phase::Starting | Phase::Call => [("wall", limits.wall), ("cpu", limits.cpu)],
    }
}

/// A run that one of the clocks ended.
pub(crate) fn stopped(state: &State, stop: Stop) -> Failure {
    let Terms { plugin, limits, .. } = &state.terms;
    let [wall, cpu] = clocks(state.phase, limits);
    let (code, what, (name, limit)) = match stop {
        Stop::Cancelled => {
            return Failure::new(FailureCode::Cancelled, format!("the call of plugin `{plugin}` was cancelled"));
        }
        Stop::Cpu => (FailureCode::Cpu, "computed for too long", cpu),
        Stop::Deadline => (FailureCode::Deadline, "did not end in time", wall),
    };
    let longer = SpanOfTime(limit.saturating_mul(2)).to_string().replace(' ', "");
    let setting = match name.split_once('.') {
        Some((table, key)) => format!("{table} = {{ {key} = \"{longer}\" }}"),
        None => format!("{name} = \"{longer}\""),
    };
    let configured = SpanOfTime(limit).to_string();
    let observed = format!("more than {configured}");
    limit_failure(plugin, code, what, (name, &setting), (configured, observed))
}

/// A run that the engine ended.
pub(crate) fn failed(state: &mut State, error: &wasmtime::Error, stdio: Option<String>) -> Failure {
    if let Some(stop) = state.stopped {
        return stopped(state, stop);
    }
    let refusal = match state.meter.take_refusal() {
        Some(refusal) if refusal.is_final() => return refusal.into_failure(&state.terms),
        other => other,
    };
    let (failure, detail) = match classify(error) {
        Ended::TooMuchData => (too_much_data(state), None),
        Ended::TooManyInstances(observed) => (too_many_instances(&state.terms, observed), None),
        Ended::Exit(status) => (exited(&state.terms, status, refusal), None),
        Ended::Trap { what, detail } => (trapped(&state.terms, &what, refusal), Some(detail)),
    };
    let stdio = stdio.filter(|text| !text.is_empty()).map(|text| format!("last output of the guest:\n{text}"));
    match [detail, stdio].into_iter().flatten().reduce(|detail, stdio| format!("{detail}\n{stdio}")) {
        Some(detail) => failure.with_detail(detail),
        None => failure,
    }
}

fn too_much_data(state: &State) -> Failure {
    let Terms { plugin, limits, .. } = &state.terms;
    let (key, limit) = match state.phase {
        Phase::Describe => ("descriptors", limits.descriptors),
        Phase::Ask | Phase::Starting | Phase::Call => ("yield", limits.yield_size),
    };
    let fuel = state.terms.hostcall_fuel() as u64;
    let setting = format!("{key} = \"{}\"", raised(fuel));
    let sizes = (SizeInBytes(limit).to_string(), format!("more than {}", SizeInBytes(fuel)));
    limit_failure(plugin, FailureCode::Output, "handed over too much at once", (key, &setting), sizes)
}

fn too_many_instances(terms: &Terms, observed: u64) -> Failure {
    let setting = format!("instances = {}", observed.checked_next_power_of_two().unwrap_or(observed));
    let counts = (terms.limits.instances.to_string(), observed.to_string());
    limit_failure(&terms.plugin, FailureCode::Instances, "has too many parts", ("instances", &setting), counts)
}

fn exited(terms: &Terms, status: i32, refusal: Option<Refusal>) -> Failure {
    match refusal.filter(|_| status != 0) {
        Some(refusal) => refusal.into_failure(terms),
        None => {
            let message = format!("plugin `{}` exited with status {status} instead of returning", terms.plugin);
            Failure::new(FailureCode::Exit, message)
        }
    }
}

fn trapped(terms: &Terms, what: &str, refusal: Option<Refusal>) -> Failure {
    match refusal {
        Some(refusal) => refusal.into_failure(terms),
        None => Failure::new(FailureCode::Trap, format!("plugin `{}` was stopped: {what}", terms.plugin))
            .with_feedback(format!("the tool broke down ({what}); other inputs may work")),
    }
}
