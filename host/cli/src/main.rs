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

use anyhow::{Context, Error};

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
        Err(args::Stop::Show(text)) => printer.text(&text).map(|()| 0).map_err(Error::from),
        Err(args::Stop::Complain(complaint)) => Err(complaint.into()),
        Err(args::Stop::Usage(text)) => {
            printer.usage(&text);
            Ok(complaint::USAGE)
        }
    };
    ExitCode::from(ended.unwrap_or_else(|error| {
        // Whatever has no exit code and hint of its own has failed, and says its causes.
        let complaint = error.downcast().unwrap_or_else(|error| Complaint::failed(format!("{error:#}")));
        printer.complain(&complaint);
        complaint.exit
    }))
}

fn start(parsed: Parsed, variables: Variables, printer: &Printer) -> anyhow::Result<u8> {
    let Parsed { cli: Cli { common, command }, note } = parsed;
    printer.log(common.verbose);
    if let Some(note) = note {
        printer.note(&note);
    }
    let threads =
        tokio::runtime::Builder::new_multi_thread().enable_all().build().context("threads could not be started")?;
    let ended = threads.block_on(command::run(command, common, variables, printer));
    // A guest that is being stopped must not hold the answer back.
    threads.shutdown_background();
    Ok(ended?)
}
