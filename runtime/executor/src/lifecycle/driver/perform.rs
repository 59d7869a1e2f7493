//! Runs a claimed call, and renews its lease while it runs. The result and the final state are committed together.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures::future::{Either, select};
use jiff::Timestamp;
use tokio::time::Instant;
use tracing::Instrument as _;

use super::held::HeldClaim;
use super::stage::seen;
use super::{Lifecycle, Look};
use crate::attempt::Stages;
use crate::call::{Claim, Family, Inside, Outcome, Plan, RecordedParent, identity_of, record};
use crate::lifecycle::heap::on_heap;
use crate::lifecycle::step::{Attempt, Input, Suspension};
use crate::stage;
use crate::stage::is_given_up;
use toolwright_core::call::Call;
use toolwright_core::context::CallId;
use toolwright_core::output::Answer;
use toolwright_journal::journal::{CallRecord, CommitError, Entry, State, StoredText, Transition};

impl<'a> Lifecycle<'a> {
    /// Runs a call that was claimed, and records the end of the attempt.
    pub(in super::super) async fn perform(self, look: &mut Look<'a, '_>) -> Outcome {
        let (Some(mut held), Some(found), Some(settled)) =
            (look.held.take(), look.found.take(), look.arguments.take())
        else {
            // Without a claim, the call is not run here.
            return self.outcome_of(look.record());
        };
        let plan = found.plan();
        let (record, arguments) = (look.snapshot.record.clone(), &settled.1);
        let mut entered = look.entered.take().unwrap_or_default();
        let own = own_call(&record, arguments.arguments());
        let call = look.call.unwrap_or(&own);
        let deadline = self.deadline(&record, plan).await;
        let claim = Arc::clone(&held.claim);
        let stages = Stages::new(self.run, plan, call, look.watch);
        let stages = stages.claimed(arguments.arguments(), &claim).until(deadline);
        let family = Family::of(self.run.lineage(), plan, || {
            Some(RecordedParent::of(&record, self.runs(look), &claim))
        });
        let stages = stages.with_family(family.as_ref());
        if let Some(watch) = look.watch {
            watch.set_claimed(&record);
        }
        let mut identity = Some(identity_of(&record));
        let inside = Inside { plan, run: self.run, watch: look.watch };
        let running = async {
            let answer = match deadline.is_some_and(|deadline| deadline <= Instant::now()) {
                true => stage::too_late(call.name(), plan).into(),
                false => entered.beside(stages.attempt(&mut identity)).await,
            };
            match entered.is_empty() {
                true => answer,
                false => {
                    let about = seen(&record, &settled, record.attempt, inside);
                    Box::pin(entered.leave(self.run, plan, call, &about, answer)).await
                }
            }
        };
        let given_back = async {
            match select(pin!(self.renew(&record, &claim)), pin!(stuck(family.as_deref()))).await {
                Either::Left(_) => {
                    family
                        .iter()
                        .filter_map(|it| it.recorded.as_ref())
                        .for_each(RecordedParent::leave);
                    None
                }
                Either::Right((awaits, _)) => Some(awaits),
            }
        };
        let ended = match select(pin!(running), pin!(given_back)).await {
            Either::Left((answer, _)) => Ok(answer),
            Either::Right((awaits, _)) => Err(awaits),
        };
        let answer = match ended {
            Ok(answer) => answer,
            Err(Some(awaits)) => return on_heap(|| self.suspend(look, held, awaits)).await,
            // The lease is lost and another executor may run the call, so nothing about this attempt is recorded.
            Err(None) => {
                held.let_go();
                return match self.load(record.id).await {
                    Ok(record) => self.outcome_of(&record),
                    Err(failure) => failure.into(),
                };
            }
        };
        // Whether the attempt was cancelled only because the executor shuts down.
        let is_released = self.run.core.released.is_cancelled() && !is_given_up(self.run, call);
        let attempt = self.attempt(&record, plan, &answer, deadline, is_released);
        let is_again = attempt.error.as_ref().is_some_and(|error| !error.is_not_begun());
        look.answer = Some(answer);
        // If this future is dropped, dropping the claim records the same end.
        let input = held.end.insert(Input::Attempted(attempt));
        let advanced = on_heap(|| self.advance(look, input)).await;
        held.let_go();
        if let Err(failure) = advanced {
            return failure.into();
        }
        if family.is_some_and(|family| family.has_left_children())
            && look.record().state.is_answered()
        {
            on_heap(|| self.end_children(record.id)).await;
        }
        let answer = look.answer.take();
        let ended = look.record();
        match (look.is_committed, answer) {
            (true, Some(answer)) if ended.state.is_answered() => Outcome::Answered(answer),
            (true, Some(answer)) => {
                let delay = ended.not_before.map(|time| ended.updated.duration_until(time));
                let delay = delay.and_then(|delay| Duration::try_from(delay).ok());
                if let (Some(watch), Some(delay), Some(error), true) =
                    (look.watch, delay, answer.error(), is_again)
                {
                    watch.retrying(record.attempt, error, delay);
                }
                self.outcome_of(ended)
            }
            _ => {
                tracing::warn!(call = %ended.id, state = %ended.state, "a late result was refused");
                self.outcome_of(ended)
            }
        }
    }

