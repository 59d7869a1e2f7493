//! One session: a run of the executor, the tools that its client has listed, and its waiting calls.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;
use rmcp::ErrorData;
use rmcp::model::{CallToolResponse, GetPromptResult, JsonObject, Task};
use toolwright::{
    Call, CallFailure, CallId, CancellationToken, ErrorClass, Executor, Outcome, Profile, Run,
    SuspendedCall, ToolError, error_kind,
};
use uuid::Uuid;

use super::client::ConnectedClient;
use super::elicitation::EnteredRun;
use super::listing::ShownTools;
use super::offers::Subscriptions;
use super::progress::Reports;
use super::rounds::{Purpose, Rounds};
use super::tasks::Tasks;
use super::{McpServer, ServeError};

/// The maximum number of waiting calls that a session remembers, so that a client cannot fill the memory. Calls whose
/// deadline for a decision has passed make room for others. A call that finds no room is cancelled.
const MOST_WAITING: usize = 1024;

pub(super) struct Session {
    executor: Executor,
    run: Run,
    profile: Option<Profile>,
    /// The name of the profile that the application has chosen for the user.
    #[cfg(feature = "http-server")]
    chosen: Option<String>,
    /// The token that is cancelled when the session ends: the client disconnects, is idle for too long, or the server ends.
    ended: CancellationToken,
    shown: Mutex<Arc<PinnedRun>>,
    /// The calls that wait, by tool and arguments.
    waiting: Arc<Mutex<HashMap<Purpose, Waiting>>>,
    pub(super) reports: Arc<Reports>,
    pub(super) client: ConnectedClient,
    pub(super) subscribed: Arc<Subscriptions>,
    /// Whether the client is already notified of changes.
    is_notified: AtomicBool,
    /// The calls and prompts that wait for answers of the session's client.
    pub(super) calls: Rounds<CallToolResponse>,
    pub(super) prompts: Rounds<GetPromptResult>,
    pub(super) tasks: Tasks,
    /// Unregisters the client from the approver when the session is dropped.
    _entered: Option<EnteredRun>,
}

/// The tools that the client has listed last, and the run that calls these tools.
pub(super) struct PinnedRun {
    pub(super) shown: ShownTools,
    run: Run,
}

/// A call that waits and has no answer yet.
#[derive(Clone)]
struct Waiting {
    call: CallId,
    /// The id of the call in the executor.
    id: String,
    /// The deadline for a person's decision; `None` if the call waits for something else.
    deadline: Option<Timestamp>,
}

/// A call that is about to be made.
pub(super) struct PlannedCall {
    pinned: Arc<PinnedRun>,
    tool: String,
    /// Whether the tool is in the list of the client.
    pub(super) is_listed: bool,
    arguments: String,
    waiting: Option<CallId>,
    /// The id of the call in the executor.
    pub(super) id: String,
}

impl Session {
    /// Starts a session for the user whom the transport has authenticated. If there is no such user, the application
    /// may name one.
    pub(super) fn start(
        server: &McpServer,
        ended: CancellationToken,
        user: Option<&str>,
    ) -> Result<Self, ServeError> {
        let reports = Arc::new(Reports::default());
        let receiver = Arc::clone(&reports);
        let id = format!("mcp-{}", Uuid::now_v7());
        let run = server.executor.run(id.clone()).session(id).cancelled_by(ended.clone());
        let run = run.on_progress(move |event| receiver.receive(event));
        let run = match &server.start {
            Some(start) => start(run, user),
            None => run,
        };
        // The authenticated user replaces any other user that the application sets.
        let run = match user {
            Some(user) => run.user(user),
            None => run,
        };
        let client = ConnectedClient::default();
        let run = match server.offers.client {
            true => run.with(client.clone()),
            false => run,
        };
        let run = run.start()?;
        let chosen = server.choose.as_ref().map(|choose| choose(run.user()));
        let profile = match &chosen {
            Some(profile) => {
                let found = server.profiles.get(profile).map_err(|error| {
                    let user = run.user().map(str::to_owned);
                    tracing::warn!(user, %error, "a session is refused, because its user has no profile");
                    ServeError::NoProfile { user, profile: profile.clone() }
                })?;
                Some(found.clone())
            }
            None => server.profile.clone(),
        };
        let shown = Mutex::new(Arc::new(PinnedRun::of(&run, &server.executor, profile.as_ref())?));
        let executor = server.executor.clone();
        let approver = server.offers.approver.as_ref();
        let entered = approver.map(|it| it.enter(run.id(), &client, &executor));
        let waiting = Arc::default();
        Ok(Self {
            executor,
            run,
            profile,
            #[cfg(feature = "http-server")]
            chosen,
            ended,
            shown,
            waiting,
            reports,
            client,
            subscribed: Arc::default(),
            is_notified: AtomicBool::new(false),
            calls: Rounds::default(),
            prompts: Rounds::default(),
            tasks: Tasks::default(),
            _entered: entered,
        })
    }

