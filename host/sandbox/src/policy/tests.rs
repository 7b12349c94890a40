//! Which folders are never handed out.

use super::*;

fn grant(host: impl Into<PathBuf>) -> FileGrant {
    FileGrant { host: host.into(), guest: "/data".to_owned(), writable: false }
}

fn reason(host: impl Into<PathBuf>, kept: &[PathBuf]) -> String {
    grant(host).check(kept, &[]).expect_err("it should be refused").to_string()
}

#[test]
fn folders_of_the_system_and_the_home_are_refused() {
    assert!(reason("/", &[]).contains("root of the file system"));
    assert!(reason("/proc/self", &[]).contains("operating system"));
    assert!(reason("/dev", &[]).contains("operating system"));
    if let Some(home) = std::env::home_dir().filter(|home| home.is_dir() && home.parent().is_some()) {
        assert!(reason(home, &[]).contains("home folder"));
    }
}

#[test]
fn links_and_missing_folders_are_seen_through() {
    let folder = tempfile::tempdir().expect("a folder");
    let link = folder.path().join("link");
    std::os::unix::fs::symlink("/proc", &link).expect("a link");
    assert!(reason(&link, &[]).contains("operating system"));
    assert!(reason(folder.path().join("none"), &[]).contains("No such file"));
    std::fs::write(folder.path().join("file"), "").expect("a file");
    assert!(reason(folder.path().join("file"), &[]).contains("not a folder"));
}

#[test]
fn what_is_kept_is_refused_from_both_sides() {
    let folder = tempfile::tempdir().expect("a folder");
    let (plugins, inside, beside) = (folder.path().join("p"), folder.path().join("p/q"), folder.path().join("r"));
    std::fs::create_dir_all(&inside).expect("folders");
    std::fs::create_dir(&beside).expect("a folder");
    for host in [folder.path(), &plugins, &inside] {
        assert!(reason(host, std::slice::from_ref(&plugins)).contains("kept from plugins"));
    }
    grant(beside).check(&[plugins], &[]).expect("a folder beside is fine");
}

#[test]
fn inside_a_plugins_folder_data_may_be_read_and_not_written() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (plugins, data) = (folder.path().join("plugins"), folder.path().join("plugins/data"));
    std::fs::create_dir_all(&data).expect("folders");
    let plugins = [plugins];
    grant(&data).check(&[], &plugins).expect("reading inside is fine");
    let writing = FileGrant { writable: true, ..grant(&data) };
    writing.check(&[], &plugins).expect_err("writing inside could replace a plugin");
    grant(&plugins[0]).check(&[], &plugins).expect_err("the folder itself is kept");
    grant(folder.path()).check(&[], &plugins).expect_err("so is one that holds it");
}
