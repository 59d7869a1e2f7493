//! An application as an MCP server: the executor, the name of the server, and the settings of its sessions.

mod answer;
mod changes;
#[expect(
    deprecated,
    reason = "clients of the revisions before 2026-07-28 have logging and sampling"
)]
pub(crate) mod client;
pub(crate) mod content;
pub(crate) mod elicitation;
mod error;
mod exchange;
#[expect(deprecated, reason = "clients of the revisions before 2026-07-28 have logging")]
mod handler;
#[cfg(feature = "http-server")]
pub(crate) mod http;
mod lines;
mod listing;
mod misfit;
mod offers;
mod progress;
mod rounds;
mod session;
#[cfg(unix)]
mod stdout;
mod tasks;

use std::fmt;
use std::sync::Arc;

use futures::FutureExt as _;
use tokio::io::{AsyncRead, AsyncWrite};
use toolwright::{CancellationToken, Executor, Profile, Profiles, RunBuilder};

use self::content::{Completions, Prompts, Resources};
use self::elicitation::ElicitationApprover;
pub use self::error::ServeError;
use self::handler::Handler;
use self::lines::{Lines, Pages};
use self::offers::Offers;
use self::session::Session;
use crate::trace::TraceContext;

/// How many tools one page of `tools/list` has, unless the application sets another number.
const PAGE: usize = 100;

type Choose = Arc<dyn Fn(Option<&str>) -> String + Send + Sync>;

type MakeSpan = Arc<dyn Fn(&TraceContext) -> tracing::Span + Send + Sync>;

type Start = Arc<dyn Fn(RunBuilder, Option<&str>) -> RunBuilder + Send + Sync>;

/// A server that offers the tools of an executor to clients of the Model Context Protocol.
///
/// Each session of a client is one run of the executor: policy, approval and journal apply to its calls as to all
/// others. Over HTTP, the requests of a client without a session (from the protocol's revision 2026-07-28 on) belong to
/// one run for each user. A call counts as a model's call, even if a person uses the client.
///
/// | the protocol | what it serves |
/// | --- | --- |
/// | `tools/list` | the tools of the registry that are not hidden, in pages, with titles, both schemas, and annotations from effect and danger; a request for the first page fixes the definitions of the tools that the session calls, until the next such request |
/// | `tools/call` | one call; an error of the tool or the executor is a result with `isError` |
/// | `notifications/progress` | [`ToolContext::progress`](toolwright::ToolContext::progress), if the client asked for progress |
/// | `notifications/cancelled` | cancels the call |
/// | `notifications/tools/list_changed` | tells clients that the tools of the registry have changed |
///
/// A call that has to wait for a person's decision is answered with a task, if the client supports the extension
/// `io.modelcontextprotocol/tasks`. For other clients, the answer is an error of the kind `approval_required`, which
/// names the call. When the client repeats the same call in the same session after the decision, the waiting call
/// continues.
///
/// ```no_run
/// use toolwright::{Executor, Registry, tool};
/// use toolwright_mcp::McpServer;
///
/// /// Says hello.
/// #[tool(effect = read)]
/// async fn hello() -> &'static str {
///     "hello"
/// }
///
/// # async fn serve() -> Result<(), Box<dyn std::error::Error>> {
/// let executor = Executor::builder(Registry::of([HELLO])?).build()?;
/// McpServer::new(executor).name("greeter").version("1.0.0").serve_stdio().await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct McpServer {
    executor: Executor,
    name: String,
    version: String,
    instructions: Option<String>,
    page: usize,
    profiles: Profiles,
    /// Selects the tools that the server offers; all tools if `None`.
    profile: Option<Profile>,
    /// The function that chooses the profile of each user.
    choose: Option<Choose>,
    /// The function that makes the span of a call whose client has sent a trace context.
    span: Option<MakeSpan>,
    start: Option<Start>,
    offers: Offers,
    #[cfg(feature = "http-server")]
    http: http::Settings,
}

/// Serves an executor over standard input and output until the client disconnects; see [`McpServer`].
///
/// # Errors
/// The errors of [`McpServer::serve`].
pub async fn serve(executor: Executor) -> Result<(), ServeError> {
    McpServer::new(executor).serve_stdio().await
}

impl McpServer {
    /// Makes a server for the tools of this executor, named after the program.
    #[must_use]
    pub fn new(executor: Executor) -> Self {
        Self {
            executor,
            name: program(),
            version: "0.0.0".to_owned(),
            instructions: None,
            page: PAGE,
            profiles: Profiles::default(),
            profile: None,
            choose: None,
            span: None,
            start: None,
            offers: Offers::default(),
            #[cfg(feature = "http-server")]
            http: http::Settings::default(),
        }
    }

    /// Sets the name that clients show.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Sets the version of the application, which clients show; by default `0.0.0`.
    #[must_use]
    pub fn version(mut self, version: impl Into<String>) -> Self {
        self.version = version.into();
        self
    }

