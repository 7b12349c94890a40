//! `cargo xtask guests`: builds the Rust plugins and the guests that tests need, with whatever toolchain is there.
//!
//! With the rustup target `wasm32-wasip2` it is one `cargo build`. Without it, and without a way to fetch it, the
//! compiler that Debian packages for the web is used: std is built once into a sysroot in the user's cache folder,
//! then guests build as they do everywhere. Nothing here decides what is out of date: cargo does.

use std::env;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

const TARGET: &str = "wasm32-wasip2";
/// Where the guests stand, and where the built ones are put, from the root of the checkout.
const WORKSPACES: [Workspace; 2] = [
    Workspace { manifest: "plugins/Cargo.toml", members: "plugins/rust", built: "plugins" },
    Workspace { manifest: "tests/guests/Cargo.toml", members: "tests/guests", built: "tests/guests" },
];
/// Lowest compiler the guests build with (`rust-version` of their workspaces).
const RUST_VERSION: (u32, u32) = (1, 88);
const DEBIAN_PACKAGES: [&str; 4] = ["rustc-web", "cargo-web", "rust-web-src", "wasi-libc"];
const DEBIAN_RUSTC: &str = "/usr/bin/rustc";
const DEBIAN_CARGO: &str = "/usr/bin/cargo";
const DEBIAN_WASI_LIBC: &str = "/usr/lib/wasm32-wasi";
/// Changes when the recipe of the sysroot does, so that an old one is not taken for a new one.
const SYSROOT_RECIPE: &str = "1";

struct Workspace {
    manifest: &'static str,
    members: &'static str,
    built: &'static str,
}

/// What to build.
pub(crate) struct Options {
    /// Root of the checkout.
    pub(crate) root: PathBuf,
    /// Names (of folders) to build; all of them when empty.
    pub(crate) only: Vec<String>,
}

/// Builds the guests and answers where the components are: `plugins/NAME.wasm` and `tests/guests/NAME.wasm`.
///
/// A `plugin.toml` of a guest is copied beside it as `NAME.toml`. Files whose bytes are the same stay untouched.
///
/// # Errors
/// Without a toolchain, with what to install; and when a guest does not build. Never skips.
pub(crate) fn build(options: &Options) -> Result<Vec<PathBuf>, String> {
    let toolchain = Toolchain::find(&options.root)?;
    let mut built = Vec::new();
    for workspace in &WORKSPACES {
        let guests = guests(&options.root, workspace, &options.only)?;
        if guests.is_empty() {
            continue;
        }
        let names: Vec<&str> = guests.iter().map(|guest| guest.name.as_str()).collect();
        say(&format!("building {} with {}", names.join(", "), toolchain.name()));
        run(&mut cargo_build(&options.root, workspace, &guests, &toolchain), "building the guests")?;
        for guest in &guests {
            built.push(place(&options.root, workspace, guest)?);
        }
    }
    if built.is_empty() && !options.only.is_empty() {
        return Err(format!("no guest is called {}", options.only.join(" or ")));
    }
    Ok(built)
}

/// One crate that becomes a component.
struct Guest {
    /// Of its folder; the component's name.
    name: String,
    /// Of its package.
    package: String,
    folder: PathBuf,
}

fn guests(root: &Path, workspace: &Workspace, only: &[String]) -> Result<Vec<Guest>, String> {
    if !root.join(workspace.manifest).is_file() {
        return Ok(Vec::new());
    }
    let members = root.join(workspace.members);
    let mut guests = Vec::new();
    for entry in fs::read_dir(&members).map_err(|e| at(&members, &e))? {
        let folder = entry.map_err(|e| at(&members, &e))?.path();
        let manifest = folder.join("Cargo.toml");
        let name = folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        if manifest.is_file() && (only.is_empty() || only.contains(&name)) {
            let text = fs::read_to_string(&manifest).map_err(|e| at(&manifest, &e))?;
            let package = package_name(&text).ok_or_else(|| format!("{}: no package name", manifest.display()))?;
            // What guests share is a library and no component.
            if text.contains("\"cdylib\"") {
                guests.push(Guest { name, package, folder });
            }
        }
    }
    guests.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(guests)
}

