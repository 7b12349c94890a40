//! The embedded agent `local`: no model, words alone. One tool per query, or a question back, or an honest no.
//!
//! It never loops: once a tool was chosen the next reply answers, and a reply that was sent back is not given again.

use elysia_types::{FailureCode, Usage, clean_line, truncate};
use serde_json::{Value, json};

use crate::entry::{IMPOSSIBLE, TEXT_RESPONSE};
use crate::lexical::{self, Candidate, Choice, ResultView, Thresholds};
use crate::prompt::{LocalView, PromptKind};
use crate::reply::ModelReply;
use crate::task::{Task, TaskOutcome};
use crate::tree::{Branch, Leaf};

/// At most so many names in one sentence.
const MOST_NAMED: usize = 8;

/// A candidate and where it leads from here.
struct Way<'a> {
    leaf: &'a Leaf,
    /// The branch on offer that holds it; none when the tool itself is on offer.
    branch: Option<&'a Branch>,
}

/// The reply of the embedded agent to a prompt.
pub fn reply(view: &LocalView) -> ModelReply {
    if view.kind == PromptKind::Answer {
        return ModelReply { text: answer(view), tool_calls: Vec::new(), usage: Usage::default() };
    }
    if view.tasks.iter().any(|t| t.chosen) {
        return say(&answer(view));
    }
    if view.tries > 0 {
        return impossible("I could not put this question into a call of a tool.");
    }
    let ways = ways(view);
    let candidates: Vec<Candidate<'_>> = ways.iter().map(|w| candidate(w.leaf)).collect();
    let thresholds = Thresholds::default();
    match lexical::choose(&view.prompt, &candidates, &thresholds) {
        Choice::Pick { index, .. } => ways.get(index).map_or_else(|| none_fits(view), |way| take(view, way)),
        Choice::Ambiguous(indices) => {
            let close: Vec<&Way<'_>> = indices.iter().filter_map(|i| ways.get(*i)).collect();
            between(view, &close)
        }
        Choice::Impossible => none_fits(view),
    }
}

fn ways(view: &LocalView) -> Vec<Way<'_>> {
    let here = view.offer.tools.iter().filter_map(|t| view.tree.leaf(*t)).map(|leaf| Way { leaf, branch: None });
    let below = view.offer.branches.iter().flat_map(|offered| {
        let branch = view.tree.branch(offered.branch);
        offered.below.iter().filter_map(move |t| Some(Way { leaf: view.tree.leaf(*t)?, branch: Some(branch?) }))
    });
    here.chain(below).collect()
}

fn candidate(leaf: &Leaf) -> Candidate<'_> {
    let d = leaf.descriptor();
    Candidate {
        name: d.name.as_str(),
        title: d.title.as_deref(),
        description: &d.description,
        examples: &d.examples,
        input_schema: leaf.entry.schema.as_value(),
    }
}

fn take(view: &LocalView, way: &Way<'_>) -> ModelReply {
    if let Some(branch) = way.branch {
        return choose(&branch.id, json!({}), false);
    }
    let filled = lexical::fill(&view.prompt, &candidate(way.leaf), Some(&view.now));
    if !filled.missing.is_empty() {
        return say(&ask_for(way.leaf, &filled.missing));
    }
    match way.leaf.entry.schema.complete(filled.inputs.clone()) {
        Ok(_) => choose(way.leaf.name().as_str(), Value::Object(filled.inputs), way.leaf.descriptor().may_end),
        Err(complaints) => {
            let fields = complaints.iter().map(|c| c.pointer.trim_start_matches('/').replace('/', "."));
            say(&ask_for(way.leaf, &fields.collect::<Vec<_>>()))
        }
    }
}

