//! Compares the answers that the application recorded with the journal.

use toolwright::journal::State;

use super::{Case, Findings, Kind, children};
use crate::tools::result;

pub fn check(case: &Case<'_>, findings: &mut Findings<'_>) {
    let noted = case.noted.first();
    let is_parked = case.record.is_some_and(|it| it.state == State::Indeterminate)
        || children::is_waited_for(case);
    match noted {
        None if !is_parked => findings.add(Kind::Unanswered, "no answer was ever recorded"),
        Some((text, _)) if is_parked => {
            findings.add(
                Kind::Unexpected,
                format!("its outcome is unknown, but it was answered: {text}"),
            );
        }
        _ => {}
    }
    let Some((text, is_error)) = noted else { return };
    for (other, _) in &case.noted {
        findings.unless(other == text, format!("it was answered `{text}` and then `{other}`"));
    }
    let Some(record) = case.record else { return };
    if let Some(answer) = &record.answer {
        let is_same = answer.text == *text && answer.is_error == *is_error;
        let kept = &answer.text;
        findings.unless(is_same, format!("its answer was `{text}`, but the journal has `{kept}`"));
        findings.unless(
            record.delivered,
            "its answer was recorded, but not acknowledged to the journal",
        );
    }
    let acts_here = !case.intended.is_external() && !case.intended.is_pipe();
    if record.state == State::Succeeded && acts_here {
        let amount = case.acted.last().map(|(_, attempt)| attempt.amount);
        let right = amount.map(|amount| result(&case.intended.token, amount));
        findings.unless(
            right.as_deref() == Some(text),
            format!("its answer `{text}` is not its result"),
        );
    }
}
