//! One server: starts it when it is first needed, lists its tools, calls them, and restarts it after it has ended.
//!
//! The lock of the state is never held during a wait for a server. A start runs concurrently with the calls that need
//! it, and a new listing of tools with the calls that use the earlier list.

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
use super::definition::{DIGITS, Definitions, ForeignTool, hex_digest};
use super::handler::Handler;
use super::process::Process;
use super::questions::Questions;
use super::reports::Reports;
use super::restart::Restart;
use super::result;
use super::said::ServerStderr;
use crate::trace::TraceContext;

/// How long a list of tools counts as current. It applies even if the server notifies its clients of changes, because a
/// server may change its tools without a notification.
const FRESH: Duration = Duration::from_secs(30);

/// How long closing a connection may take, in case the server does not read its input. After that, the server's process
/// is ended.
const CLOSES: Duration = Duration::from_secs(5);

/// The key in `_meta` by which a server can recognize a repeated call.
const KEY: &str = "toolwright/idempotencyKey";

pub(crate) struct Server {
    name: String,
    config: ServerConfig,
    #[cfg(feature = "oauth")]
    oauth: Option<super::oauth::OAuth>,
    answers: SharedAnswers,
    /// The lock that allows one start at a time.
    starting: tokio::sync::Mutex<()>,
    state: Mutex<State>,
}

/// The handlers of the servers' questions, which all servers of an application share.
pub(super) type SharedAnswers = Arc<Mutex<Answers>>;

#[derive(Default)]
struct State {
    live: Option<Live>,
    /// The tools that the server has listed last; `None` before its first start.
    last_list: Option<Arc<Definitions>>,
    restart: Restart,
    /// The token that [`Server::close`] cancels. It ends the start in progress, and the calls that wait for a start.
    closed: CancellationToken,
}

/// A running server, and the information that it has sent about itself.
struct Live {
    running: RunningService<RoleClient, Handler>,
    /// The server's process; `None` if the server is reached by a URL.
    process: Option<Process>,
    changed: Arc<AtomicBool>,
    /// Whether the server no longer knows the session.
    is_lost: bool,
    reports: Reports,
    questions: Questions,
    definitions: Arc<Definitions>,
    listed: tokio::time::Instant,
    /// The request for a new list of tools that has no answer yet.
    listing: Option<Listing>,
}

/// The part of a connection that calls use.
struct Line {
    /// Identifies the connection, because its [`Live`] has the same pointer.
    changed: Arc<AtomicBool>,
    peer: Peer<RoleClient>,
    reports: Reports,
    questions: Questions,
    /// The server's standard error, if this process has started it.
    said: Option<ServerStderr>,
}

/// The outcome of one attempt to make a call.
enum Attempt {
    Answered(Box<CallToolResponse>),
    /// The server does not know the session, and has not worked on the call.
    SessionUnknown(Line),
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

    /// Returns a digest of the program or the URL by which the server is reached.
    pub(super) fn identity(&self) -> String {
        self.config.reached.identity()
    }

    /// Returns the digits by which a call of [`mcp_exec`](crate::mcp_exec) names a tool: they stand for its
    /// definition and for the server that answers, so that an approval does not count for another server of the same
    /// name.
    pub(super) fn digest_of(&self, tool: &ForeignTool) -> String {
        self.digest(&tool.fingerprint)
    }

    /// Returns the digits for the definition with this fingerprint.
    pub(super) fn digest(&self, fingerprint: &str) -> String {
        let mut digits = hex_digest(&format!("{}\n{fingerprint}", self.identity()));
        digits.truncate(DIGITS);
        digits
    }

    /// Returns how long a call may take without an answer or a progress report, if the configuration sets it.
    pub(super) fn call_timeout(&self) -> Option<Duration> {
        self.config.call_timeout
    }

    /// Returns the server's present tools.
    pub(crate) async fn definitions(self: &Arc<Self>) -> Result<Arc<Definitions>, ToolError> {
        let (_, definitions) = self.live(&self.closed()).await?;
        Ok(definitions)
    }

    /// Returns a tool from the last list, by its name in this application. Neither starts the server nor asks it; the
    /// server may have ended since.
    pub(super) fn last_listed(&self, name: &str) -> Option<Arc<ForeignTool>> {
        self.state().last_list.as_ref()?.get(name)
    }

    /// Calls a tool, if its definition has not changed. The request is cancelled when the future is dropped, when the
    /// server sends nothing for longer than `patience`, or when it only reports progress for ten times as long.
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
            // The server has not worked on the call. Before the call is repeated in a new session, the tool's definition is
            // compared again.
            Attempt::SessionUnknown(line) => {
                self.lose(&line);
                match self.attempt(tool, request, patience, context, &closed).await? {
                    Attempt::Answered(answer) => answer,
                    // The server does not know what the call asks for; other calls can use the new session.
                    Attempt::SessionUnknown(_) => return Err(self.unknown_twice(tool)),
                }
            }
        };
        self.state().restart.note_answer();
        match *answer {
            CallToolResponse::Complete(answer) => result::output(tool, answer),
            _ => {
                let words = format!(
                    "the MCP server `{}` asks the client to make the call again, which this application does not support",
                    self.name
                );
                Err(ToolError::new("unsupported_answer", words).class(ErrorClass::Unknown))
            }
        }
    }

    /// Makes a call once, if the tool's definition has not changed.
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
        self.rounds(line, request, patience, context).await
    }

    /// Notes that the server no longer knows the session of this connection, so that the next call begins a new session.
    fn lose(&self, line: &Line) {
        let mut state = self.state();
        if let Some(live) = &mut state.live
            && Arc::ptr_eq(&live.changed, &line.changed)
        {
            live.is_lost = true;
        }
    }

    /// Returns a token that is cancelled when the servers are closed the next time.
    fn closed(&self) -> CancellationToken {
        self.state().closed.clone()
    }

    fn answers(&self) -> Answers {
        self.answers.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends the server, if it runs. Aborts a start in progress without waiting for it; the calls that wait for that
    /// start fail.
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

    /// Returns the connection and the present tools. A start continues even if the call that needs it is given up,
    /// because a person may be about to sign in. The next call then finds the server started.
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

    /// Returns the present connection, and the tools of the last list.
    fn line(&self) -> Option<(Line, Arc<Definitions>)> {
        let state = self.state();
        let live = state.live.as_ref().filter(|live| !live.has_ended())?;
        let (reports, questions) = (live.reports.clone(), live.questions.clone());
        let (peer, changed) = (live.running.peer().clone(), Arc::clone(&live.changed));
        let said = live.process.as_ref().map(|process| process.said().clone());
        let line = Line { changed, peer, reports, questions, said };
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
        // Closing the input of a server asks it to end by itself.
        let mut running = self.running;
        // A server that does not read its input blocks this call, hence the time limit; `process.end()` below ends the
        // server.
        let _ = running.close_with_timeout(CLOSES).await;
        if let Some(process) = self.process {
            process.end().await;
        }
    }
}
