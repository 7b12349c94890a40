//! From directories to a catalog: scan, read and hash, recall or describe, settle names.
//!
//! A start with a warm cache reads and hashes files and nothing else: no parsing, no compiling, no guest code.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use elysia_sandbox::Engine;
use elysia_types::{Failure, LimitSettings, Limits, PluginName, ToolDescriptor, clean_line};
use indexmap::IndexMap;
use serde::Serialize;
use tokio::sync::OnceCell;

use crate::bounded::join_bounded;
use crate::catalog::{Candidate, Catalog, CatalogBuilder, Rejected, ready};
use crate::descriptors::{self, RefusedTool};
use crate::error::RegistryError;
use crate::grant::{Effective, Grant, Grounds};
use crate::interface::{ImportUse, Interface, World};
use crate::manifest::{Manifest, Wants, is_showable};
use crate::package::{self, Package, Scan, hex};
use crate::plugin::Plugin;
use crate::report::{PluginReport, PluginState, Problem};
use crate::toml_error::nearest;

/// Where plugins are and what they are allowed.
#[derive(Clone, Debug, Default)]
pub struct LoaderOptions {
    /// Plugin directories, in order of precedence.
    pub dirs: Vec<PathBuf>,
    /// The user named them: a missing one is an error, not an empty catalog.
    pub explicit: bool,
    /// By plugin name.
    pub grants: IndexMap<String, Grant>,
    /// The operator's limits for all plugins.
    pub limits: LimitSettings,
    /// Names besides the built-ins that no tool may have.
    pub reserved: Vec<String>,
    /// Folders that decide what a grant of files may open. Plugin directories need not be listed.
    pub grounds: Grounds,
}

/// What `plugin inspect` shows of one component, whether or not it can be served.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PluginInspection {
    /// Name, path, hash, state, tools, effective policy.
    #[serde(flatten)]
    pub report: PluginReport,
    /// From the manifest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// From the manifest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// What it is built for.
    pub world: World,
    /// What it imports and how that is met.
    pub imports: Vec<ImportUse>,
    /// Functions and interfaces it exports.
    pub exports: Vec<String>,
    /// What its author asks for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wants: Option<Wants>,
    /// Bytes of the component file.
    pub size: u64,
    /// Declared minima of its memories, in bytes.
    pub declared_memory: u64,
    /// Bytes of all descriptors as JSON.
    pub descriptors_size: u64,
}

/// Loads plugins. Clones share everything.
#[derive(Clone)]
pub struct Loader(Arc<Inner>);

struct Inner {
    engine: Engine,
    options: LoaderOptions,
    limits: Limits,
    at_once: usize,
}

/// A package that was read.
struct Seen {
    plugin: Plugin,
    bytes: Vec<u8>,
    warnings: Vec<String>,
    recalled: Option<Vec<ToolDescriptor>>,
}

impl Loader {
    /// Looks at nothing yet.
    pub fn new(engine: Engine, mut options: LoaderOptions) -> Self {
        options.grounds.plugins.extend(options.dirs.iter().cloned());
        let limits = Limits::default().with(&options.limits);
        // Each may hold one component file in memory and one compiling child.
        let at_once = std::thread::available_parallelism().map_or(2, usize::from).clamp(1, 4);
        Self(Arc::new(Inner { engine, options, limits, at_once }))
    }

    /// Reads, checks and, where needed, describes all plugins. What is wrong with single ones stands in the catalog.
    ///
    /// Cancel-safe: what was described so far is remembered.
    ///
    /// # Errors
    /// A directory that the user named is missing, or one cannot be read.
    pub async fn load(&self) -> Result<Catalog, RegistryError> {
        let Inner { options, .. } = &*self.0;
        self.load_from(options.dirs.clone(), options.explicit, false).await
    }

