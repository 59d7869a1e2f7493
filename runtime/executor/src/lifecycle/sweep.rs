//! Finds calls for which something is due: deadlines that have passed, lost owners, decisions on which no executor has
//! acted, approvers that were not notified. `expire_due` and `follow_up` process these calls.

use std::collections::HashMap;
use std::pin::pin;

use futures::FutureExt as _;
use futures::future::{Either, select};
use futures::stream::{FuturesUnordered, StreamExt as _};
use tokio::time::Instant;

use super::ask::LOOK_AGAIN;
use super::decide::family::is_of_agent;
use super::driver::Lifecycle;
use super::follow_up::{FollowUp, FollowUpOutcome, Turns};
use super::pending::Pending;
use crate::call::CallFailure;
use toolwright_core::context::CallId;
use toolwright_journal::journal::{CallPage, CallRecord, Filter, State};

/// What a sweep did: how many calls it processed, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Swept {
    /// How many calls expired, because they were not approved in time or their result was not supplied in time.
    pub expired: usize,
    /// How many calls had lost their owner, because their lease had expired.
    pub lost: usize,
    /// How many calls were evaluated again or ran.
    pub gone_on: usize,
    /// The number of pending calls of which the approver was notified.
    pub notified: usize,
    /// How many calls had an unknown outcome that their tool found out.
    pub reconciled: usize,
    /// How many calls could not be processed in this process. Tracing events name the reasons.
    pub left: usize,
}

/// The calls that a sweep has found.
#[derive(Default)]
struct SweepResult {
    follow_ups: Vec<FollowUp>,
    /// How many calls were skipped because they cannot be read.
    unreadable: usize,
}

