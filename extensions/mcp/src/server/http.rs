//! The server over Streamable HTTP: listens at an address, accepts connections, and ends them.

mod challenge;
mod cross_origin;
mod gate;
mod mount;
mod runs;
mod sessions;
mod settings;
mod token;
mod under_way;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;
use toolwright::{BuildError, BuildProblem, CancellationToken};

use self::gate::Gate;
pub use self::mount::McpService;
pub(super) use self::settings::Settings;
pub use self::token::{TokenCheck, TokenRefusal};
use super::{McpServer, ServeError};

/// The maximum number of open connections; further ones wait.
const MOST_CONNECTIONS: usize = 512;

/// The maximum time for a client to send the head of a request.
const HEAD: Duration = Duration::from_secs(10);

/// The pause before the next connection is accepted when the system has run out of file descriptors.
const REST: Duration = Duration::from_millis(100);

impl McpServer {
    /// Serves many clients over Streamable HTTP, at the path `/mcp` of this address; port 0 takes any free port.
    ///
    /// A request whose `Host` or `Origin` is not allowed is refused, which stops web pages that point their own host
    /// name at this address (DNS rebinding). On loopback, only the names of this machine are allowed.
    ///
    /// # Errors
    /// When other machines can reach the address, and the server has no [check of tokens](Self::check_tokens) or no
    /// [name](Self::host) under which clients connect.
    ///
    /// ```
    /// use toolwright::{Executor, Registry};
    /// use toolwright_mcp::McpServer;
    ///
    /// let server = McpServer::new(Executor::builder(Registry::empty()).build()?);
    /// assert!(server.clone().http("127.0.0.1:0".parse().unwrap()).is_ok());
    /// let error = server.http("0.0.0.0:80".parse().unwrap()).unwrap_err();
    /// assert!(error.to_string().contains("check_tokens"));
    /// # Ok::<(), toolwright::BuildError>(())
    /// ```
    pub fn http(self, address: SocketAddr) -> Result<HttpServer, BuildError> {
        let mut problems = Vec::new();
        if !address.ip().is_loopback() {
            let mut problem = |why: &str| {
                let what = format!("http://{address}");
                problems.push(BuildProblem::Unavailable { what, why: why.to_owned() });
            };
            if self.http.tokens.is_none() {
                problem(
                    "other machines reach it, and nothing checks who calls; give a check with `.check_tokens(…)`, or take a loopback address",
                );
            }
            if self.http.hosts.is_empty() {
                problem(
                    "other machines reach it, and the name by which they do is not known; give it with `.host(…)`",
                );
            }
        }
        let mut problems = problems.into_iter();
        let Some(first) = problems.next() else { return Ok(HttpServer { server: self, address }) };
        let mut error = BuildError::of(first);
        error.problems.extend(problems);
        Err(error)
    }

    /// Accepts only clients with a bearer token that this check accepts, each as the user whom the check names. A user cannot
    /// reach the sessions of another user.
    #[must_use]
    pub fn check_tokens(mut self, check: impl TokenCheck) -> Self {
        self.http.tokens = Some(Arc::new(check));
        self
    }

    /// Lets clients without a token find out where to get one (RFC 9728): sets the URL by which they reach this server,
    /// and the authorization servers whose tokens the [check](Self::check_tokens) accepts.
    #[must_use]
    pub fn protected_resource<S: Into<String>>(
        mut self,
        url: impl Into<String>,
        authorization_servers: impl IntoIterator<Item = S>,
    ) -> Self {
        let servers = authorization_servers.into_iter().map(Into::into).collect();
        self.http.resource = Some(settings::Resource { url: url.into(), servers });
        self
    }

    /// Allows a name, with or without a port, by which clients reach this server (`Host`). On loopback, the names of this
    /// machine are allowed anyway.
    #[must_use]
    pub fn host(mut self, host: impl Into<String>) -> Self {
        self.http.hosts.push(host.into());
        self
    }

    /// Allows the pages of a site to call this server, such as `https://app.example.com:443` (`Origin`). On loopback, the
    /// server's own address is allowed anyway.
    #[must_use]
    pub fn origin(mut self, origin: impl Into<String>) -> Self {
        self.http.origins.push(origin.into());
        self
    }
}

/// A server for many clients over HTTP. Made by [`McpServer::http`].
#[derive(Debug)]
pub struct HttpServer {
    server: McpServer,
    address: SocketAddr,
}

impl HttpServer {
    /// Listens at the address. Clients can connect from now on; [`serve_until`](BoundServer::serve_until) answers them.
    ///
    /// # Errors
    /// When the server cannot listen at the address, or the executor cannot serve a session.
    pub async fn bind(self) -> Result<BoundServer, ServeError> {
        let problem = |source| ServeError::Address { address: self.address, source };
        let listener = TcpListener::bind(self.address).await.map_err(problem)?;
        let address = listener.local_addr().map_err(problem)?;
        let ended = CancellationToken::new();
        let gate = Gate::new(self.server, address, Some(gate::PATH), ended.clone())?;
        Ok(BoundServer { listener, address, gate, ended })
    }
}

/// A server that listens at its address.
#[derive(Debug)]
pub struct BoundServer {
    listener: TcpListener,
    address: SocketAddr,
    gate: Arc<Gate>,
    ended: CancellationToken,
}

impl BoundServer {
    /// Returns the address at which the server listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the URL to which clients on this machine connect.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}{}", self.address, gate::PATH)
    }

    /// Serves clients until the token is cancelled; then every session ends, and calls that have not begun are cancelled.
    pub async fn serve_until(self, ended: CancellationToken) {
        // Ends the sessions also when this future is dropped.
        let _ending = self.ended.clone().drop_guard();
        let room = Arc::new(Semaphore::new(MOST_CONNECTIONS));
        let mut connections = JoinSet::new();
        loop {
            let accepted = tokio::select! {
                () = ended.cancelled() => break,
                accepted = accept(&self.listener, &room) => accepted,
                Some(_) = connections.join_next() => continue,
            };
            match accepted {
                Ok((stream, place)) => {
                    connections.spawn(connection(stream, Arc::clone(&self.gate), place));
                }
                Err(error) => {
                    tracing::warn!(%error, "a connection could not be accepted");
                    tokio::time::sleep(REST).await;
                }
            }
        }
        self.ended.cancel();
        connections.shutdown().await;
        self.gate.end().await;
    }
}

async fn accept(
    listener: &TcpListener,
    room: &Arc<Semaphore>,
) -> std::io::Result<(TcpStream, OwnedSemaphorePermit)> {
    let place = Arc::clone(room).acquire_owned().await.map_err(std::io::Error::other)?;
    Ok((listener.accept().await?.0, place))
}

async fn connection(stream: TcpStream, gate: Arc<Gate>, _place: OwnedSemaphorePermit) {
    // An answer is written in several pieces. Without this option, the system holds the later ones back until the client
    // has acknowledged the first, which takes it 40 ms. A connection without it works, too.
    let _ = stream.set_nodelay(true);
    let answer = service_fn(move |request| {
        let gate = Arc::clone(&gate);
        async move { Ok::<_, std::convert::Infallible>(gate.answer(request).await) }
    });
    let mut served = http1::Builder::new();
    served.timer(TokioTimer::new()).header_read_timeout(HEAD);
    if let Err(error) = served.serve_connection(TokioIo::new(stream), answer).await {
        // A client may disconnect in the middle of a stream, so this is not an error.
        tracing::debug!(%error, "a connection has ended");
    }
}