/// The `name` of `[package]`. Our own manifests only, so no TOML parser for one line.
fn package_name(manifest: &str) -> Option<String> {
    let package = manifest.split_once("[package]")?.1;
    let line = package.lines().find(|line| line.trim_start().starts_with("name"))?;
    line.split('"').nth(1).map(str::to_owned)
}

fn target_dir(root: &Path) -> PathBuf {
    root.join("target").join("guests")
}

fn cargo_build(root: &Path, workspace: &Workspace, guests: &[Guest], toolchain: &Toolchain) -> Command {
    let mut cargo = toolchain.cargo();
    cargo.current_dir(root).args(["build", "--release", "--target", TARGET]);
    cargo.arg("--manifest-path").arg(root.join(workspace.manifest));
    cargo.arg("--target-dir").arg(target_dir(root));
    for guest in guests {
        cargo.args(["--package", &guest.package]);
    }
    let lock = root.join(workspace.manifest).with_extension("lock");
    if in_ci() && lock.is_file() {
        cargo.arg("--locked");
    }
    cargo
}

/// Puts a built guest and its manifest where hosts and tests look.
fn place(root: &Path, workspace: &Workspace, guest: &Guest) -> Result<PathBuf, String> {
    let artifact = format!("{}.wasm", guest.package.replace('-', "_"));
    let from = target_dir(root).join(TARGET).join("release").join(artifact);
    let to = root.join(workspace.built).join(format!("{}.wasm", guest.name));
    copy_if_changed(&from, &to)?;
    let manifest = guest.folder.join("plugin.toml");
    if manifest.is_file() {
        copy_if_changed(&manifest, &to.with_extension("toml"))?;
    }
    let size = fs::metadata(&to).map_err(|e| at(&to, &e))?.len();
    say(&format!("{} ({} KiB)", to.strip_prefix(root).unwrap_or(&to).display(), size.div_ceil(1024)));
    Ok(to)
}

/// Copies by way of a hidden file, so that a host that watches the folder never sees half a component.
fn copy_if_changed(from: &Path, to: &Path) -> Result<(), String> {
    let bytes = fs::read(from).map_err(|e| at(from, &e))?;
    if fs::read(to).is_ok_and(|there| there == bytes) {
        return Ok(());
    }
    let name = to.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let hidden = to.with_file_name(format!(".{name}.{}", std::process::id()));
    fs::write(&hidden, bytes).map_err(|e| at(&hidden, &e))?;
    fs::rename(&hidden, to).map_err(|e| at(to, &e))
}

/// A compiler for guests.
enum Toolchain {
    /// Cargo as it is, with the target installed.
    Rustup,
    /// Debian's compiler with a sysroot of ours; `linker` is the folder of `wasm-component-ld` and `rust-lld`.
    Debian { sysroot: PathBuf, linker: PathBuf },
}

impl Toolchain {
    /// The target of rustup, if it is there or can be had; else Debian's compiler, installed if that is possible.
    fn find(root: &Path) -> Result<Toolchain, String> {
        if rustup_target_works(root) {
            return Ok(Toolchain::Rustup);
        }
        // A sysroot made earlier answers at once; asking rustup first would try the network at every build.
        if let Some(toolchain) = Toolchain::from_cache(root) {
            return Ok(toolchain);
        }
        if add_rustup_target(root) && rustup_target_works(root) {
            return Ok(Toolchain::Rustup);
        }
        if !debian_is_complete() && !install_debian_packages() {
            return Err(what_to_install());
        }
        Toolchain::from_debian(root)
    }

    fn from_cache(root: &Path) -> Option<Toolchain> {
        let sysroot = debian_is_complete().then(sysroot_dir)?.ok().filter(|sysroot| sysroot.is_dir())?;
        Some(Toolchain::Debian { sysroot, linker: linker_dir(root).ok()? })
    }

