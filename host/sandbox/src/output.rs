//! Host side of `output` and `log`: limits on what a call says, and the wait for whoever listens.
//!
//! A refused yield always ends the call, whatever the guest would do next: it traps, with the reason kept.

use std::collections::HashSet;

use elysia_types::{Failure, FailureCode, RefId, SizeInBytes, Yield, clean, clean_line, truncate};
use tokio::sync::{mpsc, oneshot};

use crate::bindings::elysia::plugin::{log, output, types as wit};
use crate::convert;
use crate::error::{limit_failure, raised};
use crate::limits::{Meter, Refusal, Terms};

/// One item on its way from a guest to whoever runs the call.
#[derive(Debug)]
pub struct Yielded {
    /// The item.
    pub item: Yield,
    /// Only for results: the references given to the objects, or why the result was refused, which ends the call.
    /// The guest waits for it; dropping it cancels the call.
    pub answer: Option<oneshot::Sender<Result<Vec<RefId>, Failure>>>,
}

/// What a store is for: decides which imports may be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// `describe`: nothing but `log`.
    Describe,
    /// `available` and `run-if-true`: reading.
    Ask,
    /// Instantiating for a call: reading, too.
    Starting,
    /// Inside `tools.call`: everything.
    Call,
}

/// What a call has said so far, and where it goes.
#[derive(Debug, Default)]
pub(crate) struct Sink {
    /// Bounded by the caller. When it is full the guest waits, until its deadline.
    yields: Option<mpsc::Sender<Yielded>>,
    events: u32,
    bytes: u64,
    logged: u64,
}

impl Sink {
    pub(crate) fn new(yields: mpsc::Sender<Yielded>) -> Self {
        Self { yields: Some(yields), ..Self::default() }
    }

    /// Counts one yield of `size` bytes.
    pub(crate) fn charge(&mut self, terms: &Terms, size: usize) -> Result<(), Failure> {
        let Terms { plugin, limits, .. } = terms;
        let size = size as u64;
        let over = |what: &str, key: &str, limit: u64, observed: u64| {
            let setting = format!("{key} = \"{}\"", raised(observed));
            let sizes = (SizeInBytes(limit).to_string(), SizeInBytes(observed).to_string());
            Err(limit_failure(plugin, FailureCode::Output, what, (key, &setting), sizes))
        };
        self.events = self.events.saturating_add(1);
        if self.events > limits.events {
            let setting = format!("events = {}", u64::from(limits.events).saturating_mul(2));
            let counts = (limits.events.to_string(), self.events.to_string());
            return Err(limit_failure(plugin, FailureCode::Events, "yielded too often", ("events", &setting), counts));
        }
        if size > limits.yield_size {
            return over("yielded too much at once", "yield", limits.yield_size, size);
        }
        self.bytes = self.bytes.saturating_add(size);
        if self.bytes > limits.output {
            return over("yielded too much in one call", "output", limits.output, self.bytes);
        }
        Ok(())
    }
}

/// A host function refused to go on; the reason is in the [`Meter`].
#[derive(Debug, thiserror::Error)]
#[error("the host ended the call")]
struct Refused;

/// Ends the call with `failure`.
pub(crate) fn end<T>(meter: &mut Meter, failure: Failure) -> wasmtime::Result<T> {
    meter.refuse(Refusal::Final(Box::new(failure)));
    Err(wasmtime::Error::new(Refused))
}

/// Ends the call because `function` may not be used now.
pub(crate) fn misplaced<T>(meter: &mut Meter, terms: &Terms, function: &str, where_: &str) -> wasmtime::Result<T> {
    let message = format!("plugin `{}` used `{function}`, which works only {where_}", terms.plugin);
    end(meter, Failure::new(FailureCode::Trap, message))
}

/// The parts of a store that `output` and `log` work on.
pub(crate) struct OutputView<'a> {
    pub(crate) terms: &'a Terms,
    pub(crate) phase: Phase,
    pub(crate) meter: &'a mut Meter,
    pub(crate) sink: &'a mut Sink,
    /// References of what this call yielded; none in `describe`, where nothing can be.
    pub(crate) yielded: Option<&'a mut HashSet<RefId>>,
}

