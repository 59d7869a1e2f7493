//! Signs a person in with the browser of this machine, which is redirected to a port of this machine.

use std::fmt;
use std::time::Duration;

use futures::future::BoxFuture;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;
use toolwright::ToolError;

use super::{SignIn, SignInRequest};

/// The maximum time that a person may take to sign in.
const PATIENCE: Duration = Duration::from_secs(300);

/// The maximum time for one connection of the browser.
const VISIT: Duration = Duration::from_secs(10);

/// The maximum length of a request, in bytes; no redirected browser sends more.
const LONGEST: usize = 16 * 1024;

const PATH: &str = "/callback";

/// A [`SignIn`] by the browser of this machine. It shows the sign-in page through a function of the application, and
/// waits for the browser's redirect on a port of this machine.
///
/// ```
/// use toolwright_mcp::{Loopback, MemoryTokens, OAuth};
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// let browser = Loopback::bind(0, |asked| eprintln!("to use `{}`, open {}", asked.server, asked.url)).await?;
/// let oauth = OAuth::new(MemoryTokens::default()).sign_in(browser);
/// # let _ = oauth;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Loopback {
    listener: TcpListener,
    redirect_uri: String,
    show: Box<dyn Fn(&SignInRequest) + Send + Sync>,
}

impl Loopback {
    /// Listens on this port of the loopback interface, or on any free port if `port` is 0.
    ///
    /// # Errors
    /// When the port cannot be opened.
    pub async fn bind(
        port: u16,
        show: impl Fn(&SignInRequest) + Send + Sync + 'static,
    ) -> std::io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", port)).await?;
        let redirect_uri = format!("http://{}{PATH}", listener.local_addr()?);
        Ok(Self { listener, redirect_uri, show: Box::new(show) })
    }

    /// Returns the URL to which the browser was redirected. Any program on this machine may connect; requests for other
    /// pages are ignored.
    async fn came_back(&self) -> Result<String, ToolError> {
        loop {
            let (browser, _) = self.listener.accept().await.map_err(|error| {
                ToolError::new(
                    "not_signed_in",
                    "the port for the browser's redirect cannot be used",
                )
                .caused_by(error)
            })?;
            if let Ok(Some(query)) = timeout(VISIT, visit(browser)).await {
                return Ok(format!("{}?{query}", self.redirect_uri));
            }
        }
    }
}

impl SignIn for Loopback {
    fn redirect_uri(&self) -> &str {
        &self.redirect_uri
    }

    fn sign_in(&self, request: SignInRequest) -> BoxFuture<'_, Result<String, ToolError>> {
        Box::pin(async move {
            (self.show)(&request);
            timeout(PATIENCE, self.came_back()).await.unwrap_or_else(|_| {
                let words = format!("no browser came back within {} s", PATIENCE.as_secs());
                Err(ToolError::new("not_signed_in", words))
            })
        })
    }
}

impl fmt::Debug for Loopback {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Loopback")
            .field("redirect_uri", &self.redirect_uri)
            .finish_non_exhaustive()
    }
}

/// Answers one request, and returns its query if the request is for the page of the redirect.
async fn visit(mut browser: TcpStream) -> Option<String> {
    let mut request = Vec::new();
    while !request.windows(4).any(|it| it == b"\r\n\r\n") {
        if request.len() > LONGEST || browser.read_buf(&mut request).await.ok()? == 0 {
            return None;
        }
    }
    let text = std::str::from_utf8(&request).ok()?;
    let target = text.lines().next()?.strip_prefix("GET ")?.split(' ').next()?;
    let query = target.strip_prefix(PATH).and_then(|rest| rest.strip_prefix('?'));
    let (status, words) = match query {
        Some(_) => ("200 OK", "Thank you. You can close this page."),
        None => ("404 Not Found", "There is nothing here."),
    };
    let answer = format!(
        "HTTP/1.1 {status}\r\ncontent-type: text/plain\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{words}",
        words.len()
    );
    // If the browser has disconnected, the query that it sent is still valid.
    let _ = browser.write_all(answer.as_bytes()).await;
    let _ = browser.shutdown().await;
    query.map(str::to_owned)
}