    /// Gives up the claim of a call that has to wait for its children.
    async fn suspend(
        self,
        look: &mut Look<'a, '_>,
        mut held: HeldClaim,
        awaits: Vec<CallId>,
    ) -> Outcome {
        let suspension = Suspension { epoch: look.record().epoch, awaits };
        // If this future is dropped, dropping the claim records the same suspension.
        let input = held.end.insert(Input::Suspended(suspension));
        match on_heap(|| self.advance(look, input)).await {
            Ok(_) => {
                held.let_go();
                self.outcome_of(look.record())
            }
            // When the claim is dropped, the suspension is written once more.
            Err(failure) => failure.into(),
        }
    }

    /// Runs a call that has waited, with listeners and tracing.
    pub(in super::super) async fn perform_watched(self, look: Look<'a, '_>) -> Outcome {
        let Some(found) = look.found.clone() else { return self.outcome_of(look.record()) };
        let _telling = self.run.core.telling.enter_at_once();
        let record = look.record().clone();
        let text =
            look.arguments.as_ref().map_or("", |(_, settled)| settled.arguments()).to_owned();
        let own = own_call(&record, &text);
        let call = look.call.unwrap_or(&own);
        let definition = Some(found.definition());
        let span = record::span(self.run, call, definition);
        let watch = record::Watch::resume(self.run, call, &record);
        if let Some(watch) = &watch {
            watch.is_for(found.definition());
        }
        let mut look = Look { watch: watch.as_ref(), ..look };
        let outcome = on_heap(|| self.perform(&mut look)).instrument(span.clone()).await;
        drop(look);
        self.notify_outcome(watch, &span, call, definition, &outcome);
        outcome
    }

    /// Describes how an attempt ended, for the decision.
    fn attempt(
        self,
        record: &CallRecord,
        plan: &Plan,
        answer: &Answer,
        deadline: Option<Instant>,
        is_released: bool,
    ) -> Attempt {
        let is_plain = matches!(record.arguments, StoredText::Plain(_));
        let error = answer.error().map(|error| {
            let mut error = crate::lifecycle::AttemptError::from(error);
            if !is_plain {
                (error.message, error.cause) = (None, None);
            }
            error
        });
        // A call of another run does not use up the retries of this run.
        let is_free = record.place.run != self.run.id() || self.run.core.retries_per_run.is_none();
        Attempt {
            epoch: record.epoch,
            error,
            answer: self.store_answer(record, answer),
            more: None,
            is_released,
            time_left: deadline.map(|it| it.saturating_duration_since(Instant::now())),
            circuit: plan.circuit.as_ref().and_then(|circuit| circuit.admits().err()?.left),
            retry: is_free.then_some(true),
        }
    }

    /// Returns when the total timeout of a call ends. The time begins when the call first runs after its last
    /// evaluation, decision or suspension, so it does not include the time that people take to decide.
    pub(super) async fn deadline(self, record: &CallRecord, plan: &Plan) -> Option<Instant> {
        let total = plan.total_timeout?;
        let begun = match record.attempt {
            0 | 1 => None,
            // If the history cannot be read, the time begins with this attempt.
            _ => match self.history(record).await {
                Ok(history) => first_begun(&history),
                Err(failure) => {
                    tracing::warn!(call = %record.id, %failure, "the time of the whole call counts from this attempt");
                    None
                }
            },
        };
        let gone = self.journal.now().duration_since(begun.unwrap_or(record.updated));
        let gone = Duration::try_from(gone).unwrap_or_default();
        Instant::now().checked_add(total.saturating_sub(gone))
    }

    /// Renews the lease, until another owner has claimed the call or the lease has expired.
    async fn renew(self, record: &CallRecord, claim: &Claim) {
        loop {
            tokio::time::sleep(self.journal.lease / 3).await;
            let next = self.journal.lease_until();
            match self.journal.store.renew(record.id, record.epoch, next).await {
                Ok(()) => claim.renew(next),
                Err(CommitError::Store(error)) => {
                    tracing::warn!(call = %record.id, %error, "a lease could not be renewed");
                    if claim.has_lapsed(self.journal.now()) {
                        return;
                    }
                }
                Err(_) => return,
            }
        }
    }
}

/// Completes with the ids of the children when the call has to wait for them and may run again later.
async fn stuck(family: Option<&Family>) -> Vec<CallId> {
    let recorded = |family: &&Family| family.recorded.as_ref().is_some_and(|it| it.may_be_put_back);
    match family.filter(recorded) {
        Some(family) => family.stuck().await,
        None => std::future::pending().await,
    }
}

/// Makes the call from its record, because its caller is not in this process.
fn own_call<'c>(record: &'c CallRecord, arguments: &'c str) -> Call<'c> {
    let call = Call::new(record.tool.as_str(), arguments);
    match &record.provider_id {
        Some(id) => call.id(id.as_str()),
        None => call,
    }
}

/// Returns when a running call was first claimed after its last evaluation, decision or suspension.
fn first_begun(history: &[Entry]) -> Option<Timestamp> {
    let since =
        history.iter().rev().take_while(|it| matches!(it.to, State::Ready | State::Running));
    since.filter(|entry| entry.event == Some(Transition::Claimed)).last().map(|entry| entry.at)
}
