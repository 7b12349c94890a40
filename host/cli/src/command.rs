//! From a parsed command to its exit code. One file per command below; what they share is here.

mod ask;

mod chat;

mod completions;

mod doctor;

mod input;

mod plugin;

mod session;

mod tree;

mod trust;

use elysia_host::{Host, HostConfig, HostError, SessionChoice};

use crate::args::{Command, Common, Talk};
use crate::complaint::Complaint;
use crate::env::Variables;
use crate::interrupt::Interrupt;
use crate::printer::Printer;
use crate::settings::{self, Flags, Need, Settings};

/// What every command has at hand.
pub(crate) struct Context<'a> {
    pub(crate) common: Common,
    pub(crate) variables: Variables,
    pub(crate) printer: &'a Printer,
}

/// Carries out `command`.
///
/// # Errors
/// Why it did not do what was asked.
pub(crate) async fn run(
    command: Command,
    common: Common,
    variables: Variables,
    printer: &Printer,
) -> Result<u8, Complaint> {
    let context = Context { common, variables, printer };
    match command {
        Command::Ask(args) => ask::run(&context, args).await,
        Command::Chat(args) => chat::run(&context, args).await,
        Command::Plugin(args) => plugin::run(&context, args).await,
        Command::Session(args) => session::run(&context, args).await,
        Command::Tree(args) => tree::run(&context, &args).await,
        Command::Trust(args) => trust::run(&context, &args),
        Command::Doctor(args) => doctor::run(&context, args).await,
        Command::Completions(args) => completions::run(&context, &args),
    }
}

impl Context<'_> {
    fn flags(&self) -> Flags {
        let Common { plugins, config, store, .. } = self.common.clone();
        Flags { plugins, config, store, model: None, forget: false }
    }

    /// Resolves the settings and says what there is to say about them.
    fn settings(&self, flags: &Flags, need: Need) -> Result<Settings, Complaint> {
        let settings = settings::resolve(flags, &self.variables, need)?;
        for notice in &settings.notices {
            self.printer.warning(&notice.text, notice.hint.as_deref());
        }
        if let Some(model) = &settings.model {
            self.printer.note(&format!("model {model}"));
        }
        Ok(settings)
    }

    /// Opens the host and reports what did not load. An interrupt meanwhile ends the command.
    async fn open(&self, settings: &Settings, interrupt: &mut Interrupt) -> Result<Host, Complaint> {
        self.printer.busy("loading plugins");
        let opened = interrupt.or(self.load(settings)).await;
        self.printer.rest();
        let host = opened?;
        for notice in host.notices() {
            self.printer.warning(notice, None);
        }
        if let Some(hint) = host.catalog().hint().filter(|_| host.catalog().reports().is_empty()) {
            self.printer.note(hint);
        }
        for problem in host.catalog().problems() {
            let text = format!("plugin {}: {}", problem.name, problem.reason);
            match problem.quiet {
                false => self.printer.warning(&text, problem.hint.as_deref()),
                true if self.printer.is_verbose() => self.printer.say(&text),
                true => (),
            }
        }
        Ok(host)
    }

    async fn load(&self, settings: &Settings) -> Result<Host, Complaint> {
        let opened = match Host::open(settings.host.clone()).await {
            // A cache that cannot be used costs time, not answers.
            Err(HostError::Engine(error)) if settings.host.cache_dir.is_some() => {
                let text = format!("compiled plugins are not kept: {error}");
                self.printer.warning(&text, Some("`elysia-host doctor` checks the folders"));
                Host::open(HostConfig { cache_dir: None, ..settings.host.clone() }).await
            }
            opened => opened,
        };
        opened.map_err(|error| match error {
            HostError::Tree(error) => settings.locate(&error),
            error => error.into(),
        })
    }
}

/// The session that `--session`, `--continue` and `--no-save` mean.
fn choice(talk: &Talk) -> SessionChoice {
    match (&talk.session, talk.r#continue, talk.no_save) {
        (Some(id), _, _) => SessionChoice::Existing(id.clone()),
        (None, true, _) => SessionChoice::Last,
        (None, false, true) => SessionChoice::Unsaved,
        (None, false, false) => SessionChoice::New,
    }
}
