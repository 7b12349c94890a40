//! Reads a component's outline without compiling it: what it is, what it exports and imports, how large it begins.

use elysia_types::{clean_line, truncate};
use wasmparser::{CanonicalFunction, CanonicalOption, ComponentExternalKind, ComponentType, Encoding, Parser, Payload};

use crate::error::SandboxError;

/// The export that makes a component a plugin; its version follows.
const TOOLS: &str = "elysia:plugin/tools@";
const REBUILD: &str =
    "rebuild it for `wasm32-wasip2` (WASI 0.2) with synchronous functions, e.g. `componentize-qjs --sync`";
const DEFAULT_PAGE: u32 = 16;

/// What a component says about itself.
#[derive(Debug, Default)]
pub(crate) struct Outline {
    /// Version of the `tools` interface, e.g. `0.1.0`.
    pub(crate) version: Option<String>,
    pub(crate) imports: Vec<String>,
    pub(crate) exports: Vec<String>,
    /// Sum of the initial sizes of all memories in all core modules, in bytes.
    pub(crate) declared: u64,
    is_async: bool,
}

/// Reads the outline.
///
/// # Errors
/// [`SandboxError::NotAComponent`] with what the bytes are instead.
pub(crate) fn outline(bytes: &[u8]) -> Result<Outline, SandboxError> {
    let not = |reason: &str, hint: &str| {
        Err(SandboxError::NotAComponent { reason: reason.to_owned(), hint: hint.to_owned() })
    };
    if !bytes.starts_with(b"\0asm") {
        let build = "build the plugin as a WebAssembly component, e.g. with `elysia-host plugin build`";
        return match bytes {
            [] => not("the file is empty", build),
            b if b.starts_with(b"(") => {
                not("it is WebAssembly text, not a binary", "assemble it into a component first")
            }
            _ => not("it is not a WebAssembly file", build),
        };
    }
    if !Parser::is_component(bytes) {
        return not(
            "it is a core WebAssembly module, not a component",
            "make it a component: build for `wasm32-wasip2`, or use `wasm-tools component new`",
        );
    }
    let mut outline = Outline::default();
    let mut depth = 0usize;
    for payload in Parser::new(0).parse_all(bytes) {
        let read = payload.and_then(|payload| outline.read(&payload, &mut depth));
        if let Err(error) = read {
            let reason = truncate(&clean_line(error.message()), 200).to_owned();
            let reason = format!("the file is cut or broken at byte {}: {reason}", error.offset());
            return Err(SandboxError::NotAComponent { reason, hint: "build or download it again".to_owned() });
        }
    }
    let version = outline.exports.iter().find_map(|name| name.strip_prefix(TOOLS));
    outline.version = version.map(str::to_owned);
    Ok(outline)
}

