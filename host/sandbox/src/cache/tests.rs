//! Keys, kinds, corruption, size.

use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use super::*;

fn dirs(folder: &Path) -> CacheDirs {
    CacheDirs { cache_dir: folder.join("cache"), key_file: folder.join("state/key") }
}

fn files(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder.join("cache")).expect("a folder").map(|entry| entry.expect("an entry").path()).collect()
}

#[test]
fn what_was_put_is_found_under_its_kind_and_key_alone() {
    let folder = tempfile::tempdir().expect("a folder");
    let cache = Cache::open(&dirs(folder.path())).expect("a cache");
    cache.put("code", "k", b"content");
    assert_eq!(cache.get("code", "k").as_deref(), Some(&b"content"[..]));
    assert_eq!(cache.get("tools", "k"), None);
    assert_eq!(cache.get("code", "l"), None);
    let again = Cache::open(&dirs(folder.path())).expect("a cache");
    assert_eq!(again.get("code", "k").as_deref(), Some(&b"content"[..]));
}

#[test]
fn any_flipped_bit_and_a_cut_are_misses() {
    let folder = tempfile::tempdir().expect("a folder");
    let cache = Cache::open(&dirs(folder.path())).expect("a cache");
    cache.put("code", "k", b"content");
    let file = files(folder.path()).remove(0);
    let good = fs::read(&file).expect("content");
    for at in 0..good.len() {
        let mut bad = good.clone();
        bad[at] ^= 4;
        fs::write(&file, bad).expect("written");
        assert_eq!(cache.get("code", "k"), None);
    }
    fs::write(&file, &good[..20]).expect("written");
    assert_eq!(cache.get("code", "k"), None);
    fs::write(&file, &good).expect("written");
    assert!(cache.get("code", "k").is_some());
}

#[test]
fn another_key_does_not_open_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let cache = Cache::open(&dirs(folder.path())).expect("a cache");
    cache.put("code", "k", b"content");
    fs::remove_file(folder.path().join("state/key")).expect("removed");
    let other = Cache::open(&dirs(folder.path())).expect("a cache");
    assert_eq!(other.get("code", "k"), None);
}

#[test]
fn key_and_folder_are_private_and_must_stay_so() {
    let folder = tempfile::tempdir().expect("a folder");
    let dirs = dirs(folder.path());
    Cache::open(&dirs).expect("a cache");
    let mode = |path: &Path| fs::metadata(path).expect("it is there").permissions().mode() & 0o777;
    assert_eq!((mode(&dirs.cache_dir), mode(&dirs.key_file)), (0o700, 0o600));
    fs::set_permissions(&dirs.key_file, fs::Permissions::from_mode(0o644)).expect("changed");
    assert!(Cache::open(&dirs).expect_err("refused").to_string().contains("others may read it"));
    fs::set_permissions(&dirs.key_file, fs::Permissions::from_mode(0o600)).expect("changed");
    fs::set_permissions(&dirs.cache_dir, fs::Permissions::from_mode(0o777)).expect("changed");
    assert!(Cache::open(&dirs).expect_err("refused").to_string().contains("others may write to it"));
}

#[test]
fn a_link_is_not_followed() {
    let folder = tempfile::tempdir().expect("a folder");
    let cache = Cache::open(&dirs(folder.path())).expect("a cache");
    cache.put("code", "k", b"content");
    let file = files(folder.path()).remove(0);
    let moved = folder.path().join("moved");
    fs::rename(&file, &moved).expect("moved");
    std::os::unix::fs::symlink(&moved, &file).expect("a link");
    assert_eq!(cache.get("code", "k"), None);
}

#[test]
fn the_least_recently_used_go_first() {
    let folder = tempfile::tempdir().expect("a folder");
    let cache = Cache::with_size(&dirs(folder.path()), 3 * 132).expect("a cache");
    let old = |seconds: u64| SystemTime::now() - Duration::from_secs(seconds);
    for (i, key) in ["a", "b", "c"].into_iter().enumerate() {
        cache.put("code", key, &[0; 100]);
        let file = File::options().write(true).open(cache.path("code", key)).expect("it is there");
        file.set_modified(old(100 - i as u64)).expect("set");
    }
    assert!(cache.get("code", "a").is_some());
    cache.put("code", "d", &[0; 100]);
    let left: Vec<_> = ["a", "b", "c", "d"].into_iter().filter(|key| cache.get("code", key).is_some()).collect();
    assert_eq!(left, ["a", "c", "d"]);
}
