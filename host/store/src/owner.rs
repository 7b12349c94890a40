//! Who runs a query: one lock file per open store, held by the operating system for as long as its process lives.
//!
//! A lock tells the living from the dead where a process id cannot: ids are given anew, differ between containers, and
//! say nothing after a reboot. `kill -9` lets go of it.

use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// This store as the owner of running queries. Dropping it ends the ownership.
#[derive(Debug)]
pub(crate) struct Owner {
    id: String,
    path: PathBuf,
    // Held for its lock alone.
    _file: File,
}

impl Owner {
    /// Becomes an owner, known by a lock file in `dir`; sweeps out the files of the dead.
    pub(crate) fn claim(dir: &Path) -> io::Result<Self> {
        DirBuilder::new().recursive(true).mode(0o700).create(dir)?;
        sweep(dir);
        loop {
            let id = uuid::Uuid::now_v7().to_string();
            let path = lock_path(dir, &id);
            let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
            file.lock()?;
            // Between making and locking it, a sweep may have taken it for that of a dead process.
            let ours = file.metadata()?.ino();
            if fs::metadata(&path).is_ok_and(|there| there.ino() == ours) {
                return Ok(Self { id, path, _file: file });
            }
        }
    }

    pub(crate) fn id(&self) -> &str {
        &self.id
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        // A file that stays is swept by the next owner.
        let _ = fs::remove_file(&self.path);
    }
}

/// Whether the owner `id` still lives. In doubt it does: a session that stays busy is better than a query run twice.
pub(crate) fn is_alive(dir: &Path, id: &str) -> bool {
    // The id comes from a file: it must not lead elsewhere.
    if id.parse::<uuid::Uuid>().is_err() {
        return false;
    }
    let path = lock_path(dir, id);
    let file = match File::open(&path) {
        Ok(file) => file,
        Err(error) => return error.kind() != io::ErrorKind::NotFound,
    };
    match file.try_lock() {
        Ok(()) => {
            let _ = fs::remove_file(&path);
            false
        }
        Err(TryLockError::WouldBlock | TryLockError::Error(_)) => true,
    }
}

fn sweep(dir: &Path) {
    let Ok(files) = fs::read_dir(dir) else { return };
    for file in files.flatten() {
        if let Some(id) = file.file_name().to_str().and_then(|name| name.strip_suffix(".lock")) {
            is_alive(dir, id);
        }
    }
}

fn lock_path(dir: &Path, id: &str) -> PathBuf {
    dir.join(format!("{id}.lock"))
}

#[cfg(test)]
mod tests;
