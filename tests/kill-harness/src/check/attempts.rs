//! Checks how often a call was begun, with whose consent, and with which key.

use toolwright::journal::{Failure, State, Transition};

use super::{Case, Findings, Kind};

pub fn check(case: &Case<'_>, findings: &mut Findings<'_>) {
    if !case.is_kept {
        return;
    }
    if case.is_once() {
        once(case, findings);
    }
    keys(case, findings);
    consent(case, findings);
    owners(case, findings);
}

/// A `once` call is begun again only after a person or its tool reported that it did not happen.
fn once(case: &Case<'_>, findings: &mut Findings<'_>) {
    for (before, (mark, _)) in case.begun.iter().enumerate() {
        let words = case.events().filter(|(entry, event)| {
            let is_word = matches!(
                event,
                Transition::DidNotHappen | Transition::Errored { failure: Failure::NotStarted, .. }
            );
            is_word && (!case.has_times || entry.at <= mark.at)
        });
        if words.count() < before {
            findings.add(
                Kind::Duplicate,
                format!(
                    "it was begun for the {}. time, though nothing said that it had not happened",
                    before + 1
                ),
            );
        }
    }
    if case.acted.len() > 1 {
        findings.add(Kind::Duplicate, format!("it acted {} times", case.acted.len()));
    }
}

/// All attempts of a call with the same arguments have the same idempotency key, which is the key in the record.
fn keys(case: &Case<'_>, findings: &mut Findings<'_>) {
    for pair in case.begun.windows(2) {
        let [(_, one), (_, other)] = pair else { continue };
        let is_same = one.key == other.key;
        findings.unless(
            is_same == (one.amount == other.amount),
            format!("its key was {} and then {}", one.key, other.key),
        );
    }
    if let (Some((_, last)), Some(record)) = (case.begun.last(), case.record) {
        let is_last =
            case.has(|event| event == Transition::Edited) || last.key == record.idempotency_key;
        findings.unless(is_last, "it was begun with a key that is not in the journal");
        let is_it = last.call == record.id.to_string();
        findings.unless(is_it, format!("it was begun as call {}", last.call));
    }
}

/// A call that needs approval is begun only after a person or a grant allowed it.
fn consent(case: &Case<'_>, findings: &mut Findings<'_>) {
    let Some((first, _)) = case.begun.first().filter(|_| case.intended.asks()) else { return };
    let agreed = case.events().any(|(entry, event)| {
        let by_grant = || entry.why.as_deref().is_some_and(|why| why.contains("grant"));
        let agrees = match event {
            Transition::Approved | Transition::Edited => true,
            Transition::Allowed => by_grant(),
            _ => false,
        };
        agrees && (!case.has_times || entry.at <= first.at)
    });
    findings.unless(agreed, "it was begun before it was approved");
}

/// Only the last claimer reports how a call ended.
fn owners(case: &Case<'_>, findings: &mut Findings<'_>) {
    let mut owner = None;
    for (entry, event) in case.events() {
        match event {
            Transition::Claimed => {
                let was_ready = entry.from == Some(State::Ready);
                findings.unless(was_ready, "it was claimed, but was not ready");
                owner = Some(&entry.who);
            }
            Transition::Errored { failure: Failure::OwnerLost, .. } => {}
            Transition::Succeeded | Transition::Errored { .. } => {
                findings.unless(
                    owner == Some(&entry.who),
                    "its result is from an owner that had lost its lease",
                );
            }
            _ => {}
        }
    }
}
