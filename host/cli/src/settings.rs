//! From flags, environment, project file and user file to one resolved [`HostConfig`].
//!
//! Flags beat environment beats project file beats user file beats defaults. Below [`resolve`] nobody reads a file
//! of configuration or a variable.

mod file;

mod model;

use std::path::{Path, PathBuf};

use elysia_host::{AgentProfile, Grant, HostConfig, ModelChoice, PluginDir, StoreTarget, TreeConfig, TreeError};
use elysia_types::{
    CallLimitSettings, CompileLimitSettings, DescribeLimitSettings, HttpLimitSettings, LimitSettings, SizeInBytes,
    SpanOfTime,
};
use indexmap::IndexMap;
use serde::Deserialize;

use crate::complaint::Complaint;
use crate::env::{self, Variables};
use crate::folders::Folders;

pub(crate) use file::{ConfigFile, Origin, PROJECT_FILE, powerful, read_project};

/// What one configuration file sets.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Options {
    pub(crate) agent: Option<AgentOptions>,
    pub(crate) tree: Option<TreeConfig>,
    pub(crate) models: Option<ModelOptions>,
    pub(crate) limits: Option<LimitSettings>,
    pub(crate) grants: Option<IndexMap<String, Grant>>,
    pub(crate) plugins: Option<PluginOptions>,
    pub(crate) store: Option<String>,
    pub(crate) mcp: Option<toml::Value>,
    pub(crate) secrets: Option<toml::Value>,
    pub(crate) private_hosts: Option<toml::Value>,
}

/// `[agent]`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AgentOptions {
    pub(crate) style: Option<String>,
    pub(crate) description: Option<String>,
    pub(crate) end_goal: Option<String>,
    pub(crate) timezone: Option<String>,
}

/// `[plugins]`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PluginOptions {
    /// Folders of plugins, from the file's own folder.
    pub(crate) dirs: Option<Vec<PathBuf>>,
}

/// `[models]`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ModelOptions {
    pub(crate) base: Option<OneOrMany>,
    pub(crate) complex: Option<OneOrMany>,
    pub(crate) openai: Option<OpenAiOptions>,
}

/// `[models.openai]`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct OpenAiOptions {
    pub(crate) base_url: Option<String>,
    /// Name of the variable that holds the key.
    pub(crate) api_key_env: Option<String>,
    /// File that holds the key.
    pub(crate) api_key_file: Option<PathBuf>,
    pub(crate) native_tools: Option<Switch>,
}

/// A model, or a chain of them.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged, expecting = "a model like \"openai:NAME\", or a list of them")]
pub(crate) enum OneOrMany {
    One(String),
    Many(Vec<String>),
}

/// `true`, `false` or `"auto"`.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(untagged, expecting = "true, false or \"auto\"")]
pub(crate) enum Switch {
    Fixed(bool),
    Word(Auto),
}

/// The word `auto`.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Auto {
    Auto,
}

/// What is set here stands; what is not comes from below.
pub(crate) trait Combine {
    #[must_use]
    fn combine(self, below: Self) -> Self;
}

impl<T: Combine> Combine for Option<T> {
    fn combine(self, below: Self) -> Self {
        match (self, below) {
            (Some(here), Some(below)) => Some(here.combine(below)),
            (here, below) => here.or(below),
        }
    }
}

impl Combine for IndexMap<String, Grant> {
    fn combine(mut self, below: Self) -> Self {
        for (name, grant) in below {
            self.entry(name).or_insert(grant);
        }
        self
    }
}

macro_rules! whole {
    ($($type:ty),* $(,)?) => { $(impl Combine for $type { fn combine(self, _: Self) -> Self { self } })* };
}
whole!(
    String,
    bool,
    u32,
    u64,
    PathBuf,
    Vec<PathBuf>,
    SizeInBytes,
    SpanOfTime,
    OneOrMany,
    Switch,
    TreeConfig,
    toml::Value
);

