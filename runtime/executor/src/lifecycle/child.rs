//! The children of a call: the calls that it makes. If all children of a parent wait for people or for results from
//! outside, the parent gives up its lease, and runs again later. A child is identified by its index among the children
//! of its parent, so that each child is made once although the parent runs again.

use std::pin::pin;

use futures::FutureExt as _;
use futures::future::{BoxFuture, select};

use super::ask::LOOK_AGAIN;
use super::driver::Lifecycle;
use super::heap::on_heap;
use super::outcome::{failed, indeterminate};
use super::step::End;
use super::submit::Asking;
use crate::call::{CallFailure, Family, Outcome, Plan};
use crate::stage;
use crate::stage::given_up_by;
use toolwright_core::call::Call;
use toolwright_core::context::CallId;
use toolwright_core::output::Answer;
use toolwright_journal::journal::{CallRecord, CallSlot, State};

impl<'a> Lifecycle<'a> {
    /// Makes a child, and returns its answer. While the child waits, for a person or for a result from outside, the
    /// parent is suspended, and this future never completes. A parent with effect `once` must not run again, so it is
    /// not suspended, and this future waits for the child.
    pub(crate) async fn child(self, call: &Call<'_>, family: &Family) -> Answer {
        let place = CallSlot { run: self.run.id().to_owned(), turn: None, index: 0 };
        let is_put_back = family.recorded.as_ref().is_some_and(|it| it.may_be_put_back);
        let asking = if is_put_back { Asking::Later } else { Asking::Now };
        let mut outcome = on_heap(|| self.outcome(CallId::new(), call, place, asking, None)).await;
        loop {
            let waits = match outcome {
                Outcome::Answered(answer) => return answer,
                Outcome::Failed(failure) => return failed(call.name(), &failure).into(),
                Outcome::Suspended(suspended) => suspended,
            };
            if is_put_back && waits.state != State::Running {
                return family.put_back(waits.call).await;
            }
            if stage::is_given_up(self.run, call) {
                return match waits.state {
                    State::Indeterminate => indeterminate(call.name(), waits.call).into(),
                    _ => on_heap(|| self.end_with(waits.call, End::GivenUp)).await,
                };
            }
            if waits.state == State::Indeterminate {
                on_heap(|| self.until_found_out(waits.call, call)).await;
            }
            outcome = on_heap(|| self.wait(waits.call, Some(call))).await;
        }
    }

    /// Completes when a person, or the tool, has found out the outcome of a child, or when the child is cancelled.
    async fn until_found_out(self, id: CallId, call: &Call<'_>) {
        let found_out = async {
            loop {
                // The subscription begins before the journal is read, so that no change is missed.
                let changed = self.changed();
                // If the call cannot be read, its outcome remains unknown.
                let is_unknown = |it: CallRecord| it.state == State::Indeterminate;
                if !self.load(id).await.map_or(true, is_unknown) {
                    return;
                }
                let _ = tokio::time::timeout(LOOK_AGAIN, changed).await;
            }
        };
        select(pin!(found_out), pin!(given_up_by(self.run, Some(call)))).await;
    }

    /// Returns whether the parent may have run before, and may have made this child then. A parent that is not recorded
    /// is assumed to have run before.
    pub(super) fn is_made_again(self) -> bool {
        let recorded = self.run.lineage().and_then(|lineage| lineage.recorded.as_ref());
        self.parent.is_some() && recorded.is_none_or(|parent| !parent.is_first)
    }

    /// Lists the tools that a call may call; `None` if it may call all tools. The list is recorded, because another
    /// process that continues the call would otherwise allow all tools. A child may call no tool that its parent may
    /// not call.
    pub(super) fn may_call(self, plan: &Plan) -> Option<Vec<String>> {
        let inherited = || {
            let parent = self.run.lineage()?.recorded.as_ref()?;
            Some(parent.may_call.as_ref()?.to_vec())
        };
        let ready = &self.run.ready;
        let shown = || ready.catalog().callable_names().map(ToOwned::to_owned).collect::<Vec<_>>();
        match plan.makes_calls {
            true => match (ready.is_pinned().then(shown), inherited()) {
                (Some(mut shown), Some(inherited)) => {
                    shown.retain(|name| inherited.contains(name));
                    Some(shown)
                }
                (shown, inherited) => shown.or(inherited),
            },
            false => None,
        }
    }

