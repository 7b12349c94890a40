//! Requests, learning, and replies put together from parts.

use serde_json::{Value, json};

use super::stream::Draft;
use super::*;
use crate::model::{Stop, ToolChoice, ToolSpec};

fn draft(parts: &[Value]) -> Reply {
    let mut draft = Draft::default();
    parts.iter().for_each(|part| draft.add(part).unwrap());
    draft.into_reply(&ModelRequest::default())
}

fn calls(reply: &Reply) -> Vec<(&str, &str)> {
    reply.tool_calls.iter().map(|c| (c.name.as_str(), c.arguments.as_str())).collect()
}

fn delta(tool_calls: Value) -> Value {
    json!({"choices": [{"delta": {"tool_calls": tool_calls}}]})
}

#[test]
fn calls_are_told_apart_however_a_server_numbers_them() {
    let numbered = draft(&[
        delta(json!([{"index": 0, "id": "same", "function": {"name": "a", "arguments": ""}}])),
        delta(json!([{"index": 1, "id": "same", "function": {"name": "b", "arguments": "{"}}])),
        delta(json!([{"index": 0, "function": {"arguments": "{\"x\""}}, {"index": 1, "function": {"arguments": "}"}}])),
        delta(json!([{"index": 0, "function": {"arguments": ":1}"}}])),
    ]);
    assert_eq!(calls(&numbered), [("a", "{\"x\":1}"), ("b", "{}")]);
    assert_eq!(numbered.stop, Stop::ToolCalls);
    let all_zero = draft(&[
        delta(json!([{"index": 0, "id": "1", "function": {"name": "a", "arguments": "{}"}}])),
        delta(json!([{"index": 0, "id": "2", "function": {"name": "a", "arguments": "{}"}}])),
    ]);
    assert_eq!(calls(&all_zero), [("a", "{}"), ("a", "{}")]);
    let none = draft(&[
        delta(json!([{"id": "1", "function": {"name": "a", "arguments": {"x": 1}}}])),
        delta(json!([{"function": {"name": "b"}}])),
    ]);
    assert_eq!(calls(&none), [("a", "{\"x\":1}"), ("b", "{}")]);
    let repeated_name = draft(&[
        delta(json!([{"index": 0, "id": "1", "function": {"name": "a", "arguments": "{"}}])),
        delta(json!([{"index": 0, "id": "1", "function": {"name": "a", "arguments": "}"}}])),
    ]);
    assert_eq!(calls(&repeated_name), [("a", "{}")]);
}

#[test]
fn a_thousand_calls_are_bounded() {
    let many: Value =
        (0..1000).map(|i| json!({"index": i, "id": "x", "function": {"name": "a", "arguments": "{}"}})).collect();
    assert_eq!(draft(&[delta(many)]).tool_calls.len(), 64);
}

#[test]
fn a_refusal_counts_as_filtered() {
    let refused = draft(&[
        json!({"choices": [{"message": {"content": null, "refusal": "I will not"}, "finish_reason": "stop"}]}),
    ]);
    assert_eq!((refused.text.as_str(), refused.stop), ("I will not", Stop::Filtered));
}

fn request() -> ModelRequest {
    ModelRequest {
        system: "s".to_owned(),
        tools: vec![ToolSpec {
            name: "add".to_owned(),
            description: "adds".to_owned(),
            schema: json!({"$schema": "x", "anyOf": [{"required": ["a"]}], "properties": {"a": {"type": "integer"}}}),
        }],
        tool_choice: ToolChoice::Required,
        reply_schema: Some(json!({"type": "object"})),
        max_output_tokens: Some(9),
        temperature: Some(0.0),
        ..ModelRequest::default()
    }
}

#[test]
fn what_is_refused_is_learned_one_thing_at_a_time() {
    let mut quirks = Quirks::new(NativeTools::Auto, false);
    let mut sent = |status, text: &str| {
        let body = request::body(&request(), "m", true, quirks);
        let learned = quirks.learn(status, text, &body);
        quirks = learned.unwrap_or(quirks);
        learned.is_some()
    };
    assert!(!sent(401, "tools"));
    assert!(!sent(400, "some other thing"));
    assert!(sent(400, "Unsupported value: 'temperature'"));
    assert!(sent(400, "use 'max_completion_tokens' instead"));
    assert!(sent(422, "stream_options: extra fields not permitted"));
    assert!(sent(400, "tool_choice must be auto"));
    assert!(sent(400, "x does not support tools"));
    assert!(!sent(400, "x does not support tools"));
    assert!(sent(400, "response_format is not supported"));
    assert!(!sent(400, "response_format is not supported"));
    let body = request::body(&request(), "m", true, quirks);
    assert_eq!(
        body.as_object().unwrap().keys().collect::<Vec<_>>(),
        ["model", "messages", "max_completion_tokens", "stream"]
    );
    let system = body["messages"][0]["content"].as_str().unwrap();
    assert!(
        system.contains("{\"option\":\"add\",\"description\":\"adds\"") && system.contains("JSON Schema"),
        "{system}"
    );
}

#[test]
fn tools_are_sent_plainly() {
    let body = request::body(&request(), "m", false, Quirks::new(NativeTools::Auto, true));
    let parameters = json!({"properties": {"a": {"type": "integer"}}, "type": "object"});
    assert_eq!(body["tools"][0]["function"]["parameters"], parameters);
    assert_eq!(body["tool_choice"], "required");
    assert_eq!(body["max_completion_tokens"], 9);
    assert!(body.get("response_format").is_none() && body.get("stream").is_none());
    let only_text = request::body(
        &ModelRequest { tool_choice: ToolChoice::None, reply_schema: None, ..request() },
        "m",
        false,
        Quirks::new(NativeTools::On, true),
    );
    assert!(only_text.get("tools").is_none() && only_text.get("response_format").is_none());
}

#[test]
fn a_base_url_that_cannot_work_is_a_clear_error() {
    let said = |url: &str, key: bool| {
        let api_key = if key { Secret::new("sk-canary") } else { None };
        openai(OpenAiConfig { base_url: url.to_owned(), api_key, ..OpenAiConfig::new("m") })
            .err()
            .map(|e| e.to_string())
    };
    assert_eq!(said("https://api.openai.com/v1/", true), None);
    assert_eq!(said("http://127.0.0.1:11434/v1", true), None);
    assert_eq!(said("http://[::1]:11434/v1", true), None);
    assert_eq!(said("http://10.0.0.5/v1", false), None);
    assert!(said("http://10.0.0.5/v1", true).unwrap().contains("in the clear"));
    assert!(said("ftp://h/v1", true).unwrap().contains("begins with `ftp:`"));
    assert!(said("api.openai.com/v1", true).unwrap().contains("not a URL"));
    assert!(said("localhost:8080/v1", true).unwrap().contains("begins with `localhost:`"));
    let password = said("https://u:sk-canary@h/v1", true).unwrap();
    assert!(password.contains("user or password") && !password.contains("canary"));
    assert!(openai(OpenAiConfig::new(" ")).err().unwrap().to_string().contains("lacks the model's name"));
}

#[test]
fn a_secret_does_not_print() {
    let key = Secret::new(" sk-canary\n").unwrap();
    let config = OpenAiConfig { api_key: Some(key.clone()), ..OpenAiConfig::new("m") };
    assert_eq!((format!("{key}"), format!("{key:?}")), ("***".to_owned(), "***".to_owned()));
    assert!(!format!("{config:?}").contains("canary"));
    assert_eq!(key.scrub("a sk-canary b"), "a *** b");
    assert_eq!(Secret::new(" \n"), None);
}
