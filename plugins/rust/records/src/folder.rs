//! Finding data files.

use std::io;
use std::path::{Path, PathBuf};

/// Folders inside folders that are looked into.
const DEPTH: usize = 4;

/// A file in the data folder.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DataFile {
    /// Where to read it.
    pub path: PathBuf,
    /// Its path inside the folder, with `/`.
    pub name: String,
    /// Lower case, without the dot.
    pub extension: String,
}

impl DataFile {
    /// Its name without folders and extension.
    pub fn stem(&self) -> &str {
        let file = self.name.rsplit('/').next().unwrap_or(&self.name);
        file.rsplit_once('.').map_or(file, |(stem, _)| stem)
    }
}

/// All files with one of these extensions, sorted by name. Hidden ones and links out of the folder are not there.
///
/// # Errors
/// When the folder itself cannot be read.
pub fn data_files(root: &Path, extensions: &[&str]) -> io::Result<Vec<DataFile>> {
    let mut files = Vec::new();
    walk(root, "", extensions, DEPTH, &mut files)?;
    files.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(files)
}

fn walk(folder: &Path, prefix: &str, extensions: &[&str], depth: usize, files: &mut Vec<DataFile>) -> io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let Ok(file_name) = entry.file_name().into_string() else {
            continue;
        };
        if file_name.starts_with('.') {
            continue;
        }
        let (path, name) = (entry.path(), format!("{prefix}{file_name}"));
        let kind = entry.file_type()?;
        let extension = Path::new(&name).extension().map(|e| e.to_string_lossy().to_lowercase()).unwrap_or_default();
        if kind.is_dir() && depth > 0 {
            // A folder inside that cannot be read hides its files, not the others.
            let _ = walk(&path, &format!("{name}/"), extensions, depth.saturating_sub(1), files);
        } else if kind.is_file() && extensions.contains(&extension.as_str()) {
            files.push(DataFile { path, name, extension });
        }
    }
    Ok(())
}
