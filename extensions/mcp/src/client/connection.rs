//! One server: started when it is needed, asked for its tools, called, started again after it has ended.

mod calling;
mod reaching;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use rmcp::RoleClient;
use rmcp::ServiceError;
use rmcp::handler::client::progress::ProgressDispatcher;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ErrorCode, JsonObject, MetaObject,
    PaginatedRequestParams, RequestMetaObject, RequestParamsMeta as _, Tool,
};
use rmcp::service::{Peer, RunningService};
use serde_json::Value;
use tokio::sync::{Mutex, MutexGuard};
use tokio::time::timeout;
use toolwright::{ErrorClass, Output, ToolContext, ToolError};

use super::answers::Answers;
use super::config::{ServerConfig, Trust};
use super::definition::{CHANGED, Definitions, ForeignTool};
use super::handler::Handler;
use super::process::Process;
use super::restart::Restart;
use super::{result, untrusted};

/// More tools than this, and the server is not believed to come to an end.
const MOST_TOOLS: usize = 20_000;

/// How long a call waits for a server that may soon be started again; where it takes longer, the call fails.
const PATIENCE: Duration = Duration::from_secs(2);

/// How long a list counts of a server that says by itself nothing of changes.
const FRESH: Duration = Duration::from_secs(30);

/// Where a server finds the key by which it can tell a repeated call.
const KEY: &str = "toolwright/idempotencyKey";

pub(crate) struct Server {
    name: String,
    config: ServerConfig,
    #[cfg(feature = "oauth")]
    oauth: Option<super::oauth::OAuth>,
    answers: SharedAnswers,
    state: Mutex<State>,
}

/// Who answers servers, of all servers of an application.
pub(super) type SharedAnswers = Arc<std::sync::Mutex<Answers>>;

#[derive(Default)]
struct State {
    live: Option<Live>,
    restart: Restart,
}

/// A server that runs, and what it has said.
struct Live {
    running: RunningService<RoleClient, Handler>,
    /// Nothing where another machine runs the server.
    process: Option<Process>,
    changed: Arc<AtomicBool>,
    progress: ProgressDispatcher,
    definitions: Arc<Definitions>,
    listed: Instant,
}

/// A connection as calls use it.
struct Line {
    peer: Peer<RoleClient>,
    /// What the server reports of the calls that go on.
    progress: ProgressDispatcher,
}

impl Server {
    pub(super) fn new(name: String, config: ServerConfig, answers: SharedAnswers) -> Self {
        Self {
            name,
            config,
            #[cfg(feature = "oauth")]
            oauth: None,
            answers,
            state: Mutex::default(),
        }
    }

