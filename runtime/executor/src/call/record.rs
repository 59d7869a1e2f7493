//! Reports the events of a call to listeners and tracing.

use std::error::Error;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tracing::Span;
use tracing::field::{Empty, display};
use tracing::level_filters::LevelFilter;

use super::run_state::RunState;
use crate::event::{ToolEvent, ToolEventKind};
use toolwright_core::call::Call;
use toolwright_core::context::CallId;
use toolwright_core::error::ToolError;
use toolwright_core::output::Answer;
use toolwright_core::repairs::Repairs;
use toolwright_core::tool::Definition;
use toolwright_journal::approval::ApprovalRequest;
use toolwright_journal::journal::{CallRecord, State, StoredText};
use toolwright_policy::policy::PolicyDecision;

/// Returns whether a listener, tracing or a journal observes calls. Otherwise, calls save that work. For tracing, only
/// the level is checked, because a filter by name needs the span itself.
#[inline]
pub(crate) fn is_wanted(run: &RunState) -> bool {
    !run.core.is_plain || run.is_heard() || tracing::Level::INFO <= LevelFilter::current()
}

/// The text that listeners receive instead of a text that may repeat a secret.
const NOT_SHOWN: &str = "(not shown, because its tool takes a secret)";

/// The reporter of one call's events to listeners. If this value is dropped before the end of the call, it reports
/// `Abandoned`.
pub(crate) struct Watch<'a> {
    pub(crate) id: CallId,
    run: &'a RunState,
    call: &'a Call<'a>,
    /// The run of the call, if a worker carries the call out for another run.
    of_run: Option<Box<str>>,
    digest: Mutex<Option<Arc<str>>>,
    /// The number of the present attempt; 0 before the first one.
    attempt: AtomicU32,
    /// Whether the arguments may contain a secret, which an answer or an error may repeat.
    is_secret: AtomicBool,
    started: Instant,
    ended: bool,
}

impl<'a> Watch<'a> {
    /// Starts the observation of a call for its events; `None` if there is no listener.
    #[inline]
    pub(crate) fn start(run: &'a RunState, call: &'a Call<'a>) -> Option<Self> {
        Self::follow(run, call, CallId::new)
    }

    /// Starts the observation of a call that already has an id.
    #[inline]
    pub(crate) fn follow(
        run: &'a RunState,
        call: &'a Call<'a>,
        id: impl FnOnce() -> CallId,
    ) -> Option<Self> {
        if !run.is_heard() {
            return None;
        }
        Some(Self::new(run, call, id(), None).report_begin())
    }

    /// Starts the observation of a call that has waited in the journal, perhaps in another run, and is claimed now.
    pub(crate) fn resume(
        run: &'a RunState,
        call: &'a Call<'a>,
        record: &CallRecord,
    ) -> Option<Self> {
        if !run.is_heard() {
            return None;
        }
        let of_run = (record.place.run != run.id()).then(|| record.place.run.as_str().into());
        let watch = Self::new(run, call, record.id, of_run);
        watch.set_claimed(record);
        Some(watch.report_begin())
    }

    #[cold]
    fn new(run: &'a RunState, call: &'a Call<'a>, id: CallId, of_run: Option<Box<str>>) -> Self {
        Self {
            id,
            run,
            call,
            of_run,
            digest: Mutex::default(),
            attempt: AtomicU32::new(0),
            is_secret: AtomicBool::new(false),
            started: Instant::now(),
            ended: false,
        }
    }

    fn report_begin(self) -> Self {
        self.tell(ToolEventKind::Started);
        self
    }

    #[cold]
    pub(crate) fn set_claimed(&self, record: &CallRecord) {
        self.set_final_arguments(record);
        self.attempt.store(record.attempt.saturating_sub(1), Ordering::Relaxed);
    }

    /// Sets the digest of the final arguments, which later events report.
    #[cold]
    pub(crate) fn set_final_arguments(&self, record: &CallRecord) {
        let digest = record.digest.as_str().into();
        *self.digest.lock().unwrap_or_else(PoisonError::into_inner) = Some(digest);
        self.is_of(record);
    }

    /// Notes from the record whether the arguments may contain a secret.
    pub(crate) fn is_of(&self, record: &CallRecord) {
        if !matches!(record.arguments, StoredText::Plain(_)) {
            self.is_secret.store(true, Ordering::Relaxed);
        }
    }

    /// Notes from the definition of the tool whether the arguments may contain a secret.
    #[cold]
    pub(crate) fn is_for(&self, tool: &Definition) {
        if takes_a_secret(Some(tool)) {
            self.is_secret.store(true, Ordering::Relaxed);
        }
    }

    /// Reports that the call had to wait for a conflicting earlier call of its turn.
    #[cold]
    pub(crate) fn report_wait(&self, waited: Duration) {
        self.tell(ToolEventKind::Waited { waited });
    }

    pub(crate) fn report_repairs(&self, repairs: &Repairs) {
        self.tell(ToolEventKind::Repaired { repairs });
    }

    #[cold]
    pub(crate) fn report_decision(&self, verdict: &PolicyDecision) {
        self.tell(ToolEventKind::Judged { verdict });
    }

