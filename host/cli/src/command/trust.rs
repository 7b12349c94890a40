//! `trust`: lets the elysia.toml of a folder take full effect until it changes.

use elysia_host::{HostError, ProjectTrust};
use elysia_types::clean_line;

use super::Context;
use crate::args::Trust;
use crate::complaint::Complaint;
use crate::folders::Folders;
use crate::settings::{PROJECT_FILE, powerful, read_project};

pub(super) fn run(context: &Context<'_>, args: &Trust) -> Result<u8, Complaint> {
    let shown = clean_line(&args.dir.display().to_string());
    let Some((file, bytes)) = read_project(&args.dir)? else {
        return Err(Complaint::usage(format!("there is no {PROJECT_FILE} in `{shown}`"))
            .hint("name the folder of the project: `elysia-host trust DIR`"));
    };
    let folders = Folders::find(&context.variables)?;
    let trust = ProjectTrust::open(&folders.state).map_err(HostError::Plugins)?;
    trust.trust(&file.path, &bytes).map_err(HostError::Plugins)?;
    let path = clean_line(&file.path.display().to_string());
    let keys = powerful(&file.options);
    context.printer.line(&format!("{path} is trusted until it changes"))?;
    if keys.is_empty() {
        context.printer.line("it sets nothing that needs trust")?;
    } else {
        context.printer.line(&format!("now in effect: {}", keys.join(", ")))?;
    }
    for (name, grant) in file.options.grants.iter().flatten() {
        context.printer.line(&format!("  grant {}: {}", clean_line(name), what_it_opens(grant)))?;
    }
    Ok(0)
}

/// The keys of a grant that give something.
fn what_it_opens(grant: &elysia_host::Grant) -> String {
    let opens = [
        ("http", !grant.http.is_empty()),
        ("files", !grant.files.is_empty()),
        ("env", !grant.env.is_empty()),
        ("secrets", !grant.secrets.is_empty()),
        ("model", grant.model.is_some()),
        ("environment", grant.environment),
        ("conversation", grant.conversation),
        ("private_hosts", !grant.private_hosts.is_empty()),
        ("approve", grant.approve.is_some()),
        ("limits", grant.limits != elysia_types::LimitSettings::default()),
    ];
    let keys: Vec<&str> = opens.into_iter().filter(|(_, given)| *given).map(|(key, _)| key).collect();
    if keys.is_empty() { "nothing".to_owned() } else { keys.join(", ") }
}
