//! Calls whose consumer stalls, leaves, refuses or cancels; grants of files and variables; the cache of compiled code.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use elysia_sandbox::{CacheDirs, Component, Engine, EngineOptions, FileGrant, Yielded};
use elysia_types::{CallEnd, Failure, FailureCode, LimitSettings, Limits, SizeInBytes, Yield};
use libtest_mimic::{Failed, Trial};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::{LONG, block_on, engine, load, request, run, short};
use crate::guests;

type Test = fn() -> Result<(), String>;

/// The trials of this module.
pub fn trials() -> Vec<Trial> {
    let all: [(&str, Test); 22] = [
        ("a_schema_arrives_as_it_is", a_schema_arrives_as_it_is),
        ("a_guest_waits_for_its_consumer", a_guest_waits_for_its_consumer),
        ("waiting_for_the_consumer_counts", waiting_for_the_consumer_counts),
        ("waiting_for_an_answer_counts", waiting_for_an_answer_counts),
        ("cancel_stops_a_spinning_guest", cancel_stops_a_spinning_guest),
        ("cancel_stops_a_sleeping_guest", cancel_stops_a_sleeping_guest),
        ("dropping_the_call_stops_the_guest", dropping_the_call_stops_the_guest),
        ("a_consumer_that_leaves_ends_the_call", a_consumer_that_leaves_ends_the_call),
        ("an_answer_that_never_comes_ends_the_call", an_answer_that_never_comes_ends_the_call),
        ("a_refused_result_ends_the_call", a_refused_result_ends_the_call),
        ("a_good_call_ends_beside_spinning_ones", a_good_call_ends_beside_spinning_ones),
        ("nothing_survives_between_calls", nothing_survives_between_calls),
        ("a_guest_sees_what_it_yielded", a_guest_sees_what_it_yielded),
        ("a_guest_reads_conversation_and_state", a_guest_reads_conversation_and_state),
        ("http_without_a_grant_is_denied", http_without_a_grant_is_denied),
        ("without_grants_there_are_no_files_and_no_variables", without_grants_there_are_no_files_and_no_variables),
        ("granted_files_are_read_and_not_left", granted_files_are_read_and_not_left),
        ("a_read_only_grant_changes_nothing", a_read_only_grant_changes_nothing),
        ("standard_output_goes_to_the_detail", standard_output_goes_to_the_detail),
        ("compiled_code_is_cached_and_checked", compiled_code_is_cached_and_checked),
        ("what_is_no_component_is_named", what_is_no_component_is_named),
        ("an_engine_may_be_dropped_in_async_code", an_engine_may_be_dropped_in_async_code),
    ];
    let trial =
        |(name, test): (&str, Test)| Trial::test(format!("hostile/{name}"), move || test().map_err(Failed::from));
    all.into_iter().map(trial).collect()
}

fn puppet() -> Result<Component, String> {
    load(&guests::puppet()).map_err(|e| e.to_string())
}

fn want<T: PartialEq + std::fmt::Debug>(what: &str, got: T, wanted: T) -> Result<(), String> {
    if got == wanted { Ok(()) } else { Err(format!("{what}: want {wanted:?}, got {got:?}")) }
}

fn code(end: &CallEnd) -> &'static str {
    end.outcome.as_ref().map_or_else(|failure| failure.code.as_str(), |_| "ok")
}

fn limits(wall: Duration) -> Limits {
    Limits { wall, ..Limits::default() }
}

/// Runs the puppet with a good consumer and gives its yields in short.
fn told(inputs: &str, change: impl FnOnce(&mut elysia_sandbox::CallRequest)) -> Result<Vec<String>, String> {
    let component = puppet()?;
    let mut request = request("puppet", inputs, limits(LONG));
    change(&mut request);
    let ran = block_on(run(&component, request));
    match ran.end.outcome {
        Ok(_) => Ok(ran.yields.iter().map(short).collect()),
        Err(failure) => Err(format!("{failure:?} after {:?}", ran.yields)),
    }
}

