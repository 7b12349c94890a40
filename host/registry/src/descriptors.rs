//! Descriptors of a plugin's tools: remembered by the hash of its bytes, and checked against limits every time.

use std::sync::Arc;

use elysia_sandbox::Engine;
use elysia_types::{InputSchema, LimitReport, Limits, PluginName, SizeInBytes, ToolDescriptor, ToolName};

use crate::package::toml_key;

const KIND: &str = "descriptors";
/// Raise when the shape of a descriptor or what counts as a plugin changes: then all are described anew.
const VERSION: u32 = 1;

/// A tool that passed the checks.
#[derive(Clone, Debug)]
pub(crate) struct CheckedTool {
    pub(crate) descriptor: Arc<ToolDescriptor>,
    pub(crate) schema: Arc<InputSchema>,
}

/// Tools that passed and sentences about those that did not.
#[derive(Debug, Default)]
pub(crate) struct Checked {
    pub(crate) tools: Vec<CheckedTool>,
    pub(crate) refused: Vec<RefusedTool>,
}

/// A tool that is not taken: why, and what helps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RefusedTool {
    pub(crate) reason: String,
    pub(crate) hint: Option<String>,
}

fn key(sha256: &str) -> String {
    format!("{VERSION}-{sha256}")
}

/// What the plugin with these bytes said before.
pub(crate) fn recall(engine: &Engine, sha256: &str) -> Option<Vec<ToolDescriptor>> {
    serde_json::from_slice(&engine.cache()?.get(KIND, &key(sha256))?).ok()
}

/// Keeps what it said.
pub(crate) fn remember(engine: &Engine, sha256: &str, descriptors: &[ToolDescriptor]) {
    if let Some(cache) = engine.cache()
        && let Ok(bytes) = serde_json::to_vec(descriptors)
    {
        cache.put(KIND, &key(sha256), &bytes);
    }
}

/// Counts, sizes, names and schemas.
///
/// # Errors
/// The whole is over a limit: none of its tools is taken.
pub(crate) fn check(
    plugin: &PluginName,
    descriptors: Vec<ToolDescriptor>,
    limits: &Limits,
) -> Result<Checked, RefusedTool> {
    if descriptors.is_empty() {
        return Err(RefusedTool { reason: format!("plugin `{plugin}` describes no tools"), hint: None });
    }
    if descriptors.len() > limits.tools as usize {
        let (most, has) = (limits.tools.to_string(), descriptors.len().to_string());
        return Err(over(plugin, None, report(plugin, "tools", most, has.clone(), &has)));
    }
    let sizes: u64 = descriptors.iter().map(|d| serde_json::to_vec(d).map_or(0, |v| v.len() as u64)).sum();
    if sizes > limits.descriptors {
        return Err(over(plugin, None, size_report(plugin, "descriptors", limits.descriptors, sizes)));
    }
    for descriptor in &descriptors {
        check_sizes(plugin, descriptor, limits)?;
    }
    let mut checked = Checked::default();
    for descriptor in descriptors {
        let name = descriptor.name.clone();
        if checked.tools.iter().any(|t| t.descriptor.name == name) {
            let reason = format!("plugin `{plugin}` describes its tool `{name}` twice; the first counts");
            checked.refused.push(RefusedTool { reason, hint: None });
            continue;
        }
        match InputSchema::new(descriptor.input_schema.clone()) {
            Ok(schema) => {
                checked.tools.push(CheckedTool { descriptor: Arc::new(descriptor), schema: Arc::new(schema) });
            }
            Err(e) => checked.refused.push(RefusedTool {
                reason: format!("plugin `{plugin}`: the input schema of its tool `{name}` is refused: {e}"),
                hint: Some("correct it in the plugin: JSON Schema 2020-12 without outside references".to_owned()),
            }),
        }
    }
    Ok(checked)
}

fn check_sizes(plugin: &PluginName, descriptor: &ToolDescriptor, limits: &Limits) -> Result<(), RefusedTool> {
    let output = descriptor.output_schema.as_ref().map_or(0, |schema| schema.to_string().len());
    for (limit, most, has) in [
        ("description", limits.description, descriptor.description.len()),
        ("schema", limits.schema, descriptor.input_schema.to_string().len()),
        ("schema", limits.schema, output),
    ] {
        if has as u64 > most {
            return Err(over(plugin, Some(&descriptor.name), size_report(plugin, limit, most, has as u64)));
        }
    }
    Ok(())
}

fn size_report(plugin: &PluginName, limit: &str, most: u64, has: u64) -> LimitReport {
    let enough = format!("\"{}KiB\"", has.div_ceil(1024));
    // Exact where a rounded size could read like the limit itself.
    let observed = if has < 2 * most { format!("{has} B") } else { SizeInBytes(has).to_string() };
    report(plugin, limit, SizeInBytes(most).to_string(), observed, &enough)
}

fn report(plugin: &PluginName, limit: &str, configured: String, observed: String, enough: &str) -> LimitReport {
    let raise_with = format!(
        "set `limits = {{ {limit} = {enough} }}` under `[grants.{}]` in elysia.toml",
        toml_key(plugin.as_str())
    );
    LimitReport { name: limit.to_owned(), configured, observed, raise_with }
}

fn over(plugin: &PluginName, tool: Option<&ToolName>, limit: LimitReport) -> RefusedTool {
    let whose = tool.map_or_else(String::new, |tool| format!(" at its tool `{tool}`"));
    let LimitReport { name, configured, observed, raise_with } = limit;
    RefusedTool {
        reason: format!("plugin `{plugin}`{whose}: `limits.{name}` is {configured}, observed {observed}"),
        hint: Some(raise_with),
    }
}

#[cfg(test)]
mod tests;
