//! Runs one call. Most calls end at their first poll, in a plain function on the stack. A boxed future is made only for
//! a call that waits, that is watched (by listeners, tracing or a journal), or that needs values of its own.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures::future::BoxFuture;
use tracing::Instrument;

use crate::attempt::{Progress, Stages};
use crate::call::{InTurn, RunState, record};
use crate::lifecycle::{Lifecycle, on_heap};
use crate::stage::{self, FoundTool};
use toolwright_core::call::Call;
use toolwright_core::output::Answer;

/// The future of one call, made by [`Executor::call`](super::Executor::call). It returns the answer of the call.
#[must_use = "a call does nothing until it is awaited"]
pub struct Calling<'a> {
    run: &'a Arc<RunState>,
    call: &'a Call<'a>,
    in_turn: Option<&'a InTurn>,
    state: State<'a>,
}

enum State<'a> {
    New,
    Waiting(BoxFuture<'a, Answer>),
    Ended,
}

impl<'a> Calling<'a> {
    #[inline]
    pub(super) fn new(run: &'a Arc<RunState>, call: &'a Call<'a>) -> Self {
        Self { run, call, in_turn: None, state: State::New }
    }

    /// Makes a call of a turn that no journal records.
    pub(super) fn of_turn(
        run: &'a Arc<RunState>,
        call: &'a Call<'a>,
        in_turn: Option<&'a InTurn>,
    ) -> Self {
        Self { run, call, in_turn, state: State::New }
    }
}

impl Future for Calling<'_> {
    type Output = Answer;

    #[inline]
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Answer> {
        let this = &mut *self;
        let mut rest = match std::mem::replace(&mut this.state, State::Ended) {
            State::New => match start(this.run, this.call, this.in_turn, context) {
                Ok(answer) => {
                    this.run.read_text().note(&answer);
                    return Poll::Ready(answer);
                }
                Err(rest) => rest,
            },
            State::Waiting(rest) => rest,
            State::Ended => panic!("a call was polled after it had been answered"),
        };
        let polled = rest.as_mut().poll(context);
        match &polled {
            Poll::Pending => this.state = State::Waiting(rest),
            Poll::Ready(answer) => this.run.read_text().note(answer),
        }
        polled
    }
}

impl std::fmt::Debug for Calling<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Calling").field("call", self.call).finish_non_exhaustive()
    }
}

/// Answers a call at once, or returns a future that completes the call.
#[inline]
fn start<'a>(
    run: &'a Arc<RunState>,
    call: &'a Call<'a>,
    in_turn: Option<&'a InTurn>,
    context: &mut Context<'_>,
) -> Result<Answer, BoxFuture<'a, Answer>> {
    if record::is_wanted(run) {
        return Err(Box::pin(perform(run, call, in_turn)));
    }
    let Some(plan) = run.ready.plan(call.name()) else {
        return Err(Box::pin(seek_and_call(run, call, in_turn)));
    };
    let stages = Stages::new(run, plan, call, None).at(in_turn.map(|it| &it.slot));
    if plan.needs_more || call.brings().next().is_some() {
        return Err(Box::pin(stages.with_own(None)));
    }
    match stages.first_poll(None, context) {
        Progress::Ended(answer) if answer.is_error() => stages.failed_at_once(answer),
        Progress::Ended(answer) => Ok(answer),
        Progress::Waiting(future) => Err(Box::pin(stages.wait_and_repeat(None, future))),
        Progress::Running(admitted, future) => {
            Err(Box::pin(stages.wait_and_repeat(Some(admitted), future)))
        }
        Progress::Unvalidated => Err(Box::pin(stages.with_own(None))),
    }
}

/// Calls a tool for which the prepared catalog has no plan, because the tool was registered later or a resolver has to
/// find it.
async fn seek_and_call(run: &Arc<RunState>, call: &Call<'_>, in_turn: Option<&InTurn>) -> Answer {
    match stage::seek(run, call).await {
        Ok(found) => {
            let stages = Stages::new(run, found.plan(), call, None);
            stages.at(in_turn.map(|it| &it.slot)).with_own(None).await
        }
        Err(error) => error.into(),
    }
}

/// Runs a call that is observed by listeners, tracing or a journal.
async fn perform(run: &Arc<RunState>, call: &Call<'_>, in_turn: Option<&InTurn>) -> Answer {
    match Lifecycle::of(run) {
        Some(lifecycle) => on_heap(|| lifecycle.answer(call)).await,
        None => perform_unrecorded(run, call, in_turn).await,
    }
}

/// Runs a call that no journal records, with listeners and tracing.
pub(super) async fn perform_unrecorded(
    run: &Arc<RunState>,
    call: &Call<'_>,
    in_turn: Option<&InTurn>,
) -> Answer {
    // Keeps a drain waiting until listeners have received the last event of this call.
    let _telling = run.core.telling.enter_at_once();
    // The tool is looked up once, so that events name the tool that runs.
    let found = stage::find(run, call.name());
    let span = record::span(run, call, found.as_ref().ok().map(FoundTool::definition));
    let watch = record::Watch::start(run, call);
    if let (Some(watch), Some(waited)) = (&watch, in_turn.and_then(|it| it.waited)) {
        watch.report_wait(waited);
    }
    let answered = async {
        let found = match found {
            Ok(found) => found,
            Err(_) => match stage::seek(run, call).await {
                Ok(found) => found,
                Err(error) => return (error.into(), None),
            },
        };
        if let Some(watch) = &watch {
            watch.is_for(found.definition());
        }
        let stages =
            Stages::new(run, found.plan(), call, watch.as_ref()).at(in_turn.map(|it| &it.slot));
        (stages.with_own(None).await, Some(found))
    };
    let (answer, found): (Answer, _) = answered.instrument(span.clone()).await;
    record::conclude(&span, run, call, found.as_ref().map(FoundTool::definition), &answer);
    if let Some(watch) = watch {
        watch.end(&answer);
    }
    answer
}
