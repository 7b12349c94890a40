//! Configuration files: which are read, how much of each counts, and where in them something stands.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use elysia_host::{ProjectTrust, toml_error};
use elysia_types::{clean_line, truncate};

use super::{Notice, Options};
use crate::complaint::Complaint;
use crate::folders::Folders;
use crate::printer::reason;

/// A project's configuration.
pub(crate) const PROJECT_FILE: &str = "elysia.toml";
/// The user's configuration, in the configuration folder.
const USER_FILE: &str = "config.toml";
/// More than any configuration needs.
const LONGEST: u64 = 1024 * 1024;

/// Keys of the whole document, for the nearest one to a slip.
const KEYS: [&str; 20] = [
    "agent",
    "tree",
    "models",
    "limits",
    "grants",
    "plugins",
    "store",
    "mcp",
    "secrets",
    "private_hosts",
    "style",
    "description",
    "end_goal",
    "timezone",
    "base",
    "complex",
    "openai",
    "base_url",
    "dirs",
    "native_tools",
];

/// How a file came into play.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// Named with `--config`.
    Named,
    /// Found in the current folder.
    Project,
    /// The user's own.
    User,
}

/// A configuration file, read and checked.
#[derive(Clone, Debug)]
pub(crate) struct ConfigFile {
    /// As it is shown.
    pub(crate) path: PathBuf,
    text: String,
    pub(crate) origin: Origin,
    /// What it sets, without what is inert.
    pub(crate) options: Options,
    /// Keys that have no effect until the file is trusted.
    pub(crate) inert: Vec<&'static str>,
}

/// The files that count, the strongest first.
///
/// # Errors
/// A file that cannot be read or is not valid.
pub(super) fn read_all(named: Option<&Path>, folders: &Folders) -> Result<Vec<ConfigFile>, Complaint> {
    if let Some(named) = named {
        return match read(named, Origin::Named)? {
            Some(mut file) => {
                file.rebase()?;
                Ok(vec![file])
            }
            None => Err(Complaint::usage(format!("the configuration `{}` does not exist", shown(named)))
                .hint("leave `--config` out to use ./elysia.toml or none")),
        };
    }
    let user_path = folders.config.join(USER_FILE);
    let mut files = Vec::new();
    let same = |a: &Path, b: &Path| matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b);
    if !same(Path::new(PROJECT_FILE), &user_path)
        && let Some(mut file) = read(Path::new(PROJECT_FILE), Origin::Project)?
    {
        // A record that cannot be read trusts nothing; `trust` says what is wrong with it.
        let trust = ProjectTrust::open(&folders.state);
        if !trust.is_ok_and(|trust| trust.is_trusted(&file.path, file.text.as_bytes())) {
            file.inert = take_powerful(&mut file.options);
        }
        file.rebase()?;
        files.push(file);
    }
    if let Some(mut file) = read(&user_path, Origin::User)? {
        file.rebase()?;
        files.push(file);
    }
    Ok(files)
}

/// The elysia.toml of a folder and its bytes, whether trusted or not; paths in it stay as written.
///
/// # Errors
/// A file that cannot be read or is not valid.
pub(crate) fn read_project(dir: &Path) -> Result<Option<(ConfigFile, Vec<u8>)>, Complaint> {
    let file = read(&dir.join(PROJECT_FILE), Origin::Project)?;
    Ok(file.map(|file| {
        let bytes = file.text.clone().into_bytes();
        (file, bytes)
    }))
}

/// Keys of these options that a project may not set by itself.
pub(crate) fn powerful(options: &Options) -> Vec<&'static str> {
    take_powerful(&mut options.clone())
}

fn take_powerful(options: &mut Options) -> Vec<&'static str> {
    let mut openai = options.models.as_mut().and_then(|models| models.openai.as_mut());
    let mut taken = Vec::new();
    let mut note = |key, was: bool| {
        if was {
            taken.push(key);
        }
    };
    note("grants", options.grants.take().is_some());
    note("mcp", options.mcp.take().is_some());
    if let Some(openai) = &mut openai {
        note("base_url", openai.base_url.take().is_some());
        // Where a key comes from is as good as a secret: a project could send any file or variable to the endpoint.
        note("api_key_env", openai.api_key_env.take().is_some());
        note("api_key_file", openai.api_key_file.take().is_some());
    }
    note("secrets", options.secrets.take().is_some());
    note("private_hosts", options.private_hosts.take().is_some());
    note("store", options.store.take().is_some());
    taken
}