    /// As [`load`](Self::load), of another directory, and every plugin describes itself anew: for `plugin check DIR`.
    ///
    /// # Errors
    /// The directory is missing or cannot be read.
    pub async fn check_dir(&self, dir: &Path) -> Result<Catalog, RegistryError> {
        self.load_from(vec![dir.to_owned()], true, true).await
    }

    /// Looks closely at one component file or plugin folder: describes it twice, whatever is remembered of it.
    /// Anything wrong makes it `Failed`.
    pub async fn check(&self, path: &Path) -> PluginReport {
        match self.candidate(Package::at(path), true).await {
            Err(rejected) => rejected.report(),
            Ok(Candidate { plugin, checked, warnings }) => {
                let mut report = ready(&plugin, &checked.tools, warnings);
                if let Some(RefusedTool { reason, hint }) = checked.refused.into_iter().next() {
                    report.state = PluginState::Failed;
                    (report.reason, report.hint) = (Some(reason), hint);
                }
                report
            }
        }
    }

    /// What a component file or plugin folder says about itself, and what it would get.
    ///
    /// # Errors
    /// It is not a component at all.
    pub async fn inspect(&self, path: &Path) -> Result<PluginInspection, Problem> {
        let package = Package::at(path);
        let (inner, looked_at) = (Arc::clone(&self.0), package.clone());
        let (seen, interface) = blocking(move || {
            let seen = inner.read(looked_at, true).map_err(|rejected| rejected.problem)?;
            let refused = |r: crate::interface::Refusal| Problem::new(&seen.plugin.path, r.reason, r.hint);
            let interface = Interface::read(&seen.bytes).map_err(refused)?;
            Ok((seen, interface))
        })
        .await
        .unwrap_or_else(|e| Err(Problem::new(path, e.to_string(), "")))?;
        let (plugin, size) = (&seen.plugin, seen.plugin.size);
        let imports = interface.import_uses(&plugin.policy);
        let Manifest { version, description, wants, .. } = plugin.manifest.clone();
        let policy = plugin.given.to_json();
        let (report, descriptors_size) = match self.describe(seen, false).await {
            Ok(Candidate { plugin, checked, warnings }) => {
                let bytes =
                    |t: &descriptors::CheckedTool| serde_json::to_vec(&*t.descriptor).map_or(0, |v| v.len() as u64);
                let size = checked.tools.iter().map(bytes).sum();
                let refused = checked.refused.into_iter().map(|r| r.reason);
                let warnings = warnings.into_iter().chain(refused).collect();
                (ready(&plugin, &checked.tools, warnings), size)
            }
            Err(rejected) => (PluginReport { policy, ..rejected.report() }, 0),
        };
        let Interface { world, exports, declared_memory, .. } = interface;
        Ok(PluginInspection {
            report,
            version,
            description,
            world,
            imports,
            exports,
            wants,
            size,
            declared_memory,
            descriptors_size,
        })
    }

    async fn load_from(&self, dirs: Vec<PathBuf>, explicit: bool, fresh: bool) -> Result<Catalog, RegistryError> {
        let (Scan { packages, problems }, hint) = blocking(move || scan_all(&dirs, explicit)).await??;
        let work = packages.into_iter().map(|package| self.candidate(package, fresh));
        let candidates = join_bounded(work, self.0.at_once).await;
        let mut builder = CatalogBuilder::new(&self.0.options.reserved, problems);
        for candidate in candidates {
            match candidate {
                Ok(candidate) => builder.add(candidate),
                Err(rejected) => builder.reject(*rejected),
            }
        }
        if !fresh {
            self.0.warn_of_idle_grants(&mut builder);
        }
        Ok(builder.finish(hint))
    }

    async fn candidate(&self, package: Package, fresh: bool) -> Result<Candidate, Box<Rejected>> {
        let (inner, looked_at) = (Arc::clone(&self.0), package.clone());
        let seen = blocking(move || inner.read(looked_at, !fresh)).await.unwrap_or_else(|e| {
            let problem = Problem::new(&package.path, e.to_string(), "");
            let name = clean_line(&package.stem);
            Err(Box::new(Rejected { name, path: package.path, sha256: None, problem, warnings: vec![] }))
        })?;
        self.describe(seen, fresh).await
    }

