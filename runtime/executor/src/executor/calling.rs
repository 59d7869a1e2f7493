//! Runs one call. Most calls end at their first poll, in a plain function on the stack. A boxed future is made only for
//! a call that waits, that is watched (by listeners, tracing or a journal), or that needs values of its own.

mod beginning;
mod options;

use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use futures::future::BoxFuture;
use tokio::time::Instant;
use tracing::Instrument;

use super::claim::Claim;
use super::in_turn::{InTurn, Slot};
use super::nested::{Attempt, Family, check_covered, own_to_run};
use super::retrying::deadline;
use super::{Plan, RunState};
use crate::lifecycle::Lifecycle;
use crate::lifecycle::heap::on_heap;
use crate::retry::{Through, unavailable};
use crate::stage::{self, FoundTool, record};
use toolwright_core::call::Call;
use toolwright_core::capability::{Own, Scope};
use toolwright_core::context::{CallId, Identity};
use toolwright_core::error::ToolError;
use toolwright_core::footprint::Facts;
use toolwright_core::output::Answer;
use toolwright_core::repairs::Repairs;

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

/// The stages of one call.
#[derive(Clone, Copy)]
pub(crate) struct Stages<'a> {
    pub(super) run: &'a Arc<RunState>,
    pub(super) plan: &'a Plan,
    pub(super) call: &'a Call<'a>,
    pub(super) arguments: &'a str,
    /// The claim under which the call runs, if there is one. The policy has then decided on the call already, so the
    /// stages do not ask it again.
    pub(super) claimed: Option<&'a Claim>,
    /// Receives the pass of the tool's circuit breaker, when the circuit breaker admits the call.
    entered: Option<&'a Mutex<Option<Through>>>,
    pub(super) watch: Option<&'a record::Watch<'a>>,
    /// The slot of the call in its run, for a call of a turn.
    pub(super) slot: Option<&'a Slot>,
    /// The state that the attempts of the call share; set if the tool makes calls itself.
    family: Option<&'a Arc<Family>>,
    /// The present attempt, if the tool makes calls itself.
    attempt: Option<&'a Attempt>,
    /// Whether the call was attempted before.
    is_again: bool,
    /// When the total timeout of the call ends.
    pub(super) deadline: Option<Instant>,
}

/// The state of a call after its first poll.
enum Progress<'a> {
    Ended(Answer),
    /// The call has not begun, because the tool's validation needs the final arguments or has to wait.
    Unvalidated,
    /// The call waits until the executor or its tool has a free place.
    Waiting(BoxFuture<'a, Answer>),
    /// The tool runs and has returned `Pending`.
    Running(stage::Admission<'a>, BoxFuture<'a, Answer>),
}

impl<'a> Stages<'a> {
    #[inline]
    pub(crate) fn new(
        run: &'a Arc<RunState>,
        plan: &'a Plan,
        call: &'a Call<'a>,
        watch: Option<&'a record::Watch<'a>>,
    ) -> Self {
        let arguments = call.arguments();
        let deadline = deadline(plan);
        let (claimed, entered, slot, is_again) = (None, None, None, false);
        let (family, attempt) = (None, None);
        Self {
            run,
            plan,
            call,
            arguments,
            claimed,
            entered,
            watch,
            slot,
            family,
            attempt,
            is_again,
            deadline,
        }
    }

