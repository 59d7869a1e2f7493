//! What the store said was done, against what is there.

use std::collections::HashMap;

use toolwright::CallId;
use toolwright::journal::{Event, Failure};

use super::{Case, Findings};
use crate::watched::{Promise, Told};

pub fn by_call(told: &[Told]) -> HashMap<CallId, Vec<&Told>> {
    let mut calls: HashMap<_, Vec<_>> = HashMap::new();
    for it in told {
        let (Promise::Committed { call, .. } | Promise::Renewed { call, .. }) = &it.what;
        calls.entry(*call).or_default().push(it);
    }
    calls
}

pub fn check(case: &Case<'_>, findings: &mut Findings<'_>) {
    let Some(record) = case.record else { return };
    let mut versions = HashMap::new();
    for told in &case.told {
        let Promise::Committed { version, state, .. } = &told.what else { continue };
        let there = case.history.iter().rfind(|entry| entry.number <= *version);
        let is_there = *version <= record.version && there.is_some_and(|it| it.to == *state);
        findings.unless(
            is_there,
            format!(
                "that it is {state} as version {version} was reported, and is not in the journal"
            ),
        );
        if let Some(other) = versions.insert(version, told.life) {
            findings.unless(
                false,
                format!("version {version} was reported to lives {other} and {}", told.life),
            );
        }
    }
    if case.has_times {
        leases(case, findings);
    }
}

/// Nobody's call is taken away while the store has told them that their lease holds.
fn leases(case: &Case<'_>, findings: &mut Findings<'_>) {
    let mut epoch = 0;
    for (entry, event) in case.events() {
        match event {
            Event::Claimed => epoch += 1,
            Event::Errored { failure: Failure::OwnerLost, .. } => {
                let held = case.told.iter().any(|told| {
                    let Promise::Renewed { epoch: of, until, .. } = told.what else { return false };
                    of == epoch && told.at < entry.at && entry.at < until
                });
                findings.unless(!held, "it was taken from its owner while the lease held");
            }
            _ => {}
        }
    }
}