    /// Returns a call that was made before, with the answer that its caller receives. For a parent, that is the latest
    /// result of its child, because an operator may have requeued the child as a dead letter in the meantime.
    pub(super) fn as_known_now(self, known: CallRecord) -> CallRecord {
        match self.parent {
            Some(_) => known.with(|it| it.answer = it.result.take().or_else(|| it.answer.take())),
            None => known,
        }
    }

    /// Returns whether the parent may continue, because a child for which it waits has advanced.
    pub(super) async fn goes_on(self, record: &CallRecord) -> Result<bool, CallFailure> {
        for child in &record.awaits {
            // The parent receives the failure of a child that cannot be read when it makes the child again.
            let Ok(Some(child)) = self.read_or_damaged(*child).await? else { return Ok(true) };
            let is_later = || child.not_before.is_some_and(|time| time > self.journal.now());
            // A child that is ready but cannot begin now counts as waiting. Otherwise the parent would run and be
            // suspended again at once.
            let waits = match child.state {
                State::Pending
                | State::Indeterminate
                | State::Waiting
                | State::HandedOver
                | State::Running => true,
                State::Ready => is_later() || self.journal.busy.is_left_alone(child.id),
                _ => false,
            };
            if !waits || child.answer.is_some() {
                return Ok(true);
            }
        }
        Ok(record.awaits.is_empty())
    }

    /// Returns the children that have no answer, if all of these wait for a decision or a result from outside.
    /// Otherwise a child may still run, and the list is empty.
    pub(super) async fn undecided_children(
        self,
        record: &CallRecord,
    ) -> Result<Vec<CallId>, CallFailure> {
        let mut children = self.children(record.id).await?;
        children.retain(|child| child.answer.is_none());
        let waits = |child: &CallRecord| {
            matches!(
                child.state,
                State::Pending | State::Indeterminate | State::Waiting | State::HandedOver
            )
        };
        Ok(match children.iter().all(waits) {
            true => children.iter().map(|child| child.id).collect(),
            false => Vec::new(),
        })
    }

    /// Notifies the approver of the children of a call that was just made, if the call waits for them.
    pub(super) async fn asked_for_children(
        self,
        outcome: Outcome,
        call: &Call<'_>,
        asking: Asking,
    ) -> Outcome {
        match &outcome {
            Outcome::Suspended(waits) if waits.state == State::Waiting && asking == Asking::Now => {
                on_heap(|| self.ask_about(waits.call, call)).await
            }
            _ => outcome,
        }
    }

    /// Notifies the approver of the children for which a call waits, and continues the call as far as it can run in
    /// this process.
    pub(super) fn ask_for_children<'f>(
        self,
        record: CallRecord,
        call: Option<&'f Call<'f>>,
    ) -> BoxFuture<'f, Outcome>
    where
        'a: 'f,
    {
        async move {
            for child in &record.awaits {
                let asked = match self.load(*child).await {
                    Ok(child) if child.state == State::Waiting => {
                        self.ask_for_children(child, None).await
                    }
                    Ok(child) if self.needs_notification(&child) => {
                        on_heap(|| self.notify(child, None, None)).await
                    }
                    Ok(_) => continue,
                    Err(failure) => return failure.into(),
                };
                if let Outcome::Failed(failure) = asked {
                    return failure.into();
                }
            }
            match on_heap(|| self.expire_due(record)).await {
                Ok(record) => on_heap(|| self.continue_call(record, call, None)).await,
                Err(failure) => failure.into(),
            }
        }
        .boxed()
    }

    /// Ends the children that have no answer, because their parent has ended and will not make them again.
    pub(super) async fn end_children(self, parent: CallId) {
        let ended = async {
            for child in self.children(parent).await? {
                if child.answer.is_none() {
                    on_heap(|| self.end(child, End::CallerGone)).await?;
                }
            }
            Ok::<(), CallFailure>(())
        };
        if let Err(failure) = ended.await {
            tracing::warn!(call = %parent, %failure, "calls that a call has made could not be ended");
        }
    }

    /// Leaves a due child to its parent, which makes the child again. If the parent already has its answer, the child
    /// is ended.
    pub(super) async fn leave_to_parent(self, child: CallRecord) -> Result<(), CallFailure> {
        let Some(parent) = child.parent else { return Ok(()) };
        let parent = self.read_if_there(parent.call).await?;
        if parent.is_none_or(|parent| parent.answer.is_some()) {
            self.end(child, End::CallerGone).await?;
        }
        Ok(())
    }
}
