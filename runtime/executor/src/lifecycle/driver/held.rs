//! The claim of a call, as the task of the call holds it. If the task is dropped before the end of the claim is
//! recorded, dropping this value records that end: the end that the attempt has reached, or else that the task was
//! dropped. If that end cannot be recorded, the lease expires.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;

use super::Lifecycle;
use crate::call::{By, Claim, RunState};
use crate::lifecycle::snapshot::ToolNow;
use crate::lifecycle::step::{DroppedClaim, Input};
use toolwright_core::context::CallId;
use toolwright_journal::journal::{CallRecord, CommitError, State, StoreErrorKind};

/// How many times a call is read whose commit may still be in progress. Each pause between reads is twice as long as
/// the previous one.
const LOOKS: u32 = 10;

/// The first pause between reads.
const PAUSE: Duration = Duration::from_millis(10);

/// A claim of a call. The value is made before the claim is committed, because a commit may succeed although its reply
/// is lost.
pub(super) struct HeldClaim {
    pub(super) claim: Arc<Claim>,
    /// The end of the claim; `None` while the attempt runs.
    pub(super) end: Option<Input>,
    left: Option<LeftClaim>,
}

struct LeftClaim {
    run: Arc<RunState>,
    call: CallId,
    epoch: u64,
    /// When the call was claimed. This time distinguishes the claim from another claim of this executor with the same
    /// epoch, which may exist if the commit of one of them failed.
    claimed: Timestamp,
    by: By,
    tool: Option<ToolNow>,
    /// Whether the journal has confirmed the commit of the claim.
    is_recorded: bool,
}

impl HeldClaim {
    pub(super) fn new(
        run: &Arc<RunState>,
        claimed: &CallRecord,
        by: By,
        tool: Option<ToolNow>,
    ) -> Self {
        let claim = Arc::new(Claim::until(claimed.lease));
        let (run, call, epoch) = (Arc::clone(run), claimed.id, claimed.epoch);
        let claimed = claimed.updated;
        let left = Some(LeftClaim { run, call, epoch, claimed, by, tool, is_recorded: false });
        Self { claim, end: None, left }
    }

    pub(super) fn note_commit(&mut self, written: &Result<(), CommitError>) {
        match (written, &mut self.left) {
            (Ok(()), Some(left)) => left.is_recorded = true,
            (Err(error), _) if error.is_conflict() || wrote_nothing(error) => self.let_go(),
            // Despite this error, the commit may have succeeded.
            _ => {}
        }
    }

    /// Releases the claim, because its end is recorded or need not be recorded.
    pub(super) fn let_go(&mut self) {
        self.left = None;
    }
}

/// Returns whether the store has certainly not written the commit.
fn wrote_nothing(error: &CommitError) -> bool {
    let CommitError::Store(error) = error else { return false };
    matches!(error.kind(), StoreErrorKind::Full | StoreErrorKind::Invalid)
}

impl Drop for HeldClaim {
    fn drop(&mut self) {
        let (Some(left), Ok(runtime)) = (self.left.take(), tokio::runtime::Handle::try_current())
        else {
            return;
        };
        let (epoch, by, is_begun) = (left.epoch, left.runs(), self.claim.is_begun());
        let dropped = Input::Dropped(DroppedClaim { epoch, by, is_begun });
        let input = self.end.take().unwrap_or(dropped);
        runtime.spawn(left.record_end(input));
    }
}

impl LeftClaim {
    /// Returns whether a caller or a worker ran the call. A child is left to workers if its parent is left to workers.
    fn runs(&self) -> By {
        let parent = self.run.lineage().and_then(|lineage| lineage.recorded.as_ref());
        match parent {
            Some(_) if self.run.core.released.is_cancelled() => By::Worker,
            Some(parent) => parent.runs(),
            None => self.by,
        }
    }

    async fn record_end(self, mut input: Input) {
        let Some(lifecycle) = Lifecycle::of(&self.run) else { return };
        let Some(record) = self.find_claimed(lifecycle).await else { return };
        let mut look = lifecycle.look(record, None, None);
        look.snapshot.tool = self.tool.map(Ok);
        match lifecycle.advance(&mut look, &mut input).await {
            Ok(_) if look.record().state.is_answered() => lifecycle.end_children(self.call).await,
            Ok(_) => {}
            Err(failure) => {
                tracing::warn!(call = %self.call, %failure, "the journal could not record that a call was given up");
            }
        }
    }

    /// Reads the call. Returns it if the journal has this claim, whose commit may still be in progress.
    async fn find_claimed(&self, lifecycle: Lifecycle<'_>) -> Option<CallRecord> {
        for pause in pauses() {
            let found = lifecycle.load(self.call).await;
            match found {
                Ok(record) if record.epoch >= self.epoch || self.is_recorded => {
                    let is_ours = record.owner.as_ref() == Some(&lifecycle.journal.owner);
                    let is_claimed = record.state == State::Running
                        && (record.epoch, record.updated) == (self.epoch, self.claimed);
                    return (is_ours && is_claimed).then_some(record);
                }
                _ => tokio::time::sleep(pause).await,
            }
        }
        None
    }
}

/// Lists the pauses between reads. A commit without a reply that is not found after all of these pauses is assumed not
/// to have happened. The sum of the pauses is longer than a store waits for another program.
pub(in super::super) fn pauses() -> impl Iterator<Item = Duration> {
    (0..LOOKS).map(|look| PAUSE * 2_u32.pow(look))
}
