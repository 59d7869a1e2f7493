//! The MCP servers whose tools an application uses, and the search for a tool by its name.

pub(crate) mod answers;
pub(crate) mod config;
mod connection;
pub(crate) mod definition;
mod foreign_tool;
mod handler;
#[cfg_attr(not(feature = "http-client"), path = "client/without_http.rs")]
mod http;
mod known;
mod lines;
mod names;
#[cfg(feature = "oauth")]
pub(crate) mod oauth;
pub(crate) mod offered;
mod pages;
mod process;
mod questions;
mod reports;
pub(crate) mod resource_tools;
mod restart;
mod result;
mod said;
pub(crate) mod single;
pub(crate) mod tools;
pub(crate) mod untrusted;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, OnceLock, PoisonError, RwLock, Weak};
use std::time::Duration;

use futures::future::{BoxFuture, join_all};
use serde_json::Value;
use toolwright::policy::Policy;
use toolwright::{
    BuildProblem, Bundle, ExecutorBuilder, Output, Registration, Registry, Resolver, ToolContext,
    ToolError,
};

use self::answers::Answers;
use self::config::McpConfig;
use self::connection::Server;
use self::definition::{Definitions, ForeignTool};
use self::known::KnownDefinitions;
use crate::trace::{TraceContext, Tracer};

/// The servers whose tools an application uses; cheap to clone.
///
/// `McpServers` is a [`Bundle`]. It adds the tools of the servers, by names such as `files__read` for the tool `read`
/// of the server `files`, and [`MCP_TOOLS`](crate::MCP_TOOLS), with which a model finds these tools. A server is
/// started when one of its tools is first needed. If the server has ended, it is started again when it is needed, after
/// a wait that grows with each failure in a row. Each server is ended by [`close`](Self::close), or when the tokio
/// runtime ends.
///
/// The executor applies policy, approval, journal, time-outs and retries to a foreign tool as to any other. It trusts
/// the tool less ([`Trust`](crate::Trust)) and marks its answers as untrusted: fenced for the model, with control
/// characters escaped, and listed in the metadata of the answer under `untrusted`.
///
/// A tool whose definition changes becomes a different tool. Calls of the earlier definition are refused, and its
/// approvals and grants do not apply to the new definition.
///
/// ```no_run
/// use toolwright::{Executor, Registry};
/// use toolwright_mcp::{McpConfig, McpServers};
///
/// let servers = McpServers::new(McpConfig::read("mcp.toml")?);
/// let executor = Executor::builder(Registry::linked()?).with(servers).build()?;
/// # let _ = executor;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct McpServers(Arc<Inner>);

struct Inner {
    servers: BTreeMap<String, Arc<Server>>,
    /// The registry of the executor that uses the servers. A tool of the servers is registered there when its name is
    /// resolved.
    registry: OnceLock<Registry>,
    answers: connection::SharedAnswers,
    trace: RwLock<Option<Tracer>>,
    known: RwLock<KnownDefinitions>,
}

/// The servers and tools that an application cannot use, with the reasons.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Unusable {
    /// The servers that cannot be reached, or whose tools cannot be listed.
    pub servers: Vec<FailedServer>,
    /// The tools of the other servers that are refused.
    pub tools: Vec<RefusedTool>,
}

/// A server that cannot be used, and why.
#[derive(Debug)]
#[non_exhaustive]
pub struct FailedServer {
    /// The name of the server in the configuration.
    pub server: String,
    /// Why the server cannot be used; the message names the server.
    pub error: ToolError,
}

/// A foreign tool that cannot be called, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RefusedTool {
    /// The server that offers the tool.
    pub server: String,
    /// The tool's name on that server.
    pub tool: String,
    /// Why the tool cannot be called.
    pub reason: String,
}

impl McpServers {
    /// Makes a client of the servers of a configuration, and starts none of them yet.
    #[must_use]
    pub fn new(config: McpConfig) -> Self {
        Self::of(config, |server| server)
    }

    /// Makes a client of the servers of a configuration, and starts none of them yet. Servers that are reached by a URL
    /// may require OAuth.
    ///
    /// ```
    /// use toolwright_mcp::{McpConfig, McpServers, MemoryTokens, OAuth};
    ///
    /// let config = McpConfig::from_toml("[servers.far]\nurl = \"http://127.0.0.1:8080/mcp\"")?;
    /// let servers = McpServers::with_oauth(config, OAuth::new(MemoryTokens::default()));
    /// assert_eq!(servers.names().count(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[cfg(feature = "oauth")]
    #[cfg_attr(docsrs, doc(cfg(feature = "oauth")))]
    #[must_use]
    pub fn with_oauth(config: McpConfig, oauth: oauth::OAuth) -> Self {
        Self::of(config, |server| server.with_oauth(oauth.clone()))
    }

