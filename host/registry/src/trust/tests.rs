//! Pinning: by path and bytes, kept across processes, private, and never by accident.

use std::os::unix::fs::PermissionsExt;

use super::*;

#[test]
fn trust_is_for_these_bytes_of_this_file() {
    let dir = tempfile::tempdir().unwrap();
    let state = dir.path().join("state/elysia");
    let (a, b) = (dir.path().join("a.toml"), dir.path().join("b.toml"));
    std::fs::write(&a, "x").unwrap();
    std::fs::write(&b, "x").unwrap();
    let trust = ProjectTrust::open(&state).unwrap();
    assert!(!trust.is_trusted(&a, b"x"));
    trust.trust(&a, b"x").unwrap();
    for trust in [trust, ProjectTrust::open(&state).unwrap()] {
        assert!(trust.is_trusted(&a, b"x"));
        assert!(trust.is_trusted(&dir.path().join("state/../a.toml"), b"x"));
        assert!(!trust.is_trusted(&a, b"y") && !trust.is_trusted(&b, b"x"));
        assert!(!trust.is_trusted(&dir.path().join("none.toml"), b"x"));
    }
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&state), mode(&state.join("trusted.json"))), (0o700, 0o600));
    assert!(!state.join("trusted.json.new").exists());
}

#[test]
fn two_processes_do_not_lose_each_others_trust() {
    let dir = tempfile::tempdir().unwrap();
    let (a, b) = (dir.path().join("a.toml"), dir.path().join("b.toml"));
    std::fs::write(&a, "").unwrap();
    std::fs::write(&b, "").unwrap();
    let (first, second) = (ProjectTrust::open(dir.path()).unwrap(), ProjectTrust::open(dir.path()).unwrap());
    first.trust(&a, b"1").unwrap();
    second.trust(&b, b"2").unwrap();
    second.trust(&b, b"3").unwrap();
    let now = ProjectTrust::open(dir.path()).unwrap();
    assert!(now.is_trusted(&a, b"1") && now.is_trusted(&b, b"3") && !now.is_trusted(&b, b"2"));
}

#[test]
fn a_damaged_or_linked_record_is_an_error_and_is_not_overwritten() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("a.toml");
    std::fs::write(&file, "").unwrap();
    let trust = ProjectTrust::open(dir.path()).unwrap();
    std::fs::write(dir.path().join("trusted.json"), "{\"files\":").unwrap();
    assert!(ProjectTrust::open(dir.path()).unwrap_err().to_string().contains("damaged"));
    assert!(trust.trust(&file, b"").is_err());
    std::fs::remove_file(dir.path().join("trusted.json")).unwrap();
    std::fs::write(dir.path().join("elsewhere"), "{\"files\":{}}").unwrap();
    std::os::unix::fs::symlink(dir.path().join("elsewhere"), dir.path().join("trusted.json")).unwrap();
    assert!(ProjectTrust::open(dir.path()).is_err());
}
