//! `cases/decision/*.txt`: a tree, a question, scripted replies and tools → every action of the turn, in order.
//!
//! The first lines of a case are its claim (`#`) and its script; after `---` stands what the turn did. Lines of a script:
//!
//! ```text
//! preset multi_branch                      branch ID [under=ID] DESCRIPTION [/ INSTRUCTION]
//! tool NAME(a: string, b?: integer=3, c: x|y) [reads|writes|destructive] [ends] [checks] [unasked]
//!      [branch=ID] [after=a,b] [plugin=P] [-- DESCRIPTION]        or  tool NAME {JSON Schema} …
//! place NAME [branch=ID] [after=a,b] [unchosen] [disabled]        limits decisions=5 calls=20 tokens=1000 environment=100
//! given TOOL NAME [{…}]    said user|assistant TEXT               show prompt
//! user TEXT    or   call TOOL {…}          local                  available TOOL yes | no REASON    iftrue TOOL {…}|null
//! model {JSON}|TEXT    calls NAME {…} [NAME {…}]…    fails CODE MESSAGE    usage IN OUT (of later replies)
//! when TOOL        then, indented: text T · cited T [REF,…] · result NAME [{…}] · hidden NAME [{…}] · note T · status T ·
//!                  progress N N · warning T · return JSON · fail CODE FEEDBACK · state · slow
//! ```
//! `available`, `iftrue` and `when` lines of one tool are used in turn, the last one for ever. A slow call ends after all others.

mod script;
mod stage;

use std::path::{Path, PathBuf};

use libtest_mimic::Trial;

use crate::cases;
use script::Script;
use stage::{Interrupt, perform};

/// Trials that share the cases for interruption between them, so that they run beside each other.
const PARTS: usize = 4;

/// All trials of this folder, and those that interrupt every case at every action.
pub fn trials() -> Vec<Trial> {
    let mut trials = cases::per_file("decision", "txt", run);
    trials.extend((0..PARTS).map(|part| {
        let name = format!("decision/every_case_survives_interruption_anywhere_{part}");
        Trial::test(name, move || interrupt_everywhere(part).map_err(libtest_mimic::Failed::from))
    }));
    trials
}

fn read(path: &Path) -> Result<Script, String> {
    let text = std::fs::read_to_string(path).map_err(|e| e.to_string())?;
    let head = text.split_once("\n---\n").map_or(text.as_str(), |(head, _)| head);
    Script::parse(head)
}

fn run(path: &Path) -> Result<(), String> {
    let script = read(path)?;
    let first = perform(&script, None)?.transcript;
    let second = perform(&script, None)?.transcript;
    if first != second {
        return Err("two runs of the same script differ".to_owned());
    }
    cases::compare_tail(path, "---", &first)
}

/// Cancels, or lets the time run out, after each action of each case: one closing event, each call finished.
fn interrupt_everywhere(part: usize) -> Result<(), String> {
    let mut paths: Vec<PathBuf> = std::fs::read_dir(cases::folder("decision"))
        .map_err(|e| e.to_string())?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .collect();
    paths.sort();
    for path in paths.iter().skip(part).step_by(PARTS) {
        let script = read(path)?;
        let n_actions = perform(&script, None)?.n_actions;
        for after in 0..n_actions {
            for interrupt in [Interrupt::Cancel, Interrupt::CancelTwice, Interrupt::Time] {
                let show = perform(&script, Some((after, interrupt)))?;
                show.check_closed().map_err(|e| {
                    format!("{}: {interrupt:?} after action {after}: {e}\n{}", path.display(), show.transcript)
                })?;
            }
        }
    }
    Ok(())
}
