//! A server at a URL that is started again, and with that knows no session of before.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};
use toolwright::{Call, Executor, Registry};
use toolwright_mcp::{McpConfig, McpServers};

/// A server of the revision 2025-11-25 whose sessions are numbers, and how it refuses one that it does not know.
struct Restarted {
    session: AtomicUsize,
    refusal: (&'static str, &'static str, &'static str),
}

impl Restarted {
    async fn answer(self: Arc<Self>, stream: TcpStream) -> std::io::Result<()> {
        let mut stream = BufReader::new(stream);
        loop {
            let (mut length, mut session) = (0, None);
            let mut first = String::new();
            loop {
                let mut line = String::new();
                if stream.read_line(&mut line).await? == 0 {
                    return Ok(());
                }
                match line.trim().split_once(": ") {
                    Some((name, value)) if name.eq_ignore_ascii_case("content-length") => {
                        length = value.parse().unwrap();
                    }
                    Some((name, value)) if name.eq_ignore_ascii_case("mcp-session-id") => {
                        session = value.parse::<usize>().ok();
                    }
                    _ if first.is_empty() => first = line,
                    _ if line.trim().is_empty() => break,
                    _ => {}
                }
            }
            let mut body = vec![0; length];
            stream.read_exact(&mut body).await?;
            let message: Value = serde_json::from_slice(&body).unwrap_or_default();
            let (status, kind, body) = self.page(&first, session, &message);
            let now = self.session.load(Ordering::SeqCst);
            let head = format!(
                "HTTP/1.1 {status}\r\ncontent-type: {kind}\r\nmcp-session-id: {now}\r\ncontent-length: {}\r\n\r\n",
                body.len()
            );
            stream.write_all(format!("{head}{body}").as_bytes()).await?;
        }
    }

    fn page(&self, first: &str, session: Option<usize>, message: &Value) -> (&str, &str, String) {
        let result = |result: Value| {
            let answer = json!({"jsonrpc": "2.0", "id": message["id"], "result": result});
            ("200 OK", "application/json", answer.to_string())
        };
        let method = message["method"].as_str().unwrap_or_default();
        match (first.starts_with("POST"), method) {
            (false, _) => ("405 Method Not Allowed", "text/plain", String::new()),
            (true, "initialize") => result(json!({
                "protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                "serverInfo": {"name": "restarted", "version": "1"},
            })),
            (true, _) if session != Some(self.session.load(Ordering::SeqCst)) => {
                let (status, kind, body) = self.refusal;
                (status, kind, body.to_owned())
            }
            (true, "tools/list") => {
                result(json!({"tools": [{"name": "hello", "inputSchema": {"type": "object"}}]}))
            }
            (true, "tools/call") => result(json!({"content": [{"type": "text", "text": "hello"}]})),
            (true, _) => ("202 Accepted", "text/plain", String::new()),
        }
    }
}

/// By 404 as the protocol has it, or by 400 with the words of the libraries of TypeScript and of Python.
#[tokio::test]
async fn a_server_that_was_started_again_is_connected_to_anew_whichever_way_it_refuses_the_session()
{
    let json = "application/json";
    for refusal in [
        ("404 Not Found", "text/plain", "Session not found"),
        ("400 Bad Request", "text/plain", "Bad Request"),
        (
            "400 Bad Request",
            json,
            r#"{"jsonrpc":"2.0","error":{"code":-32000,"message":"Bad Request: No valid session ID provided"},"id":null}"#,
        ),
        (
            "400 Bad Request",
            json,
            r#"{"jsonrpc":"2.0","id":"server-error","error":{"code":-32600,"message":"Bad Request: No valid session ID provided"}}"#,
        ),
    ] {
        let server = Arc::new(Restarted { session: AtomicUsize::new(1), refusal });
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        let serving = Arc::clone(&server);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(Arc::clone(&serving).answer(stream));
            }
        });
        let config = format!("[servers.far]\nurl = \"{url}\"\ntrust = \"annotations\"");
        let servers = McpServers::new(McpConfig::from_toml(&config).unwrap());
        let builder = Executor::builder(Registry::empty()).unrestricted();
        let executor = builder.with(servers.clone()).build().unwrap();
        let call = Call::new("far__hello", "{}");
        assert!(executor.call(&call).await.text().contains("\nhello\n"));
        server.session.fetch_add(1, Ordering::SeqCst);
        let answer = executor.call(&call).await;
        assert!(answer.text().contains("\nhello\n"), "{refusal:?}: {}", answer.text());
        servers.close().await;
    }
}
