//! The claim of a call while its task holds it. Dropped before the end of the call is recorded, as when the task is not polled
//! any more, it says so in the journal, or records the end that was reached; where that fails too, its lease runs out.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;

use super::super::snapshot::ToolNow;
use super::super::step::{By, DroppedClaim, Input};
use super::Lifecycle;
use crate::executor::{Claim, RunState};
use toolwright_core::context::CallId;
use toolwright_journal::journal::{CallRecord, CommitError, State, StoreErrorKind};

/// How often the journal is asked for a call whose commit may still be under way, each pause twice the last.
const LOOKS: u32 = 10;

/// The first pause.
const PAUSE: Duration = Duration::from_millis(10);

/// A claim. Made before it is committed, because a commit can stand although its reply is lost.
pub(super) struct HeldClaim {
    pub(super) claim: Arc<Claim>,
    /// How the attempt ended, once it has.
    pub(super) end: Option<Input>,
    left: Option<LeftClaim>,
}

struct LeftClaim {
    run: Arc<RunState>,
    call: CallId,
    epoch: u64,
    /// When it was claimed: another claim of this executor may have the same epoch, where this one does not stand.
    claimed: Timestamp,
    by: By,
    tool: Option<ToolNow>,
    /// Whether the journal has said that it has the claim.
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

    /// What became of the commit, as far as the journal says.
    pub(super) fn note_commit(&mut self, written: &Result<(), CommitError>) {
        match (written, &mut self.left) {
            (Ok(()), Some(left)) => left.is_recorded = true,
            (Err(error), _) if error.is_conflict() || wrote_nothing(error) => self.let_go(),
            // It can stand although an error was heard.
            _ => {}
        }
    }

    /// Its end is recorded, or nothing is to be recorded of it.
    pub(super) fn let_go(&mut self) {
        self.left = None;
    }
}

/// Whether the store says that it refused the commit.
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
    /// Who ran it: a call that another makes is left to others where that one is.
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
                tracing::warn!(call = %self.call, %failure, "that a call was given up is not recorded");
            }
        }
    }

    /// The call, where the journal has the claim. Its commit may still be under way.
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

/// How long the journal is given for a commit whose reply is lost: longer than a store waits for another program.
pub(in super::super) fn pauses() -> impl Iterator<Item = Duration> {
    (0..LOOKS).map(|look| PAUSE * 2_u32.pow(look))
}
