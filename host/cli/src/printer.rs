//! The only place that writes to standard output and standard error.
//!
//! Data goes to standard output, everything else to standard error. A reader that leaves ends the command quietly;
//! any other failure to write is an error. Text of guests and models comes here cleaned.

use std::io::{self, BufRead as _, IsTerminal as _, Read as _, Write as _};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use tracing_subscriber::filter::LevelFilter;

use crate::complaint::Complaint;
use crate::env::{self, Variables};
use crate::table;

/// Width of tables when standard output is no terminal.
const WIDTH: usize = 120;

/// Where and how to write.
pub(crate) struct Printer {
    quiet: bool,
    verbose: bool,
    /// Colour on standard output, on standard error.
    colour: (bool, bool),
    out_is_terminal: bool,
    columns: Option<usize>,
    /// A spinner may be shown on standard error.
    lively: bool,
    spinner: Mutex<Option<ProgressBar>>,
}

impl Printer {
    pub(crate) fn new(variables: &Variables, quiet: bool, verbose: u8) -> Self {
        let able = !matches!(variables.text(env::TERM), Ok(Some(term)) if term == "dumb");
        let colour = able && !variables.is_set(env::NO_COLOR);
        let (out, err) = (io::stdout().is_terminal(), io::stderr().is_terminal());
        let columns = variables.text(env::COLUMNS).ok().flatten().and_then(|text| text.parse().ok());
        Self {
            quiet,
            verbose: verbose > 0,
            colour: (colour && out, colour && err),
            out_is_terminal: out,
            columns,
            lively: able && err && !quiet && verbose == 0,
            spinner: Mutex::new(None),
        }
    }

    /// Sends the log to standard error: warnings, with `-v` the life cycle, with `-vv` every call and guests' logs.
    pub(crate) fn log(&self, verbose: u8) {
        let level = match verbose {
            0 => LevelFilter::WARN,
            1 => LevelFilter::INFO,
            _ => LevelFilter::DEBUG,
        };
        let level = if self.quiet { LevelFilter::ERROR } else { level };
        let log =
            tracing_subscriber::fmt().with_writer(io::stderr).with_max_level(level).with_ansi(false).with_target(false);
        // Fails only when a log is set already, which nothing else in this process does.
        let _ = log.try_init();
    }

    /// Whether standard output is a terminal.
    pub(crate) fn out_is_terminal(&self) -> bool {
        self.out_is_terminal
    }

    /// Whether `-v` was given.
    pub(crate) fn is_verbose(&self) -> bool {
        self.verbose
    }

    /// Whether there is somebody to answer a question: standard input and standard error are terminals.
    pub(crate) fn can_ask(&self) -> bool {
        io::stdin().is_terminal() && io::stderr().is_terminal()
    }

    /// Asks on standard error; the answer is read by [`answer`].
    pub(crate) fn ask(&self, question: &str, choices: &str) {
        self.rest();
        self.tell("", "0", question);
        let mut err = io::stderr().lock();
        // When nobody can be asked, nobody answers, and that means no.
        let _ = err.write_all(choices.as_bytes()).and_then(|()| err.flush());
    }

    /// Columns of standard output.
    pub(crate) fn width(&self) -> usize {
        let of_terminal = || {
            let size = rustix::termios::tcgetwinsize(io::stdout()).ok()?;
            (size.ws_col > 0).then_some(usize::from(size.ws_col))
        };
        let asked = if self.out_is_terminal { of_terminal().or(self.columns) } else { self.columns };
        asked.unwrap_or(WIDTH).clamp(20, 1000)
    }

    /// One line, or several, of data.
    pub(crate) fn line(&self, text: &str) -> Result<(), Complaint> {
        self.write(&[text.as_bytes(), b"\n"])
    }

    /// Data that ends as it ends.
    pub(crate) fn text(&self, text: &str) -> Result<(), Complaint> {
        self.write(&[text.as_bytes()])
    }

    /// A heading among data for people.
    pub(crate) fn heading(&self, text: &str) -> Result<(), Complaint> {
        if self.colour.0 { self.line(&format!("\x1b[1m{text}\x1b[0m")) } else { self.line(text) }
    }

    /// A value as indented JSON.
    pub(crate) fn json(&self, value: &impl serde::Serialize) -> Result<(), Complaint> {
        let text = serde_json::to_string_pretty(value)
            .map_err(|e| Complaint::failed(format!("the data cannot be written as JSON: {e}")))?;
        self.line(&plain_json(&text))
    }

    /// A value as one line of JSON.
    pub(crate) fn json_line(&self, value: &impl serde::Serialize) -> Result<(), Complaint> {
        let text = serde_json::to_string(value)
            .map_err(|e| Complaint::failed(format!("the data cannot be written as JSON: {e}")))?;
        self.line(&plain_json(&text))
    }

