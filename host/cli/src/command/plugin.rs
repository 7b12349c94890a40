//! `plugin`: list, inspect, check and call.

mod call;

mod inspect;

use std::path::Path;

use elysia_host::{Host, HostError, PluginReport, Problem};
use elysia_types::clean_line;

use super::Context;
use crate::args::{DataFormat, Plugin, PluginCheck, PluginList};
use crate::complaint::{Complaint, FAILED};
use crate::folders::Folders;
use crate::interrupt::Interrupt;
use crate::settings::Need;
use crate::table;

pub(super) async fn run(context: &Context<'_>, command: Plugin) -> Result<u8, Complaint> {
    match command {
        Plugin::List(args) => list(context, &args).await,
        Plugin::Inspect(args) => inspect::run(context, &args).await,
        Plugin::Check(args) => check(context, &args).await,
        Plugin::Call(args) => call::run(context, args).await,
    }
}

async fn list(context: &Context<'_>, args: &PluginList) -> Result<u8, Complaint> {
    let settings = context.settings(&context.flags(), Need::Plugins)?;
    let host = context.open(&settings, &mut Interrupt::watch()?).await?;
    let reports = reports(&host);
    if args.output == DataFormat::Json {
        context.printer.json(&reports)?;
        return Ok(0);
    }
    if reports.is_empty() {
        return Ok(0);
    }
    let mut rows = Vec::new();
    for report in &reports {
        let name = clean_line(&report.name);
        if report.tools.is_empty() {
            let why = report.reason.as_deref().map(clean_line).unwrap_or_default();
            rows.push(vec![name, state(report), String::new(), why]);
            continue;
        }
        for (i, tool) in report.tools.iter().enumerate() {
            let (name, state) = if i == 0 { (name.clone(), state(report)) } else { Default::default() };
            rows.push(vec![name, state, tool.name.clone(), clean_line(&tool.description)]);
        }
    }
    context.printer.line(&table::list(&["PLUGIN", "STATE", "TOOL", "DESCRIPTION"], &rows, context.printer.width()))?;
    Ok(0)
}

/// All plugins, each tool with its place in the tree.
fn reports(host: &Host) -> Vec<PluginReport> {
    let (catalog, tree) = (host.catalog(), host.tree());
    let mut reports = catalog.reports().to_vec();
    for tool in reports.iter_mut().flat_map(|report| report.tools.iter_mut()) {
        if let Some(branch) = tree.tool(&tool.name).and_then(|(_, leaf)| tree.branch(leaf.branch)) {
            tool.branch.clone_from(&branch.id);
        }
    }
    reports
}

/// The state as it stands in JSON.
fn state(report: &PluginReport) -> String {
    let state = serde_json::to_value(report.state).unwrap_or_default();
    state.as_str().unwrap_or_default().to_owned()
}

async fn check(context: &Context<'_>, args: &PluginCheck) -> Result<u8, Complaint> {
    let path = args.path.as_path();
    let shown = clean_line(&path.display().to_string());
    let about = path.symlink_metadata().map_err(|e| {
        Complaint::usage(format!("`{shown}` cannot be read: {}", crate::printer::reason(&e)))
            .hint("name a component file, a plugin's folder, or a folder of plugins")
    })?;
    // The plugins of the usual folder are not what is checked.
    let mut settings = context.settings(&context.flags(), Need::Store)?;
    settings.host.cache_dir = Some(Folders::find(&context.variables)?.cache);
    let mut interrupt = Interrupt::watch()?;
    let host = interrupt.or(context.load(&settings)).await?;
    context.printer.busy("checking");
    let holds_plugins = about.is_dir() && !path.join("plugin.wasm").exists();
    let good = if holds_plugins {
        let catalog = interrupt.or(async { host.loader().check_dir(path).await.map_err(HostError::Plugins) }).await?;
        context.printer.rest();
        say_checked(context, catalog.reports(), catalog.problems())?
    } else {
        let report = interrupt.or(async { Ok::<_, Complaint>(host.loader().check(path).await) }).await?;
        context.printer.rest();
        say_checked(context, std::slice::from_ref(&report), &[])?
    };
    Ok(if good { 0 } else { FAILED })
}

/// Prints a line for each plugin and each problem; whether all is well.
fn say_checked(context: &Context<'_>, reports: &[PluginReport], problems: &[Problem]) -> Result<bool, Complaint> {
    let printer = context.printer;
    let mut good = true;
    for report in reports {
        let (name, file) = (clean_line(&report.name), file_name(&report.path));
        match &report.reason {
            None => printer.line(&format!("ok       {file}: plugin {name}, {}", tools(report)))?,
            Some(reason) => {
                good = false;
                printer.line(&format!("problem  {file}: {}", clean_line(reason)))?;
                if let Some(hint) = &report.hint {
                    printer.line(&format!("hint:    {}", clean_line(hint)))?;
                }
            }
        }
        for warning in &report.warnings {
            printer.line(&format!("warning  {file}: {}", clean_line(warning)))?;
        }
    }
    // A plugin that failed stands among the reports with the same reason.
    let told = |problem: &Problem| {
        reports.iter().any(|r| r.path == problem.path && r.reason.as_ref() == Some(&problem.reason))
    };
    for problem in problems.iter().filter(|problem| !told(problem)) {
        let word = if problem.quiet { "skipped" } else { "problem" };
        good &= problem.quiet;
        printer.line(&format!("{word}  {}: {}", clean_line(&problem.name), clean_line(&problem.reason)))?;
        if let Some(hint) = &problem.hint {
            printer.line(&format!("hint:    {}", clean_line(hint)))?;
        }
    }
    if reports.is_empty() && problems.is_empty() {
        printer.line("there are no plugins in it")?;
    }
    Ok(good)
}

fn tools(report: &PluginReport) -> String {
    let names: Vec<&str> = report.tools.iter().map(|tool| tool.name.as_str()).collect();
    match names.as_slice() {
        [] => "no tools".to_owned(),
        [one] => format!("tool {one}"),
        many => format!("tools {}", many.join(", ")),
    }
}

/// A component's file, with its folder where the name alone says nothing.
fn file_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or(path.as_os_str());
    let folder = path.parent().and_then(Path::file_name).filter(|_| name == "plugin.wasm");
    let shown = folder.map_or_else(|| Path::new(name).to_owned(), |folder| Path::new(folder).join(name));
    clean_line(&shown.display().to_string())
}
