//! Files that only we may have written: compiled code and descriptors, authenticated, outside every plugins folder.
//!
//! Compiled code runs with the host's rights once it is loaded, so nothing is believed that does not carry our MAC
//! over kind, key and content. Whoever can write the key's folder owns the user's account anyway.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};

use crate::error::SandboxError;

/// Part of every MAC; a new number makes all that was written before a miss.
const FORMAT: &[u8] = b"elysia-cache-1";
const MAC_LEN: usize = 32;
/// The hash's block size: a key of exactly this length always fits.
const KEY_LEN: usize = 64;
/// All files together; the least recently used go first.
const MAX_TOTAL: u64 = 2 * 1024 * 1024 * 1024;
/// Largest file that is read back: compiled code of the largest plugin allowed stays far below.
const MAX_FILE: u64 = 1024 * 1024 * 1024;

/// Where a [`Cache`] lives.
#[derive(Clone, Debug)]
pub struct CacheDirs {
    /// Folder of the cached files, made with mode 0700.
    pub cache_dir: PathBuf,
    /// File of the key, made with mode 0600 on first use.
    pub key_file: PathBuf,
}

/// Authenticated files by kind and key; kinds are separate name spaces. What is corrupt, foreign or swapped is a miss.
#[derive(Clone)]
pub struct Cache(Arc<Inner>);

struct Inner {
    dir: PathBuf,
    key: [u8; KEY_LEN],
    max_total: u64,
}

impl std::fmt::Debug for Cache {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Cache").field("dir", &self.0.dir).finish_non_exhaustive()
    }
}

impl Cache {
    /// Opens the cache, making its folder and key where they are missing.
    ///
    /// # Errors
    /// [`SandboxError::Cache`] when either cannot be made, or when others may read the key or write the folder.
    pub fn open(dirs: &CacheDirs) -> Result<Self, SandboxError> {
        Self::with_size(dirs, MAX_TOTAL)
    }

    pub(crate) fn with_size(dirs: &CacheDirs, max_total: u64) -> Result<Self, SandboxError> {
        let fail = |path: &Path, reason: String| SandboxError::Cache { path: path.to_owned(), reason };
        let dir = &dirs.cache_dir;
        make_private_folder(dir).map_err(|e| fail(dir, e.to_string()))?;
        let key = read_or_make_key(&dirs.key_file).map_err(|e| fail(&dirs.key_file, e.to_string()))?;
        Ok(Self(Arc::new(Inner { dir: dir.clone(), key, max_total })))
    }

    /// What was put under `key`, if it is unharmed. Blocking.
    pub fn get(&self, kind: &str, key: &str) -> Option<Vec<u8>> {
        let path = self.path(kind, key);
        let mut bytes = match read_own(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
            Err(error) => {
                tracing::warn!(path = %path.display(), %error, "cached file cannot be read; it is made anew");
                return None;
            }
        };
        let verified = bytes
            .split_first_chunk::<MAC_LEN>()
            .is_some_and(|(mac, content)| self.mac(kind, key, content).verify_slice(mac).is_ok());
        if !verified {
            tracing::warn!(path = %path.display(), "cached file is not as it was written; it is made anew");
            let _ = fs::remove_file(&path);
            return None;
        }
        bytes.drain(..MAC_LEN);
        Some(bytes)
    }

    /// Keeps `bytes` under `key`. Blocking. A disk that is full or read-only costs the time of the next start, no
    /// more, hence only a note in the log.
    pub fn put(&self, kind: &str, key: &str, bytes: &[u8]) {
        if let Err(error) = self.try_put(kind, key, bytes) {
            tracing::warn!(folder = %self.0.dir.display(), %error, "cannot write to the cache");
        }
    }

    fn try_put(&self, kind: &str, key: &str, bytes: &[u8]) -> io::Result<()> {
        let path = self.path(kind, key);
        let mac = self.mac(kind, key, bytes).finalize().into_bytes();
        let mut suffix = [0u8; 8];
        getrandom::fill(&mut suffix).map_err(io::Error::other)?;
        let draft = path.with_extension(format!("{}.tmp", hex(&suffix)));
        let written = write_new(&draft, &[mac.as_slice(), bytes]).and_then(|()| fs::rename(&draft, &path));
        if written.is_err() {
            let _ = fs::remove_file(&draft);
        }
        written?;
        self.shrink()
    }