    #[cold]
    pub(crate) fn report_question(&self, request: &ApprovalRequest) {
        self.tell(ToolEventKind::Asked { request });
    }

    #[cold]
    pub(crate) fn report_suspension(mut self, state: State) {
        self.ended = true;
        self.tell(ToolEventKind::Suspended { state, elapsed: self.started.elapsed() });
    }

    #[cold]
    pub(crate) fn executing(&self) {
        self.attempt.fetch_add(1, Ordering::Relaxed);
        self.tell(ToolEventKind::Executing);
    }

    #[cold]
    pub(crate) fn retrying(&self, attempt: u32, error: &ToolError, delay: Duration) {
        let shown = self.shown_error(error);
        self.tell(ToolEventKind::Retrying {
            attempt,
            error: shown.as_ref().unwrap_or(error),
            delay,
        });
    }

    #[cold]
    pub(crate) fn end(mut self, answer: &Answer) {
        self.ended = true;
        let elapsed = self.started.elapsed();
        match answer.error() {
            Some(error) => {
                let shown = self.shown_error(error);
                let error = shown.as_ref().unwrap_or(error);
                self.tell(ToolEventKind::Failed { error, elapsed });
            }
            None if self.is_secret.load(Ordering::Relaxed) => {
                let answer = &Answer::from_text(NOT_SHOWN.to_owned());
                self.tell(ToolEventKind::Completed { answer, elapsed });
            }
            None => self.tell(ToolEventKind::Completed { answer, elapsed }),
        }
    }

    /// Returns an error without texts for listeners, if the texts may repeat a secret; `None` if listeners receive the
    /// error itself.
    fn shown_error(&self, error: &ToolError) -> Option<ToolError> {
        let is_secret = self.is_secret.load(Ordering::Relaxed);
        is_secret.then(|| {
            let shown = ToolError::new(error.kind().to_owned(), NOT_SHOWN);
            let shown = shown.class(error.classified());
            match error.done() {
                Some(done) => shown.by_executor(done),
                None => shown,
            }
        })
    }

    pub(crate) fn tell(&self, kind: ToolEventKind<'_>) {
        let digest = self.digest.lock().unwrap_or_else(PoisonError::into_inner).clone();
        self.run.tell(&ToolEvent {
            call: self.id,
            provider_id: self.call.id.as_deref(),
            run: self.of_run.as_deref().unwrap_or(self.run.id()),
            tool: self.call.name(),
            digest: digest.as_deref(),
            attempt: Some(self.attempt.load(Ordering::Relaxed)).filter(|attempt| *attempt > 0),
            kind,
        });
    }
}

impl Drop for Watch<'_> {
    fn drop(&mut self) {
        if !self.ended {
            self.tell(ToolEventKind::Abandoned { elapsed: self.started.elapsed() });
        }
    }
}

/// Makes a span according to the OpenTelemetry conventions for generative AI.
pub(crate) fn span(run: &RunState, call: &Call<'_>, tool: Option<&Definition>) -> Span {
    let span = tracing::info_span!(
        "execute_tool",
        otel.name = Empty,
        otel.status_code = Empty,
        gen_ai.operation.name = "execute_tool",
        gen_ai.tool.name = call.name(),
        gen_ai.tool.r#type = "function",
        gen_ai.tool.call.id = call.id.as_deref(),
        gen_ai.tool.description = Empty,
        gen_ai.tool.call.arguments = Empty,
        gen_ai.tool.call.result = Empty,
        error.r#type = Empty,
    );
    if span.is_disabled() {
        return span;
    }
    span.record("otel.name", display(format_args!("execute_tool {}", call.name())));
    let Some(definition) = tool else { return span };
    span.record("gen_ai.tool.description", &*definition.description);
    if run.core.records_content && !takes_a_secret(tool) {
        span.record("gen_ai.tool.call.arguments", call.arguments());
    }
    span
}

/// Records the end of a call in the call's tracing span.
pub(crate) fn conclude(
    span: &Span,
    run: &RunState,
    call: &Call<'_>,
    tool: Option<&Definition>,
    answer: &Answer,
) {
    if let Some(error) = answer.error() {
        span.record("error.type", error.kind());
        span.record("otel.status_code", "ERROR");
        tell_operators(call, tool, error);
    }
    if run.core.records_content && !takes_a_secret(tool) {
        span.record("gen_ai.tool.call.result", &*answer.text());
    }
}

/// Writes why a call failed as a tracing event for operators; the model does not see it.
fn tell_operators(call: &Call<'_>, tool: Option<&Definition>, error: &ToolError) {
    if let Some(cause) = error.source().filter(|_| !takes_a_secret(tool)) {
        let cause = chain(cause);
        tracing::warn!(tool = call.name(), error.r#type = error.kind(), cause, "a tool failed");
    }
}

/// Returns an error and its chain of causes as one text, the outermost first.
#[doc(hidden)]
pub fn chain(error: &(dyn Error + 'static)) -> String {
    let mut words = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        words.push_str(": ");
        words.push_str(&cause.to_string());
        next = cause.source();
    }
    words
}

/// Returns whether the tool takes a secret, which a result may repeat.
fn takes_a_secret(tool: Option<&Definition>) -> bool {
    tool.is_some_and(|it| it.secrets().next().is_some())
}
