//! The binary as its users run it: `cases/cli/NAME.toml` says what lies in a folder, what is typed, what comes back.
//!
//! Every case has a folder of its own with a home in it and an environment that holds nothing else. Expected text
//! may hold `[..]` for any part of a line and a line `...` for any lines; expected JSON may hold `"*"` for any value.
//! `cases/cli/help` pins the help texts; `BLESS=1` rewrites those.

mod expect;

mod server;

mod setup;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use libtest_mimic::{Completion, Failed, Trial};
use serde::Deserialize;

use crate::cases;
use setup::Place;

/// A run that takes longer hangs.
const LONGEST: Duration = Duration::from_secs(120);

/// Commands whose help is pinned.
const HELP: [&[&str]; 18] = [
    &[],
    &["ask"],
    &["chat"],
    &["plugin"],
    &["plugin", "list"],
    &["plugin", "inspect"],
    &["plugin", "check"],
    &["plugin", "call"],
    &["session"],
    &["session", "list"],
    &["session", "show"],
    &["session", "export"],
    &["session", "import"],
    &["session", "trim"],
    &["session", "delete"],
    &["tree"],
    &["trust"],
    &["doctor"],
];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    /// What the case claims, one sentence.
    #[expect(dead_code, reason = "for the reader of the case; it must be there")]
    claim: String,
    #[serde(default)]
    setup: setup::Setup,
    run: Vec<Run>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Run {
    #[serde(default)]
    args: Vec<String>,
    /// Added to `args`, as bytes: what is not UTF-8.
    #[serde(default)]
    args_bytes: Vec<Vec<u8>>,
    #[serde(default)]
    stdin: String,
    /// Added to `stdin`.
    #[serde(default)]
    stdin_bytes: Vec<u8>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    /// Files written before this run.
    #[serde(default)]
    files: BTreeMap<String, String>,
    exit: i32,
    /// The interrupt is sent when this text has come on standard error.
    interrupt_after: Option<String>,
    /// What happens to standard output: `closed` has no reader, `full` cannot be written.
    output: Option<Output>,
    stdout: Option<String>,
    stderr: Option<String>,
    #[serde(default)]
    stdout_has: Vec<String>,
    #[serde(default)]
    stdout_lacks: Vec<String>,
    #[serde(default)]
    stderr_has: Vec<String>,
    #[serde(default)]
    stderr_lacks: Vec<String>,
    /// One JSON value.
    stdout_json: Option<String>,
    /// One JSON value per line; the line `...` stands for any number of lines.
    stdout_jsonl: Option<Vec<String>>,
    /// Keeps parts of the output for later runs: name → JSON pointer; the pointer `line` is the whole first line.
    #[serde(default)]
    keep: BTreeMap<String, String>,
    /// Paths that must exist afterwards.
    #[serde(default)]
    exists: Vec<String>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Output {
    Closed,
    Full,
}

/// What a run gave.
struct Seen {
    exit: i32,
    stdout: String,
    stderr: String,
}

/// One trial per case and per help text.
pub fn trials() -> Vec<Trial> {
    let folder = cases::folder("cli");
    let mut files: Vec<PathBuf> = std::fs::read_dir(&folder)
        .unwrap_or_else(|e| panic!("cases/cli: {e}"))
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "toml"))
        .collect();
    files.sort();
    assert!(!files.is_empty(), "cases/cli has no *.toml files");
    let case = |path: PathBuf| {
        let name = format!("cli/{}", path.file_stem().unwrap().to_string_lossy());
        Trial::ignorable_test(name, move || run(&path).map_err(Failed::from))
    };
    let help = |words: &'static [&'static str]| {
        let name = if words.is_empty() { "elysia-host".to_owned() } else { words.join("_") };
        Trial::test(format!("cli/help/{name}"), move || help(words, &name_of(words)).map_err(Failed::from))
    };
    files.into_iter().map(case).chain(HELP.into_iter().map(help)).collect()
}

fn name_of(words: &[&str]) -> String {
    if words.is_empty() { "elysia-host".to_owned() } else { words.join("_") }
}

/// The binary beside this very test executable.
fn binary() -> Result<PathBuf, String> {
    let own = std::env::current_exe().map_err(|e| e.to_string())?;
    let folder = own.parent().and_then(Path::parent).ok_or("the test executable has no folder")?;
    let path = folder.join("elysia-host");
    if path.is_file() {
        Ok(path)
    } else {
        Err(format!("{} is not built: run `cargo xtask test`, or `cargo build -p elysia-cli` first", path.display()))
    }
}

fn help(words: &[&str], name: &str) -> Result<(), String> {
    let output = Command::new(binary()?).args(words).arg("--help").env_clear().output().map_err(|e| e.to_string())?;
    if output.status.code() != Some(0) {
        return Err(format!("exit {:?}\n{}", output.status.code(), String::from_utf8_lossy(&output.stderr)));
    }
    let text = String::from_utf8(output.stdout).map_err(|e| e.to_string())?;
    let path = cases::folder("cli").join("help").join(format!("{name}.txt"));
    if cases::blessing() {
        return std::fs::write(path, text).map_err(|e| e.to_string());
    }
    let expected = std::fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
    if expected == text { Ok(()) } else { Err(cases::difference(&expected, &text)) }
}

fn run(path: &Path) -> Result<Completion, String> {
    let text = std::fs::read_to_string(path).map_err(|e| e.to_string())?;
    let case: Case = toml::from_str(&text).map_err(|e| e.to_string())?;
    let mut place = match Place::prepare(&case.setup)? {
        Ok(place) => place,
        Err(missing) => return Ok(Completion::ignored_with(missing)),
    };
    for (number, run) in case.run.iter().enumerate() {
        for (name, text) in &run.files {
            place.write(name, text)?;
        }
        let seen = start(&place, run)?;
        check(&mut place, run, &seen).map_err(|complaint| {
            let (out, err) = (&seen.stdout, &seen.stderr);
            format!("run {}: {complaint}\n--- stdout\n{out}\n--- stderr\n{err}", number + 1)
        })?;
    }
    Ok(Completion::Completed)
}

