//! `tree`: branches and the tools on them.

use super::Context;
use crate::args::{DataFormat, Tree};
use crate::complaint::Complaint;
use crate::interrupt::Interrupt;
use crate::settings::Need;

pub(super) async fn run(context: &Context<'_>, args: &Tree) -> Result<u8, Complaint> {
    let settings = context.settings(&context.flags(), Need::Plugins)?;
    let host = context.open(&settings, &mut Interrupt::watch()?).await?;
    match args.output {
        DataFormat::Json => context.printer.json(&host.tree().to_json())?,
        DataFormat::Text => context.printer.line(host.tree().render().trim_end())?,
    }
    Ok(0)
}
