//! Finds out after a failed commit whether the journal contains the commit nevertheless, and what another writer has
//! done to the call.

use std::time::Duration;

use super::{Lifecycle, Look};
use crate::call::CallFailure;
use crate::lifecycle::ended_key;
use crate::lifecycle::notify::Notification;
use toolwright_journal::journal::{CallRecord, CommitError, State};

/// The first pause before the journal is read after a lost reply. Each further pause is twice as long as the previous
/// one.
const PAUSE: Duration = Duration::from_millis(50);

/// A commit that may have succeeded, although its reply was lost.
pub(super) struct Unheard {
    pub(super) record: CallRecord,
    pub(super) notification: Option<Notification>,
}

/// How the driver continues after a conflict.
pub(super) enum Conflict {
    /// The commit had succeeded before, although its reply was lost.
    Stands,
    /// The journal already contains the call that was to be added, so the recorded call is used.
    Elsewhere,
    /// The call has changed, so a new decision is necessary.
    Again,
}

impl<'a> Lifecycle<'a> {
    /// Finds out after a pause whether a commit without a reply succeeded, so that no commit is sent again without this
    /// check. Returns whether the journal contains the commit; `None` if that cannot be read.
    pub(super) async fn look_for_unheard(
        self,
        look: &mut Look<'a, '_>,
        writes: &mut u32,
        limit: u32,
    ) -> Option<bool> {
        while *writes + 1 < limit {
            tokio::time::sleep(PAUSE * 2_u32.pow(*writes)).await;
            *writes += 1;
            match self.load(look.record().id).await {
                Ok(now) => return Some(self.has_stood(look, now)),
                Err(CallFailure::NoSuchCall(_)) => return Some(false),
                Err(failure) => tracing::debug!(%failure, "the journal cannot be read"),
            }
        }
        None
    }

    /// Returns whether the commit without a reply succeeded. If it did not, the driver continues from the current
    /// record.
    fn has_stood(self, look: &mut Look<'a, '_>, now: CallRecord) -> bool {
        match look.unheard.take() {
            Some(Unheard { record, notification }) if is_same(&record, &now) => {
                if let Some(held) = look.held.as_mut().filter(|_| now.state == State::Running) {
                    held.note_commit(&Ok(()));
                }
                self.take_over(look, record, notification);
                true
            }
            _ => {
                look.is_now(now);
                false
            }
        }
    }

    /// Handles a conflict, by reading the call again. Either another writer has changed the call first, or the same
    /// commit had succeeded before.
    pub(super) async fn after(
        self,
        look: &mut Look<'a, '_>,
        conflict: CommitError,
    ) -> Result<Conflict, CallFailure> {
        let is_known =
            matches!(&conflict, CommitError::Call { call, .. } if *call == look.record().id);
        let was_recorded = look.snapshot.is_recorded;
        if was_recorded || is_known {
            let now = self.load(look.record().id).await?;
            return Ok(match self.has_stood(look, now) {
                true => Conflict::Stands,
                false if was_recorded => Conflict::Again,
                // The call was recorded although the reply was lost, and another writer has changed the call since.
                false => Conflict::Elsewhere,
            });
        }
        let place = look.record().place.clone();
        let known = match conflict {
            CommitError::CallSlot { holder, .. } => Some(self.load(holder).await?),
            CommitError::Document { key, .. } if key == ended_key(&place.run) => {
                look.snapshot.run_ended = Some(true);
                match place.turn {
                    // Another caller may have submitted the same call first.
                    Some(_) => self.at(&place, &look.record().tool).await?,
                    None => None,
                }
            }
            // The parent also runs in another process, or has run before, and has made this child there.
            CommitError::Document { key, .. }
                if self.parent.is_some_and(|parent| parent.key() == key) =>
            {
                self.find_known(&place, &look.record().tool).await?
            }
            // Another call has used the grant in the meantime.
            _ => {
                (look.snapshot.denied_before, look.snapshot.grants) = (None, None);
                tokio::task::yield_now().await;
                None
            }
        };
        let Some(known) = known else { return Ok(Conflict::Again) };
        look.is_now(known);
        Ok(Conflict::Elsewhere)
    }
}

fn is_same(written: &CallRecord, now: &CallRecord) -> bool {
    let of = |it: &CallRecord| (it.version, it.state, it.epoch, it.updated);
    of(written) == of(now) && written.owner == now.owner
}
