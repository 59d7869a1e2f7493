//! The client of a session, as tools use it: the client shows log messages, and puts questions to its user and to its
//! model.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use rmcp::model::{
    ClientCapabilities, ClientResult, CustomNotification, CustomRequest, ElicitationCapability,
    InputRequest, LoggingLevel, RootsCapabilities, SamplingCapability, ServerNotification,
    ServerRequest,
};
use rmcp::service::Peer;
use rmcp::{RoleServer, ServiceError};
use serde::Deserialize;
use serde_json::{Value, json};
use toolwright::{ErrorClass, ToolError};

use super::exchange::{Exchange, PATIENCE};
use crate::sent_request::SentRequest;

/// The client at the other end of a session, for tools that need to log messages or to ask questions.
///
/// To give the tools this service, declare it on the builder of the executor with `per_run::<ConnectedClient>()`, and
/// call [`McpServer::offer_client`](crate::McpServer::offer_client). A client declares which requests it can answer;
/// any other request fails with an error of the kind `unsupported_by_client`. The client's answers are untrusted.
///
/// A client of a revision before 2026-07-28 gets a request. A later client gets the question as the answer to its call,
/// and repeats the call with its own answer while the tool waits. A tool asks in the same way in both cases. Questions
/// that a tool asks concurrently, as with `futures::join!`, reach a later client together. Questions from a task that
/// the tool has spawned do not reach a later client.
///
/// ```
/// use serde_json::json;
/// use toolwright::{Executor, Registry, ToolError, tool};
/// use toolwright_mcp::{ElicitationOutcome, LogLevel, ConnectedClient, McpServer};
///
/// /// Greets the user by name.
/// #[tool(effect = read)]
/// async fn greet(client: &ConnectedClient) -> Result<String, ToolError> {
///     client.log(LogLevel::Info, "the user is asked for a name").await;
///     let schema = json!({"type": "object", "properties": {"name": {"type": "string"}}});
///     Ok(match client.elicit("What is your name?", schema).await? {
///         ElicitationOutcome::Accepted(answer) => format!("hello {}", answer["name"]),
///         // It was declined or cancelled.
///         _ => "hello".to_owned(),
///     })
/// }
///
/// let executor = Executor::builder(Registry::of([GREET])?).per_run::<ConnectedClient>().build()?;
/// let server = McpServer::new(executor).offer_client();
/// # let _ = server;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Default)]
pub struct ConnectedClient {
    session: Arc<Mutex<Inner>>,
    /// The name in `inputRequests` of the next question.
    key: Option<Arc<str>>,
}

#[derive(Default)]
struct Inner {
    peer: Option<Peer<RoleServer>>,
    /// The minimum level of the log messages that the client wants; all levels until the client sets one.
    least: Option<LogLevel>,
}

/// The severity of a log message, with the protocol's levels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the names are those of syslog")]
pub enum LogLevel {
    Debug,
    Info,
    Notice,
    Warning,
    Error,
    Critical,
    Alert,
    Emergency,
}

/// A folder or file that a client lets servers work in.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct Root {
    /// The URI of the root, such as `file:///home/ada/project`.
    pub uri: String,
    /// The client's name for the root.
    pub name: Option<String>,
}

/// How the user of a client reacted to a question.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ElicitationOutcome {
    /// The user answered. The client may not have checked the answer against the schema.
    Accepted(Value),
    /// The user declined.
    Declined,
    /// The user closed the question without an answer.
    Cancelled,
}

impl ConnectedClient {
    /// Gives the next question to this client a name in `inputRequests`. A client of the revision 2026-07-28 that knows
    /// the tool may use this name to send the answer before the question. Questions without a name are numbered.
    ///
    /// ```
    /// # use serde_json::json;
    /// # use toolwright::{ToolError, tool};
    /// # use toolwright_mcp::{ElicitationOutcome, ConnectedClient};
    /// /// Greets the user by name.
    /// #[tool(effect = read)]
    /// async fn greet(client: &ConnectedClient) -> Result<String, ToolError> {
    ///     let schema = json!({"type": "object", "properties": {"name": {"type": "string"}}});
    ///     Ok(match client.question("user_name").elicit("What is your name?", schema).await? {
    ///         ElicitationOutcome::Accepted(answer) => format!("hello {}", answer["name"]),
    ///         _ => "hello".to_owned(),
    ///     })
    /// }
    /// ```
    #[must_use]
    pub fn question(&self, name: impl Into<String>) -> Self {
        Self { session: Arc::clone(&self.session), key: Some(name.into().into()) }
    }

