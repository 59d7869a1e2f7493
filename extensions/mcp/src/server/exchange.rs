//! The questions of a tool or a prompt to a client without a session, and the client's answers.
//!
//! From the revision 2026-07-28 on, a server sends no requests. While a tool waits for answers, the server answers the client's
//! own request with the questions; the client then repeats the request with the answers ([`rounds`](super::rounds)).

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rmcp::model::{ClientCapabilities, InputRequest, InputRequests, InputResponses, ProgressToken};
use rmcp::service::{Peer, RequestContext};
use rmcp::{ErrorData, RoleServer};
use serde_json::Value;
use tokio::sync::oneshot;
use toolwright::ToolError;

use super::client::LogLevel;

/// How long a question waits for its answer, unless the tool has less time.
pub(super) const PATIENCE: Duration = Duration::from_secs(600);

tokio::task_local! {
    /// The exchange of the tool or prompt that the current task runs.
    static CURRENT: Arc<Exchange>;
}

/// The client of one tool call or prompt, for which the client may send several requests.
pub(super) struct Exchange {
    capabilities: ClientCapabilities,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The request to be answered now; `None` while the server waits for the next request.
    attending: Option<Attending>,
    /// The answers that came with the first request, for questions that the tool itself gives a name.
    early: InputResponses,
    open: BTreeMap<String, Open>,
    /// How many questions without a name of their own were asked.
    numbered: usize,
    /// The capability that the tool used although the client did not declare it.
    lacking: Option<ClientCapabilities>,
}

/// A question that has no answer yet.
struct Open {
    request: InputRequest,
    answer: oneshot::Sender<Value>,
}

/// The request of the client that is being answered.
#[derive(Clone)]
pub(super) struct Attending {
    pub(super) peer: Peer<RoleServer>,
    /// The minimum level of log messages that the request asks for.
    pub(super) log: Option<LogLevel>,
    pub(super) progress: Option<ProgressToken>,
}

impl Attending {
    fn of(context: &RequestContext<RoleServer>) -> Self {
        Self {
            peer: context.peer.clone(),
            log: context.meta.log_level().map(LogLevel::of),
            progress: context.meta.get_progress_token(),
        }
    }
}

impl Exchange {
    /// Reports whether the server cannot send requests in the client's revision, so that questions need an exchange.
    pub(super) fn is_needed(context: &RequestContext<RoleServer>) -> bool {
        context.protocol_version().is_some_and(|version| !version.has_initialize())
    }

    /// Begins the exchange of a client's request.
    ///
    /// # Errors
    /// When an answer that arrived with the request is malformed.
    pub(super) fn begin(
        context: &RequestContext<RoleServer>,
        early: Option<InputResponses>,
    ) -> Result<Arc<Self>, ErrorData> {
        let early = early.unwrap_or_default();
        early.iter().try_for_each(|(key, answer)| check(key, answer))?;
        let attending = Some(Attending::of(context));
        let state = Mutex::new(State { attending, early, ..State::default() });
        let capabilities = context.client_capabilities().unwrap_or_default();
        Ok(Arc::new(Self { capabilities, state }))
    }

    pub(super) fn current() -> Option<Arc<Self>> {
        CURRENT.try_with(Arc::clone).ok()
    }

    /// Runs the work of a tool or prompt; the questions that the work asks go through this exchange.
    pub(super) fn over<F: Future>(
        self: &Arc<Self>,
        work: F,
    ) -> impl Future<Output = F::Output> + use<F> {
        CURRENT.scope(Arc::clone(self), work)
    }

    pub(super) fn capabilities(&self) -> &ClientCapabilities {
        &self.capabilities
    }

    pub(super) fn attending(&self) -> Option<Attending> {
        self.lock().attending.clone()
    }

    /// Notes that the client has sent the request again, with answers to questions.
    pub(super) fn attend(&self, context: &RequestContext<RoleServer>) {
        self.lock().attending = Some(Attending::of(context));
    }

    /// Notes that the tool needs a capability that the client did not declare.
    pub(super) fn lacks(&self, capability: ClientCapabilities) {
        self.lock().lacking = Some(capability);
    }

    pub(super) fn lacking(&self) -> Option<ClientCapabilities> {
        self.lock().lacking.clone()
    }

    /// Asks a question and waits for the answer. An answer that arrived before the question can only be used if the
    /// question has a name.
    pub(super) async fn ask(
        &self,
        name: Option<&str>,
        method: &str,
        request: InputRequest,
    ) -> Result<Value, ToolError> {
        let (key, answer) = {
            let mut state = self.lock();
            if let Some(early) = name.and_then(|name| state.early.remove(name)) {
                return Ok(early);
            }
            let key = match name.filter(|name| !state.open.contains_key(*name)) {
                Some(name) => name.to_owned(),
                None => {
                    state.numbered += 1;
                    format!("{method}-{}", state.numbered)
                }
            };
            let (sender, answer) = oneshot::channel();
            state.open.insert(key.clone(), Open { request, answer: sender });
            (key, answer)
        };
        let unanswered =
            || ToolError::new("client_gone", format!("the client did not answer `{method}`"));
        let answer = tokio::time::timeout(PATIENCE, answer).await;
        self.lock().open.remove(&key);
        answer.ok().and_then(Result::ok).ok_or_else(unanswered)
    }

    /// Returns the questions that wait for an answer.
    pub(super) fn open(&self) -> InputRequests {
        let mut state = self.lock();
        // If a tool has stopped waiting for an answer, its question is no longer asked.
        state.open.retain(|_, open| !open.answer.is_closed());
        state.open.iter().map(|(key, open)| (key.clone(), open.request.clone())).collect()
    }

    pub(super) fn has_open(&self) -> bool {
        self.lock().open.values().any(|open| !open.answer.is_closed())
    }

    /// Delivers each answer to the question with the same name; ignores answers without a question.
    ///
    /// # Errors
    /// When an answer is malformed. In that case no answer is delivered.
    pub(super) fn answer(&self, answers: InputResponses) -> Result<(), ErrorData> {
        let mut state = self.lock();
        for (key, answer) in answers.iter().filter(|(key, _)| state.open.contains_key(*key)) {
            check(key, answer)?;
        }
        for (key, answer) in answers {
            if let Some(open) = state.open.remove(&key) {
                // If the tool has stopped waiting for the answer, the answer is dropped.
                let _ = open.answer.send(answer);
            }
        }
        Ok(())
    }

    /// Notes that the request has been answered, and that the client has to send the next request.
    pub(super) fn rest(&self) {
        self.lock().attending = None;
    }

    /// Drops all open questions, so that the tool stops waiting for them.
    pub(super) fn give_up(&self) {
        self.lock().open.clear();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn check(key: &str, answer: &Value) -> Result<(), ErrorData> {
    match answer.is_object() {
        true => Ok(()),
        false => {
            let words = format!("the answer `{key}` in `inputResponses` is not an object");
            Err(ErrorData::invalid_params(words, None))
        }
    }
}