    /// Recalled or freshly given descriptors, checked.
    async fn describe(&self, seen: Seen, twice: bool) -> Result<Candidate, Box<Rejected>> {
        let Seen { plugin, bytes, warnings, recalled } = seen;
        let described = match recalled {
            Some(descriptors) => Ok(descriptors),
            None => self.ask(&plugin, bytes, twice).await.map_err(|f| RefusedTool { reason: f.0, hint: f.1 }),
        };
        match described.and_then(|descriptors| descriptors::check(&plugin.name, descriptors, &plugin.limits)) {
            Ok(checked) => Ok(Candidate { plugin, checked, warnings }),
            Err(RefusedTool { reason, hint }) => {
                let problem = Problem { hint, ..Problem::new(&plugin.path, reason, "") };
                let (name, path) = (plugin.name.to_string(), plugin.path);
                Err(Box::new(Rejected { name, path, sha256: Some(plugin.sha256), problem, warnings }))
            }
        }
    }

    /// Compiles the component and has it describe itself; both run under limits, in the sandbox.
    async fn ask(
        &self,
        plugin: &Plugin,
        bytes: Vec<u8>,
        twice: bool,
    ) -> Result<Vec<ToolDescriptor>, (String, Option<String>)> {
        let engine = &self.0.engine;
        let (compiler, digest, limits) = (engine.clone(), plugin.digest, plugin.limits.clone());
        let component = blocking(move || {
            let interface = Interface::read(&bytes).and_then(|i| i.refusal().map_or(Ok(()), Err));
            interface.map_err(|r| (r.reason, Some(r.hint.to_owned())))?;
            compiler.load(&bytes, &digest, &limits).map_err(|e| (e.to_string(), e.hint()))
        })
        .await
        .unwrap_or_else(|e| Err((e.to_string(), None)))?;
        let first = engine.describe(&component, &plugin.name, &plugin.limits).await.map_err(|f| in_words(&f))?;
        if twice {
            let second = engine.describe(&component, &plugin.name, &plugin.limits).await.map_err(|f| in_words(&f))?;
            if first != second {
                let reason = format!("plugin `{}` describes itself differently each time", plugin.name);
                return Err((reason, Some("make `describe` depend on nothing".to_owned())));
            }
        }
        let (engine, sha256) = (engine.clone(), plugin.sha256.clone());
        let first = blocking(move || {
            descriptors::remember(&engine, &sha256, &first);
            first
        })
        .await
        .map_err(|e| (e.to_string(), None))?;
        // Kept: without a cache it would be compiled again at the first call.
        let _ = plugin.component.set(component);
        Ok(first)
    }
}

impl Inner {
    /// Everything about a package that needs no guest: manifest, grant, bytes, hash, what is remembered.
    fn read(&self, package: Package, recall: bool) -> Result<Seen, Box<Rejected>> {
        let stem = clean_line(&package.stem);
        let rejected = |name: &str, problem| {
            let (name, path) = (name.to_owned(), package.path.clone());
            Box::new(Rejected { name, path, sha256: None, problem, warnings: Vec::new() })
        };
        let manifest = package.read_manifest().map_err(|problem| rejected(&stem, problem))?;
        let name = plugin_name(&manifest, &package).map_err(|problem| rejected(&stem, problem))?;
        let grant = self.options.grants.get(name.as_str());
        let most = self.limits_of(grant.map(|g| &g.limits), &manifest).0.file;
        let (bytes, digest) = package.read(most).map_err(|problem| rejected(name.as_str(), problem))?;
        let sha256 = hex(&digest);
        let given = Effective::new(&name, grant, manifest.wants.as_ref(), &sha256, &self.options.grounds);
        let (limits, cut) = self.limits_of(Some(&given.limits), &manifest);
        let warnings = given.warnings.iter().cloned().chain(cut).collect();
        let recalled = recall.then(|| descriptors::recall(&self.engine, &sha256)).flatten();
        let plugin = Plugin {
            name,
            path: package.path.clone(),
            sha256,
            size: bytes.len() as u64,
            manifest,
            policy: given.policy.clone(),
            limits,
            given,
            digest,
            package,
            engine: self.engine.clone(),
            component: OnceCell::new(),
        };
        Ok(Seen { plugin, bytes, warnings, recalled })
    }

