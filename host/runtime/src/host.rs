//! The host: engine, catalog, tree, model and store, opened once and shared by all sessions.

use std::collections::HashMap;
use std::future::Future;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use elysia_decision::{ToolEntry, Tree};
use elysia_registry::{Catalog, Grounds, Loader, LoaderOptions, Plugin};
use elysia_sandbox::{CacheDirs, Engine, EngineOptions};
use elysia_store::{SessionStore, StoreError};
use elysia_types::{Environment, LimitSettings, Limits, PluginName, QueryBudget, SessionId};
use jiff::tz::TimeZone;
use tokio::sync::{OnceCell, Semaphore};
use tokio_util::task::TaskTracker;

use crate::clock;
use crate::config::{HostConfig, StoreTarget};
use crate::error::HostError;
use crate::model::Model;
use crate::session::{Session, SessionChoice, new_id};

/// Names that no plugin may take.
const BUILT_INS: [&str; 5] = ["text_response", "summarize", "back", "impossible", "ask"];

/// Calls of one session at once, unless the operator says otherwise.
const CALLS_PER_SESSION: usize = 8;

/// Calls of the host at once, per core, unless the operator says otherwise.
const CALLS_PER_CORE: usize = 16;

/// Everything sessions share. Cheap to clone.
#[derive(Clone)]
pub struct Host(Arc<Inner>);

pub(crate) struct Inner {
    pub(crate) config: HostConfig,
    pub(crate) engine: Engine,
    pub(crate) catalog: Catalog,
    loader: Loader,
    pub(crate) tree: Arc<Tree>,
    pub(crate) model: Model,
    pub(crate) budget: QueryBudget,
    pub(crate) zone: Option<TimeZone>,
    pub(crate) permits: Arc<Semaphore>,
    plugin_permits: Mutex<HashMap<PluginName, Arc<Semaphore>>>,
    limits: Limits,
    notices: Vec<String>,
    store: OnceCell<Arc<dyn SessionStore>>,
    tasks: TaskTracker,
}

/// What [`Host::trim_session`] did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TrimReport {
    /// Entries dropped.
    pub dropped: usize,
    /// Entries left.
    pub left: usize,
    /// Bytes left.
    pub bytes: u64,
}

impl Host {
    /// Starts the engine, loads plugins and builds the tree. Plugins that fail are in the catalog's reports.
    ///
    /// # Errors
    /// What makes the whole unusable: settings, the tree, the engine, the model, a named folder that is missing.
    pub async fn open(config: HostConfig) -> Result<Self, HostError> {
        if let Some(key) = zero_limit(&config.limits) {
            return Err(HostError::Config(format!(
                "`{key}` under [limits] is 0, so nothing could run; leave it out or raise it"
            )));
        }
        let zone = config.time_zone.as_deref().map(clock::zone).transpose().map_err(HostError::Config)?;
        let model = Model::open(&config.model).map_err(HostError::Model)?;
        let cores = std::thread::available_parallelism().map_or(2, usize::from);
        let key_file = config.state_dir.join("cache.key");
        let cache = config.cache_dir.clone().map(|cache_dir| CacheDirs { cache_dir, key_file });
        let engine = Engine::new(EngineOptions { cache, guest_threads: cores }).map_err(HostError::Engine)?;
        let loader = loader(&engine, &config);
        let catalog = loader.load().await.map_err(HostError::Plugins)?;
        let entries = catalog.tools().map(|tool| ToolEntry {
            descriptor: tool.descriptor.clone(),
            schema: tool.schema.clone(),
            plugin: tool.plugin.name.clone(),
        });
        let (tree, mut notices) = Tree::build(&config.tree, entries.collect()).map_err(HostError::Tree)?;
        notices.extend(catalog.warnings().iter().cloned());
        for (name, set) in
            [("host_memory", config.limits.host_memory.is_some()), ("compile", config.limits.compile.is_some())]
        {
            if set {
                notices.push(format!("`{name}` under [limits] has no effect in this version"));
            }
        }
        let calls = config.limits.calls.clone().unwrap_or_default();
        let at_once = calls.host.map_or(CALLS_PER_CORE * cores, |n| n as usize);
        Ok(Self(Arc::new(Inner {
            budget: QueryBudget::default().with(&config.limits),
            limits: Limits::default().with(&config.limits),
            permits: Arc::new(Semaphore::new(at_once.clamp(1, Semaphore::MAX_PERMITS))),
            plugin_permits: Mutex::default(),
            store: OnceCell::new(),
            tasks: TaskTracker::new(),
            config,
            engine,
            catalog,
            loader,
            tree,
            model,
            zone,
            notices,
        })))
    }

    /// The plugins and tools loaded.
    pub fn catalog(&self) -> Catalog {
        self.0.catalog.clone()
    }

    /// The loader, for commands that check or inspect a single file.
    pub fn loader(&self) -> &Loader {
        &self.0.loader
    }

    /// The decision tree.
    pub fn tree(&self) -> Arc<Tree> {
        self.0.tree.clone()
    }

    /// Warnings of loading, for people.
    pub fn notices(&self) -> &[String] {
        &self.0.notices
    }

    /// The model as events name it.
    pub fn model_name(&self) -> String {
        self.0.model.name()
    }

