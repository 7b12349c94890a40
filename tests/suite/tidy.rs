//! The house rules that no compiler checks: who imports whom, how files look, what documents promise.
//!
//! Each rule takes the [`Checkout`] and answers with its complaints, one line each. A rule that found nothing to look
//! at complains about that too: a rename must not turn it off.

mod documents;
mod floors;
mod layout;
mod sources;

use std::path::Path;
use std::process::Command;
use std::sync::{Arc, OnceLock};

use libtest_mimic::{Failed, Trial};

/// One rule: complaints about the checkout, none when it holds.
type Rule = fn(&Checkout) -> Vec<String>;

/// Every rule by the claim it makes.
const RULES: &[(&str, Rule)] = &[
    ("crates_import_only_what_lies_below", floors::ours),
    ("foreign_crates_have_one_door", floors::foreign),
    ("guests_never_depend_on_the_host", floors::guest_side),
    ("modules_use_those_above_them", floors::modules),
    ("crate_lint_settings_repeat_the_root", floors::lint_settings),
    ("files_stay_readable_in_one_sitting", sources::sizes),
    ("files_say_first_what_they_own", sources::first_lines),
    ("files_are_named_by_a_noun", sources::names),
    ("only_the_printer_prints", sources::prints),
    ("nothing_is_left_unfinished", sources::unfinished),
    ("notes_to_self_carry_a_number", sources::notes_to_self),
    ("no_path_of_one_machine_is_written_down", sources::machine_paths),
    ("there_is_one_wit_package", layout::wit),
    ("every_case_is_walked", layout::cases),
    ("every_test_guest_is_used", layout::guests),
    ("every_plugin_is_complete", layout::plugins),
    ("links_lead_somewhere", documents::links),
    ("the_changelog_is_open", documents::changelog),
    ("the_glossary_has_every_word", documents::glossary),
    ("the_code_map_is_true", documents::code_map),
    ("documented_tasks_exist", documents::tasks),
];

/// One trial per rule.
pub(crate) fn trials() -> Vec<Trial> {
    let checkout: Arc<OnceLock<Result<Checkout, String>>> = Arc::default();
    let trial = |&(claim, rule): &(&str, Rule)| {
        let checkout = Arc::clone(&checkout);
        Trial::test(format!("tidy/{claim}"), move || {
            let checkout = checkout.get_or_init(Checkout::open).as_ref()?;
            let complaints = rule(checkout);
            if complaints.is_empty() { Ok(()) } else { Err(Failed::from(complaints.join("\n"))) }
        })
    };
    RULES.iter().map(trial).collect()
}

/// Every file of the project: what git tracks, and what it would track if added now.
pub(crate) struct Checkout {
    files: Vec<File>,
}

/// One file, text or not.
pub(crate) struct File {
    /// From the root, with `/`.
    pub(crate) path: String,
    /// None for a binary file.
    pub(crate) text: Option<String>,
}

impl Checkout {
    fn open() -> Result<Self, String> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().ok_or("the tests have no parent folder")?;
        let listing = Command::new("git")
            .args(["-c", "safe.directory=*", "ls-files", "-z", "--cached", "--others", "--exclude-standard"])
            .current_dir(root)
            .output()
            .map_err(|e| format!("cannot start git: {e}"))?;
        if !listing.status.success() {
            return Err(format!("git cannot list the files: {}", String::from_utf8_lossy(&listing.stderr)));
        }
        let names = String::from_utf8(listing.stdout).map_err(|e| e.to_string())?;
        let mut paths: Vec<&str> = names.split('\0').filter(|p| !p.is_empty()).collect();
        paths.sort_unstable();
        paths.dedup();
        // A file deleted but still in the index is listed and cannot be read.
        let files = paths.into_iter().filter_map(|path| File::open(root, path)).collect();
        Ok(Self { files })
    }

    /// Files whose path starts with `folder` and ends with `ending`.
    pub(crate) fn under<'a>(&'a self, folder: &'a str, ending: &'a str) -> impl Iterator<Item = &'a File> {
        self.files.iter().filter(move |f| f.path.starts_with(folder) && f.path.ends_with(ending))
    }

    /// The text of one file.
    pub(crate) fn text(&self, path: &str) -> Option<&str> {
        self.files.iter().find(|f| f.path == path)?.text.as_deref()
    }

    /// Whether `path` is a file of the project or a folder that holds one.
    pub(crate) fn has(&self, path: &str) -> bool {
        let folder = format!("{path}/");
        path.is_empty() || self.files.iter().any(|f| f.path == path || f.path.starts_with(&folder))
    }

    /// Folders directly under `folder` (which ends with `/`).
    pub(crate) fn folders_in(&self, folder: &str) -> Vec<&str> {
        let mut names: Vec<&str> =
            self.files.iter().filter_map(|f| Some(f.path.strip_prefix(folder)?.split_once('/')?.0)).collect();
        names.dedup();
        names
    }

    /// A manifest, read as TOML.
    pub(crate) fn manifest(&self, path: &str) -> Result<toml::Table, String> {
        let text = self.text(path).ok_or_else(|| format!("{path}: missing"))?;
        toml::from_str(text).map_err(|e| format!("{path}: {e}"))
    }
}

impl File {
    fn open(root: &Path, path: &str) -> Option<Self> {
        let full = root.join(path);
        // A link is not followed: what it points to is checked under its own name or is not ours.
        if !std::fs::symlink_metadata(&full).ok()?.is_file() {
            return None;
        }
        let text = std::fs::read(full).ok().and_then(|bytes| String::from_utf8(bytes).ok());
        Some(Self { path: path.to_owned(), text })
    }

    /// Its lines, none for a binary file.
    pub(crate) fn lines(&self) -> impl Iterator<Item = &str> {
        self.text.as_deref().unwrap_or_default().lines()
    }

    /// What ships: the lines up to the first `#[cfg(test)]`, numbered from 1.
    pub(crate) fn product_lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.lines().take_while(|line| line.trim() != "#[cfg(test)]").enumerate().map(|(at, line)| (at + 1, line))
    }

    /// Whether the whole file is test code.
    pub(crate) fn is_test(&self) -> bool {
        self.path.ends_with("/tests.rs") || self.path.contains("/tests/") || self.path.starts_with("tests/")
    }
}
