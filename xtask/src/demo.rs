//! `cargo xtask demo`: from a fresh checkout to answers, without a key and without the network.

use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::process::{self, note, say};

const CONFIG: &str = "plugins/demo/elysia.toml";
const PLUGINS: &str = "plugins";

/// One for each example plugin: documents, tables, calculate.
const QUESTIONS: [&str; 3] = ["What is our refund policy?", "Which store sold the most?", "What is 17 * 23 + 4?"];

/// Asks `question`, or the shipped ones when there is none.
///
/// # Errors
/// What is missing on this machine, or the questions without an answer.
pub(crate) fn run(question: &[String]) -> Result<(), String> {
    prerequisites()?;
    process::build_guests()?;
    let host = process::build_host()?;
    let own = question.join(" ");
    let questions = if own.is_empty() { QUESTIONS.to_vec() } else { vec![own.as_str()] };
    say("\nThe plugins in ./plugins, as the agent finds them in its tree:\n\n")?;
    process::run_quietly(elysia_host(&host, &["tree"]))?;
    let mut unanswered = Vec::new();
    for question in questions {
        say(&format!("\nQuestion: {question}\n\n"))?;
        if !answered(&host, question)? {
            unanswered.push(question);
        }
    }
    if unanswered.is_empty() {
        return say("\nAsk your own: cargo xtask demo \"How many sales were there by category?\"\n");
    }
    Err(format!("not answered: {}", unanswered.join("; ")))
}

/// What the builds need and cannot install themselves. Cargo and Rust are there: they run us.
fn prerequisites() -> Result<(), String> {
    let compiler = std::env::var("CC").unwrap_or_else(|_| String::from("cc"));
    let found = Command::new(&compiler).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    if !found.is_ok_and(|status| status.success()) {
        return Err(format!(
            "no C compiler: `{compiler}` does not run, and SQLite is built from source\n\
             hint: `apt-get install build-essential` on Debian and Ubuntu, `xcode-select --install` on macOS"
        ));
    }
    match process::root().join(CONFIG).is_file() {
        true => Ok(()),
        false => Err(format!("`{CONFIG}` is missing from this checkout")),
    }
}

/// The host with the demo's configuration; its output goes where ours goes.
fn elysia_host(host: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(host);
    command.current_dir(process::root()).args(args).args(["--config", CONFIG, "--plugins", PLUGINS]);
    command
}

/// Asks one question, shows the answer as a user sees it, then what ran for it.
fn answered(host: &Path, question: &str) -> Result<bool, String> {
    let talk = ["ask", question, "--model", "local", "--no-save"];
    let mut asked = elysia_host(host, &talk);
    let status = asked.status().map_err(|e| format!("cannot start `{}`: {e}", process::shown(&asked)))?;
    if !status.success() {
        note(&format!("`{}` ended with {status}", process::shown(&asked)));
        return Ok(false);
    }
    // The embedded agent decides the same way each time, so the events of a second run are those of the first.
    let events = elysia_host(host, &talk).args(["--output", "jsonl"]).stderr(Stdio::null()).output();
    let events = events.map_err(|e| format!("cannot ask for events: {e}"))?;
    let events: Vec<Value> =
        String::from_utf8_lossy(&events.stdout).lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    say(&format!("\n{}", what_ran(&events)))?;
    Ok(true)
}

/// The way through the tree and the calls, from a query's events.
fn what_ran(events: &[Value]) -> String {
    let text = |event: &Value, key: &str| event.get(key).and_then(Value::as_str).unwrap_or("?").to_owned();
    let mut shown = String::new();
    for event in events {
        match text(event, "type").as_str() {
            "decision" => {
                let choices = event.get("choices").and_then(Value::as_array).into_iter().flatten();
                let options: Vec<String> = choices.map(|choice| text(choice, "option")).collect();
                shown.push_str(&format!("  at {}: {}\n", text(event, "branch"), options.join(", ")));
            }
            "call_finished" => shown.push_str(&format!(
                "  ran {} of plugin {}: {} after {} ms\n",
                text(event, "tool"),
                text(event, "plugin"),
                text(event, "outcome"),
                event.get("ms").unwrap_or(&Value::Null),
            )),
            _ => {}
        }
    }
    shown
}

#[cfg(test)]
mod tests;
