//! Checks the final state of a call, given what happened outside.

use toolwright::journal::{Failure, State, Transition};
use toolwright::unstable::journal::replay;

use super::{Case, Findings, Kind, children};
use crate::script::{Manner, Said};

/// How often a call is begun before it becomes a dead letter, if its owners were lost or if it may be tried again.
const ATTEMPTS: usize = 3;

pub fn check(case: &Case<'_>, findings: &mut Findings<'_>) {
    if !case.is_kept {
        return;
    }
    let Some(record) = case.record else {
        if was_never_recorded(case) || children::was_never_made(case) {
            return;
        }
        return findings.add(Kind::Lost, "it was intended, but is not in the journal");
    };
    let state = record.state;
    if !state.is_answered() && state != State::Indeterminate && !children::is_waited_for(case) {
        findings.add(Kind::Lost, format!("it is {state}, and waits for nothing"));
    }
    if let Err(why) = replay(record, case.history) {
        findings.add(Kind::Unexpected, why.to_string());
    }
    let (begun, acted) = (!case.begun.is_empty(), !case.acted.is_empty());
    let manner = case.intended.manner;
    let was_undone = case.has(is_undone);
    match state {
        // See `pipes`.
        State::Succeeded | State::Failed if case.intended.is_pipe() => {}
        State::Succeeded | State::Failed if case.intended.is_external() => {}
        // A call that was handed over ends by its deadline: see `external`.
        State::Expired if case.intended.is_external() => {}
        State::Indeterminate | State::Dead if case.intended.is_external() => {
            findings.add(Kind::Unexpected, format!("it is carried out elsewhere, but is {state}"));
        }
        State::Succeeded => findings.unless(acted, "it succeeded, but did not act"),
        State::Indeterminate => {
            findings.unless(case.is_once(), "it may be repeated, but is indeterminate");
            findings.unless(case.has(is_doubtful), "it is indeterminate, but nothing went wrong");
        }
        State::Failed => {
            findings.unless(manner == Manner::Wrong, "it failed, but its tool does not fail");
        }
        State::Dead => {
            let goes_wrong = match manner {
                Manner::Busy => true,
                Manner::Panics | Manner::PanicsLate | Manner::Flaky => !case.is_once(),
                Manner::Plain | Manner::Slow | Manner::Wrong => false,
            };
            let claims = case.events().filter(|(_, event)| *event == Transition::Claimed).count();
            findings.unless(goes_wrong || claims >= ATTEMPTS, "it is dead, but nothing went wrong");
        }
        State::Rejected => {
            findings.unless(
                case.intended.said == Said::Reject,
                "it was rejected, but not by the person",
            );
        }
        State::Expired => {
            findings.unless(case.intended.asks(), "it expired, but needs no approval")
        }
        State::Cancelled => {
            let is_over = case.parent.is_some_and(|it| it.state.is_answered());
            findings.unless(case.run_is_ended || is_over, "neither its run nor its parent ended");
        }
        State::Refused | State::Discarded => {
            findings.add(Kind::Unexpected, format!("it is {state}"));
        }
        // The checks above cover these states.
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
        findings.unless(!acted || is_told, format!("it acted, but is {state}"));
        let is_not = matches!(state, State::Rejected | State::Expired | State::Cancelled);
        findings.unless(!(begun && is_not) || was_undone, format!("it was begun, but is {state}"));
    }
    let never = matches!(case.intended.said, Said::Reject | Said::Ignore);
    findings.unless(!(never && begun), "it was begun, but not approved");
}

/// Returns whether the call never came into the journal: the journal could not be written when the call was made first,
/// and its run had ended when it was made again.
fn was_never_recorded(case: &Case<'_>) -> bool {
    let is_cancelled = |(text, _): &(&str, bool)| text.contains("\"error_type\":\"cancelled\"");
    let (begun, noted) = (&case.begun, &case.noted);
    case.run_is_ended && begun.is_empty() && !noted.is_empty() && noted.iter().all(is_cancelled)
}

/// Returns whether an event says that the call did not happen.
fn is_undone(event: Transition) -> bool {
    matches!(
        event,
        Transition::DidNotHappen | Transition::Errored { failure: Failure::NotStarted, .. }
    )
}

/// Returns whether an event leaves open whether the call happened.
fn is_doubtful(event: Transition) -> bool {
    let Transition::Errored { failure, .. } = event else { return false };
    !matches!(failure, Failure::NotStarted | Failure::Invalid | Failure::Final)
}
