//! Which source wins, and what is refused.

use std::path::{Path, PathBuf};

use super::{Combine as _, Options, store_path};

fn options(text: &str) -> Options {
    toml::from_str(text).unwrap()
}

#[test]
fn the_stronger_file_wins_key_by_key() {
    let project = options("[limits]\nmemory = \"1MiB\"\n[agent]\nstyle = \"short\"\n[limits.calls]\nplugin = 1\n");
    let user = options(
        "store = \"s\"\n[limits]\nmemory = \"2MiB\"\nwall = \"3s\"\n[limits.calls]\nsession = 2\n[agent]\nstyle = \"long\"\nend_goal = \"x\"\n",
    );
    let both = project.combine(user);
    let (limits, agent) = (both.limits.unwrap(), both.agent.unwrap());
    assert_eq!(limits.memory.unwrap().0, 1024 * 1024);
    assert_eq!(limits.wall.unwrap().0.as_secs(), 3);
    assert_eq!(limits.calls.as_ref().unwrap().plugin, Some(1));
    assert_eq!(limits.calls.unwrap().session, Some(2));
    assert_eq!((agent.style.as_deref(), agent.end_goal.as_deref()), (Some("short"), Some("x")));
    assert_eq!(both.store.as_deref(), Some("s"));
}

#[test]
fn a_store_is_a_path_or_sqlite() {
    let at = |text| store_path(text, Path::new("/home")).map_err(|complaint| complaint.message);
    assert_eq!(at("a.db"), Ok(PathBuf::from("/home/a.db")));
    assert_eq!(at("sqlite:a.db"), Ok(PathBuf::from("/home/a.db")));
    assert_eq!(at("sqlite:///tmp/a.db"), Ok(PathBuf::from("/tmp/a.db")));
    assert_eq!(at("/tmp/a:b.db"), Ok(PathBuf::from("/tmp/a:b.db")));
    assert!(at("postgres://user:secret@host/db").is_err_and(|message| !message.contains("secret")));
    assert!(at("").is_err());
    assert!(at("sqlite:").is_err());
}
