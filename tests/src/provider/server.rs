//! A small loopback server that misbehaves as told, and asking it.

use std::future::Future;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use elysia_provider::{
    LanguageModel, ModelRequest, OpenAiConfig, Pause, ProviderError, Reply, Retry, Secret, Timeouts, ToolChoice,
    ToolSpec, openai,
};
use elysia_types::{FailureCode, Message, Role};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use super::KEY;

/// What the server does with one connection.
#[derive(Clone)]
pub(super) enum Act {
    /// These bytes, then the end.
    Send(Vec<u8>),
    /// These bytes in two parts, cut there.
    Split(Vec<u8>, usize),
    /// Reads the request and says nothing.
    Silence,
    /// Sends this and says nothing more.
    Stall(Vec<u8>),
    /// A line without an end, this many MiB long.
    Endless(usize),
}

pub(super) struct Server {
    pub(super) base_url: String,
    pub(super) seen: Arc<Mutex<Vec<Value>>>,
    /// Ends with the server.
    pub(super) _tasks: JoinSet<()>,
}

pub(super) async fn serve(acts: Vec<Act>) -> Server {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let base_url = format!("http://{}/v1", listener.local_addr().unwrap());
    let seen = Arc::new(Mutex::new(Vec::new()));
    let noted = seen.clone();
    let mut tasks = JoinSet::new();
    tasks.spawn(async move {
        let mut held = Vec::new();
        for act in acts {
            let Ok((mut stream, _)) = listener.accept().await else {
                return;
            };
            let request = read_request(&mut stream).await;
            noted.lock().unwrap().push(request);
            play(&act, &mut stream).await;
            if matches!(act, Act::Silence | Act::Stall(_)) {
                held.push(stream);
            }
        }
        std::future::pending::<()>().await;
    });
    Server { base_url, seen, _tasks: tasks }
}

pub(super) async fn read_request(stream: &mut TcpStream) -> Value {
    let mut raw = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        if let Some(end) = raw.windows(4).position(|w| w == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&raw[..end]).to_lowercase();
            let length = head.lines().find_map(|l| l.strip_prefix("content-length: ")?.parse().ok()).unwrap_or(0);
            if raw.len() >= end + 4 + length {
                assert!(head.starts_with("post /v1/chat/completions http/1.1"), "{head}");
                assert!(head.contains(&format!("authorization: bearer {KEY}")), "{head}");
                return serde_json::from_slice(&raw[end + 4..]).unwrap();
            }
        }
        let n = stream.read(&mut buffer).await.unwrap();
        assert!(n > 0, "the request broke off");
        raw.extend_from_slice(&buffer[..n]);
    }
}

/// The client may hang up at any time: what it did not read is not the server's affair.
pub(super) async fn play(act: &Act, stream: &mut TcpStream) {
    match act {
        Act::Send(bytes) | Act::Stall(bytes) => drop(stream.write_all(bytes).await),
        Act::Split(bytes, at) => {
            stream.set_nodelay(true).unwrap();
            let _ = stream.write_all(&bytes[..*at]).await;
            tokio::task::yield_now().await;
            let _ = stream.write_all(&bytes[*at..]).await;
        }
        Act::Silence => {}
        Act::Endless(mib) => {
            let _ = stream.write_all(&head(200, "text/event-stream", &[])).await;
            let _ = stream.write_all(b"data: ").await;
            let chunk = vec![b'x'; 1024 * 1024];
            for _ in 0..*mib {
                if stream.write_all(&chunk).await.is_err() {
                    return;
                }
            }
        }
    }
}

/// No length: the body lasts until the connection ends.
pub(super) fn head(status: u16, kind: &str, more: &[&str]) -> Vec<u8> {
    let more: String = more.iter().map(|line| format!("{line}\r\n")).collect();
    format!("HTTP/1.1 {status} X\r\ncontent-type: {kind}\r\n{more}connection: close\r\n\r\n").into_bytes()
}

pub(super) fn answer(status: u16, kind: &str, more: &[&str], body: &str) -> Act {
    Act::Send([head(status, kind, more), body.as_bytes().to_vec()].concat())
}

pub(super) fn stream(body: &str) -> Act {
    answer(200, "text/event-stream; charset=utf-8", &[], body)
}

pub(super) fn completion(text: &str) -> Act {
    let body = json!({"choices": [{"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}]});
    answer(200, "application/json", &[], &body.to_string())
}

// --- Asking it ------------------------------------------------------------------------------------------------------

#[derive(Default)]
pub(super) struct Noted(pub(super) Mutex<Vec<Duration>>);

#[async_trait::async_trait]
impl Pause for Noted {
    async fn pause(&self, time: Duration) {
        self.0.lock().unwrap().push(time);
    }
}

pub(super) fn soon() -> Instant {
    Instant::now() + Duration::from_secs(60)
}

pub(super) fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap().block_on(future)
}

pub(super) fn request() -> ModelRequest {
    ModelRequest {
        system: "Be brief.".to_owned(),
        messages: vec![Message { role: Role::User, text: "hello".to_owned() }],
        ..ModelRequest::default()
    }
}

pub(super) fn tool_request() -> ModelRequest {
    ModelRequest {
        tools: vec![ToolSpec {
            name: "add".to_owned(),
            description: "adds".to_owned(),
            schema: json!({"type": "object"}),
        }],
        tool_choice: ToolChoice::Required,
        reply_schema: Some(json!({"type": "object"})),
        ..request()
    }
}

/// What came of one request: the end, the pauses, the requests seen.
pub(super) struct Asked {
    pub(super) ended: Result<Reply, ProviderError>,
    pub(super) pauses: Vec<Duration>,
    pub(super) seen: Vec<Value>,
    pub(super) model: Arc<dyn LanguageModel>,
}

impl Asked {
    pub(super) fn reply(&self) -> &Reply {
        self.ended.as_ref().unwrap_or_else(|e| panic!("{e}"))
    }

    /// The error, after a look for the key in all it says.
    pub(super) fn error(&self) -> &ProviderError {
        let error = self.ended.as_ref().unwrap_err();
        let failure = error.to_failure();
        let said = format!("{error} {error:?} {failure:?} {:?} {:?}", error.hint(), error.partial());
        assert!(!said.contains("canary"), "{said}");
        assert_eq!(failure.code, FailureCode::Model);
        assert!(error.hint().is_some());
        error
    }
}

pub(super) async fn ask_at(base_url: String, request: &ModelRequest, tries: u32) -> Asked {
    let noted = Arc::new(Noted::default());
    let config = OpenAiConfig {
        base_url,
        api_key: Secret::new(KEY),
        timeouts: Timeouts {
            connect: Duration::from_secs(5),
            first_byte: Duration::from_millis(400),
            idle: Duration::from_millis(400),
        },
        retry: Retry { tries, sleep: noted.clone(), ..Retry::default() },
        ..OpenAiConfig::new("m")
    };
    let model = openai(config).unwrap();
    let ended = model.complete(request, soon()).await;
    let pauses = noted.0.lock().unwrap().clone();
    Asked { ended, pauses, seen: Vec::new(), model }
}

pub(super) async fn ask(acts: Vec<Act>) -> Asked {
    ask_for(acts, &request(), 3).await
}

pub(super) async fn ask_for(acts: Vec<Act>, request: &ModelRequest, tries: u32) -> Asked {
    let server = serve(acts).await;
    let mut asked = ask_at(server.base_url.clone(), request, tries).await;
    asked.seen = server.seen.lock().unwrap().clone();
    asked
}
