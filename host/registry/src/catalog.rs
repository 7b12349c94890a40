//! An immutable snapshot of all tools: names are unique, looked up by name, with a report on every plugin.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use elysia_types::{InputSchema, ToolDescriptor};
use serde_json::json;

use crate::descriptors::{Checked, CheckedTool};
use crate::plugin::Plugin;
use crate::report::{PluginReport, PluginState, Problem, ToolReport};

/// Names that belong to the host.
pub(crate) const BUILT_INS: [&str; 5] = ["text_response", "summarize", "back", "impossible", "ask"];

/// All tools of all plugins as they stood when it was built. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct Catalog(Arc<Contents>);

#[derive(Debug, Default)]
struct Contents {
    tools: Vec<CatalogTool>,
    by_name: HashMap<String, usize>,
    plugins: Vec<Arc<Plugin>>,
    reports: Vec<PluginReport>,
    problems: Vec<Problem>,
    warnings: Vec<String>,
    hint: Option<String>,
}

/// One tool with the plugin it belongs to.
#[derive(Clone, Debug)]
pub struct CatalogTool {
    /// Whose it is.
    pub plugin: Arc<Plugin>,
    /// As described.
    pub descriptor: Arc<ToolDescriptor>,
    /// Its input schema, checked.
    pub schema: Arc<InputSchema>,
}

impl Catalog {
    /// Without tools.
    pub fn empty() -> Self {
        Self::default()
    }

    /// All tools, plugins in the order of directories and file names.
    pub fn tools(&self) -> impl Iterator<Item = &CatalogTool> {
        self.0.tools.iter()
    }

    /// The tool of this name.
    pub fn tool(&self, name: &str) -> Option<&CatalogTool> {
        self.0.tools.get(*self.0.by_name.get(name)?)
    }

    /// Plugins with at least one tool here.
    pub fn plugins(&self) -> &[Arc<Plugin>] {
        &self.0.plugins
    }

    /// One on each entry that is or should be a plugin.
    pub fn reports(&self) -> &[PluginReport] {
        &self.0.reports
    }

    /// Entries and tools that were not taken.
    pub fn problems(&self) -> &[Problem] {
        &self.0.problems
    }

    /// All warnings for people: those of the plugins, each naming its plugin, and of grants to nobody.
    pub fn warnings(&self) -> Vec<String> {
        let of_plugins = self.0.reports.iter().flat_map(|report| {
            report.warnings.iter().map(move |warning| format!("plugin `{}`: {warning}", report.name))
        });
        of_plugins.chain(self.0.warnings.iter().cloned()).collect()
    }

    /// How to get plugins, when there are none.
    pub fn hint(&self) -> Option<&str> {
        self.0.hint.as_deref()
    }
}

/// A plugin that loaded, before names are settled.
#[derive(Debug)]
pub(crate) struct Candidate {
    pub(crate) plugin: Plugin,
    pub(crate) checked: Checked,
    pub(crate) warnings: Vec<String>,
}

/// A package that did not load.
#[derive(Debug)]
pub(crate) struct Rejected {
    pub(crate) name: String,
    pub(crate) path: PathBuf,
    pub(crate) sha256: Option<String>,
    pub(crate) problem: Problem,
    pub(crate) warnings: Vec<String>,
}

impl Rejected {
    pub(crate) fn report(&self) -> PluginReport {
        PluginReport {
            name: self.name.clone(),
            path: self.path.clone(),
            sha256: self.sha256.clone(),
            state: PluginState::Failed,
            reason: Some(self.problem.reason.clone()),
            hint: self.problem.hint.clone(),
            tools: Vec::new(),
            policy: json!({}),
            warnings: self.warnings.clone(),
        }
    }
}

/// Settles names, in the order in which plugins are given: the first keeps a name.
pub(crate) struct CatalogBuilder {
    contents: Contents,
    reserved: Vec<String>,
}

impl CatalogBuilder {
    /// `reserved`: names besides the built-ins that no plugin's tool may have.
    pub(crate) fn new(reserved: &[String], problems: Vec<Problem>) -> Self {
        Self { contents: Contents { problems, ..Contents::default() }, reserved: reserved.to_vec() }
    }

    pub(crate) fn reject(&mut self, rejected: Rejected) {
        self.contents.reports.push(rejected.report());
        self.contents.problems.push(rejected.problem);
    }

