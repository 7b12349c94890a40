//! Asking plugins before a decision: which tools can be chosen now, and which run unchosen. All plugins at once.

use std::sync::Arc;
use std::time::{Duration, Instant};

use elysia_decision::{Checks, Observation};
use elysia_registry::{Catalog, Plugin};
use elysia_sandbox::{AskRequest, Engine, GuestContext};
use elysia_types::{Availability, Failure, PluginName, ToolInputs, ToolName};
use futures_util::future::join_all;
use indexmap::IndexMap;

struct PluginAnswers {
    available: Vec<(ToolName, Availability)>,
    run_if_true: Vec<(ToolName, Option<ToolInputs>)>,
    failed: Vec<(ToolName, String)>,
}

struct PluginQuestions {
    plugin: Arc<Plugin>,
    available: Vec<ToolName>,
    run_if_true: Vec<ToolName>,
}

/// Asks every plugin that `checks` names, within `limit` for all together. A plugin that fails is reported, and only it.
pub(crate) async fn ask(
    engine: Engine,
    catalog: &Catalog,
    checks: Checks,
    limit: Duration,
    context: impl Fn(&Plugin) -> GuestContext,
) -> Observation {
    let mut questions: IndexMap<PluginName, PluginQuestions> = IndexMap::new();
    let mut add = |tool: ToolName, slot: fn(&mut PluginQuestions) -> &mut Vec<ToolName>| {
        if let Some(found) = catalog.tool(tool.as_str()) {
            let plugin = found.plugin.clone();
            let entry = questions.entry(plugin.name.clone()).or_insert_with(|| PluginQuestions {
                plugin,
                available: Vec::new(),
                run_if_true: Vec::new(),
            });
            slot(entry).push(tool);
        }
    };
    checks.available.into_iter().for_each(|tool| add(tool, |q| &mut q.available));
    checks.run_if_true.into_iter().for_each(|tool| add(tool, |q| &mut q.run_if_true));
    // Compiling anew what the cache has lost is not the plugin's answer being late.
    join_all(questions.values().map(|q| q.plugin.component())).await;
    let deadline = Instant::now().checked_add(limit).unwrap_or_else(Instant::now);
    let asked = questions.into_values().map(|q| {
        let context = context(&q.plugin);
        ask_plugin(engine.clone(), q, deadline, context)
    });
    let (mut available, mut run_if_true, mut failed) = (Vec::new(), Vec::new(), Vec::new());
    for answers in join_all(asked).await {
        available.extend(answers.available);
        run_if_true.extend(answers.run_if_true);
        failed.extend(answers.failed);
    }
    Observation::Checked { available, run_if_true, failed }
}

async fn ask_plugin(engine: Engine, q: PluginQuestions, deadline: Instant, context: GuestContext) -> PluginAnswers {
    match try_ask(&engine, &q, deadline, context).await {
        Ok(answers) => answers,
        Err(failure) => {
            let mut tools = q.available;
            tools.extend(q.run_if_true);
            tools.dedup();
            let failed = tools.into_iter().map(|tool| (tool, failure.message.clone())).collect();
            PluginAnswers { available: Vec::new(), run_if_true: Vec::new(), failed }
        }
    }
}

async fn try_ask(
    engine: &Engine,
    q: &PluginQuestions,
    deadline: Instant,
    context: GuestContext,
) -> Result<PluginAnswers, Failure> {
    let component = q.plugin.component().await?;
    let request = || AskRequest {
        plugin: q.plugin.name.clone(),
        limits: q.plugin.limits.clone(),
        deadline,
        context: context.clone(),
    };
    let mut answers = PluginAnswers { available: Vec::new(), run_if_true: Vec::new(), failed: Vec::new() };
    if !q.available.is_empty() {
        let said = engine.available(&component, &q.available, request()).await?;
        answers.available = q.available.iter().cloned().zip(said).collect();
    }
    if !q.run_if_true.is_empty() {
        let said = engine.run_if_true(&component, &q.run_if_true, request()).await?;
        answers.run_if_true = q.run_if_true.iter().cloned().zip(said).collect();
    }
    Ok(answers)
}