    fn from_debian(root: &Path) -> Result<Toolchain, String> {
        let (sysroot, linker) = (sysroot_dir()?, linker_dir(root)?);
        if !sysroot.is_dir() {
            build_sysroot(&sysroot, &linker)?;
        }
        Ok(Toolchain::Debian { sysroot, linker })
    }

    fn name(&self) -> &'static str {
        match self {
            Toolchain::Rustup => "the rustup target",
            Toolchain::Debian { .. } => "Debian's compiler",
        }
    }

    fn cargo(&self) -> Command {
        match self {
            Toolchain::Rustup => {
                let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
                cargo.env_remove("CARGO_BUILD_TARGET");
                cargo
            }
            Toolchain::Debian { sysroot, linker } => {
                let mut cargo = debian_cargo(linker);
                cargo.env("CARGO_ENCODED_RUSTFLAGS", format!("--sysroot\u{1f}{}", sysroot.display()));
                cargo
            }
        }
    }
}

/// Whether the compiler used in `root` has a standard library for the target. The folder alone is no proof: rustc
/// names it for any target it has heard of.
fn rustup_target_works(root: &Path) -> bool {
    let libdir = output(Command::new("rustc").current_dir(root).args(["--print", "target-libdir", "--target", TARGET]));
    let entries = libdir.and_then(|dir| fs::read_dir(dir.trim()).ok());
    entries.is_some_and(|mut entries| {
        entries.any(|entry| entry.is_ok_and(|entry| entry.file_name().to_string_lossy().starts_with("libstd-")))
    })
}

/// Asks rustup for the target, not for long: some machines have no way to its server and would wait for minutes.
fn add_rustup_target(root: &Path) -> bool {
    let patience =
        if debian_is_complete() || can_install() { Duration::from_secs(20) } else { Duration::from_secs(300) };
    let mut rustup = Command::new("rustup");
    rustup.current_dir(root).args(["target", "add", TARGET]);
    rustup.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let Ok(mut child) = rustup.spawn() else { return false };
    say(&format!("asking rustup for {TARGET}"));
    let started = Instant::now();
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return status.success(),
            Ok(None) if started.elapsed() < patience => thread::sleep(Duration::from_millis(100)),
            Ok(None) | Err(_) => {
                // It may have ended by itself in between; then there is nothing to kill.
                let _ = child.kill();
                let _ = child.wait();
                return false;
            }
        }
    }
}

fn debian_is_complete() -> bool {
    let new_enough = output(Command::new(DEBIAN_RUSTC).arg("--version")).and_then(|text| version(&text));
    new_enough.is_some_and(|version| version >= RUST_VERSION)
        && Path::new(DEBIAN_CARGO).is_file()
        && Path::new(DEBIAN_WASI_LIBC).join("libc.a").is_file()
        && debian_source().is_dir()
}

fn debian_source() -> PathBuf {
    let sysroot = output(Command::new(DEBIAN_RUSTC).args(["--print", "sysroot"])).unwrap_or_default();
    Path::new(sysroot.trim()).join("lib/rustlib/src/rust/library/std")
}

/// Major and minor of `rustc 1.96.0 (…)`.
fn version(text: &str) -> Option<(u32, u32)> {
    let mut numbers = text.split_whitespace().nth(1)?.split('.').map(str::parse);
    Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
}

fn can_install() -> bool {
    let root = output(Command::new("id").arg("-u")).is_some_and(|id| id.trim() == "0");
    root && output(Command::new("apt-get").arg("--version")).is_some()
}

fn install_debian_packages() -> bool {
    if !can_install() {
        return false;
    }
    say(&format!("installing {}", DEBIAN_PACKAGES.join(", ")));
    // Lists first: the compiler that is new enough came as an update of the release.
    let apt = |arguments: &[&str]| {
        let mut apt = Command::new("apt-get");
        apt.env("DEBIAN_FRONTEND", "noninteractive").args(arguments);
        run(&mut apt, "installing packages").is_ok()
    };
    // A source that cannot be reached fails the update as a whole; the others may do.
    apt(&["update", "-qq"]);
    let install = ["install", "-y", "-qq", "--no-install-recommends"];
    apt(&[&install[..], &DEBIAN_PACKAGES[..]].concat()) && debian_is_complete()
}