    /// Removes the least recently used files until the rest fits.
    fn shrink(&self) -> io::Result<()> {
        let mut files = Vec::new();
        for entry in fs::read_dir(&self.0.dir)? {
            let entry = entry?;
            let Ok(about) = entry.metadata() else { continue };
            if about.is_file() {
                files.push((about.modified().unwrap_or(SystemTime::UNIX_EPOCH), about.len(), entry.path()));
            }
        }
        files.sort();
        let mut total: u64 = files.iter().map(|(_, size, _)| size).sum();
        for (_, size, path) in files {
            if total <= self.0.max_total {
                break;
            }
            // Another process may have been faster.
            let _ = fs::remove_file(path);
            total -= size;
        }
        Ok(())
    }

    fn path(&self, kind: &str, key: &str) -> PathBuf {
        let name = Sha256::new().chain_update(kind).chain_update([0]).chain_update(key).finalize();
        self.0.dir.join(hex(&name))
    }

    fn mac(&self, kind: &str, key: &str, content: &[u8]) -> Hmac<Sha256> {
        let mut mac = Hmac::<Sha256>::new(&self.0.key.into());
        mac.update(FORMAT);
        for part in [kind.as_bytes(), key.as_bytes()] {
            mac.update(&(part.len() as u64).to_le_bytes());
            mac.update(part);
        }
        mac.update(content);
        mac
    }
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn make_private_folder(dir: &Path) -> io::Result<()> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(dir)?;
    let about = fs::symlink_metadata(dir)?;
    if !about.is_dir() {
        return Err(io::Error::other("it is not a folder"));
    }
    owned(&about)?;
    if about.mode() & 0o022 != 0 {
        return Err(io::Error::other("others may write to it; `chmod 700` it"));
    }
    Ok(())
}

fn owned(about: &fs::Metadata) -> io::Result<()> {
    let us = rustix::process::geteuid().as_raw();
    if about.uid() == us { Ok(()) } else { Err(io::Error::other("it belongs to another user")) }
}

fn open_own(path: &Path) -> io::Result<(File, fs::Metadata)> {
    let no_follow = i32::try_from(rustix::fs::OFlags::NOFOLLOW.bits()).unwrap_or_default();
    let file = OpenOptions::new().read(true).custom_flags(no_follow).open(path)?;
    let about = file.metadata()?;
    if !about.is_file() {
        return Err(io::Error::other("it is not a file"));
    }
    owned(&about)?;
    Ok((file, about))
}

fn read_own(path: &Path) -> io::Result<Vec<u8>> {
    let (file, about) = open_own(path)?;
    if about.len() > MAX_FILE {
        return Err(io::Error::other("it is too large"));
    }
    let mut bytes = Vec::with_capacity(usize::try_from(about.len()).unwrap_or_default());
    (&file).take(MAX_FILE).read_to_end(&mut bytes)?;
    // Its use is what keeps a file from being the oldest. Failing costs only its place in the line.
    let _ = file.set_modified(SystemTime::now());
    Ok(bytes)
}

fn write_new(path: &Path, parts: &[&[u8]]) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    for part in parts {
        file.write_all(part)?;
    }
    file.sync_all()
}

fn read_or_make_key(path: &Path) -> io::Result<[u8; KEY_LEN]> {
    match read_key(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        read => return read,
    }
    if let Some(folder) = path.parent() {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    }
    let mut key = [0u8; KEY_LEN];
    getrandom::fill(&mut key).map_err(io::Error::other)?;
    let mut suffix = [0u8; 8];
    getrandom::fill(&mut suffix).map_err(io::Error::other)?;
    let draft = path.with_extension(format!("{}.tmp", hex(&suffix)));
    write_new(&draft, &[&key])?;
    // A link, unlike a rename, fails where another process has made the key meanwhile: then that one counts.
    let linked = fs::hard_link(&draft, path);
    fs::remove_file(&draft)?;
    match linked {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ => read_key(path),
    }
}

fn read_key(path: &Path) -> io::Result<[u8; KEY_LEN]> {
    let (mut file, about) = open_own(path)?;
    if about.mode() & 0o077 != 0 {
        return Err(io::Error::other("others may read it; remove it, and a new one is made"));
    }
    let mut key = [0u8; KEY_LEN];
    if about.len() != KEY_LEN as u64 {
        return Err(io::Error::other("it is not a key; remove it, and a new one is made"));
    }
    file.read_exact(&mut key)?;
    Ok(key)
}

#[cfg(test)]
mod tests;
