//! What the operator allows a plugin, and what of it is in effect: grant ∩ wants, only for the bytes it was given to.

use std::path::{Path, PathBuf};

use elysia_sandbox::{FileGrant, Policy, SandboxError};
use elysia_types::{LimitSettings, PluginName, clean_line};
use indexmap::IndexMap;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::error::io_reason;
use crate::manifest::Wants;
use crate::rule::{Access, Approve, HttpRule};

/// One `[grants.NAME]` table.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Grant {
    /// The bytes this grant was given to.
    pub sha256: Option<String>,
    /// Outgoing requests.
    pub http: Vec<HttpRule>,
    /// Folders.
    pub files: Vec<FilesGrant>,
    /// Environment variables with their values.
    pub env: IndexMap<String, String>,
    /// Secrets that the host puts into requests.
    pub secrets: IndexMap<String, SecretGrant>,
    /// The host's language models.
    pub model: Option<ModelGrant>,
    /// Other tools' results, although it can send data out.
    pub environment: bool,
    /// The conversation, although it can send data out.
    pub conversation: bool,
    /// Non-public addresses.
    pub private_hosts: Vec<String>,
    /// Which calls wait for a yes.
    pub approve: Option<Approve>,
    /// Raised or lowered limits.
    pub limits: LimitSettings,
    /// Without `sha256` it gives nothing: set where nobody named the folder that the plugin comes from.
    #[serde(skip)]
    pub bound_only: bool,
}

/// A host folder as the guest sees it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FilesGrant {
    /// Relative to the folder of the config file.
    pub host: PathBuf,
    /// Absolute path inside the guest.
    pub guest: String,
    /// `read` unless said.
    #[serde(default)]
    pub access: Access,
}

/// Where a secret comes from and the one header of the one host it goes to.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SecretGrant {
    /// Name of the host's environment variable.
    pub env: Option<String>,
    /// Or a file.
    pub file: Option<PathBuf>,
    /// May carry a port.
    pub host: String,
    /// The header that carries it.
    pub header: String,
    /// Before the secret.
    pub prefix: Option<String>,
}

/// Use of the host's models.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelGrant {
    /// In one query.
    pub max_tokens: Option<u64>,
}

/// Folders that decide what a grant of files may open.
#[derive(Clone, Debug, Default)]
pub struct Grounds {
    /// Folder of the config file: relative host paths start here, and it is never writable as a whole.
    pub base: PathBuf,
    /// Folders that no plugin may look into: cache, state.
    pub kept: Vec<PathBuf>,
    /// Folders of plugins: data inside may be read, nothing written.
    pub plugins: Vec<PathBuf>,
}

/// What a plugin gets.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Effective {
    /// For the sandbox.
    pub policy: Policy,
    /// Limits the operator set for it; empty when the grant is not applied.
    pub limits: LimitSettings,
    /// Which calls wait for a yes.
    pub approve: Option<Approve>,
    /// It can send data out and was not given the rest: it sees only its own results.
    pub hides_environment: bool,
    /// Likewise for the conversation.
    pub hides_conversation: bool,
    /// What was granted and not given, one sentence each.
    pub warnings: Vec<String>,
}

impl Effective {
    /// What `grant` gives the plugin `name` whose component has this `sha256` and whose manifest has these `wants`.
    /// Looks at the host folders it names.
    pub fn new(
        name: &PluginName,
        grant: Option<&Grant>,
        wants: Option<&Wants>,
        sha256: &str,
        grounds: &Grounds,
    ) -> Self {
        let Some(grant) = grant else { return Self::default() };
        let mut given = Self::default();
        if grant.sha256.is_none() && grant.bound_only {
            given.approve = grant.approve.filter(|approve| *approve == Approve::Always);
            given.warnings.push(format!(
                "the grant [grants.{name}] of your own configuration names no bytes and this plugin comes from the current \
                 folder, so it is not applied; to give it to this one, add `sha256 = \"{sha256}\"`, or name the folder \
                 with `--plugins`"
            ));
            return given;
        }
        if let Some(bound) = &grant.sha256
            && !bound.eq_ignore_ascii_case(sha256)
        {
            given.warnings.push(format!(
                "the grant [grants.{name}] was given to other bytes (sha256 {}) and is not applied; if the change is yours, \
                 set its `sha256` to {sha256}",
                clean_line(bound)
            ));
            // It gives nothing, but what it holds back stays held back.
            given.approve = grant.approve.filter(|approve| *approve == Approve::Always);
            return given;
        }
        given.limits = grant.limits.clone();
        given.not_of_a_plugin(name, &grant.limits);
        given.approve = grant.approve;
        given.not_yet_available(name, grant);
        given.give_env(grant, wants);
        given.give_files(grant, wants, grounds);
        let sends = given.policy.files.iter().any(|f| f.writable);
        let open = |granted: bool, wanted: fn(&Wants) -> bool| granted && wants.is_none_or(wanted);
        given.hides_environment = sends && !open(grant.environment, |w| w.environment);
        given.hides_conversation = sends && !open(grant.conversation, |w| w.conversation);
        for (key, granted, wanted) in [
            ("environment", grant.environment, wants.is_none_or(|w| w.environment)),
            ("conversation", grant.conversation, wants.is_none_or(|w| w.conversation)),
        ] {
            if granted && !wanted {
                given.warnings.push(not_wanted(key));
            }
        }
        given
    }

