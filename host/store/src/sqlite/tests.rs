//! The common rules on a file; crashes, damage, full disks, other processes.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};

use super::*;
use crate::record::QueryStatus;
use crate::tests::{self as suite, commit, query, session, text};

async fn store(dir: &Path) -> SqliteStore {
    SqliteStore::open(dir.join("sessions.db")).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn sqlite_keeps_the_rules_of_every_store() {
    let dir = tempfile::tempdir().unwrap();
    let n = std::cell::Cell::new(0);
    let make = || {
        n.set(n.get() + 1);
        let target = format!("sqlite:{}", dir.path().join(format!("{}.db", n.get())).display());
        tokio::task::block_in_place(|| tokio::runtime::Handle::current().block_on(open(&target))).unwrap()
    };
    suite::run(make, true).await;
}

#[tokio::test]
async fn a_session_outlives_its_store() {
    let dir = tempfile::tempdir().unwrap();
    let first = store(dir.path()).await;
    first.create(&session("s")).await.unwrap();
    first.begin(&session("s"), &query("q1"), Some("one")).await.unwrap();
    first.commit(commit("s", "q1")).await.unwrap();
    // A crash: begun, acknowledged, never committed.
    first.begin(&session("s"), &query("q2"), Some("two")).await.unwrap();
    first.append(&session("s"), &query("q2"), &[text("q2", 1, "seen")]).await.unwrap();
    let before = first.load(&session("s")).await.unwrap().unwrap();
    drop(first);
    let second = store(dir.path()).await;
    let after = second.load(&session("s")).await.unwrap().unwrap();
    assert_eq!((&after.messages, &after.entries, &after.states), (&before.messages, &before.entries, &before.states));
    assert_eq!(
        after.queries.iter().map(|q| q.status).collect::<Vec<_>>(),
        [QueryStatus::Completed, QueryStatus::Interrupted]
    );
    assert_eq!(second.events(&query("q2"), 0).await.unwrap(), [text("q2", 1, "seen")]);
    second.begin(&session("s"), &query("q3"), None).await.unwrap();
}

#[tokio::test]
async fn a_living_process_keeps_its_query_and_a_dead_one_loses_it() {
    let dir = tempfile::tempdir().unwrap();
    let (one, two) = (store(dir.path()).await, store(dir.path()).await);
    one.create(&session("s")).await.unwrap();
    one.begin(&session("s"), &query("q1"), None).await.unwrap();
    assert_eq!(two.repair().await.unwrap(), 0);
    let busy = two.begin(&session("s"), &query("q2"), None).await.unwrap_err();
    assert!(matches!(busy, StoreError::Busy { .. }), "{busy}");
    assert!(matches!(two.append(&session("s"), &query("q1"), &[]).await, Err(StoreError::NotRunning { .. })));
    assert!(matches!(two.commit(commit("s", "q1")).await, Err(StoreError::NotRunning { .. })));
    // Another session is free, at the same time.
    two.create(&session("t")).await.unwrap();
    two.begin(&session("t"), &query("q3"), None).await.unwrap();
    one.append(&session("s"), &query("q1"), &[text("q1", 1, "a")]).await.unwrap();
    drop(one);
    assert_eq!(two.repair().await.unwrap(), 1);
    two.begin(&session("s"), &query("q2"), None).await.unwrap();
    drop(two);
    let three = store(dir.path()).await;
    // Opening repaired both.
    three.begin(&session("s"), &query("q4"), None).await.unwrap();
    three.begin(&session("t"), &query("q5"), None).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn two_stores_open_and_write_one_file_at_once() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("sessions.db");
    let mut tasks = tokio::task::JoinSet::new();
    for n in 0..4 {
        let path = path.clone();
        tasks.spawn(async move {
            let store = SqliteStore::open(path).await.unwrap();
            let (s, q) = (session(&format!("s{n}")), format!("q{n}"));
            store.create(&s).await.unwrap();
            store.begin(&s, &query(&q), None).await.unwrap();
            for seq in 1..=20 {
                store.append(&s, &query(&q), &[text(&q, seq, "x")]).await.unwrap();
            }
            store.commit(commit(s.as_str(), &q)).await.unwrap();
        });
    }
    tasks.join_all().await;
    let all = store(dir.path()).await;
    assert_eq!(all.list().await.unwrap().len(), 4);
    assert_eq!(all.events(&query("q3"), 0).await.unwrap().len(), 20);
}

#[tokio::test]
async fn a_full_disk_leaves_what_was_there() {
    let dir = tempfile::tempdir().unwrap();
    let store = store(dir.path()).await;
    let s = session("s");
    store.create(&s).await.unwrap();
    store.begin(&s, &query("q"), None).await.unwrap();
    store.append(&s, &query("q"), &[text("q", 1, "kept")]).await.unwrap();
    let pages: i64 = sqlx::query_scalar("PRAGMA page_count").fetch_one(&store.writer).await.unwrap();
    let limit = format!("PRAGMA max_page_count = {pages}");
    sqlx::query(sqlx::AssertSqlSafe(limit)).execute(&store.writer).await.unwrap();
    let long = "x".repeat(200_000);
    let full = store.append(&s, &query("q"), &[text("q", 2, &long)]).await.unwrap_err();
    assert!(matches!(full, StoreError::Full { .. }), "{full}");
    assert!(full.to_string().contains("disk") && full.hint().unwrap().contains("--no-save"));
    // The connection that failed is gone, and its limit with it.
    let limit = format!("PRAGMA max_page_count = {pages}");
    sqlx::query(sqlx::AssertSqlSafe(limit)).execute(&store.writer).await.unwrap();
    let full = store.commit(Commit { last_events: vec![text("q", 2, &long)], ..commit("s", "q") }).await.unwrap_err();
    assert!(matches!(full, StoreError::Full { .. }), "{full}");
    assert_eq!(store.events(&query("q"), 0).await.unwrap(), [text("q", 1, "kept")]);
    store.commit(Commit { last_events: vec![text("q", 2, &long)], ..commit("s", "q") }).await.unwrap();
}

#[tokio::test]
async fn a_damaged_foreign_or_newer_file_is_refused_and_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("sessions.db");
    std::fs::write(&path, "this is not a database at all, just text").unwrap();
    let error = SqliteStore::open(path.clone()).await.map(drop).unwrap_err();
    assert!(matches!(error, StoreError::Corrupt { .. }), "{error}");
    assert_eq!(std::fs::read(&path).unwrap(), b"this is not a database at all, just text");

    // A right beginning, then rubbish.
    let mut bytes = b"SQLite format 3\0".to_vec();
    bytes.extend([0xAB; 8000]);
    std::fs::write(&path, &bytes).unwrap();
    let error = SqliteStore::open(path.clone()).await.map(drop).unwrap_err();
    assert!(matches!(error, StoreError::Corrupt { .. }), "{error}");
    assert_eq!(std::fs::read(&path).unwrap(), bytes);

    // An empty file is a new store; then it says it is newer, then somebody else's.
    std::fs::write(&path, "").unwrap();
    let fresh = SqliteStore::open(path.clone()).await.unwrap();
    sqlx::query("PRAGMA user_version = 99").execute(&fresh.writer).await.unwrap();
    drop(fresh);
    let error = SqliteStore::open(path.clone()).await.map(drop).unwrap_err();
    assert!(matches!(error, StoreError::Newer { found: 99, known: 1, .. }), "{error}");
    let options = sqlx::sqlite::SqliteConnectOptions::new().filename(&path);
    let pool = SqlitePool::connect_with(options).await.unwrap();
    sqlx::query("PRAGMA application_id = 5").execute(&pool).await.unwrap();
    drop(pool);
    let error = SqliteStore::open(path.clone()).await.map(drop).unwrap_err();
    assert!(error.to_string().contains("database of something else"), "{error}");
}

