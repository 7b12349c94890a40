//! Component bytes → machine code, kept in the cache, ready to be instantiated.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use sha2::{Digest, Sha256};
use wasmtime::component::Linker;

use crate::bindings::PluginPre;
use crate::cache::{Cache, hex};
use crate::error::{SandboxError, in_one_line};
use crate::state::State;

/// Name space of compiled code in the cache.
const KIND: &str = "code";
/// Counted up when what we store beside the code, or how the code is called, changes.
const CODE_VERSION: &str = "1";

/// A plugin's machine code with its imports resolved. Cheap to clone; independent of any file.
#[derive(Clone)]
pub struct Component(Arc<Inner>);

struct Inner {
    pre: PluginPre<State>,
    declared: u64,
    imports: Vec<String>,
    exports: Vec<String>,
}

impl std::fmt::Debug for Component {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Component").field("exports", &self.0.exports).finish_non_exhaustive()
    }
}

impl Component {
    /// Names of what it imports, as in the file.
    pub fn imports(&self) -> &[String] {
        &self.0.imports
    }

    /// Names of what it exports, as in the file.
    pub fn exports(&self) -> &[String] {
        &self.0.exports
    }

    /// Bytes of memory it begins with.
    pub fn declared_memory(&self) -> u64 {
        self.0.declared
    }

    pub(crate) fn pre(&self) -> &PluginPre<State> {
        &self.0.pre
    }

    /// Resolves the imports.
    pub(crate) fn link(
        linker: &Linker<State>,
        compiled: &wasmtime::component::Component,
        declared: u64,
    ) -> Result<Self, SandboxError> {
        let mismatch = |error: &wasmtime::Error| SandboxError::Interface {
            reason: format!("its imports or exports do not match this host's interface: {}", in_one_line(error)),
            hint: "rebuild it with the interface of this host, see /wit".to_owned(),
        };
        let pre = linker.instantiate_pre(compiled).map_err(|e| mismatch(&e))?;
        let pre = PluginPre::new(pre).map_err(|e| mismatch(&e))?;
        let (ty, engine) = (compiled.component_type(), compiled.engine());
        let imports = ty.imports(engine).map(|(name, _)| name.to_owned()).collect();
        let exports = ty.exports(engine).map(|(name, _)| name.to_owned()).collect();
        Ok(Self(Arc::new(Inner { pre, declared, imports, exports })))
    }
}

/// Feeds whatever the engine hashes about itself to SHA-256: the standard hasher's 64 bits may collide and its
/// algorithm may change between builds.
struct Sha(Sha256);

impl Hasher for Sha {
    fn write(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }
    // Never asked for: the whole digest is taken instead.
    fn finish(&self) -> u64 {
        0
    }
}

/// The key of a component's code: its bytes, the engine and its settings, our own version.
pub(crate) fn cache_key(engine: &wasmtime::Engine, sha256: &[u8; 32]) -> String {
    let mut hasher = Sha(Sha256::new());
    engine.precompile_compatibility_hash().hash(&mut hasher);
    format!("{}-{}-{CODE_VERSION}", hex(sha256), hex(&hasher.0.finalize()))
}

/// Code and declared memory from the cache; a miss when there is none or it is not usable.
pub(crate) fn from_cache(
    engine: &wasmtime::Engine,
    cache: &Cache,
    key: &str,
) -> Option<(wasmtime::component::Component, u64)> {
    let stored = cache.get(KIND, key)?;
    let (declared, code) = stored.split_first_chunk::<8>()?;
    match deserialize(engine, code) {
        Ok(compiled) => Some((compiled, u64::from_le_bytes(*declared))),
        Err(error) => {
            tracing::warn!(error = in_one_line(&error), "cached code does not fit this engine; it is compiled anew");
            None
        }
    }
}

#[expect(unsafe_code, reason = "the engine cannot check machine code; the cache has")]
fn deserialize(engine: &wasmtime::Engine, code: &[u8]) -> wasmtime::Result<wasmtime::component::Component> {
    // SAFETY: `code` must be what `Component::serialize` gave, unmodified. It comes from `Cache::get` alone, which
    // returns only bytes whose HMAC under our own key covers this kind and key; `from_cache` and `compile` agree on
    // both, and the key holds the engine's compatibility hash. The bytes are a private copy in memory, so nothing can
    // change between the check and this use, as it could with `deserialize_file`.
    unsafe { wasmtime::component::Component::deserialize(engine, code) }
}

/// Compiles, and keeps the code. Takes from milliseconds to many seconds of CPU time.
pub(crate) fn compile(
    engine: &wasmtime::Engine,
    cache: Option<(&Cache, &str)>,
    bytes: &[u8],
    declared: u64,
) -> Result<wasmtime::component::Component, SandboxError> {
    let failed = |error: wasmtime::Error| SandboxError::Compile(in_one_line(&error));
    let compiled = wasmtime::component::Component::from_binary(engine, bytes).map_err(failed)?;
    if let Some((cache, key)) = cache {
        let mut stored = declared.to_le_bytes().to_vec();
        stored.extend(compiled.serialize().map_err(failed)?);
        cache.put(KIND, key, &stored);
    }
    Ok(compiled)
}