    /// As `plugin list` shows it; values of environment variables stay out.
    pub fn to_json(&self) -> Value {
        let files: Vec<Value> = self
            .policy
            .files
            .iter()
            .map(|f| {
                let access = if f.writable { "write" } else { "read" };
                json!({"host": f.host.to_string_lossy(), "guest": f.guest, "access": access})
            })
            .collect();
        let env: Vec<&str> = self.policy.env.iter().map(|(name, _)| name.as_str()).collect();
        json!({
            "http": [], "files": files, "env": env, "secrets": [], "model": false,
            "environment": !self.hides_environment, "conversation": !self.hides_conversation,
        })
    }

    /// Limits of a query or a session are not a plugin's.
    fn not_of_a_plugin(&mut self, name: &PluginName, set: &LimitSettings) {
        let calls = set.calls.clone().unwrap_or_default();
        let keys = [
            ("decisions", set.decisions.is_some()),
            ("query", set.query.is_some()),
            ("query_wall", set.query_wall.is_some()),
            ("query_tokens", set.query_tokens.is_some()),
            ("history", set.history.is_some()),
            ("environment", set.environment.is_some()),
            ("host_memory", set.host_memory.is_some()),
            ("ask", set.ask.is_some()),
            ("calls", calls.query.or(calls.session).or(calls.host).is_some()),
        ];
        for (key, _) in keys.into_iter().filter(|(_, set)| *set) {
            self.warnings.push(format!("`limits.{key}` under [grants.{name}] has no effect; set it under [limits]"));
        }
    }

    fn not_yet_available(&mut self, name: &PluginName, grant: &Grant) {
        let keys: Vec<&str> = [
            ("http", !grant.http.is_empty()),
            ("secrets", !grant.secrets.is_empty()),
            ("model", grant.model.is_some()),
            ("private_hosts", !grant.private_hosts.is_empty()),
        ]
        .into_iter()
        .filter_map(|(key, set)| set.then_some(key))
        .collect();
        for key in keys {
            self.warnings
                .push(format!("`{key}` under [grants.{name}] is not available in this version and has no effect"));
        }
    }

    fn give_env(&mut self, grant: &Grant, wants: Option<&Wants>) {
        for (name, value) in &grant.env {
            let shown = clean_line(name);
            if name.is_empty() || name.contains(['=', '\0']) || value.contains('\0') {
                self.warnings.push(format!("`env.{shown}` is not a possible environment variable; it is not given"));
            } else if wants.is_some_and(|w| !w.env.contains(name)) {
                self.warnings.push(not_wanted(&format!("env.{shown}")));
            } else {
                self.policy.env.push((name.clone(), value.clone()));
            }
        }
    }

    fn give_files(&mut self, grant: &Grant, wants: Option<&Wants>, grounds: &Grounds) {
        for files in &grant.files {
            let label = format!("files {}", clean_line(&files.guest));
            match self.folder(files, wants, grounds, &label) {
                Ok(folder) => self.policy.files.push(folder),
                Err(warning) => self.warnings.push(warning),
            }
        }
    }

    fn folder(
        &mut self,
        files: &FilesGrant,
        wants: Option<&Wants>,
        grounds: &Grounds,
        label: &str,
    ) -> Result<FileGrant, String> {
        let guest = guest_path(&files.guest)
            .ok_or_else(|| format!("`{label}`: a guest path is absolute, without `.` and `..`; it is not given"))?;
        if self.policy.files.iter().any(|f| f.guest == guest) {
            return Err(format!("`{label}` is granted twice; the first one counts"));
        }
        let mut access = files.access;
        if let Some(wants) = wants {
            let wanted = wants.files.iter().filter(|w| guest_path(&w.guest).is_some_and(|w| is_within(&guest, &w)));
            let most = wanted.map(|w| w.access).max().ok_or_else(|| not_wanted(label))?;
            if access > most {
                self.warnings
                    .push(format!("`{label}` is granted for writing; the manifest wants to read, so it may read"));
                access = most;
            }
        }
        let shown = clean_line(&files.host.display().to_string());
        let host = grounds.base.join(&files.host).canonicalize().map_err(|e| {
            format!("`{label}`: the host folder `{shown}` cannot be used, {}; it is not given", io_reason(&e))
        })?;
        let folder = FileGrant { host, guest, writable: access == Access::Write };
        let refused = |reason: &str| format!("`{label}`: the host folder `{shown}` is not given: {reason}");
        folder.check(&grounds.kept, &grounds.plugins).map_err(|e| match e {
            SandboxError::Grant { reason, .. } => refused(&reason),
            other => refused(&other.to_string()),
        })?;
        if folder.host.join("plugin.wasm").symlink_metadata().is_ok() {
            return Err(refused("it is a plugin, and plugins are closed to plugins"));
        }
        let holds_config = grounds.base.canonicalize().is_ok_and(|base| base.starts_with(&folder.host));
        if folder.writable && holds_config {
            return Err(refused("writing there could change the configuration; name a folder inside"));
        }
        Ok(folder)
    }
}

fn not_wanted(key: &str) -> String {
    format!("`{key}` is granted, but the manifest does not want it; it is not given")
}

/// Absolute and plain, without a slash at the end.
fn guest_path(text: &str) -> Option<String> {
    let rest = text.strip_prefix('/')?.trim_end_matches('/');
    if rest.is_empty() {
        return Some("/".to_owned());
    }
    let plain = rest.split('/').all(|part| !matches!(part, "" | "." | ".."));
    (plain && !rest.chars().any(char::is_control)).then(|| format!("/{rest}"))
}

fn is_within(path: &str, folder: &str) -> bool {
    Path::new(path).starts_with(folder)
}

#[cfg(test)]
mod tests;
