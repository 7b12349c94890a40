//! The binary `elysia-host`: parse, resolve, dispatch, exit code. Start reading in `command.rs`.
#![forbid(unsafe_code)]

mod complaint;

mod env;

mod folders;

mod args;

mod table;

mod printer;

mod settings;

mod interrupt;

mod view;

mod command;

use std::process::ExitCode;

use crate::args::{Cli, Parsed};
use crate::complaint::Complaint;
use crate::env::Variables;
use crate::printer::Printer;

fn main() -> ExitCode {
    let variables = Variables::of_process();
    let parsed = args::parse(std::env::args_os().collect());
    let printer = match &parsed {
        Ok(Parsed { cli, .. }) => Printer::new(&variables, cli.common.quiet, cli.common.verbose),
        Err(_) => Printer::new(&variables, false, 0),
    };
    let ended = match parsed {
        Ok(parsed) => start(parsed, variables, &printer),
        Err(args::Stop::Show(text)) => printer.text(&text).map(|()| 0),
        Err(args::Stop::Complain(complaint)) => Err(complaint),
        Err(args::Stop::Usage(text)) => {
            printer.usage(&text);
            Ok(complaint::USAGE)
        }
    };
    ExitCode::from(ended.unwrap_or_else(|complaint| {
        printer.complain(&complaint);
        complaint.exit
    }))
}

fn start(parsed: Parsed, variables: Variables, printer: &Printer) -> Result<u8, Complaint> {
    let Parsed { cli: Cli { common, command }, note } = parsed;
    printer.log(common.verbose);
    if let Some(note) = note {
        printer.note(&note);
    }
    let threads = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|e| Complaint::failed(format!("threads could not be started: {e}")))?;
    let ended = threads.block_on(command::run(command, common, variables, printer));
    // A guest that is being stopped must not hold the answer back.
    threads.shutdown_background();
    ended
}
