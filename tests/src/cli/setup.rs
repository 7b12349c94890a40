//! The folder a case runs in: files, plugins, a home, a server, a small disk.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use serde::Deserialize;
use tempfile::TempDir;

use super::server;
use crate::guests;

/// What a case needs before its first run. Paths start from the folder that the runs start in.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Setup {
    /// Text files.
    files: BTreeMap<String, String>,
    /// Folders.
    folders: Vec<String>,
    /// Plugins that do what their inputs say: path → name of the tool.
    puppets: BTreeMap<String, String>,
    /// Files that look like plugins: path → what is wrong with them.
    broken: BTreeMap<String, Broken>,
    /// A server; `{port}` is its port.
    server: Option<server::Answer>,
    /// `{port}` is a port where nobody listens.
    no_server: bool,
    /// A folder on a disk of 256 KiB.
    small_disk: Option<String>,
    env: BTreeMap<String, String>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Broken {
    /// A core module.
    Core,
    /// Half of a component.
    Cut,
}

/// A prepared folder.
pub(super) struct Place {
    dir: TempDir,
    env: BTreeMap<String, String>,
    known: BTreeMap<String, String>,
    mounted: Option<PathBuf>,
}

impl Place {
    /// Prepares it; the inner error says what this machine lacks.
    pub(super) fn prepare(setup: &Setup) -> Result<Result<Self, String>, String> {
        let dir = tempfile::tempdir().map_err(|e| e.to_string())?;
        let mut place = Self { dir, env: BTreeMap::new(), known: BTreeMap::new(), mounted: None };
        place.known.insert("dir".to_owned(), place.work().display().to_string());
        std::fs::create_dir_all(place.work()).map_err(|e| e.to_string())?;
        place.home()?;
        if let Some(answer) = &setup.server {
            place.known.insert("port".to_owned(), server::start(answer.clone())?.to_string());
        }
        if setup.no_server {
            place.known.insert("port".to_owned(), server::free_port()?.to_string());
        }
        for folder in &setup.folders {
            std::fs::create_dir_all(place.work().join(folder)).map_err(|e| e.to_string())?;
        }
        if let Some(folder) = &setup.small_disk
            && let Err(missing) = place.mount(folder)
        {
            return Ok(Err(missing));
        }
        for (name, text) in &setup.files {
            place.write(name, text)?;
        }
        for (name, tool) in &setup.puppets {
            place.write_bytes(name, &guests::puppet_named(tool))?;
        }
        for (name, broken) in &setup.broken {
            let bytes = match broken {
                Broken::Core => wat::parse_str("(module (func (export \"run\")))").map_err(|e| e.to_string())?,
                Broken::Cut => {
                    let mut whole = guests::puppet();
                    whole.truncate(whole.len() / 2);
                    whole
                }
            };
            place.write_bytes(name, &bytes)?;
        }
        place.env.extend(setup.env.iter().map(|(name, value)| (name.clone(), place.fill(value))).collect::<Vec<_>>());
        Ok(Ok(place))
    }

    /// Folders of the user, with compiled code shared among cases: compiling again would cost seconds each.
    fn home(&mut self) -> Result<(), String> {
        static SHARED: OnceLock<Result<PathBuf, String>> = OnceLock::new();
        let shared = SHARED.get_or_init(shared_cache).clone()?;
        let home = self.dir.path().join("home");
        let state = home.join("state/elysia-host");
        std::fs::create_dir_all(&state).map_err(|e| e.to_string())?;
        std::fs::copy(shared.join("cache.key"), state.join("cache.key")).map_err(|e| e.to_string())?;
        for (name, folder) in
            [("HOME", ""), ("XDG_CONFIG_HOME", "config"), ("XDG_DATA_HOME", "data"), ("XDG_STATE_HOME", "state")]
        {
            self.env.insert(name.to_owned(), home.join(folder).display().to_string());
        }
        self.env.insert("XDG_CACHE_HOME".to_owned(), shared.display().to_string());
        self.env.insert("PATH".to_owned(), "/usr/bin:/bin".to_owned());
        self.known.insert("home".to_owned(), home.display().to_string());
        Ok(())
    }

    fn mount(&mut self, folder: &str) -> Result<(), String> {
        let path = self.work().join(folder);
        std::fs::create_dir_all(&path).map_err(|e| e.to_string())?;
        let done = Command::new("mount").args(["-t", "tmpfs", "-o", "size=256k", "none"]).arg(&path).output();
        match done {
            Ok(output) if output.status.success() => {
                self.mounted = Some(path);
                Ok(())
            }
            _ => Err("a small disk needs the right to mount one".to_owned()),
        }
    }

    /// The folder that the runs start in.
    pub(super) fn work(&self) -> PathBuf {
        self.dir.path().join("work")
    }

    /// All variables of a run.
    pub(super) fn environment(&self) -> &BTreeMap<String, String> {
        &self.env
    }

    /// `text` with `{dir}`, `{home}`, `{port}` and what earlier runs kept.
    pub(super) fn fill(&self, text: &str) -> String {
        self.known.iter().fold(text.to_owned(), |text, (name, value)| text.replace(&format!("{{{name}}}"), value))
    }

    /// Keeps a value for later runs.
    pub(super) fn keep(&mut self, name: &str, value: String) {
        self.known.insert(name.to_owned(), value);
    }

    /// Writes a file, making its folder.
    pub(super) fn write(&self, name: &str, text: &str) -> Result<(), String> {
        self.write_bytes(name, self.fill(text).as_bytes())
    }

    fn write_bytes(&self, name: &str, bytes: &[u8]) -> Result<(), String> {
        let path = self.work().join(self.fill(name));
        let folder = path.parent().unwrap_or(Path::new("/"));
        std::fs::create_dir_all(folder).and_then(|()| std::fs::write(&path, bytes)).map_err(|e| format!("{name}: {e}"))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if let Some(path) = &self.mounted {
            // What stays mounted is seen when the folder cannot be removed.
            let _ = Command::new("umount").arg(path).status();
        }
    }
}

/// A cache folder with its key. The key is the binary's to make: a first run does.
fn shared_cache() -> Result<PathBuf, String> {
    let own = std::env::current_exe().map_err(|e| e.to_string())?;
    let shared = own.parent().and_then(Path::parent).ok_or("the test executable has no folder")?.join("cli-cache");
    std::fs::create_dir_all(&shared).map_err(|e| e.to_string())?;
    let (key, state) = (shared.join("cache.key"), shared.join("state"));
    if !key.exists() {
        let mut command = Command::new(super::binary()?);
        command.args(["plugin", "list"]).current_dir(&shared).env_clear().env("HOME", &shared);
        command.env("XDG_STATE_HOME", &state).env("XDG_CACHE_HOME", &shared);
        let output = command.output().map_err(|e| e.to_string())?;
        std::fs::copy(state.join("elysia-host/cache.key"), &key)
            .map_err(|e| format!("no cache key: {e}\n{}", String::from_utf8_lossy(&output.stderr)))?;
    }
    Ok(shared)
}