#[tokio::test]
async fn a_page_overwritten_in_the_middle_is_told_as_damage() {
    let dir = tempfile::tempdir().unwrap();
    let first = store(dir.path()).await;
    let s = session("s");
    first.create(&s).await.unwrap();
    first.begin(&s, &query("q"), None).await.unwrap();
    first.append(&s, &query("q"), &[text("q", 1, &"x".repeat(100_000))]).await.unwrap();
    sqlx::query("PRAGMA wal_checkpoint(TRUNCATE)").execute(&first.writer).await.unwrap();
    first.writer.close().await;
    first.readers.close().await;
    drop(first);
    let path = dir.path().join("sessions.db");
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[4096..].fill(0xAB);
    std::fs::write(&path, bytes).unwrap();
    let error = async {
        let again = SqliteStore::open(path.clone()).await?;
        again.list().await.map(drop)
    };
    let error = error.await.unwrap_err();
    assert!(matches!(error, StoreError::Corrupt { .. }), "{error}");
}

#[tokio::test]
async fn places_that_cannot_hold_a_store_are_named() {
    let dir = tempfile::tempdir().unwrap();
    let said = |target: String| async move { open(&target).await.map(drop).unwrap_err().to_string() };
    let folder = dir.path().display().to_string();
    assert!(said(folder.clone()).await.contains("it is not a file"));
    std::fs::write(dir.path().join("file"), "").unwrap();
    assert!(said(format!("{folder}/file/sessions.db")).await.contains("its folder cannot be made"));
    assert!(said("postgres://u:secret@h/db".to_owned()).await.contains("not available"));
    assert!(!said("postgres://u:secret@h/db".to_owned()).await.contains("secret"));
    assert!(said("http://h/x".to_owned()).await.contains("only files"));
    assert!(said(String::new()).await.contains("empty"));
    assert!(said("sqlite::memory:".to_owned()).await.contains("--no-save"));
}

