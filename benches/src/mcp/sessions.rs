//! Many sessions over HTTP at once: our server, and rmcp's Streamable HTTP server of the same function. The client only
//! sends bodies and reads them, so that the servers make most of the difference.

use ::rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use ::rmcp::transport::streamable_http_server::{
    StreamableHttpServerConfig, StreamableHttpService,
};
use anyhow::{Context, Result, ensure};
use futures::future::try_join_all;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use reqwest::{Client, RequestBuilder, Response};
use serde_json::Value;
use tokio::net::TcpListener;
use toolwright::CancellationToken;

use super::is_found;
use super::servers::{self, Theirs};

/// How many sessions there are at once.
const SESSIONS: usize = 50;

/// How many calls each session makes, one after another.
const CALLS: usize = 20;

/// How many calls all sessions make.
pub const ALL_CALLS: u32 = (SESSIONS * CALLS) as u32;

const SESSION_ID: &str = "mcp-session-id";
const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"sessions","version":"1"}}}"#;
const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

/// Clients of a server at a URL.
pub struct Clients {
    url: String,
    client: Client,
}

impl Clients {
    fn of(url: String) -> Result<Self> {
        Ok(Self { url, client: Client::builder().no_proxy().build()? })
    }

    /// Begins all sessions at once; each makes its calls and ends. Returns the bodies of all answers.
    pub async fn call_all(&self, text: &str) -> Result<Vec<String>> {
        let call = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"find_text","arguments":{text}}}}}"#
        );
        let sessions = (0..SESSIONS).map(|_| self.session(&call));
        Ok(try_join_all(sessions).await?.concat())
    }

    async fn session(&self, call: &str) -> Result<Vec<String>> {
        let begun = accepted(self.post(INITIALIZE)).await?;
        let id = begun.headers().get(SESSION_ID).context("no session")?.clone();
        begun.text().await?;
        accepted(self.post(INITIALIZED).header(SESSION_ID, &id)).await?.text().await?;
        let mut answers = Vec::with_capacity(CALLS);
        for _ in 0..CALLS {
            let answer = accepted(self.post(call).header(SESSION_ID, &id)).await?;
            answers.push(answer.text().await?);
        }
        accepted(self.client.delete(&self.url).header(SESSION_ID, &id)).await?.text().await?;
        Ok(answers)
    }

    fn post(&self, body: &str) -> RequestBuilder {
        let post = self.client.post(&self.url).body(body.to_owned());
        post.header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream")
    }
}

async fn accepted(request: RequestBuilder) -> Result<Response> {
    Ok(request.send().await?.error_for_status()?)
}

/// Checks that every call has the expected answer.
pub fn all_are_found(answers: &Vec<String>) -> Result<()> {
    ensure!(answers.len() == SESSIONS * CALLS, "{} answers", answers.len());
    for answer in answers {
        let lines = answer.lines().map(|line| line.strip_prefix("data:").unwrap_or(line).trim());
        let mut messages = lines.filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let message = messages.find(|message| message["id"] == 1);
        let message = message.with_context(|| format!("no answer: {answer}"))?;
        let text = message["result"]["content"][0]["text"].as_str();
        is_found(&text.with_context(|| format!("not a text: {answer}"))?.to_owned())?;
    }
    Ok(())
}

/// Returns clients of our server and of rmcp's.
pub async fn clients() -> Result<(Clients, Clients)> {
    Ok((Clients::of(serve_ours().await?)?, Clients::of(serve_theirs().await?)?))
}

async fn serve_ours() -> Result<String> {
    let server = servers::ours()?.http("127.0.0.1:0".parse()?)?.bind().await?;
    let url = server.url();
    tokio::spawn(server.serve_until(CancellationToken::new()));
    Ok(url)
}

/// Serves by hyper, as our server does, and like it without waiting for acknowledgements.
async fn serve_theirs() -> Result<String> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let url = format!("http://{}/mcp", listener.local_addr()?);
    let server = Theirs::new();
    let service = StreamableHttpService::new(
        move || Ok(server.clone()),
        LocalSessionManager::default().into(),
        StreamableHttpServerConfig::default(),
    );
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let _ = stream.set_nodelay(true);
            let service = service.clone();
            let answer = service_fn(move |request| {
                let service = service.clone();
                async move { Ok::<_, std::convert::Infallible>(service.handle(request).await) }
            });
            tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), answer));
        }
    });
    Ok(url)
}
