//! Decides what happens to a call on an input, as a pure function without a clock and without I/O.
//!
//! - [`arrive`](self::arrive): evaluates a call for the first time, or again. [`claim`](self::claim): evaluates a call
//!   that may run by the present policy, tool and grants, and claims it.
//! - [`stage`](self::stage): applies what the stages of the application decided about a call that may run.
//! - [`statement`](self::statement): checks which decisions of people are valid.
//! - [`hand_over`](self::hand_over): decides on a call that is carried out elsewhere.
//! - [`family`](self::family): decides on a call that makes calls, and on the calls that it makes.
//! - [`attempt`](self::attempt): applies the end of an attempt. [`end`](self::end): ends a call that does not run, or
//!   takes it back to its earlier state.

mod arrive;
mod attempt;
mod claim;
mod end;
pub(super) mod family;
mod grant;
mod hand_over;
mod moment;
mod stage;
mod statement;
#[cfg(test)]
mod tests;
pub(crate) mod words;

pub use moment::ended_key;
pub use statement::{is_accepted, is_own, last_decision};

use jiff::Timestamp;

use self::moment::Moment;
use super::snapshot::Snapshot;
use super::step::{Input, Settings, Step, Then};
use toolwright_journal::journal::State;

/// Decides how a call continues after an input. If a fact is missing, the returned step names the fact. The caller then
/// reads the fact into the snapshot, and calls this function again.
#[must_use]
pub fn decide(
    snapshot: &Snapshot,
    input: &Input,
    settings: &Settings,
    now: Timestamp,
    random: u128,
) -> Step {
    let moment = Moment { snapshot, settings, now, random };
    let step = match input {
        Input::Submitted { refused: Some(answer), .. } => {
            moment.record_refused(None, answer.clone())
        }
        Input::Submitted { reason, refused: None } => moment.submitted(reason.as_deref(), None),
        Input::Resumed => moment.resumed(),
        Input::Due => moment.due(),
        Input::Noted => moment.noted(),
        Input::Staged(staged) => moment.stage(staged),
        Input::Attempted(attempt) => moment.end_attempt(attempt),
        Input::Suspended(suspension) => moment.suspend(suspension),
        Input::Supplied(supplied) => moment.supply(supplied),
        Input::Dropped(dropped) => moment.release(*dropped),
        Input::Reconciled(found) => moment.reconcile(found),
        Input::Ended(end) => moment.end_unbegun(end),
    };
    // `Err` only marks a step that was returned early, so both variants contain a step.
    step.unwrap_or_else(|early| *early)
}

/// Returns the id of a grant that would cover the call if its tool had not changed since the grant was given.
pub(super) fn outdated_grant<'a>(
    snapshot: &'a Snapshot,
    settings: &'a Settings,
    now: Timestamp,
    fingerprint: &str,
    four_eyes: bool,
) -> Option<&'a str> {
    Moment { snapshot, settings, now, random: 0 }.outdated_grant(fingerprint, four_eyes)
}

impl Moment<'_> {
    /// Continues a call at the request of a caller or a worker.
    fn resumed(self) -> Result<Step, Box<Step>> {
        let record = &self.snapshot.record;
        match record.state {
            State::Ready | State::Judging if self.settings.is_closed => {}
            State::Ready | State::Judging if self.is_left_to_its_parent() => {}
            State::Ready | State::Judging if self.is_left_to_its_agent() => {}
            State::Judging => return self.evaluate_again(),
            State::Ready => match record.not_before.filter(|time| *time > self.now) {
                Some(time) => return Ok(Step::only(Then::WaitUntil(time))),
                None => return self.claim(None),
            },
            _ => {}
        }
        Ok(Step::only(Then::Report))
    }

    /// Records that an approver was notified and will decide later.
    fn noted(self) -> Result<Step, Box<Step>> {
        let mut noted = self.snapshot.record.clone();
        let Some(ask) = noted.ask.as_mut().filter(|_| noted.state == State::Pending) else {
            return Ok(Step::only(Then::Report));
        };
        ask.notified = true;
        noted.raise_version().map_err(moment::not_advanced)?;
        Ok(self.commit(noted, Vec::new(), Vec::new(), Then::Report))
    }
}
