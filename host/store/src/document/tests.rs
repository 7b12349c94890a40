//! Documents that are read, and the reasons for those that are not.

use serde_json::json;

use super::*;

fn valid() -> Value {
    json!({
        "format": FORMAT, "version": VERSION, "id": "s",
        "created_at": "2026-01-02T03:04:05.000000Z", "updated_at": "2026-01-02T03:04:05.000000Z",
        "messages": [{"role": "user", "text": "hi"}],
        "environment": {"find": {"rows": [{"metadata": {}, "objects": [{"a": 1, "_REF_ID": "find_rows_0_0"}]}]}},
        "order": {"locations": [{"tool": "find", "name": "rows", "dropped": 0}], "entries": [["find", "rows", 1]]},
        "states": {},
        "queries": [{"id": "q", "prompt": null, "status": "completed", "started_at": "2026-01-02T03:04:05Z", "events": []}],
    })
}

fn reason(change: impl FnOnce(&mut Value)) -> String {
    let mut document = valid();
    change(&mut document);
    SessionDocument::parse(&document.to_string()).unwrap_err().to_string()
}

#[test]
fn a_valid_document_is_read() {
    SessionDocument::parse(&valid().to_string()).unwrap();
}

#[test]
fn each_flaw_is_named() {
    let has = |reason: String, part: &str| assert!(reason.contains(part), "{reason}");
    has(SessionDocument::parse("[1").unwrap_err().to_string(), "line 1");
    has(SessionDocument::parse("{}").unwrap_err().to_string(), "`format` is not `elysia-session`");
    has(reason(|d| d["version"] = json!(2)), "`version` is not 1");
    has(reason(|d| d["more"] = json!(2)), "unknown field `more`");
    has(reason(|d| d["id"] = json!("../x")), "session id `../x` is not valid");
    has(reason(|d| d["created_at"] = json!("yesterday")), "`created_at` is not an RFC 3339 time");
    has(reason(|d| d["order"]["entries"] = json!([])), "does not count as many entries of `find`/`rows`");
    has(reason(|d| d["order"]["locations"] = json!([])), "lacks `find`/`rows`");
    has(reason(|d| d["environment"] = json!({})), "names a place that the environment lacks");
    has(reason(|d| d["queries"][0]["status"] = json!("running")), "said to be running");
    has(
        reason(|d| {
            let twice = d["queries"][0].clone();
            d["queries"].as_array_mut().unwrap().push(twice);
        }),
        "query `q` stands twice",
    );
    has(
        reason(|d| {
            let twice = d["order"]["locations"][0].clone();
            d["order"]["locations"].as_array_mut().unwrap().push(twice);
        }),
        "has `find`/`rows` twice",
    );
}
