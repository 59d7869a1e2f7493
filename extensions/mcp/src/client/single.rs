//! One server of another program, which an application adds with one line of code.

use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use toolwright::{
    BuildProblem, Bundle, ExecutorBuilder, Registration, Resolver, ToolError, policy::Policy,
};

use super::McpServers;
use super::config::{McpConfig, ServerEntry, Trust};
use crate::trace::{TraceContext, Tracer};

/// A server of another program whose tools an application uses, as a [`Bundle`]: `.with(McpClient::stdio(…))`.
///
/// An agent starts the server before its first request to the model, and offers the model the server's tools together with its
/// own, under names such as `docs__search` for the tool `search` of the server `docs`. If the server cannot be started, the run
/// stops with an error that says why, and the next run tries again. The server ends when the tokio runtime ends.
///
/// The rules for the tools of [`McpServers`] also apply to this type: every call needs a person's approval unless the
/// server is [trusted](Self::trust), and the server's answers are marked as untrusted. For many servers, whose tools a
/// model searches for, use [`McpServers`].
///
/// ```no_run
/// use toolwright::{Executor, Registry};
/// use toolwright_mcp::{McpClient, Trust};
///
/// let files = McpClient::stdio("files", "npx", ["-y", "@modelcontextprotocol/server-filesystem", "."]);
/// let executor = Executor::builder(Registry::empty()).with(files.trust(Trust::Annotations)).build()?;
/// # let _ = executor;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
#[must_use = "an executor has its tools only after `.with(…)`"]
pub struct McpClient {
    name: String,
    written: ServerEntry,
    start_timeout: Option<Duration>,
    tracer: Option<Tracer>,
}

impl McpClient {
    /// Describes a server program, which this process starts: the server's name in this application, the program, and
    /// its arguments.
    pub fn stdio(
        name: impl Into<String>,
        program: impl Into<String>,
        args: impl IntoIterator<Item = impl Into<String>>,
    ) -> Self {
        let args = Some(args.into_iter().map(Into::into).collect());
        Self::of(
            name,
            ServerEntry { command: Some(program.into()), args, ..ServerEntry::default() },
        )
    }

    /// Describes a server at a URL, reached over Streamable HTTP.
    #[cfg(feature = "http-client")]
    #[cfg_attr(docsrs, doc(cfg(feature = "http-client")))]
    pub fn http(name: impl Into<String>, url: impl Into<String>) -> Self {
        Self::of(name, ServerEntry { url: Some(url.into()), ..ServerEntry::default() })
    }

    fn of(name: impl Into<String>, written: ServerEntry) -> Self {
        Self { name: name.into(), written, start_timeout: None, tracer: None }
    }

    /// Sets how far the application trusts the information that the server gives about its tools; by default not at
    /// all.
    pub fn trust(mut self, trust: Trust) -> Self {
        self.written.trust = trust;
        self
    }

    /// Sets an environment variable of the program. By default, the program inherits only a few harmless variables of
    /// this process, and no keys.
    pub fn variable(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.written.env.get_or_insert_default().insert(name.into(), value.into());
        self
    }

    /// Passes environment variables of this process on to the program, if they are set.
    pub fn pass_on(mut self, names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.written.pass.get_or_insert_default().extend(names.into_iter().map(Into::into));
        self
    }

    /// Names the environment variable of this process that holds the bearer token for a server at a URL.
    #[cfg(feature = "http-client")]
    #[cfg_attr(docsrs, doc(cfg(feature = "http-client")))]
    pub fn token_from(mut self, variable: impl Into<String>) -> Self {
        self.written.token_env = Some(variable.into());
        self
    }

    /// Sends the server the trace context of each call, as [`McpServers::trace_by`] does.
    pub fn trace_by(
        mut self,
        read: impl Fn() -> Option<TraceContext> + Send + Sync + 'static,
    ) -> Self {
        self.tracer = Some(Tracer(Arc::new(read)));
        self
    }

    /// Sets how long the server may take to start: 30 seconds unless set.
    pub fn start_timeout(mut self, time: Duration) -> Self {
        self.start_timeout = Some(time);
        self
    }
}

impl Bundle for McpClient {
    fn name(&self) -> String {
        format!("MCP server {}", self.name)
    }

    fn install(self, executor: ExecutorBuilder) -> ExecutorBuilder {
        match McpConfig::of_one(&self.name, self.written, self.start_timeout) {
            Ok(config) => {
                let tools = Policy::builder().registered_later(format!("{}__*", self.name));
                let servers = McpServers::new(config);
                if let Some(tracer) = self.tracer {
                    servers.set_tracer(tracer);
                }
                let executor = servers.join(executor);
                executor.policy_defaults(tools).resolver(AnnouncedServers(servers))
            }
            Err(error) => {
                let (what, why) = (self.name, error.to_string());
                executor.problem(BuildProblem::Unavailable { what, why })
            }
        }
    }
}

/// The resolver of a server whose tools the model sees from the beginning, not only after a search.
struct AnnouncedServers(McpServers);

impl Resolver for AnnouncedServers {
    fn resolve<'a>(
        &'a self,
        name: &'a str,
    ) -> BoxFuture<'a, Result<Option<Registration>, ToolError>> {
        self.0.resolve(name)
    }

    fn announced(&self) -> BoxFuture<'_, Result<Vec<Registration>, ToolError>> {
        Box::pin(self.0.registrations())
    }

    fn timeout(&self) -> Option<Duration> {
        self.0.timeout()
    }
}
