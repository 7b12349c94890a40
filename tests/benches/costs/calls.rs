//! What does a fresh call of a tool cost through the sandbox, over the same work through bare wasmtime?
//!
//! Bare means: the same engine settings, the same component, linked ahead, one new store per call, the same yields taken.
//! It has no limits beyond the engine's, no clocks, no snapshot, no channel, no cleaning and no second thread: those are
//! what the difference buys.

use std::num::NonZeroUsize;
use std::path::Path;
use std::time::{Duration, Instant};

use elysia_sandbox::{CallRequest, Engine, EngineOptions, GuestContext, Policy, Yielded};
use elysia_types::{Limits, SharedEnvironment, Yield};
use serde_json::json;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use wasmtime::component::{Component, HasSelf, Linker, ResourceTable};
use wasmtime::{Config, Store, Strategy, UpdateDeadline};
use wasmtime_wasi::{WasiCtx, WasiCtxView, WasiView};

use crate::measure::{Cost, paired};

mod bindings {
    //! The baseline's own bindings: those of the sandbox are its secret.
    wasmtime::component::bindgen!({
        path: "../wit",
        world: "plugin",
        imports: { default: async | trappable },
        exports: { default: async },
    });
}

use bindings::elysia::plugin::{output, types};
use bindings::{Plugin, PluginPre};

const TOOL: &str = "calculate_two_numbers";
const INPUTS: &str = r#"{"x":12,"y":30}"#;
const ROUNDS: u32 = 400;
const BATCH: u32 = 10;

/// The host's cost and bare wasmtime's, of one fresh call each.
pub(crate) fn measure() -> (Cost, Cost) {
    let bytes = plugin();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let ours = Ours::new(&bytes);
    let bare = Baseline::new(&bytes);
    assert_eq!(runtime.block_on(ours.call()), 1, "the host's call yields one result");
    assert_eq!(runtime.block_on(bare.call()), 1, "so does the baseline's");
    let one = |results: usize| assert_eq!(results, 1);
    paired(ROUNDS, BATCH, || one(runtime.block_on(ours.call())), || one(runtime.block_on(bare.call())))
}

fn plugin() -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../plugins/calculate.wasm");
    std::fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}; run `cargo xtask guests`", path.display()))
}

/// A small plugin with one tool of this name, without a guest toolchain.
pub(crate) fn generated(tool: &str) -> Vec<u8> {
    elysia_tests::guests::generated_plugin(tool, &format!("Looks things up in {tool}"))
}

struct Ours {
    engine: Engine,
    component: elysia_sandbox::Component,
}

impl Ours {
    fn new(bytes: &[u8]) -> Self {
        let engine = Engine::new(EngineOptions::default()).unwrap();
        let component = engine.load(bytes, &[0; 32], &Limits::default()).unwrap();
        Self { engine, component }
    }

    async fn call(&self) -> usize {
        let (sender, mut receiver) = mpsc::channel::<Yielded>(16);
        let request = CallRequest {
            plugin: "calculate".parse().unwrap(),
            tool: TOOL.parse().unwrap(),
            inputs: serde_json::from_str(INPUTS).unwrap(),
            limits: Limits::default(),
            policy: Policy::default(),
            context: GuestContext {
                environment: SharedEnvironment::default().view(None),
                state: Default::default(),
                prompt: String::from("add 12 and 30"),
                history: Vec::new(),
                now: String::from("2026-01-01T12:00:00+01:00"),
            },
        };
        let call = self.engine.call(&self.component, request, sender, CancellationToken::new());
        let reading = async {
            let mut results = 0;
            while let Some(Yielded { item, answer }) = receiver.recv().await {
                results += usize::from(matches!(item, Yield::Result(_)));
                if let Some(answer) = answer {
                    answer.send(Ok(vec!["calculate_two_numbers_default_0_0".parse().unwrap()])).unwrap();
                }
            }
            results
        };
        let (end, results) = tokio::join!(call, reading);
        end.outcome.unwrap();
        results
    }
}

struct Baseline {
    pre: PluginPre<Bare>,
}

/// The data of a bare store.
struct Bare {
    wasi: WasiCtx,
    table: ResourceTable,
    results: usize,
}

impl WasiView for Bare {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView { ctx: &mut self.wasi, table: &mut self.table }
    }
}

impl types::Host for Bare {}

impl output::Host for Bare {
    async fn yield_text(&mut self, _: String) -> wasmtime::Result<()> {
        Ok(())
    }
    async fn yield_cited_text(&mut self, _: Option<String>, _: Vec<types::CitedText>) -> wasmtime::Result<()> {
        Ok(())
    }
    async fn yield_result(&mut self, _: types::ToolResult) -> wasmtime::Result<Vec<String>> {
        self.results += 1;
        Ok(vec![String::from("calculate_two_numbers_default_0_0")])
    }
    async fn yield_status(&mut self, _: String) -> wasmtime::Result<()> {
        Ok(())
    }
    async fn yield_progress(&mut self, _: u32, _: u32) -> wasmtime::Result<()> {
        Ok(())
    }
    async fn yield_warning(&mut self, _: String) -> wasmtime::Result<()> {
        Ok(())
    }
}

impl Baseline {
    fn new(bytes: &[u8]) -> Self {
        let engine = wasmtime::Engine::new(&same_settings()).unwrap();
        let ticker = engine.weak();
        std::thread::spawn(move || {
            while let Some(engine) = ticker.upgrade() {
                engine.increment_epoch();
                drop(engine);
                std::thread::sleep(Duration::from_millis(10));
            }
        });
        let component = Component::new(&engine, bytes).unwrap();
        let mut linker = Linker::<Bare>::new(&engine);
        types::add_to_linker::<_, HasSelf<Bare>>(&mut linker, |bare| bare).unwrap();
        output::add_to_linker::<_, HasSelf<Bare>>(&mut linker, |bare| bare).unwrap();
        wasmtime_wasi::p2::add_to_linker_async(&mut linker).unwrap();
        Self { pre: PluginPre::new(linker.instantiate_pre(&component).unwrap()).unwrap() }
    }

    async fn call(&self) -> usize {
        let bare = Bare { wasi: WasiCtx::builder().build(), table: ResourceTable::new(), results: 0 };
        let mut store = Store::new(self.pre.engine(), bare);
        let deadline = Instant::now() + Duration::from_secs(30);
        store.set_epoch_deadline(1);
        store.epoch_deadline_callback(move |_| {
            Ok(if Instant::now() < deadline { UpdateDeadline::Yield(1) } else { UpdateDeadline::Interrupt })
        });
        let plugin: Plugin = self.pre.instantiate_async(&mut store).await.unwrap();
        let returned =
            plugin.elysia_plugin_tools().call_call(&mut store, TOOL, &String::from(INPUTS)).await.unwrap().unwrap();
        // Read, as the host does.
        let read = returned.map(|text| serde_json::from_str::<serde_json::Value>(&text).unwrap());
        assert_ne!(read, Some(json!(null)));
        store.data().results
    }
}

/// Those of the sandbox that cost or save time.
fn same_settings() -> Config {
    let mut config = Config::new();
    config.strategy(Strategy::Cranelift).epoch_interruption(true);
    config.max_wasm_stack(512 << 10).async_stack_size(2 << 20).async_stack_zeroing(true);
    config.wasm_backtrace_max_frames(NonZeroUsize::new(16));
    config.concurrency_support(false);
    config.wasm_memory64(false).wasm_multi_memory(false).shared_memory(false);
    config.guard_before_linear_memory(true).memory_guaranteed_dense_image_size(16 << 20);
    config.debug_info(false);
    config
}