    /// Returns the tools that the client has listed last.
    pub(super) fn pinned(&self) -> Arc<PinnedRun> {
        Arc::clone(&lock(&self.shown))
    }

    /// Pins the registry's present tools for the first page of a list, and returns them.
    pub(super) fn pin(&self) -> Result<Arc<PinnedRun>, ServeError> {
        let now = self.executor.registry().generation();
        let mut shown = lock(&self.shown);
        if shown.shown.catalog.generation() != now {
            *shown = Arc::new(PinnedRun::of(&self.run, &self.executor, self.profile.as_ref())?);
        }
        Ok(Arc::clone(&shown))
    }

    /// Plans a call of a tool that the client has listed, or that a resolver may know; `None` if the tool is hidden.
    pub(super) fn plan(&self, name: &str, arguments: Option<JsonObject>) -> Option<PlannedCall> {
        let pinned = self.pinned();
        let listed = pinned.shown.tool(name);
        // Only programs of the application may call hidden tools, not models.
        if listed.is_none() && pinned.shown.catalog.get(name).is_some() {
            return None;
        }
        let (is_listed, tool) = (listed.is_some(), listed.unwrap_or(name).to_owned());
        let arguments = serde_json::Value::Object(arguments.unwrap_or_default()).to_string();
        let waiting = {
            let waiting = lock(&self.waiting);
            // Computing the key costs as much as a small call, so it is avoided if no call waits.
            match waiting.is_empty() {
                true => None,
                false => waiting.get(&purpose(&tool, &arguments)).cloned(),
            }
        };
        let (waiting, id) = match waiting {
            Some(waiting) => (Some(waiting.call), waiting.id),
            None => (None, format!("mcp-{}", Uuid::now_v7())),
        };
        Some(PlannedCall { pinned, tool, is_listed, arguments, waiting, id })
    }

    /// Makes the call, or continues a waiting call of the same tool with the same arguments.
    pub(super) async fn perform(
        &self,
        planned: &PlannedCall,
        cancelled: CancellationToken,
    ) -> Outcome {
        let run = &planned.pinned.run;
        let worker = planned.waiting.and_then(|call| Some((call, run.worker()?)));
        let outcome = match worker {
            Some((call, worker)) => tokio::select! {
                outcome = worker.resume(call) => outcome,
                // The call stays in the journal, as if its worker had died; the client does not read this answer.
                () = cancelled.cancelled() => return Outcome::Answered(given_up(planned.tool()).into()),
            },
            None => {
                let call = Call::new(&*planned.tool, &*planned.arguments).id(&*planned.id);
                run.submit(&call.cancelled_by(cancelled)).await
            }
        };
        match &outcome {
            Outcome::Suspended(waits) if !self.remember(planned, waits) => {
                let call = waits.call;
                return self.refuse(planned, call).await;
            }
            // Only a call that has an answer or is not in the journal is over: after other failures, it still waits.
            Outcome::Answered(_) | Outcome::Failed(CallFailure::NoSuchCall(_))
                if planned.waiting.is_some() =>
            {
                lock(&self.waiting).remove(&planned.purpose());
            }
            _ => {}
        }
        outcome
    }

    /// Remembers a waiting call, so that repeating the same call continues it. Returns `false` if the session has no
    /// room.
    fn remember(&self, planned: &PlannedCall, waits: &SuspendedCall) -> bool {
        let deadline = waits.request.as_ref().map(|request| request.deadline);
        let call = Waiting { call: waits.call, id: planned.id.clone(), deadline };
        let mut waiting = lock(&self.waiting);
        if waiting.len() >= MOST_WAITING {
            let now = self.now();
            waiting.retain(|_, it| it.deadline.is_none_or(|deadline| now < deadline));
        }
        let has_room = waiting.len() < MOST_WAITING || planned.waiting.is_some();
        if has_room {
            waiting.insert(planned.purpose(), call);
        }
        has_room
    }

