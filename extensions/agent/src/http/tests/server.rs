//! A server that answers as a test says, well or badly.

use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// What becomes of one request.
#[derive(Debug, Clone)]
pub(super) enum Answers {
    /// A whole response.
    With { status: u16, headers: String, body: String },
    /// A response with a body of any bytes, which may lack its end.
    Bytes { status: u16, body: &'static [u8], is_cut: bool },
    /// A body whose length is not known before.
    Chunked(String),
    /// The connection ends before there is a response.
    Cut,
    /// It ends in the middle of one.
    CutInBody,
    /// Nothing comes.
    Never,
    /// Events in pieces.
    Stream { pieces: Vec<String>, end: End },
    /// Events that never end, a byte at a time.
    Drip,
    /// A body that never ends, as fast as it is read.
    Endless { is_stream: bool },
}

/// How a stream ends.
#[derive(Debug, Clone, Copy)]
pub(super) enum End {
    /// As HTTP wants it.
    Whole,
    /// With the connection.
    Cut,
    /// Not at all.
    Never,
}

pub(super) struct Server {
    url: String,
    requests: Arc<Mutex<Vec<String>>>,
    task: JoinHandle<()>,
}

impl Answers {
    pub(super) fn with(status: u16, body: &str) -> Self {
        Self::With { status, headers: String::new(), body: body.to_owned() }
    }

    pub(super) fn header(mut self, line: &str) -> Self {
        if let Self::With { headers, .. } = &mut self {
            headers.push_str(line);
            headers.push_str("\r\n");
        }
        self
    }
}

impl Server {
    /// A connection for each request.
    pub(super) async fn start(answers: Vec<Answers>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let requests = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&requests);
        let task = tokio::spawn(async move {
            let mut open = Vec::new();
            for answer in answers {
                let (mut stream, _) = listener.accept().await.unwrap();
                let request = request(&mut stream).await;
                seen.lock().unwrap().push(request);
                open.push(tokio::spawn(async move {
                    respond(&mut stream, answer).await;
                    std::future::pending::<()>().await;
                }));
            }
            std::future::pending::<()>().await;
        });
        Self { url, requests, task }
    }

    pub(super) fn url(&self) -> String {
        self.url.clone()
    }

    pub(super) fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn request(stream: &mut TcpStream) -> String {
    let mut read = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&read).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
            if body.len() >= length.map_or(0, |it| it.parse().unwrap()) {
                return text;
            }
        }
        let mut piece = [0; 4096];
        let count = stream.read(&mut piece).await.unwrap();
        assert!(count > 0, "the client went away");
        read.extend_from_slice(&piece[..count]);
    }
}

async fn respond(stream: &mut TcpStream, answer: Answers) {
    let response = match answer {
        Answers::With { status, headers, body } => format!(
            "HTTP/1.1 {status} Said\r\nconnection: close\r\n{headers}content-length: {}\r\n\r\n{body}",
            body.len()
        ),
        Answers::Chunked(body) => format!(
            "HTTP/1.1 200 Said\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n{:x}\r\n{body}\r\n",
            body.len()
        ),
        Answers::CutInBody => {
            "HTTP/1.1 200 Said\r\nconnection: close\r\ncontent-length: 500\r\n\r\n{\"type\":"
                .to_owned()
        }
        Answers::Bytes { status, body, is_cut } => {
            let head = format!(
                "HTTP/1.1 {status} Said\r\nconnection: close\r\ncontent-length: {}\r\n\r\n",
                body.len() + usize::from(is_cut)
            );
            let _ = stream.write_all(&[head.as_bytes(), body].concat()).await;
            let _ = stream.shutdown().await;
            return;
        }
        Answers::Cut => String::new(),
        Answers::Never => return,
        Answers::Stream { pieces, end } => return send(stream, pieces, end).await,
        Answers::Drip => return drip(stream).await,
        Answers::Endless { is_stream } => return flood(stream, is_stream).await,
    };
    // A client that has seen enough closes first.
    let _ = stream.write_all(response.as_bytes()).await;
    if response.is_empty() || response.contains("content-length: 500") {
        let _ = stream.shutdown().await;
    }
}

const STREAM: &str = "HTTP/1.1 200 Said\r\nconnection: close\r\ncontent-type: text/event-stream; charset=utf-8\r\ntransfer-encoding: chunked\r\n\r\n";

async fn send(stream: &mut TcpStream, pieces: Vec<String>, end: End) {
    let _ = stream.write_all(STREAM.as_bytes()).await;
    for piece in pieces {
        let piece = format!("{:x}\r\n{piece}\r\n", piece.len());
        let _ = stream.write_all(piece.as_bytes()).await;
        let _ = stream.flush().await;
        tokio::task::yield_now().await;
    }
    match end {
        End::Whole => {
            let _ = stream.write_all(b"0\r\n\r\n").await;
        }
        End::Cut => {
            let _ = stream.shutdown().await;
        }
        End::Never => {}
    }
}

async fn drip(stream: &mut TcpStream) {
    let _ = stream.write_all(STREAM.as_bytes()).await;
    while stream.write_all(b"1\r\n:\r\n").await.is_ok() {
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
}

async fn flood(stream: &mut TcpStream, is_stream: bool) {
    let head = if is_stream { STREAM.to_owned() } else { STREAM.replace("event-stream", "json") };
    let _ = stream.write_all(head.as_bytes()).await;
    let piece = format!("10000\r\n:{}\r\n", " ".repeat((1 << 16) - 1));
    while stream.write_all(piece.as_bytes()).await.is_ok() {}
}