macro_rules! by_field {
    ($($type:ident { $($field:ident),* $(,)? })*) => {
        $(impl Combine for $type {
            fn combine(self, below: Self) -> Self {
                Self { $($field: self.$field.combine(below.$field)),* }
            }
        })*
    };
}
by_field! {
    Options { agent, tree, models, limits, grants, plugins, store, mcp, secrets, private_hosts }
    AgentOptions { style, description, end_goal, timezone }
    PluginOptions { dirs }
    ModelOptions { base, complex, openai }
    OpenAiOptions { base_url, api_key_env, api_key_file, native_tools }
    CompileLimitSettings { cpu, memory, wall }
    DescribeLimitSettings { cpu, wall }
    CallLimitSettings { query, plugin, session, host }
    HttpLimitSettings { requests, response, wall }
    LimitSettings {
        file, compile, memory, tables, instances, wall, cpu, describe, ask, calls, host_memory, events, yield_size,
        output, json_depth, tools, description, schema, descriptors, state, stdio, inputs, feedback, status, http,
        environment, decisions, query_wall, query_tokens, query, history, digest,
    }
}

/// What the command line says about settings.
#[derive(Clone, Debug, Default)]
pub(crate) struct Flags {
    pub(crate) plugins: Vec<PathBuf>,
    pub(crate) config: Option<PathBuf>,
    pub(crate) store: Option<String>,
    pub(crate) model: Option<String>,
    /// Nothing is kept.
    pub(crate) forget: bool,
}

/// How much of the configuration a command needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Need {
    /// The store alone: no plugin is loaded.
    Store,
    /// Plugins and tree; no model.
    Plugins,
    /// All of it.
    Model,
}

/// Something the user should know about the settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Notice {
    pub(crate) text: String,
    pub(crate) hint: Option<String>,
}

impl Notice {
    fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), hint: None }
    }
}

/// Settings, resolved.
pub(crate) struct Settings {
    pub(crate) host: HostConfig,
    /// The model taken and why; none when no model is needed.
    pub(crate) model: Option<String>,
    pub(crate) notices: Vec<Notice>,
    pub(crate) files: Vec<ConfigFile>,
}

impl Settings {
    /// A tree error with the place of its key.
    pub(crate) fn locate(&self, error: &TreeError) -> Complaint {
        let place = self.files.iter().find(|f| f.options.tree.is_some()).and_then(|f| f.place_of(error.key()));
        match place {
            Some(place) => Complaint::usage(format!("{place}: {error}")),
            None => Complaint::usage(error.to_string()),
        }
        .hint("correct the key in the file; `elysia-host tree` shows the tree when it is whole")
    }

    /// The resolved `limits.query`: longest prompt in bytes.
    pub(crate) fn longest_query(&self) -> u64 {
        elysia_types::QueryBudget::default().with(&self.host.limits).prompt
    }
}

/// Reads files and variables and decides everything.
///
/// # Errors
/// The first thing that cannot be used, with its place.
pub(crate) fn resolve(flags: &Flags, variables: &Variables, need: Need) -> Result<Settings, Complaint> {
    let folders = Folders::find(variables)?;
    let here = current_folder()?;
    let mut files = file::read_all(flags.config.as_deref(), &folders)?;
    let mut notices: Vec<Notice> = files.iter().filter_map(ConfigFile::inert_notice).collect();
    let implicit = flags.plugins.is_empty() && files.iter().all(|file| file.options.plugins.is_none());
    if implicit {
        files.iter_mut().filter(|file| file.origin == Origin::User).for_each(ConfigFile::bind_grants);
    }
    let options = files.iter().rev().fold(Options::default(), |below, file| file.options.clone().combine(below));
    without_effect(&options, &mut notices);
    let time_zone = time_zone(&options, &files, variables)?;
    let (mut choice, mut model) = (ModelChoice::Local, None);
    if need == Need::Model {
        let chosen = model::choose(flags.model.as_deref(), variables, &options, &files, &here)
            .map_err(|complaint| complaint.after(notices.iter().map(|notice| notice.text.clone())))?;
        notices.extend(chosen.passed_over);
        (choice, model) = (chosen.choice, Some(chosen.said));
    }
    let store = store(flags, variables, &options, &folders, &here)?;
    let agent = options.agent.unwrap_or_default();
    let host = HostConfig {
        plugin_dirs: plugin_dirs(flags, options.plugins, need),
        base_dir: here,
        grants: options.grants.unwrap_or_default(),
        limits: options.limits.unwrap_or_default(),
        tree: if need == Need::Store { TreeConfig::default() } else { options.tree.unwrap_or_default() },
        profile: AgentProfile { style: agent.style, description: agent.description, end_goal: agent.end_goal },
        time_zone,
        model: choice,
        store,
        cache_dir: (need != Need::Store).then(|| folders.cache.clone()),
        state_dir: folders.state.clone(),
    };
    Ok(Settings { host, model, notices, files })
}

