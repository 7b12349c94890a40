//! `cargo xtask bench`: the host's costs, each beside its baseline, in release mode.

use crate::process::{self, cargo};

/// Builds what is measured and runs the measurements; `filter` keeps those whose name contains it.
///
/// # Errors
/// When a build or a measurement fails.
pub(crate) fn run(filter: &[String]) -> Result<(), String> {
    process::build_guests()?;
    process::run(cargo(&["build", "--release", "--workspace", "--bins"]))?;
    let mut bench = cargo(&["bench", "--workspace", "--bench", "costs", "--"]);
    bench.args(filter);
    process::run(bench)
}
