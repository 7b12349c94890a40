//! The data of one store, and the views on it that host functions get.

use std::sync::{Arc, Mutex};

use elysia_types::{CallEnd, Failure};
use wasmtime::component::{HasData, ResourceTable};
use wasmtime_wasi::{WasiCtx, WasiCtxView, WasiView};

use crate::clock::{Clock, Stop};
use crate::limits::{Meter, Terms};
use crate::output::{OutputView, Phase, Sink};
use crate::stdio::Ring;
use crate::view::{Context, ContextView};

/// Everything that belongs to one run of one function.
pub(crate) struct State {
    pub(crate) terms: Terms,
    pub(crate) phase: Phase,
    pub(crate) meter: Meter,
    pub(crate) sink: Sink,
    pub(crate) context: Option<Context>,
    pub(crate) clock: Clock,
    /// Set when the epoch callback interrupted the guest.
    pub(crate) stopped: Option<Stop>,
    pub(crate) wasi: WasiCtx,
    pub(crate) table: ResourceTable,
    pub(crate) stdio: Arc<Mutex<Ring>>,
}

impl State {
    pub(crate) fn output(&mut self) -> OutputView<'_> {
        let yielded = self.context.as_mut().map(|context| &mut context.yielded);
        OutputView { terms: &self.terms, phase: self.phase, meter: &mut self.meter, sink: &mut self.sink, yielded }
    }

    pub(crate) fn view(&mut self) -> ContextView<'_> {
        let context = self.context.as_mut();
        ContextView { terms: &self.terms, phase: self.phase, meter: &mut self.meter, context }
    }

    /// The end of a call: what the guest wrote to its state is kept when it returned, a tool error included.
    pub(crate) fn finish(self, outcome: Result<Option<serde_json::Value>, Failure>, returned: bool) -> CallEnd {
        let state = self.context.filter(|_| returned).and_then(Context::into_changed_state);
        CallEnd { outcome, state }
    }
}

impl WasiView for State {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView { ctx: &mut self.wasi, table: &mut self.table }
    }
}

/// Names [`OutputView`] for the linker.
pub(crate) struct HasOutput;

impl HasData for HasOutput {
    type Data<'a> = OutputView<'a>;
}

/// Names [`ContextView`] for the linker.
pub(crate) struct HasContext;

impl HasData for HasContext {
    type Data<'a> = ContextView<'a>;
}

/// Names the resource table for the linker.
pub(crate) struct HasTable;

impl HasData for HasTable {
    type Data<'a> = &'a mut ResourceTable;
}
