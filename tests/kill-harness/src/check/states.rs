//! Where a call stands at the end, given what happened outside.

use toolwright::journal::{Failure, State, Transition};
use toolwright::unstable::journal::replay;

use super::{Case, Findings, Kind, children};
use crate::script::{Manner, Said};

/// How often a call is begun whose owners are lost, or that may be tried again, before it is dead.
const ATTEMPTS: usize = 3;

pub fn check(case: &Case<'_>, findings: &mut Findings<'_>) {
    if !case.is_kept {
        return;
    }
    let Some(record) = case.record else {
        if was_never_recorded(case) || children::was_never_made(case) {
            return;
        }
        return findings.add(Kind::Lost, "it was intended, and is not in the journal");
    };
    let state = record.state;
    if !state.is_answered() && state != State::Indeterminate && !children::is_waited_for(case) {
        findings.add(Kind::Lost, format!("it is {state}, and nobody will do anything about it"));
    }
    if let Err(why) = replay(record, case.history) {
        findings.add(Kind::Unexpected, why.to_string());
    }
    let (begun, acted) = (!case.begun.is_empty(), !case.acted.is_empty());
    let manner = case.intended.manner;
    let was_undone = case.has(is_undone);
    match state {
        State::Succeeded => findings.unless(acted, "it succeeded, and did not act"),
        State::Indeterminate => {
            findings.unless(case.is_once(), "it may be repeated, and is indeterminate");
            findings.unless(case.has(is_doubtful), "it is indeterminate, and nothing went wrong");
        }
        State::Failed => {
            findings.unless(manner == Manner::Wrong, "it failed, and its tool does not fail");
        }
        State::Dead => {
            let goes_wrong = match manner {
                Manner::Busy => true,
                Manner::Panics | Manner::PanicsLate | Manner::Flaky => !case.is_once(),
                Manner::Plain | Manner::Slow | Manner::Wrong => false,
            };
            let claims = case.events().filter(|(_, event)| *event == Transition::Claimed).count();
            findings.unless(goes_wrong || claims >= ATTEMPTS, "it is dead, and nothing went wrong");
        }
        State::Rejected => {
            findings.unless(case.intended.said == Said::Reject, "nobody rejected it");
        }
        State::Expired => findings.unless(case.intended.asks(), "it expired, and does not ask"),
        State::Cancelled => {
            let is_over = case.parent.is_some_and(|it| it.state.is_answered());
            findings.unless(case.run_is_ended || is_over, "neither its run nor its parent ended");
        }
        State::Refused | State::Discarded => {
            findings.add(Kind::Unexpected, format!("it is {state}"));
        }
        // Told above.
        State::Judging
        | State::Planned
        | State::Pending
        | State::Ready
        | State::Running
        | State::Waiting => {}
        _ => findings.add(Kind::Unexpected, format!("it is {state}, which is unknown here")),
    }
    if case.is_once() {
        let is_told = matches!(state, State::Succeeded | State::Indeterminate);
        findings.unless(!acted || is_told, format!("it acted, and is {state}"));
        let is_not = matches!(state, State::Rejected | State::Expired | State::Cancelled);
        findings.unless(!(begun && is_not) || was_undone, format!("it was begun, and is {state}"));
    }
    let never = matches!(case.intended.said, Said::Reject | Said::Ignore);
    findings.unless(!(never && begun), "nobody agreed to it, and it was begun");
}

/// The journal could not be written when the call was made, and when it was made again its run had ended.
fn was_never_recorded(case: &Case<'_>) -> bool {
    let is_cancelled = |(text, _): &(&str, bool)| text.contains("\"error_type\":\"cancelled\"");
    let (begun, noted) = (&case.begun, &case.noted);
    case.run_is_ended && begun.is_empty() && !noted.is_empty() && noted.iter().all(is_cancelled)
}

/// It is known not to have happened.
fn is_undone(event: Transition) -> bool {
    matches!(
        event,
        Transition::DidNotHappen | Transition::Errored { failure: Failure::NotStarted, .. }
    )
}

/// It may have happened.
fn is_doubtful(event: Transition) -> bool {
    let Transition::Errored { failure, .. } = event else { return false };
    !matches!(failure, Failure::NotStarted | Failure::Invalid | Failure::Final)
}