fn a_guest_waits_for_its_consumer() -> Result<(), String> {
    let component = puppet()?;
    block_on(async {
        let (sender, mut receiver) = mpsc::channel::<Yielded>(4);
        let request = request("puppet", r#"{"do":[["repeat","1000","text","x"]]}"#, limits(LONG));
        let running =
            tokio::spawn(async move { engine().call(&component, request, sender, CancellationToken::new()).await });
        // Once the four places are taken the guest waits: it ends only when all the rest is taken, too.
        while receiver.len() < 4 {
            tokio::task::yield_now().await;
        }
        want("ended while nobody takes", running.is_finished(), false)?;
        let mut taken = 0;
        while receiver.recv().await.is_some() {
            taken += 1;
        }
        want("taken in the end", taken, 1000)?;
        want("code", code(&running.await.map_err(|e| e.to_string())?), "ok")
    })
}

fn waiting_for_the_consumer_counts() -> Result<(), String> {
    let component = puppet()?;
    block_on(async {
        let (sender, receiver) = mpsc::channel::<Yielded>(1);
        let request = request("puppet", r#"{"do":[["repeat","9","text","x"]]}"#, limits(Duration::from_millis(100)));
        let end = engine().call(&component, request, sender, CancellationToken::new()).await;
        want("sent", receiver.len(), 1)?;
        want("code", code(&end), "deadline")
    })
}

fn waiting_for_an_answer_counts() -> Result<(), String> {
    let component = puppet()?;
    block_on(async {
        let (sender, mut receiver) = mpsc::channel::<Yielded>(4);
        let request = request("puppet", r#"{"do":[["result","{}"]]}"#, limits(Duration::from_millis(100)));
        let call = engine().call(&component, request, sender, CancellationToken::new());
        let (end, _unanswered) = tokio::join!(call, receiver.recv());
        want("code", code(&end), "deadline")
    })
}

fn cancelled(inputs: &str) -> Result<(), String> {
    let component = puppet()?;
    block_on(async {
        let (sender, mut receiver) = mpsc::channel::<Yielded>(4);
        let cancel = CancellationToken::new();
        let request = request("puppet", inputs, limits(LONG));
        let canceller = async {
            let first = receiver.recv().await;
            cancel.cancel();
            first.map(|yielded| yielded.item)
        };
        let call = engine().call(&component, request, sender, cancel.clone());
        let (end, first) = tokio::join!(call, canceller);
        want("first", first, Some(Yield::Status("on".to_owned())))?;
        want("code", code(&end), "cancelled")?;
        want("state", end.state, None)
    })
}

fn cancel_stops_a_spinning_guest() -> Result<(), String> {
    cancelled(r#"{"do":[["set","k","1"],["status","on"],["spin"]]}"#)
}

fn cancel_stops_a_sleeping_guest() -> Result<(), String> {
    cancelled(r#"{"do":[["set","k","1"],["status","on"],["sleep","60000"]]}"#)
}

fn dropping_the_call_stops_the_guest() -> Result<(), String> {
    let component = puppet()?;
    block_on(async {
        let (sender, mut receiver) = mpsc::channel::<Yielded>(4);
        let request = request("puppet", r#"{"do":[["status","on"],["spin"]]}"#, limits(LONG));
        let call = engine().call(&component, request, sender, CancellationToken::new());
        tokio::select! {
            end = call => return Err(format!("it ended with {end:?}")),
            first = receiver.recv() => want("first", first.is_some(), true)?,
        }
        // The guest's end of the channel goes when its store does.
        let gone = tokio::time::timeout(Duration::from_secs(5), receiver.recv()).await;
        want("the channel closes", gone.map(|more| more.is_none()), Ok(true))
    })
}

fn a_consumer_that_leaves_ends_the_call() -> Result<(), String> {
    let component = puppet()?;
    block_on(async {
        let (sender, mut receiver) = mpsc::channel::<Yielded>(1);
        let request = request("puppet", r#"{"do":[["status","on"],["repeat","1000000","text","x"]]}"#, limits(LONG));
        let leave = async move { receiver.recv().await.is_some() };
        let call = engine().call(&component, request, sender, CancellationToken::new());
        let (end, _) = tokio::join!(call, leave);
        want("code", code(&end), "cancelled")
    })
}

fn an_answer_that_never_comes_ends_the_call() -> Result<(), String> {
    let component = puppet()?;
    block_on(async {
        let (sender, mut receiver) = mpsc::channel::<Yielded>(1);
        let request = request("puppet", r#"{"do":[["result","{}"]]}"#, limits(LONG));
        let take = async { receiver.recv().await.map(|yielded| drop(yielded.answer)) };
        let call = engine().call(&component, request, sender, CancellationToken::new());
        let (end, _) = tokio::join!(call, take);
        want("code", code(&end), "cancelled")
    })
}

fn a_refused_result_ends_the_call() -> Result<(), String> {
    let component = puppet()?;
    block_on(async {
        let (sender, mut receiver) = mpsc::channel::<Yielded>(4);
        let request = request("puppet", r#"{"do":[["result","{}"],["text","after"]]}"#, limits(LONG));
        let full = Failure::new(FailureCode::Environment, "full; see `session trim`");
        let refuse = async {
            let answer = receiver.recv().await.and_then(|yielded| yielded.answer);
            answer.map(|answer| answer.send(Err(full.clone())))
        };
        let call = engine().call(&component, request, sender, CancellationToken::new());
        let (end, _) = tokio::join!(call, refuse);
        want("outcome", end.outcome, Err(full.clone()))?;
        want("nothing after", receiver.recv().await.is_none(), true)
    })
}

fn a_good_call_ends_beside_spinning_ones() -> Result<(), String> {
    let component = puppet()?;
    block_on(async {
        let cancel = CancellationToken::new();
        let mut spinning = tokio::task::JoinSet::new();
        let (sender, mut receiver) = mpsc::channel::<Yielded>(16);
        for _ in 0..8 {
            let request = request("puppet", r#"{"do":[["status","on"],["spin"]]}"#, limits(LONG));
            let (component, sender, cancel) = (component.clone(), sender.clone(), cancel.clone());
            spinning.spawn(async move { engine().call(&component, request, sender, cancel).await });
        }
        for _ in 0..8 {
            receiver.recv().await.ok_or("a spinning guest is missing")?;
        }
        let good = run(&component, request("puppet", r#"{"do":[["return","7"]]}"#, limits(LONG))).await;
        want("the good one", good.end.outcome, Ok(Some(7.into())))?;
        cancel.cancel();
        while let Some(end) = spinning.join_next().await {
            want("the others", code(&end.map_err(|e| e.to_string())?), "cancelled")?;
        }
        Ok(())
    })
}

fn nothing_survives_between_calls() -> Result<(), String> {
    // A guest that counts in a global: each call finds the first value.
    let body = r#"(global $n (mut i32) (i32.const 48))
      (func $call (param i32 i32 i32 i32) (result i32)
        (global.set $n (i32.add (global.get $n) (i32.const 1)))
        (i32.store8 (i32.const 4096) (global.get $n))
        (call $return (i32.const 4096) (i32.const 1)))"#;
    let component = load(&guests::component_from_wat(body)).map_err(|e| e.to_string())?;
    for _ in 0..3 {
        let ran = block_on(run(&component, request("guest", "{}", limits(LONG))));
        want("value", ran.end.outcome, Ok(Some(1.into())))?;
    }
    Ok(())
}

fn a_guest_sees_what_it_yielded() -> Result<(), String> {
    let inputs = r#"{"do":[["result","{\"a\":1}","found"],["object","puppet_found_0_0"],["object","other"],
        ["latest","puppet","found"],["cite","so it is","puppet_found_0_0"]]}"#;
    let told = told(inputs, |_| {})?;
    let expected = [
        r#"result found [{"a":1}]"#,
        r#"text {"a":1,"_REF_ID":"puppet_found_0_0"}"#,
        "text none",
        // The snapshot is that of the beginning.
        "text none",
        r#"cited so it is ["puppet_found_0_0"]"#,
    ];
    want("yields", told, expected.map(str::to_owned).to_vec())
}

fn a_guest_reads_conversation_and_state() -> Result<(), String> {
    let inputs = r#"{"do":[["prompt"],["now"],["get","k"],["set","k","[2]"],["get","k"],["get","none"]]}"#;
    let told = told(inputs, |request| {
        request.context.state.insert("k".to_owned(), 1.into());
    })?;
    let expected = ["what is it?", "2026-01-02T03:04:05+01:00", "1", "[2]", "none"].map(|text| format!("text {text}"));
    want("yields", told, expected.to_vec())
}

fn http_without_a_grant_is_denied() -> Result<(), String> {
    let told = told(r#"{"do":[["fetch","https://api.example.com/v1?key=secret"]]}"#, |_| {})?;
    let line = "elysia-host plugin grant under-test --http https://api.example.com";
    want("the line that allows it", told.iter().any(|text| text.contains(line) && !text.contains("secret")), true)
}

fn without_grants_there_are_no_files_and_no_variables() -> Result<(), String> {
    let told = told(r#"{"do":[["read","/etc/passwd"],["env"]]}"#, |_| {})?;
    want("yields", told, vec!["text none".to_owned(), "text none".to_owned()])
}

fn grant(folder: &Path, writable: bool) -> FileGrant {
    FileGrant { host: folder.to_owned(), guest: "/data".to_owned(), writable }
}

fn granted_files_are_read_and_not_left() -> Result<(), String> {
    let outside = tempfile::tempdir().map_err(|e| e.to_string())?;
    let inside = outside.path().join("data");
    fs::create_dir(&inside).map_err(|e| e.to_string())?;
    fs::write(outside.path().join("secret.txt"), "secret").map_err(|e| e.to_string())?;
    fs::write(inside.join("a.txt"), "hello").map_err(|e| e.to_string())?;
    std::os::unix::fs::symlink("../secret.txt", inside.join("link")).map_err(|e| e.to_string())?;
    std::os::unix::fs::symlink(outside.path(), inside.join("up")).map_err(|e| e.to_string())?;
    let inputs = r#"{"do":[["read","a.txt"],["read","../secret.txt"],["read","link"],["read","up/secret.txt"],
        ["read","/etc/passwd"],["write","b.txt","written by a guest"],["write","../c.txt","x"],["write","link","x"],["env"]]}"#;
    let told = told(inputs, |request| {
        request.policy.files = vec![grant(&inside, true)];
        request.policy.env = vec![("TZ".to_owned(), "UTC".to_owned())];
    })?;
    // 31 is `not-permitted`.
    let refused = "text error 31".to_owned();
    let expected = vec![
        "text hello".to_owned(),
        refused.clone(),
        refused.clone(),
        refused.clone(),
        refused.clone(),
        "text written".to_owned(),
        refused.clone(),
        refused,
        "text TZ=UTC".to_owned(),
    ];
    want("yields", told, expected)?;
    let read = |path: &Path| fs::read_to_string(path).ok();
    want("written", read(&inside.join("b.txt")), Some("written by a guest".to_owned()))?;
    want("untouched", read(&outside.path().join("secret.txt")), Some("secret".to_owned()))?;
    want("nothing outside", read(&outside.path().join("c.txt")), None)
}

fn a_read_only_grant_changes_nothing() -> Result<(), String> {
    let folder = tempfile::tempdir().map_err(|e| e.to_string())?;
    fs::write(folder.path().join("a.txt"), "hello").map_err(|e| e.to_string())?;
    let inputs = r#"{"do":[["write","a.txt",""],["write","b.txt","x"],["read","a.txt"]]}"#;
    let told = told(inputs, |request| request.policy.files = vec![grant(folder.path(), false)])?;
    want("the last", told.last().cloned(), Some("text hello".to_owned()))?;
    want("refused", told.iter().filter(|text| text.starts_with("text error")).count(), 2)?;
    want("files", fs::read_dir(folder.path()).map_err(|e| e.to_string())?.count(), 1)
}

fn standard_output_goes_to_the_detail() -> Result<(), String> {
    let component = puppet()?;
    let inputs = r#"{"do":[["print","about to\u001b[2J fail"],["trap"]]}"#;
    let ran = block_on(run(&component, request("puppet", inputs, limits(LONG))));
    let failure = ran.end.outcome.err().ok_or("it should have failed")?;
    let detail = failure.detail.unwrap_or_default();
    want("detail has it, cleaned", detail.contains("about to[2J fail"), true)?;
    want("the message has not", failure.message.contains("about to"), false)
}

fn a_schema_arrives_as_it_is() -> Result<(), String> {
    // Judging a reference to elsewhere is for whoever offers the tool; nothing here may follow it.
    let mut tool = guests::Tool::new("remote", "Refers elsewhere.");
    tool.schema = r#"{"type":"object","properties":{"x":{"$ref":"https://example.com/x.json"}}}"#.to_owned();
    let component = load(&guests::component(&[tool.clone()], "")).map_err(|e| e.to_string())?;
    let plugin = "under-test".parse().map_err(|e| format!("{e}"))?;
    let described = block_on(engine().describe(&component, &plugin, &Limits::default())).map_err(|e| e.message)?;
    want("schemas", described.iter().map(|d| d.input_schema.to_string()).collect(), vec![tool.schema])
}

fn digest(bytes: &[u8]) -> [u8; 32] {
    // Any 32 bytes that depend on the content serve here.
    let mut digest = [0u8; 32];
    for (i, byte) in bytes.iter().enumerate() {
        digest[i % 32] = digest[i % 32].rotate_left(3).wrapping_add(*byte);
    }
    digest
}

fn compiled_code_is_cached_and_checked() -> Result<(), String> {
    let folder = tempfile::tempdir().map_err(|e| e.to_string())?;
    let dirs = CacheDirs { cache_dir: folder.path().join("cache"), key_file: folder.path().join("state/cache.key") };
    let options = || EngineOptions { cache: Some(dirs.clone()), guest_threads: 1 };
    let bytes = guests::generated_plugin("echo", "Gives its inputs back.");
    let hash = digest(&bytes);
    let first = Engine::new(options()).map_err(|e| e.to_string())?;
    want("nothing yet", first.load_cached(&hash).is_none(), true)?;
    first.load(&bytes, &hash, &Limits::default()).map_err(|e| e.to_string())?;
    let second = Engine::new(options()).map_err(|e| e.to_string())?;
    let component = second.load_cached(&hash).ok_or("it should be cached")?;
    block_on(async {
        let (sender, _receiver) = mpsc::channel(1);
        let request = request("echo", r#"{"query":"x"}"#, limits(LONG));
        let end = second.call(&component, request, sender, CancellationToken::new()).await;
        want("value", end.outcome, Ok(Some(serde_json::json!({"query": "x"}))))
    })?;
    let file = fs::read_dir(&dirs.cache_dir)
        .map_err(|e| e.to_string())?
        .next()
        .ok_or("no file")?
        .map_err(|e| e.to_string())?
        .path();
    let good = fs::read(&file).map_err(|e| e.to_string())?;
    for at in [0, 31, 32, 40, good.len() / 2, good.len() - 1] {
        let mut bad = good.clone();
        bad[at] ^= 1;
        fs::write(&file, &bad).map_err(|e| e.to_string())?;
        want("a flipped bit is a miss", second.load_cached(&hash).is_none(), true)?;
        second.load(&bytes, &hash, &Limits::default()).map_err(|e| e.to_string())?;
        want("and compiled anew", second.load_cached(&hash).is_some(), true)?;
    }
    // One entry under the name of another.
    let other = guests::generated_plugin("other", "Something else.");
    second.load(&other, &digest(&other), &Limits::default()).map_err(|e| e.to_string())?;
    for entry in fs::read_dir(&dirs.cache_dir).map_err(|e| e.to_string())?.flatten() {
        if entry.path() != file {
            fs::copy(&file, entry.path()).map_err(|e| e.to_string())?;
        }
    }
    want("a swapped file is a miss", second.load_cached(&digest(&other)).is_none(), true)
}

fn what_is_no_component_is_named() -> Result<(), String> {
    let module = wat::parse_str("(module)").map_err(|e| e.to_string())?;
    let component = guests::generated_plugin("echo", "x");
    for (bytes, words) in [
        (&b""[..], "empty"),
        (b"(module)", "WebAssembly text"),
        (b"#!/bin/sh\n", "not a WebAssembly file"),
        (&module, "core WebAssembly module"),
        (&component[..component.len() / 2], "cut or broken"),
    ] {
        let error = load(bytes).err().ok_or("it should be refused")?;
        want(words, error.to_string().contains(words) && error.hint().is_some(), true)?;
    }
    let small = Limits::default().with(&LimitSettings { file: Some(SizeInBytes(100)), ..LimitSettings::default() });
    let error = engine().load(&component, &[0; 32], &small).err().ok_or("it should be refused")?;
    want("file size", error.to_string().contains("limits.file"), true)
}

fn an_engine_may_be_dropped_in_async_code() -> Result<(), String> {
    let bytes = guests::puppet();
    block_on(async {
        let engine = Engine::new(EngineOptions { cache: None, guest_threads: 1 }).map_err(|e| e.to_string())?;
        let component = engine.load(&bytes, &[0; 32], &Limits::default()).map_err(|e| e.to_string())?;
        let (sender, mut receiver) = mpsc::channel::<Yielded>(4);
        let request = request("puppet", r#"{"do":[["status","on"],["spin"]]}"#, limits(LONG));
        let call = engine.call(&component, request, sender, CancellationToken::new());
        tokio::select! {
            _ = call => return Err("it should spin".to_owned()),
            _ = receiver.recv() => {}
        }
        let begun = Instant::now();
        drop(engine);
        want("dropping does not wait", begun.elapsed() < Duration::from_secs(2), true)
    })
}