#[tokio::test]
async fn file_and_folders_are_for_the_user_alone() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a/b/sessions.db");
    let store = SqliteStore::open(path.clone()).await.unwrap();
    store.create(&session("s")).await.unwrap();
    store.begin(&session("s"), &query("q"), None).await.unwrap();
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&dir.path().join("a")), mode(&dir.path().join("a/b"))), (0o700, 0o700));
    assert_eq!(mode(&path), 0o600);
    for file in std::fs::read_dir(dir.path().join("a/b")).unwrap() {
        assert_eq!(mode(&file.unwrap().path()) & 0o077, 0);
    }
}

const CHILD: &str = "ELYSIA_STORE_TEST_CHILD";

#[expect(clippy::disallowed_methods, reason = "how a test gives a path to a process of its own")]
fn child_path() -> Option<PathBuf> {
    std::env::var_os(CHILD).map(PathBuf::from)
}

/// This very test binary again, to run one of the ignored tests below.
fn child(test: &str, path: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "--nocapture", &format!("sqlite::tests::{test}")]).env(CHILD, path);
    command
}

#[tokio::test]
async fn acknowledged_events_survive_a_kill() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("sessions.db");
    let mut running = child("child_appends_until_killed", &path).stdout(Stdio::piped()).spawn().unwrap();
    let mut acknowledged = 0;
    for line in BufReader::new(running.stdout.take().unwrap()).lines() {
        if let Some(seq) = line.unwrap().strip_prefix("acknowledged ") {
            acknowledged = seq.parse().unwrap();
        }
        if acknowledged >= 30 {
            break;
        }
    }
    // While it lives, the session is its own.
    let other = SqliteStore::open(path.clone()).await.unwrap();
    assert!(matches!(other.begin(&session("s"), &query("q2"), None).await, Err(StoreError::Busy { .. })));
    running.kill().unwrap();
    running.wait().unwrap();
    let events = other.events(&query("q"), 0).await.unwrap();
    assert!(events.len() as u64 >= acknowledged, "{} < {acknowledged}", events.len());
    assert!((1..).zip(&events).all(|(seq, event)| event.seq == seq));
    assert_eq!(other.repair().await.unwrap(), 1);
    let record = other.load(&session("s")).await.unwrap().unwrap();
    assert_eq!(record.queries[0].status, QueryStatus::Interrupted);
    assert!(record.messages.is_empty());
    other.begin(&session("s"), &query("q2"), None).await.unwrap();
}

