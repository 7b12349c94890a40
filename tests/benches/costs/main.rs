//! Costs of the host, each beside its baseline from the same run: `cargo xtask bench [FILTER]`.
//!
//! Every measurement is a question. It prints what it took and how many times the baseline that is; it passes no
//! judgement. Figures worth keeping go to `docs/benchmarks.md` with machine, command and date.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a measurement that fails loudly is what one wants, and printing is all it does"
)]

mod calls;
mod hosts;
mod measure;
mod turns;

use measure::{alone, paired, ratio, time};

/// Name, question, measurement.
const QUESTIONS: &[(&str, &str, fn())] = &[
    ("call", "What does a fresh call of a Rust tool cost through the host, over the same through bare wasmtime?", call),
    (
        "decision",
        "How much CPU does one decision of a scripted model take the host, with 10 tools and 100 objects?",
        decision,
    ),
    ("start", "What does a start with 20 real plugins cost from a warm cache, over a start with none?", start),
    ("plugins", "How does a start grow from 1 to 1 000 plugins?", plugins),
    ("objects", "How do an addition and a decision grow from 100 to 100 000 stored objects?", objects),
    ("turns", "Does the prompt level off from 1 to 50 turns of one session?", turns_of_a_session),
];

fn main() {
    // `--bench` comes from cargo.
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    if let [child, plugins, state] = args.as_slice()
        && child == hosts::CHILD
    {
        return hosts::child(plugins, state);
    }
    for (name, question, measure) in QUESTIONS {
        if args.is_empty() || args.iter().any(|filter| name.contains(filter.as_str())) {
            println!("\n{name}: {question}");
            measure();
        }
    }
}

fn call() {
    let (ours, bare) = calls::measure();
    println!("  host            {}", ours.shown());
    println!("  bare wasmtime   {}", bare.shown());
    println!(
        "  ratio           {:.2} by p50, {:.2} by CPU",
        ratio(ours.wall(50), bare.wall(50)),
        ratio(ours.cpu(), bare.cpu())
    );
}

fn decision() {
    let (few, many) = (turns::tree(1), turns::tree(10));
    let (empty, full) = (turns::environment(0), turns::environment(100));
    let query = |tree, environment: &elysia_types::SharedEnvironment, at: &mut usize| {
        *at += 1;
        // The query adds to the environment: each starts from the same one.
        let environment = elysia_types::SharedEnvironment::new(environment.read(turns::copy));
        let driven = turns::drive(tree, &environment, Vec::new(), *at);
        assert_eq!(driven.prompts.len(), 2);
    };
    let (mut a, mut b) = (0, 0);
    let (measured, baseline) = paired(60, 20, || query(&many, &full, &mut a), || query(&few, &empty, &mut b));
    let (copy_full, copy_empty) = paired(60, 20, || drop(full.read(turns::copy)), || drop(empty.read(turns::copy)));
    let per_decision = |all: &measure::Cost, copy: &measure::Cost| all.cpu().saturating_sub(copy.cpu()) / 2;
    let (measured, baseline) = (per_decision(&measured, &copy_full), per_decision(&baseline, &copy_empty));
    println!("  10 tools, 100 objects   {} of CPU per decision", time(measured));
    println!("  1 tool, no objects      {} of CPU per decision", time(baseline));
    println!("  ratio                   {:.2}", ratio(measured, baseline));
}

fn start() {
    let (state, none, twenty) = (folder(), folder(), folder());
    hosts::copies_of_a_real_plugin(twenty.path(), 20);
    let cold = hosts::start(twenty.path(), state.path());
    let warm = hosts::median_of(21, || hosts::start(twenty.path(), state.path()));
    let empty = hosts::median_of(21, || hosts::start(none.path(), state.path()));
    for (name, start) in [("20 plugins, cold", cold), ("20 plugins, warm", warm), ("no plugins", empty)] {
        println!("  {name:<17} {}", shown(start));
    }
    println!(
        "  warm over none    {:.2} by CPU, {:.2} by RSS",
        warm.cpu_ms / empty.cpu_ms,
        warm.rss_mib / empty.rss_mib
    );
}

fn shown(start: hosts::Start) -> String {
    let hosts::Start { cpu_ms, wall_ms, rss_mib, peak_mib, tools } = start;
    format!("CPU {cpu_ms:.1} ms, opening {wall_ms:.1} ms, RSS {rss_mib:.1} MiB, peak {peak_mib:.1} MiB, {tools} tools")
}

fn plugins() {
    let mut first = None;
    for n in [1, 10, 100, 1000] {
        let (state, plugins) = (folder(), folder());
        for at in 0..n {
            let bytes = calls::generated(&format!("generated_{at}"));
            std::fs::write(plugins.path().join(format!("generated-{at}.wasm")), bytes).unwrap();
        }
        let cold = hosts::start(plugins.path(), state.path());
        let warm = hosts::median_of(5, || hosts::start(plugins.path(), state.path()));
        println!("  {n:>4} plugins   cold {}", shown(cold));
        println!("                 warm {}", shown(warm));
        let (from, cpu) = *first.get_or_insert((n, warm.cpu_ms));
        if n > from {
            println!(
                "                 warm CPU {:.1} times that of {from}, for {} times the plugins",
                warm.cpu_ms / cpu,
                n / from
            );
        }
    }
}

fn objects() {
    let tree = turns::tree(10);
    let mut first = None;
    for n in [100, 1_000, 10_000, 100_000] {
        let mut filled = turns::filled(n);
        let mut at = n;
        let adding = alone(50, 1, || {
            turns::add(&mut filled, at, 10);
            at += 10;
        });
        let environment = elysia_types::SharedEnvironment::new(filled);
        let mut nth = 0;
        let mut prompt = 0;
        let deciding = alone(50, 1, || {
            nth += 1;
            prompt = turns::drive(&tree, &environment, Vec::new(), nth).prompts[0];
        });
        println!(
            "  {n:>6} objects   adding 10: p50 {}   a query of two decisions: p50 {}   prompt {prompt} bytes",
            time(adding.wall(50)),
            time(deciding.wall(50))
        );
        let (add, decide) = *first.get_or_insert((adding.wall(50), deciding.wall(50)));
        println!(
            "                   {:.2} and {:.2} times those at 100",
            ratio(adding.wall(50), add),
            ratio(deciding.wall(50), decide)
        );
    }
}

fn turns_of_a_session() {
    let (tree, environment) = (turns::tree(10), turns::environment(0));
    let mut history = Vec::new();
    let mut first = None;
    for nth in 1..=50 {
        let driven = turns::drive(&tree, &environment, history.clone(), nth);
        history.extend(driven.messages);
        let bytes = driven.prompts.iter().copied().max().unwrap_or_default();
        if [1, 2, 5, 10, 20, 30, 40, 50].contains(&nth) {
            let first = *first.get_or_insert(bytes);
            println!(
                "  turn {nth:>2}   largest prompt {bytes} bytes, {:.2} times the first turn's",
                bytes as f64 / first as f64
            );
        }
    }
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}