fn what_to_install() -> String {
    format!(
        "no compiler for {TARGET}: install the target with `rustup target add {TARGET}`, or on Debian, as root, \
         `apt-get update && apt-get install --no-install-recommends {}` (rustc {}.{} or newer)",
        DEBIAN_PACKAGES.join(" "),
        RUST_VERSION.0,
        RUST_VERSION.1,
    )
}

/// The folder of `wasm-component-ld` and `rust-lld`, which rustup's compiler brings along and Debian's does not.
fn linker_dir(root: &Path) -> Result<PathBuf, String> {
    let sysroot = output(Command::new("rustc").current_dir(root).args(["--print", "sysroot"])).unwrap_or_default();
    let dir = Path::new(sysroot.trim()).join("lib/rustlib").join(host_triple("rustc")?).join("bin");
    if dir.join("wasm-component-ld").is_file() && dir.join("rust-lld").is_file() {
        return Ok(dir);
    }
    Err("no `wasm-component-ld` beside rustc: use a compiler installed by rustup, or `rustup target add wasm32-wasip2`"
        .into())
}

fn host_triple(rustc: &str) -> Result<String, String> {
    let text = output(Command::new(rustc).arg("-vV")).ok_or_else(|| format!("cannot run `{rustc} -vV`"))?;
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).ok_or_else(|| format!("`{rustc} -vV` names no host"))
}

/// Where the sysroot for Debian's compiler is kept: outside the checkout, by version, so that it is built once.
fn sysroot_dir() -> Result<PathBuf, String> {
    let cache = env::var_os("XDG_CACHE_HOME").map(PathBuf::from).filter(|dir| dir.is_absolute());
    let cache = cache.or_else(|| env::var_os("HOME").map(|home| Path::new(&home).join(".cache")));
    let cache = cache.ok_or("neither XDG_CACHE_HOME nor HOME is set")?;
    let version = output(Command::new(DEBIAN_RUSTC).arg("--version")).unwrap_or_default();
    let key: String = version.chars().map(|c| if c.is_ascii_alphanumeric() || c == '.' { c } else { '-' }).collect();
    Ok(cache.join("elysia-host").join("sysroot").join(format!("{TARGET}-{}-r{SYSROOT_RECIPE}", key.trim_matches('-'))))
}

fn debian_cargo(linker: &Path) -> Command {
    let mut cargo = Command::new(DEBIAN_CARGO);
    let path = env::var_os("PATH").unwrap_or_default();
    let dirs = std::iter::once(linker.to_owned()).chain(env::split_paths(&path));
    // Folders with a colon in their name cannot stand in PATH; the old one is then the best there is.
    cargo.env("PATH", env::join_paths(dirs).unwrap_or(path)).env("RUSTC", DEBIAN_RUSTC);
    let foreign =
        ["CARGO", "CARGO_BUILD_TARGET", "CARGO_TARGET_DIR", "RUSTFLAGS", "RUSTC_WRAPPER", "RUSTC_WORKSPACE_WRAPPER"];
    for name in foreign {
        cargo.env_remove(name);
    }
    cargo
}

/// Builds std for the target and lays it out as a sysroot: in a folder of our own, then renamed, so that two builds
/// at once and one that is killed leave nothing half-made.
fn build_sysroot(sysroot: &Path, linker: &Path) -> Result<(), String> {
    say("building the standard library for the guests, once: about two minutes");
    let work = sysroot.with_extension(format!("building-{}", std::process::id()));
    fs::create_dir_all(&work).map_err(|e| at(&work, &e))?;
    let result = build_std(&work, linker).and_then(|deps| lay_out(&work.join("sysroot"), &deps)).and_then(|made| {
        match fs::rename(&made, sysroot) {
            // Somebody else was faster: theirs is the same.
            Err(_) if sysroot.is_dir() => Ok(()),
            other => other.map_err(|e| at(sysroot, &e)),
        }
    });
    let removed = fs::remove_dir_all(&work).map_err(|e| at(&work, &e));
    result.and(removed)
}