    fn write(&self, parts: &[&[u8]]) -> Result<(), Complaint> {
        self.aside(|| {
            let mut out = io::stdout().lock();
            parts.iter().try_for_each(|part| out.write_all(part)).and_then(|()| out.flush())
        })
        .map_err(|e| match e.kind() {
            io::ErrorKind::BrokenPipe => Complaint::reader_left(),
            _ => Complaint::failed(format!("standard output cannot be written: {}", reason(&e))),
        })
    }

    /// Something worth knowing; hidden by `-q`.
    pub(crate) fn note(&self, text: &str) {
        if !self.quiet {
            self.tell("note: ", "36", text);
        }
    }

    /// A sentence without a label; hidden by `-q`.
    pub(crate) fn say(&self, text: &str) {
        if !self.quiet {
            self.tell("", "0", text);
        }
    }

    /// Something that works less than one might think; hidden by `-q`.
    pub(crate) fn warning(&self, text: &str, hint: Option<&str>) {
        if !self.quiet {
            self.tell("warning: ", "33", text);
            if let Some(hint) = hint {
                self.tell("hint: ", "36", hint);
            }
        }
    }

    /// Why a command did not do what was asked.
    pub(crate) fn complain(&self, complaint: &Complaint) {
        self.rest();
        for notice in &complaint.notices {
            self.warning(notice, None);
        }
        if !complaint.message.is_empty() {
            self.tell("error: ", "31", &complaint.message);
        }
        if let Some(hint) = &complaint.hint {
            self.tell("hint: ", "36", hint);
        }
    }

    /// How a command is used.
    pub(crate) fn usage(&self, text: &str) {
        self.tell("", "0", text.trim_end());
    }

    fn tell(&self, label: &str, colour: &str, text: &str) {
        // Names of files and settings may come from a project that somebody else wrote.
        let text = elysia_types::clean(text);
        let line = match (self.colour.1, label) {
            (true, label) if !label.is_empty() => format!("\x1b[{colour}m{}\x1b[0m {text}\n", label.trim_end()),
            _ => format!("{label}{text}\n"),
        };
        // When standard error is gone there is nobody to tell.
        self.aside(|| {
            let _ = io::stderr().lock().write_all(line.as_bytes());
        });
    }

    /// What is going on: a moving line on a terminal, a plain one elsewhere; hidden by `-q`.
    pub(crate) fn status(&self, text: &str) {
        if !self.lively {
            return self.say(text);
        }
        self.busy(text);
    }

    /// What is going on, shown on a terminal only.
    pub(crate) fn busy(&self, text: &str) {
        if !self.lively {
            return;
        }
        let room = rustix::termios::tcgetwinsize(io::stderr()).map_or(80, |size| usize::from(size.ws_col));
        let text = table::cut(text, room.saturating_sub(4).max(10));
        let mut slot = self.spinner.lock().unwrap_or_else(PoisonError::into_inner);
        slot.get_or_insert_with(|| {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
            if let Ok(style) = ProgressStyle::with_template("{spinner} {msg}") {
                bar.set_style(style);
            }
            bar.enable_steady_tick(Duration::from_millis(120));
            bar
        })
        .set_message(text);
    }

    /// Nothing is going on any more.
    pub(crate) fn rest(&self) {
        if let Some(bar) = self.spinner.lock().unwrap_or_else(PoisonError::into_inner).take() {
            bar.finish_and_clear();
        }
    }

    /// Does `write` while the moving line is away.
    fn aside<T>(&self, write: impl FnOnce() -> T) -> T {
        match &*self.spinner.lock().unwrap_or_else(PoisonError::into_inner) {
            Some(bar) => bar.suspend(write),
            None => write(),
        }
    }
}

/// One line of standard input; empty when there is none. Blocks.
pub(crate) fn answer() -> String {
    let mut answer = String::new();
    match io::stdin().lock().take(256).read_line(&mut answer) {
        Ok(_) => answer,
        Err(_) => String::new(),
    }
}

/// An I/O error in words, without its number.
pub(crate) fn reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "it does not exist".to_owned(),
        io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        io::ErrorKind::IsADirectory => "it is a folder".to_owned(),
        io::ErrorKind::NotADirectory => "a part of its path is not a folder".to_owned(),
        _ => {
            let text = error.to_string();
            text.split(" (os error").next().unwrap_or_default().to_lowercase()
        }
    }
}

/// JSON text without characters that steer a terminal: what JSON itself does not escape becomes `\\uXXXX`, which says
/// the same. Such characters can only stand inside strings.
fn plain_json(text: &str) -> String {
    let mut plain = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if elysia_types::steers(c) {
            let mut units = [0; 2];
            for unit in c.encode_utf16(&mut units) {
                plain.push_str(&format!("\\u{unit:04x}"));
            }
        } else {
            plain.push(c);
        }
    }
    plain
}
