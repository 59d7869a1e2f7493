//! The client of a session, as a tool sees it: it shows log messages, asks its user, and asks its model.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use rmcp::model::{
    ClientCapabilities, ClientResult, CustomNotification, CustomRequest, LoggingLevel,
    ServerNotification, ServerRequest,
};
use rmcp::service::Peer;
use rmcp::{RoleServer, ServiceError};
use serde_json::{Value, json};
use toolwright::{Class, ToolError};

/// The client at the other end of a session, for tools that need more of it than to be called.
///
/// Each run of a session brings one where the server [offers it](crate::McpServer::offer_client), and the executor declares
/// it with `per_run::<McpClient>()`. What the client can do, it has said when the session began; a request that it cannot
/// answer is an error of the kind `unsupported_by_client`. What it answers is untrusted.
///
/// ```
/// use serde_json::json;
/// use toolwright::{Executor, Registry, ToolError, tool};
/// use toolwright_mcp::{Elicited, LogLevel, McpClient, McpServer};
///
/// /// Greets the user by name.
/// #[tool(effect = read)]
/// async fn greet(client: &McpClient) -> Result<String, ToolError> {
///     client.log(LogLevel::Info, "the user is asked for a name").await;
///     let schema = json!({"type": "object", "properties": {"name": {"type": "string"}}});
///     Ok(match client.elicit("What is your name?", schema).await? {
///         Elicited::Accepted(answer) => format!("hello {}", answer["name"]),
///         // It was declined or cancelled.
///         _ => "hello".to_owned(),
///     })
/// }
///
/// let executor = Executor::builder(Registry::of([GREET])?).per_run::<McpClient>().build()?;
/// let server = McpServer::new(executor).offer_client();
/// # let _ = server;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Default)]
pub struct McpClient(Arc<Mutex<Inner>>);

#[derive(Default)]
struct Inner {
    peer: Option<Peer<RoleServer>>,
    /// The least level that the client wants; all until it says so.
    least: Option<LogLevel>,
}

/// How much a log message matters, as the protocol has it.
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

/// What the user of a client did with a question.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Elicited {
    /// Answered it; the client has not necessarily checked the answer against the schema.
    Accepted(Value),
    /// Said no.
    Declined,
    /// Closed it without an answer.
    Cancelled,
}

impl McpClient {
    /// Shows the client a message, unless it wants none of this level.
    pub async fn log(&self, level: LogLevel, message: impl Into<Value>) {
        let (peer, least) = {
            let inner = self.lock();
            (inner.peer.clone(), inner.least)
        };
        let Some(peer) = peer.filter(|_| least.is_none_or(|least| level >= least)) else { return };
        let params = json!({"level": level.name(), "data": message.into()});
        let message = CustomNotification::new("notifications/message", Some(params));
        // A client that is gone reads no log.
        let _ = peer.send_notification(ServerNotification::CustomNotification(message)).await;
    }

    /// Asks the user of the client, by a form of the properties of a flat JSON schema.
    ///
    /// # Errors
    /// When the client has no user to ask, or does not answer the question.
    pub async fn elicit(&self, message: &str, schema: Value) -> Result<Elicited, ToolError> {
        let params = json!({"message": message, "requestedSchema": schema});
        let can = |it: &ClientCapabilities| it.elicitation.is_some();
        let answer = self.ask("elicitation/create", "elicitation", can, params).await?;
        match answer["action"].as_str() {
            Some("accept") => Ok(Elicited::Accepted(answer["content"].clone())),
            Some("decline") => Ok(Elicited::Declined),
            Some("cancel") => Ok(Elicited::Cancelled),
            _ => Err(odd("elicitation/create")),
        }
    }

    /// Asks the model of the client (`sampling/createMessage`), with the parameters and the result as the protocol has them.
    ///
    /// # Errors
    /// When the client has no model to ask, or does not answer.
    pub async fn sample(&self, params: Value) -> Result<Value, ToolError> {
        let can = |it: &ClientCapabilities| it.sampling.is_some();
        self.ask("sampling/createMessage", "sampling", can, params).await
    }

    async fn ask(
        &self,
        method: &str,
        capability: &str,
        can: impl Fn(&ClientCapabilities) -> bool,
        params: Value,
    ) -> Result<Value, ToolError> {
        let Some(peer) = self.asks(can) else { return Err(unsupported(capability)) };
        let request = ServerRequest::CustomRequest(CustomRequest::new(method, Some(params)));
        match peer.send_request(request).await {
            Ok(ClientResult::EmptyResult(_)) => Err(odd(method)),
            Ok(answer) => serde_json::to_value(answer).map_err(ToolError::internal),
            Err(ServiceError::McpError(error)) => {
                let words = format!("the client refused `{method}`");
                Err(ToolError::new("refused_by_client", words)
                    .class(Class::Final)
                    .caused_by(error.message))
            }
            Err(error) => {
                let words = format!("the client did not answer `{method}`");
                Err(ToolError::new("client_gone", words).caused_by(error))
            }
        }
    }

    /// Whether the client can ask its user.
    pub(super) fn can_elicit(&self) -> bool {
        self.asks(|it| it.elicitation.is_some()).is_some()
    }

    /// The client, where it takes such requests. From the revision 2026-07-28 on, a server sends none.
    fn asks(&self, can: impl Fn(&ClientCapabilities) -> bool) -> Option<Peer<RoleServer>> {
        let peer = self.lock().peer.clone()?;
        let info = peer.peer_info()?;
        (info.protocol_version.has_initialize() && can(&info.capabilities)).then_some(peer)
    }

    pub(super) fn connect(&self, peer: &Peer<RoleServer>) {
        self.lock().peer = Some(peer.clone());
    }

    pub(super) fn want(&self, level: LoggingLevel) {
        self.lock().least = Some(LogLevel::of(level));
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
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

    fn of(level: LoggingLevel) -> Self {
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

impl fmt::Debug for McpClient {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_connected = self.lock().peer.is_some();
        formatter.debug_struct("McpClient").field("is_connected", &is_connected).finish()
    }
}

fn unsupported(capability: &str) -> ToolError {
    let words = format!("the client of this session offers no {capability}");
    ToolError::new("unsupported_by_client", words)
        .class(Class::NotStarted { retry_after: None })
        .hint("go on without it")
}

fn odd(method: &str) -> ToolError {
    ToolError::new(
        "wrong_answer",
        format!("the client's answer to `{method}` is none of the protocol"),
    )
}
