//! Policy → what a guest finds behind WASI. The one place that opens anything for a guest.
//!
//! The context starts empty and nothing is ever inherited from the process: no arguments, no variables, no streams,
//! no addresses. Sockets are not even linked.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use wasmtime::component::Linker;
use wasmtime_wasi::cli::{WasiCli, WasiCliView};
use wasmtime_wasi::clocks::{WasiClocks, WasiClocksView};
use wasmtime_wasi::filesystem::{WasiFilesystem, WasiFilesystemView};
use wasmtime_wasi::p2::bindings::{cli, clocks, filesystem, io, random};
use wasmtime_wasi::random::{WasiRandom, WasiRandomView};
use wasmtime_wasi::{Deterministic, FsPerms, HostMonotonicClock, HostWallClock, WasiCtx, WasiCtxBuilder, WasiView};

use crate::error::SandboxError;
use crate::limits::MAX_RANDOM;
use crate::policy::Policy;
use crate::state::{HasTable, State};
use crate::stdio::{Ring, RingWriter};

/// Links WASI 0.2 one interface at a time, so that what is not named here is refused at load: sockets, above all.
///
/// `wasmtime_wasi::p2::add_to_linker_async` would link sockets as well; never use it.
pub(crate) fn link(linker: &mut Linker<State>) -> wasmtime::Result<()> {
    io::error::add_to_linker::<State, HasTable>(linker, |s| s.ctx().table)?;
    io::poll::add_to_linker::<State, HasTable>(linker, |s| s.ctx().table)?;
    io::streams::add_to_linker::<State, HasTable>(linker, |s| s.ctx().table)?;
    clocks::wall_clock::add_to_linker::<State, WasiClocks>(linker, State::clocks)?;
    clocks::monotonic_clock::add_to_linker::<State, WasiClocks>(linker, State::clocks)?;
    random::random::add_to_linker::<State, WasiRandom>(linker, State::random)?;
    random::insecure::add_to_linker::<State, WasiRandom>(linker, State::random)?;
    random::insecure_seed::add_to_linker::<State, WasiRandom>(linker, State::random)?;
    cli::environment::add_to_linker::<State, WasiCli>(linker, State::cli)?;
    cli::exit::add_to_linker::<State, WasiCli>(linker, State::cli)?;
    cli::stdin::add_to_linker::<State, WasiCli>(linker, State::cli)?;
    cli::stdout::add_to_linker::<State, WasiCli>(linker, State::cli)?;
    cli::stderr::add_to_linker::<State, WasiCli>(linker, State::cli)?;
    cli::terminal_input::add_to_linker::<State, WasiCli>(linker, State::cli)?;
    cli::terminal_output::add_to_linker::<State, WasiCli>(linker, State::cli)?;
    cli::terminal_stdin::add_to_linker::<State, WasiCli>(linker, State::cli)?;
    cli::terminal_stdout::add_to_linker::<State, WasiCli>(linker, State::cli)?;
    cli::terminal_stderr::add_to_linker::<State, WasiCli>(linker, State::cli)?;
    filesystem::types::add_to_linker::<State, WasiFilesystem>(linker, State::filesystem)?;
    filesystem::preopens::add_to_linker::<State, WasiFilesystem>(linker, State::filesystem)?;
    Ok(())
}

/// What a call finds: what `policy` grants and nothing else.
///
/// # Errors
/// [`SandboxError::Grant`] when a granted folder is not there or may not be handed out.
pub(crate) fn granted(policy: &Policy, stdio: &Arc<Mutex<Ring>>) -> Result<WasiCtx, SandboxError> {
    let mut builder = empty(stdio);
    for (name, value) in &policy.env {
        builder.env(name, value);
    }
    for grant in &policy.files {
        grant.check(&[], &[])?;
        // Since the grant was resolved, a plugin that may write above could have put a link in this folder's place.
        if grant.host.canonicalize().is_ok_and(|real| real != grant.host) {
            let reason = "another folder or a link has taken its place since it was granted".to_owned();
            return Err(SandboxError::Grant { path: grant.host.clone(), reason });
        }
        let permissions = if grant.writable { FsPerms::ReadWrite } else { FsPerms::ReadOnly };
        builder.preopened_dir(&grant.host, &grant.guest, permissions).map_err(|error| SandboxError::Grant {
            path: grant.host.clone(),
            reason: crate::error::in_one_line(&error),
        })?;
    }
    Ok(builder.build())
}

/// What `available` and `run-if-true` find: nothing, though time passes.
pub(crate) fn nothing(stdio: &Arc<Mutex<Ring>>) -> WasiCtx {
    empty(stdio).build()
}

/// What `describe` finds: nothing, and time and randomness stand still, so that descriptors cannot depend on them.
pub(crate) fn fixed(stdio: &Arc<Mutex<Ring>>) -> WasiCtx {
    let mut builder = empty(stdio);
    builder.wall_clock(FixedClock).monotonic_clock(FixedClock);
    builder.secure_random(Deterministic::new(vec![0x5a])).insecure_random(Deterministic::new(vec![0xa5]));
    builder.insecure_random_seed(0).build()
}

fn empty(stdio: &Arc<Mutex<Ring>>) -> WasiCtxBuilder {
    let mut builder = WasiCtx::builder();
    builder.stdout(RingWriter::new(stdio)).stderr(RingWriter::new(stdio));
    // Said although it is the default: the builder's documentation has it both ways.
    builder.allow_tcp(false).allow_udp(false).allow_ip_name_lookup(false);
    builder.max_random_size(MAX_RANDOM);
    builder
}

/// 2025-01-01T00:00:00Z and never a moment later.
struct FixedClock;

impl HostWallClock for FixedClock {
    fn resolution(&self) -> Duration {
        Duration::from_secs(1)
    }
    fn now(&self) -> Duration {
        Duration::from_secs(1_735_689_600)
    }
}

impl HostMonotonicClock for FixedClock {
    fn resolution(&self) -> u64 {
        1
    }
    fn now(&self) -> u64 {
        0
    }
}
