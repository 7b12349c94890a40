//! Cases of `cases/provider`: recorded exchanges, replayed; and faults of a server, played by a small loopback one.
//!
//! Nothing sleeps: pauses between tries are noted instead, and silence is met with timeouts of milliseconds.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use elysia_provider::{
    Cassette, Exchange, ModelRequest, NativeTools, OpenAiConfig, ProviderError, Reply, Retry, Secret, Stop, openai,
    openai_over,
};
use libtest_mimic::{Failed, Trial};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::net::TcpListener;

mod server;

use server::*;

const KEY: &str = "sk-canary-4711";

/// All trials of this module.
pub fn trials() -> Vec<Trial> {
    let mut trials = crate::cases::per_file("provider", "json", replay);
    trials.extend(faults());
    trials
}

// --- Recorded exchanges ---------------------------------------------------------------------------------------------

/// One case: what is asked, what goes over the wire, what comes of it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    #[serde(rename = "claim")]
    _claim: String,
    #[serde(default)]
    config: CaseConfig,
    request: ModelRequest,
    exchanges: Vec<Exchange>,
    expect: Expected,
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct CaseConfig {
    base_url: Option<String>,
    native_tools: Option<String>,
    stream: bool,
    tries: Option<u32>,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Expected {
    Reply(Box<Reply>),
    /// The whole message, and what had come.
    Error {
        message: String,
        partial: Option<String>,
    },
}

fn replay(path: &Path) -> Result<(), String> {
    let text = std::fs::read_to_string(path).map_err(|e| e.to_string())?;
    let case: Case = serde_json::from_str(&text).map_err(|e| e.to_string())?;
    let mut config =
        OpenAiConfig { api_key: Secret::new(KEY), stream: case.config.stream, ..OpenAiConfig::new("test-model") };
    config.base_url = case.config.base_url.unwrap_or_else(|| "https://models.example/v1/".to_owned());
    config.native_tools = match case.config.native_tools.as_deref() {
        None | Some("auto") => NativeTools::Auto,
        Some("on") => NativeTools::On,
        Some("off") => NativeTools::Off,
        Some(other) => return Err(format!("`native_tools` cannot be `{other}`")),
    };
    config.retry =
        Retry { tries: case.config.tries.unwrap_or(1), sleep: Arc::new(Noted::default()), ..Retry::default() };
    let cassette = Arc::new(Cassette::replay(case.exchanges));
    let model = openai_over(config, cassette.clone()).map_err(|e| e.to_string())?;
    let ended = block_on(async { model.complete(&case.request, soon()).await });
    match (case.expect, ended) {
        (Expected::Reply(expected), Ok(reply)) if *expected == reply => {}
        (Expected::Error { message, partial }, Err(error))
            if error.to_string() == message && error.partial() == partial.as_deref() => {}
        (_, Ok(reply)) => return Err(format!("got {}", serde_json::to_string_pretty(&reply).unwrap())),
        (_, Err(error)) => return Err(format!("got `{error}` with {:?}", error.partial())),
    }
    match cassette.exchanges().len() {
        0 => Ok(()),
        left => Err(format!("{left} exchanges were not asked for")),
    }
}

// --- Faults ---------------------------------------------------------------------------------------------------------

macro_rules! trials {
    ($($name:ident),* $(,)?) => {
        vec![$(Trial::test(concat!("provider/fault/", stringify!($name)), || {
            block_on($name());
            Ok::<(), Failed>(())
        })),*]
    };
}

fn faults() -> Vec<Trial> {
    trials![
        a_wrong_key_is_said_once_and_never_shown,
        an_unknown_model_is_named,
        a_redirect_is_not_followed,
        too_many_requests_wait_as_asked,
        too_many_requests_without_a_wait_back_off,
        a_wait_past_the_deadline_fails_at_once,
        a_broken_gateway_is_tried_again_and_its_page_is_readable,
        a_refused_connection_is_clear_at_once,
        an_unknown_host_is_clear,
        silence_after_accepting_times_out,
        silence_in_the_middle_keeps_what_came,
        the_deadline_ends_everything,
        a_stream_may_be_cut_at_every_byte,
        a_stream_needs_no_done,
        a_second_done_is_ignored,
        a_stream_cut_in_an_event_is_tried_again,
        a_stream_always_cut_keeps_what_came_last,
        a_stream_that_reports_an_error_is_tried_again,
        an_endless_line_is_bounded,
        an_endless_body_is_bounded,
        a_filtered_reply_says_so,
        a_reply_at_its_longest_says_so,
        tools_that_are_not_supported_are_asked_for_by_schema,
        a_page_instead_of_json_is_a_clear_error,
        a_compressed_reply_is_a_clear_error,
        an_echoed_key_is_scrubbed_from_the_reply,
        plain_json_answers_a_request_for_a_stream,
    ]
}

async fn a_wrong_key_is_said_once_and_never_shown() {
    let body = json!({"error": {"message": format!("Incorrect API key provided: {KEY}.")}}).to_string();
    let asked = ask(vec![answer(401, "application/json", &[], &body)]).await;
    let ProviderError::Key { status: 401, reason, sent: true, .. } = asked.error() else { panic!("{}", asked.error()) };
    assert_eq!(reason, "Incorrect API key provided: ***.");
    assert!(asked.pauses.is_empty());
}

async fn an_unknown_model_is_named() {
    let body = json!({"error": {"message": "The model does not exist"}}).to_string();
    let asked = ask(vec![answer(404, "application/json", &[], &body)]).await;
    assert!(asked.error().to_string().contains("does not know the model `m` (status 404): The model does not exist"));
}

async fn a_redirect_is_not_followed() {
    let asked = ask(vec![answer(301, "text/html", &["location: http://127.0.0.1:1/v2"], "")]).await;
    assert!(asked.error().to_string().contains("(status 301): it points to http://127.0.0.1:1/v2"));
    assert!(asked.error().hint().unwrap().contains("redirects are not followed"));
}

async fn too_many_requests_wait_as_asked() {
    let limited = |value: &str| answer(429, "application/json", &[&format!("retry-after: {value}")], "{}");
    let asked = ask(vec![limited("7"), limited("Sun, 06 Nov 1994 08:49:37 GMT"), completion("ok")]).await;
    assert_eq!(asked.reply().text, "ok");
    assert!(asked.pauses[0] >= Duration::from_secs(7) && asked.pauses[0] < Duration::from_secs(8));
    assert!(asked.pauses[1] < Duration::from_secs(1));
}

async fn too_many_requests_without_a_wait_back_off() {
    let limited = |more: &[&str]| answer(429, "application/json", more, "{\"error\":{\"message\":\"slow down\"}}");
    let asked = ask(vec![limited(&[]), limited(&["retry-after: -5"]), limited(&["retry-after: soon"])]).await;
    assert!(asked.error().to_string().ends_with("too many requests (status 429): slow down"), "{}", asked.error());
    assert_eq!(asked.pauses.len(), 2);
    assert!(asked.pauses.iter().all(|p| *p >= Duration::from_millis(250) && *p <= Duration::from_secs(1)));
}

async fn a_wait_past_the_deadline_fails_at_once() {
    for value in ["61", "1000000000", "Fri, 31 Dec 9999 23:59:59 GMT"] {
        let asked = ask(vec![answer(429, "text/plain", &[&format!("retry-after: {value}")], "")]).await;
        assert!(matches!(asked.error(), ProviderError::RateLimited { retry_after: Some(_), .. }));
        assert!(asked.pauses.is_empty());
    }
}

async fn a_broken_gateway_is_tried_again_and_its_page_is_readable() {
    let page = "<html><head><title>502 Bad Gateway</title></head>\n<body><h1>Bad \u{1b}[31mGateway</h1></body></html>";
    let broken = |status| answer(status, "text/html", &[], page);
    let asked = ask(vec![broken(500), broken(502), broken(529)]).await;
    let said = asked.error().to_string();
    assert!(said.contains("is failing (status 529): 502 Bad Gateway Bad [31mGateway"), "{said}");
    assert_eq!((asked.pauses.len(), asked.seen.len()), (2, 3));
}

async fn a_refused_connection_is_clear_at_once() {
    let free = TcpListener::bind(("127.0.0.1", 0)).await.unwrap().local_addr().unwrap();
    let asked = ask_at(format!("http://{free}/v1"), &request(), 3).await;
    let said = asked.error().to_string();
    assert!(said.starts_with(&format!("no connection to `http://{free}/v1`: ")) && said.contains("refused"), "{said}");
    assert!(asked.pauses.is_empty());
}

async fn an_unknown_host_is_clear() {
    // A label of over 63 characters is refused before anybody is asked.
    let label = "x".repeat(70);
    let asked = ask_at(format!("https://{label}.invalid/v1"), &request(), 3).await;
    assert!(matches!(asked.error(), ProviderError::Dns { .. }), "{:?}", asked.error());
    let config = OpenAiConfig { base_url: format!("http://{label}.invalid/v1"), ..OpenAiConfig::new("m") };
    let error = openai(config).unwrap().complete(&request(), soon()).await.unwrap_err();
    assert!(matches!(error, ProviderError::Dns { .. }), "{error:?}");
}

async fn silence_after_accepting_times_out() {
    let asked = ask_for(vec![Act::Silence, Act::Silence], &request(), 2).await;
    assert!(asked.error().to_string().contains("did not begin to answer within"), "{}", asked.error());
    assert_eq!((asked.pauses.len(), asked.seen.len()), (1, 2));
}

async fn silence_in_the_middle_keeps_what_came() {
    let begun = [head(200, "text/event-stream", &[]), event(json!({"content": "half of"})).into_bytes()].concat();
    let asked = ask_for(vec![Act::Stall(begun)], &request(), 1).await;
    assert!(asked.error().to_string().contains("stopped in the middle"), "{}", asked.error());
    assert_eq!(asked.error().partial(), Some("half of"));
}

async fn the_deadline_ends_everything() {
    let server = serve(vec![Act::Silence]).await;
    let config =
        OpenAiConfig { base_url: server.base_url.clone(), api_key: Secret::new(KEY), ..OpenAiConfig::new("m") };
    let began = Instant::now();
    let ended = openai(config).unwrap().complete(&request(), began + Duration::from_millis(200)).await;
    let said = ended.unwrap_err().to_string();
    assert!(said.contains("before the query's deadline"), "{said}");
    assert!(began.elapsed() < Duration::from_secs(5));
}

fn event(delta: Value) -> String {
    format!("data: {}\n\n", json!({"choices": [{"index": 0, "delta": delta, "finish_reason": null}]}))
}

fn tool_stream() -> String {
    let call = |function: Value| event(json!({"tool_calls": [{"index": 0, "function": function}]}));
    [
        ": a comment\r\n\r\n".to_owned(),
        event(json!({"role": "assistant", "content": "h\u{e9}\u{1F600}"})),
        call(json!({"name": "add", "arguments": ""})),
        call(json!({"arguments": "{\"b\":\"\u{e9}"})).replace('\n', "\r\n"),
        call(json!({"arguments": "\"}"})).replace("data: ", "data:").replace('\n', "\r"),
        "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\n".to_owned(),
        "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":4,\"prompt_tokens_details\":{\"cached_tokens\":8}}}\n\n".to_owned(),
        "data: [DONE]\n\n".to_owned(),
    ]
    .concat()
}

async fn a_stream_may_be_cut_at_every_byte() {
    let head = head(200, "text/event-stream", &[]);
    let body = tool_stream();
    let whole = [head.clone(), body.clone().into_bytes()].concat();
    let expected = ask(vec![stream(&body)]).await.reply().clone();
    assert_eq!(expected.text, "h\u{e9}\u{1F600}");
    assert_eq!(expected.tool_calls[0].arguments, "{\"b\":\"\u{e9}\"}");
    assert_eq!((expected.usage.input, expected.usage.cached, expected.stop), (9, Some(8), Stop::ToolCalls));
    let places = head.len()..whole.len();
    let server = serve(places.clone().map(|at| Act::Split(whole.clone(), at)).collect()).await;
    let base_url = server.base_url.clone();
    let model = openai(OpenAiConfig { base_url, api_key: Secret::new(KEY), ..OpenAiConfig::new("m") }).unwrap();
    for at in places {
        assert_eq!(model.complete(&request(), soon()).await.unwrap(), expected, "split at {at}");
    }
}

async fn a_stream_needs_no_done() {
    let body = tool_stream().replace("data: [DONE]\n\n", "");
    assert_eq!(ask(vec![stream(&body)]).await.reply().tool_calls.len(), 1);
    // Nor a finish reason when it is done.
    let body = event(json!({"content": "all"})) + "data: [DONE]\n\n";
    assert_eq!(ask(vec![stream(&body)]).await.reply().text, "all");
}

async fn a_second_done_is_ignored() {
    let body = tool_stream() + "data: [DONE]\n\ndata: rubbish\n\n";
    assert_eq!(ask(vec![stream(&body)]).await.reply().tool_calls.len(), 1);
}

async fn a_stream_cut_in_an_event_is_tried_again() {
    let cut = event(json!({"content": "never shown"})) + "data: {\"choices\":[{\"del";
    let asked = ask(vec![stream(&cut), stream(&event(json!({"content": "cut"}))), completion("whole")]).await;
    assert_eq!(asked.reply().text, "whole");
    assert_eq!(asked.pauses.len(), 2);
}

async fn a_stream_always_cut_keeps_what_came_last() {
    let acts = ["one", "two", "three"].map(|text| stream(&event(json!({"content": text}))));
    let asked = ask(acts.to_vec()).await;
    assert!(
        asked.error().to_string().contains("broke off: the stream ended without a finish reason"),
        "{}",
        asked.error()
    );
    assert_eq!(asked.error().partial(), Some("three"));
}

async fn a_stream_that_reports_an_error_is_tried_again() {
    let failing =
        event(json!({"content": "x"})) + &format!("data: {{\"error\":{{\"message\":\"overloaded {KEY}\"}}}}\n\n");
    let asked = ask_for(vec![stream(&failing), stream(&failing)], &request(), 2).await;
    assert!(asked.error().to_string().ends_with("the server reports overloaded ***"), "{}", asked.error());
}

async fn an_endless_line_is_bounded() {
    let asked = ask(vec![Act::Endless(50)]).await;
    assert!(asked.error().to_string().contains("is over 1048576 bytes (one event of its stream)"), "{}", asked.error());
    assert!(asked.pauses.is_empty());
}

async fn an_endless_body_is_bounded() {
    let body = format!("{{\"x\":\"{}\"", "x".repeat(9 * 1024 * 1024));
    let asked = ask(vec![answer(200, "application/json", &[], &body)]).await;
    assert!(matches!(asked.error(), ProviderError::TooLarge { .. }), "{}", asked.error());
}

async fn a_filtered_reply_says_so() {
    let body = json!({"choices": [{"message": {"content": "I"}, "finish_reason": "content_filter"}]}).to_string();
    let asked = ask(vec![answer(200, "application/json", &[], &body)]).await;
    assert_eq!((asked.reply().text.as_str(), asked.reply().stop), ("I", Stop::Filtered));
}

async fn a_reply_at_its_longest_says_so() {
    let body =
        event(json!({"tool_calls": [{"index": 0, "id": "1", "function": {"name": "add", "arguments": "{\"a\":"}}]}))
            + "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"length\"}]}\n\n";
    let asked = ask(vec![stream(&body)]).await;
    assert_eq!((asked.reply().tool_calls[0].arguments.as_str(), asked.reply().stop), ("{\"a\":", Stop::Length));
}

async fn tools_that_are_not_supported_are_asked_for_by_schema() {
    let refusal = json!({"error": {"message": "registry/tiny does not support tools"}}).to_string();
    let no_format = json!({"error": "response_format is not supported"}).to_string();
    let acts = vec![
        answer(400, "application/json", &[], &refusal),
        answer(422, "application/json", &[], &no_format),
        completion("{\"choices\":[]}"),
    ];
    let asked = ask_for(acts, &tool_request(), 1).await;
    assert_eq!(asked.reply().text, "{\"choices\":[]}");
    assert!(!asked.model.features().native_tools && !asked.model.features().reply_schema);
    let keys = |n: usize, key: &str| asked.seen[n].get(key).is_some();
    assert!(keys(0, "tools") && !keys(0, "response_format"));
    assert!(!keys(1, "tools") && keys(1, "response_format"));
    assert!(!keys(2, "tools") && !keys(2, "response_format"));
    let system = asked.seen[2]["messages"][0]["content"].as_str().unwrap();
    assert!(system.starts_with("Be brief.") && system.contains("\"option\":\"add\""), "{system}");
}

async fn a_page_instead_of_json_is_a_clear_error() {
    let asked = ask_for(vec![answer(200, "text/html", &[], "<html>Welcome</html>")], &request(), 3).await;
    let said = asked.error().to_string();
    assert!(said.contains("cannot be read: HTML (text/html) is not JSON"), "{said}");
    assert!(asked.error().hint().unwrap().contains("base_url"));
}

async fn a_compressed_reply_is_a_clear_error() {
    let asked = ask_for(vec![answer(200, "application/json", &["content-encoding: gzip"], "x")], &request(), 3).await;
    assert!(asked.error().to_string().contains("compressed (gzip)"), "{}", asked.error());
}

async fn an_echoed_key_is_scrubbed_from_the_reply() {
    assert_eq!(ask(vec![completion(&format!("your key is {KEY}"))]).await.reply().text, "your key is ***");
}

async fn plain_json_answers_a_request_for_a_stream() {
    let asked = ask(vec![completion("hi")]).await;
    assert_eq!(asked.seen[0]["stream"], true);
    let usage = asked.reply().usage;
    assert_eq!((usage.input, usage.output), (4, 1));
}
