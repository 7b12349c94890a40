//! Configuration, fully resolved: no file, flag or environment variable is read below this line.

use std::path::PathBuf;

use elysia_decision::{AgentProfile, TreeConfig};
use elysia_provider::{NativeTools, Secret};
use elysia_registry::Grant;
use elysia_types::LimitSettings;
use indexmap::IndexMap;

/// One folder of plugins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PluginDir {
    /// The folder.
    pub path: PathBuf,
    /// The user named it: when it is missing that is an error, not an empty catalog.
    pub explicit: bool,
}

/// Which model decides.
#[derive(Clone, Debug)]
pub enum ModelChoice {
    /// The embedded agent; nothing leaves the machine.
    Local,
    /// Replies from a JSON Lines file.
    Scripted(PathBuf),
    /// Any endpoint that speaks OpenAI's chat completions.
    OpenAi {
        /// Provider as the user names it: `openai`, `ollama`.
        provider_label: String,
        /// E.g. `https://api.openai.com/v1`.
        base_url: String,
        /// Model name at the endpoint.
        model: String,
        /// Key, where the endpoint wants one.
        api_key: Option<Secret>,
        /// Whether the endpoint's own tool calling is used.
        native_tools: NativeTools,
    },
}

/// Where sessions are kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoreTarget {
    /// A SQLite file.
    Path(PathBuf),
    /// Gone with the process.
    Memory,
}

/// Everything a [`Host`](crate::Host) needs to know.
#[derive(Clone, Debug)]
pub struct HostConfig {
    /// Folders of plugins, in order.
    pub plugin_dirs: Vec<PluginDir>,
    /// Folder that relative paths in grants start from.
    pub base_dir: PathBuf,
    /// What the operator allows, by plugin name.
    pub grants: IndexMap<String, Grant>,
    /// The operator's `[limits]`.
    pub limits: LimitSettings,
    /// The operator's `[tree]`.
    pub tree: TreeConfig,
    /// The operator's `[agent]`.
    pub profile: AgentProfile,
    /// IANA name; none is the system's zone.
    pub time_zone: Option<String>,
    /// Which model decides.
    pub model: ModelChoice,
    /// Where sessions are kept.
    pub store: StoreTarget,
    /// Compiled code and descriptors; none compiles anew at each start.
    pub cache_dir: Option<PathBuf>,
    /// Keys and what is trusted; private to the user.
    pub state_dir: PathBuf,
}

impl HostConfig {
    /// The embedded agent, no plugins, sessions in memory, compiled code and keys below `dir`.
    pub fn local(dir: PathBuf) -> Self {
        Self {
            plugin_dirs: Vec::new(),
            base_dir: dir.clone(),
            grants: IndexMap::new(),
            limits: LimitSettings::default(),
            tree: TreeConfig::default(),
            profile: AgentProfile::default(),
            time_zone: None,
            model: ModelChoice::Local,
            store: StoreTarget::Memory,
            cache_dir: Some(dir.join("cache")),
            state_dir: dir.join("state"),
        }
    }
}
