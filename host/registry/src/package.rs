//! A plugin on disk: found in a directory, opened once, read once, bounded and hashed.
//!
//! Nothing here follows a link or waits: an entry may be a pipe, a device or eight gigabytes of nothing.

use std::collections::{BinaryHeap, HashSet};
use std::ffi::{CStr, CString, OsStr};
use std::fs::File;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use elysia_types::{SizeInBytes, clean_line};
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags};
use sha2::{Digest, Sha256};

use crate::error::{RegistryError, io_reason};
use crate::manifest::{MANIFEST_BYTES, Manifest, is_showable};
use crate::report::Problem;

/// Entries of one directory that are looked at, the first by name.
const ENTRIES: usize = 4096;
/// Names of one directory that are read at all.
const NAMES: usize = 1 << 18;

const REMOVE: &str = "move it out of the plugins directory";
const COPY: &str = "put a copy of the file itself there; links are not followed";
const PLAIN: &str = "plugins are files `NAME.wasm` or folders `NAME/` with `plugin.wasm`";

/// Where a component lies, found but not yet opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Package {
    /// The component file.
    pub(crate) path: PathBuf,
    /// The manifest, whether it exists or not.
    pub(crate) manifest: PathBuf,
    /// Name unless the manifest says otherwise.
    pub(crate) stem: String,
}

/// What a directory holds, in the order of file names.
#[derive(Debug, Default)]
pub(crate) struct Scan {
    pub(crate) packages: Vec<Package>,
    pub(crate) problems: Vec<Problem>,
}

impl Package {
    /// `path` as a component file, or as a folder with `plugin.wasm`.
    pub(crate) fn at(path: &Path) -> Self {
        if path.is_dir() { Self::folder(path) } else { Self::file(path) }
    }

    fn file(path: &Path) -> Self {
        if path.file_name().is_some_and(|n| n == "plugin.wasm") && path.with_file_name("plugin.toml").is_file() {
            // A folder's component, named directly.
            let parent = path.canonicalize().unwrap_or_default().parent().map(Path::to_owned).unwrap_or_default();
            return Self { path: path.to_owned(), manifest: path.with_extension("toml"), stem: stem_of(&parent) };
        }
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        Self { path: path.to_owned(), manifest: path.with_extension("toml"), stem }
    }

    fn folder(path: &Path) -> Self {
        let named = if path.file_name().is_some() { path.to_owned() } else { path.canonicalize().unwrap_or_default() };
        Self { path: path.join("plugin.wasm"), manifest: path.join("plugin.toml"), stem: stem_of(&named) }
    }

    /// The manifest, where there is one.
    ///
    /// # Errors
    /// It is not a plain file, too large, or not valid.
    pub(crate) fn read_manifest(&self) -> Result<Manifest, Problem> {
        let problem = |reason: String, hint: &str| Problem {
            path: self.path.clone(),
            ..Problem::new(&self.manifest, reason, hint)
        };
        let fd = match open(&self.manifest) {
            Err(rustix::io::Errno::NOENT) => return Ok(Manifest::default()),
            other => other.map_err(|e| problem(format!("its manifest: {}", open_reason(e)), "make it a plain file"))?,
        };
        let bytes = read_plain(fd, MANIFEST_BYTES).map_err(|refused| match refused {
            Unread::TooLarge(size) => {
                let (size, most) = (SizeInBytes(size), SizeInBytes(MANIFEST_BYTES));
                problem(format!("its manifest has {size}, over the limit of {most}"), "shorten it")
            }
            Unread::Other(reason, _) => problem(format!("its manifest: {reason}"), "make it a plain file"),
        })?;
        let source = String::from_utf8(bytes).map_err(|_| problem("its manifest is not UTF-8 text".to_owned(), ""))?;
        Manifest::parse(&self.manifest, &source).map_err(|reason| problem(reason, "correct or remove the manifest"))
    }

    /// The component's bytes, at most `limit` of them, and their SHA-256.
    ///
    /// # Errors
    /// The file is not plain, not there or too large.
    pub(crate) fn read(&self, limit: u64) -> Result<(Vec<u8>, [u8; 32]), Problem> {
        let fd = open(&self.path).map_err(|e| Problem::new(&self.path, open_reason(e), open_hint(e)))?;
        let bytes = read_plain(fd, limit).map_err(|refused| match refused {
            Unread::TooLarge(size) => self.too_large(size, limit),
            Unread::Other(reason, hint) => Problem::new(&self.path, reason, hint),
        })?;
        let sha256 = Sha256::digest(&bytes).into();
        Ok((bytes, sha256))
    }

