//! The epoch thread: the clock that cannot be starved.

use std::io;
use std::thread;
use std::time::Duration;

use wasmtime::EngineWeak;

/// How long a guest runs before it is looked at.
pub(crate) const TICK: Duration = Duration::from_millis(10);

/// Starts the thread that moves the engine's epoch on. It ends by itself once the engine is gone.
///
/// An OS thread, not a task: a guest that spins may hold every worker that could run one.
pub(crate) fn start(engine: EngineWeak) -> io::Result<()> {
    let tick = move || {
        while let Some(engine) = engine.upgrade() {
            engine.increment_epoch();
            drop(engine);
            thread::sleep(TICK);
        }
    };
    thread::Builder::new().name("elysia-epoch".to_owned()).spawn(tick).map(drop)
}