    fn of(config: McpConfig, made: impl Fn(Server) -> Server) -> Self {
        let answers = connection::SharedAnswers::default();
        let servers = config.servers.into_iter().map(|(name, config)| {
            let server = Server::new(name.clone(), config, Arc::clone(&answers));
            (name, Arc::new(made(server)))
        });
        let (servers, registry) = (servers.collect(), OnceLock::new());
        let (trace, known) = (RwLock::default(), RwLock::default());
        Self(Arc::new(Inner { servers, registry, answers, trace, known }))
    }

    /// Remembers the registry of the executor that has the servers. If the servers already belong to an executor, the
    /// builder of the second executor gets a problem.
    fn join(&self, executor: ExecutorBuilder) -> ExecutorBuilder {
        match self.0.registry.set(executor.registry().clone()) {
            Ok(()) => executor,
            Err(_) => executor.problem(BuildProblem::Unavailable {
                what: "McpServers".to_owned(),
                why: "these servers belong to another executor already; make one executor, or read the \
                      configuration once for each"
                    .to_owned(),
            }),
        }
    }

    /// Sets the handlers of questions that servers ask, for connections that begin from now on. By default, every
    /// question is refused.
    #[must_use]
    pub fn answering(self, answers: Answers) -> Self {
        *self.0.answers.lock().unwrap_or_else(PoisonError::into_inner) = answers;
        self
    }

    /// Sends each server the trace context of a call (`_meta.traceparent`), which `read` returns for the current span.
    /// With `tracing-opentelemetry`, `read` gets the context from `Span::current()`.
    ///
    /// ```
    /// use toolwright_mcp::{McpConfig, McpServers, TraceContext};
    ///
    /// let servers = McpServers::new(McpConfig::from_toml("")?).trace_by(|| {
    ///     TraceContext::new("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", None)
    /// });
    /// # let _ = servers;
    /// # Ok::<(), toolwright_mcp::ConfigError>(())
    /// ```
    #[must_use]
    pub fn trace_by(self, read: impl Fn() -> Option<TraceContext> + Send + Sync + 'static) -> Self {
        self.set_tracer(Tracer(Arc::new(read)));
        self
    }

    fn set_tracer(&self, tracer: Tracer) {
        *self.0.trace.write().unwrap_or_else(PoisonError::into_inner) = Some(tracer);
    }

    /// Returns the trace context of the current span.
    fn trace(&self) -> Option<TraceContext> {
        let tracer = self.0.trace.read().unwrap_or_else(PoisonError::into_inner).clone();
        tracer.and_then(|Tracer(read)| read())
    }