    fn limits_of(&self, granted: Option<&LimitSettings>, manifest: &Manifest) -> (Limits, Vec<String>) {
        let none = LimitSettings::default();
        let granted = granted.unwrap_or(&none);
        let memory = granted.memory.or(self.options.limits.memory);
        let operator = LimitSettings { memory, ..LimitSettings::default() };
        self.limits.clone().with(granted).asked(&manifest.limits, &operator)
    }

    fn warn_of_idle_grants(&self, builder: &mut CatalogBuilder) {
        let seen: HashSet<String> = builder.seen().into_iter().map(str::to_owned).collect();
        for name in self.options.grants.keys().filter(|name| !seen.contains(*name)) {
            let names: Vec<&str> = seen.iter().map(String::as_str).collect();
            let near = nearest(name, &names).map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
            builder
                .warn(format!("[grants.{}] names no plugin that is here{near}", package::toml_key(&clean_line(name))));
        }
    }
}

fn plugin_name(manifest: &Manifest, package: &Package) -> Result<PluginName, Problem> {
    if let Some(name) = &manifest.name {
        return Ok(name.clone());
    }
    let refused = |reason: String| Problem::new(&package.path, reason, "rename it, or set `name` in its manifest");
    if !is_showable(&package.stem) {
        return Err(refused("its name has characters that cannot be shown safely".to_owned()));
    }
    package.stem.parse().map_err(|e: elysia_types::IdError| refused(e.to_string()))
}

/// The packages of all directories, each directory once, and a hint for when there are none.
fn scan_all(dirs: &[PathBuf], explicit: bool) -> Result<(Scan, Option<String>), RegistryError> {
    let mut all = Scan::default();
    let mut known = HashSet::new();
    let mut hint = None;
    for dir in dirs {
        if !known.insert(dir.canonicalize().unwrap_or_else(|_| dir.clone())) {
            continue;
        }
        match package::scan(dir)? {
            Some(mut scan) => {
                all.packages.append(&mut scan.packages);
                all.problems.append(&mut scan.problems);
            }
            None if explicit => {
                return Err(RegistryError::Directory { path: dir.clone(), reason: "it does not exist".to_owned() });
            }
            None => {
                hint = Some(format!(
                    "there is no plugins directory `{}`; create it or name one with `--plugins DIR`",
                    dir.display()
                ))
            }
        }
    }
    let empty = "no plugins were found; put `NAME.wasm` into a plugins directory or name one with `--plugins DIR`";
    Ok((all, hint.or_else(|| Some(empty.to_owned()))))
}

/// Reason and hint; what a message says about raising a limit becomes the hint.
fn in_words(failure: &Failure) -> (String, Option<String>) {
    let hint = failure.limit.as_ref().map(|limit| limit.raise_with.clone());
    let tail = hint.as_ref().map(|hint| format!("; to raise it, {hint}")).unwrap_or_default();
    let reason = failure.message.strip_suffix(&tail).unwrap_or(&failure.message);
    (reason.to_owned(), hint)
}

/// Runs blocking work off the runtime's workers.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, RegistryError> {
    tokio::task::spawn_blocking(work).await.map_err(|e| RegistryError::Task(e.to_string()))
}