fn start(place: &Place, run: &Run) -> Result<Seen, String> {
    let mut command = Command::new(binary()?);
    command.args(run.args.iter().map(|arg| place.fill(arg)));
    command.args(run.args_bytes.iter().map(|bytes| OsString::from_vec(bytes.clone())));
    command.current_dir(place.work()).env_clear().envs(place.environment());
    command.envs(run.env.iter().map(|(name, value)| (name, place.fill(value))));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    if let Some(Output::Full) = run.output {
        command.stdout(std::fs::File::options().write(true).open("/dev/full").map_err(|e| e.to_string())?);
    }
    let mut child = command.spawn().map_err(|e| e.to_string())?;
    if let Some(Output::Closed) = run.output {
        drop(child.stdout.take());
    }
    let mut input = place.fill(&run.stdin).into_bytes();
    input.extend_from_slice(&run.stdin_bytes);
    let mut stdin = child.stdin.take().ok_or("no stdin")?;
    let feeder = std::thread::spawn(move || {
        // A command that does not read its input may end before all of it is written.
        let _ = stdin.write_all(&input);
    });
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take().ok_or("no stderr")?);
    let reader = std::thread::spawn(move || {
        let mut bytes = Vec::new();
        stdout.map(|mut out| out.read_to_end(&mut bytes));
        bytes
    });
    let (to_here, lines) = mpsc::sync_channel(100_000);
    let listener = std::thread::spawn(move || {
        for line in BufReader::new(stderr).split(b'\n').map_while(Result::ok) {
            let _ = to_here.send(String::from_utf8_lossy(&line).into_owned());
        }
    });
    let (stderr, exit) = watch(&mut child, run.interrupt_after.as_deref(), &lines)?;
    let _ = (feeder.join(), listener.join());
    let stdout = reader.join().map_err(|_| "the reader failed")?;
    let stdout = String::from_utf8(stdout).map_err(|e| format!("standard output is not UTF-8: {e}"))?;
    Ok(Seen { exit, stdout, stderr })
}

/// Reads standard error to its end, sends the interrupt, and waits for the exit code.
fn watch(child: &mut Child, after: Option<&str>, lines: &mpsc::Receiver<String>) -> Result<(String, i32), String> {
    let started = Instant::now();
    let mut interrupted = None;
    let mut stderr = String::new();
    loop {
        match lines.recv_timeout(Duration::from_millis(20)) {
            Ok(line) => {
                stderr.push_str(&line);
                stderr.push('\n');
                if interrupted.is_none() && after.is_some_and(|text| line.contains(text)) {
                    interrupted = Some(Instant::now());
                    let sent = Command::new("kill").arg("-INT").arg(child.id().to_string()).status();
                    sent.map_err(|e| format!("kill cannot be run: {e}"))?;
                }
            }
            Err(mpsc::RecvTimeoutError::Disconnected) => break,
            Err(mpsc::RecvTimeoutError::Timeout) if started.elapsed() > LONGEST => {
                let _ = child.kill();
                return Err(format!("it runs for more than {LONGEST:?}; stderr so far:\n{stderr}"));
            }
            Err(mpsc::RecvTimeoutError::Timeout) => (),
        }
    }
    let status = child.wait().map_err(|e| e.to_string())?;
    if interrupted.is_some_and(|at| at.elapsed() > Duration::from_secs(10)) {
        return Err("it took more than ten seconds to stop".to_owned());
    }
    // As a shell tells it.
    let exit = status.code().or_else(|| status.signal().map(|signal| 128 + signal)).unwrap_or(-1);
    Ok((stderr, exit))
}

fn check(place: &mut Place, run: &Run, seen: &Seen) -> Result<(), String> {
    if seen.exit != run.exit {
        return Err(format!("exit {}, not {}", seen.exit, run.exit));
    }
    for (what, text) in [("stdout", &seen.stdout), ("stderr", &seen.stderr)] {
        if text.contains('\u{1b}') {
            return Err(format!("{what} has an escape code although it is no terminal"));
        }
        if text.contains("panicked at") {
            return Err(format!("{what} shows a panic"));
        }
    }
    for (wanted, text) in [(&run.stdout, &seen.stdout), (&run.stderr, &seen.stderr)] {
        if let Some(wanted) = wanted {
            expect::lines(&place.fill(wanted), text)?;
        }
    }
    for (parts, text, there) in [
        (&run.stdout_has, &seen.stdout, true),
        (&run.stdout_lacks, &seen.stdout, false),
        (&run.stderr_has, &seen.stderr, true),
        (&run.stderr_lacks, &seen.stderr, false),
    ] {
        for part in parts {
            if text.contains(&place.fill(part)) != there {
                return Err(format!("{} `{part}`", if there { "no" } else { "unwanted" }));
            }
        }
    }
    if let Some(wanted) = &run.stdout_json {
        expect::json(&place.fill(wanted), &seen.stdout)?;
    }
    if let Some(wanted) = &run.stdout_jsonl {
        let wanted: Vec<String> = wanted.iter().map(|line| place.fill(line)).collect();
        expect::json_lines(&wanted, &seen.stdout)?;
    }
    for (name, pointer) in &run.keep {
        let value = expect::part(pointer, &seen.stdout)?;
        place.keep(name, value);
    }
    for path in &run.exists {
        if !place.work().join(place.fill(path)).exists() {
            return Err(format!("`{path}` does not exist"));
        }
    }
    Ok(())
}
