//! A provider on loopback that answers by a script, or by what it is asked, and remembers what it was asked.

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread::{JoinHandle, spawn};

use serde_json::{Value, json};

/// A server that gives each request the next answer.
pub struct Provider {
    pub url: String,
    server: JoinHandle<Vec<Value>>,
}

impl Provider {
    /// Serves these bodies, of JSON or of events.
    pub fn of<const N: usize>(answers: [String; N]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let server = spawn(move || {
            let serve = |answer: String| {
                let (body, stream) = request(listener.accept().unwrap().0).unwrap();
                respond(stream, &answer).unwrap();
                body
            };
            answers.into_iter().map(serve).collect()
        });
        Self { url, server }
    }

    /// The bodies of all requests, once every answer was given.
    pub fn requests(self) -> Vec<Value> {
        self.server.join().unwrap()
    }
}

/// A server that answers by what it is asked, as often as it is asked, also clients that die in the middle.
pub struct Answering {
    pub url: String,
    asked: Arc<Mutex<Vec<Value>>>,
}

impl Answering {
    /// Answers each request with what this makes of its body and of the number of the request, counted from 0.
    pub fn by(answer: impl Fn(&Value, usize) -> String + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let asked = Arc::new(Mutex::new(Vec::new()));
        let heard = Arc::clone(&asked);
        spawn(move || {
            for stream in listener.incoming() {
                let Ok((body, stream)) = stream.and_then(request) else { continue };
                let number = {
                    let mut heard = heard.lock().unwrap();
                    heard.push(body.clone());
                    heard.len() - 1
                };
                // Who asked may be gone.
                let _ = respond(stream, &answer(&body, number));
            }
        });
        Self { url, asked }
    }

    /// The bodies of all requests so far.
    pub fn asked(&self) -> Vec<Value> {
        self.asked.lock().unwrap().clone()
    }
}

/// Reads one request.
fn request(stream: TcpStream) -> io::Result<(Value, TcpStream)> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let (mut line, mut length) = (String::new(), 0);
    while reader.read_line(&mut line)? > 2 {
        let lower = line.to_lowercase();
        if let Some(value) = lower.strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        line.clear();
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    Ok((serde_json::from_slice(&body).map_err(io::Error::other)?, stream))
}

fn respond(mut stream: TcpStream, answer: &str) -> io::Result<()> {
    let kind = if answer.starts_with("data:") { "text/event-stream" } else { "application/json" };
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        answer.len()
    );
    stream.write_all(format!("{head}{answer}").as_bytes())
}

/// A message of the model, as the provider sends it.
pub fn message(stop: &str, content: &Value) -> String {
    let usage = json!({ "input_tokens": 10, "output_tokens": 5 });
    json!({
        "id": "msg_1", "type": "message", "role": "assistant", "model": "claude-sonnet-4-6",
        "content": content, "stop_reason": stop, "stop_sequence": null, "usage": usage,
    })
    .to_string()
}