#[tokio::test]
// `acknowledged_events_survive_a_kill` runs it as a process of its own; by itself it does nothing.
async fn child_appends_until_killed() {
    let Some(path) = child_path() else { return };
    let store = SqliteStore::open(path).await.unwrap();
    store.create(&session("s")).await.unwrap();
    store.begin(&session("s"), &query("q"), Some("p")).await.unwrap();
    for seq in 1..100_000 {
        store.append(&session("s"), &query("q"), &[text("q", seq, "some text")]).await.unwrap();
        // Once nobody listens, it goes on until it is killed.
        let _ = writeln!(std::io::stdout(), "acknowledged {seq}");
    }
}

#[tokio::test]
async fn a_read_only_file_is_said_to_be_read_only() {
    let dir = tempfile::tempdir().unwrap();
    let first = store(dir.path()).await;
    // SQLite's own word for it, whoever the user is.
    sqlx::query("PRAGMA query_only = ON").execute(&first.writer).await.unwrap();
    let error = first.create(&session("s")).await.unwrap_err();
    assert!(matches!(error, StoreError::ReadOnly { .. }), "{error}");
    drop(first);
    let path = dir.path().join("sessions.db");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o444)).unwrap();
    std::fs::set_permissions(dir.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = child("child_opens_what_it_may_not_write", &path);
    // No permission stops root.
    if std::fs::metadata("/proc/self").is_ok_and(|me| std::os::unix::fs::MetadataExt::uid(&me) == 0) {
        command.uid(65_534);
    }
    let said = command.output().unwrap();
    let said = String::from_utf8_lossy(&said.stdout).into_owned();
    assert!(said.contains("is read-only"), "{said}");
}

#[tokio::test]
// `a_read_only_file_is_said_to_be_read_only` runs it as a process of another user; by itself it does nothing.
#[expect(clippy::print_stdout, reason = "the other process reads it")]
async fn child_opens_what_it_may_not_write() {
    let Some(path) = child_path() else { return };
    println!("{}", SqliteStore::open(path).await.map(drop).unwrap_err());
}

#[tokio::test]
async fn dropping_a_future_leaves_a_change_whole_or_undone() {
    let dir = tempfile::tempdir().unwrap();
    let store = store(dir.path()).await;
    let s = session("s");
    store.create(&s).await.unwrap();
    store.begin(&s, &query("q"), None).await.unwrap();
    let events: Vec<_> = (1..=50).map(|seq| text("q", seq, "x")).collect();
    for polls in 1..60 {
        let q = query("q");
        let mut append = store.append(&s, &q, &events);
        for _ in 0..polls {
            if let std::task::Poll::Ready(done) = futures_poll(&mut append).await {
                done.unwrap();
                break;
            }
            tokio::task::yield_now().await;
        }
        drop(append);
        let n = store.events(&query("q"), 0).await.unwrap().len();
        assert!(n == 0 || n == 50, "{n}");
    }
    store.append(&s, &query("q"), &events).await.unwrap();
    store.commit(commit("s", "q")).await.unwrap();
}

/// Polls once.
async fn futures_poll<F: Future + Unpin>(future: &mut F) -> std::task::Poll<F::Output> {
    std::future::poll_fn(|cx| std::task::Poll::Ready(std::pin::Pin::new(&mut *future).poll(cx))).await
}