    fn too_large(&self, size: u64, limit: u64) -> Problem {
        let stem = clean_line(&self.stem);
        let (observed, configured) = (SizeInBytes(size), SizeInBytes(limit));
        let reason = format!("plugin `{stem}`: `limits.file` is {configured}, observed {observed}");
        let hint = format!(
            "set `limits = {{ file = \"{}MiB\" }}` under `[grants.{}]` in elysia.toml",
            size.div_ceil(1 << 20),
            toml_key(&stem)
        );
        Problem::new(&self.path, reason, &hint)
    }
}

/// Bytes of a hash in small hex digits.
pub(crate) fn hex(digest: &[u8; 32]) -> String {
    use std::fmt::Write;
    digest.iter().fold(String::with_capacity(64), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// A key as TOML wants it: quoted where it is not plain.
pub(crate) fn toml_key(name: &str) -> String {
    let plain = !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_');
    // A JSON string is a TOML basic string as well.
    if plain { name.to_owned() } else { serde_json::Value::from(name).to_string() }
}

fn stem_of(folder: &Path) -> String {
    folder.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// The packages of a directory. `Ok(None)`: there is no such directory.
///
/// # Errors
/// It cannot be read.
pub(crate) fn scan(dir: &Path) -> Result<Option<Scan>, RegistryError> {
    let unreadable =
        |e: rustix::io::Errno| RegistryError::Directory { path: dir.to_owned(), reason: io_reason(&e.into()) };
    // The directory itself may be a link: the user named it.
    let fd = match rustix::fs::open(dir, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty()) {
        Err(rustix::io::Errno::NOENT) => return Ok(None),
        other => other.map_err(unreadable)?,
    };
    let mut scan = Scan::default();
    let (names, left_out) = first_names(&fd).map_err(unreadable)?;
    for name in &names {
        look(dir, &fd, name, &mut scan);
    }
    // A manifest that belongs to a component is not skipped.
    let manifests: HashSet<PathBuf> = scan.packages.iter().map(|package| package.manifest.clone()).collect();
    scan.problems.retain(|problem| !problem.quiet || !manifests.contains(&problem.path));
    if left_out > 0 {
        let reason = format!("it has more than {ENTRIES} entries; the last {left_out} by name are not looked at");
        scan.problems.push(Problem::new(dir, reason, "keep plugins in a directory of their own"));
    }
    Ok(Some(scan))
}

/// The first names in byte order, in bounded memory, and how many are left out.
fn first_names(fd: &OwnedFd) -> rustix::io::Result<(Vec<CString>, usize)> {
    let mut first = BinaryHeap::new();
    let mut left_out = 0;
    for entry in rustix::fs::Dir::read_from(fd)?.take(NAMES) {
        let entry = entry?;
        if matches!(entry.file_name().to_bytes(), b"." | b"..") {
            continue;
        }
        first.push(entry.file_name().to_owned());
        if first.len() > ENTRIES {
            first.pop();
            left_out += 1;
        }
    }
    Ok((first.into_sorted_vec(), left_out))
}

/// One entry: a package, or a problem.
fn look(dir: &Path, fd: &OwnedFd, name: &CStr, scan: &mut Scan) {
    let path = dir.join(OsStr::from_bytes(name.to_bytes()));
    let mut problem = |reason: &str, hint: &str| scan.problems.push(Problem::new(&path, reason, hint));
    let Ok(text) = name.to_str() else {
        return problem("its name is not UTF-8", "rename it");
    };
    if let Some(reason) = skipped(text) {
        return scan.problems.push(Problem::quiet(&path, reason));
    }
    if !is_showable(text) {
        return problem("its name has characters that cannot be shown safely", "rename it");
    }
    let kind = match rustix::fs::statat(fd, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => FileType::from_raw_mode(stat.st_mode),
        Err(e) => return problem(&io_reason(&e.into()), REMOVE),
    };
    match (kind, text.strip_suffix(".wasm")) {
        (FileType::Directory, Some(_)) => {
            problem("it is a folder, not a file", "a plugin folder has no `.wasm` in its name")
        }
        (FileType::Directory, None) => look_into(&path, fd, name, scan),
        (FileType::RegularFile, Some(_)) => scan.packages.push(Package::file(&path)),
        (FileType::RegularFile, None) => {
            let (reason, hint) = foreign(text);
            problem(reason, hint);
        }
        (kind, _) => {
            let (reason, hint) = irregular(kind);
            problem(reason, hint);
        }
    }
}

/// A folder: a package when it holds `plugin.wasm`, whatever that is.
fn look_into(path: &Path, fd: &OwnedFd, name: &CStr, scan: &mut Scan) {
    let folder = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let opened = rustix::fs::openat(fd, name, folder, Mode::empty());
    let found = opened.and_then(|folder| rustix::fs::statat(folder, c"plugin.wasm", AtFlags::SYMLINK_NOFOLLOW));
    let component = path.join("plugin.wasm");
    match found.map(|stat| FileType::from_raw_mode(stat.st_mode)) {
        Ok(FileType::RegularFile) => scan.packages.push(Package::folder(path)),
        Ok(kind) => {
            let (reason, hint) = irregular(kind);
            scan.problems.push(Problem::new(&component, reason, hint));
        }
        Err(rustix::io::Errno::NOENT) => scan.problems.push(Problem::quiet(path, "a folder without `plugin.wasm`")),
        Err(e) => scan.problems.push(Problem::new(path, io_reason(&e.into()), "check its permissions")),
    }
}

/// Names that are left alone without noise.
fn skipped(name: &str) -> Option<&'static str> {
    if name.starts_with('.') {
        Some("a hidden file")
    } else if name.ends_with(".toml") {
        Some("a manifest or configuration")
    } else if name.ends_with(".md") {
        Some("a text for people")
    } else if name.starts_with("LICENSE") {
        Some("a licence")
    } else if name == "Cargo.lock" {
        // Plugins in Rust are often built right where they are dropped.
        Some("a lock file of Cargo")
    } else {
        None
    }
}

fn foreign(name: &str) -> (&'static str, &'static str) {
    let lower = name.to_lowercase();
    if lower.ends_with(".wasm") {
        ("its name does not end in `.wasm` in small letters", "rename it")
    } else if lower.ends_with(".cwasm") {
        ("compiled code is never loaded from here", "put the component (`.wasm`) there")
    } else {
        ("it is not a plugin: its name does not end in `.wasm`", PLAIN)
    }
}

fn irregular(kind: FileType) -> (&'static str, &'static str) {
    match kind {
        FileType::Symlink => ("it is a link", COPY),
        FileType::Fifo => ("it is a pipe, not a file", REMOVE),
        FileType::Socket => ("it is a socket, not a file", REMOVE),
        FileType::CharacterDevice | FileType::BlockDevice => ("it is a device, not a file", REMOVE),
        FileType::Directory => ("it is a folder, not a file", PLAIN),
        _ => ("it is not a plain file", REMOVE),
    }
}

fn open(path: &Path) -> rustix::io::Result<OwnedFd> {
    // NONBLOCK: opening a pipe must not wait for its other end; it changes nothing for plain files.
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    rustix::fs::openat(CWD, path, flags, Mode::empty())
}

fn open_reason(error: rustix::io::Errno) -> String {
    match error {
        rustix::io::Errno::LOOP => "it is a link".to_owned(),
        rustix::io::Errno::NXIO | rustix::io::Errno::NODEV => "it is a socket or device, not a file".to_owned(),
        other => io_reason(&other.into()),
    }
}

fn open_hint(error: rustix::io::Errno) -> &'static str {
    match error {
        rustix::io::Errno::LOOP => COPY,
        rustix::io::Errno::ACCESS | rustix::io::Errno::PERM => "let this user read it, for example with `chmod u+r`",
        rustix::io::Errno::NOENT => PLAIN,
        _ => REMOVE,
    }
}

enum Unread {
    TooLarge(u64),
    Other(String, &'static str),
}

/// Everything of a plain file of at most `limit` bytes, also when it grows meanwhile.
fn read_plain(fd: OwnedFd, limit: u64) -> Result<Vec<u8>, Unread> {
    let other = |e: std::io::Error| Unread::Other(io_reason(&e), "copy it again");
    let stat = rustix::fs::fstat(&fd).map_err(|e| other(e.into()))?;
    let kind = FileType::from_raw_mode(stat.st_mode);
    if kind != FileType::RegularFile {
        let (reason, hint) = irregular(kind);
        return Err(Unread::Other(reason.to_owned(), hint));
    }
    let size = u64::try_from(stat.st_size).unwrap_or(u64::MAX);
    if size > limit {
        return Err(Unread::TooLarge(size));
    }
    let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or_default().saturating_add(1));
    File::from(fd).take(limit.saturating_add(1)).read_to_end(&mut bytes).map_err(other)?;
    if bytes.len() as u64 > limit { Err(Unread::TooLarge(bytes.len() as u64)) } else { Ok(bytes) }
}

#[cfg(test)]
mod tests;
