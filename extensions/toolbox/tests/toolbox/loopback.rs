//! A server of this machine that answers as a test says, byte by byte.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

/// A server on a port of its own. It lasts as long as the test program.
pub struct Loopback {
    pub port: u16,
    requests: Arc<Mutex<Vec<String>>>,
    bodies: Arc<Mutex<Vec<String>>>,
}

impl Loopback {
    /// Serves each request, of which it gets the first line and the headers, on a connection of its own.
    pub fn start(serve: impl Fn(&str, &mut TcpStream) + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let bodies = Arc::new(Mutex::new(Vec::new()));
        let (serve, seen) = (Arc::new(serve), (Arc::clone(&requests), Arc::clone(&bodies)));
        thread::spawn(move || {
            for stream in listener.incoming() {
                let (serve, (seen, read)) = (Arc::clone(&serve), seen.clone());
                thread::spawn(move || {
                    let Ok(mut stream) = stream else { return };
                    let mut reader = BufReader::new(stream.try_clone().unwrap());
                    let head: Vec<String> = reader
                        .by_ref()
                        .lines()
                        .map_while(Result::ok)
                        .take_while(|it| !it.is_empty())
                        .collect();
                    let head = head.join("\n");
                    // A body that is not read would reset the connection.
                    let length = head.to_lowercase();
                    let length = length.split_once("content-length: ").map(|(_, it)| it);
                    let length = length.and_then(|it| it.lines().next()?.trim().parse().ok());
                    let mut body = vec![0; length.unwrap_or(0)];
                    if reader.read_exact(&mut body).is_err() {
                        return;
                    }
                    read.lock().unwrap().push(String::from_utf8_lossy(&body).into_owned());
                    seen.lock().unwrap().push(head.clone());
                    serve(&head, &mut stream);
                });
            }
        });
        Self { port, requests, bodies }
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

    /// The bodies of the requests that came so far.
    #[cfg(feature = "context-store")]
    pub fn bodies(&self) -> Vec<String> {
        self.bodies.lock().unwrap().clone()
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
