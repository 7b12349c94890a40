//! Who may import whom: crates by their manifests, modules by their order in `lib.rs`.

use std::collections::BTreeSet;

use super::Checkout;

/// Our crates: folder, package, and ours it may import. A new crate gets a line here and in ARCHITECTURE.md.
const FLOORS: &[(&str, &str, &[&str])] = &[
    ("host/types", "elysia-types", &[]),
    ("host/sandbox", "elysia-sandbox", &["elysia-types"]),
    ("host/decision", "elysia-decision", &["elysia-types"]),
    ("host/provider", "elysia-provider", &["elysia-types"]),
    ("host/store", "elysia-store", &["elysia-types"]),
    ("host/registry", "elysia-registry", &["elysia-types", "elysia-sandbox"]),
    (
        "host/runtime",
        "elysia-host",
        &["elysia-types", "elysia-sandbox", "elysia-decision", "elysia-provider", "elysia-store", "elysia-registry"],
    ),
    ("host/cli", "elysia-cli", &["elysia-types", "elysia-host"]),
    ("xtask", "xtask", &["elysia-decision"]),
];

/// Crates of others that only some of ours may name. `tests` may name what it compares with or drives.
const DOORS: &[(&str, &[&str])] = &[
    ("wasmtime", &["host/sandbox", "tests"]),
    ("wasmtime-wasi", &["host/sandbox", "tests"]),
    ("wasmtime-wasi-http", &["host/sandbox"]),
    ("reqwest", &["host/provider"]),
    ("rustls", &["host/provider"]),
    ("sqlx", &["host/store"]),
    ("clap", &["host/cli"]),
    ("clap_complete", &["host/cli"]),
    ("anyhow", &["host/cli", "tests", "xtask"]),
    ("axum", &[]),
    ("rmcp", &[]),
    ("libtest-mimic", &["tests"]),
    ("criterion", &["tests"]),
];

/// Crates that some of ours must never name, whoever else does.
const NEVER: &[(&str, &[&str])] = &[
    ("host/types", &["tokio", "tokio-util", "async-trait", "rustix", "getrandom", "jiff"]),
    ("host/decision", &["tokio", "tokio-util", "async-trait", "rustix", "getrandom", "jiff", "uuid"]),
    ("host/runtime", &["wasmparser", "rustix"]),
    ("xtask", &["tokio"]),
];

/// Modules that look both ways and are read together: crate, module, the later one it uses. Each is a debt.
const TOGETHER: &[(&str, &str, &str)] = &[
    ("host/runtime", "drive", "host"), // the loop and what starts it
    ("host/runtime", "drive", "session"),
    ("host/runtime", "session", "host"),
];

/// Every crate lists only ours that lie below it.
pub(super) fn ours(checkout: &Checkout) -> Vec<String> {
    let mut complaints = Vec::new();
    let known: BTreeSet<&str> = FLOORS.iter().map(|(folder, ..)| *folder).collect();
    for name in checkout.folders_in("host/") {
        let folder = format!("host/{name}");
        if !known.contains(folder.as_str()) {
            complaints.push(format!("{folder}: a crate without a floor; see ARCHITECTURE.md"));
        }
    }
    for (folder, package, allowed) in FLOORS {
        let named = match dependencies(checkout, folder) {
            Ok(named) => named,
            Err(complaint) => {
                complaints.push(complaint);
                continue;
            }
        };
        if !checkout.text(&format!("{folder}/Cargo.toml")).is_some_and(|t| t.contains(&format!("name = \"{package}\"")))
        {
            complaints.push(format!("{folder}: the package is not called `{package}`"));
        }
        let above = named.iter().filter(|d| d.starts_with("elysia-") && !allowed.contains(&d.as_str()));
        complaints.extend(above.map(|d| format!("{folder} imports `{d}`, which does not lie below it")));
    }
    complaints.extend(default_members(checkout));
    complaints
}

/// What is left out of `default-members` is never tested by a plain `cargo test`.
fn default_members(checkout: &Checkout) -> Vec<String> {
    let root = match checkout.manifest("Cargo.toml") {
        Ok(root) => root,
        Err(complaint) => return vec![complaint],
    };
    let listed = root.get("workspace").and_then(|w| w.get("default-members")).and_then(toml::Value::as_array);
    let listed: Vec<&str> = listed.into_iter().flatten().filter_map(toml::Value::as_str).collect();
    let expected = FLOORS.iter().map(|(folder, ..)| *folder).filter(|f| f.starts_with("host/")).chain(["tests"]);
    expected.filter(|f| !listed.contains(f)).map(|f| format!("{f} is missing from `default-members`")).collect()
}

/// One crate names the engine, one HTTP, one SQL, one the command line.
pub(super) fn foreign(checkout: &Checkout) -> Vec<String> {
    let mut complaints = Vec::new();
    for folder in FLOORS.iter().map(|(folder, ..)| *folder).chain(["tests"]) {
        let named = match dependencies(checkout, folder) {
            Ok(named) => named,
            Err(complaint) => {
                complaints.push(complaint);
                continue;
            }
        };
        let shut = DOORS.iter().filter(|(name, doors)| named.contains(*name) && !doors.contains(&folder));
        complaints.extend(shut.map(|(name, _)| format!("{folder} names `{name}`, which has its door elsewhere")));
        let never = NEVER.iter().filter(|(crate_folder, _)| *crate_folder == folder).flat_map(|(_, names)| *names);
        complaints.extend(never.filter(|n| named.contains(**n)).map(|n| format!("{folder} must never know `{n}`")));
    }
    complaints
}

