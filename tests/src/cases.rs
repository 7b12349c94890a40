//! Finding case files and comparing answers.

use std::path::{Path, PathBuf};

use libtest_mimic::{Failed, Trial};

/// The folder of one kind of cases, e.g. `decision`.
pub fn folder(kind: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("cases").join(kind)
}

/// Whether answers are to be rewritten rather than compared.
pub fn blessing() -> bool {
    std::env::var_os("BLESS").is_some_and(|v| v == "1")
}

/// One trial per file with `extension` under `cases/{kind}`, named `{kind}/{stem}`.
///
/// # Panics
/// When the folder is missing or empty: a suite that finds nothing must not pass.
pub fn per_file(kind: &'static str, extension: &str, run: fn(&Path) -> Result<(), String>) -> Vec<Trial> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder(kind))
        .unwrap_or_else(|e| panic!("cases/{kind}: {e}"))
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == extension))
        .collect();
    files.sort();
    assert!(!files.is_empty(), "cases/{kind} has no *.{extension} files");
    files
        .into_iter()
        .map(|path| {
            let name = format!("{kind}/{}", path.file_stem().unwrap().to_string_lossy());
            Trial::test(name, move || run(&path).map_err(Failed::from))
        })
        .collect()
}

/// Compares `actual` with the answer at the end of a case file, after the first line that is `separator`;
/// writes it there when blessing.
///
/// # Errors
/// A line-by-line difference.
pub fn compare_tail(path: &Path, separator: &str, actual: &str) -> Result<(), String> {
    let text = std::fs::read_to_string(path).map_err(|e| e.to_string())?;
    let marker = format!("\n{separator}\n");
    let (head, expected) = text.split_once(&marker).unwrap_or((text.trim_end(), ""));
    if expected.trim_end() == actual.trim_end() {
        return Ok(());
    }
    if blessing() {
        return std::fs::write(path, format!("{head}{marker}{}\n", actual.trim_end())).map_err(|e| e.to_string());
    }
    Err(difference(expected, actual))
}

/// Lines of both texts, marked where they differ.
pub fn difference(expected: &str, actual: &str) -> String {
    let (want, got): (Vec<_>, Vec<_>) = (expected.trim_end().lines().collect(), actual.trim_end().lines().collect());
    let same = want.iter().zip(&got).take_while(|(a, b)| a == b).count();
    let mut out = format!("differs from line {} on (run with BLESS=1 to accept)\n", same + 1);
    want.iter().skip(same).take(12).for_each(|line| out.push_str(&format!("- {line}\n")));
    got.iter().skip(same).take(12).for_each(|line| out.push_str(&format!("+ {line}\n")));
    out
}
