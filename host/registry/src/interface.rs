//! What a component says about itself before any of its code runs: world, imports, exports, declared memory.

use elysia_sandbox::Policy;
use elysia_types::{clean_line, truncate};
use serde::Serialize;
use wasmparser::{
    CanonicalFunction, CanonicalOption, ComponentExternalKind, ComponentType, ComponentTypeRef, Parser, Payload,
    WasmFeatures,
};

/// Versions of `elysia:plugin` that are served: any 0.1.x.
const SERVED: &str = "0.1.";
/// Interfaces of `elysia:plugin` that a guest may import.
const OURS: [&str; 8] = ["types", "output", "log", "environment", "state", "conversation", "http", "model"];
/// Packages of WASI 0.2 that are linked.
const WASI: [&str; 6] = ["io", "clocks", "random", "cli", "filesystem", "http"];
const PAGE: u64 = 65_536;

const REBUILD_SYNC: &str =
    "rebuild it for WASI 0.2 without the async ABI: Rust `--target wasm32-wasip2`, componentize-qjs `--sync`";
const REBUILD_COMPONENT: &str =
    "build a component: Rust `--target wasm32-wasip2`, or make one of it with `wasm-tools component new`";
const REBUILD_WORLD: &str = "build it for the world `elysia:plugin/plugin`; `wit/world.wit` says what it may import";

/// What a component is built for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum World {
    /// The `elysia:plugin/plugin` world of this version.
    Plugin(String),
    /// Plain exports.
    Typed,
    /// A program to be started: `wasi:cli/run`.
    Command,
    /// It exports nothing that could be a tool.
    Empty,
}

/// How an import is met.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// It works.
    Served,
    /// It is linked and finds nothing, or answers `denied`: there is no grant.
    Inert,
    /// The component is refused because of it.
    Refused,
}

/// One import and how it is met.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ImportUse {
    /// As in the component; cleaned.
    pub name: String,
    /// How it is met.
    pub standing: Standing,
}

/// What a component says about itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interface {
    /// What it is built for.
    pub world: World,
    /// Names of top-level imports; cleaned.
    pub imports: Vec<String>,
    /// Names of exported functions and interfaces; cleaned.
    pub exports: Vec<String>,
    /// Declared minima of all memories, in bytes.
    pub declared_memory: u64,
    /// Whether it needs the async ABI.
    pub is_async: bool,
}

/// Why bytes are not a plugin that can be served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) reason: String,
    pub(crate) hint: &'static str,
}

impl Refusal {
    fn new(reason: impl Into<String>, hint: &'static str) -> Self {
        Self { reason: reason.into(), hint }
    }
}

impl Interface {
    /// Reads the sections; checks no code.
    pub(crate) fn read(bytes: &[u8]) -> Result<Self, Refusal> {
        check_magic(bytes)?;
        let broken = |e: wasmparser::BinaryReaderError| {
            let message = clean_line(e.message());
            if message.contains("unexpected end") || message.contains("extends past end") {
                Refusal::new(format!("it is cut short: {message}"), "copy or build it again")
            } else {
                Refusal::new(format!("it is not a valid component: {message}"), "copy or build it again")
            }
        };
        let mut seen =
            Self { world: World::Empty, imports: vec![], exports: vec![], declared_memory: 0, is_async: false };
        let mut depth = 0u32;
        let mut parser = Parser::new(0);
        parser.set_features(WasmFeatures::all());
        for payload in parser.parse_all(bytes) {
            let payload = payload.map_err(broken)?;
            if let Payload::UnknownSection { id, .. } = payload {
                return Err(Refusal::new(
                    format!("it is not a valid component: section {id} is unknown"),
                    "copy or build it again",
                ));
            }
            seen.take(payload, &mut depth).map_err(broken)?;
        }
        seen.world = seen.world();
        Ok(seen)
    }

