//! One server: started when it is needed, asked for its tools, called, started again after it has ended.
//!
//! No lock is held while a server is waited for: a start goes on beside the calls that need it, and a list beside the calls
//! that use the earlier one.

mod asking;
mod calling;
mod failing;
mod listing;
mod reaching;
mod starting;

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rmcp::RoleClient;
use rmcp::handler::client::progress::ProgressDispatcher;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, JsonObject, MetaObject, RequestMetaObject,
    RequestParamsMeta as _,
};
use rmcp::service::{Peer, RunningService};
use serde_json::Value;
use toolwright::{CancellationToken, ErrorClass, Output, ToolContext, ToolError};

use self::listing::Listing;
use super::answers::Answers;
use super::config::{ServerConfig, Trust};
use super::definition::{Definitions, ForeignTool};
use super::handler::Handler;
use super::process::Process;
use super::restart::Restart;
use super::result;
use super::said::ServerStderr;
use crate::trace::TraceContext;

/// How long a list of tools counts, also of a server that notifies of changes: it may change its tools without a notice.
const FRESH: Duration = Duration::from_secs(30);

/// How long a server may take to read what it was sent before it is ended.
const CLOSES: Duration = Duration::from_secs(5);

/// Where a server finds the key by which it can tell a repeated call.
const KEY: &str = "toolwright/idempotencyKey";

pub(crate) struct Server {
    name: String,
    config: ServerConfig,
    #[cfg(feature = "oauth")]
    oauth: Option<super::oauth::OAuth>,
    answers: SharedAnswers,
    /// One start at a time.
    starting: tokio::sync::Mutex<()>,
    state: Mutex<State>,
}

/// Who answers servers, of all servers of an application.
pub(super) type SharedAnswers = Arc<Mutex<Answers>>;

#[derive(Default)]
struct State {
    live: Option<Live>,
    restart: Restart,
    /// Cancelled by [`Server::close`]: ends the start that is under way, and the calls that wait for one.
    closed: CancellationToken,
}

/// A server that runs, and what it has said.
struct Live {
    running: RunningService<RoleClient, Handler>,
    /// Nothing where another machine runs the server.
    process: Option<Process>,
    changed: Arc<AtomicBool>,
    /// Whether the server no longer knows the session.
    is_lost: bool,
    progress: ProgressDispatcher,
    definitions: Arc<Definitions>,
    listed: tokio::time::Instant,
    /// The list that was asked for and has not come.
    listing: Option<Listing>,
}

/// A connection as calls use it.
struct Line {
    /// Which one it is: that of its [`Live`].
    changed: Arc<AtomicBool>,
    peer: Peer<RoleClient>,
    /// What the server reports of the calls that go on.
    progress: ProgressDispatcher,
    /// What it writes to its standard error, where this process has started it.
    said: Option<ServerStderr>,
}

/// What came of a call that was made once.
enum Attempt {
    Answered(Box<CallToolResponse>),
    /// The server does not know the session, and has not worked on the call.
    SessionUnknown,
}