    /// Sends the client a log message, unless the client does not want this level. A client of the revision 2026-07-28
    /// names the minimum level in each request, and gets no messages if it names none.
    pub async fn log(&self, level: LogLevel, message: impl Into<Value>) {
        let (peer, is_wanted) = match Exchange::current() {
            Some(exchange) => {
                let Some(attending) = exchange.attending() else { return };
                (Some(attending.peer), attending.log.is_some_and(|least| level >= least))
            }
            None => {
                let inner = self.lock();
                (inner.peer.clone(), inner.least.is_none_or(|least| level >= least))
            }
        };
        let Some(peer) = peer.filter(|_| is_wanted) else { return };
        let params = json!({"level": level.name(), "data": message.into()});
        let message = CustomNotification::new("notifications/message", Some(params));
        // A failure means that the client has disconnected, so the message is not needed.
        let _ = peer.send_notification(ServerNotification::CustomNotification(message)).await;
    }

    /// Asks the user of the client, with a form for the properties of a flat JSON schema.
    ///
    /// # Errors
    /// When the client cannot ask a user, refuses the question, or gives no valid answer to it.
    pub async fn elicit(
        &self,
        message: &str,
        schema: Value,
    ) -> Result<ElicitationOutcome, ToolError> {
        let params = json!({"message": message, "requestedSchema": schema});
        let answer = self.ask(Capability::Elicitation, params).await?;
        match answer["action"].as_str() {
            Some("accept") => Ok(ElicitationOutcome::Accepted(answer["content"].clone())),
            Some("decline") => Ok(ElicitationOutcome::Declined),
            Some("cancel") => Ok(ElicitationOutcome::Cancelled),
            _ => Err(odd("elicitation/create")),
        }
    }

    /// Asks the model of the client (`sampling/createMessage`), with the parameters and the result in the protocol's form.
    ///
    /// # Errors
    /// When the client cannot ask a model, refuses the request, or does not answer.
    pub async fn sample(&self, params: Value) -> Result<Value, ToolError> {
        self.ask(Capability::Sampling, params).await
    }

    /// Asks the client in which folders servers may work (`roots/list`).
    ///
    /// # Errors
    /// When the client does not support roots, refuses the request, or gives no valid answer.
    pub async fn roots(&self) -> Result<Vec<Root>, ToolError> {
        let answer = self.ask(Capability::Roots, json!({})).await?;
        Deserialize::deserialize(&answer["roots"])
            .map_err(|error| odd("roots/list").caused_by(error))
    }

    /// Reports whether the client can ask its user.
    #[must_use]
    pub fn can_elicit(&self) -> bool {
        self.can(Capability::Elicitation)
    }

    /// Reports whether the client can ask its model.
    #[must_use]
    pub fn can_sample(&self) -> bool {
        self.can(Capability::Sampling)
    }

    fn can(&self, capability: Capability) -> bool {
        match Exchange::current() {
            Some(exchange) => capability.is_in(exchange.capabilities()),
            None => self.session_with(capability).is_some(),
        }
    }

    async fn ask(&self, capability: Capability, params: Value) -> Result<Value, ToolError> {
        let method = capability.method();
        if let Some(exchange) = Exchange::current() {
            if !capability.is_in(exchange.capabilities()) {
                exchange.lacks(capability.alone());
                return Err(unsupported(capability));
            }
            let request = json!({"method": method, "params": params});
            let request: InputRequest = serde_json::from_value(request).map_err(|error| {
                ToolError::new("wrong_question", format!("the question is not a valid `{method}`"))
                    .caused_by(error)
            })?;
            return exchange.ask(self.key.as_deref(), method, request).await;
        }
        let Some(peer) = self.session_with(capability) else { return Err(unsupported(capability)) };
        let request = ServerRequest::CustomRequest(CustomRequest::new(method, Some(params)));
        // If the tool stops waiting, for instance because it is cancelled, the question is cancelled too.
        let asked = async { SentRequest::send(&peer, request).await?.answer().await };
        let Ok(answer) = tokio::time::timeout(PATIENCE, asked).await else {
            return Err(ToolError::new("client_gone", unanswered(method)));
        };
        match answer {
            Ok(ClientResult::EmptyResult(_)) => Err(odd(method)),
            Ok(answer) => serde_json::to_value(answer).map_err(ToolError::internal),
            Err(ServiceError::McpError(error)) => {
                let words = format!("the client refused `{method}`");
                Err(ToolError::new("refused_by_client", words)
                    .class(ErrorClass::Final)
                    .caused_by(error.message))
            }
            Err(error) => Err(ToolError::new("client_gone", unanswered(method)).caused_by(error)),
        }
    }

