//! Every kind of entry one can find in a folder.

use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;

use super::*;

fn problems(scan: &Scan, quiet: bool) -> Vec<(&str, &str)> {
    scan.problems.iter().filter(|p| p.quiet == quiet).map(|p| (p.name.as_str(), p.reason.as_str())).collect()
}

fn make_node(path: &Path, kind: FileType) -> bool {
    rustix::fs::mknodat(CWD, path, kind, Mode::from_raw_mode(0o600), rustix::fs::makedev(1, 3)).is_ok()
}

/// One entry of every kind. The listener keeps its socket; false: devices cannot be made by this user.
fn fill(dir: &Path) -> (UnixListener, bool) {
    let at = |name: &str| dir.join(name);
    for name in
        ["b.wasm", "a.wasm", "b.toml", "notes.txt", "Old.WASM", "old.cwasm", "README.md", "LICENSE-MIT", ".hidden.wasm"]
    {
        std::fs::write(at(name), "x").unwrap();
    }
    for folder in ["folder", "dir.wasm", "empty", "odd", "piped"] {
        std::fs::create_dir(at(folder)).unwrap();
    }
    std::fs::write(at("folder/plugin.wasm"), "x").unwrap();
    std::fs::create_dir(at("odd/plugin.wasm")).unwrap();
    assert!(make_node(&at("piped/plugin.wasm"), FileType::Fifo) && make_node(&at("pipe.wasm"), FileType::Fifo));
    symlink(at("a.wasm"), at("link.wasm")).unwrap();
    symlink("nowhere", at("dangling.wasm")).unwrap();
    symlink(at("folder"), at("linked-folder")).unwrap();
    let socket = UnixListener::bind(at("socket.wasm")).unwrap();
    std::fs::write(at("a\u{1b}[31m.wasm"), "x").unwrap();
    std::fs::write(at("a\u{202e}b.wasm"), "x").unwrap();
    std::fs::write(dir.join(OsStr::from_bytes(b"\xff.wasm")), "x").unwrap();
    let has_device = make_node(&at("device.wasm"), FileType::CharacterDevice);
    (socket, has_device)
}

#[test]
fn good_entries_are_found_in_order_and_bad_ones_named() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    let (_socket, has_device) = fill(dir.path());
    let scan = scan(dir.path()).unwrap().unwrap();
    let stems: Vec<&str> = scan.packages.iter().map(|p| p.stem.as_str()).collect();
    assert_eq!(stems, ["a", "b", "folder"]);
    assert_eq!(scan.packages[2].manifest, at("folder/plugin.toml"));
    let mut loud = problems(&scan, false);
    if has_device {
        assert!(loud.contains(&("device.wasm", "it is a device, not a file")));
        loud.retain(|(name, _)| *name != "device.wasm");
    }
    let unsafe_name = "its name has characters that cannot be shown safely";
    assert_eq!(
        loud,
        [
            ("Old.WASM", "its name does not end in `.wasm` in small letters"),
            ("a[31m.wasm", unsafe_name),
            ("ab.wasm", unsafe_name),
            ("dangling.wasm", "it is a link"),
            ("dir.wasm", "it is a folder, not a file"),
            ("link.wasm", "it is a link"),
            ("linked-folder", "it is a link"),
            ("notes.txt", "it is not a plugin: its name does not end in `.wasm`"),
            ("odd/plugin.wasm", "it is a folder, not a file"),
            ("old.cwasm", "compiled code is never loaded from here"),
            ("pipe.wasm", "it is a pipe, not a file"),
            ("piped/plugin.wasm", "it is a pipe, not a file"),
            ("socket.wasm", "it is a socket, not a file"),
            ("\u{fffd}.wasm", "its name is not UTF-8"),
        ]
    );
    assert!(scan.problems.iter().all(|p| p.quiet || p.hint.is_some()));
    let quiet: Vec<&str> = problems(&scan, true).into_iter().map(|(name, _)| name).collect();
    assert_eq!(quiet, [".hidden.wasm", "LICENSE-MIT", "README.md", "empty"]);
}

