//! Scripts that play, and lines that are refused.

use std::sync::atomic::{AtomicU32, Ordering};

use elysia_types::FailureCode;

use super::*;
use crate::retry::Pause;

#[derive(Default)]
struct Counted(AtomicU32);

#[async_trait]
impl Pause for Counted {
    async fn pause(&self, _: Duration) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

fn soon() -> Instant {
    Instant::now() + Duration::from_secs(60)
}

#[tokio::test]
async fn each_line_is_a_reply_in_its_turn() {
    let script = "{\"choices\":[{\"option\":\"add\",\"inputs\":{\"b\":1,\"a\":2}}],\"end\":true}\r\n\n{\"raw\":\"not { json\"}\n{\"text\":\"bye\"}\n{\"impossible\":true,\"reason\":\"no\"}";
    let model = scripted_from("s.jsonl", script, Retry::default()).unwrap();
    let request = ModelRequest { system: "x".repeat(40), ..ModelRequest::default() };
    let mut texts = Vec::new();
    for _ in 0..4 {
        let reply = model.complete(&request, soon()).await.unwrap();
        assert_eq!(reply.usage.input, 10);
        assert_eq!(reply.usage.output, reply.text.len().div_ceil(4) as u64);
        texts.push(reply.text);
    }
    assert_eq!(
        texts,
        [
            "{\"choices\":[{\"option\":\"add\",\"inputs\":{\"b\":1,\"a\":2}}],\"end\":true}",
            "not { json",
            "bye",
            "{\"impossible\":true,\"reason\":\"no\"}",
        ]
    );
    let error = model.complete(&request, soon()).await.unwrap_err();
    assert_eq!(error.to_string(), "`s.jsonl` has no reply left after 4");
    assert_eq!(error.to_failure().code, FailureCode::Model);
}

#[tokio::test]
async fn errors_pass_through_the_retry_and_consume_lines() {
    let script = "{\"error\":{\"status\":429,\"retry_after\":1}}\n{\"error\":{\"status\":529}}\n{\"text\":\"ok\"}\n{\"error\":{\"status\":401}}\n{\"text\":\"unread\"}\n{\"error\":{\"status\":429,\"retry_after\":1e9}}";
    let counted = Arc::new(Counted::default());
    let model = scripted_from("s", script, Retry { sleep: counted.clone(), ..Retry::default() }).unwrap();
    let request = ModelRequest::default();
    assert_eq!(model.complete(&request, soon()).await.unwrap().text, "ok");
    assert_eq!(counted.0.load(Ordering::Relaxed), 2);
    assert!(matches!(model.complete(&request, soon()).await, Err(ProviderError::Key { status: 401, .. })));
    assert_eq!(model.complete(&request, soon()).await.unwrap().text, "unread");
    let absurd = model.complete(&request, soon()).await.unwrap_err();
    assert!(absurd.to_string().contains("asking to wait 1000000000 s"), "{absurd}");
    assert_eq!(counted.0.load(Ordering::Relaxed), 2);
}

#[test]
fn a_bad_line_is_named_with_file_and_number() {
    let bad = [
        ("nonsense", "expected"),
        ("[]", "not an object"),
        ("{}", "none of"),
        ("{\"text\":1}", "not a string"),
        ("{\"text\":\"a\",\"raw\":\"b\"}", "does not belong"),
        ("{\"choices\":[{\"tool\":\"x\"}]}", "does not belong"),
        ("{\"choices\":[{}]}", "no `option`"),
        ("{\"choices\":[],\"end\":1}", "not true or false"),
        ("{\"error\":{\"status\":200}}", "from 300 to 599"),
        ("{\"error\":{\"status\":429,\"retry_after\":-1}}", "number of seconds"),
        ("{\"choices\":[],\"choices\":[]}", "duplicate key"),
    ];
    for (line, reason) in bad {
        let error =
            scripted_from("dir/s.jsonl", &format!("{{\"text\":\"ok\"}}\n{line}\n"), Retry::default()).err().unwrap();
        let said = error.to_string();
        assert!(said.contains("line 2 of the script `dir/s.jsonl`") && said.contains(reason), "{said}");
        assert_eq!(error.to_failure().code, FailureCode::Config);
    }
    let missing = scripted(Path::new("no/such.jsonl")).err().unwrap().to_string();
    assert!(missing.contains("`no/such.jsonl` cannot be read"), "{missing}");
}
