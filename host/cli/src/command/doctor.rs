//! `doctor`: looks at everything a query needs and says what is wrong.

use std::path::Path;

use elysia_host::{Host, HostConfig, HostError, ModelChoice, StoreTarget};
use elysia_types::clean_line;

use super::Context;
use crate::args::Doctor;
use crate::complaint::{Complaint, FAILED};
use crate::interrupt::Interrupt;
use crate::printer::{Printer, reason};
use crate::settings::{self, ConfigFile, Flags, Need, Origin, PROJECT_FILE, Settings};

/// Writes findings and remembers whether all is well.
struct Report<'a> {
    printer: &'a Printer,
    good: bool,
}

impl Report<'_> {
    fn ok(&self, subject: &str, text: &str) -> Result<(), Complaint> {
        self.printer.line(&format!("ok       {subject:<9}{text}"))
    }

    fn note(&self, subject: &str, text: &str, hint: Option<&str>) -> Result<(), Complaint> {
        self.printer.line(&format!("note     {subject:<9}{text}"))?;
        self.hint(hint)
    }

    fn problem(&mut self, subject: &str, text: &str, hint: Option<&str>) -> Result<(), Complaint> {
        self.good = false;
        self.printer.line(&format!("problem  {subject:<9}{text}"))?;
        self.hint(hint)
    }

    fn hint(&self, hint: Option<&str>) -> Result<(), Complaint> {
        hint.map_or(Ok(()), |hint| self.printer.line(&format!("hint:    {:<9}{hint}", "")))
    }

    fn exit(&self) -> u8 {
        if self.good { 0 } else { FAILED }
    }
}

pub(super) async fn run(context: &Context<'_>, args: Doctor) -> Result<u8, Complaint> {
    let mut report = Report { printer: context.printer, good: true };
    let mut interrupt = Interrupt::watch()?;
    let flags = Flags { model: args.model, ..context.flags() };
    let settings = match settings::resolve(&flags, &context.variables, Need::Model) {
        Ok(settings) => settings,
        Err(with_model) => {
            // Wrong without a model as well: then it is the configuration, and nothing below can be looked at.
            match settings::resolve(&flags, &context.variables, Need::Plugins) {
                Err(complaint) => {
                    report.problem("config", &complaint.message, complaint.hint.as_deref())?;
                    return Ok(report.exit());
                }
                Ok(settings) => {
                    report.problem("model", &with_model.message, with_model.hint.as_deref())?;
                    settings
                }
            }
        }
    };
    config(&report, &settings)?;
    folders(&mut report, &settings.host)?;
    plugins(context, &mut report, &settings, &mut interrupt).await?;
    store(&mut report, &settings, &mut interrupt).await?;
    model(&mut report, &settings, &mut interrupt).await?;
    Ok(report.exit())
}

fn config(report: &Report<'_>, settings: &Settings) -> Result<(), Complaint> {
    if settings.files.is_empty() {
        report.ok("config", &format!("no {PROJECT_FILE} here and none of the user; defaults are used"))?;
    }
    for file in &settings.files {
        let ConfigFile { path, origin, inert, .. } = file;
        let standing = match origin {
            Origin::Named => "named with --config, trusted",
            Origin::User => "the user's own, trusted",
            Origin::Project if inert.is_empty() => "of this folder, nothing in it lacks trust",
            Origin::Project => "of this folder, not trusted",
        };
        report.ok("config", &format!("{} ({standing})", clean_line(&path.display().to_string())))?;
    }
    for notice in &settings.notices {
        report.note("config", &notice.text, notice.hint.as_deref())?;
    }
    Ok(())
}

fn folders(report: &mut Report<'_>, config: &HostConfig) -> Result<(), Complaint> {
    let cache = config.cache_dir.as_deref().map(|dir| ("cache", dir, "plugins are compiled anew at every start"));
    for (subject, dir, loss) in
        [Some(("state", config.state_dir.as_path(), "nothing can be trusted")), cache].into_iter().flatten()
    {
        let shown = clean_line(&dir.display().to_string());
        match writable(dir) {
            Ok(()) => report.ok(subject, &format!("{shown} can be written"))?,
            Err(e) => {
                let text = format!("{shown} cannot be written: {}; {loss}", reason(&e));
                report.problem(subject, &text, Some("correct its permissions"))?;
            }
        }
    }
    Ok(())
}