impl Lifecycle<'_> {
    /// Finds all calls that are due, and completes when all of them have been processed.
    pub(crate) async fn sweep(self) -> Result<Swept, CallFailure> {
        let mut swept = self.expire_all_due().await?;
        let found = self.follow_ups(&HashMap::new(), &mut Pending::default(), true).await?;
        swept.left += found.unreadable;
        let limit = self.run.core.limit.max(1) as usize;
        let mut going = futures::stream::iter(found.follow_ups)
            .map(|follow_up| self.follow_up(follow_up))
            .buffer_unordered(limit);
        let mut asks = Vec::new();
        while let Some((_, done)) = going.next().await {
            swept.count(&done);
            if let FollowUpOutcome::Asks(record) = done {
                asks.push(FollowUp::Notify(*record));
            }
        }
        drop(going);
        let asked = asks.into_iter().filter(|_| self.journal.asker.is_some());
        let mut notifications = asked.map(|it| self.follow_up(it)).collect::<FuturesUnordered<_>>();
        while let Some((_, done)) = notifications.next().await {
            swept.count(&done);
        }
        Ok(swept)
    }

    /// Sweeps until the executor is drained. The calls that it finds are processed concurrently, within the executor's
    /// limit.
    pub(crate) async fn work(self) {
        let mut going = FuturesUnordered::new();
        // The calls on which this loop works. The value is `true` for a call that takes one of the executor's places.
        let mut under_way: HashMap<CallId, bool> = HashMap::new();
        let limit = self.run.core.limit.max(1) as usize;
        let mut pending = Pending::default();
        // The subscription begins before the journal is read, and is renewed only after a change, so that no change is
        // missed.
        let mut changed = self.changed();
        let mut has_changed = true;
        loop {
            let is_closed = self.run.core.gate.is_closed();
            if is_closed && going.is_empty() {
                return;
            }
            if (&mut changed).now_or_never().is_some() {
                (changed, has_changed) = (self.changed(), true);
            }
            let look = async {
                match self.expire_all_due().await {
                    Ok(_) if !is_closed => {
                        self.follow_ups(&under_way, &mut pending, has_changed).await
                    }
                    Ok(_) => Ok(SweepResult::default()),
                    Err(failure) => Err(failure),
                }
            };
            let (found, ended) = beside(look, &mut going).await;
            // Ended calls are removed only now, because the sweep may have read the old state of a call that ended in
            // the meantime.
            for id in &ended {
                under_way.remove(id);
            }
            match found {
                Ok(SweepResult { follow_ups, .. }) => {
                    has_changed = !ended.is_empty();
                    for follow_up in follow_ups {
                        // No more calls are claimed than may run, because a claimed call that waits for a place would
                        // only use up its lease.
                        let runs = matches!(follow_up, FollowUp::Continue(_));
                        if runs && under_way.values().filter(|runs| **runs).count() >= limit {
                            continue;
                        }
                        under_way.insert(follow_up.record().id, runs);
                        going.push(self.follow_up(follow_up));
                    }
                }
                Err(failure) => tracing::warn!(%failure, "the journal could not be swept"),
            }
            if !ended.is_empty() {
                continue;
            }
            let pause = pin!(tokio::time::timeout(LOOK_AGAIN, &mut changed));
            let waited = if going.is_empty() {
                Some(pause.await)
            } else {
                match select(going.next(), pause).await {
                    Either::Left((ended, _)) => {
                        has_changed = true;
                        ended.into_iter().for_each(|(id, _)| _ = under_way.remove(&id));
                        None
                    }
                    Either::Right((waited, _)) => Some(waited),
                }
            };
            if let Some(Ok(())) = waited {
                (changed, has_changed) = (self.changed(), true);
            }
        }
    }

    async fn expire_all_due(self) -> Result<Swept, CallFailure> {
        let states = [State::Pending, State::Running, State::HandedOver];
        let due = self.list_in_states(&states, true, None).await?;
        let mut swept = Swept { left: due.damaged.len(), ..Swept::default() };
        for record in due.calls {
            let (id, was) = (record.id, record.state);
            match self.expire_due(record).await {
                Ok(now) if now.state == was => {}
                Ok(_) if was != State::Running => swept.expired += 1,
                Ok(_) => swept.lost += 1,
                Err(failure) => {
                    if self.journal.busy.is_to_be_reported(id) {
                        tracing::warn!(call = %id, %failure, "what was due for a call could not be done");
                    }
                    swept.left += 1;
                }
            }
        }
        Ok(swept)
    }

    /// Lists the calls to process, except for those that are being processed already.
    async fn follow_ups(
        self,
        under_way: &HashMap<CallId, bool>,
        pending: &mut Pending,
        has_changed: bool,
    ) -> Result<SweepResult, CallFailure> {
        let ours = |records: Vec<CallRecord>| records.into_iter().filter(|it| self.is_ours(it));
        if pending.needs_waiting(has_changed, Instant::now()) {
            self.resume_waiting().await?;
        }
        let mut due = self.list_in_states(&[State::Judging, State::Ready], true, None).await?;
        let is_left = |it: &CallRecord| it.parent.is_some() && it.answer.is_none();
        let mut unreadable = due.damaged.len();
        for child in due.calls.extract_if(.., |it| is_left(it)) {
            let id = child.id;
            // The record of one parent may be damaged; the other calls go on.
            if let Err(failure) = self.leave_to_parent(child).await {
                if self.journal.busy.is_to_be_reported(id) {
                    tracing::warn!(call = %id, %failure, "a call cannot be left to the call that made it");
                }
                unreadable += 1;
            }
        }
        // The process that drives an agent's run makes the agent's calls again, so the sweep leaves them out.
        due.calls.retain(|it| !is_of_agent(it));
        let mut follow_ups: Vec<FollowUp> = Vec::new();
        let mut turns = Turns::default();
        for record in ours(due.calls) {
            if self.is_its_turn(&record, &mut turns).await? {
                follow_ups.push(FollowUp::Continue(record));
            }
        }
        for tool in self.run.ready.reconciling() {
            let unclear = self.list_in_states(&[State::Indeterminate], false, Some(&tool)).await?;
            unreadable += unclear.damaged.len();
            follow_ups.extend(ours(unclear.calls).map(FollowUp::Reconcile));
        }
        if self.journal.asker.is_some() {
            let unnotified = self.list_unnotified(under_way, pending, has_changed).await?;
            unreadable += unnotified.damaged.len();
            follow_ups.extend(unnotified.calls.into_iter().map(FollowUp::Notify));
        }
        let left_alone = self.journal.busy.left_alone();
        follow_ups.retain(|it| {
            let id = it.record().id;
            !under_way.contains_key(&id) && !left_alone.contains(&id)
        });
        Ok(SweepResult { follow_ups, unreadable })
    }

    /// Resumes the calls that waited for their children and may now continue.
    async fn resume_waiting(self) -> Result<(), CallFailure> {
        for record in self.list_in_states(&[State::Waiting], false, None).await?.calls {
            let id = record.id;
            if let Err(failure) = self.expire_due(record).await {
                tracing::warn!(call = %id, %failure, "a call still waits, although it may continue");
            }
        }
        Ok(())
    }

    /// Lists the pending calls of which the approver has not been notified.
    async fn list_unnotified(
        self,
        under_way: &HashMap<CallId, bool>,
        pending: &mut Pending,
        has_changed: bool,
    ) -> Result<CallPage<CallRecord>, CallFailure> {
        let filter = self.filter(&[State::Pending]);
        let (busy, now) = (&self.journal.busy, Instant::now());
        if pending.needs_all(has_changed, now) {
            let all = self.summaries(&filter, None).await?;
            if !self.run.is_own() {
                busy.forget_all_but(&all.iter().map(|it| it.id).collect());
            }
            pending.saw_all(&all, now);
        } else {
            pending.saw(&self.summaries(&filter, pending.newest()).await?);
        }
        let mut unnotified = CallPage::new();
        for id in pending.open(|id| busy.is_noted(id)) {
            if under_way.contains_key(&id) || busy.is_left_alone(id) {
                continue;
            }
            match self.read_or_damaged(id).await? {
                Ok(Some(record)) if record.state != State::Pending => pending.is_over(id),
                Ok(Some(record)) if self.is_ours(&record) => unnotified.calls.push(record),
                Ok(Some(_)) => pending.is_elsewhere(id),
                Ok(None) => pending.is_over(id),
                Err(damaged) => {
                    pending.is_elsewhere(id);
                    unnotified.damaged.push(damaged);
                }
            }
        }
        Ok(unnotified)
    }

    /// Returns a filter for the calls in these states on which this executor works.
    fn filter(self, states: &[State]) -> Filter {
        let run = self.run.is_own().then(|| self.run.id().to_owned());
        Filter { states: states.to_vec(), run, ..Filter::default() }
    }

    async fn list_in_states(
        self,
        states: &[State],
        is_due: bool,
        tool: Option<&str>,
    ) -> Result<CallPage<CallRecord>, CallFailure> {
        let filter = Filter {
            due: is_due.then(|| self.journal.now()),
            tool: tool.map(ToOwned::to_owned),
            ..self.filter(states)
        };
        self.all(&filter).await
    }
}

