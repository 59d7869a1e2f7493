//! Checks one request: finds its user and its session, and refuses the request if it is not allowed.

use std::convert::Infallible;
use std::fmt;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};
use std::time::Duration;

use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt as _, Empty, Full, LengthLimitError, Limited};
use hyper::body::{Body, Bytes};
use hyper::header::{CONTENT_TYPE, HeaderMap, HeaderValue, ORIGIN, WWW_AUTHENTICATE};
use hyper::{Method, Request, Response, StatusCode};
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use toolwright::CancellationToken;

use super::challenge::Challenge;
use super::cross_origin;
use super::runs::{self, Runs};
use super::sessions::{Room, SWEEP, Sessions};
use super::token::{TokenRefusal, bearer};
use super::under_way::UnderWay;
use crate::server::handler::Handler;
use crate::server::session::Session;
use crate::server::{McpServer, ServeError};

/// The path of the MCP endpoint.
pub(super) const PATH: &str = "/mcp";

/// The paths at which clients read which authorization servers issue tokens; the second belongs to [`PATH`].
const METADATA: [&str; 2] =
    ["/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp"];

/// The maximum number of sessions, and also of users whose requests have no session.
const MOST_SESSIONS: usize = 1024;

/// The maximum number of requests of one user in progress, including those that stay open for notifications: a quarter of the
/// connections.
const MOST_UNDER_WAY: usize = 128;

/// The maximum length of a request's body, in bytes.
const LONGEST_BODY: usize = 4 * 1024 * 1024;

/// The maximum time for a client to send the body of a request.
const BODY: Duration = Duration::from_secs(30);

/// The first revision of the protocol that has no sessions.
const WITHOUT_SESSIONS: &str = "2026-07-28";

const SESSION_ID: &str = "mcp-session-id";
const REVISION: &str = "mcp-protocol-version";

pub(super) type Answer = BoxBody<Bytes, Infallible>;

/// The reason why the body of a request cannot be read.
pub(super) type BodyError = Box<dyn std::error::Error + Send + Sync>;

/// The user who sends a request; `None` if no token is checked.
pub(super) type User = Option<String>;

pub(super) struct Gate {
    /// The server, which is shared because each request has a handler of its own.
    server: Arc<McpServer>,
    /// The path of the protocol; `None` for every path.
    path: Option<&'static str>,
    config: StreamableHttpServerConfig,
    /// The settings for requests without a session, which never begin a session.
    single: StreamableHttpServerConfig,
    sessions: Sessions,
    under_way: UnderWay,
    /// The runs that serve requests without a session, one for each user.
    runs: Mutex<Runs>,
    ended: CancellationToken,
}

impl Gate {
    pub(super) fn new(
        server: McpServer,
        address: SocketAddr,
        path: Option<&'static str>,
        ended: CancellationToken,
    ) -> Result<Arc<Self>, ServeError> {
        // Report now what a session lacks, and not when the first client connects.
        Session::start(&server.for_anybody(), ended.child_token(), None)?;
        let mut config = StreamableHttpServerConfig::default()
            .with_allowed_hosts(server.http.hosts(address))
            .with_allowed_origins(server.http.origins(address))
            .enforce_origin_validation();
        config.cancellation_token = ended.clone();
        config.max_request_body_bytes = LONGEST_BODY;
        let single = config.clone().with_legacy_session_mode(false);
        let (sessions, runs, server) = (Sessions::new(), Mutex::default(), Arc::new(server));
        let under_way = UnderWay::default();
        let gate =
            Arc::new(Self { server, path, config, single, sessions, under_way, runs, ended });
        tokio::spawn(sweep(Arc::downgrade(&gate), gate.ended.clone()));
        Ok(gate)
    }

    pub(super) async fn answer<B>(&self, request: Request<B>) -> Response<Answer>
    where
        B: Body<Data: Send, Error: Into<BodyError>> + Send + 'static,
    {
        let site = cross_origin::allowed(request.headers(), &self.config.allowed_origins);
        // A browser sends `Origin` with every preflight, so `OPTIONS` without it is handled like any other request.
        let asks = request.method() == Method::OPTIONS && request.headers().contains_key(ORIGIN);
        let mut response = match (&site, asks) {
            // A CORS preflight has no token; the browser sends the token with the actual request.
            (Some(_), true) => nothing(),
            (None, true) => refusal(
                StatusCode::FORBIDDEN,
                "the pages of this site may not call the server; it allows them with `.origin(…)`",
            ),
            (_, false) => self.check_request(request).await,
        };
        if let Some(site) = site {
            cross_origin::readable(response.headers_mut(), site);
            if asks {
                cross_origin::sendable(response.headers_mut());
            }
        }
        response
    }

