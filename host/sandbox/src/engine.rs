//! The engine: every setting with its reason, the linker, and the threads that guests run on.

use std::future::Future;
use std::num::NonZeroUsize;
use std::sync::Arc;

use elysia_types::Limits;
use tokio::runtime::{Builder, Runtime};
use tokio_util::task::AbortOnDropHandle;
use wasmtime::component::Linker;
use wasmtime::{Config, Strategy};

use crate::bindings::elysia::plugin;
use crate::cache::{Cache, CacheDirs};
use crate::compile::{self, Component};
use crate::error::{SandboxError, in_one_line};
use crate::scan;
use crate::state::{HasContext, HasOutput, State};
use crate::{ticker, wasi};

/// Compiles and runs plugins. Cheap to clone; the last clone dropped stops every guest.
#[derive(Clone)]
pub struct Engine(Arc<Inner>);

struct Inner {
    engine: wasmtime::Engine,
    linker: Linker<State>,
    cache: Option<Cache>,
    /// None only while it is being dropped.
    guests: Option<Runtime>,
}

/// How an [`Engine`] is made.
#[derive(Clone, Debug)]
pub struct EngineOptions {
    /// Where compiled code is kept; none compiles anew each time.
    pub cache: Option<CacheDirs>,
    /// Threads that run guests; at least one.
    pub guest_threads: usize,
}

impl Default for EngineOptions {
    fn default() -> Self {
        Self { cache: None, guest_threads: std::thread::available_parallelism().map_or(1, NonZeroUsize::get) }
    }
}

impl std::fmt::Debug for Engine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Engine").field("cache", &self.0.cache).finish_non_exhaustive()
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        // Dropping a runtime waits for its threads, which panics inside another runtime. Guests stop at their next
        // tick.
        if let Some(guests) = self.guests.take() {
            guests.shutdown_background();
        }
    }
}

/// Settings of the engine. Each deviates from the default or pins it for the reason beside it.
fn config() -> Config {
    let mut config = Config::new();
    // The one compiler that is fuzzed as a security boundary on all our platforms.
    config.strategy(Strategy::Cranelift);
    // Spinning guests are interrupted and take turns; fuel would cost five times as much.
    config.epoch_interruption(true);
    // Host functions get what lies between the two: overflowing that aborts the process, so the gap stays wide.
    config.max_wasm_stack(512 << 10).async_stack_size(2 << 20);
    // Defence in depth: no guest sees another's stack, should stacks ever be reused.
    config.async_stack_zeroing(true);
    // Backtraces go to the operator's detail, which is bounded.
    config.wasm_backtrace_max_frames(NonZeroUsize::new(16));
    // WASI 0.3's tables for concurrent tasks: unused, not yet covered by the engine's promises, 2–3 µs a call.
    config.concurrency_support(false);
    // Proposals that no toolchain of ours needs. What stays on (bulk memory, sign extension, multi-value, reference
    // types, SIMD) is what rustc, LLVM, Go and QuickJS emit by default.
    config.wasm_memory64(false).wasm_multi_memory(false).wasm_custom_page_sizes(false);
    config.wasm_tail_call(false).wasm_relaxed_simd(false).wasm_wide_arithmetic(false);
    config.wasm_gc(false).wasm_function_references(false).wasm_exceptions(false).wasm_stack_switching(false);
    // No threads inside a guest: its limits are those of one thread.
    config.shared_memory(false);
    // 4 GiB reserved with guard pages, before as well as behind: bounds checks cost nothing and a wrong offset faults.
    config.guard_before_linear_memory(true);
    // A sparse data segment must not become a large image on disk.
    config.memory_guaranteed_dense_image_size(16 << 20);
    config.debug_info(false);
    config
}

