//! What a decision reads, as `lifecycle/driver/read.rs` reads it: from the real journal, and from tools, a policy and
//! keys of the model.

use std::time::Duration;

use toolwright_core::context::CallId;
use toolwright_core::tool::Danger;
use toolwright_executor::lifecycle::{
    Evaluated, FinalCall, GrantNow, HandsOver, Past, Preview, Settings, Signature, Snapshot,
    Stored, ToolNow, is_accepted, last_decision,
};
use toolwright_executor::retry::RetryPolicy;
use toolwright_journal::approval::{Grant, SignedStatement};
use toolwright_journal::arguments::{DigestInput, digest};
use toolwright_journal::journal::{
    CallRecord, CallSlot, State, StoredText, Transaction, Transition, begun,
};

use crate::journal::Journal;
use crate::scenario::{Policy, Scenario};
use crate::switches::Switch;
use crate::system::System;

/// The duration of a lease.
pub(crate) const LEASE: Duration = Duration::from_secs(30);

/// How long a person may take to decide.
pub(crate) const THINKING: Duration = Duration::from_secs(24 * 60 * 60);

/// Makes new idempotency keys different from the first ones, which is all they need.
pub(crate) const RANDOM: u128 = u128::MAX;

/// No tool has a preview.
pub(crate) const PREVIEW: Preview = Preview::Nothing;

/// The trusted key.
pub(crate) const TRUSTED: &str = "ada";

/// The arguments that every call is made with.
pub(crate) const ARGUMENTS: &str = r#"{"n":1}"#;

/// The arguments after an edit.
pub(crate) const EDITED: &str = r#"{"n":2}"#;

/// The run of every call, unless there are two runs.
pub(crate) const RUN: &str = "r";

/// The other run.
pub(crate) const OTHER_RUN: &str = "other";

/// The id of the journal.
pub(crate) const JOURNAL: &str = "j";

/// The prefix of sealed arguments, which only executors can read.
const SEALED: &str = "sealed ";

/// Returns the digest of a call with these arguments.
pub(crate) fn digest_of(
    scenario: &Scenario,
    record: &CallRecord,
    fingerprint: &str,
    arguments: &str,
) -> String {
    let input = record.digest_input(fingerprint, arguments);
    match scenario.lacks(Switch::RunNotDigested) {
        true => {
            let run = scenario.run_of(record.place.index);
            digest(&DigestInput { run, ..input }, None)
        }
        false => digest(&input, None),
    }
}

/// Returns a new call.
pub(crate) fn arrived(scenario: &Scenario, system: &System, place: u8, id: CallId) -> CallRecord {
    let effect = scenario.calls[usize::from(place)].effect;
    let run = scenario.run_of(place.into()).to_owned();
    let agent = format!("agent:{run}");
    let slot = CallSlot { run, turn: Some(1), index: place.into() };
    let tool = format!("tool-{effect:?}").to_lowercase();
    CallRecord::draft(id, slot, tool, system.now).with(|it| {
        it.effect = effect;
        it.danger = Danger::Moderate;
        it.fingerprint = fingerprint(system);
        it.raw = StoredText::Plain(ARGUMENTS.to_owned());
        it.arguments = stored_as(scenario, ARGUMENTS);
        it.shown = ARGUMENTS.to_owned();
        it.digest = digest_of(scenario, it, &it.fingerprint, ARGUMENTS);
        it.requester.agent = agent;
        it.journal = Some(JOURNAL.to_owned());
    })
}

fn fingerprint(system: &System) -> String {
    format!("definition {}", system.tool)
}

pub(crate) fn tool(scenario: &Scenario, system: &System, record: &CallRecord) -> ToolNow {
    let mut retry = RetryPolicy::default();
    (retry.attempts, retry.delay, retry.max_delay) =
        (scenario.attempts.into(), Duration::ZERO, Duration::ZERO);
    ToolNow {
        fingerprint: fingerprint(system),
        effect: record.effect,
        retry,
        needs_caller: false,
        has_services: true,
        circuit: None,
        hands_over: scenario.is_external.then_some(HandsOver { within: THINKING, why_not: None }),
    }
}

pub(crate) fn past(system: &System, record: &CallRecord) -> Past {
    let history = system.journal.history(record.id).to_vec();
    let evaluated_by = last_decision(&history).and_then(|(_, entry, _)| entry.signed.as_ref());
    let edit = history.last().filter(|entry| entry.event == Some(Transition::Edited));
    Past {
        decision: record.decision.as_ref().map(verified),
        accepted: record.accepted.as_ref().map(verified),
        evaluated_by: evaluated_by.map(verified),
        edit: edit.and_then(|entry| entry.signed.as_ref()).map(verified),
        history,
    }
}