#[test]
fn reading_is_bounded_and_never_waits() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    let read = |name: &str, limit: u64| Package::at(&at(name)).read(limit);
    std::fs::write(at("exact.wasm"), [7; 100]).unwrap();
    let (bytes, digest) = read("exact.wasm", 100).unwrap();
    assert_eq!((bytes.len(), hex(&digest).len()), (100, 64));
    let problem = read("exact.wasm", 99).unwrap_err();
    assert_eq!(problem.reason, "plugin `exact`: `limits.file` is 99 B, observed 100 B");
    assert!(problem.hint.unwrap().contains("[grants.exact]"));
    let giant = std::fs::File::create(at("giant.wasm")).unwrap();
    giant.set_len(8 << 30).unwrap();
    let problem = read("giant.wasm", 64 << 20).unwrap_err();
    assert!(problem.reason.contains("`limits.file` is 64 MiB, observed 8 GiB"), "{}", problem.reason);
    assert!(make_node(&at("pipe.wasm"), FileType::Fifo));
    assert_eq!(read("pipe.wasm", 99).unwrap_err().reason, "it is a pipe, not a file");
    symlink(at("exact.wasm"), at("link.wasm")).unwrap();
    assert_eq!(read("link.wasm", 999).unwrap_err().reason, "it is a link");
    assert_eq!(read("gone.wasm", 999).unwrap_err().reason, "it does not exist");
    let _socket = UnixListener::bind(at("socket.wasm")).unwrap();
    assert!(read("socket.wasm", 999).unwrap_err().reason.contains("socket"));
    std::fs::create_dir(at("odd")).unwrap();
    std::fs::create_dir(at("odd/plugin.wasm")).unwrap();
    assert_eq!(read("odd", 999).unwrap_err().reason, "it is a folder, not a file");
    if make_node(&at("zero.wasm"), FileType::CharacterDevice) {
        assert!(read("zero.wasm", 999).unwrap_err().reason.contains("device"));
    }
}

#[test]
fn manifests_are_plain_small_text() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    let manifest = |name: &str| Package::at(&at(name)).read_manifest();
    assert_eq!(manifest("none.wasm").unwrap(), Manifest::default());
    std::fs::write(at("good.toml"), "description = \"d\"").unwrap();
    assert_eq!(manifest("good.wasm").unwrap().description.as_deref(), Some("d"));
    std::fs::write(at("bad.toml"), "x = 1").unwrap();
    let problem = manifest("bad.wasm").unwrap_err();
    assert_eq!((problem.name.as_str(), problem.path), ("bad.toml", at("bad.wasm")));
    assert!(problem.reason.contains("bad.toml:1:1: unknown key `x`"), "{}", problem.reason);
    std::fs::write(at("bytes.toml"), [0xff]).unwrap();
    assert!(manifest("bytes.wasm").unwrap_err().reason.contains("UTF-8"));
    symlink(at("good.toml"), at("link.toml")).unwrap();
    assert!(manifest("link.wasm").unwrap_err().reason.contains("it is a link"));
    assert!(make_node(&at("pipe.toml"), FileType::Fifo));
    assert!(manifest("pipe.wasm").unwrap_err().reason.contains("pipe"));
    std::fs::File::create(at("giant.toml")).unwrap().set_len(1 << 40).unwrap();
    assert!(manifest("giant.wasm").unwrap_err().reason.contains("over the limit"));
}

#[test]
fn a_crowded_directory_is_cut_by_name() {
    let dir = tempfile::tempdir().unwrap();
    for i in 0..ENTRIES + 3 {
        std::fs::write(dir.path().join(format!("{i:05}.wasm")), "").unwrap();
    }
    let scan = scan(dir.path()).unwrap().unwrap();
    assert_eq!(scan.packages.len(), ENTRIES);
    assert_eq!(scan.packages[0].stem, "00000");
    assert!(scan.problems[0].reason.contains("the last 3 by name are not looked at"));
}

#[test]
fn directories_that_are_not_there_or_not_directories() {
    let dir = tempfile::tempdir().unwrap();
    assert!(scan(&dir.path().join("none")).unwrap().is_none());
    std::fs::write(dir.path().join("file"), "").unwrap();
    let error = scan(&dir.path().join("file")).unwrap_err();
    assert!(error.to_string().contains("not a directory"), "{error}");
}

#[test]
fn a_folder_gives_its_name() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("weather");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("plugin.wasm"), "").unwrap();
    assert_eq!(Package::at(&folder).stem, "weather");
    std::fs::write(folder.join("plugin.toml"), "").unwrap();
    assert_eq!(Package::at(&folder.join("plugin.wasm")).stem, "weather");
    assert_eq!(toml_key("plain-name_1"), "plain-name_1");
    assert_eq!(toml_key("a \"b\""), r#""a \"b\"""#);
}
