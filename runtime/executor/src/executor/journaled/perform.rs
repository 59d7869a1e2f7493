//! A claimed call runs, its lease renewed meanwhile. Its result and its final state are committed together.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures::future::{Either, select};
use jiff::Timestamp;
use tokio::time::Instant;

use super::super::claim::Claim;
use super::super::outcome::{CallFailure, Outcome};
use super::super::retrying::is_past;
use super::super::{Plan, calling::Stages};
use super::JournaledCall;
use super::claimed::Claimed;
use super::retried::{Next, note_failure};
use super::unfinished::{Unfinished, left};
use crate::executor::own::identity_of;
use crate::stage;
use crate::stage::is_given_up;
use crate::stage::record::Watch;
use crate::stage::record::chain;
use toolwright_core::call::Call;
use toolwright_core::error::Class;
use toolwright_core::error::Done;
use toolwright_core::error::ToolError;
use toolwright_core::output::Answer;
use toolwright_journal::journal::CallRecord;
use toolwright_journal::journal::CommitError;
use toolwright_journal::journal::Entry;
use toolwright_journal::journal::State;
use toolwright_journal::journal::Transition;

/// How often a result is written before it is given up.
const WRITES: u32 = 4;

impl JournaledCall<'_> {
    pub(super) async fn perform(
        self,
        claimed: Claimed,
        plan: &Plan,
        call: &Call<'_>,
        arguments: &str,
        watch: Option<&Watch<'_>>,
    ) -> Outcome {
        let Claimed { record, claim, mut unfinished } = claimed;
        let deadline = self.deadline(&record, plan).await;
        let stages = Stages::new(self.run, plan, call, watch);
        let stages = stages.claimed(arguments, &claim).until(deadline);
        if let Some(watch) = watch {
            watch.claimed(&record);
        }
        let mut identity = Some(identity_of(&record));
        let running = pin!(async {
            match is_past(deadline, Duration::ZERO) {
                true => stage::too_late(call.name(), plan).into(),
                false => stages.attempt(&mut identity).await,
            }
        });
        let answer = match select(running, pin!(self.renew(&record, &claim))).await {
            Either::Left((answer, _)) => answer,
            // Somebody else has the right to run it now, so nothing is recorded of this attempt.
            Either::Right(_) => {
                unfinished.disarm();
                return match self.load(record.id).await {
                    Ok(record) => self.outcome_of(&record),
                    Err(failure) => failure.into(),
                };
            }
        };
        // Nobody has given it up but an executor that shuts down.
        let is_released = self.run.core.released.is_cancelled() && !is_given_up(self.run, call);
        let ran = Ran { plan, deadline, is_released };
        self.conclude(&record, ran, answer, &mut unfinished, watch).await
    }

    /// When the time for the whole call is over. It begins when the call first begins to run: people, who may have
    /// decided again since, have their own time.
    async fn deadline(self, record: &CallRecord, plan: &Plan) -> Option<Instant> {
        let total = plan.total_timeout?;
        let begun = match record.attempt {
            0 | 1 => None,
            // Where it cannot be read, the time of this attempt is all that is known.
            _ => match self.journal.store.history(record.id).await {
                Ok(history) => first_begun(&history),
                Err(error) => {
                    tracing::warn!(call = %record.id, %error, "the time of the whole call counts from this attempt");
                    None
                }
            },
        };
        let gone = self.journal.now().duration_since(begun.unwrap_or(record.updated));
        let gone = Duration::try_from(gone).unwrap_or_default();
        Instant::now().checked_add(total.saturating_sub(gone))
    }

    /// Ends when the lease is lost.
    async fn renew(self, record: &CallRecord, claim: &Claim) {
        loop {
            tokio::time::sleep(self.journal.lease / 3).await;
            let next = self.journal.lease_until();
            match self.journal.store.renew(record.id, record.epoch, next).await {
                Ok(()) => claim.renewed(next),
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

    /// Records how a call ended. A late owner's result is refused: what is recorded already counts. Dropped
    /// meanwhile, it goes on to record the same.
    async fn conclude(
        self,
        record: &Arc<CallRecord>,
        ran: Ran<'_>,
        mut answer: Answer,
        unfinished: &mut Unfinished,
        watch: Option<&Watch<'_>>,
    ) -> Outcome {
        let mut ended = Arc::clone(record);
        let changed = Arc::make_mut(&mut ended);
        let (entries, delay) = match self.ended(changed, record, ran, &answer) {
            Ok(ended) => ended,
            Err(failure) => return failure.into(),
        };
        let retrying = delay.zip(watch);
        if let (State::Cancelled, Some(error)) = (changed.state, answer.error()) {
            answer = error.with_more(self.begun_before(record).await).into();
        }
        if changed.state.is_answered() {
            changed.answer_with(self.store_answer(record, &answer));
        }
        unfinished.ends_as(&ended, &entries);
        let outcome = self.concluded(record, &ended, entries, answer, retrying).await;
        unfinished.disarm();
        outcome
    }

    /// What an answer makes of a call, and after how long it is tried again, where it is.
    fn ended(
        self,
        ended: &mut CallRecord,
        record: &CallRecord,
        ran: Ran<'_>,
        answer: &Answer,
    ) -> Result<(Vec<Entry>, Option<Duration>), CallFailure> {
        let why = answer.error().map(|error| words(error, record));
        let Some(error) = answer.error() else {
            return Ok((vec![self.step(ended, Transition::Succeeded, why)?], None));
        };
        let is_let_go = ran.is_released && gives_up(error);
        let Next { event, delay } = match is_let_go {
            true => {
                let attempts = ran.plan.retry.attempts;
                Next { event: left(record, attempts, error.is_not_begun()), delay: None }
            }
            false => self.after(record, ran.plan, error, ran.deadline),
        };
        let why = match (why, delay) {
            (Some(why), Some(delay)) => Some(format!("{why}; tried again in {delay:.1?}")),
            (why, _) => why,
        };
        let mut entries = vec![self.step(ended, event, why)?];
        if !is_let_go && error.done() == Some(Done::NotBegun) && gives_up(error) {
            entries.push(self.step(ended, Transition::RunEnded, None)?);
        }
        self.put_off(ended, delay);
        if error.is_not_begun() && ended.state == State::Ready {
            not_counted(ended);
        }
        if let (false, Transition::Errored { failure, .. }) = (error.is_not_begun(), event) {
            note_failure(ended, failure, error);
        }
        Ok((entries, delay.filter(|_| !error.is_not_begun())))
    }

    async fn concluded(
        self,
        record: &CallRecord,
        ended: &CallRecord,
        entries: Vec<Entry>,
        answer: Answer,
        retrying: Option<(Duration, &Watch<'_>)>,
    ) -> Outcome {
        let mut pause = Duration::from_millis(50);
        for attempt in 1..=WRITES {
            match self.write(Some(record.version), ended, entries.clone()).await {
                Ok(()) if ended.state.is_answered() => return Outcome::Answered(answer),
                Ok(()) => {
                    if let (Some((delay, watch)), Some(error)) = (retrying, answer.error()) {
                        watch.retrying(record.attempt, error, delay);
                    }
                    return self.outcome_of(ended);
                }
                Err(CommitError::Store(error)) if attempt == WRITES => {
                    let (call, tool) = (record.id, record.tool.clone());
                    return CallFailure::ResultNotRecorded { call, tool, error }.into();
                }
                Err(CommitError::Store(_)) => tokio::time::sleep(pause).await,
                Err(_) => break,
            }
            pause *= 2;
        }
        match self.load(record.id).await {
            // The commit stood although nobody was told.
            Ok(now) if now.version == ended.version && now.updated == ended.updated => {
                self.outcome_of(&now)
            }
            Ok(now) => {
                tracing::warn!(call = %now.id, state = %now.state, "a late result was refused");
                self.outcome_of(&now)
            }
            Err(failure) => failure.into(),
        }
    }
}

/// How an attempt was run.
#[derive(Clone, Copy)]
struct Ran<'a> {
    plan: &'a Plan,
    /// When the time for the whole call is over.
    deadline: Option<Instant>,
    /// Nobody has given it up but an executor that shuts down.
    is_released: bool,
}

/// When a call that runs was first claimed since it was last evaluated or decided.
fn first_begun(history: &[Entry]) -> Option<Timestamp> {
    let since =
        history.iter().rev().take_while(|it| matches!(it.to, State::Ready | State::Running));
    since.filter(|entry| entry.event == Some(Transition::Claimed)).last().map(|entry| entry.at)
}

/// The right to run a call was gone before the call began.
pub(crate) fn lapsed(tool: &str) -> ToolError {
    ToolError::new(
        "lease_lapsed",
        format!("`{tool}` was not begun: the right to run it had lapsed"),
    )
    .class(Class::NotStarted { retry_after: None })
    .by_executor(Done::NotBegun)
}

/// What was claimed and not begun takes none of the attempts that a call has.
pub(super) fn not_counted(record: &mut CallRecord) {
    record.attempt = record.attempt.saturating_sub(1);
}

fn gives_up(error: &ToolError) -> bool {
    error.classified() == Class::Cancelled
}

/// For operators: kind and cause. Where a secret is inside, the kind alone.
fn words(error: &ToolError, record: &CallRecord) -> String {
    let is_plain = matches!(record.arguments, toolwright_journal::journal::StoredText::Plain(_));
    match error.source().filter(|_| is_plain) {
        Some(source) => format!("{}: {}", error.kind(), chain(source)),
        None if is_plain => format!("{}: {error}", error.kind()),
        None => error.kind().to_owned(),
    }
}
