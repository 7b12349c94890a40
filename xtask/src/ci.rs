//! `cargo xtask ci`: formatting, lints, tests, demo.

use crate::process::{self, cargo};
use crate::{demo, suites};

/// Workspaces beside the host's, each with its own lock file.
const GUEST_SIDE: [&str; 2] = ["sdk/rust/Cargo.toml", "plugins/Cargo.toml"];

/// Runs all of it, stopping at the first failure.
///
/// # Errors
/// The step that failed.
pub(crate) fn run() -> Result<(), String> {
    process::run(cargo(&["fmt", "--all", "--check"]))?;
    for manifest in GUEST_SIDE {
        process::run(cargo(&["fmt", "--all", "--check", "--manifest-path", manifest]))?;
    }
    process::run(cargo(&[
        "clippy",
        "--workspace",
        "--all-targets",
        "--features",
        "xtask/eval",
        "--",
        "--deny",
        "warnings",
    ]))?;
    for manifest in GUEST_SIDE {
        let mut clippy = cargo(&["clippy", "--workspace", "--all-targets", "--manifest-path", manifest]);
        clippy.arg("--target-dir").arg(process::guest_side_target_dir()).args(["--", "--deny", "warnings"]);
        process::run(clippy)?;
    }
    suites::run()?;
    demo::run(&[])
}
