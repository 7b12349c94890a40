//! What a plugin may reach beyond its own computing. The default is nothing.

use std::path::{Path, PathBuf};

use crate::error::SandboxError;

/// The resolved whole of what one plugin may reach; made by the registry from grants and wants.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Policy {
    /// Folders.
    pub files: Vec<FileGrant>,
    /// Environment variables, name and value.
    pub env: Vec<(String, String)>,
}

/// One folder of the host that a guest sees under a name of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileGrant {
    /// Folder on the host.
    pub host: PathBuf,
    /// Its name for the guest, e.g. `/data`.
    pub guest: String,
    /// Whether the guest may also change what is in it.
    pub writable: bool,
}

/// Folders whose content steers the machine rather than being data.
const SYSTEM: [&str; 3] = ["/proc", "/sys", "/dev"];

impl FileGrant {
    /// Whether the folder exists and may be handed out: never `/`, the home folder or one above it, `/proc`, `/sys`,
    /// `/dev`, nor one that holds or lies in a folder of `kept` (caches, keys). A folder of `plugins` may be neither
    /// given nor held by the one given; one inside it (example data, say) may be read but not written.
    ///
    /// # Errors
    /// [`SandboxError::Grant`] says which rule refuses it.
    pub fn check(&self, kept: &[PathBuf], plugins: &[PathBuf]) -> Result<(), SandboxError> {
        let refuse = |reason: String| Err(SandboxError::Grant { path: self.host.clone(), reason });
        let real = match self.host.canonicalize() {
            Ok(real) if real.is_dir() => real,
            Ok(_) => return refuse("it is not a folder".to_owned()),
            Err(error) => return refuse(error.to_string()),
        };
        if real.parent().is_none() {
            return refuse("it is the root of the file system".to_owned());
        }
        if SYSTEM.iter().any(|system| real.starts_with(system)) {
            return refuse("it belongs to the operating system".to_owned());
        }
        let home = std::env::home_dir().and_then(|home| home.canonicalize().ok());
        if home.is_some_and(|home| home.starts_with(&real)) {
            return refuse("it is or holds your home folder; grant a folder inside it".to_owned());
        }
        let inside = |folder: &&PathBuf| folder.canonicalize().is_ok_and(|f| real.starts_with(&f) && real != f);
        let opened = kept.iter().find(|kept| overlap(&real, kept));
        let opened = opened
            .or_else(|| plugins.iter().find(|folder| overlap(&real, folder) && (self.writable || !inside(folder))));
        match opened {
            Some(opened) => refuse(format!("it would open `{}`, which is kept from plugins", opened.display())),
            None => Ok(()),
        }
    }
}

fn overlap(real: &Path, kept: &Path) -> bool {
    kept.canonicalize().is_ok_and(|kept| kept.starts_with(real) || real.starts_with(&kept))
}

#[cfg(test)]
mod tests;
