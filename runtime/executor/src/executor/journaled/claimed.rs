//! A call that is about to be claimed, and what goes with it until it ends.

use std::sync::Arc;

use super::super::Plan;
use super::super::claim::Claim;
use super::JournaledCall;
use super::unfinished::{By, Unfinished};
use toolwright_journal::journal::{CallRecord, CommitError};

/// Made before the claim is committed, because a commit can stand although nobody hears so: from here on somebody says
/// what becomes of the call.
pub(super) struct Claimed {
    pub(super) record: Arc<CallRecord>,
    pub(super) claim: Arc<Claim>,
    pub(super) unfinished: Unfinished,
}

impl Claimed {
    pub(super) fn new(
        journaled: JournaledCall<'_>,
        record: &Arc<CallRecord>,
        plan: &Plan,
        by: By,
    ) -> Self {
        let claim = Arc::new(Claim::until(record.lease));
        let unfinished = Unfinished::new(&journaled, (plan, by), record, &claim);
        Self { record: Arc::clone(record), claim, unfinished }
    }

    /// What became of the commit, as far as the journal says.
    pub(super) fn heard(&mut self, written: &Result<(), CommitError>) {
        match written {
            Ok(()) => self.unfinished.stands(),
            Err(error) if error.is_conflict() => self.unfinished.disarm(),
            // It can stand although an error was told.
            Err(_) => {}
        }
    }
}
