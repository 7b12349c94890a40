//! `plugin inspect`: all there is to know about one plugin.

use std::path::{Path, PathBuf};

use elysia_host::{Host, PluginInspection, Problem, nearest};
use elysia_types::{SizeInBytes, clean, clean_line};
use serde_json::Value;

use super::Context;
use crate::args::{DataFormat, PluginInspect};
use crate::complaint::{Complaint, FAILED};
use crate::interrupt::Interrupt;
use crate::printer::Printer;
use crate::settings::Need;

pub(super) async fn run(context: &Context<'_>, args: &PluginInspect) -> Result<u8, Complaint> {
    let settings = context.settings(&context.flags(), Need::Plugins)?;
    let mut interrupt = Interrupt::watch()?;
    // Opened without a word about the other plugins.
    let host = interrupt.or(context.load(&settings)).await?;
    let path = path_of(&host, &args.plugin)?;
    let inspection = interrupt.or(async { host.loader().inspect(&path).await.map_err(refused) }).await?;
    match args.output {
        DataFormat::Json => context.printer.json(&inspection)?,
        DataFormat::Text => show(context, &inspection)?,
    }
    Ok(0)
}

fn refused(problem: Problem) -> Complaint {
    Complaint {
        message: format!("{}: {}", clean_line(&problem.name), clean_line(&problem.reason)),
        hint: problem.hint,
        exit: FAILED,
        notices: Vec::new(),
    }
}

/// The file of a plugin given by name, or the file itself. A name wins.
fn path_of(host: &Host, given: &Path) -> Result<PathBuf, Complaint> {
    let reports = super::reports(host);
    if let Some(report) = given.to_str().and_then(|name| reports.iter().find(|report| report.name == name)) {
        return Ok(report.path.clone());
    }
    if given.exists() {
        return Ok(given.to_owned());
    }
    let shown = clean_line(&given.display().to_string());
    let names: Vec<&str> = reports.iter().map(|report| report.name.as_str()).collect();
    let complaint = Complaint::usage(format!("there is no plugin and no file `{shown}`"));
    Err(complaint.hint(match nearest(&shown, &names) {
        Some(near) => format!("did you mean `{near}`?"),
        None => "`elysia-host plugin list` shows the plugins there are".to_owned(),
    }))
}

fn show(context: &Context<'_>, inspection: &PluginInspection) -> Result<(), Complaint> {
    let printer = context.printer;
    // Read through its JSON, so that both outputs say the same.
    let facts = serde_json::to_value(inspection).unwrap_or_default();
    let text = |key: &str| facts.get(key).and_then(Value::as_str).map(clean_line);
    let line = |label: &str, value: &str| printer.line(&format!("{label:<13}{value}"));
    for key in ["name", "version", "description", "path", "sha256", "state", "reason"] {
        if let Some(value) = text(key) {
            line(key, &value)?;
        }
    }
    line("world", &world(facts.get("world").unwrap_or(&Value::Null)))?;
    let sizes = [
        ("file", inspection.size),
        ("memory", inspection.declared_memory),
        ("descriptors", inspection.descriptors_size),
    ];
    let sizes = sizes.map(|(what, bytes)| format!("{what} {}", SizeInBytes(bytes)));
    line("sizes", &sizes.join(", "))?;
    line("policy", &compact(facts.get("policy")))?;
    if let Some(wants) = facts.get("wants") {
        line("wants", &compact(Some(wants)))?;
    }
    printer.heading("imports")?;
    for import in facts.get("imports").and_then(Value::as_array).into_iter().flatten() {
        let of = |key: &str| import.get(key).and_then(Value::as_str).map(clean_line).unwrap_or_default();
        printer.line(&format!("  {:<9}{}", of("standing"), of("name")))?;
    }
    printer.heading("exports")?;
    for export in &inspection.exports {
        printer.line(&format!("  {}", clean_line(export)))?;
    }
    show_tools(printer, inspection)?;
    for warning in &inspection.report.warnings {
        printer.warning(&clean_line(warning), None);
    }
    Ok(())
}

fn show_tools(printer: &Printer, inspection: &PluginInspection) -> Result<(), Complaint> {
    for tool in &inspection.report.tools {
        printer.heading(&format!("tool {}", tool.name))?;
        for paragraph in clean(&tool.description).lines() {
            printer.line(&format!("  {paragraph}"))?;
        }
        let effects = serde_json::to_value(tool.effects).unwrap_or_default();
        let ends = if tool.may_end { "may end the query" } else { "never ends the query" };
        printer.line(&format!(
            "  effects {}, {ends}, branch {}",
            effects.as_str().unwrap_or_default(),
            clean_line(&tool.branch)
        ))?;
        let schema = serde_json::to_string_pretty(&tool.input_schema).unwrap_or_default();
        for schema_line in schema.lines() {
            printer.line(&format!("  {}", clean(schema_line)))?;
        }
    }
    Ok(())
}

fn compact(value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => "nothing".to_owned(),
        Some(Value::Object(map)) if map.is_empty() => "nothing".to_owned(),
        Some(value) => clean_line(&value.to_string()),
    }
}

fn world(world: &Value) -> String {
    match world {
        Value::Object(map) => {
            let parts = map.iter().map(|(name, version)| format!("{name} {}", version.as_str().unwrap_or_default()));
            clean_line(&parts.collect::<Vec<_>>().join(", "))
        }
        other => clean_line(other.as_str().unwrap_or_default()),
    }
}