/// Verifies a signature.
fn verified(signed: &SignedStatement) -> Signature {
    match signed.statement() {
        Ok(statement) if signed.key == TRUSTED => Signature::Counts(Box::new(statement)),
        _ => Signature::Invalid(format!("key `{}` does not count", signed.key)),
    }
}

/// Returns the arguments as an executor reads them; empty where it cannot.
pub(crate) fn arguments(record: &CallRecord) -> &str {
    match &record.arguments {
        StoredText::Plain(arguments) => arguments,
        StoredText::Encrypted(sealed) => sealed.strip_prefix(SEALED).unwrap_or_default(),
        StoredText::Omitted => "",
    }
}

fn stored_as(scenario: &Scenario, arguments: &str) -> StoredText {
    match scenario.is_sealed {
        true => StoredText::Encrypted(format!("{SEALED}{arguments}")),
        false => StoredText::Plain(arguments.to_owned()),
    }
}

pub(crate) fn stored(scenario: &Scenario, record: &CallRecord) -> Stored {
    let text = arguments(record);
    if text.is_empty() {
        return Stored::Unreadable("what is sealed cannot be opened".to_owned());
    }
    let digest = digest_of(scenario, record, &record.fingerprint, text);
    Stored::Readable { is_of_its_digest: digest == record.digest, shown: text.to_owned() }
}

/// Returns what the tool and the policy make of a call with its arguments, or with those that a person proposed.
pub(crate) fn evaluated(
    scenario: &Scenario,
    system: &System,
    snapshot: &Snapshot,
    settings: &Settings,
    proposed: Option<&str>,
) -> Evaluated {
    let record = &snapshot.record;
    let text = proposed.unwrap_or_else(|| arguments(record));
    let now = fingerprint(system);
    let digest = digest_of(scenario, record, &now, text);
    let policy = match scenario.policy(record.place.index, system.policy) {
        Policy::Plan if is_accepted(snapshot, settings, &digest, text, false) => Policy::Allow,
        policy => policy,
    };
    let arguments = snapshot.is_recorded.then(|| {
        let before = digest_of(scenario, record, &record.fingerprint, text);
        let is_unchanged = before == record.digest;
        Box::new(FinalCall {
            arguments: stored_as(scenario, text),
            shown: text.to_owned(),
            repairs: Vec::new(),
            fingerprint: now,
            danger: record.danger,
            effect: record.effect,
            secrets: Vec::new(),
            digest,
            is_unchanged,
            is_former: false,
        })
    });
    Evaluated {
        policy: policy.decision(),
        reviewable: false,
        four_eyes: false,
        has_secrets: false,
        arguments,
    }
}

/// Returns whether a person rejected the same call in this run.
pub(crate) fn is_denied(system: &System, snapshot: &Snapshot) -> bool {
    let read = [&snapshot.proposed, &snapshot.evaluated];
    let read = read.into_iter().find_map(|read| read.as_ref()?.as_ref().ok());
    let now = read.and_then(|evaluated| evaluated.arguments.as_deref());
    let digest = now.map_or(&snapshot.record.digest, |now| &now.digest);
    system.journal.calls().any(|call| call.state == State::Rejected && call.digest == *digest)
}

pub(crate) fn grants(system: &System, record: &CallRecord) -> Vec<GrantNow> {
    let prefix = Grant::key(&record.tool, "");
    let read = system.journal.documents(&prefix).filter_map(|document| {
        let grant = Grant::from_text(&document.key, &document.text).ok()?;
        let terms = grant.terms().map_err(|error| error.to_string());
        let covers = terms.and_then(|it| {
            it.take(arguments(record)).map_err(|not_covered| not_covered.to_string())
        });
        let (key, version) = (document.key.clone(), document.version);
        Some(GrantNow { key, version, grant, not_covered: covers.err() })
    });
    read.collect()
}

pub(crate) fn begun_of(system: &System, record: &CallRecord) -> u32 {
    begun(system.journal.history(record.id))
}

/// Makes a transaction expect whatever version the journal has.
pub(crate) fn expects_what_is_there(unit: &mut Transaction, journal: &Journal) {
    for write in &mut unit.calls {
        let Some(found) = journal.get(write.record.id).map(|found| found.version) else { continue };
        let Some(expected) = write.expects.replace(found) else { continue };
        write.record.version = write.record.version - expected + found;
        for entry in &mut write.entries {
            entry.number = entry.number - expected + found;
        }
    }
}