    fn take(&mut self, payload: Payload<'_>, depth: &mut u32) -> wasmparser::Result<()> {
        match payload {
            Payload::ModuleSection { .. } | Payload::ComponentSection { .. } => *depth += 1,
            Payload::End(_) => *depth = depth.saturating_sub(1),
            Payload::ComponentImportSection(imports) if *depth == 0 => {
                for import in imports {
                    let import = import?;
                    // Types are imported beside the functions that use them; they need nobody to serve them.
                    if !matches!(import.ty, ComponentTypeRef::Type(_)) {
                        self.imports.push(shown(import.name.name));
                    }
                }
            }
            Payload::ComponentExportSection(exports) if *depth == 0 => {
                for export in exports {
                    let export = export?;
                    if matches!(export.kind, ComponentExternalKind::Func | ComponentExternalKind::Instance) {
                        self.exports.push(shown(export.name.name));
                    }
                }
            }
            Payload::ComponentTypeSection(types) => {
                for ty in types {
                    self.is_async |= matches!(ty?, ComponentType::Func(f) if f.async_);
                }
            }
            Payload::ComponentCanonicalSection(functions) => {
                for function in functions {
                    self.is_async |= needs_async(&function?);
                }
            }
            Payload::MemorySection(memories) => {
                for memory in memories {
                    self.declared_memory = self.declared_memory.saturating_add(memory?.initial.saturating_mul(PAGE));
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn world(&self) -> World {
        let tools = self.exports.iter().find_map(|name| name.strip_prefix("elysia:plugin/tools@"));
        if let Some(version) = tools {
            World::Plugin(version.to_owned())
        } else if !self.callable().is_empty() {
            World::Typed
        } else if self.exports.iter().any(|name| name.starts_with("wasi:cli/run")) {
            World::Command
        } else {
            World::Empty
        }
    }

    /// Exports that could be tools.
    fn callable(&self) -> Vec<&str> {
        let hidden = |name: &str| {
            name.starts_with("cabi_") || name.starts_with("wasi:") || name == "exports" || name.starts_with("exports/")
        };
        self.exports.iter().map(String::as_str).filter(|name| !hidden(name)).collect()
    }

    /// Why it cannot be served, if so.
    pub(crate) fn refusal(&self) -> Option<Refusal> {
        let new_wasi = |name: &&String| name.starts_with("wasi:") && name.contains("@0.3.");
        let all = self.imports.iter().chain(&self.exports);
        if let Some(name) = all.clone().find(new_wasi) {
            return Some(Refusal::new(format!("it is built for WASI 0.3 (`{name}`)"), REBUILD_SYNC));
        }
        if self.is_async {
            return Some(Refusal::new("it is built for the async ABI", REBUILD_SYNC));
        }
        if let Some(name) = self.imports.iter().find(|name| name.starts_with("wasi:sockets/")) {
            let reason = format!("it imports `{name}`: plugins never get sockets");
            return Some(Refusal::new(
                reason,
                "build it without sockets, for example componentize-py `--stub-wasi`; HTTP is `elysia:plugin/http`",
            ));
        }
        match &self.world {
            World::Plugin(version) if !version.starts_with(SERVED) => {
                let reason = format!("it is built for `elysia:plugin` {version}; this host serves {SERVED}x");
                return Some(Refusal::new(reason, "rebuild it, or use a host that serves that version"));
            }
            World::Plugin(_) => {}
            World::Typed => return Some(self.typed_refusal()),
            World::Command => {
                return Some(Refusal::new("it is a program (`wasi:cli/run`), not a plugin", REBUILD_WORLD));
            }
            World::Empty => return Some(Refusal::new("it exports nothing that could be a tool", REBUILD_WORLD)),
        }
        let foreign = self.imports.iter().find(|name| standing(name, &Policy::default()) == Standing::Refused)?;
        Some(Refusal::new(format!("it imports `{foreign}`, which this host does not have"), REBUILD_WORLD))
    }

    fn typed_refusal(&self) -> Refusal {
        let callable = self.callable();
        let more = callable.len().saturating_sub(8);
        let mut names: Vec<String> = callable.iter().take(8).map(|name| format!("`{name}`")).collect();
        if more > 0 {
            names.push(format!("{more} more"));
        }
        let reason = format!(
            "it does not export `elysia:plugin/tools`, and plain exports are not served yet in this version; seen: {}",
            names.join(", ")
        );
        Refusal::new(reason, REBUILD_WORLD)
    }

    /// Each import and how it is met under `policy`.
    pub fn import_uses(&self, policy: &Policy) -> Vec<ImportUse> {
        self.imports.iter().map(|name| ImportUse { name: name.clone(), standing: standing(name, policy) }).collect()
    }
}

fn standing(import: &str, policy: &Policy) -> Standing {
    let (path, version) = import.split_once('@').unwrap_or((import, ""));
    let Some((package, interface)) = path.split_once('/') else {
        return Standing::Refused;
    };
    match package.split_once(':') {
        Some(("elysia", "plugin")) if version.starts_with(SERVED) && OURS.contains(&interface) => match interface {
            "http" | "model" => Standing::Inert,
            _ => Standing::Served,
        },
        Some(("wasi", package)) if version.starts_with("0.2.") && WASI.contains(&package) => {
            let inert = match (package, interface) {
                ("filesystem", _) => policy.files.is_empty(),
                ("cli", "environment") => policy.env.is_empty(),
                ("cli", other) => other == "stdin" || other.starts_with("terminal-"),
                ("http", _) => true,
                _ => false,
            };
            if inert { Standing::Inert } else { Standing::Served }
        }
        _ => Standing::Refused,
    }
}

/// What the first bytes say, in a user's words.
fn check_magic(bytes: &[u8]) -> Result<(), Refusal> {
    if Parser::is_component(bytes) {
        return Ok(());
    }
    if Parser::is_core_wasm(bytes) {
        return Err(Refusal::new("it is a core WebAssembly module, not a component", REBUILD_COMPONENT));
    }
    Err(match bytes {
        [] => Refusal::new("it is empty", "copy or build it again"),
        [0, b'a', b's', b'm', ..] if bytes.len() < 8 => Refusal::new("it is cut short", "copy or build it again"),
        [0, b'a', b's', b'm', ..] => Refusal::new("it is WebAssembly of an unknown version", REBUILD_COMPONENT),
        [0x7f, b'E', b'L', b'F', ..] => Refusal::new("it is a native program, not WebAssembly", REBUILD_COMPONENT),
        [0x1f, 0x8b, ..] | [b'P', b'K', 3, 4, ..] => Refusal::new("it is an archive, not WebAssembly", "unpack it"),
        _ if std::str::from_utf8(bytes).is_ok_and(|text| text.trim_start().starts_with('(')) => {
            Refusal::new("it is WebAssembly text, not a binary", "turn it into a binary with `wasm-tools parse`")
        }
        _ if std::str::from_utf8(bytes).is_ok() => Refusal::new("it is text, not WebAssembly", REBUILD_COMPONENT),
        _ => Refusal::new("it is not WebAssembly", REBUILD_COMPONENT),
    })
}

fn needs_async(function: &CanonicalFunction) -> bool {
    match function {
        CanonicalFunction::Lift { options, .. } | CanonicalFunction::Lower { options, .. } => {
            options.contains(&CanonicalOption::Async)
        }
        CanonicalFunction::ResourceNew { .. }
        | CanonicalFunction::ResourceDrop { .. }
        | CanonicalFunction::ResourceRep { .. } => false,
        _ => true,
    }
}

fn shown(name: &str) -> String {
    truncate(&clean_line(name), 200).to_owned()
}

#[cfg(test)]
mod tests;
