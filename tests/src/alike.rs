//! The same question through a script and through an OpenAI-compatible endpoint: the same kinds of events in order.

use elysia_host::{Host, HostConfig, ModelChoice, NativeTools, PluginDir, QueryOptions, SessionChoice};
use libtest_mimic::{Failed, Trial};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use crate::guests;

/// What both models decide, one reply after another.
fn decisions() -> [Value; 2] {
    let steps = json!([["status", "working"], ["result", "{\"n\":1}"], ["warning", "careful"]]);
    [
        json!({"option": "puppet", "inputs": {"do": steps}, "message": "One moment."}),
        json!({"option": "text_response", "inputs": {"text": "It is 1."}, "message": ""}),
    ]
}

/// One trial per form that an endpoint may want.
pub fn trials() -> Vec<Trial> {
    let all = [("tools", NativeTools::On), ("a_schema", NativeTools::Off)];
    let trial = |(name, native): (&str, NativeTools)| {
        let name = format!("alike/an_endpoint_with_{name}_gives_the_same_kinds_of_events");
        Trial::test(name, move || {
            tokio::runtime::Runtime::new().unwrap().block_on(compare(native)).map_err(Failed::from)
        })
    };
    all.map(trial).into()
}

async fn compare(native_tools: NativeTools) -> Result<(), String> {
    let script = tempfile::NamedTempFile::new().unwrap();
    let lines = decisions().map(|d| {
        let choice = json!({"option": d["option"], "inputs": d["inputs"]});
        json!({"choices": [choice], "message": d["message"]}).to_string()
    });
    std::fs::write(script.path(), lines.join("\n")).unwrap();
    let scripted = kinds(ModelChoice::Scripted(script.path().to_owned())).await?;
    let base_url = serve(native_tools == NativeTools::On).await;
    let endpoint = ModelChoice::OpenAi {
        provider_label: "openai".to_owned(),
        base_url,
        model: "test".to_owned(),
        api_key: None,
        native_tools,
    };
    let served = kinds(endpoint).await?;
    let wanted = "query_started decision text call_started status result warning call_finished decision text \
                  query_completed";
    if scripted.join(" ") != wanted {
        return Err(format!("the script gave {scripted:?}"));
    }
    if served == scripted { Ok(()) } else { Err(format!("the endpoint gave {served:?}, the script {scripted:?}")) }
}

async fn kinds(model: ModelChoice) -> Result<Vec<String>, String> {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("plugins")).unwrap();
    std::fs::write(dir.path().join("plugins/puppet.wasm"), guests::puppet()).unwrap();
    let mut config = HostConfig::local(dir.path().to_owned());
    config.plugin_dirs.push(PluginDir { path: dir.path().join("plugins"), explicit: true });
    config.model = model;
    let host = Host::open(config).await.map_err(|e| e.to_string())?;
    let session = host.session(SessionChoice::New).await.map_err(|e| e.to_string())?;
    let mut query = session.ask("what is it?", QueryOptions::default()).await.map_err(|e| e.to_string())?;
    let mut kinds = Vec::new();
    while let Some(event) = query.next().await {
        kinds.push(event.to_json()["type"].as_str().unwrap_or_default().to_owned());
    }
    Ok(kinds)
}

/// A loopback endpoint that decides as [`decisions`] says; gone with its runtime.
async fn serve(native: bool) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}/v1", listener.local_addr().unwrap());
    tokio::spawn(async move {
        for decision in decisions() {
            let (mut stream, _) = listener.accept().await.unwrap();
            read_request(&mut stream).await;
            let body = completion(&decision, native).to_string();
            let head = format!(
                "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
                body.len()
            );
            stream.write_all(head.as_bytes()).await.unwrap();
            stream.write_all(body.as_bytes()).await.unwrap();
        }
    });
    base
}

async fn read_request(stream: &mut tokio::net::TcpStream) {
    let mut seen = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        let n = stream.read(&mut buffer).await.unwrap();
        seen.extend_from_slice(&buffer[..n]);
        let text = String::from_utf8_lossy(&seen);
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let length = head.lines().find_map(|l| l.to_lowercase().strip_prefix("content-length: ").map(str::to_owned));
        if n == 0 || length.and_then(|l| l.parse::<usize>().ok()).is_none_or(|l| body.len() >= l) {
            return;
        }
    }
}

fn completion(decision: &Value, native: bool) -> Value {
    let message = if native {
        // A plugin's inputs stand in a wrapper, those of what is built in do not.
        let inputs = match decision["option"].as_str() {
            Some("text_response") => decision["inputs"].clone(),
            _ => json!({"inputs": decision["inputs"], "message": decision["message"]}),
        };
        let call = json!({"id": "c1", "type": "function",
            "function": {"name": decision["option"], "arguments": inputs.to_string()}});
        json!({"role": "assistant", "content": null, "tool_calls": [call]})
    } else {
        let reply = json!({"choices": [{"option": decision["option"], "inputs": decision["inputs"]}],
            "message": decision["message"]});
        json!({"role": "assistant", "content": reply.to_string()})
    };
    json!({"choices": [{"index": 0, "finish_reason": "stop", "message": message}],
        "usage": {"prompt_tokens": 10, "completion_tokens": 5}})
}
