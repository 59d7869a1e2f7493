//! Decides on a call that is carried out elsewhere. The commit that claims it also hands it over. The call ends when
//! its result is supplied, its deadline passes, or it is cancelled. Each generation of a call is handed over at most
//! once, and its token is valid for one result.

use super::moment::{Known, Moment};
use super::words::{not_supplied, recalled};
use crate::call::later;
use crate::lifecycle::guard::Guard;
use crate::lifecycle::step::{Step, SuppliedResult, Then};
use toolwright_core::error::ToolError;
use toolwright_journal::journal::{CallRecord, Entry, State, Transition};

impl Moment<'_> {
    /// Begins a call that may run: claims it for its tool to run here, or hands it over. The claim and the hand-over
    /// are one commit, so that after a crash it is clear whether the call was handed over.
    pub(super) fn begin(self, record: &mut CallRecord) -> Known<(Vec<Entry>, Then)> {
        let hands_over = self.tool()?.hands_over.as_ref();
        if let Some(why) = hands_over.and_then(|it| it.why_not.as_ref()) {
            return Err(self.not_here(why.clone()));
        }
        let claimed = self.mark_claimed(record)?;
        let at_once = hands_over.filter(|_| self.has(Guard::HandedOverAtOnce));
        let Some(hands_over) = at_once else { return Ok((vec![claimed], Then::Perform)) };
        let until = later(self.now, hands_over.within);
        let why = format!("its result may be supplied until {until}");
        let handed_over = self.advance(record, Transition::HandedOver, Some(why))?;
        record.handed_over_until = Some(until);
        Ok((vec![claimed, handed_over], Then::Report))
    }

    /// Accepts a supplied result only once, only before the deadline, and only for the call that was handed over.
    pub(super) fn supply(self, supplied: &SuppliedResult) -> Known<Step> {
        let record = &self.snapshot.record;
        if record.state != State::HandedOver || record.generation != supplied.generation {
            return Ok(Step::only(Then::Report));
        }
        let is_late = record.handed_over_until.is_none_or(|until| until <= self.now);
        if is_late && self.has(Guard::SuppliedInTime) {
            return self.never_supplied();
        }
        let event = match supplied.answer.is_error {
            true => Transition::Declined,
            false => Transition::Supplied,
        };
        let mut next = record.clone();
        let entry = self.advance(&mut next, event, Some("supplied with its token".to_owned()))?;
        self.answer(&mut next, supplied.answer.clone());
        Ok(self.commit(next, vec![entry], Vec::new(), Then::Report))
    }

    /// Ends a call for which no result was supplied before its deadline.
    pub(super) fn never_supplied(self) -> Known<Step> {
        let error = not_supplied(&self.snapshot.record);
        self.ended_elsewhere(Transition::Expired, &error, "no result was supplied in time")
    }

    /// Cancels a call that was handed over. The other process is notified, but may have carried the call out by then.
    pub(super) fn recall(self, why: &str) -> Known<Step> {
        let error = recalled(&self.snapshot.record);
        self.ended_elsewhere(Transition::RunEnded, &error, why)
    }

    fn ended_elsewhere(self, event: Transition, error: &ToolError, why: &str) -> Known<Step> {
        let mut next = self.snapshot.record.clone();
        let entry = self.advance(&mut next, event, Some(why.to_owned()))?;
        self.answer(&mut next, error);
        Ok(self.commit(next, vec![entry], Vec::new(), Then::Report))
    }
}
