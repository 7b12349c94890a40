//! What does it cost to start with plugins, and how does that grow with their number?
//!
//! Each start is a process of its own: this program starts itself with [`CHILD`], the child opens a host and says what
//! that took, its own start included.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use elysia_host::{Host, HostConfig, PluginDir};
use serde_json::{Value, json};

use crate::measure::{memory_kib, process_cpu};

/// First argument of a child; the second is the folder of plugins, the third that of the cache.
pub(crate) const CHILD: &str = "--open-host";

/// What one start took.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Start {
    /// CPU time of the process until the host was open, in ms.
    pub(crate) cpu_ms: f64,
    /// Wall time of opening, in ms.
    pub(crate) wall_ms: f64,
    /// Resident memory then, and the most it ever was, in MiB.
    pub(crate) rss_mib: f64,
    pub(crate) peak_mib: f64,
    /// Tools in the catalog.
    pub(crate) tools: u64,
}

/// The child: opens a host on `plugins` and prints what it took.
pub(crate) fn child(plugins: &str, state: &str) {
    let mut config = HostConfig::local(PathBuf::from(state));
    config.plugin_dirs.push(PluginDir { path: PathBuf::from(plugins), explicit: true });
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let opening = Instant::now();
    let host = runtime.block_on(Host::open(config)).unwrap();
    let wall = opening.elapsed();
    let took = json!({
        "cpu_ms": process_cpu().as_secs_f64() * 1e3,
        "wall_ms": wall.as_secs_f64() * 1e3,
        "rss_mib": memory_kib("VmRSS").unwrap_or_default() as f64 / 1024.0,
        "peak_mib": memory_kib("VmHWM").unwrap_or_default() as f64 / 1024.0,
        "tools": host.catalog().tools().count(),
    });
    println!("{took}");
}

/// Opens a host in a process of its own.
pub(crate) fn start(plugins: &Path, state: &Path) -> Start {
    let me = std::env::current_exe().unwrap();
    let output = Command::new(me).arg(CHILD).arg(plugins).arg(state).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let took: Value = serde_json::from_slice(&output.stdout).unwrap();
    let number = |key: &str| took[key].as_f64().unwrap();
    Start {
        cpu_ms: number("cpu_ms"),
        wall_ms: number("wall_ms"),
        rss_mib: number("rss_mib"),
        peak_mib: number("peak_mib"),
        tools: took["tools"].as_u64().unwrap(),
    }
}

/// The start that took the median CPU time of `n`.
pub(crate) fn median_of(n: usize, mut start: impl FnMut() -> Start) -> Start {
    let mut starts: Vec<Start> = (0..n).map(|_| start()).collect();
    starts.sort_by(|a, b| a.cpu_ms.total_cmp(&b.cpu_ms));
    starts[n / 2]
}

/// Fills `folder` with `n` copies of a real plugin that differ in the names of their tools.
///
/// Names are replaced by others of the same length, so the component stays valid and keeps its size and its code.
pub(crate) fn copies_of_a_real_plugin(folder: &Path, n: usize) {
    let original = Path::new(env!("CARGO_MANIFEST_DIR")).join("../plugins/calculate.wasm");
    let bytes =
        std::fs::read(&original).unwrap_or_else(|e| panic!("{}: {e}; run `cargo xtask guests`", original.display()));
    for at in 0..n {
        let mut copy = bytes.clone();
        for (name, stem) in [("calculate_two_numbers", "calculate_number"), ("evaluate", "eval")] {
            let digits = name.len() - stem.len();
            replace(&mut copy, name, &format!("{stem}{at:0digits$}"));
        }
        std::fs::write(folder.join(format!("copy-{at}.wasm")), copy).unwrap();
    }
}

fn replace(bytes: &mut [u8], name: &str, other: &str) {
    assert_eq!(name.len(), other.len());
    let mut at = 0;
    while let Some(found) = bytes[at..].windows(name.len()).position(|window| window == name.as_bytes()) {
        bytes[at + found..at + found + name.len()].copy_from_slice(other.as_bytes());
        at += found + name.len();
    }
}
