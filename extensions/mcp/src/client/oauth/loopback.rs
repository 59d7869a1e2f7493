//! Signs a person in with the browser of this machine, which is redirected to a port of this machine.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::future::BoxFuture;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
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
/// waits for the browser's redirect on a port of this machine. Several servers may ask for a sign-in at the same time.
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
    expected: AwaitedRedirects,
}

/// The sign-ins that wait for their redirect, by the `state` in the URL of their page. The authorization server puts
/// this secret into the redirect.
#[derive(Clone, Default)]
struct AwaitedRedirects(Arc<Mutex<HashMap<String, oneshot::Sender<String>>>>);

impl AwaitedRedirects {
    /// Returns the query of the redirect with this state, once the redirect has come.
    fn query(&self, state: String) -> oneshot::Receiver<String> {
        let (sender, query) = oneshot::channel();
        let mut all = self.lock();
        all.retain(|_, waiting| !waiting.is_closed());
        all.insert(state, sender);
        query
    }

    /// Gives a query to the sign-in that waits for it. Returns `false` if there is none: the redirect has come too late
    /// or twice, or is forged.
    fn accept(&self, query: &str) -> bool {
        let waiting = state(&format!("{PATH}?{query}")).and_then(|it| self.lock().remove(&it));
        waiting.is_some_and(|waiting| waiting.send(query.to_owned()).is_ok())
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, oneshot::Sender<String>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
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
        let (show, expected) = (Box::new(show), AwaitedRedirects::default());
        Ok(Self { listener, redirect_uri, show, expected })
    }

    /// Answers the browser until the port fails. Each sign-in that waits does this for all others, too. Any program on
    /// this machine may connect; requests for other pages are ignored.
    async fn serve(&self) -> ToolError {
        loop {
            let browser = match self.listener.accept().await {
                Ok((browser, _)) => browser,
                Err(error) => {
                    let words = "the port for the browser's redirect cannot be used";
                    return ToolError::new("not_signed_in", words).caused_by(error);
                }
            };
            // A task, because the sign-in that accepts a connection may end before the connection does.
            let expected = self.expected.clone();
            tokio::spawn(async move {
                let _ = timeout(VISIT, visit(browser, &expected)).await;
            });
        }
    }
}

impl SignIn for Loopback {
    fn redirect_uri(&self) -> &str {
        &self.redirect_uri
    }

    fn sign_in(&self, request: SignInRequest) -> BoxFuture<'_, Result<String, ToolError>> {
        Box::pin(async move {
            let state = state(&request.url).ok_or_else(|| {
                let words = "the page of the authorization server has no `state`, by which its redirect is recognized";
                ToolError::new("not_signed_in", words)
            })?;
            let query = self.expected.query(state);
            (self.show)(&request);
            let came_back = async {
                tokio::select! {
                    Ok(query) = query => Ok(format!("{}?{query}", self.redirect_uri)),
                    error = self.serve() => Err(error),
                }
            };
            timeout(PATIENCE, came_back).await.unwrap_or_else(|_| {
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

/// Answers one request. If it is the redirect of a sign-in, gives its query to the sign-in.
async fn visit(mut browser: TcpStream, expected: &AwaitedRedirects) -> Option<()> {
    let mut request = Vec::new();
    while !request.windows(4).any(|it| it == b"\r\n\r\n") {
        if request.len() > LONGEST || browser.read_buf(&mut request).await.ok()? == 0 {
            return None;
        }
    }
    let text = std::str::from_utf8(&request).ok()?;
    let target = text.lines().next()?.strip_prefix("GET ")?.split(' ').next()?;
    let query = target.strip_prefix(PATH).and_then(|rest| rest.strip_prefix('?'));
    let (status, words) = match query.map(|query| expected.accept(query)) {
        Some(true) => ("200 OK", "Thank you. You can close this page."),
        Some(false) => ("400 Bad Request", "No sign-in waits for this page. Please sign in again."),
        None => ("404 Not Found", "There is nothing here."),
    };
    let answer = format!(
        "HTTP/1.1 {status}\r\ncontent-type: text/plain\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{words}",
        words.len()
    );
    // If the browser has disconnected, the query that it sent is still valid.
    browser.write_all(answer.as_bytes()).await.ok()?;
    browser.shutdown().await.ok()
}

/// Returns the parameter `state` of a URL, or of its path and query.
fn state(url: &str) -> Option<String> {
    let base = reqwest::Url::parse("http://127.0.0.1").ok()?;
    let url = base.join(url).ok()?;
    let mut parameters = url.query_pairs();
    parameters.find(|(name, _)| name == "state").map(|(_, state)| state.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lets a browser come back with this query, and returns the status of the answer.
    async fn come_back(loopback: &Loopback, query: &str) -> String {
        let address = loopback.listener.local_addr().unwrap();
        let mut stream = TcpStream::connect(address).await.unwrap();
        let request = format!("GET {PATH}?{query} HTTP/1.1\r\nhost: {address}\r\n\r\n");
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        answer.split(' ').nth(1).unwrap().to_owned()
    }

    fn request(server: &str) -> SignInRequest {
        let url = format!("https://login.example/authorize?client_id=x&state={server}%3D");
        SignInRequest { server: server.to_owned(), url }
    }

    #[tokio::test]
    async fn each_of_two_sign_ins_at_the_same_time_gets_its_own_redirect() {
        let loopback = Loopback::bind(0, |_| {}).await.unwrap();
        let browser = async {
            assert_eq!(come_back(&loopback, "code=0&state=forged").await, "400");
            assert_eq!(come_back(&loopback, "code=2&state=b%3d").await, "200");
            assert_eq!(come_back(&loopback, "code=2&state=b%3d").await, "400");
            assert_eq!(come_back(&loopback, "code=1&state=a=").await, "200");
        };
        let (a, b) = (loopback.sign_in(request("a")), loopback.sign_in(request("b")));
        let all = async { tokio::join!(a, b, browser) };
        let (a, b, ()) = timeout(Duration::from_secs(20), all).await.unwrap();
        assert!(a.unwrap().ends_with("?code=1&state=a="));
        assert!(b.unwrap().ends_with("?code=2&state=b%3d"));
    }

    /// A page that was loaded again waits in the queue of the port until the next sign-in.
    #[tokio::test]
    async fn a_redirect_of_an_earlier_sign_in_does_not_end_the_next_one() {
        let loopback = Loopback::bind(0, |_| {}).await.unwrap();
        let browser = async {
            tokio::join!(
                come_back(&loopback, "code=0&state=old"),
                come_back(&loopback, "code=1&state=a%3D")
            )
        };
        let both = async { tokio::join!(browser, loopback.sign_in(request("a"))) };
        let (_, signed_in) = timeout(Duration::from_secs(20), both).await.unwrap();
        assert!(signed_in.unwrap().ends_with("?code=1&state=a%3D"));
    }
}
