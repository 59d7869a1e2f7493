//! Looks for calls that time or a crash has left behind: deadlines that have passed, owners that are gone, decisions that
//! no executor has acted on, approvers that were not notified. `expire_due` and `follow_up` do what is to be done.

use std::collections::HashMap;
use std::pin::pin;

use futures::future::{Either, select};
use futures::stream::{FuturesUnordered, StreamExt as _};

use super::ask::LOOK_AGAIN;
use super::driver::Lifecycle;
use super::follow_up::{Done, FollowUp, Turns};
use crate::executor::CallFailure;
use toolwright_core::context::CallId;
use toolwright_journal::journal::{CallRecord, Filter, State};

/// What a sweep did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Swept {
    /// Calls whose approval expired.
    pub expired: usize,
    /// Calls whose owner is gone: their lease had ended.
    pub lost: usize,
    /// Calls that were evaluated again, or run.
    pub gone_on: usize,
    /// Pending calls that the approver was notified of.
    pub notified: usize,
    /// Calls whose tool found out what became of them.
    pub reconciled: usize,
    /// Calls that could not be dealt with here; tracing says why.
    pub left: usize,
}

impl Lifecycle<'_> {
    /// One look at everything that is due; ends when all of it is dealt with.
    pub(crate) async fn sweep(self) -> Result<Swept, CallFailure> {
        let mut swept = self.expire_all_due().await?;
        let follow_ups = self.follow_ups(&HashMap::new()).await?;
        let limit = self.run.core.limit.max(1) as usize;
        let mut going = futures::stream::iter(follow_ups)
            .map(|follow_up| self.follow_up(follow_up))
            .buffer_unordered(limit);
        let mut asks = Vec::new();
        while let Some((_, done)) = going.next().await {
            swept.count(&done);
            if let Done::Asks(record) = done {
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

    /// Sweeps until the executor is drained. Calls run beside each other, and none holds up the rest.
    pub(crate) async fn work(self) {
        let mut going = FuturesUnordered::new();
        // Of each call that is seen to, whether it takes a place.
        let mut under_way: HashMap<CallId, bool> = HashMap::new();
        let limit = self.run.core.limit.max(1) as usize;
        loop {
            let is_closed = self.run.core.gate.is_closed();
            if is_closed && going.is_empty() {
                return;
            }
            // Asked for before the look, so that no change is missed.
            let changed = self.changed();
            let look = async {
                match self.expire_all_due().await {
                    Ok(_) if !is_closed => self.follow_ups(&under_way).await,
                    Ok(_) => Ok(Vec::new()),
                    Err(failure) => Err(failure),
                }
            };
            let (follow_ups, ended) = beside(look, &mut going).await;
            // Only now: of a call that ended meanwhile, the look may have seen what is past.
            for id in &ended {
                under_way.remove(id);
            }
            match follow_ups {
                Ok(follow_ups) => {
                    for follow_up in follow_ups {
                        // No more is claimed than there are places: a claim that waits helps nobody.
                        let runs = matches!(follow_up, FollowUp::GoOn(_));
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
            let pause = pin!(tokio::time::timeout(LOOK_AGAIN, changed));
            if going.is_empty() {
                let _ = pause.await;
            } else if let Either::Left((Some((id, _)), _)) = select(going.next(), pause).await {
                under_way.remove(&id);
            }
        }
    }

    async fn expire_all_due(self) -> Result<Swept, CallFailure> {
        let mut swept = Swept::default();
        for record in self.listed(&[State::Pending, State::Running], true, None).await? {
            let (id, was) = (record.id, record.state);
            match self.expire_due(record).await {
                Ok(now) if now.state == was => {}
                Ok(_) if was == State::Pending => swept.expired += 1,
                Ok(_) => swept.lost += 1,
                Err(failure) => {
                    tracing::warn!(call = %id, %failure, "what was due for a call could not be done");
                    swept.left += 1;
                }
            }
        }
        Ok(swept)
    }

    /// What is to be done, but for calls that are seen to already.
    async fn follow_ups(
        self,
        under_way: &HashMap<CallId, bool>,
    ) -> Result<Vec<FollowUp>, CallFailure> {
        let ours = |records: Vec<CallRecord>| records.into_iter().filter(|it| self.is_ours(it));
        let due = self.listed(&[State::Judging, State::Ready], true, None).await?;
        let mut follow_ups: Vec<FollowUp> = Vec::new();
        let mut turns = Turns::default();
        for record in ours(due) {
            if self.is_its_turn(&record, &mut turns).await? {
                follow_ups.push(FollowUp::GoOn(record));
            }
        }
        for tool in self.run.ready.reconciling() {
            let unclear = self.listed(&[State::Indeterminate], false, Some(tool)).await?;
            follow_ups.extend(ours(unclear).map(FollowUp::Reconcile));
        }
        if self.journal.asker.is_some() {
            let pending = self.listed(&[State::Pending], false, None).await?;
            if !self.run.is_own() {
                let all = pending.iter().map(|it| it.id).collect();
                self.journal.busy.forget_all_but(&all);
            }
            let noted = self.journal.busy.noted();
            let unnotified = ours(pending).filter(|it| !noted.contains(&it.id));
            follow_ups.extend(unnotified.map(FollowUp::Notify));
        }
        let left_alone = self.journal.busy.left_alone();
        follow_ups.retain(|it| {
            let id = it.record().id;
            !under_way.contains_key(&id) && !left_alone.contains(&id)
        });
        Ok(follow_ups)
    }

    async fn listed(
        self,
        states: &[State],
        is_due: bool,
        tool: Option<&str>,
    ) -> Result<Vec<CallRecord>, CallFailure> {
        let filter = Filter {
            states: states.to_vec(),
            due: is_due.then(|| self.journal.now()),
            run: self.run.is_own().then(|| self.run.id().to_owned()),
            tool: tool.map(ToOwned::to_owned),
            ..Filter::default()
        };
        self.all(&filter).await
    }
}

/// What a look finds, and the calls that ended meanwhile: what runs goes on, and keeps its leases, however long the look
/// takes.
async fn beside<T>(
    look: impl Future<Output = T>,
    going: &mut FuturesUnordered<impl Future<Output = (CallId, Done)>>,
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
    /// Whether there was nothing that could be done.
    #[must_use]
    pub fn is_nothing(&self) -> bool {
        *self == Self { left: self.left, ..Self::default() }
    }

    fn count(&mut self, done: &Done) {
        match done {
            Done::WentOn | Done::Asks(_) => self.gone_on += 1,
            Done::Notified => self.notified += 1,
            Done::Reconciled => self.reconciled += 1,
            Done::Unclear => {}
            Done::Left(_) => self.left += 1,
        }
    }
}
