//! What one store may take: memory, tables and instances summed over all of it, and the memory of what was refused.
//!
//! A refusal is kept because guests seldom survive one: the trap that follows is then told as the limit it is.

use elysia_types::{Failure, FailureCode, Limits, PluginName, SizeInBytes};
use wasmtime::ResourceLimiter;

use crate::error::{limit_failure, raised};

/// Component handles of a store, and entries of its resource table. A guest that opens more leaks them.
pub(crate) const MAX_HANDLES: usize = 1024;
/// Largest request for random bytes.
pub(crate) const MAX_RANDOM: u64 = 64 * 1024;
/// Host calls carry more than yields: headers, lists, writes to streams.
const HOSTCALL_FLOOR: u64 = 1024 * 1024;
const HOSTCALL_SLACK: u64 = 64 * 1024;
/// The engine charges a list of strings 24 bytes an item besides the text, so that a yield of very many small objects
/// costs several times its size.
const HOSTCALL_FACTOR: u64 = 5;

/// Whose store it is and what it may use.
#[derive(Debug)]
pub(crate) struct Terms {
    pub(crate) plugin: PluginName,
    pub(crate) limits: Limits,
    /// Sum of the memories' declared minimum, in bytes.
    pub(crate) declared: u64,
}

impl Terms {
    /// Most bytes that one host call may copy out of the guest: enough for the largest yield allowed, so that one
    /// just under its limit never fails here, and one over it is refused by size with the size known.
    pub(crate) fn hostcall_fuel(&self) -> usize {
        let yields = self.limits.yield_size.saturating_mul(HOSTCALL_FACTOR);
        let most = yields.max(self.limits.state).max(self.limits.descriptors).max(HOSTCALL_FLOOR);
        usize::try_from(most.saturating_add(HOSTCALL_SLACK)).unwrap_or(usize::MAX)
    }
}

/// Something the guest asked for and did not get.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// Bytes of memory it would have had, above the declared minimum.
    Memory(u64),
    /// Table elements it would have had.
    Tables(u64),
    /// Bytes its state would have had.
    State(u64),
    /// A host function ended the call for this reason.
    Final(Box<Failure>),
}

impl Refusal {
    /// Whether the call ends here whatever the guest does.
    pub(crate) fn is_final(&self) -> bool {
        matches!(self, Self::Final(_))
    }

    /// The refusal as the end of a call.
    pub(crate) fn into_failure(self, terms: &Terms) -> Failure {
        let Terms { plugin, limits, declared } = terms;
        match self {
            Self::Final(failure) => *failure,
            Self::Memory(observed) => {
                let setting = format!("memory = \"{}\"", raised(observed));
                let what =
                    format!("wanted more memory than it may have above the {} it declares", SizeInBytes(*declared));
                let sizes = (SizeInBytes(limits.memory).to_string(), SizeInBytes(observed).to_string());
                limit_failure(plugin, FailureCode::Memory, &what, ("memory", &setting), sizes)
            }
            Self::Tables(observed) => {
                let setting = format!("tables = {}", observed.next_power_of_two());
                let sizes = (limits.tables.to_string(), observed.to_string());
                limit_failure(plugin, FailureCode::Tables, "wanted larger tables", ("tables", &setting), sizes)
            }
            Self::State(observed) => {
                let setting = format!("state = \"{}\"", raised(observed));
                let sizes = (SizeInBytes(limits.state).to_string(), SizeInBytes(observed).to_string());
                limit_failure(plugin, FailureCode::State, "wanted to keep more state", ("state", &setting), sizes)
            }
        }
    }
}

/// Running totals of one store.
#[derive(Debug)]
pub(crate) struct Meter {
    max_memory: u64,
    max_tables: u64,
    max_instances: usize,
    declared: u64,
    memory: u64,
    tables: u64,
    /// Of the last growth allowed; given back when the engine could not use it.
    pending: u64,
    refusal: Option<Refusal>,
}

impl Meter {
    pub(crate) fn new(terms: &Terms) -> Self {
        Self {
            max_memory: terms.declared.saturating_add(terms.limits.memory),
            max_tables: terms.limits.tables,
            max_instances: terms.limits.instances as usize,
            declared: terms.declared,
            memory: 0,
            tables: 0,
            pending: 0,
            refusal: None,
        }
    }

    /// Remembers a refusal; a final one is never replaced.
    pub(crate) fn refuse(&mut self, refusal: Refusal) {
        if !self.refusal.as_ref().is_some_and(Refusal::is_final) {
            self.refusal = Some(refusal);
        }
    }

    pub(crate) fn take_refusal(&mut self) -> Option<Refusal> {
        self.refusal.take()
    }
}

fn grown(total: u64, current: usize, desired: usize) -> (u64, u64) {
    let by = desired.saturating_sub(current) as u64;
    (by, total.saturating_add(by))
}

impl ResourceLimiter for Meter {
    fn memory_growing(&mut self, current: usize, desired: usize, _: Option<usize>) -> wasmtime::Result<bool> {
        // The sum over all memories of the store: a limit for each would let a guest open ten of them.
        let (by, total) = grown(self.memory, current, desired);
        let fits = total <= self.max_memory;
        self.pending = if fits { by } else { 0 };
        if fits {
            self.memory = total;
        } else {
            self.refuse(Refusal::Memory(total.saturating_sub(self.declared)));
        }
        Ok(fits)
    }

    fn memory_grow_failed(&mut self, _: wasmtime::Error) -> wasmtime::Result<()> {
        self.memory = self.memory.saturating_sub(std::mem::take(&mut self.pending));
        Ok(())
    }

    fn table_growing(&mut self, current: usize, desired: usize, _: Option<usize>) -> wasmtime::Result<bool> {
        let (by, total) = grown(self.tables, current, desired);
        let fits = total <= self.max_tables;
        self.pending = if fits { by } else { 0 };
        if fits {
            self.tables = total;
        } else {
            self.refuse(Refusal::Tables(total));
        }
        Ok(fits)
    }

    fn table_grow_failed(&mut self, _: wasmtime::Error) -> wasmtime::Result<()> {
        self.tables = self.tables.saturating_sub(std::mem::take(&mut self.pending));
        Ok(())
    }

    fn instances(&self) -> usize {
        self.max_instances
    }

    // Every memory and table belongs to some instance; their sizes are what costs, and those are summed above.
    fn memories(&self) -> usize {
        self.max_instances
    }

    fn tables(&self) -> usize {
        self.max_instances.saturating_mul(4)
    }
}