/// Waits for a future while running calls continue and renew their leases. Returns the output of the future and the
/// calls that have ended.
async fn beside<T>(
    look: impl Future<Output = T>,
    going: &mut FuturesUnordered<impl Future<Output = (CallId, FollowUpOutcome)>>,
) -> (T, Vec<CallId>) {
    let mut look = pin!(look);
    let mut ended = Vec::new();
    while !going.is_empty() {
        match select(look.as_mut(), going.next()).await {
            Either::Left((found, _)) => return (found, ended),
            Either::Right((done, _)) => ended.extend(done.map(|(id, _)| id)),
        }
    }
    (look.await, ended)
}

impl Swept {
    /// Reports whether the sweep processed no calls. Calls that were [left](Self::left) do not count.
    #[must_use]
    pub fn is_nothing(&self) -> bool {
        *self == Self { left: self.left, ..Self::default() }
    }

    fn count(&mut self, done: &FollowUpOutcome) {
        match done {
            FollowUpOutcome::WentOn | FollowUpOutcome::Asks(_) => self.gone_on += 1,
            FollowUpOutcome::Notified => self.notified += 1,
            FollowUpOutcome::Reconciled => self.reconciled += 1,
            FollowUpOutcome::Unclear => {}
            FollowUpOutcome::Left(_) => self.left += 1,
        }
    }
}
