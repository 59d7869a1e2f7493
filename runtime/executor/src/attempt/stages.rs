//! Carries one call through its stages.

use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use futures::future::BoxFuture;
use tokio::time::Instant;

use super::children::{Attempt, own_to_run};
use super::retrying::deadline;
use crate::call::{Claim, Family, Plan, RunState, Slot, check_covered, record};
use crate::retry::{Through, unavailable};
use crate::stage;
use toolwright_core::call::Call;
use toolwright_core::capability::{Own, Scope};
use toolwright_core::context::{CallId, Identity};
use toolwright_core::error::ToolError;
use toolwright_core::footprint::Facts;
use toolwright_core::output::Answer;
use toolwright_core::repairs::Repairs;

/// The stages of one call.
#[derive(Clone, Copy)]
pub(crate) struct Stages<'a> {
    pub(crate) run: &'a Arc<RunState>,
    pub(crate) plan: &'a Plan,
    pub(super) call: &'a Call<'a>,
    pub(crate) arguments: &'a str,
    /// The claim under which the call runs; `None` if the stages have to evaluate the policy. The policy has already
    /// allowed a claimed call.
    pub(super) claimed: Option<&'a Claim>,
    /// Receives the pass of the tool's circuit breaker when the circuit breaker admits the call.
    pub(super) entered: Option<&'a Mutex<Option<Through>>>,
    pub(crate) watch: Option<&'a record::Watch<'a>>,
    /// The slot of the call in its run, for a call of a turn.
    pub(crate) slot: Option<&'a Slot>,
    /// The state that the attempts of the call share, for a tool that makes calls itself.
    pub(crate) family: Option<&'a Arc<Family>>,
    /// The present attempt, if the tool makes calls itself.
    pub(crate) attempt: Option<&'a Attempt>,
    /// Whether the call was attempted before.
    pub(super) is_again: bool,
    /// When the total timeout of the call ends.
    pub(super) deadline: Option<Instant>,
}

/// The state of a call after its first poll.
pub(crate) enum Progress<'a> {
    Ended(Answer),
    /// The call has not begun: its tool's validation needs the final arguments, or has to wait.
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

    /// Runs the stages in order. Any of them may end the call with an error; a panic of the tool ends it too.
    #[inline]
    pub(crate) fn first_poll(
        self,
        own: Option<&'a Own>,
        context: &mut Context<'_>,
    ) -> Progress<'a> {
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
                // If a policy evaluates the call, or its input was repaired, the validation receives the final
                // arguments, with which the tool then runs.
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

    /// Evaluates the policy for the call. Returns another future if the approval changed the arguments.
    #[inline]
    pub(super) fn ask_policy(
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

    /// Runs one attempt of a call that needs a context or other values of its own. The next attempt has the same
    /// identity.
    pub(crate) async fn attempt(self, identity: &mut Option<Identity<'_>>) -> Answer {
        let Some(circuit) = &self.plan.circuit else { return self.through(identity).await };
        // Checks the circuit breaker before the call waits for a place, and again when it has one.
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

    pub(super) async fn through(self, identity: &mut Option<Identity<'_>>) -> Answer {
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

    /// Runs one attempt of a call. If its tool has a validation, the caller has already run it and passes a claim, so that
    /// the attempt does not end as `Unvalidated`.
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

    /// Records that the call has its places. A tool that makes calls gives its places back while it waits for those
    /// calls.
    #[inline]
    pub(super) fn has(self, admitted: stage::Admission<'a>) -> stage::Admission<'a> {
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
