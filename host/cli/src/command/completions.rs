//! `completions`: a script for a shell.

use clap::CommandFactory as _;

use super::Context;
use crate::args::{Cli, Completions};
use crate::complaint::Complaint;

pub(super) fn run(context: &Context<'_>, args: &Completions) -> Result<u8, Complaint> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "elysia-host", &mut script);
    context.printer.text(&String::from_utf8_lossy(&script))?;
    Ok(0)
}