    /// Lists the names of the servers in the configuration.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.servers.keys().map(String::as_str)
    }

    /// Starts all servers at the same time, and registers their tools as deferred tools, so that a model sees one line
    /// for each tool and not its schema. Returns the servers and tools that cannot be used; a server that fails does
    /// not stop the others. If the journal outlives the process, call this method before the worker begins, because the
    /// worker can only run a waiting call whose tool is registered.
    ///
    /// # Errors
    /// When no executor has the servers yet.
    pub async fn register_all(&self) -> Result<Unusable, RegisterError> {
        let registry = self.0.registry.get().ok_or(RegisterError::NoExecutor)?;
        let mut unusable = Unusable::default();
        for (name, definitions) in self.definitions(None).await.unwrap_or_default() {
            let (server, definitions) = match (self.0.servers.get(name), definitions) {
                (Some(server), Ok(definitions)) => (server, definitions),
                (_, Err(error)) => {
                    unusable.servers.push(FailedServer { server: name.to_owned(), error });
                    continue;
                }
                (None, Ok(_)) => continue,
            };
            unusable.tools.extend(definitions.refused().iter().cloned());
            for tool in definitions.tools().filter(|tool| registry.get(&tool.name).is_none()) {
                let (server_name, theirs) = (tool.server.clone(), tool.theirs.clone());
                let made = self.tool(server, tool).exposure(toolwright::Exposure::Deferred);
                if let Err(error) = registry.register(made) {
                    let reason = error.to_string();
                    unusable.tools.push(RefusedTool { server: server_name, tool: theirs, reason });
                }
            }
        }
        Ok(unusable)
    }

    /// Ends every server that was started. A later call starts its server again.
    pub async fn close(&self) {
        join_all(self.0.servers.values().map(|server| server.close())).await;
    }

    /// Returns the definitions of one server, or of all servers, each with the server's name.
    pub(crate) async fn definitions(
        &self,
        server: Option<&str>,
    ) -> Result<Vec<(&str, Result<Arc<Definitions>, ToolError>)>, ToolError> {
        if let Some(wanted) = server.filter(|wanted| !self.0.servers.contains_key(*wanted)) {
            return Err(self.unknown_server(wanted));
        }
        let wanted = self.0.servers.iter().filter(|(name, _)| server.is_none_or(|it| it == *name));
        let read = wanted.map(|(name, it)| async move { (name.as_str(), it.definitions().await) });
        Ok(join_all(read).await)
    }

    fn unknown_server(&self, wanted: &str) -> ToolError {
        let known = self.names().collect::<Vec<_>>().join("`, `");
        ToolError::invalid(format!("there is no server `{wanted}`; there are `{known}`"))
    }

    /// Finds a foreign tool by the name that it has here (`server__tool`).
    pub(crate) async fn find(
        &self,
        name: &str,
    ) -> Result<Option<(&Arc<Server>, Arc<ForeignTool>)>, ToolError> {
        let Some(server) = names::server(name).and_then(|server| self.0.servers.get(server)) else {
            return Ok(None);
        };
        Ok(server.definitions().await?.get(name).map(|tool| (server, tool)))
    }

    /// Reports whether this name is registered as a tool, so that the executor itself checks its calls.
    pub(crate) fn is_registered(&self, name: &str) -> bool {
        self.0.registry.get().is_some_and(|registry| {
            registry.get(name).is_some() || registry.disabled().iter().any(|it| **it == *name)
        })
    }

    /// Calls a foreign tool, if its definition has not changed since the model was shown the tool.
    pub(crate) async fn call(
        &self,
        server: &Arc<Server>,
        tool: &ForeignTool,
        input: Value,
        patience: Option<Duration>,
        context: &ToolContext,
    ) -> Result<Output, ToolError> {
        let trace = self.trace();
        let answer = server.call(tool, input, patience, trace.as_ref(), context).await;
        let is_other = answer.as_ref().is_err_and(|error| error.kind() == definition::CHANGED);
        if !is_other {
            self.0.known.read().unwrap_or_else(PoisonError::into_inner).runs(tool);
        }
        answer.inspect_err(|error| {
            if error.kind() == definition::CHANGED
                && let Some(registry) = self.0.registry.get()
            {
                // Unregister the outdated tool, so that the next call by this name resolves its new definition.
                let _ = registry.unregister(&tool.name);
            }
        })
    }

    /// Returns the tools of all servers, ready to be registered. Logs the tools that cannot be called, and leaves them
    /// out.
    async fn registrations(&self) -> Result<Vec<Registration>, ToolError> {
        let mut tools = Vec::new();
        for server in self.0.servers.values() {
            let definitions = server.definitions().await?;
            for refused in definitions.refused() {
                let RefusedTool { server, tool, reason } = refused;
                tracing::warn!(server, tool, "a tool of an MCP server cannot be called: {reason}");
            }
            tools.extend(definitions.tools().map(|tool| self.tool(server, tool).into()));
        }
        Ok(tools)
    }

    fn tool(&self, server: &Arc<Server>, tool: Arc<ForeignTool>) -> toolwright::DynamicTool {
        foreign_tool::of(Handle(Arc::downgrade(&self.0)), server, tool)
    }
}

/// A weak reference to the servers, for the tools. The servers hold the registry, and the registry holds the tools, so
/// a strong reference would make a cycle.
#[derive(Clone)]
struct Handle(Weak<Inner>);

impl Handle {
    fn servers(&self) -> Result<McpServers, ToolError> {
        let gone = || ToolError::new("unreachable", "the application no longer uses MCP servers");
        self.0.upgrade().map(McpServers).ok_or_else(gone)
    }
}

impl Resolver for McpServers {
    fn resolve<'a>(
        &'a self,
        name: &'a str,
    ) -> BoxFuture<'a, Result<Option<Registration>, ToolError>> {
        Box::pin(async move {
            let found = self.find(name).await?;
            Ok(found.map(|(server, tool)| self.tool(server, tool).into()))
        })
    }

    /// Returns the longest start time-out among the servers.
    fn timeout(&self) -> Option<Duration> {
        self.0.servers.values().map(|server| server.start_timeout()).max()
    }
}

impl Bundle for McpServers {
    fn name(&self) -> String {
        "MCP servers".to_owned()
    }

    fn install(self, executor: ExecutorBuilder) -> ExecutorBuilder {
        let tools = self.names().map(|name| format!("{name}__*"));
        let policy = tools.fold(Policy::builder(), |policy, tool| policy.registered_later(tool));
        let executor = self.join(executor).tools(tools::MCP_TOOLS).policy_defaults(policy);
        executor.resolver(self.clone()).service(self)
    }
}

impl fmt::Debug for McpServers {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("McpServers").field(&self.names().collect::<Vec<_>>()).finish()
    }
}

/// The reason why the tools of the servers could not be registered.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum RegisterError {
    /// No executor has the servers yet.
    #[error(
        "no executor has the MCP servers yet; give them to its builder with `.with(servers.clone())`"
    )]
    NoExecutor,
}
toolwright::unstable::debug_as_sentence!(RegisterError);
