//! Where things lie: one WIT package, cases that are walked, guests that are used, plugins that are complete.

use super::{Checkout, File};

/// Guests and host read the same bytes: one package in `wit/`, older ones frozen, no copy elsewhere.
pub(super) fn wit(checkout: &Checkout) -> Vec<String> {
    let mut complaints = Vec::new();
    let mut packages = Vec::new();
    for file in checkout.under("", ".wit").filter(|f| !f.path.starts_with("wit/frozen/")) {
        if !file.path.starts_with("wit/") {
            complaints.push(format!("{}: a second copy of an interface; `wit/` is the only one", file.path));
        }
        packages.extend(file.lines().filter(|line| line.starts_with("package ")));
    }
    packages.sort_unstable();
    packages.dedup();
    if packages.len() != 1 {
        complaints.push(format!("`wit/` must hold one package, it holds {packages:?}"));
    }
    complaints
}

/// Each kind of cases has a walker that names its folder, and holds nothing the walker would pass over.
pub(super) fn cases(checkout: &Checkout) -> Vec<String> {
    let mut complaints = Vec::new();
    let kinds = checkout.folders_in("tests/cases/");
    if kinds.is_empty() {
        complaints.push(String::from("tests/cases holds no cases"));
    }
    for kind in kinds {
        let quoted = format!("\"{kind}\"");
        let walked = harness(checkout).any(|f| f.text.as_deref().is_some_and(|t| t.contains(&quoted)));
        if !walked {
            complaints.push(format!("tests/cases/{kind}: no walker in the harness names {quoted}"));
        }
        complaints.extend(strays(checkout, kind));
    }
    complaints
}

/// A walker takes files of one ending, or folders: a file that is the only one of its ending was forgotten.
fn strays(checkout: &Checkout, kind: &str) -> Vec<String> {
    let folder = format!("tests/cases/{kind}/");
    let files: Vec<&str> = checkout
        .under(&folder, "")
        .filter_map(|f| f.path.strip_prefix(&folder))
        .filter(|name| !name.contains('/') && *name != "README.md")
        .collect();
    let ending = |name: &str| name.rsplit_once('.').map_or(String::new(), |(_, e)| e.to_owned());
    let endings: Vec<String> = files.iter().map(|name| ending(name)).collect();
    let mut stray = Vec::new();
    for (name, own) in files.iter().zip(&endings) {
        let named = harness(checkout)
            .any(|f| f.text.as_deref().is_some_and(|t| t.contains(&format!("\"{own}\"")) || t.contains(name)));
        if !named {
            stray.push(format!("{folder}{name}: the harness knows neither this name nor `.{own}`"));
        }
    }
    stray
}

fn harness(checkout: &Checkout) -> impl Iterator<Item = &File> {
    checkout
        .under("tests/s", ".rs")
        .chain(checkout.under("tests/benches/", ".rs"))
        .filter(|f| !f.path.contains("/tidy"))
}

/// A guest that no case names proves nothing.
pub(super) fn guests(checkout: &Checkout) -> Vec<String> {
    let folders = checkout.folders_in("tests/guests/");
    let mut unused = Vec::new();
    for guest in folders.into_iter().filter(|g| checkout.has(&format!("tests/guests/{g}/Cargo.toml"))) {
        let used = harness(checkout)
            .chain(checkout.under("tests/cases/", ""))
            .any(|f| f.text.as_deref().is_some_and(|t| t.contains(guest)));
        if !used {
            unused.push(format!("tests/guests/{guest}: no case and no harness file names it"));
        }
    }
    unused
}

/// A plugin is an example: it explains itself, says what it wants, and is tested.
pub(super) fn plugins(checkout: &Checkout) -> Vec<String> {
    let mut complaints = Vec::new();
    let is_plugin = |name: &&str| {
        checkout.text(&format!("plugins/rust/{name}/Cargo.toml")).is_none_or(|manifest| manifest.contains("\"cdylib\""))
    };
    let folders: Vec<&str> = checkout.folders_in("plugins/rust/").into_iter().filter(is_plugin).collect();
    if folders.is_empty() {
        complaints.push(String::from("plugins/rust holds no plugins"));
    }
    for name in folders {
        let folder = format!("plugins/rust/{name}/");
        for needed in ["README.md", "plugin.toml", "Cargo.toml", "src/lib.rs"] {
            if !checkout.has(&format!("{folder}{needed}")) {
                complaints.push(format!("{folder}: no {needed}"));
            }
        }
        let tested = checkout.under(&folder, ".rs").any(|f| f.lines().any(|line| line.trim() == "#[test]"));
        if !tested {
            complaints.push(format!("{folder}: no tests"));
        }
        let known = checkout.under("tests/", "").any(|f| f.text.as_deref().is_some_and(|t| t.contains(name)));
        if !known {
            complaints.push(format!("{folder}: no case in tests/ names it"));
        }
    }
    complaints
}
