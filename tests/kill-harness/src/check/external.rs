//! Calls that are carried out elsewhere: each is handed over once, and ends by the one result that was supplied, or without one.

use toolwright::journal::{State, Transition};

use super::{Case, Findings, Kind};

pub fn check(case: &Case<'_>, findings: &mut Findings<'_>) {
    let times = |wanted: Transition| case.events().filter(|(_, event)| *event == wanted).count();
    let handed_over = times(Transition::HandedOver);
    if !case.intended.is_external() {
        let is_none = handed_over + times(Transition::Supplied) + times(Transition::Declined) == 0;
        return findings.unless(is_none, "it runs here, and was handed over");
    }
    if handed_over > 1 {
        findings.add(Kind::Duplicate, format!("it was handed over {handed_over} times"));
    }
    let claims = times(Transition::Claimed);
    findings.unless(
        claims == 0 || handed_over == 1,
        "it was claimed, and not handed over in the same commit",
    );
    findings.unless(
        case.begun.is_empty() || handed_over == 1,
        "it was carried out, and never handed over",
    );
    let results = times(Transition::Supplied) + times(Transition::Declined);
    findings.unless(results <= 1, format!("{results} results of it count"));
    let Some(record) = case.record else { return };
    let by_result = matches!(record.state, State::Succeeded | State::Failed);
    findings.unless(
        by_result == (results == 1),
        format!("it is {}, with {results} results", record.state),
    );
    let in_doubt = matches!(record.state, State::Indeterminate | State::Dead | State::Running);
    findings
        .unless(!in_doubt, format!("it is {}, which what is handed over never is", record.state));
}