    async fn check_request<B>(&self, request: Request<B>) -> Response<Answer>
    where
        B: Body<Data: Send, Error: Into<BodyError>> + Send + 'static,
    {
        let path = request.uri().path();
        if METADATA.contains(&path) && request.method() == Method::GET {
            return self.metadata();
        }
        if self.path.is_some_and(|own| own != path) {
            return refusal(
                StatusCode::NOT_FOUND,
                "there is nothing here; the protocol is at /mcp",
            );
        }
        let user = match self.user(request.headers()).await {
            Ok(user) => user,
            Err(refused) => return self.refuse_unauthorized(refused),
        };
        let Some(name) = &user else { return self.pass(request, user).await };
        let Some(place) = self.under_way.begin(name, MOST_UNDER_WAY) else {
            let words = format!(
                "{MOST_UNDER_WAY} requests of yours are in progress, which is the maximum; end one and try again"
            );
            return refusal(StatusCode::TOO_MANY_REQUESTS, &words);
        };
        let answer = self.pass(request, user).await;
        // The request is in progress until its answer has been sent.
        answer.map(|body| body.map_frame(move |frame| (frame, &place).0).boxed())
    }

    /// Ends every session, and the runs for requests without a session. The calls that have not begun are then cancelled.
    pub(super) async fn end(&self) {
        let mut all = lock(&self.runs).drain();
        all.extend(self.sessions.drain());
        for session in all {
            session.end().await;
        }
    }

    async fn user(&self, headers: &HeaderMap) -> Result<User, Option<TokenRefusal>> {
        let Some(check) = &self.server.http.tokens else { return Ok(None) };
        let token = bearer(headers).ok_or(None)?;
        check.check(token).await.map(Some).map_err(Some)
    }

    async fn pass<B>(&self, request: Request<B>, user: User) -> Response<Answer>
    where
        B: Body<Data: Send, Error: Into<BodyError>> + Send + 'static,
    {
        let header = |headers: &HeaderMap, name| -> Option<String> {
            headers.get(name)?.to_str().ok().map(str::to_owned)
        };
        let session = header(request.headers(), SESSION_ID);
        let revision = header(request.headers(), REVISION);
        let is_single = revision.is_some_and(|it| *it >= *WITHOUT_SESSIONS);
        if let Some(session) = &session
            && !self.sessions.is_used_by(session, &user)
        {
            // The answer is the same as for an unknown session, so that other users do not learn that the session
            // exists.
            return refusal(StatusCode::NOT_FOUND, "there is no such session");
        }
        let config = if is_single { &self.single } else { &self.config };
        let run = match (is_single, &session) {
            (true, _) => match self.run(&user) {
                Ok(run) => Some(run),
                Err(refused) => return *refused,
            },
            (false, None) => match self.sessions.room(&user, MOST_SESSIONS).await {
                Room::Free => None,
                Room::Full => {
                    let words = "there are too many sessions; try again later";
                    return refusal(StatusCode::SERVICE_UNAVAILABLE, words);
                }
                Room::FullOfTheirs => {
                    let words = "you have too many sessions; end one of them and try again";
                    return refusal(StatusCode::TOO_MANY_REQUESTS, words);
                }
            },
            (false, Some(_)) => None,
        };
        let (server, ended, of) = (Arc::clone(&self.server), self.ended.clone(), user.clone());
        let begun = Arc::new(OnceLock::new());
        let begins = Arc::clone(&begun);
        let handler = move || {
            let session = match &run {
                Some(run) => return Ok(Handler::new(Arc::clone(&server), Arc::clone(run))),
                None => Session::start(&server, ended.child_token(), of.as_deref()),
            };
            let session = Arc::new(session.map_err(|error| {
                if matches!(error, ServeError::NoProfile { .. }) {
                    let _ = begins.set(Err(error.to_string()));
                }
                std::io::Error::other(error)
            })?);
            let _ = begins.set(Ok(Arc::downgrade(&session)));
            Ok(Handler::new(Arc::clone(&server), session).ending())
        };
        let service = StreamableHttpService::new(handler, self.sessions.manager(), config.clone());
        let is_end = request.method() == Method::DELETE;
        let (head, body) = request.into_parts();
        let body = match tokio::time::timeout(BODY, Limited::new(body, LONGEST_BODY).collect())
            .await
        {
            Ok(Ok(body)) => Full::new(body.to_bytes()),
            Ok(Err(error)) if error.is::<LengthLimitError>() => {
                let words =
                    format!("the body is longer than {LONGEST_BODY} bytes, the most that is read");
                return refusal(StatusCode::PAYLOAD_TOO_LARGE, &words);
            }
            Ok(Err(error)) => {
                return refusal(StatusCode::BAD_REQUEST, &format!("the body was cut off: {error}"));
            }
            Err(_) => {
                let words = format!(
                    "the body did not arrive within {} s; send the request again",
                    BODY.as_secs()
                );
                return refusal(StatusCode::REQUEST_TIMEOUT, &words);
            }
        };
        let mut response = service.handle(Request::from_parts(head, body)).await;
        // The library answers 500 to every session that cannot begin; this one is refused because of its user.
        if let Some(Err(words)) = begun.get() {
            return refusal(StatusCode::FORBIDDEN, words);
        }
        if is_end && response.status() == StatusCode::ACCEPTED {
            // `rmcp` answers 202, for a session that will end, but the session has already ended.
            response = nothing();
        }
        if let Some(Ok(begun)) = begun.get()
            && let Some(id) = response.headers().get(SESSION_ID).and_then(|it| it.to_str().ok())
        {
            self.sessions.add(id.to_owned(), user, begun.clone());
        }
        response
    }

