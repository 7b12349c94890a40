//! How source files look: size, first line, name, and what must not be in them.

use super::{Checkout, File};

const MAX_PRODUCT_LINES: usize = 600;
const MAX_LIB_LINES: usize = 80;

/// Words that name a drawer instead of its content.
const DRAWERS: [&str; 5] = ["utils", "helpers", "common", "manager", "misc"];

/// Written apart, so that this file does not contain what it looks for.
const UNFINISHED: [&str; 3] = [concat!("todo", "!("), concat!("unimplemented", "!("), concat!("#[", "ignore")];
const PRINTS: [&str; 5] = [
    concat!("println", "!("),
    concat!("eprintln", "!("),
    concat!("eprint", "!("),
    concat!(" print", "!("),
    concat!("dbg", "!("),
];
const NOTES: [&str; 3] = [concat!("TO", "DO"), concat!("FIX", "ME"), concat!("X", "XX")];

fn sources(checkout: &Checkout) -> impl Iterator<Item = &File> {
    checkout.under("", ".rs")
}

/// A file has at most 600 product lines, a `lib.rs` of the host at most 80.
pub(super) fn sizes(checkout: &Checkout) -> Vec<String> {
    let mut complaints = Vec::new();
    for file in sources(checkout) {
        let lines = file.product_lines().count();
        let table_of_contents = file.path.starts_with("host/") && file.path.ends_with("/src/lib.rs");
        let most = if table_of_contents { MAX_LIB_LINES } else { MAX_PRODUCT_LINES };
        if lines > most {
            complaints.push(format!("{}: {lines} product lines, at most {most}", file.path));
        }
    }
    complaints
}

/// The first line is a `//!` sentence.
pub(super) fn first_lines(checkout: &Checkout) -> Vec<String> {
    let ours = |file: &&File| {
        let path = file.path.as_str();
        let inside_src = (path.starts_with("host/") || path.starts_with("sdk/")) && path.contains("/src/");
        inside_src || path.starts_with("xtask/") || path.starts_with("tests/s") || path.starts_with("tests/benches/")
    };
    let bare = sources(checkout).filter(ours).filter(|f| !f.lines().next().is_some_and(says_something));
    bare.map(|f| format!("{}: the first line must be `//!` and say what the file owns", f.path)).collect()
}

fn says_something(first: &str) -> bool {
    first.strip_prefix("//! ").is_some_and(|text| text.trim().len() > 10)
}

/// A file is named by what it holds.
pub(super) fn names(checkout: &Checkout) -> Vec<String> {
    let drawer = |path: &str| path.trim_end_matches(".rs").split(['/', '_', '-']).any(|part| DRAWERS.contains(&part));
    sources(checkout).filter(|f| drawer(&f.path)).map(|f| format!("{}: name it by what it holds", f.path)).collect()
}

/// Library code returns; `printer.rs` of the command line prints.
pub(super) fn prints(checkout: &Checkout) -> Vec<String> {
    let product = checkout.under("host/", ".rs").filter(|f| !f.is_test() && !f.path.ends_with("/printer.rs"));
    find(product, |line| !is_comment(line) && PRINTS.iter().any(|p| line.contains(p)))
}

/// No stubs, no switched-off tests. A test that another one starts as a process of its own says by which it is run.
pub(super) fn unfinished(checkout: &Checkout) -> Vec<String> {
    sources(checkout)
        .flat_map(|f| f.lines().enumerate().map(move |(at, line)| (f, at + 1, line)))
        .filter(|(_, _, line)| UNFINISHED.iter().any(|u| line.contains(u)) && !line.contains("= \"run by `"))
        .map(|(f, at, line)| format!("{}:{at}: `{}`", f.path, line.trim()))
        .collect()
}

/// A note to oneself names the issue that will remove it, `(#12)`, and there are few.
pub(super) fn notes_to_self(checkout: &Checkout) -> Vec<String> {
    const MOST: usize = 10;
    let marked = |line: &str| NOTES.iter().any(|n| line.split(|c: char| !c.is_ascii_alphanumeric()).any(|w| w == *n));
    let notes: Vec<_> = sources(checkout)
        .flat_map(|f| f.lines().enumerate().map(move |(at, line)| (f, at + 1, line)))
        .filter(|(_, _, line)| marked(line))
        .collect();
    let mut complaints: Vec<String> = notes
        .iter()
        .filter(|(_, _, line)| !line.contains("(#"))
        .map(|(f, at, line)| format!("{}:{at}: no issue number: `{}`", f.path, line.trim()))
        .collect();
    if notes.len() > MOST {
        complaints.push(format!("{} notes to self, at most {MOST}", notes.len()));
    }
    complaints
}

/// What works in one place only does not belong in the project.
pub(super) fn machine_paths(checkout: &Checkout) -> Vec<String> {
    let text = checkout.under("", "").filter(|f| !f.path.ends_with(".lock") && !f.path.starts_with("tests/data/"));
    text.flat_map(|f| f.lines().enumerate().map(move |(at, line)| (f, at + 1, line)))
        .filter(|(_, _, line)| has_machine_path(line))
        .map(|(f, at, line)| format!("{}:{at}: `{}`", f.path, line.trim()))
        .collect()
}

fn has_machine_path(line: &str) -> bool {
    let fixed = [concat!("/ro", "ot/"), concat!("/wo", "rk/"), concat!("/fa", "rm/")];
    let homes = line.split(concat!("/ho", "me/")).skip(1);
    let in_a_home = |rest: &str| {
        let name = rest.split('/').next().unwrap_or_default();
        rest.contains('/') && !name.is_empty() && name.chars().all(|c| c.is_ascii_lowercase())
    };
    fixed.iter().any(|f| line.contains(f)) || homes.into_iter().any(in_a_home)
}

fn is_comment(line: &str) -> bool {
    line.trim_start().starts_with("//")
}

fn find<'a>(files: impl Iterator<Item = &'a File>, wrong: fn(&str) -> bool) -> Vec<String> {
    let lines = files.flat_map(|f| f.product_lines().map(move |(at, line)| (f, at, line)));
    lines
        .filter(|(_, _, line)| wrong(line))
        .map(|(f, at, line)| format!("{}:{at}: `{}`", f.path, line.trim()))
        .collect()
}
