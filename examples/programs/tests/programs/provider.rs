//! A provider on loopback that answers by a script and remembers what it was asked.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::thread::{JoinHandle, spawn};

use serde_json::Value;

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
            let serve = |answer: String| serve(listener.accept().unwrap().0, &answer);
            answers.into_iter().map(serve).collect()
        });
        Self { url, server }
    }

    /// The bodies of all requests, once every answer was given.
    pub fn requests(self) -> Vec<Value> {
        self.server.join().unwrap()
    }
}

/// Reads one request and answers it.
fn serve(mut stream: TcpStream, answer: &str) -> Value {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let (mut line, mut length) = (String::new(), 0);
    while reader.read_line(&mut line).unwrap() > 2 {
        let lower = line.to_lowercase();
        if let Some(value) = lower.strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        line.clear();
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    let kind = if answer.starts_with("data:") { "text/event-stream" } else { "application/json" };
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        answer.len()
    );
    stream.write_all(format!("{head}{answer}").as_bytes()).unwrap();
    serde_json::from_slice(&body).unwrap()
}