    /// Returns the client of a session, if the client supports requests of this kind.
    fn session_with(&self, capability: Capability) -> Option<Peer<RoleServer>> {
        let peer = self.lock().peer.clone()?;
        let info = peer.peer_info()?;
        (info.protocol_version.has_initialize() && capability.is_in(&info.capabilities))
            .then_some(peer)
    }

    pub(super) fn connect(&self, peer: &Peer<RoleServer>) {
        self.lock().peer = Some(peer.clone());
    }

    pub(super) fn want(&self, level: LoggingLevel) {
        self.lock().least = Some(LogLevel::of(level));
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Inner> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The kinds of requests that a client may declare to support.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Capability {
    Elicitation,
    Sampling,
    Roots,
}

impl Capability {
    fn method(self) -> &'static str {
        match self {
            Self::Elicitation => "elicitation/create",
            Self::Sampling => "sampling/createMessage",
            Self::Roots => "roots/list",
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Elicitation => "elicitation",
            Self::Sampling => "sampling",
            Self::Roots => "roots",
        }
    }

    fn is_in(self, declared: &ClientCapabilities) -> bool {
        match self {
            Self::Elicitation => declared.elicitation.is_some(),
            Self::Sampling => declared.sampling.is_some(),
            Self::Roots => declared.roots.is_some(),
        }
    }

    /// Makes capabilities that consist of this capability only.
    fn alone(self) -> ClientCapabilities {
        let mut alone = ClientCapabilities::default();
        match self {
            Self::Elicitation => alone.elicitation = Some(ElicitationCapability::default()),
            Self::Sampling => alone.sampling = Some(SamplingCapability::default()),
            Self::Roots => alone.roots = Some(RootsCapabilities::default()),
        }
        alone
    }
}

impl LogLevel {
    fn name(self) -> &'static str {
        match self {
            Self::Debug => "debug",
            Self::Info => "info",
            Self::Notice => "notice",
            Self::Warning => "warning",
            Self::Error => "error",
            Self::Critical => "critical",
            Self::Alert => "alert",
            Self::Emergency => "emergency",
        }
    }

    pub(super) fn of(level: LoggingLevel) -> Self {
        match level {
            LoggingLevel::Debug => Self::Debug,
            LoggingLevel::Info => Self::Info,
            LoggingLevel::Notice => Self::Notice,
            LoggingLevel::Warning => Self::Warning,
            LoggingLevel::Error => Self::Error,
            LoggingLevel::Critical => Self::Critical,
            LoggingLevel::Alert => Self::Alert,
            LoggingLevel::Emergency => Self::Emergency,
        }
    }
}

impl fmt::Debug for ConnectedClient {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_connected = self.lock().peer.is_some();
        formatter.debug_struct("ConnectedClient").field("is_connected", &is_connected).finish()
    }
}

/// The error kind for questions that the client does not support.
pub(super) const UNSUPPORTED: &str = "unsupported_by_client";

fn unsupported(capability: Capability) -> ToolError {
    let words = format!("the client of this call does not offer {}", capability.name());
    ToolError::new(UNSUPPORTED, words)
        .class(ErrorClass::NotStarted { retry_after: None })
        .hint("go on without it")
}

fn unanswered(method: &str) -> String {
    format!("the client did not answer `{method}`")
}

fn odd(method: &str) -> ToolError {
    ToolError::new(
        "wrong_answer",
        format!("the client's answer to `{method}` does not match the protocol"),
    )
}
