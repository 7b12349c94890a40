//! A tiny model server on the loopback interface that answers every request alike.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};

use serde::Deserialize;

/// What it answers.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Answer {
    status: u16,
    #[serde(default = "json")]
    content_type: String,
    body: String,
}

fn json() -> String {
    "application/json".to_owned()
}

/// Starts it; it ends with the process. Its port.
pub(super) fn start(answer: Answer) -> Result<u16, String> {
    let listener = TcpListener::bind(("127.0.0.1", 0)).map_err(|e| e.to_string())?;
    let port = listener.local_addr().map_err(|e| e.to_string())?.port();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let answer = answer.clone();
            std::thread::spawn(move || {
                // A client that leaves early is its own affair.
                let _ = serve(stream, &answer);
            });
        }
    });
    Ok(port)
}

/// A port where nobody listens.
pub(super) fn free_port() -> Result<u16, String> {
    let listener = TcpListener::bind(("127.0.0.1", 0)).map_err(|e| e.to_string())?;
    listener.local_addr().map(|address| address.port()).map_err(|e| e.to_string())
}

fn serve(mut stream: TcpStream, answer: &Answer) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let line = line.trim().to_ascii_lowercase();
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().unwrap_or(0);
        }
        if line.is_empty() {
            break;
        }
    }
    std::io::copy(&mut reader.take(length), &mut std::io::sink())?;
    let Answer { status, content_type, body } = answer;
    write!(
        stream,
        "HTTP/1.1 {status} Said\r\ncontent-type: {content_type}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    )
}