impl Server {
    pub(super) fn new(name: String, config: ServerConfig, answers: SharedAnswers) -> Self {
        Self {
            name,
            config,
            #[cfg(feature = "oauth")]
            oauth: None,
            answers,
            starting: tokio::sync::Mutex::default(),
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

    /// How long a call may take without a word of the server, where the configuration says so.
    pub(super) fn call_timeout(&self) -> Option<Duration> {
        self.config.call_timeout
    }

    /// Its tools as they are now.
    pub(crate) async fn definitions(self: &Arc<Self>) -> Result<Arc<Definitions>, ToolError> {
        let (_, definitions) = self.live(&self.closed()).await?;
        Ok(definitions)
    }

    /// A tool as it was listed last, by our name. Starts nothing, and asks nothing.
    pub(super) fn last_listed(&self, name: &str) -> Option<Arc<ForeignTool>> {
        self.line()?.1.get(name)
    }

    /// Calls a tool, unless it is defined differently by now. Dropping the future cancels the request, and so does a silence of
    /// the server that is longer than `patience`.
    pub(super) async fn call(
        self: &Arc<Self>,
        tool: &ForeignTool,
        input: Value,
        patience: Option<Duration>,
        trace: Option<&TraceContext>,
        context: &ToolContext,
    ) -> Result<Output, ToolError> {
        let closed = self.closed();
        let arguments = match input {
            Value::Object(arguments) => arguments,
            _ => JsonObject::new(),
        };
        let mut request = CallToolRequestParams::new(tool.theirs.clone()).with_arguments(arguments);
        let mut meta = MetaObject::default();
        meta.insert(KEY.to_owned(), context.idempotency_key().into());
        if let Some(trace) = trace {
            meta.insert("traceparent".to_owned(), trace.traceparent().into());
            if let Some(state) = trace.tracestate() {
                meta.insert("tracestate".to_owned(), state.into());
            }
        }
        request.set_meta(RequestMetaObject::from(meta));
        let answer = match self.attempt(tool, request.clone(), patience, context, &closed).await? {
            Attempt::Answered(answer) => answer,
            // The server has not worked on the call. What it offers in a new session is compared before it is made again.
            Attempt::SessionUnknown => {
                match self.attempt(tool, request, patience, context, &closed).await? {
                    Attempt::Answered(answer) => answer,
                    Attempt::SessionUnknown => return Err(self.unknown_twice(tool)),
                }
            }
        };
        self.state().restart.note_answer();
        match *answer {
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

    /// Makes a call once, unless the tool is defined differently by now.
    async fn attempt(
        self: &Arc<Self>,
        tool: &ForeignTool,
        request: CallToolRequestParams,
        patience: Option<Duration>,
        context: &ToolContext,
        closed: &CancellationToken,
    ) -> Result<Attempt, ToolError> {
        let (line, definitions) = self.live(closed).await?;
        let now = definitions.get(&tool.name);
        if now.as_ref().is_none_or(|now| now.fingerprint != tool.fingerprint) {
            return Err(self.changed(tool, now.is_some()));
        }
        let attempt = self.rounds(&line, request, patience, context).await?;
        if matches!(attempt, Attempt::SessionUnknown) {
            self.lose(&line);
        }
        Ok(attempt)
    }

    /// Notes that the server no longer knows the session of this connection: the next call begins a new one.
    fn lose(&self, line: &Line) {
        let mut state = self.state();
        if let Some(live) = &mut state.live
            && Arc::ptr_eq(&live.changed, &line.changed)
        {
            live.is_lost = true;
        }
    }

    /// Cancelled when the servers are closed from now on.
    fn closed(&self) -> CancellationToken {
        self.state().closed.clone()
    }

    fn answers(&self) -> Answers {
        self.answers.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends the server, where it runs. A start that is under way is given up, and not waited for; the calls that wait for it end.
    pub(super) async fn close(&self) {
        let live = {
            let mut state = self.state();
            std::mem::take(&mut state.closed).cancel();
            state.live.take()
        };
        if let Some(live) = live {
            live.end().await;
        }
    }

    /// The connection, and the tools as they are now. A start goes on where the call that needs it is given up, because a person may
    /// be about to sign in: the next call finds the server started.
    async fn live(
        self: &Arc<Self>,
        closed: &CancellationToken,
    ) -> Result<(Line, Arc<Definitions>), ToolError> {
        if self.line().is_none() {
            let (server, closed) = (Arc::clone(self), closed.clone());
            let started = tokio::spawn(async move { server.bring_up(&closed).await });
            started.await.unwrap_or_else(|_| Err(self.unreachable("its start was interrupted")))?;
        }
        self.wait_for_list().await;
        self.line().ok_or_else(|| self.unreachable("it has ended"))
    }

    /// The connection as it is, and the tools as they were listed last.
    fn line(&self) -> Option<(Line, Arc<Definitions>)> {
        let state = self.state();
        let live = state.live.as_ref().filter(|live| !live.has_ended())?;
        let (peer, progress) = (live.running.peer().clone(), live.progress.clone());
        let said = live.process.as_ref().map(|process| process.said().clone());
        let line = Line { changed: Arc::clone(&live.changed), peer, progress, said };
        Some((line, Arc::clone(&live.definitions)))
    }
}

impl Live {
    fn has_ended(&self) -> bool {
        self.is_lost || self.running.peer().is_transport_closed()
    }

    fn is_stale(&self) -> bool {
        self.listed.elapsed() > FRESH
    }

    async fn end(self) {
        // Closes its input, which asks it to end.
        let mut running = self.running;
        // A server that does not read its input holds the pipe: it is ended below.
        let _ = running.close_with_timeout(CLOSES).await;
        if let Some(process) = self.process {
            process.end().await;
        }
    }
}
