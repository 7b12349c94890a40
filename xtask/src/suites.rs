//! `cargo xtask test`: every runner there is, one after another, and one sum at the end.

use std::io::{BufRead as _, BufReader};
use std::process::Command;

use crate::process::{self, cargo, note, say};

/// Cargo names a test binary by the path of its source; this one holds nearly all tests.
const MAIN_RUNNER: &str = "suite/main.rs";

/// What one `test result:` line counts.
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
struct Tally {
    passed: u64,
    failed: u64,
    ignored: u64,
}

/// One test binary's, or one crate's doc tests', closing line.
struct Closing {
    runner: String,
    line: String,
    tally: Tally,
}

/// Builds guests and workspace, runs all tests, prints each runner's closing line and the sum.
///
/// # Errors
/// When anything failed; without words where the closing lines say it.
pub(crate) fn run() -> Result<(), String> {
    let guests = process::build_guests();
    if let Err(missing) = &guests {
        if process::on_ci() {
            return guests;
        }
        note(&format!("warning: {missing}\nwarning: what needs the guests is skipped"));
    }
    process::build_host()?;
    let mut closings = Vec::new();
    let mut broken = Vec::new();
    for command in runners() {
        let text = process::shown(&command);
        let before = closings.len();
        let ended_well = watch(command, &mut closings)?;
        let counted_failure = closings.iter().skip(before).any(|c: &Closing| c.tally.failed > 0);
        if !ended_well && !counted_failure {
            broken.push(text);
        }
    }
    report(&closings, &broken)
}

fn runners() -> Vec<Command> {
    let guest_side = process::guest_side_target_dir();
    let of = |manifest: &str| {
        let mut command = cargo(&["test", "--workspace", "--no-fail-fast", "--manifest-path", manifest]);
        command.arg("--target-dir").arg(&guest_side);
        command
    };
    vec![cargo(&["test", "--workspace", "--no-fail-fast"]), of("sdk/rust/Cargo.toml"), of("plugins/Cargo.toml")]
}

/// Runs `command`, shows what it prints as it comes, and collects its closing lines. Says whether it ended well.
fn watch(mut command: Command, closings: &mut Vec<Closing>) -> Result<bool, String> {
    let text = process::shown(&command);
    note(&format!("$ {text}"));
    let failed = |e: std::io::Error| format!("cannot run `{text}`: {e}");
    // One pipe for both streams: cargo names the binary on stderr, the binary counts on stdout, and only a shared
    // pipe keeps their order.
    let (reader, writer) = std::io::pipe().map_err(failed)?;
    command.env("CARGO_TERM_COLOR", "never").stdout(writer.try_clone().map_err(failed)?).stderr(writer);
    let mut child = command.spawn().map_err(failed)?;
    drop(command); // it holds the writing ends; the pipe ends when the child's are the last
    let mut runner = String::from("unknown");
    let mut lines = BufReader::new(reader);
    let mut line = Vec::new();
    while lines.read_until(b'\n', &mut line).map_err(failed)? > 0 {
        let shown = String::from_utf8_lossy(&line);
        say(&shown)?;
        if let Some(name) = runner_named(&shown) {
            runner = name;
        } else if let Some(tally) = Tally::read(&shown) {
            closings.push(Closing { runner: runner.clone(), line: shown.trim().to_owned(), tally });
        }
        line.clear();
    }
    Ok(child.wait().map_err(failed)?.success())
}

/// `Running unittests src/lib.rs (target/debug/deps/elysia_types-0a…)` → `elysia_types src/lib.rs`.
fn runner_named(line: &str) -> Option<String> {
    let line = line.trim();
    if let Some(krate) = line.strip_prefix("Doc-tests ") {
        return Some(format!("{krate} doc tests"));
    }
    let (source, binary) = line.strip_prefix("Running ")?.strip_suffix(')')?.split_once(" (")?;
    let file = binary.rsplit(['/', '\\']).next()?;
    let krate = file.rsplit_once('-').map_or(file, |(name, _)| name);
    Some(format!("{krate} {}", source.trim_start_matches("unittests ")))
}

impl Tally {
    fn read(line: &str) -> Option<Self> {
        let counts = line.trim().strip_prefix("test result: ")?.split_once(". ")?.1;
        let mut tally = Self::default();
        for part in counts.split(';') {
            let Some((number, word)) = part.trim().split_once(' ') else { continue };
            match (number.parse(), word) {
                (Ok(n), "passed") => tally.passed = n,
                (Ok(n), "failed") => tally.failed = n,
                (Ok(n), "ignored") => tally.ignored = n,
                _ => {}
            }
        }
        Some(tally)
    }

    fn is_empty(self) -> bool {
        self == Self::default()
    }
}

fn report(closings: &[Closing], broken: &[String]) -> Result<(), String> {
    let mut text = String::from("\n");
    for closing in closings.iter().filter(|c| !c.tally.is_empty()) {
        text.push_str(&format!("{}: {}\n", closing.runner, closing.line));
    }
    for command in broken {
        text.push_str(&format!("`{command}` did not end well and counted no failure: taken as one failed\n"));
    }
    let main_runner = closings.iter().find(|c| c.runner.ends_with(MAIN_RUNNER));
    text.push_str(&format!("\n{}\n", main_runner.map_or("the main suite did not run", |c| c.line.as_str())));
    let sum = |of: fn(&Tally) -> u64| closings.iter().map(|c| of(&c.tally)).sum::<u64>();
    let failed = sum(|t| t.failed) + broken.len() as u64 + u64::from(main_runner.is_none());
    text.push_str(&format!("{} passed, {failed} failed", sum(|t| t.passed)));
    match sum(|t| t.ignored) {
        0 => text.push('\n'),
        ignored => text.push_str(&format!(", {ignored} skipped\n")),
    }
    say(&text)?;
    if failed == 0 { Ok(()) } else { Err(String::new()) }
}

#[cfg(test)]
mod tests;
