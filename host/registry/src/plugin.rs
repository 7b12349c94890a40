//! One loaded plugin: what it is, what it may, and its compiled component, made when first needed.

use std::path::PathBuf;

use elysia_sandbox::{Component, Engine, Policy};
use elysia_types::{Effects, Failure, FailureCode, Limits, PluginName};
use tokio::sync::OnceCell;

use crate::grant::Effective;
use crate::manifest::Manifest;
use crate::package::Package;
use crate::rule::Approve;

/// A plugin whose tools are in a catalog. Its bytes are those of `sha256`, whatever happens to the file later.
pub struct Plugin {
    /// Unique in its catalog.
    pub name: PluginName,
    /// The component file.
    pub path: PathBuf,
    /// Of the component, in hex.
    pub sha256: String,
    /// Of the component, in bytes.
    pub size: u64,
    /// As read, or empty.
    pub manifest: Manifest,
    /// What it may reach.
    pub policy: Policy,
    /// What it may use.
    pub limits: Limits,
    /// All of what it was given, with what was not and why.
    pub given: Effective,
    pub(crate) digest: [u8; 32],
    pub(crate) package: Package,
    pub(crate) engine: Engine,
    pub(crate) component: OnceCell<Component>,
}

impl std::fmt::Debug for Plugin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Plugin").field("name", &self.name).field("path", &self.path).finish_non_exhaustive()
    }
}

impl Plugin {
    /// The compiled component: from the cache, else compiled from the file; once, unless it fails.
    ///
    /// Cancel-safe: what was begun ends by itself and its result is dropped.
    ///
    /// # Errors
    /// The file is gone or has changed since it was loaded (`quarantined`), or it does not compile.
    pub async fn component(&self) -> Result<Component, Failure> {
        self.component.get_or_try_init(|| self.obtain()).await.cloned()
    }

    /// Whether a call with these effects waits for a person's yes.
    pub fn needs_approval(&self, effects: Effects) -> bool {
        match self.given.approve.unwrap_or_default() {
            Approve::Never => false,
            Approve::Writes => effects.changes_world(),
            Approve::Always => true,
        }
    }

    async fn obtain(&self) -> Result<Component, Failure> {
        let (engine, package, limits) = (self.engine.clone(), self.package.clone(), self.limits.clone());
        let (digest, name) = (self.digest, self.name.clone());
        let work = move || match engine.load_cached(&digest) {
            Some(component) => Ok(component),
            None => compile(&engine, &package, &digest, &limits, &name),
        };
        let ended_early = |e: tokio::task::JoinError| {
            let failure = Failure::new(FailureCode::Internal, format!("loading plugin `{}` ended early", self.name));
            Err(Box::new(failure.with_detail(e.to_string())))
        };
        tokio::task::spawn_blocking(work).await.unwrap_or_else(ended_early).map_err(|failure| *failure)
    }
}

fn compile(
    engine: &Engine,
    package: &Package,
    digest: &[u8; 32],
    limits: &Limits,
    name: &PluginName,
) -> Result<Component, Box<Failure>> {
    let (bytes, found) = package.read(limits.file).map_err(|problem| {
        let message = format!("the file of plugin `{name}` cannot be read: {}", problem.reason);
        Failure::new(FailureCode::Unavailable, message).with_detail(package.path.display().to_string())
    })?;
    if found != *digest {
        let message =
            format!("the file of plugin `{name}` has changed since it was loaded; start again to look at it anew");
        return Err(Box::new(Failure::new(FailureCode::Quarantined, message)));
    }
    engine.load(&bytes, digest, limits).map_err(|e| Box::new(e.to_failure(name)))
}
