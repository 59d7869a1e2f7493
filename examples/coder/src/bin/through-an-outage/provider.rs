//! A provider on loopback that answers like Anthropic's API, goes away and comes back.
//!
//! It goes away with the first request for a second answer, so that every run meets the outage in its middle. First
//! it answers that it is busy, in three ways; then it refuses connections.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpSocket, TcpStream};
use tokio::sync::watch;

use crate::Error;

/// The entries of an order, in the order in which the model books them.
pub const ENTRIES: [&str; 2] = ["opened", "closed"];

/// The prompt of the run whose tool crashes its process begins with this word, after the name of the run.
pub const CONVERT: &str = "convert";

/// The most bytes of a request.
const MOST: usize = 1 << 20;

/// The statuses that mean "later", with the headers between them and the body.
const BUSY: [(u16, &str); 3] = [(503, ""), (529, ""), (429, "retry-after: 1\r\n")];

/// Whether the provider is available.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Presence {
    /// The outage has not begun: no run has asked for a second answer yet.
    Before,
    /// The provider answers that it is busy.
    Busy,
    /// The provider refuses connections.
    Gone,
    /// The provider is available again.
    Back,
}

/// The server.
pub struct Provider {
    pub url: String,
    presence: watch::Sender<Presence>,
    refused: AtomicUsize,
}

impl Provider {
    /// Starts the server, which ends with the program.
    pub fn start() -> Result<Arc<Self>, Error> {
        let socket = bound((Ipv4Addr::LOCALHOST, 0).into())?;
        let url = format!("http://{}", socket.local_addr()?);
        let presence = watch::Sender::new(Presence::Before);
        let provider = Arc::new(Self { url, presence, refused: AtomicUsize::new(0) });
        tokio::spawn(Arc::clone(&provider).serve(socket));
        Ok(provider)
    }

    /// Takes the provider down, or brings it back.
    pub fn be(&self, presence: Presence) {
        self.presence.send_replace(presence);
    }

    pub fn presence(&self) -> Presence {
        *self.presence.borrow()
    }

    /// Returns how many requests were answered with a status that means "later".
    pub fn refused(&self) -> usize {
        self.refused.load(Ordering::Relaxed)
    }

    async fn serve(self: Arc<Self>, mut socket: TcpSocket) {
        let mut presence = self.presence.subscribe();
        loop {
            let Ok(address) = socket.local_addr() else { return };
            match socket.listen(1_024) {
                Ok(listener) => loop {
                    tokio::select! {
                        accepted = listener.accept() => {
                            if let Ok((stream, _)) = accepted {
                                tokio::spawn(Arc::clone(&self).answer(stream));
                            }
                        }
                        gone = presence.wait_for(|it| *it == Presence::Gone) => {
                            if gone.is_err() {
                                return;
                            }
                            break;
                        }
                    }
                },
                Err(error) => return eprintln!("error: the provider cannot listen: {error}"),
            }
            // A socket that is bound but does not listen refuses connections, and no other program can take its port.
            socket = match bound(address) {
                Ok(socket) => socket,
                Err(error) => return eprintln!("error: the provider has lost its port: {error}"),
            };
            if presence.wait_for(|it| *it != Presence::Gone).await.is_err() {
                return;
            }
        }
    }

    /// Answers the one request of a connection. A client that has closed it gets no answer.
    async fn answer(self: Arc<Self>, mut stream: TcpStream) {
        let Some(request) = request(&mut stream).await else { return };
        let number = answers_before(&request);
        if number > 0 {
            self.presence.send_if_modified(|it| {
                let is_first = *it == Presence::Before;
                if is_first {
                    *it = Presence::Busy;
                }
                is_first
            });
        }
        let is_away = matches!(self.presence(), Presence::Busy | Presence::Gone);
        let (status, headers, body) = match is_away {
            true => {
                let (status, headers) =
                    BUSY[self.refused.fetch_add(1, Ordering::Relaxed) % BUSY.len()];
                (
                    status,
                    headers,
                    json!({"type": "error", "error": {"type": "overloaded_error", "message": "later"}}),
                )
            }
            false => (200, "", said(&prompt(&request), number)),
        };
        let body = body.to_string();
        let length = body.len();
        let text = format!(
            "HTTP/1.1 {status} Said\r\nconnection: close\r\ncontent-type: application/json\r\n{headers}content-length: {length}\r\n\r\n{body}"
        );
        let _ = stream.write_all(text.as_bytes()).await;
        let _ = stream.shutdown().await;
    }
}

fn bound(address: SocketAddr) -> std::io::Result<TcpSocket> {
    let socket = TcpSocket::new_v4()?;
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    Ok(socket)
}

async fn request(stream: &mut TcpStream) -> Option<Value> {
    let mut read = Vec::new();
    loop {
        if let Some(end) = read.windows(4).position(|it| it == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&read[..end]).to_ascii_lowercase();
            let length = head.lines().find_map(|line| line.strip_prefix("content-length:"))?;
            let length: usize = length.trim().parse().ok()?;
            let body = &read[end + 4..];
            if body.len() >= length {
                return serde_json::from_slice(&body[..length]).ok();
            }
        }
        let mut piece = [0; 4_096];
        let count = stream.read(&mut piece).await.ok()?;
        if count == 0 || read.len() > MOST {
            return None;
        }
        read.extend_from_slice(&piece[..count]);
    }
}

fn messages(request: &Value) -> &[Value] {
    request["messages"].as_array().map_or(&[], Vec::as_slice)
}

/// Counts the model's answers in the history of a request.
fn answers_before(request: &Value) -> usize {
    messages(request).iter().filter(|it| it["role"] == "assistant").count()
}

/// Returns the first message of the user.
fn prompt(request: &Value) -> String {
    let content = messages(request).first().map_or(&Value::Null, |it| &it["content"]);
    content.as_str().or_else(|| content[0]["text"].as_str()).unwrap_or_default().to_owned()
}

/// Returns the answer with this number to a prompt of the form `RUN: TASK`.
fn said(prompt: &str, number: usize) -> Value {
    let (run, task) = prompt.split_once(": ").unwrap_or((prompt, ""));
    let call = |name: &str, input: Value| {
        let id = format!("toolu_{run}_{number}");
        (json!([{"type": "tool_use", "id": id, "name": name, "input": input}]), "tool_use")
    };
    let (content, stop) = match ENTRIES.get(number) {
        Some(_) if task.starts_with(CONVERT) => call("convert", json!({"run": run})),
        Some(entry) => call("book", json!({"run": run, "entry": entry})),
        None => (json!([{"type": "text", "text": format!("{run} is booked.")}]), "end_turn"),
    };
    json!({
        "type": "message", "role": "assistant", "model": "loopback", "content": content, "stop_reason": stop,
        "usage": {"input_tokens": 100, "output_tokens": 10},
    })
}