    /// Sets the instructions for models: information about the tools as a whole.
    #[must_use]
    pub fn instructions(mut self, instructions: impl Into<String>) -> Self {
        self.instructions = Some(instructions.into());
        self
    }

    /// Sets how many tools one page of the list has; 0 counts as 1.
    #[must_use]
    pub fn page_size(mut self, tools: usize) -> Self {
        self.page = tools.max(1);
        self
    }

    /// Sets the profiles of the application, one of which [`profile`](Self::profile) selects.
    #[must_use]
    pub fn profiles(mut self, profiles: Profiles) -> Self {
        self.profiles = profiles;
        self
    }

    /// Serves only the tools of one profile. Other tools can be neither listed nor called.
    ///
    /// # Errors
    /// When the server has no profile of this name, or one of its patterns matches no tool.
    ///
    /// ```
    /// use toolwright::{Executor, Profiles, Registry, tool};
    /// use toolwright_mcp::McpServer;
    ///
    /// /// Says hello.
    /// #[tool(effect = read, tags("read"))]
    /// async fn hello() {}
    ///
    /// let executor = Executor::builder(Registry::of([HELLO])?).build()?;
    /// let profiles: Profiles = serde_json::from_str(r#"{"reader": ["tag:read"]}"#)?;
    /// let server = McpServer::new(executor).profiles(profiles).profile("reader")?;
    /// assert!(server.profile("reeder").is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn profile(mut self, name: &str) -> Result<Self, ServeError> {
        let profile = self.profiles.get(name)?.clone();
        self.executor.registry().catalog().select(&profile)?;
        self.profile = Some(profile);
        Ok(self)
    }

    /// Serves each user the tools of one of the [`profiles`](Self::profiles), whose name `choose` returns. Other tools
    /// can be neither listed nor called in sessions of this user. This setting takes precedence over
    /// [`profile`](Self::profile). `choose` gets the user of the session, or `None` if neither a check of tokens nor
    /// [`each_session`](Self::each_session) names one. If no profile has the chosen name, the session does not begin
    /// ([`ServeError::NoProfile`]), and over HTTP the request is answered 403. For requests without a session, `choose` is
    /// called each time; if it returns another profile than before, the calls of the user that run or wait are cancelled.
    ///
    /// ```
    /// use toolwright::{Executor, Profiles, Registry};
    /// use toolwright_mcp::McpServer;
    ///
    /// let profiles: Profiles = serde_json::from_str(r#"{"reader": [], "owner": ["*"]}"#)?;
    /// let server = McpServer::new(Executor::builder(Registry::empty()).build()?)
    ///     .profiles(profiles)
    ///     .profile_of(|user| if user == Some("ada") { "owner" } else { "reader" });
    /// # let _ = server;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn profile_of<N: Into<String>>(
        mut self,
        choose: impl Fn(Option<&str>) -> N + Send + Sync + 'static,
    ) -> Self {
        self.choose = Some(Arc::new(move |user| choose(user).into()));
        self
    }

    /// Reports whether a function chooses the profile of each user.
    #[cfg(feature = "cli")]
    pub(crate) fn chooses_profiles(&self) -> bool {
        self.choose.is_some()
    }

    /// Makes the parent span of each call whose client sends a trace context (`_meta.traceparent`). With
    /// `tracing-opentelemetry`, `make` gives this span its remote parent.
    ///
    /// ```
    /// # use toolwright::{Executor, Registry};
    /// use toolwright_mcp::McpServer;
    ///
    /// let server = McpServer::new(Executor::builder(Registry::empty()).build()?)
    ///     .trace_by(|trace| tracing::info_span!("mcp", traceparent = trace.traceparent()));
    /// # let _ = server;
    /// # Ok::<(), toolwright::BuildError>(())
    /// ```
    #[must_use]
    pub fn trace_by(
        mut self,
        make: impl Fn(&TraceContext) -> tracing::Span + Send + Sync + 'static,
    ) -> Self {
        self.span = Some(Arc::new(make));
        self
    }

    /// Returns the server without its function that selects profiles by user.
    #[cfg(feature = "http-server")]
    fn for_anybody(&self) -> Self {
        Self { choose: None, ..self.clone() }
    }

    /// Sets the function that prepares the run of each session. The function sets the user, and adds every service that
    /// you have declared on the builder of the executor with `per_run`.
    ///
    /// ```
    /// use toolwright::{Executor, Registry};
    /// use toolwright_mcp::McpServer;
    ///
    /// struct Tenant(&'static str);
    ///
    /// let executor = Executor::builder(Registry::empty()).per_run::<Tenant>().build()?;
    /// let server = McpServer::new(executor).each_session(|run| run.user("ada").with(Tenant("acme")));
    /// # let _ = server;
    /// # Ok::<(), toolwright::BuildError>(())
    /// ```
    #[must_use]
    pub fn each_session(
        mut self,
        start: impl Fn(RunBuilder) -> RunBuilder + Send + Sync + 'static,
    ) -> Self {
        self.start = Some(Arc::new(move |run, _: Option<&str>| start(run)));
        self
    }

    /// Sets the function that prepares the run of each session, as [`each_session`](Self::each_session) does, but also
    /// passes it the user whom the check of tokens has named. The run has this user even if the function sets another.
    ///
    /// ```
    /// # use toolwright::{Executor, Registry};
    /// # use toolwright_mcp::McpServer;
    /// struct Tenant(String);
    ///
    /// let executor = Executor::builder(Registry::empty()).per_run::<Tenant>().build()?;
    /// let server = McpServer::new(executor)
    ///     .each_session_of(|run, user| run.with(Tenant(user.unwrap_or("guests").to_owned())));
    /// # let _ = server;
    /// # Ok::<(), toolwright::BuildError>(())
    /// ```
    #[must_use]
    pub fn each_session_of(
        mut self,
        start: impl Fn(RunBuilder, Option<&str>) -> RunBuilder + Send + Sync + 'static,
    ) -> Self {
        self.start = Some(Arc::new(start));
        self
    }

    /// Sets the resources that clients can list and read.
    #[must_use]
    pub fn resources(mut self, resources: impl Resources) -> Self {
        self.offers.resources = Some(Arc::new(resources));
        self
    }

    /// Sets the prompts that the users of clients can pick.
    #[must_use]
    pub fn prompts(mut self, prompts: impl Prompts) -> Self {
        self.offers.prompts = Some(Arc::new(prompts));
        self
    }

    /// Sets the completions for the text that the users of clients type for arguments of prompts and of resource
    /// templates.
    #[must_use]
    pub fn completions(mut self, completions: impl Completions) -> Self {
        self.offers.completions = Some(Arc::new(completions));
        self
    }

    /// Gives each run its [`ConnectedClient`](crate::ConnectedClient), with which tools log messages, ask the client's
    /// user, and ask the client's model. You also have to declare this service on the builder of the executor, with
    /// `per_run::<ConnectedClient>()`.
    #[must_use]
    pub fn offer_client(mut self) -> Self {
        self.offers.client = true;
        self
    }

    /// Lets this approver ask the user of each client about the calls of the client's session. You also have to add the
    /// approver to the builder of the executor.
    #[must_use]
    pub fn approve_by(mut self, approver: &ElicitationApprover) -> Self {
        self.offers.approver = Some(approver.clone());
        self
    }

    /// Serves one client over standard input and output, until the client closes standard input.
    ///
    /// Standard output carries only the protocol: on Unix, all other text that the application prints meanwhile goes to
    /// standard error.
    ///
    /// # Errors
    /// The errors of [`serve`](Self::serve), and when standard output cannot be redirected.
    pub async fn serve_stdio(self) -> Result<(), ServeError> {
        #[cfg(unix)]
        {
            let taken = stdout::RealStdout::take().map_err(ServeError::Output)?;
            let output = taken.writer().map_err(ServeError::Output)?;
            self.serve(tokio::io::stdin(), output).await
        }
        #[cfg(not(unix))]
        self.serve(tokio::io::stdin(), tokio::io::stdout()).await
    }

    /// Serves one client over a pair of streams, one JSON message per line, until the client disconnects. Then the
    /// calls of the session are cancelled.
    ///
    /// # Errors
    /// When the run of the session lacks a service, its profile is missing or does not fit the tools, the protocol
    /// cannot carry a tool, or the client does not begin a session.
    pub async fn serve(
        self,
        read: impl AsyncRead + Send + Unpin + 'static,
        write: impl AsyncWrite + Send + Unpin + 'static,
    ) -> Result<(), ServeError> {
        let ended = CancellationToken::new();
        // Cancels the session also when this future is dropped.
        let _ending = ended.clone().drop_guard();
        let session = Session::start(&self, ended, None)?;
        let pages = Pages::default();
        let handler = Handler::new(Arc::new(self), Arc::new(session)).with_pages(pages.clone());
        let session = handler.session();
        // Boxed, because the caller's future contains this one, and the compiler limits the depth of nested types.
        let begun = rmcp::serve_server(handler, Lines::new(read, write, pages)).boxed();
        let running = match begun.await {
            Ok(running) => running,
            Err(rmcp::service::ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
            Err(error) => return Err(ServeError::Protocol(error.to_string())),
        };
        let ended = running.waiting().await;
        session.end().await;
        ended.map(drop).map_err(|error| ServeError::Protocol(error.to_string()))
    }
}

impl fmt::Debug for McpServer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut server = formatter.debug_struct("McpServer");
        server.field("name", &self.name).field("executor", &self.executor).finish_non_exhaustive()
    }
}

fn program() -> String {
    let path = std::env::args_os().next().map(std::path::PathBuf::from);
    let stem = path.as_deref().and_then(std::path::Path::file_stem);
    stem.map_or_else(|| "toolwright".to_owned(), |stem| stem.to_string_lossy().into_owned())
}
