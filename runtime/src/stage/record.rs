//! Tells listeners and tracing what became of a call.

use std::sync::OnceLock;
use std::time::Instant;

use tracing::Span;
use tracing::field::{Empty, display};

use crate::call::Call;
use crate::context::CallId;
use crate::event::EventKind;
use crate::executor::Run;
use crate::output::Answer;

/// Follows one call for its listeners. Dropped before the end, it says that the call was abandoned.
pub(crate) struct Watch<'a> {
    run: &'a Run,
    call: &'a Call<'a>,
    id: OnceLock<CallId>,
    /// `None` where nobody listens, or the end has been told.
    started: Option<Instant>,
}

impl<'a> Watch<'a> {
    #[inline]
    pub(crate) fn start(run: &'a Run, call: &'a Call<'a>) -> Self {
        let started = (!run.core.listeners.is_empty()).then(Instant::now);
        let watch = Self { run, call, id: OnceLock::new(), started };
        watch.tell(EventKind::Started);
        watch
    }

    /// The call's id, made when somebody asks for it.
    pub(crate) fn id(&self) -> CallId {
        *self.id.get_or_init(CallId::new)
    }

    #[inline]
    pub(crate) fn executing(&self) {
        self.tell(EventKind::Executing);
    }

    #[inline]
    pub(crate) fn end(mut self, answer: &Answer) {
        if let Some(started) = self.started {
            let elapsed = started.elapsed();
            self.tell(match answer.error() {
                Some(error) => EventKind::Failed { error, elapsed },
                None => EventKind::Completed { answer, elapsed },
            });
            self.started = None;
        }
    }

    #[inline]
    fn tell(&self, kind: EventKind<'_>) {
        if self.started.is_some() {
            self.run.tell(self.id(), self.call.id.as_deref(), &self.call.name, kind);
        }
    }
}

impl Drop for Watch<'_> {
    fn drop(&mut self) {
        if let Some(started) = self.started {
            self.tell(EventKind::Abandoned { elapsed: started.elapsed() });
        }
    }
}

/// A span by the OpenTelemetry conventions for generative AI.
#[inline]
pub(crate) fn span(run: &Run, call: &Call<'_>) -> Span {
    let span = tracing::info_span!(
        "execute_tool",
        otel.name = Empty,
        gen_ai.operation.name = "execute_tool",
        gen_ai.tool.name = &*call.name,
        gen_ai.tool.r#type = "function",
        gen_ai.tool.call.id = call.id.as_deref(),
        gen_ai.tool.description = Empty,
        gen_ai.tool.call.arguments = Empty,
        gen_ai.tool.call.result = Empty,
        error.r#type = Empty,
    );
    if !span.is_disabled() {
        describe(&span, run, call);
    }
    span
}

#[cold]
fn describe(span: &Span, run: &Run, call: &Call<'_>) {
    span.record("otel.name", display(format_args!("execute_tool {}", call.name)));
    let Some(definition) = run.core.registry.get(&call.name) else { return };
    span.record("gen_ai.tool.description", &*definition.description);
    let secret = definition.parameters.iter().any(|parameter| parameter.secret);
    if run.core.records_content && !secret {
        span.record("gen_ai.tool.call.arguments", &*call.arguments);
    }
}

#[inline]
pub(crate) fn answered(run: &Run, span: &Span, answer: &Answer) {
    if !span.is_disabled() {
        conclude(span, run, answer);
    }
}

#[cold]
fn conclude(span: &Span, run: &Run, answer: &Answer) {
    if let Some(error) = answer.error() {
        span.record("error.type", error.kind());
    }
    if run.core.records_content {
        span.record("gen_ai.tool.call.result", &*answer.text());
    }
}
