//! Starting other programs from the root of the checkout, and the only place that writes to a terminal.

use std::ffi::OsString;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::guests;

/// The root of the checkout.
pub(crate) fn root() -> PathBuf {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    manifest.parent().unwrap_or(manifest).to_path_buf()
}

/// The target directory of the workspace: `CARGO_TARGET_DIR`, else `target`.
pub(crate) fn target_dir() -> PathBuf {
    root().join(std::env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| OsString::from("target")))
}

/// Where the SDK and the plugins are built for this machine: their lock files differ from the host's.
pub(crate) fn guest_side_target_dir() -> PathBuf {
    target_dir().join("guest-side")
}

/// Cargo, the one that runs us, at the root of the checkout.
pub(crate) fn cargo(args: &[&str]) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo")));
    command.current_dir(root()).args(args);
    command
}

/// As it would be typed, for messages.
pub(crate) fn shown(command: &Command) -> String {
    let program = Path::new(command.get_program());
    let mut text = program.file_name().unwrap_or_default().to_string_lossy().into_owned();
    for arg in command.get_args() {
        let arg = arg.to_string_lossy();
        text.push(' ');
        match arg.contains(' ') {
            true => text.push_str(&format!("{arg:?}")),
            false => text.push_str(&arg),
        }
    }
    text
}

/// Says what runs, and runs it.
///
/// # Errors
/// When it does not start or does not end well.
pub(crate) fn run(command: Command) -> Result<(), String> {
    note(&format!("$ {}", shown(&command)));
    run_quietly(command)
}

/// Runs a command, its output going where ours goes.
///
/// # Errors
/// When it does not start or does not end well.
pub(crate) fn run_quietly(mut command: Command) -> Result<(), String> {
    let status = command.status().map_err(|e| format!("cannot start `{}`: {e}", shown(&command)))?;
    if status.success() { Ok(()) } else { Err(format!("`{}` ended with {status}", shown(&command))) }
}

/// Every plugin and test guest, as components beside their sources.
///
/// # Errors
/// Without a toolchain, with what to install; and when a guest does not build.
pub(crate) fn build_guests() -> Result<(), String> {
    guests::build(&guests::Options { root: root(), only: Vec::new() }).map(drop)
}

/// The host with every crate of the workspace in view, so that demo, test and suite share one build: with
/// `--package` alone Cargo would choose other features for shared dependencies and build the engine twice.
///
/// # Errors
/// When the build fails.
pub(crate) fn build_host() -> Result<PathBuf, String> {
    run(cargo(&["build", "--workspace", "--bins"]))?;
    let host = target_dir().join("debug").join(format!("elysia-host{}", std::env::consts::EXE_SUFFIX));
    if host.is_file() { Ok(host) } else { Err(format!("the build left no `{}`", host.display())) }
}

/// Whether a missing toolchain is an error rather than a skipped test.
pub(crate) fn on_ci() -> bool {
    std::env::var("CI").is_ok_and(|v| v == "true" || v == "1")
}

/// Data, to stdout.
///
/// # Errors
/// When nobody reads.
pub(crate) fn say(text: &str) -> Result<(), String> {
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(|e| format!("cannot write: {e}"))
}

/// What goes on, to stderr. Nobody listening is no reason to stop.
pub(crate) fn note(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{text}");
}