/// Several tools are as likely: those of one branch lead there, one whose inputs are all given wins, else the user is asked.
fn between(view: &LocalView, close: &[&Way<'_>]) -> ModelReply {
    if let Some(first) = close.first().and_then(|w| w.branch)
        && close.iter().all(|w| w.branch.is_some_and(|b| b.id == first.id))
    {
        return choose(&first.id, json!({}), false);
    }
    let complete: Vec<&&Way<'_>> = close
        .iter()
        .filter(|w| {
            w.branch.is_none() && lexical::fill(&view.prompt, &candidate(w.leaf), Some(&view.now)).missing.is_empty()
        })
        .filter(|w| !w.leaf.entry.schema.needs_no_inputs())
        .collect();
    match (complete.as_slice(), close) {
        ([only], _) => take(view, only),
        (_, [only]) => take(view, only),
        (_, []) => none_fits(view),
        _ => {
            let names: Vec<String> = close.iter().take(MOST_NAMED).map(|w| described(w.leaf)).collect();
            say(&format!("More than one tool could answer this. Which do you mean?\n{}", names.join("\n")))
        }
    }
}

fn described(leaf: &Leaf) -> String {
    let d = leaf.descriptor();
    let text = clean_line(&d.description);
    let shown = truncate(&text, 120);
    let more = if shown.len() < text.len() { "…" } else { "" };
    format!("* {}: {shown}{more}", d.name)
}

fn ask_for(leaf: &Leaf, missing: &[String]) -> String {
    let schema = leaf.entry.schema.as_value();
    let fields: Vec<String> = missing
        .iter()
        .take(MOST_NAMED)
        .map(|field| {
            let about = schema.pointer(&format!("/properties/{field}/description")).and_then(Value::as_str);
            match about.map(clean_line).filter(|a| !a.is_empty()) {
                Some(about) => format!("`{field}` ({})", truncate(&about, 120)),
                None => format!("`{field}`"),
            }
        })
        .collect();
    if fields.is_empty() {
        return format!(
            "I would use `{}` for this, but your question does not say with which inputs. Please add them.",
            leaf.name()
        );
    }
    format!("I would use `{}` for this, but I do not know {}. Please say.", leaf.name(), fields.join(", "))
}

fn none_fits(view: &LocalView) -> ModelReply {
    if view.found.iter().any(|f| f.displayed) {
        return say(&answer(view));
    }
    let ways = ways(view);
    let mut names: Vec<&str> = ways.iter().map(|w| w.leaf.name().as_str()).take(MOST_NAMED).collect();
    if ways.len() > MOST_NAMED {
        names.push("…");
    }
    impossible(&format!("None of the tools fits this question. There are: {}.", names.join(", ")))
}

/// What this query brought, in words.
fn answer(view: &LocalView) -> String {
    let shown = view.found.iter().filter(|f| f.displayed);
    let mut results: Vec<ResultView<'_>> = shown
        .map(|f| ResultView {
            tool: f.tool.as_str(),
            name: f.name.as_str(),
            objects: &f.objects,
            total: f.objects.len(),
        })
        .collect();
    for task in &view.tasks {
        let empty = task.found.iter().filter(|(_, n)| *n == 0);
        results.extend(empty.map(|(name, _)| ResultView {
            tool: task.tool.as_str(),
            name: name.as_str(),
            objects: &[],
            total: 0,
        }));
    }
    let errors: Vec<String> = view.tasks.iter().filter_map(|t| problem(t)).collect();
    if !results.is_empty() || !errors.is_empty() {
        return lexical::compose(&results, &errors);
    }
    if view.tasks.iter().any(|t| t.spoke) {
        return "That is all.".to_owned();
    }
    if view.tasks.iter().any(|t| t.outcome == TaskOutcome::Ok) {
        return "It is done; there is nothing to show.".to_owned();
    }
    let reasons = view
        .offer
        .unavailable
        .iter()
        .take(MOST_NAMED)
        .map(|(name, reason)| format!("`{name}` is not available: {reason}"));
    let reasons: Vec<String> = reasons.collect();
    if !reasons.is_empty() {
        return format!("No tool is available for this. {}.", reasons.join("; "));
    }
    if view.tree.tools().next().is_none() {
        return "No tool is loaded, and without a language model I can only use tools.".to_owned();
    }
    "I found nothing to answer with.".to_owned()
}

fn problem(task: &Task) -> Option<String> {
    match &task.outcome {
        TaskOutcome::Failed { code, feedback } if *code != FailureCode::Cancelled => {
            Some(format!("{}: {feedback}", task.tool))
        }
        _ => None,
    }
}

fn say(text: &str) -> ModelReply {
    choose(TEXT_RESPONSE, json!({"text": text}), true)
}

fn impossible(reason: &str) -> ModelReply {
    choose(IMPOSSIBLE, json!({"reason": reason}), true)
}

fn choose(option: &str, inputs: Value, end: bool) -> ModelReply {
    let text = json!({"choices": [{"option": option, "inputs": inputs}], "end": end}).to_string();
    ModelReply { text, tool_calls: Vec::new(), usage: Usage::default() }
}