impl OutputView<'_> {
    fn admit(&mut self, function: &str, size: usize) -> wasmtime::Result<()> {
        if self.phase != Phase::Call {
            return misplaced(self.meter, self.terms, function, "inside `tools.call`");
        }
        match self.sink.charge(self.terms, size) {
            Ok(()) => Ok(()),
            Err(failure) => end(self.meter, failure),
        }
    }

    fn admit_line(&mut self, function: &str, text: &str) -> wasmtime::Result<()> {
        self.admit(function, text.len())?;
        let (limit, observed) = (self.terms.limits.status, text.len() as u64);
        if observed <= limit {
            return Ok(());
        }
        let setting = format!("status = \"{}\"", raised(observed));
        let sizes = (SizeInBytes(limit).to_string(), SizeInBytes(observed).to_string());
        let what = "gave a status or warning that is too long";
        end(self.meter, limit_failure(&self.terms.plugin, FailureCode::Output, what, ("status", &setting), sizes))
    }

    async fn send(&mut self, yielded: Yielded) -> wasmtime::Result<()> {
        let sent = match &self.sink.yields {
            Some(yields) => yields.send(yielded).await.is_ok(),
            None => false,
        };
        if sent { Ok(()) } else { self.deserted() }
    }

    fn deserted<T>(&mut self) -> wasmtime::Result<T> {
        let message = format!("the call of plugin `{}` was given up: nobody takes what it yields", self.terms.plugin);
        end(self.meter, Failure::new(FailureCode::Cancelled, message))
    }
}

impl output::Host for OutputView<'_> {
    async fn yield_text(&mut self, text: String) -> wasmtime::Result<()> {
        self.admit("yield-text", text.len())?;
        self.send(Yielded { item: Yield::Text(clean(&text).into_owned()), answer: None }).await
    }

    async fn yield_cited_text(&mut self, title: Option<String>, given: Vec<wit::CitedText>) -> wasmtime::Result<()> {
        let references = |p: &wit::CitedText| p.ref_ids.iter().map(String::len).sum::<usize>();
        let text = given.iter().map(|p| p.text.len() + references(p)).sum::<usize>();
        self.admit("yield-cited-text", text + title.as_ref().map_or(0, String::len))?;
        let title = title.map(|text| clean_line(&text));
        let item = Yield::CitedText { title, paragraphs: convert::paragraphs(given) };
        self.send(Yielded { item, answer: None }).await
    }

    async fn yield_result(&mut self, given: wit::ToolResult) -> wasmtime::Result<Vec<String>> {
        self.admit("yield-result", convert::result_size(&given))?;
        let result = match convert::result(self.terms, given) {
            Ok(result) => result,
            Err(failure) => return end(self.meter, failure),
        };
        let (answer, answered) = oneshot::channel();
        self.send(Yielded { item: Yield::Result(result), answer: Some(answer) }).await?;
        match answered.await {
            Ok(Ok(refs)) => {
                let texts = refs.iter().map(ToString::to_string).collect();
                if let Some(yielded) = &mut self.yielded {
                    yielded.extend(refs);
                }
                Ok(texts)
            }
            Ok(Err(failure)) => end(self.meter, failure),
            Err(_) => self.deserted(),
        }
    }

    async fn yield_status(&mut self, status: String) -> wasmtime::Result<()> {
        self.admit_line("yield-status", &status)?;
        self.send(Yielded { item: Yield::Status(clean_line(&status)), answer: None }).await
    }

    async fn yield_progress(&mut self, done: u32, total: u32) -> wasmtime::Result<()> {
        self.admit("yield-progress", 0)?;
        self.send(Yielded { item: Yield::Progress { done, total }, answer: None }).await
    }

    async fn yield_warning(&mut self, warning: String) -> wasmtime::Result<()> {
        self.admit_line("yield-warning", &warning)?;
        self.send(Yielded { item: Yield::Warning(clean(&warning).into_owned()), answer: None }).await
    }
}

impl log::Host for OutputView<'_> {
    async fn write(&mut self, level: log::Level, text: String) -> wasmtime::Result<()> {
        let left = self.terms.limits.stdio.saturating_sub(self.sink.logged);
        self.sink.logged = self.sink.logged.saturating_add(text.len() as u64);
        if left > 0 {
            let text = clean_line(truncate(&text, usize::try_from(left).unwrap_or(usize::MAX)));
            tracing::debug!(target: "elysia::guest", plugin = %self.terms.plugin, ?level, ?text);
        }
        Ok(())
    }
}