    /// Runs the stages in order. Any stage may end the call with an error, and so does a panic of the tool.
    #[inline]
    fn first_poll(self, own: Option<&'a Own>, context: &mut Context<'_>) -> Progress<'a> {
        let stages = AssertUnwindSafe(|| {
            let plan = self.plan;
            let mut facts = self.run.core.rules.facts(self.run, plan);
            let scope = Scope::new(&self.run.values, &plan.wiring, self.call, own);
            let mut future = stage::read(plan, scope, self.arguments, self.form(), &mut facts)?;
            if let Some(repairs) = facts.repairs() {
                self.report_repairs(repairs);
            }
            plan.raise_danger(&mut facts);
            check_covered(self.run, plan, &facts)?;
            if plan.validates_at_once && self.claimed.is_none() {
                // If a policy evaluates the call, or its input was repaired, the validation must check the final
                // arguments, because the tool runs with those.
                let is_final = self.run.is_open() && facts.repairs().is_none();
                let validate = || stage::validate_at_once(plan, scope, self.arguments, context);
                match is_final.then(validate).flatten() {
                    Some(validated) => validated?,
                    None => return Ok(Progress::Unvalidated),
                }
            }
            if let (Some(attempt), Some(touched)) = (self.attempt, facts.touches()) {
                attempt.touches(touched);
            }
            if self.claimed.is_none()
                && let Some(settled) = self.ask_policy(scope, &facts)?
            {
                future = settled;
            }
            let Some(admitted) = stage::admit_at_once(self.run, self.plan, self.call) else {
                return Ok(Progress::Waiting(future));
            };
            let admitted = self.has(admitted?);
            self.begins()?;
            match future.as_mut().poll(context) {
                Poll::Ready(answer) => stage::check(&self.plan.entry, answer).map(Progress::Ended),
                Poll::Pending => Ok(Progress::Running(admitted, future)),
            }
        });
        match catch_unwind(stages) {
            Ok(Ok(progress)) => progress,
            Ok(Err(error)) => Progress::Ended(error.into()),
            Err(panic) => Progress::Ended(stage::panicked(self.call.name(), panic).into()),
        }
    }

    /// Evaluates the policy for the call. If the policy needs the final arguments, returns a new future that runs with
    /// these.
    #[inline]
    fn ask_policy(
        self,
        scope: Scope<'a>,
        facts: &Facts,
    ) -> Result<Option<BoxFuture<'a, Answer>>, ToolError> {
        let Self { run, plan, arguments, watch, .. } = self;
        if run.is_open() {
            return stage::refuse_unasked(plan, facts).map(|()| None);
        }
        stage::approve(&stage::EvaluationInput { run, plan, scope, arguments, facts, watch })
    }

    /// Completes a call that has to wait for a free place or for its tool.
    pub(super) async fn wait(
        self,
        admitted: Option<stage::Admission<'a>>,
        future: BoxFuture<'a, Answer>,
    ) -> Answer {
        let future = stage::UnfinishedCall::new(future);
        let rest = async {
            let Self { run, plan, call, .. } = self;
            let _admitted = match admitted {
                Some(admitted) => admitted,
                None => {
                    let admitted = stage::admit(run, plan, call, self.deadline()).await?;
                    let admitted = self.has(admitted);
                    self.begins()?;
                    admitted
                }
            };
            let family = self.family.map(|family| &**family);
            let answer = stage::invoke(future, run, plan, call, self.deadline(), family).await?;
            stage::check(&self.plan.entry, answer)
        };
        rest.await.unwrap_or_else(Answer::from)
    }

    /// Runs one attempt of a call. `identity` receives the identity of the call, so that the next attempt has the same
    /// one.
    pub(crate) async fn attempt(self, identity: &mut Option<Identity<'_>>) -> Answer {
        let Some(circuit) = &self.plan.circuit else { return self.through(identity).await };
        // The circuit breaker is asked before the call waits for a place, and again when the call has its place.
        if let Err(refused) = circuit.admits() {
            return unavailable(self.call.name(), refused).into();
        }
        let entered = Mutex::new(None);
        let answer = Stages { entered: Some(&entered), ..self }.through(identity).await;
        let entered = entered.into_inner().unwrap_or_else(PoisonError::into_inner);
        if let Some(through) = entered {
            through.note_end(answer.error());
        }
        answer
    }

    async fn through(self, identity: &mut Option<Identity<'_>>) -> Answer {
        let slot = self.slot.map(Slot::pair);
        *identity = identity.or(self.watch.map(|watch| Identity::of(watch.id).at(slot)));
        if identity.is_none() && slot.is_some() {
            *identity = Some(Identity::of(CallId::new()).at(slot));
        }
        let spec = self.plan.entry.spec;
        match spec.validate.is_some() || spec.asks.is_some() {
            true => Box::pin(self.once_validated(identity)).await,
            false => self.start_attempt(identity).await,
        }
    }

    /// Runs one attempt of a call whose arguments the tool's validation has accepted.
    pub(super) async fn start_attempt(self, identity: &mut Option<Identity<'_>>) -> Answer {
        let Self { run, plan, call, family, .. } = self;
        let (own, attempt) = match own_to_run(run, plan, call, *identity, family) {
            Ok(own) => own,
            Err(error) => return error.into(),
        };
        *identity = identity.or(own.as_ref().map(|own| Identity::of(own.id())));
        let attempted = Stages { attempt: attempt.as_ref(), ..self };
        match poll_fn(|context| Poll::Ready(attempted.first_poll(own.as_ref(), context))).await {
            Progress::Ended(answer) => answer,
            Progress::Unvalidated => Box::pin(attempted.once_validated(identity)).await,
            Progress::Waiting(future) => attempted.wait(None, future).await,
            Progress::Running(admitted, future) => attempted.wait(Some(admitted), future).await,
        }
    }

    /// Records that the call has its places. A tool that makes calls frees these places while it waits for its calls.
    #[inline]
    fn has(self, admitted: stage::Admission<'a>) -> stage::Admission<'a> {
        match self.attempt {
            Some(attempt) => attempt.take(admitted),
            None => admitted,
        }
    }

    #[cold]
    pub(super) fn report_repairs(self, repairs: &Repairs) {
        if let Some(watch) = self.watch.filter(|_| !self.is_again) {
            watch.report_repairs(repairs);
        }
    }
}