/// Tries it: permissions alone do not tell of full disks and read-only mounts.
fn writable(dir: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(dir)?;
    let probe = dir.join(format!(".probe.{}", std::process::id()));
    std::fs::OpenOptions::new().write(true).create_new(true).open(&probe)?;
    std::fs::remove_file(&probe)
}

async fn plugins(
    context: &Context<'_>,
    report: &mut Report<'_>,
    settings: &Settings,
    interrupt: &mut Interrupt,
) -> Result<(), Complaint> {
    for dir in &settings.host.plugin_dirs {
        let shown = clean_line(&dir.path.display().to_string());
        if !dir.explicit && !dir.path.exists() {
            report.note(
                "plugins",
                &format!("there is no folder {shown}"),
                Some("create it, or name one with `--plugins DIR`"),
            )?;
        }
    }
    let config = HostConfig { model: ModelChoice::Local, store: StoreTarget::Memory, ..settings.host.clone() };
    let quiet = Settings { host: config, model: None, notices: Vec::new(), files: settings.files.clone() };
    let host = match interrupt.or(context.load(&quiet)).await {
        Err(complaint) if complaint.message.is_empty() => return Err(complaint),
        Err(complaint) => return report.problem("plugins", &complaint.message, complaint.hint.as_deref()),
        Ok(host) => host,
    };
    let catalog = host.catalog();
    for problem in catalog.problems().iter().filter(|problem| !problem.quiet) {
        report.problem("plugins", &format!("{}: {}", problem.name, problem.reason), problem.hint.as_deref())?;
    }
    for notice in host.notices() {
        report.note("plugins", notice, None)?;
    }
    report.ok("plugins", &format!("{} with {} tools work", catalog.plugins().len(), catalog.tools().count()))
}

async fn store(report: &mut Report<'_>, settings: &Settings, interrupt: &mut Interrupt) -> Result<(), Complaint> {
    let StoreTarget::Path(path) = &settings.host.store else {
        return Ok(());
    };
    let shown = clean_line(&path.display().to_string());
    let bare = HostConfig {
        plugin_dirs: Vec::new(),
        model: ModelChoice::Local,
        tree: elysia_host::TreeConfig::default(),
        ..settings.host.clone()
    };
    let listed = async {
        let sessions = Host::open(bare).await?.store().await?.list().await.map_err(HostError::Store)?;
        Ok::<_, HostError>(sessions.len())
    };
    match interrupt.or(listed).await {
        Ok(1) => report.ok("store", &format!("{shown} opens, 1 session")),
        Ok(n) => report.ok("store", &format!("{shown} opens, {n} sessions")),
        Err(complaint) if complaint.message.is_empty() => Err(complaint),
        Err(complaint) => report.problem("store", &complaint.message, complaint.hint.as_deref()),
    }
}

async fn model(report: &mut Report<'_>, settings: &Settings, interrupt: &mut Interrupt) -> Result<(), Complaint> {
    let Some(said) = &settings.model else { return Ok(()) };
    if let ModelChoice::OpenAi { provider_label, api_key: None, .. } = &settings.host.model
        && provider_label == "openai"
    {
        report.note("model", "no key is set; the endpoint may want one", Some("set `OPENAI_API_KEY`"))?;
    }
    let bare = HostConfig {
        plugin_dirs: Vec::new(),
        store: StoreTarget::Memory,
        tree: elysia_host::TreeConfig::default(),
        ..settings.host.clone()
    };
    report.printer.busy("asking the model");
    let asked = async {
        let host = Host::open(bare).await?;
        host.check_model().await.map_err(|failure| Complaint::failed(clean_line(&failure.message)))
    };
    let answer = interrupt.or(asked).await;
    report.printer.rest();
    match answer {
        Ok(answer) => report.ok("model", &format!("{said}: {}", clean_line(&answer))),
        Err(complaint) if complaint.message.is_empty() => Err(complaint),
        Err(complaint) => {
            let hint = complaint.hint.as_deref().unwrap_or("`--model local` needs no connection");
            report.problem("model", &format!("{said}: {}", complaint.message), Some(hint))
        }
    }
}
