//! `ask`: one question, one answer.

use elysia_host::{HostError, QueryOptions};

use super::{Context, choice, input};
use crate::args::Ask;
use crate::complaint::Complaint;
use crate::interrupt::Interrupt;
use crate::settings::{Flags, Need};
use crate::view::{Kind, View};

pub(super) async fn run(context: &Context<'_>, args: Ask) -> Result<u8, Complaint> {
    let flags = Flags { model: args.talk.model.clone(), forget: args.talk.no_save, ..context.flags() };
    let settings = context.settings(&flags, Need::Model)?;
    let limit = settings.longest_query();
    let query = input::argument_or_stdin(&args.query, limit, "query")?;
    // Before plugins are loaded: a query that cannot be asked should not cost that time.
    if query.trim().is_empty() {
        return Err(HostError::EmptyPrompt.into());
    }
    if query.len() as u64 > limit {
        return Err(HostError::PromptTooLong { limit, observed: query.len() }.into());
    }
    let mut interrupt = Interrupt::watch()?;
    let host = context.open(&settings, &mut interrupt).await?;
    let session = interrupt.or(host.session(choice(&args.talk))).await?;
    let options = QueryOptions { timeout: args.timeout.map(|span| span.0), can_approve: context.printer.can_ask() };
    let handle = session.ask(&query, options).await?;
    View::new(context.printer, args.output, Kind::Question).follow(handle, &mut interrupt).await
}