impl Outline {
    fn read(&mut self, payload: &Payload<'_>, depth: &mut usize) -> Result<(), wasmparser::BinaryReaderError> {
        match payload {
            Payload::Version { encoding: Encoding::Module | Encoding::Component, .. } => *depth += 1,
            Payload::End(_) => *depth = depth.saturating_sub(1),
            Payload::MemorySection(memories) => {
                for memory in memories.clone() {
                    let memory = memory?;
                    let page = memory.page_size_log2.unwrap_or(DEFAULT_PAGE).min(DEFAULT_PAGE);
                    self.declared = self.declared.saturating_add(memory.initial.saturating_mul(1 << page));
                }
            }
            // Imported memories are counted where they are defined.
            Payload::ImportSection(_) => {}
            Payload::ComponentTypeSection(types) => {
                for ty in types.clone() {
                    self.is_async |= matches!(ty?, ComponentType::Func(function) if function.async_);
                }
            }
            Payload::ComponentCanonicalSection(functions) => {
                for function in functions.clone() {
                    self.is_async |= is_async(&function?);
                }
            }
            Payload::ComponentImportSection(imports) if *depth == 1 => {
                for import in imports.clone() {
                    self.imports.push(import?.name.name.to_owned());
                }
            }
            Payload::ComponentExportSection(exports) if *depth == 1 => {
                for export in exports.clone() {
                    let export = export?;
                    if matches!(export.kind, ComponentExternalKind::Instance | ComponentExternalKind::Func) {
                        self.exports.push(export.name.name.to_owned());
                    }
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Whether this host can run it as a plugin: the right world, the synchronous ABI, no sockets.
    ///
    /// # Errors
    /// [`SandboxError::Interface`] with what is missing and how to rebuild, [`SandboxError::DeclaredMemory`].
    pub(crate) fn check(&self, max_declared: u64) -> Result<(), SandboxError> {
        let refuse = |reason: String, hint: &str| Err(SandboxError::Interface { reason, hint: hint.to_owned() });
        let named = |name: &str| truncate(&clean_line(name), 120).to_owned();
        let third = |name: &&String| name.starts_with("wasi:") && name.contains("@0.3");
        if let Some(name) = self.imports.iter().chain(&self.exports).find(third) {
            return refuse(
                format!("it is built for WASI 0.3 (`{}`), which this host does not run", named(name)),
                REBUILD,
            );
        }
        if self.is_async {
            return refuse("it uses the asynchronous component ABI, which this host does not run".to_owned(), REBUILD);
        }
        if let Some(name) = self.imports.iter().find(|name| name.starts_with("wasi:sockets/")) {
            let hint = "sockets are never given; use `http.fetch`, or rebuild without them, e.g. with `--stub-wasi`";
            return refuse(format!("it imports `{}`, and plugins get no sockets", named(name)), hint);
        }
        match &self.version {
            Some(version) if is_ours(version) => {}
            Some(version) => {
                let reason = format!("it is made for elysia:plugin@{}; this host runs 0.1", named(version));
                return refuse(reason, "rebuild it with the interface of this host, see /wit");
            }
            None => {
                let exports: Vec<_> = self.exports.iter().take(8).map(|name| format!("`{}`", named(name))).collect();
                let exports = if exports.is_empty() { "nothing".to_owned() } else { exports.join(", ") };
                let reason = format!("it does not export `elysia:plugin/tools@0.1.0`; it exports {exports}");
                return refuse(reason, "build it for the world `elysia:plugin/plugin` of /wit, or with the plugin SDK");
            }
        }
        if let Some(name) = self.imports.iter().find(|name| !is_offered(name)) {
            let hint = match name.starts_with("wasi:http/") {
                true => "this version of the host offers `elysia:plugin/http` instead; use `http.fetch`",
                false => "this host offers `elysia:plugin` 0.1 and WASI 0.2: io, clocks, random, cli, filesystem",
            };
            return refuse(format!("it imports `{}`, which this host does not offer", named(name)), hint);
        }
        if self.declared > max_declared {
            return Err(SandboxError::DeclaredMemory { limit: max_declared, observed: self.declared });
        }
        Ok(())
    }
}

fn is_ours(version: &str) -> bool {
    version.strip_prefix("0.1.").is_some_and(|patch| !patch.is_empty() && patch.bytes().all(|b| b.is_ascii_digit()))
}

/// Whether the linker has an import of this package; whether it has the very function is found out when linking.
fn is_offered(import: &str) -> bool {
    let Some((name, version)) = import.split_once('@') else {
        return false;
    };
    let (package, _) = name.split_once('/').unwrap_or((name, ""));
    match package {
        "elysia:plugin" => version.starts_with("0.1."),
        "wasi:io" | "wasi:clocks" | "wasi:random" | "wasi:cli" | "wasi:filesystem" => version.starts_with("0.2."),
        _ => false,
    }
}

fn is_async(function: &CanonicalFunction) -> bool {
    match function {
        CanonicalFunction::Lift { options, .. } | CanonicalFunction::Lower { options, .. } => {
            options.iter().any(|option| matches!(option, CanonicalOption::Async | CanonicalOption::Callback(_)))
        }
        CanonicalFunction::ResourceNew { .. }
        | CanonicalFunction::ResourceDrop { .. }
        | CanonicalFunction::ResourceRep { .. } => false,
        // Everything else there is belongs to tasks, streams, futures and threads.
        _ => true,
    }
}