fn linker(engine: &wasmtime::Engine) -> wasmtime::Result<Linker<State>> {
    let mut linker = Linker::new(engine);
    plugin::types::add_to_linker::<State, HasContext>(&mut linker, State::view)?;
    plugin::output::add_to_linker::<State, HasOutput>(&mut linker, State::output)?;
    plugin::log::add_to_linker::<State, HasOutput>(&mut linker, State::output)?;
    plugin::environment::add_to_linker::<State, HasContext>(&mut linker, State::view)?;
    plugin::state::add_to_linker::<State, HasContext>(&mut linker, State::view)?;
    plugin::conversation::add_to_linker::<State, HasContext>(&mut linker, State::view)?;
    plugin::http::add_to_linker::<State, HasContext>(&mut linker, State::view)?;
    plugin::model::add_to_linker::<State, HasContext>(&mut linker, State::view)?;
    wasi::link(&mut linker)?;
    Ok(linker)
}

/// Threads for guests alone: with the server's I/O on the same ones, a few spinning guests made a good call a hundred
/// times slower.
fn guests(threads: usize) -> std::io::Result<Runtime> {
    Builder::new_multi_thread()
        .worker_threads(threads.max(1))
        .max_blocking_threads(32)
        .thread_name("elysia-guest")
        // Each poll may be a whole tick of a spinning guest. By default timers would wait for 61 of those, and new
        // calls for 31.
        .event_interval(4)
        .global_queue_interval(2)
        .enable_all()
        .build()
}

impl Engine {
    /// Starts the engine, its ticker and the guests' threads.
    ///
    /// # Errors
    /// [`SandboxError::Engine`] when the machine lacks what it needs, [`SandboxError::Cache`] when the cache cannot
    /// be used.
    pub fn new(options: EngineOptions) -> Result<Self, SandboxError> {
        let failed = |error: wasmtime::Error| SandboxError::Engine(in_one_line(&error));
        let engine = wasmtime::Engine::new(&config()).map_err(failed)?;
        let linker = linker(&engine).map_err(failed)?;
        let cache = options.cache.as_ref().map(Cache::open).transpose()?;
        let guests = guests(options.guest_threads).map_err(|e| SandboxError::Engine(e.to_string()))?;
        ticker::start(engine.weak()).map_err(|e| SandboxError::Engine(e.to_string()))?;
        Ok(Self(Arc::new(Inner { engine, linker, cache, guests: Some(guests) })))
    }

    /// The cache, if there is one.
    pub fn cache(&self) -> Option<&Cache> {
        self.0.cache.as_ref()
    }

    /// Makes a component ready to run: from the cache, else compiled and cached. Blocking, for many seconds if large.
    ///
    /// # Errors
    /// [`SandboxError`] when it is no component, of a foreign world, wants sockets, begins too large or does not
    /// compile.
    pub fn load(&self, bytes: &[u8], sha256: &[u8; 32], limits: &Limits) -> Result<Component, SandboxError> {
        let Inner { engine, linker, cache, .. } = &*self.0;
        if bytes.len() as u64 > limits.file {
            return Err(SandboxError::FileSize { limit: limits.file, observed: bytes.len() as u64 });
        }
        let outline = scan::outline(bytes)?;
        outline.check(limits.declared_memory)?;
        let key = compile::cache_key(engine, sha256);
        let cached = cache.as_ref().and_then(|cache| compile::from_cache(engine, cache, &key));
        let compiled = match cached {
            Some((compiled, _)) => compiled,
            None => {
                let cache = cache.as_ref().map(|cache| (cache, key.as_str()));
                compile::compile(engine, cache, bytes, outline.declared)?
            }
        };
        Component::link(linker, &compiled, outline.declared)
    }

    /// The component with this hash, without its bytes, when its code is in the cache. Blocking, briefly.
    pub fn load_cached(&self, sha256: &[u8; 32]) -> Option<Component> {
        let Inner { engine, linker, cache, .. } = &*self.0;
        let key = compile::cache_key(engine, sha256);
        let (compiled, declared) = compile::from_cache(engine, cache.as_ref()?, &key)?;
        Component::link(linker, &compiled, declared).ok()
    }

    /// Runs `work` on the guests' threads. None when it panicked or the engine is going away. Dropping the future
    /// stops the work at its next tick.
    pub(crate) async fn on_guest_threads<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> Option<T> {
        let task = self.0.guests.as_ref()?.spawn(work);
        AbortOnDropHandle::new(task).await.ok()
    }
}