fn current_folder() -> Result<PathBuf, Complaint> {
    std::env::current_dir().map_err(|e| {
        let why = crate::printer::reason(&e);
        Complaint::usage(format!("the current folder cannot be used: {why}")).hint("`cd` to a folder that exists")
    })
}

/// Keys that parse but do nothing in this version are said to do nothing.
fn without_effect(options: &Options, notices: &mut Vec<Notice>) {
    let set = [
        ("mcp", options.mcp.is_some()),
        ("secrets", options.secrets.is_some()),
        ("private_hosts", options.private_hosts.is_some()),
        ("models.complex", options.models.as_ref().is_some_and(|m| m.complex.is_some())),
    ];
    for (key, _) in set.into_iter().filter(|(_, set)| *set) {
        notices.push(Notice::new(format!("`{key}` has no effect in this version")));
    }
}

fn time_zone(options: &Options, files: &[ConfigFile], variables: &Variables) -> Result<Option<String>, Complaint> {
    let known = |name: &str| jiff::tz::TimeZone::get(name).is_ok();
    if let Some(name) = options.agent.as_ref().and_then(|agent| agent.timezone.clone()) {
        if known(&name) {
            return Ok(Some(name));
        }
        let place =
            files.iter().find_map(|f| f.options.agent.as_ref()?.timezone.as_ref().and(f.place_of("agent.timezone")));
        let place = place.map(|place| format!("{place}: ")).unwrap_or_default();
        let name = elysia_types::clean_line(&name);
        return Err(Complaint::usage(format!("{place}`{name}` is not a time zone"))
            .hint("write an IANA name, for example timezone = \"Europe/Paris\""));
    }
    // A `TZ` that is no IANA name (`:/etc/localtime`, `EST5EDT4`) is left to the system's own rules.
    Ok(variables.text(env::TZ)?.filter(|name| known(name)))
}

fn plugin_dirs(flags: &Flags, options: Option<PluginOptions>, need: Need) -> Vec<PluginDir> {
    let explicit = |path| PluginDir { path, explicit: true };
    match options.and_then(|plugins| plugins.dirs) {
        _ if need == Need::Store => Vec::new(),
        _ if !flags.plugins.is_empty() => flags.plugins.iter().cloned().map(explicit).collect(),
        Some(dirs) => dirs.into_iter().map(explicit).collect(),
        None => vec![PluginDir { path: PathBuf::from("plugins"), explicit: false }],
    }
}

fn store(
    flags: &Flags,
    variables: &Variables,
    options: &Options,
    folders: &Folders,
    here: &Path,
) -> Result<StoreTarget, Complaint> {
    if flags.forget {
        return Ok(StoreTarget::Memory);
    }
    let asked = match &flags.store {
        Some(store) => Some(store.clone()),
        None => variables.text(env::ELYSIA_STORE)?.or_else(|| options.store.clone()),
    };
    let Some(asked) = asked else {
        return Ok(StoreTarget::Path(folders.data.join("sessions.sqlite")));
    };
    store_path(&asked, here).map(StoreTarget::Path)
}

/// A path, or `sqlite:PATH`; other schemes belong to later versions.
fn store_path(asked: &str, start: &Path) -> Result<PathBuf, Complaint> {
    let path = match asked.split_once(':') {
        Some(("sqlite", rest)) => rest.strip_prefix("//").unwrap_or(rest),
        Some((scheme, rest)) if rest.starts_with("//") => {
            // The address may hold a password: only the scheme is shown.
            let scheme = elysia_types::clean_line(scheme);
            return Err(Complaint::usage(format!("a store at `{scheme}://…` is not in this version yet"))
                .hint("name a SQLite file: `--store sessions.sqlite`"));
        }
        _ => asked,
    };
    if path.trim().is_empty() {
        return Err(Complaint::usage("the store has no name").hint("name a SQLite file: `--store sessions.sqlite`"));
    }
    Ok(start.join(path))
}

#[cfg(test)]
mod tests;