    #[cfg(feature = "oauth")]
    pub(super) fn with_oauth(mut self, oauth: super::oauth::OAuth) -> Self {
        self.oauth = Some(oauth);
        self
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn trust(&self) -> Trust {
        self.config.trust
    }

    /// Its tools as they are now.
    pub(crate) async fn definitions(self: &Arc<Self>) -> Result<Arc<Definitions>, ToolError> {
        let (_, definitions) = self.live().await?;
        Ok(definitions)
    }

    /// Calls a tool, unless it is defined differently by now. Dropping the future cancels the request.
    pub(super) async fn call(
        self: &Arc<Self>,
        tool: &ForeignTool,
        input: Value,
        context: &ToolContext,
    ) -> Result<Output, ToolError> {
        let (line, definitions) = self.live().await?;
        let now = definitions.get(&tool.name);
        if now.as_ref().is_none_or(|now| now.fingerprint != tool.fingerprint) {
            return Err(self.changed(tool, now.is_some()));
        }
        let arguments = match input {
            Value::Object(arguments) => arguments,
            _ => JsonObject::new(),
        };
        let mut request = CallToolRequestParams::new(tool.theirs.clone()).with_arguments(arguments);
        let mut meta = MetaObject::default();
        meta.insert(KEY.to_owned(), context.idempotency_key().into());
        request.set_meta(RequestMetaObject::from(meta));
        let answer = self.rounds(&line, request, context).await?;
        self.state.lock().await.restart.worked();
        match answer {
            CallToolResponse::Complete(answer) => result::output(tool, answer),
            _ => {
                let words = format!(
                    "the MCP server `{}` wants to be asked again, which this application does not do",
                    self.name
                );
                Err(ToolError::new("unsupported_answer", words).class(ErrorClass::Unknown))
            }
        }
    }

    fn answers(&self) -> Answers {
        self.answers.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Ends the server, where it runs.
    pub(super) async fn close(&self) {
        let live = self.state.lock().await.live.take();
        if let Some(live) = live {
            live.end().await;
        }
    }

    /// The connection, and the tools as they are now. A start goes on where the call that needs it is given up, because a person may
    /// be about to sign in: the next call finds the server started.
    async fn live(self: &Arc<Self>) -> Result<(Line, Arc<Definitions>), ToolError> {
        if let Some(live) = self.state.lock().await.live.as_ref().filter(|live| live.is_current()) {
            return Ok(live.line());
        }
        let server = Arc::clone(self);
        let started = tokio::spawn(async move { server.brought_up().await });
        started.await.unwrap_or_else(|_| Err(self.unreachable("its start was interrupted")))
    }

    /// The same, after what it takes to get there.
    async fn brought_up(&self) -> Result<(Line, Arc<Definitions>), ToolError> {
        let mut state = self.state.lock().await;
        if let Some(ended) = state.live.take_if(|live| live.running.peer().is_transport_closed()) {
            state.restart.failed(Instant::now());
            ended.end().await;
        }
        if state.live.is_none() {
            self.start(&mut state).await?;
        }
        let live = state.live.as_mut().ok_or_else(|| self.unreachable("it has ended"))?;
        if live.changed.swap(false, Ordering::SeqCst) || live.is_stale() {
            let listing = self.list(live.running.peer());
            let listed = match timeout(self.config.start_timeout(), listing).await {
                Ok(listed) => listed,
                Err(_) => Err(self.unreachable("it does not list its tools")),
            };
            live.definitions =
                listed.inspect_err(|_| live.changed.store(true, Ordering::SeqCst))?;
            live.listed = Instant::now();
        }
        Ok(live.line())
    }

    async fn start(&self, state: &mut MutexGuard<'_, State>) -> Result<(), ToolError> {
        let wait = state.restart.wait(Instant::now());
        if let Some(wait) = wait.filter(|wait| *wait <= PATIENCE) {
            tokio::time::sleep(wait).await;
        } else if let Some(wait) = wait {
            let error = self.unreachable("it has failed, and is not started again yet");
            return Err(error.class(ErrorClass::NotStarted { retry_after: Some(wait) }));
        }
        // What fails or is given up from here on counts as a failure.
        state.restart.failed(Instant::now());
        let changed = Arc::new(AtomicBool::new(false));
        let progress = ProgressDispatcher::new();
        let handler = Handler {
            server: self.name.clone(),
            changed: Arc::clone(&changed),
            progress: progress.clone(),
            answers: self.answers(),
        };
        let (process, connecting) = self.reached(handler)?;
        let begin = async {
            let running = connecting.await.map_err(|error| {
                self.unreachable(self.why_no_session()).caused_by(error.to_string())
            })?;
            let definitions = self.list(running.peer()).await?;
            Ok((running, definitions))
        };
        let begun = timeout(self.start_timeout(), begin).await;
        let begun = begun.unwrap_or_else(|_| Err(self.unreachable("it does not answer in time")));
        match begun {
            Ok((running, definitions)) => {
                let listed = Instant::now();
                state.live =
                    Some(Live { running, process, changed, progress, definitions, listed });
                state.restart.started();
                Ok(())
            }
            Err(error) => {
                if let Some(process) = process {
                    process.end().await;
                }
                Err(error)
            }
        }
    }

    /// Every page of the list of tools.
    async fn list(&self, peer: &Peer<RoleClient>) -> Result<Arc<Definitions>, ToolError> {
        let mut tools: Vec<Tool> = Vec::new();
        let mut request = PaginatedRequestParams::default();
        loop {
            let page = peer.list_tools(Some(request.clone())).await.map_err(|error| {
                self.unreachable("it does not list its tools").caused_by(error.to_string())
            })?;
            let is_endless = page.next_cursor.is_some()
                && (page.tools.is_empty() || page.next_cursor == request.cursor);
            tools.extend(page.tools);
            if is_endless || tools.len() > MOST_TOOLS {
                return Err(self.unreachable("its list of tools has no end"));
            }
            request.cursor = page.next_cursor;
            if request.cursor.is_none() {
                return Ok(Arc::new(Definitions::of(&self.name, tools)));
            }
        }
    }

    fn changed(&self, tool: &ForeignTool, is_there: bool) -> ToolError {
        let (name, server) = (&tool.name, &self.name);
        tracing::warn!(tool = %name, %server, is_there, "a foreign tool is defined differently than when it was shown");
        let words = match is_there {
            true => {
                format!("the MCP server `{server}` has changed what `{name}` is, so it was not run")
            }
            false => format!("the MCP server `{server}` no longer has `{name}`"),
        };
        let hint = "look at the tools of the server again before you call it";
        ToolError::new(CHANGED, words).hint(hint)
    }

    /// Nothing was sent.
    fn unreachable(&self, why: &str) -> ToolError {
        ToolError::new(
            "unreachable",
            format!("the MCP server `{}` cannot be used: {why}", self.name),
        )
        .class(ErrorClass::NotStarted { retry_after: None })
        .hint("go on without its tools, or try again later")
    }

    /// The request was sent, or may have been.
    fn failed(&self, error: ServiceError) -> ToolError {
        let server = &self.name;
        let ServiceError::McpError(error) = error else {
            let words = format!("the MCP server `{server}` ended before it answered");
            return ToolError::new("unreachable", words)
                .class(ErrorClass::Transient)
                .caused_by(error);
        };
        let said = untrusted::fenced(&format!("MCP server `{server}`"), &error.message);
        let class = match error.code {
            ErrorCode::INVALID_PARAMS => ErrorClass::Invalid,
            ErrorCode::METHOD_NOT_FOUND | ErrorCode::INVALID_REQUEST => ErrorClass::Final,
            _ => ErrorClass::Transient,
        };
        let words = format!("the MCP server `{server}` refused the call:\n{said}");
        ToolError::new("refused_by_server", words).class(class)
    }
}

impl Live {
    /// Whether it runs, and its tools are known as they are.
    fn is_current(&self) -> bool {
        let is_over = self.running.peer().is_transport_closed();
        !is_over && !self.changed.load(Ordering::SeqCst) && !self.is_stale()
    }

    fn line(&self) -> (Line, Arc<Definitions>) {
        let (peer, progress) = (self.running.peer().clone(), self.progress.clone());
        (Line { peer, progress }, Arc::clone(&self.definitions))
    }

    /// Whether the list is old, and the server says by itself nothing of changes: revisions without sessions do not.
    fn is_stale(&self) -> bool {
        let info = self.running.peer().peer_info();
        let is_silent = info.is_some_and(|it| !it.protocol_version.has_initialize());
        is_silent && self.listed.elapsed() > FRESH
    }

    async fn end(self) {
        // Closes its input, which asks it to end.
        let _ = self.running.cancel().await;
        if let Some(process) = self.process {
            process.end().await;
        }
    }
}
