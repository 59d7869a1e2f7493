//! The server as a service within another HTTP server, which provides the listener, TLS and the other routes.

use std::convert::Infallible;
use std::fmt;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures::future::BoxFuture;
use hyper::body::Body;
use hyper::{Request, Response};
use toolwright::CancellationToken;

use super::HttpServer;
use super::gate::{self, BodyError, Gate};
use crate::server::ServeError;

/// The server as a [`tower_service::Service`], cheap to clone: axum accepts it in `route_service("/mcp", service)`.
/// Made by [`HttpServer::mount`].
///
/// The service answers at any path at which it is mounted. If the application also routes
/// `/.well-known/oauth-protected-resource` to it, the service answers there with the
/// [metadata](crate::McpServer::protected_resource). Each request has the usual limits; only the number of connections
/// and the time to send the head of a request are up to the other server. When the last clone is dropped, all sessions
/// end.
#[derive(Clone)]
pub struct McpService(Arc<MountedServer>);

struct MountedServer {
    gate: Arc<Gate>,
    ended: CancellationToken,
}

impl HttpServer {
    /// Makes a service of the server, for an HTTP server of the application. That server should listen at the address
    /// given to [`McpServer::http`](crate::McpServer::http), because this address decides which checks apply. Call this
    /// method within a tokio runtime.
    ///
    /// # Errors
    /// When the executor cannot serve a session.
    ///
    /// ```
    /// use toolwright::{Executor, Registry};
    /// use toolwright_mcp::McpServer;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let server = McpServer::new(Executor::builder(Registry::empty()).build()?);
    /// let service = server.http("127.0.0.1:8080".parse()?)?.mount()?;
    /// // axum: Router::new().route_service("/mcp", service)
    /// service.end().await;
    /// # Ok(())
    /// # }
    /// ```
    pub fn mount(self) -> Result<McpService, ServeError> {
        let ended = CancellationToken::new();
        let gate = Gate::new(self.server, self.address, None, ended.clone())?;
        Ok(McpService(Arc::new(MountedServer { gate, ended })))
    }
}

impl McpService {
    /// Ends every session, and cancels the calls of the sessions.
    pub async fn end(&self) {
        self.0.ended.cancel();
        self.0.gate.end().await;
    }
}

impl Drop for MountedServer {
    fn drop(&mut self) {
        self.ended.cancel();
    }
}

impl<B> tower_service::Service<Request<B>> for McpService
where
    B: Body<Data: Send, Error: Into<BodyError>> + Send + 'static,
{
    type Response = Response<gate::Answer>;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Self::Response, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let gate = Arc::clone(&self.0.gate);
        Box::pin(async move { Ok(gate.answer(request).await) })
    }
}

impl fmt::Debug for McpService {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("McpService").field(&self.0.gate).finish()
    }
}
