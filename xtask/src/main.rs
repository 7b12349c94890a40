//! `cargo xtask`: builds the guests, shows the demo, runs every test, measures.
//!
//! Knows cargo and the layout of the checkout, nothing of the host: it must build in seconds, because it is the first
//! thing a newcomer waits for.

mod bench;
mod ci;
mod demo;
#[cfg(feature = "eval")]
mod eval;
mod guests;
mod process;
mod suites;

use std::process::ExitCode;

const HELP: &str = "\
Usage: cargo xtask COMMAND

Commands:
  demo [QUESTION]   answers three shipped questions, or yours, with the example plugins; no key, no network
  test              builds the guests, then runs every test there is
  guests            builds the plugins and the test guests with whatever toolchain is there
  ci                formatting, lints, test, demo
  bench [FILTER]    measures the host against its baselines, in release mode
  eval [OPTIONS]    measures how well the embedded agent decides
  help              shows this
";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let (command, rest) = args.split_first().map_or(("help", &[][..]), |(first, rest)| (first.as_str(), rest));
    let done = match command {
        "demo" => demo::run(rest),
        "test" => no_arguments(command, rest).and_then(|()| suites::run()),
        "guests" => no_arguments(command, rest).and_then(|()| process::build_guests()),
        "ci" => no_arguments(command, rest).and_then(|()| ci::run()),
        "bench" => bench::run(rest),
        "eval" => evaluate(rest),
        "help" | "--help" | "-h" => process::say(HELP),
        other => Err(format!("unknown command `{other}`\n{HELP}")),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            // Empty: the command has said it all, and its last line is to stay the last.
            if !message.is_empty() {
                process::note(&format!("error: {message}"));
            }
            ExitCode::FAILURE
        }
    }
}

#[cfg(feature = "eval")]
fn evaluate(args: &[String]) -> Result<(), String> {
    eval::run(args)
}

/// The same once more, with the agent built in.
#[cfg(not(feature = "eval"))]
fn evaluate(args: &[String]) -> Result<(), String> {
    let mut again = process::cargo(&["run", "--quiet", "--package", "xtask", "--features", "eval", "--", "eval"]);
    again.args(args);
    process::run_quietly(again)
}

fn no_arguments(command: &str, rest: &[String]) -> Result<(), String> {
    match rest.first() {
        None => Ok(()),
        Some(extra) => Err(format!("`cargo xtask {command}` takes no arguments, got `{extra}`")),
    }
}
