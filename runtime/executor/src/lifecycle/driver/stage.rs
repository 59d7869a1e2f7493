//! Runs the middleware of the application for a call that may run, before the call is claimed.

use super::{Lifecycle, Look};
use crate::call::{Inside, MiddlewareCall, Outcome, Slot, touched};
use crate::lifecycle::step::{Input, StageVerdict, StagedCall};
use crate::middleware::{EarlyEnd, delay_of, enter};
use crate::stage::is_given_up;
use toolwright_core::call::Call;
use toolwright_core::error::ErrorClass;
use toolwright_core::footprint::Facts;
use toolwright_core::output::Answer;
use toolwright_journal::arguments::FinalArguments;
use toolwright_journal::journal::CallRecord;

impl<'a> Lifecycle<'a> {
    /// Runs the middleware of the application, and returns its decision as the next input.
    pub(super) async fn stage(self, look: &mut Look<'a, '_>, input: &Input) -> Input {
        (look.entered, look.answer) = (None, None);
        let (Some(found), Some(arguments)) = (look.found.clone(), look.arguments.take()) else {
            // The tool or the arguments were not read yet, so the next decision reads all facts again.
            look.is_now(look.record().clone());
            return input.clone();
        };
        let (plan, record) = (found.plan(), look.record().clone());
        let own = Call::new(record.tool.as_str(), arguments.1.arguments());
        let call = look.call.unwrap_or(&own);
        let inside = Inside { plan, run: self.run, watch: look.watch };
        let about = seen(&record, &arguments, record.attempt.saturating_add(1), inside);
        let now = self.journal.now();
        let next = record.clone().with(|it| (it.attempt, it.updated) = (about.attempt, now));
        let deadline = self.deadline(&next, plan).await;
        let verdict = match enter(self.run, plan, call, &about, deadline).await {
            Ok(entered) => {
                look.entered = Some(entered);
                StageVerdict::Continue
            }
            Err(EarlyEnd::Answered(answer)) => self.answer_of(look, &record, answer),
            Err(EarlyEnd::Refused(error)) => match delay_of(&error) {
                Some(time) => StageVerdict::Delay {
                    time,
                    why: format!("{}: {}", error.kind(), error.message()),
                },
                None if error.classified() == ErrorClass::Cancelled
                    && is_given_up(self.run, call) =>
                {
                    StageVerdict::GivenUp
                }
                None => self.answer_of(look, &record, error.into()),
            },
        };
        let reason = match input {
            Input::Submitted { reason, .. } => reason.clone(),
            Input::Staged(staged) => staged.reason.clone(),
            _ => None,
        };
        let version = record.version;
        // The middleware may have taken long, so the facts that were read before it are discarded.
        if look.snapshot.is_recorded {
            look.is_now(record);
        } else {
            look.snapshot.tool = Some(Ok(self.tool_now(plan, look.call)));
            (look.snapshot.run_ended, look.snapshot.evaluated) = (None, None);
            (look.snapshot.grants, look.snapshot.denied_before) = (None, None);
            look.arguments = Some(arguments);
        }
        Input::Staged(StagedCall { version, reason, verdict, more: None })
    }

    /// Makes the stored form of an answer of the middleware. The caller receives the original answer.
    fn answer_of(
        self,
        look: &mut Look<'a, '_>,
        record: &CallRecord,
        answer: Answer,
    ) -> StageVerdict {
        let stored = self.store_answer(record, &answer);
        look.answer = Some(answer);
        StageVerdict::Answer(stored)
    }

    /// Returns the outcome of a call that was advanced.
    pub(in super::super) fn report_outcome(self, look: &mut Look<'a, '_>) -> Outcome {
        let is_answered = look.is_committed && look.record().state.is_answered();
        match look.answer.take().filter(|_| is_answered && look.record().result.is_none()) {
            Some(answer) => Outcome::Answered(answer),
            None => self.outcome_of(look.record()),
        }
    }
}

/// Describes a call for the middleware.
pub(super) fn seen<'s>(
    record: &'s CallRecord,
    (facts, settled): &'s (Facts, FinalArguments),
    attempt: u32,
    inside: Inside<'s>,
) -> MiddlewareCall<'s> {
    let plan = inside.plan;
    MiddlewareCall {
        id: record.id,
        run: &record.place.run,
        user: record.requester.user.as_deref(),
        slot: Slot::of(&record.place),
        definition: &plan.entry.definition,
        fingerprint: plan.entry.fingerprint(),
        arguments: settled.arguments(),
        footprint: touched(facts, plan),
        attempt,
        is_recorded: true,
        inside,
    }
}
