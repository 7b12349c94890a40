//! Living and dead owners.

use super::*;

#[test]
fn an_owner_lives_until_it_is_dropped() {
    let dir = tempfile::tempdir().unwrap();
    let owner = Owner::claim(dir.path()).unwrap();
    let id = owner.id().to_owned();
    assert!(is_alive(dir.path(), &id));
    drop(owner);
    assert!(!is_alive(dir.path(), &id));
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
}

#[test]
fn a_lock_file_that_nobody_holds_is_dead_and_swept() {
    let dir = tempfile::tempdir().unwrap();
    let id = uuid::Uuid::now_v7().to_string();
    File::create(lock_path(dir.path(), &id)).unwrap();
    let owner = Owner::claim(dir.path()).unwrap();
    assert!(!lock_path(dir.path(), &id).exists());
    assert!(is_alive(dir.path(), owner.id()));
}

#[test]
fn an_id_cannot_lead_out_of_the_folder() {
    let dir = tempfile::tempdir().unwrap();
    assert!(!is_alive(dir.path(), "../../etc/passwd"));
}