    pub(crate) fn add(&mut self, candidate: Candidate) {
        let Candidate { plugin, mut checked, warnings } = candidate;
        if let Some(first) = self.contents.plugins.iter().find(|p| p.name == plugin.name) {
            let reason = format!(
                "its name `{}` is already that of the plugin at `{}`, which keeps it",
                plugin.name,
                first.path.display()
            );
            let problem = Problem::new(&plugin.path, reason, "give one of them another `name` in its manifest");
            return self.reject(rejected(&plugin, problem, warnings));
        }
        let (kept, clashes): (Vec<_>, Vec<_>) = checked
            .tools
            .drain(..)
            .map(|tool| self.clash(&plugin, &tool).map_or(Ok(tool), Err))
            .partition(Result::is_ok);
        let mut problems: Vec<Problem> = checked
            .refused
            .into_iter()
            .map(|refused| problem(&plugin, refused.reason, refused.hint))
            .chain(clashes.into_iter().filter_map(Result::err))
            .collect();
        let kept: Vec<CheckedTool> = kept.into_iter().filter_map(Result::ok).collect();
        if kept.is_empty() {
            let reasons: Vec<&str> = problems.iter().map(|p| p.reason.as_str()).collect();
            let reason = format!("none of its tools can be taken: {}", reasons.join("; "));
            let hint = problems.into_iter().find_map(|p| p.hint);
            let whole = Problem { hint, ..Problem::new(&plugin.path, reason, "") };
            return self.reject(rejected(&plugin, whole, warnings));
        }
        self.contents.problems.append(&mut problems);
        self.take(plugin, kept, warnings);
    }

    fn take(&mut self, plugin: Plugin, tools: Vec<CheckedTool>, warnings: Vec<String>) {
        let plugin = Arc::new(plugin);
        self.contents.reports.push(ready(&plugin, &tools, warnings));
        for CheckedTool { descriptor, schema } in tools {
            self.contents.by_name.insert(descriptor.name.to_string(), self.contents.tools.len());
            self.contents.tools.push(CatalogTool { plugin: Arc::clone(&plugin), descriptor, schema });
        }
        self.contents.plugins.push(plugin);
    }

    fn clash(&self, plugin: &Plugin, tool: &CheckedTool) -> Option<Problem> {
        let name = tool.descriptor.name.as_str();
        let reason = if BUILT_INS.contains(&name) || self.reserved.iter().any(|r| r == name) {
            format!("plugin `{}`: its tool `{name}` has the name of a built-in of the host and is refused", plugin.name)
        } else {
            let first = self.contents.tools.get(*self.contents.by_name.get(name)?)?;
            format!(
                "plugin `{}`: its tool `{name}` has the name of a tool of plugin `{}`, which keeps it, and is refused",
                plugin.name, first.plugin.name
            )
        };
        Some(problem(plugin, reason, Some("rename the tool in one of the plugins, or remove one of them".to_owned())))
    }

    pub(crate) fn warn(&mut self, warning: String) {
        self.contents.warnings.push(warning);
    }

    /// Names of all plugins seen, loaded or not.
    pub(crate) fn seen(&self) -> Vec<&str> {
        self.contents.reports.iter().map(|r| r.name.as_str()).collect()
    }

    /// `hint` is kept when there are no tools.
    pub(crate) fn finish(mut self, hint: Option<String>) -> Catalog {
        self.contents.hint = hint.filter(|_| self.contents.tools.is_empty());
        Catalog(Arc::new(self.contents))
    }
}

fn problem(plugin: &Plugin, reason: String, hint: Option<String>) -> Problem {
    Problem { path: plugin.path.clone(), name: plugin.name.to_string(), reason, hint, quiet: false }
}

fn rejected(plugin: &Plugin, problem: Problem, warnings: Vec<String>) -> Rejected {
    let (name, path) = (plugin.name.to_string(), plugin.path.clone());
    Rejected { name, path, sha256: Some(plugin.sha256.clone()), problem, warnings }
}

/// The report on a plugin that works.
pub(crate) fn ready(plugin: &Plugin, tools: &[CheckedTool], warnings: Vec<String>) -> PluginReport {
    PluginReport {
        name: plugin.name.to_string(),
        path: plugin.path.clone(),
        sha256: Some(plugin.sha256.clone()),
        state: PluginState::Ready,
        reason: None,
        hint: None,
        tools: tools.iter().map(|t| ToolReport::from(&*t.descriptor)).collect(),
        policy: plugin.given.to_json(),
        warnings,
    }
}
