//! A call of a turn that the journal knows already, after a crash for instance.

use super::super::outcome::{CallFailure, Outcome};
use super::{JournaledCall, not_recorded};
use crate::stage::record::Watch;
use toolwright_core::call::Call;
use toolwright_journal::journal::{CallRecord, CallSlot, StoredText};

impl JournaledCall<'_> {
    /// The same call of the same turn arrives again, after a crash for instance.
    pub(super) async fn resubmitted(
        self,
        known: CallRecord,
        call: &Call<'_>,
        watch: Option<&Watch<'_>>,
    ) -> Outcome {
        let is_same = known.tool == call.name() && self.is_same(&known, call);
        if !is_same {
            return CallFailure::PlaceTaken {
                place: known.place,
                call: known.id,
                tool: known.tool,
            }
            .into();
        }
        // What becomes of it after its answer is nothing to its run.
        if known.answer.is_some() {
            return self.outcome_of(&known);
        }
        match self.expire_due(known).await {
            Ok(record) => self.go_on(record, Some(call), watch).await,
            Err(failure) => failure.into(),
        }
    }

    /// Looks at a turn as a whole: where the journal knows another call at a place of it, nothing of it is run.
    pub(crate) async fn contradicted(
        self,
        places: &[CallSlot],
        calls: &[Call<'_>],
    ) -> Option<Vec<Outcome>> {
        let mut failure = None;
        for (place, call) in places.iter().zip(calls) {
            match self.journal.store.at(place).await {
                Ok(Some(known)) if known.tool != call.name() || !self.is_same(&known, call) => {
                    let (place, call, tool) = (known.place, known.id, known.tool);
                    failure = Some(CallFailure::PlaceTaken { place, call, tool });
                }
                Ok(_) => continue,
                Err(error) => failure = Some(not_recorded(call.name(), error.into())),
            }
            break;
        }
        let failure = failure?;
        Some(calls.iter().map(|_| failure.clone().into()).collect())
    }

    /// Whether a recorded call was made with these arguments. Of one with a secret that was not kept, only the
    /// process that made it can tell.
    fn is_same(self, known: &CallRecord, call: &Call<'_>) -> bool {
        match &known.raw {
            StoredText::Omitted => {
                let Ok(found) = self.plan(known) else { return false };
                let settled = self.settle(found.plan(), call, known.id);
                settled.is_ok_and(|it| self.digest(known, &it.settled) == known.digest)
            }
            kept => self.reveal(kept, known.id, "raw").is_ok_and(|raw| raw == call.arguments()),
        }
    }
}
