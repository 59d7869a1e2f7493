//! Who asks a person to sign in, and hears where their browser was sent in the end.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;

/// How long a person has.
const PATIENCE: Duration = Duration::from_secs(300);

/// More than this comes in no request of a browser that was sent here.
const LONGEST: usize = 16 * 1024;

const PATH: &str = "/callback";

/// Asks a person to sign in at a server's authorization server. [`Loopback`] is one for applications that run where the
/// browser runs.
pub trait Authorizer: Send + Sync {
    /// Where the authorization server sends the browser when the person has decided.
    fn redirect_uri(&self) -> String;

    /// Shows the person the URL at which they sign in, for this server, and gives the whole URL that their browser was sent
    /// to. The caller checks what stands in it.
    ///
    /// # Errors
    /// When nobody signs in.
    fn authorize<'a>(
        &'a self,
        server: &'a str,
        url: &'a str,
    ) -> BoxFuture<'a, Result<String, AuthorizerError>>;
}

/// Why nobody signed in.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("nobody signed in: {0}")]
pub struct AuthorizerError(String);

impl AuthorizerError {
    /// For this reason.
    pub fn new(why: impl Into<String>) -> Self {
        Self(why.into())
    }
}

/// Shows the URL by a function of the application's, and waits for the browser on a port of this machine.
pub struct Loopback {
    listener: TcpListener,
    port: u16,
    show: Box<dyn Fn(&str, &str) + Send + Sync>,
}

impl Loopback {
    /// Listens on this port, or on any where it is 0. The function gets the server's name and the URL to open.
    ///
    /// # Errors
    /// When nothing can listen there.
    pub async fn bind(
        port: u16,
        show: impl Fn(&str, &str) + Send + Sync + 'static,
    ) -> std::io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", port)).await?;
        let port = listener.local_addr()?.port();
        Ok(Self { listener, port, show: Box::new(show) })
    }

    async fn came_back(&self) -> Result<String, AuthorizerError> {
        loop {
            let accepted = self.listener.accept().await;
            let (browser, _) = accepted
                .map_err(|error| AuthorizerError(format!("nothing can be heard: {error}")))?;
            // Anything on this machine may knock; only what the browser is sent to counts.
            if let Ok(Some(target)) = timeout(Duration::from_secs(10), answered(browser)).await {
                return Ok(format!("http://127.0.0.1:{}{target}", self.port));
            }
        }
    }
}

impl Authorizer for Loopback {
    fn redirect_uri(&self) -> String {
        format!("http://127.0.0.1:{}{PATH}", self.port)
    }

    fn authorize<'a>(
        &'a self,
        server: &'a str,
        url: &'a str,
    ) -> BoxFuture<'a, Result<String, AuthorizerError>> {
        Box::pin(async move {
            (self.show)(server, url);
            let seconds = PATIENCE.as_secs();
            timeout(PATIENCE, self.came_back()).await.unwrap_or_else(|_| {
                Err(AuthorizerError(format!("no browser came back within {seconds} s")))
            })
        })
    }
}

impl Authorizer for Arc<dyn Authorizer> {
    fn redirect_uri(&self) -> String {
        (**self).redirect_uri()
    }

    fn authorize<'a>(
        &'a self,
        server: &'a str,
        url: &'a str,
    ) -> BoxFuture<'a, Result<String, AuthorizerError>> {
        (**self).authorize(server, url)
    }
}

impl fmt::Debug for Loopback {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Loopback").field("port", &self.port).finish_non_exhaustive()
    }
}

/// The path and query of a request to where browsers are sent.
async fn answered(mut browser: TcpStream) -> Option<String> {
    let mut request = Vec::new();
    while !request.windows(4).any(|it| it == b"\r\n\r\n") {
        if request.len() > LONGEST || browser.read_buf(&mut request).await.ok()? == 0 {
            return None;
        }
    }
    let text = std::str::from_utf8(&request).ok()?;
    let target = text.lines().next()?.strip_prefix("GET ")?.split(' ').next()?;
    let is_ours = target.split('?').next() == Some(PATH);
    let (status, words) = match is_ours {
        true => ("200 OK", "Thank you. You can close this page."),
        false => ("404 Not Found", "There is nothing here."),
    };
    let answer = format!(
        "HTTP/1.1 {status}\r\ncontent-type: text/plain; charset=utf-8\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{words}",
        words.len()
    );
    let target = is_ours.then(|| target.to_owned());
    // The browser may have gone; what it was sent to counts all the same.
    let _ = browser.write_all(answer.as_bytes()).await;
    let _ = browser.shutdown().await;
    target
}