    /// Cancels a waiting call that could not be remembered, because a repetition would make a second call in the
    /// journal.
    async fn refuse(&self, planned: &PlannedCall, call: CallId) -> Outcome {
        if let Some(worker) = self.run.worker()
            && let failed @ Outcome::Failed(_) = worker.cancel(call).await
        {
            return failed;
        }
        let words = format!(
            "`{}` waits for a person, as do {MOST_WAITING} other calls of yours, which is the maximum; the call was cancelled",
            planned.tool()
        );
        let error = ToolError::new("too_many_waiting", words);
        let class = ErrorClass::NotStarted { retry_after: None };
        Outcome::Answered(
            error.class(class).hint("make the call again when others are decided").into(),
        )
    }

    /// Returns the task for a waiting call, if the call is answered with one.
    pub(super) fn task(&self, planned: &PlannedCall, outcome: &Outcome) -> Option<Task> {
        let Outcome::Suspended(waits) = outcome else { return None };
        let (waiting, key, call) = (Arc::clone(&self.waiting), planned.purpose(), waits.call);
        // Once the task's call has ended, an equal call is a new call.
        let ended = move || {
            let mut waiting = lock(&waiting);
            if waiting.get(&key).is_some_and(|it| it.call == call) {
                waiting.remove(&key);
            }
        };
        self.tasks.of(planned.tool(), waits, planned.pinned.run.worker()?, ended)
    }

    /// Cancels the call of a task, unless it has begun.
    pub(super) async fn cancel_task(&self, id: &str) -> Result<(), ErrorData> {
        if let Some(call) = self.tasks.cancel(id)?
            && let Some(worker) = self.run.worker()
            && let Outcome::Failed(failure) = worker.cancel(call).await
        {
            tracing::error!(%call, %failure, "the call of a task could not be cancelled");
        }
        Ok(())
    }

    /// Reports whether the application still chooses the profile of this session for its user.
    #[cfg(feature = "http-server")]
    pub(super) fn has_profile_of(&self, server: &McpServer) -> bool {
        server.choose.as_ref().map(|choose| choose(self.user())) == self.chosen
    }

    /// Reports whether a call still waits, and the deadline for its decision has not passed.
    #[cfg(feature = "http-server")]
    pub(super) fn waits(&self) -> bool {
        let waiting = lock(&self.waiting);
        // The clock is read only if a call waits.
        !waiting.is_empty() && {
            let now = self.now();
            waiting.values().any(|it| it.deadline.is_none_or(|deadline| now < deadline))
        }
    }

    /// Returns the time by the journal's clock, by which the deadlines are set.
    fn now(&self) -> Timestamp {
        let journal = self.executor.journal_access();
        journal.map_or_else(Timestamp::now, |journal| journal.now())
    }

    /// Notes that the client is notified of changes from now on. Returns `false` if it already was.
    pub(super) fn begins_notifying(&self) -> bool {
        !self.is_notified.swap(true, Ordering::SeqCst)
    }

    /// Returns the token that is cancelled when the session ends.
    pub(super) fn ended(&self) -> CancellationToken {
        self.ended.clone()
    }

    pub(super) fn user(&self) -> Option<&str> {
        self.run.user()
    }

    /// Cancels the calls in progress.
    pub(super) fn cancel(&self) {
        self.ended.cancel();
    }

    /// Ends the session after the client has disconnected: calls that have not begun never begin.
    pub(super) async fn end(&self) {
        self.cancel();
        let Some(worker) = self.run.worker() else { return };
        if let Err(failure) = worker.end_run(self.run.id()).await {
            tracing::error!(run = self.run.id(), %failure, "the run of a session could not be ended");
        }
    }
}

impl PinnedRun {
    fn of(run: &Run, executor: &Executor, profile: Option<&Profile>) -> Result<Self, ServeError> {
        let catalog = executor.registry().catalog();
        let catalog = match profile {
            Some(profile) => catalog.select(profile)?,
            None => catalog,
        };
        let shown = ShownTools::of(&catalog)?;
        let run = run.pinned(&shown.catalog);
        Ok(Self { shown, run })
    }
}

impl PlannedCall {
    pub(super) fn tool(&self) -> &str {
        &self.tool
    }

    pub(super) fn purpose(&self) -> Purpose {
        purpose(&self.tool, &self.arguments)
    }
}

/// Identifies a call by its tool and the canonical form of its arguments.
fn purpose(tool: &str, arguments: &str) -> Purpose {
    let spelling = toolwright::unstable::arguments::canonical(arguments);
    Purpose::of("tools/call", tool, spelling.as_deref().unwrap_or(arguments))
}

fn given_up(tool: &str) -> ToolError {
    ToolError::new(error_kind::CANCELLED, format!("the call of `{tool}` was cancelled"))
        .class(ErrorClass::Cancelled)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
