//! A server of this machine that answers as a test says, byte by byte.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

/// A server on a port of its own. It lasts as long as the test program.
pub struct Loopback {
    pub port: u16,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Loopback {
    /// Serves each request, of which it gets the first line and the headers, on a connection of its own.
    pub fn start(serve: impl Fn(&str, &mut TcpStream) + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let (serve, seen) = (Arc::new(serve), Arc::clone(&requests));
        thread::spawn(move || {
            for stream in listener.incoming() {
                let (serve, seen) = (Arc::clone(&serve), Arc::clone(&seen));
                thread::spawn(move || {
                    let Ok(mut stream) = stream else { return };
                    let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
                    let head: Vec<String> = lines
                        .by_ref()
                        .map_while(Result::ok)
                        .take_while(|it| !it.is_empty())
                        .collect();
                    let head = head.join("\n");
                    seen.lock().unwrap().push(head.clone());
                    serve(&head, &mut stream);
                });
            }
        });
        Self { port, requests }
    }

    /// Serves one answer for each path, and 404 for any other.
    pub fn of(answers: impl Fn(&str) -> Option<Vec<u8>> + Send + Sync + 'static) -> Self {
        Self::start(move |head, stream| {
            let path = head.split(' ').nth(1).unwrap_or_default();
            let answer =
                answers(path).unwrap_or_else(|| answer(404, "text/html", "<p>no such page"));
            let _ = stream.write_all(&answer);
        })
    }

    /// The requests that came so far: the first line and the headers of each.
    pub fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }
}

/// An answer with a body.
pub fn answer(status: u16, kind: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!(
        "HTTP/1.1 {status} As said\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
    )
    .into_bytes()
}

/// An answer that leads elsewhere.
pub fn redirect(to: &str) -> Vec<u8> {
    format!(
        "HTTP/1.1 302 Found\r\nlocation: {to}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
    )
    .into_bytes()
}