fn read(path: &Path, origin: Origin) -> Result<Option<ConfigFile>, Complaint> {
    let unreadable = |why: &str| {
        Complaint::usage(format!("the configuration `{}` cannot be read: {why}", shown(path)))
            .hint("correct it, or name another with `--config FILE`")
    };
    // Looked at before it is opened: opening a pipe would wait for its writer.
    let about = match path.metadata() {
        Ok(about) => about,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound && !path.is_symlink() => return Ok(None),
        Err(e) => return Err(unreadable(&reason(&e))),
    };
    if !about.is_file() {
        return Err(unreadable("it is not a file"));
    }
    let mut bytes = Vec::new();
    let opened = File::open(path).and_then(|file| file.take(LONGEST + 1).read_to_end(&mut bytes));
    opened.map_err(|e| unreadable(&reason(&e)))?;
    if bytes.len() as u64 > LONGEST {
        return Err(unreadable("it is over 1 MiB"));
    }
    let text = String::from_utf8(bytes).map_err(|e| {
        let line = 1 + e.as_bytes().iter().take(e.utf8_error().valid_up_to()).filter(|b| **b == b'\n').count();
        Complaint::usage(format!("{}:{line}: the file is not valid UTF-8", shown(path))).hint("save it as UTF-8")
    })?;
    let options = toml::from_str(&text).map_err(|e| {
        Complaint::usage(toml_error(path, &text, &e, &KEYS))
            .hint("correct the file, or name another with `--config FILE`")
    })?;
    Ok(Some(ConfigFile { path: path.to_owned(), text, origin, options, inert: Vec::new() }))
}

fn shown(path: &Path) -> String {
    clean_line(&path.display().to_string())
}

impl ConfigFile {
    /// Makes grants without `sha256` count for nothing. A user's own grants hold wherever they go: the plugins of a
    /// folder they happen to stand in must not get them by bearing the right name.
    pub(crate) fn bind_grants(&mut self) {
        for grant in self.options.grants.iter_mut().flat_map(|grants| grants.values_mut()) {
            grant.bound_only = true;
        }
    }

    /// What to say about keys without effect.
    pub(crate) fn inert_notice(&self) -> Option<Notice> {
        if self.inert.is_empty() {
            return None;
        }
        let keys = self.inert.iter().map(|key| format!("`{key}`")).collect::<Vec<_>>().join(", ");
        let verb = if self.inert.len() == 1 { "has" } else { "have" };
        Some(Notice {
            text: format!("{} is not trusted: {keys} {verb} no effect", shown(&self.path)),
            hint: Some("read the file, then run `elysia-host trust`".to_owned()),
        })
    }

    /// `FILE:LINE:COLUMN` of a key path such as `tree.branches.search.under`, or of the longest part of it there is.
    pub(crate) fn place_of(&self, key: &str) -> Option<String> {
        let document = toml_edit::Document::parse(self.text.as_str()).ok()?;
        let mut table: &dyn toml_edit::TableLike = document.as_table();
        let mut offset = None;
        for segment in key.split('.') {
            let Some((key, item)) = table.get_key_value(segment) else {
                break;
            };
            offset = key.span().map(|span| span.start).or(offset);
            match item.as_table_like() {
                Some(below) => table = below,
                None => break,
            }
        }
        let before = truncate(&self.text, offset?);
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        Some(format!("{}:{line}:{column}", shown(&self.path)))
    }

    /// Makes paths in it start from its own folder.
    fn rebase(&mut self) -> Result<(), Complaint> {
        let folder = std::path::absolute(&self.path)
            .map_err(|e| Complaint::usage(format!("the current folder cannot be used: {}", reason(&e))))?;
        let folder = folder.parent().unwrap_or(Path::new("/")).to_owned();
        let options = &mut self.options;
        for path in options.plugins.iter_mut().flat_map(|plugins| plugins.dirs.iter_mut().flatten()) {
            // Kept as written where it means the same, for messages are read by people.
            if self.origin != Origin::Project {
                *path = folder.join(&*path);
            }
        }
        if let Some(store) = &mut options.store {
            *store = super::store_path(store, &folder)?.display().to_string();
        }
        if let Some(file) = options
            .models
            .as_mut()
            .and_then(|models| models.openai.as_mut())
            .and_then(|openai| openai.api_key_file.as_mut())
        {
            *file = folder.join(&*file);
        }
        for grant in options.grants.iter_mut().flat_map(|grants| grants.values_mut()) {
            for files in grant.files.iter_mut() {
                files.host = folder.join(&files.host);
            }
        }
        Ok(())
    }

    /// Folder that a relative path in it starts from.
    pub(super) fn folder(&self) -> PathBuf {
        self.path.parent().map(Path::to_owned).unwrap_or_default()
    }
}