    /// Returns the run for a user's requests without a session.
    fn run(&self, user: &User) -> Result<Arc<Session>, Box<Response<Answer>>> {
        let mut runs = lock(&self.runs);
        if let Some(run) = runs.get(user) {
            if run.has_profile_of(&self.server) {
                return Ok(run);
            }
            // The calls of the run may be of tools that the user's present profile does not have.
            runs.remove(user);
            tokio::spawn(async move { run.end().await });
        }
        match runs.room(MOST_SESSIONS) {
            runs::Room::Free(None) => {}
            runs::Room::Free(Some(idle)) => {
                tokio::spawn(async move { idle.end().await });
            }
            runs::Room::Full => {
                let words = "there is no room for another user, because the calls of all others run or wait for a person; try again later";
                return Err(Box::new(refusal(StatusCode::SERVICE_UNAVAILABLE, words)));
            }
        }
        let session = Session::start(&self.server, self.ended.child_token(), user.as_deref());
        let session = session.map_err(|error| {
            Box::new(match error {
                ServeError::NoProfile { .. } => refusal(StatusCode::FORBIDDEN, &error.to_string()),
                error => {
                    tracing::error!(%error, "a run could not start");
                    refusal(StatusCode::INTERNAL_SERVER_ERROR, "the call cannot be made")
                }
            })
        })?;
        let session = Arc::new(session);
        runs.insert(user.clone(), Arc::clone(&session));
        Ok(session)
    }

    fn metadata(&self) -> Response<Answer> {
        let Some(resource) = &self.server.http.resource else {
            return refusal(StatusCode::NOT_FOUND, "there is no metadata of this server");
        };
        let metadata = serde_json::json!({
            "resource": resource.url,
            "authorization_servers": resource.servers,
            "bearer_methods_supported": ["header"],
            "resource_name": self.server.name,
        });
        let mut response = Response::new(Full::new(Bytes::from(metadata.to_string())).boxed());
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        response
    }

    fn refuse_unauthorized(&self, refused: Option<TokenRefusal>) -> Response<Answer> {
        let challenge = Challenge::default();
        let (status, challenge) = match &refused {
            None => (StatusCode::UNAUTHORIZED, challenge),
            Some(TokenRefusal::Invalid) => {
                (StatusCode::UNAUTHORIZED, challenge.with("error", "invalid_token"))
            }
            Some(TokenRefusal::MissingScope(scope)) => {
                let challenge = challenge.with("error", "insufficient_scope").with("scope", scope);
                (StatusCode::FORBIDDEN, challenge)
            }
            Some(TokenRefusal::Unavailable) => {
                return refusal(StatusCode::SERVICE_UNAVAILABLE, "the token cannot be checked now");
            }
        };
        let challenge = match &self.server.http.resource {
            Some(resource) => challenge.with("resource_metadata", resource.metadata()),
            None => challenge,
        };
        let words = refused.map_or("a bearer token is needed".to_owned(), |it| it.to_string());
        let mut response = refusal(status, &words);
        response.headers_mut().insert(WWW_AUTHENTICATE, challenge.header());
        response
    }
}

impl fmt::Debug for Gate {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Gate").field("server", &self.server).finish_non_exhaustive()
    }
}

/// Ends idle sessions periodically, as long as the server exists.
async fn sweep(gate: Weak<Gate>, ended: CancellationToken) {
    while ended.run_until_cancelled(tokio::time::sleep(SWEEP)).await.is_some() {
        let Some(gate) = gate.upgrade() else { return };
        gate.sessions.end_idle().await;
    }
}

fn refusal(status: StatusCode, words: &str) -> Response<Answer> {
    let mut response = Response::new(Full::new(Bytes::from(words.to_owned())).boxed());
    *response.status_mut() = status;
    response
}

fn nothing() -> Response<Answer> {
    let mut response = Response::new(Empty::new().boxed());
    *response.status_mut() = StatusCode::NO_CONTENT;
    response
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