/// Names under every kind of dependency, renamed ones by their package.
fn dependencies(checkout: &Checkout, folder: &str) -> Result<BTreeSet<String>, String> {
    let manifest = checkout.manifest(&format!("{folder}/Cargo.toml"))?;
    let mut names = BTreeSet::new();
    let targets = manifest.get("target").and_then(toml::Value::as_table);
    let tables = targets.into_iter().flat_map(|t| t.values()).filter_map(toml::Value::as_table);
    for table in tables.chain([&manifest]) {
        for kind in ["dependencies", "dev-dependencies", "build-dependencies"] {
            for (name, value) in table.get(kind).and_then(toml::Value::as_table).into_iter().flatten() {
                let package = value.get("package").and_then(toml::Value::as_str);
                names.insert(package.unwrap_or(name).to_owned());
            }
        }
    }
    Ok(names)
}

/// Guests see the WIT and the SDK, nothing of the host.
pub(super) fn guest_side(checkout: &Checkout) -> Vec<String> {
    let manifests: Vec<_> = ["sdk/", "plugins/", "tests/guests/"]
        .into_iter()
        .flat_map(|folder| checkout.under(folder, "Cargo.toml"))
        .collect();
    if manifests.is_empty() {
        return vec![String::from("no guest has a manifest")];
    }
    let leaks = manifests.iter().flat_map(|f| f.lines().map(move |line| (f, line)));
    let ours =
        |line: &str| FLOORS.iter().any(|(_, package, _)| line.split(['=', '.']).next().map(str::trim) == Some(package));
    leaks
        .filter(|(_, line)| line.contains("../host/") || ours(line))
        .map(|(f, line)| format!("{}: `{}`", f.path, line.trim()))
        .collect()
}

/// A module may use those listed before it in `lib.rs`, and `error` always.
pub(super) fn modules(checkout: &Checkout) -> Vec<String> {
    let mut complaints = Vec::new();
    let mut needed = BTreeSet::new();
    for (folder, ..) in FLOORS.iter().filter(|(folder, ..)| *folder != "host/cli" && *folder != "xtask") {
        let Some(lib) = checkout.text(&format!("{folder}/src/lib.rs")) else {
            complaints.push(format!("{folder}: no src/lib.rs"));
            continue;
        };
        let order: Vec<&str> = lib.lines().filter_map(module_declared).collect();
        for (at, module) in order.iter().enumerate().filter(|(_, m)| **m != "error") {
            let later = order.get(at + 1..).unwrap_or_default();
            for (place, up) in uses_of(checkout, folder, module, later) {
                match TOGETHER.iter().find(|known| **known == (*folder, *module, up)) {
                    Some(known) => drop(needed.insert(*known)),
                    None => complaints.push(format!("{place}: uses `{up}`, which lib.rs lists after `{module}`")),
                }
            }
        }
    }
    let paid = TOGETHER.iter().filter(|known| !needed.contains(*known));
    complaints
        .extend(paid.map(|(folder, module, up)| format!("{folder}: `{module}` no longer uses `{up}`: strike it off")));
    complaints
}

/// Where the product code of `module` names one of `others`, and which.
fn uses_of<'a>(checkout: &Checkout, folder: &str, module: &str, others: &[&'a str]) -> Vec<(String, &'a str)> {
    let (file, inner) = (format!("{folder}/src/{module}.rs"), format!("{folder}/src/{module}/"));
    let mut uses = Vec::new();
    for source in checkout.under(&format!("{folder}/src/{module}"), ".rs") {
        if (source.path != file && !source.path.starts_with(&inner)) || source.is_test() {
            continue;
        }
        for (number, line) in source.product_lines().filter(|(_, line)| !line.trim_start().starts_with("//")) {
            let named = others.iter().filter(|other| **other != "error" && names_module(line, other));
            uses.extend(named.map(|other| (format!("{}:{number}", source.path), *other)));
        }
    }
    uses
}

fn module_declared(line: &str) -> Option<&str> {
    let line = line.trim();
    let line = line.strip_prefix("pub(crate) ").or_else(|| line.strip_prefix("pub ")).unwrap_or(line);
    line.strip_prefix("mod ")?.strip_suffix(';').filter(|name| *name != "tests")
}

fn names_module(line: &str, module: &str) -> bool {
    let path = format!("crate::{module}");
    line.split(&path).skip(1).any(|rest| rest.starts_with("::") || rest.starts_with(';') || rest.starts_with(','))
}

/// A clippy.toml of a crate replaces the root's: what it does not repeat is off.
pub(super) fn lint_settings(checkout: &Checkout) -> Vec<String> {
    let root = match checkout.manifest("clippy.toml") {
        Ok(root) => root,
        Err(complaint) => return vec![complaint],
    };
    let mut complaints = Vec::new();
    for folder in FLOORS.iter().map(|(folder, ..)| *folder).chain(["tests"]) {
        let path = format!("{folder}/clippy.toml");
        if checkout.text(&path).is_none() {
            continue;
        }
        match checkout.manifest(&path) {
            Ok(own) => complaints.extend(
                root.iter()
                    .filter(|(key, value)| !value.is_array() && own.get(*key) != Some(value))
                    .map(|(key, _)| format!("{path}: does not repeat `{key}` of the root")),
            ),
            Err(complaint) => complaints.push(complaint),
        }
    }
    complaints
}
