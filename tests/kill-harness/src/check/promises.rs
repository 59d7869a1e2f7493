//! Compares what the store promised with what it stored.

use std::collections::HashMap;

use jiff::Timestamp;
use toolwright::CallId;
use toolwright::journal::{Entry, Failure, Transition};

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
                "the store reported that it is {state} as version {version}, but the journal does not have that"
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

/// No owner loses its call while the store has promised that its lease holds. An owner that renews too late may lose
/// it.
fn leases(case: &Case<'_>, findings: &mut Findings<'_>) {
    let mut epoch = 0;
    let mut claim = 0;
    for (entry, event) in case.events() {
        match event {
            Transition::Claimed => (epoch, claim) = (epoch + 1, entry.number),
            // This does not include calls that an owner released when it was shut down.
            Transition::Errored { failure: Failure::OwnerLost, .. } if is_taken(entry) => {
                let held = held_until(case, epoch, claim, entry.at);
                let is_lapsed = held.is_none_or(|held| held <= entry.at);
                findings.unless(is_lapsed, "it was taken from its owner while the lease held");
            }
            _ => {}
        }
    }
}

fn is_taken(entry: &Entry) -> bool {
    entry.why.as_deref().is_some_and(|why| why.ends_with("is gone"))
}

/// Returns until when a lease held, by the promises before a time.
fn held_until(case: &Case<'_>, epoch: u64, claim: u64, before: Timestamp) -> Option<Timestamp> {
    let mut held = None;
    for told in case.told.iter().filter(|told| told.at < before) {
        match &told.what {
            Promise::Committed { version, lease, .. } if *version == claim => held = *lease,
            Promise::Renewed { epoch: of, until, .. }
                if *of == epoch && held.is_some_and(|held| told.at < held) =>
            {
                held = Some(*until);
            }
            _ => {}
        }
    }
    held
}
