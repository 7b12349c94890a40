//! Which project files are trusted: the hash of each by its absolute path, in the user's state folder.

use std::collections::BTreeMap;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use rustix::fs::{FlockOperation, OFlags};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::error::{RegistryError, io_reason};
use crate::package::hex;

const FILE: &str = "trusted.json";
const LOCK: &str = "trusted.lock";
const MOST_BYTES: u64 = 4 << 20;

/// The pinned files, as recorded when it was opened and by this process since.
#[derive(Debug)]
pub struct ProjectTrust {
    state_dir: PathBuf,
    record: Mutex<Record>,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct Record {
    /// SHA-256 in hex by absolute path.
    files: BTreeMap<String, String>,
}

impl ProjectTrust {
    /// Reads the record; a state folder without one trusts nothing.
    ///
    /// # Errors
    /// There is a record that cannot be read; treat everything as not trusted.
    pub fn open(state_dir: &Path) -> Result<Self, RegistryError> {
        Ok(Self { state_dir: state_dir.to_owned(), record: Mutex::new(read(&state_dir.join(FILE))?) })
    }

    /// Whether these bytes of this file were trusted by the user.
    pub fn is_trusted(&self, file: &Path, bytes: &[u8]) -> bool {
        let record = self.record.lock().unwrap_or_else(PoisonError::into_inner);
        absolute(file).is_ok_and(|path| record.files.get(&path) == Some(&hash(bytes)))
    }

    /// Pins these bytes of this file, whatever was pinned of it before. Atomic; readable by the user alone.
    ///
    /// # Errors
    /// The state folder cannot be written, or the path is not UTF-8.
    pub fn trust(&self, file: &Path, bytes: &[u8]) -> Result<(), RegistryError> {
        let path = absolute(file)?;
        let target = self.state_dir.join(FILE);
        let failed = |e: &io::Error| RegistryError::State { path: target.clone(), reason: io_reason(e) };
        let mut builder = DirBuilder::new();
        builder.recursive(true).mode(0o700).create(&self.state_dir).map_err(|e| failed(&e))?;
        let lock = private(&self.state_dir.join(LOCK), false).map_err(|e| failed(&e))?;
        rustix::fs::flock(&lock, FlockOperation::LockExclusive).map_err(|e| failed(&e.into()))?;
        // Another process may have added to it meanwhile.
        let mut record = read(&target)?;
        record.files.insert(path, hash(bytes));
        replace(&target, &record).map_err(|e| failed(&e))?;
        *self.record.lock().unwrap_or_else(PoisonError::into_inner) = record;
        Ok(())
    }
}

fn hash(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes).into())
}

/// The one path under which a file is known.
fn absolute(file: &Path) -> Result<String, RegistryError> {
    let real =
        file.canonicalize().map_err(|e| RegistryError::State { path: file.to_owned(), reason: io_reason(&e) })?;
    real.into_os_string()
        .into_string()
        .map_err(|_| RegistryError::Untrustable { path: file.to_owned(), reason: "its path is not UTF-8" })
}

fn read(path: &Path) -> Result<Record, RegistryError> {
    let state = |reason: String| RegistryError::State { path: path.to_owned(), reason };
    let flags = i32::try_from((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits()).unwrap_or_default();
    let file = match OpenOptions::new().read(true).custom_flags(flags).open(path) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Record::default()),
        other => other.map_err(|e| state(io_reason(&e)))?,
    };
    let mut text = String::new();
    file.take(MOST_BYTES).read_to_string(&mut text).map_err(|e| state(io_reason(&e)))?;
    serde_json::from_str(&text).map_err(|_| state("it is damaged".to_owned()))
}

fn private(path: &Path, fresh: bool) -> io::Result<File> {
    let flags = i32::try_from(OFlags::NOFOLLOW.bits()).unwrap_or_default();
    let mut options = OpenOptions::new();
    options.write(true).mode(0o600).custom_flags(flags);
    if fresh { options.create_new(true) } else { options.create(true).truncate(false) }.open(path)
}

fn replace(target: &Path, record: &Record) -> io::Result<()> {
    let fresh = target.with_extension("json.new");
    // Under the lock nobody else writes it: what lies there was left by a process that died.
    match std::fs::remove_file(&fresh) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(e),
        _ => {}
    }
    let mut file = private(&fresh, true)?;
    file.write_all(&serde_json::to_vec_pretty(record)?)?;
    file.sync_all()?;
    std::fs::rename(&fresh, target)?;
    let folder = target.parent().unwrap_or(Path::new("."));
    File::open(folder)?.sync_all()
}

#[cfg(test)]
mod tests;
