//! Compares what the executor said of supplied results with the journal: no accepted result is lost, and none counts
//! beside another.

use toolwright::journal::{CallRecord, State, Transition};

use super::{Case, Findings, Kind};
use crate::marks::Refusal;
use crate::script::Manner;

pub fn check(case: &Case<'_>, findings: &mut Findings<'_>) {
    let is_external = case.intended.is_external();
    findings.unless(is_external || case.supplied.offered.is_empty(), "it was handed over");
    let Some(record) = case.record.filter(|_| is_external) else { return };
    findings.unless(case.begun.is_empty(), "it is carried out elsewhere, but was begun here");
    accepted(case, record, findings);
    refused(case, record, findings);
    answer(case, record, findings);
    handed_over(case, record, findings);
    rights(case, record, findings);
}

/// One result is accepted, and it is the answer.
fn accepted(case: &Case<'_>, record: &CallRecord, findings: &mut Findings<'_>) {
    let accepted = &case.supplied.accepted;
    if accepted.len() > 1 {
        findings.add(Kind::Duplicate, format!("results were accepted: {accepted:?}"));
    }
    for text in accepted {
        let is_offered = case.supplied.offered.iter().any(|(_, offer)| offer.text == **text);
        findings.unless(is_offered, format!("`{text}` was accepted, but had to be refused"));
        let answer = record.answer.as_ref().map_or("nothing", |it| it.text.as_str());
        if !answer.contains(text) {
            let why = format!("the result `{text}` was accepted, but the answer is `{answer}`");
            findings.add(Kind::Lost, why);
        }
    }
}

/// A result is refused only because the call has ended, in the state that was reported.
fn refused(case: &Case<'_>, record: &CallRecord, findings: &mut Findings<'_>) {
    for (text, refusal) in &case.supplied.refused {
        match refusal {
            // It may be recorded or not.
            Refusal::NotRecorded => {}
            Refusal::Ended(state) => findings.unless(
                *state == record.state,
                format!("`{text}` was refused because it is {state}, but it is {}", record.state),
            ),
            Refusal::Other(why) => {
                findings.add(Kind::Unexpected, format!("`{text}` was refused: {why}"));
            }
        }
    }
}

/// The answer is a result that was supplied; without one, the call has expired or was cancelled.
fn answer(case: &Case<'_>, record: &CallRecord, findings: &mut Findings<'_>) {
    let is_error = match record.state {
        State::Succeeded => false,
        State::Failed => true,
        _ => return,
    };
    let answer = record.answer.as_ref().map_or("nothing", |it| it.text.as_str());
    let fits = |text: &str| if is_error { answer.contains(text) } else { answer == text };
    let offers = || case.supplied.offered.iter().filter(|(_, offer)| fits(&offer.text));
    findings.unless(
        offers().next().is_some(),
        format!("its answer `{answer}` was never supplied as its result"),
    );
    let is_wrong = case.intended.manner == Manner::Wrong;
    findings.unless(is_wrong == is_error, format!("it is {}", record.state));
    let until = record.handed_over_until;
    let is_in_time = offers().any(|(mark, _)| until.is_some_and(|until| mark.at < until));
    findings.unless(!case.has_times || is_in_time, "its result was supplied after its deadline");
}

/// It is handed over at most once, together with its claim, and expires only after the deadline.
fn handed_over(case: &Case<'_>, record: &CallRecord, findings: &mut Findings<'_>) {
    let count = |wanted| case.events().filter(|(_, event)| *event == wanted).count();
    let (claimed, handed_over) = (count(Transition::Claimed), count(Transition::HandedOver));
    findings.unless(
        claimed == handed_over && handed_over <= 1,
        format!("it was claimed {claimed} times, and handed over {handed_over} times"),
    );
    let ended = case.events().find(|(_, event)| *event == Transition::Expired);
    let is_over = |(entry, _): (&toolwright::journal::Entry, _)| match record.handed_over_until {
        Some(until) => entry.from == Some(State::HandedOver) && until <= entry.at,
        // The approval has expired.
        None => entry.from == Some(State::Pending) && case.intended.asks(),
    };
    findings.unless(!case.has_times || ended.is_none_or(is_over), "it expired before its time");
}

/// Each offer was for the call as the journal has it, after it was approved.
fn rights(case: &Case<'_>, record: &CallRecord, findings: &mut Findings<'_>) {
    let consent = case.events().find(|(_, event)| {
        matches!(event, Transition::Approved | Transition::Edited | Transition::HandedOver)
    });
    for (mark, offer) in &case.supplied.offered {
        let attempt = &offer.attempt;
        let is_it = attempt.call == record.id.to_string()
            && attempt.key == record.idempotency_key
            && record.handed_over_until == Some(offer.until);
        findings.unless(is_it, format!("it was handed over as {attempt:?}"));
        let is_allowed = consent.is_some_and(|(entry, _)| entry.at <= mark.at);
        findings.unless(!case.has_times || is_allowed, "it was handed over before its approval");
    }
    let agreed = case.has(|event| matches!(event, Transition::Approved | Transition::Edited));
    let needs_none = !case.intended.asks() || case.supplied.offered.is_empty();
    findings.unless(needs_none || agreed, "it was handed over, but not approved");
}