    /// Opens a session.
    ///
    /// # Errors
    /// [`HostError::UnknownSession`], [`HostError::NoSession`], or a store that fails.
    pub async fn session(&self, which: SessionChoice) -> Result<Session, HostError> {
        let inner = self.0.clone();
        let id = match which {
            SessionChoice::Unsaved => return Ok(Session::open(inner, elysia_store::memory(), new_id(), None)),
            SessionChoice::New => return Ok(Session::open(inner, self.store().await?, new_id(), None)),
            SessionChoice::Existing(id) => id,
            SessionChoice::Last => {
                self.store().await?.last().await.map_err(HostError::Store)?.ok_or(HostError::NoSession)?
            }
        };
        let store = self.store().await?;
        // In this order: a change in between only makes the first query read the session once more.
        let revision = match store.revision(&id).await {
            Err(StoreError::NoSession(_)) => return Err(HostError::UnknownSession(id)),
            other => other.map_err(HostError::Store)?,
        };
        let record = store.load(&id).await.map_err(HostError::Store)?;
        let record = record.ok_or_else(|| HostError::UnknownSession(id.clone()))?;
        Ok(Session::open(inner, store, id, Some((revision, record))))
    }

    /// The session store, opened on first use.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub async fn store(&self) -> Result<Arc<dyn SessionStore>, HostError> {
        let open = || async {
            match &self.0.config.store {
                StoreTarget::Memory => Ok(elysia_store::memory()),
                StoreTarget::Path(path) => elysia_store::open(&path.to_string_lossy()).await.map_err(HostError::Store),
            }
        };
        self.0.store.get_or_try_init(open).await.cloned()
    }

    /// Drops the oldest entries of a session's environment: down to `keep`, else until half the limit is free.
    ///
    /// # Errors
    /// An unknown session, or a store that fails.
    pub async fn trim_session(&self, id: &SessionId, keep: Option<usize>) -> Result<TrimReport, HostError> {
        let store = self.store().await?;
        let record = store.load(id).await.map_err(HostError::Store)?;
        let record = record.ok_or_else(|| HostError::UnknownSession(id.clone()))?;
        let mut environment = Environment::restore(record.locations, record.entries);
        let dropped = match keep {
            Some(keep) => environment.trim(keep, u64::MAX),
            None => environment.trim(0, self.0.budget.environment / 2),
        };
        let (locations, entries) = environment.stored_since(0);
        store.replace_environment(id, locations, entries).await.map_err(HostError::Store)?;
        Ok(TrimReport { dropped, left: environment.n_entries(), bytes: environment.bytes() })
    }

    /// One tiny request to the model.
    ///
    /// # Errors
    /// What failed.
    pub async fn check_model(&self) -> Result<String, elysia_types::Failure> {
        self.0.model.check(std::time::Instant::now() + Duration::from_secs(20)).await
    }

    /// Waits for running queries to end.
    pub async fn drain(&self) {
        self.0.tasks.close();
        self.0.tasks.wait().await;
        self.0.tasks.reopen();
    }
}

impl Inner {
    /// Runs `task` to its end; [`Host::drain`] waits for it.
    pub(crate) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        self.tasks.spawn(task);
    }

    pub(crate) fn ask_limit(&self) -> Duration {
        self.limits.ask
    }

    pub(crate) fn calls_per_session(&self) -> usize {
        let set = self.config.limits.calls.as_ref().and_then(|c| c.session);
        set.map_or(CALLS_PER_SESSION, |n| n as usize).max(1)
    }

    pub(crate) fn plugin_permits(&self, plugin: &Plugin) -> Arc<Semaphore> {
        let mut permits = self.plugin_permits.lock().unwrap_or_else(PoisonError::into_inner);
        let new = || Arc::new(Semaphore::new((plugin.limits.calls_plugin as usize).max(1)));
        permits.entry(plugin.name.clone()).or_insert_with(new).clone()
    }
}

/// The first limit whose 0 would stop everything, or would not be enforced.
fn zero_limit(set: &LimitSettings) -> Option<&'static str> {
    let calls = set.calls.clone().unwrap_or_default();
    let zeros = [
        ("wall", set.wall.is_some_and(|t| t.0.is_zero())),
        ("cpu", set.cpu.is_some_and(|t| t.0.is_zero())),
        ("query_wall", set.query_wall.is_some_and(|t| t.0.is_zero())),
        ("calls.plugin", calls.plugin == Some(0)),
        ("calls.session", calls.session == Some(0)),
        ("calls.host", calls.host == Some(0)),
        ("instances", set.instances == Some(0)),
    ];
    zeros.into_iter().find_map(|(key, zero)| zero.then_some(key))
}

/// A loader as `config` wants it; also for commands that look at plugins without running a host.
fn loader(engine: &Engine, config: &HostConfig) -> Loader {
    let mut kept = vec![config.state_dir.clone()];
    kept.extend(config.cache_dir.clone());
    if let StoreTarget::Path(path) = &config.store {
        kept.extend(path.parent().map(Path::to_owned));
    }
    let plugins: Vec<_> = config.plugin_dirs.iter().map(|d| d.path.clone()).collect();
    let options = LoaderOptions {
        dirs: plugins.clone(),
        explicit: config.plugin_dirs.iter().any(|d| d.explicit),
        grants: config.grants.clone(),
        limits: config.limits.clone(),
        reserved: BUILT_INS.map(str::to_owned).to_vec(),
        grounds: Grounds { base: config.base_dir.clone(), kept, plugins },
    };
    Loader::new(engine.clone(), options)
}