/// Builds an empty crate with std from source; answers the folder of the libraries.
fn build_std(work: &Path, linker: &Path) -> Result<PathBuf, String> {
    let source = work.join("empty/src");
    fs::create_dir_all(&source).map_err(|e| at(&source, &e))?;
    let manifest = work.join("empty/Cargo.toml");
    let text = "[package]\nname = \"empty\"\nversion = \"0.0.0\"\nedition = \"2024\"\n[profile.release]\npanic = \"abort\"\n[workspace]\n";
    fs::write(&manifest, text).map_err(|e| at(&manifest, &e))?;
    fs::write(source.join("lib.rs"), "").map_err(|e| at(&source, &e))?;
    let mut cargo = debian_cargo(linker);
    // Bitcode, or guests with link-time optimisation fail. RUSTC_BOOTSTRAP, since `-Z` belongs to nightly.
    cargo.env("RUSTC_BOOTSTRAP", "1").env("CARGO_ENCODED_RUSTFLAGS", "-Cembed-bitcode=yes");
    cargo.args(["build", "--release", "--target", TARGET, "-Zbuild-std=std,panic_abort"]);
    cargo.arg("--manifest-path").arg(&manifest).arg("--target-dir").arg(work.join("target"));
    run(&mut cargo, "building the standard library")?;
    Ok(work.join("target").join(TARGET).join("release/deps"))
}

fn lay_out(sysroot: &Path, deps: &Path) -> Result<PathBuf, String> {
    let lib = sysroot.join("lib/rustlib").join(TARGET).join("lib");
    let contained = lib.join("self-contained");
    fs::create_dir_all(&contained).map_err(|e| at(&contained, &e))?;
    for entry in fs::read_dir(deps).map_err(|e| at(deps, &e))? {
        let path = entry.map_err(|e| at(deps, &e))?.path();
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        if name.ends_with(".rlib") && !name.starts_with("libempty") {
            fs::copy(&path, lib.join(&name)).map_err(|e| at(&path, &e))?;
        }
    }
    for name in ["crt1-command.o", "crt1-reactor.o", "libc.a"] {
        let from = Path::new(DEBIAN_WASI_LIBC).join(name);
        fs::copy(&from, contained.join(name)).map_err(|e| at(&from, &e))?;
    }
    // Build scripts and macros of guests are built for this machine, with Debian's own std.
    let (host, own) = (host_triple(DEBIAN_RUSTC)?, output(Command::new(DEBIAN_RUSTC).args(["--print", "sysroot"])));
    let from = Path::new(own.unwrap_or_default().trim()).join("lib/rustlib").join(&host);
    let link = sysroot.join("lib/rustlib").join(&host);
    symlink(&from, &link).map_err(|e| at(&link, &e))?;
    Ok(sysroot.to_owned())
}

#[cfg(unix)]
fn symlink(from: &Path, to: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(from, to)
}

#[cfg(not(unix))]
fn symlink(_: &Path, _: &Path) -> io::Result<()> {
    Err(io::Error::from(io::ErrorKind::Unsupported))
}

/// What a command prints, if it succeeds.
fn output(command: &mut Command) -> Option<String> {
    let output = command.stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Runs a command with all it prints on stderr: stdout is for data.
fn run(command: &mut Command, what: &str) -> Result<(), String> {
    let status = command.stdin(Stdio::null()).stdout(io::stderr()).status();
    let program = command.get_program().to_string_lossy();
    match status.map_err(|e| format!("{what}: cannot run `{program}`: {e}"))? {
        status if status.success() => Ok(()),
        status => Err(format!("{what}: `{program}` ended with {status}")),
    }
}

fn in_ci() -> bool {
    env::var("CI").is_ok_and(|ci| ci == "true" || ci == "1")
}

fn at(path: &Path, error: &io::Error) -> String {
    format!("{}: {error}", path.display())
}

fn say(text: &str) {
    // Nobody to tell it to is no reason to stop building.
    let _ = writeln!(io::stderr().lock(), "guests: {text}");
}
