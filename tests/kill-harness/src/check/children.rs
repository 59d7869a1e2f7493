//! Checks calls that tools make against the calls of those tools.

use toolwright::journal::State;

use super::{Case, Findings};

/// Checks a call that a tool made.
pub fn check(case: &Case<'_>, findings: &mut Findings<'_>) {
    let Some(parent) = case.parent else { return };
    findings.unless(
        case.begun.is_empty() || case.record.is_some() || !case.is_kept,
        "it was begun for a tool, but is not in the journal",
    );
    let is_ended = case.record.is_none_or(|it| it.state.is_answered());
    findings.unless(
        parent.state != State::Succeeded || is_ended,
        "its parent succeeded before it ended",
    );
    findings.unless(
        parent.state != State::Succeeded
            || case.record.is_some()
            || !case.is_kept
            || was_refused(case),
        "its parent succeeded, but it was never made",
    );
}

/// Returns whether the tool that should make the call never came to that.
pub fn was_never_made(case: &Case<'_>) -> bool {
    let is_over = |state: State| state.is_answered() && state != State::Succeeded;
    case.intended.is_child()
        && case.begun.is_empty()
        && (case.parent.is_none_or(|it| is_over(it.state)) || was_refused(case))
}

/// Returns whether the call may have been refused because another process had ended the run, while its parent, which
/// goes on without it, was running.
fn was_refused(case: &Case<'_>) -> bool {
    case.run_is_ended && case.record.is_none() && case.begun.is_empty()
}

/// Returns whether a call waits for a call that its tool made and whose outcome is indeterminate.
pub fn is_waited_for(case: &Case<'_>) -> bool {
    let waits = case.record.is_some_and(|it| it.state == State::Waiting);
    waits && case.child.is_some_and(|it| it.state == State::Indeterminate)
}
