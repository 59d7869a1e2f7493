//! Hashes a state: everything in a record or a step that a decision depends on, and nothing that only people read.

use std::hash::{Hash, Hasher};

use jiff::Timestamp;
use toolwright_executor::lifecycle::{Input, Snapshot, Step, Then};
use toolwright_journal::approval::SignedStatement;
use toolwright_journal::journal::{AnswerRecord, CallRecord, StoredText};

/// Hashes a record without its times.
pub(crate) fn record(record: &CallRecord, state: &mut impl Hasher) {
    record.id.to_string().hash(state);
    (record.place.index, record.state, record.version, record.generation).hash(state);
    (record.attempt, record.epoch, record.effect, &record.fingerprint, &record.digest).hash(state);
    match &record.arguments {
        StoredText::Plain(arguments) => (0_u8, arguments).hash(state),
        StoredText::Encrypted(arguments) => (1_u8, arguments).hash(state),
        StoredText::Omitted => 2_u8.hash(state),
    }
    (&record.shown, &record.place.run, &record.journal).hash(state);
    (&record.idempotency_key, &record.grant, &record.proposal).hash(state);
    (record.decision.as_ref().map(signed), record.accepted.as_ref().map(signed)).hash(state);
    (answer(record.answer.as_ref()), answer(record.result.as_ref())).hash(state);
}

/// Returns what was signed, and the key.
pub(crate) fn signed(signed: &SignedStatement) -> (&str, &str) {
    (&signed.text, &signed.key)
}

fn answer(answer: Option<&AnswerRecord>) -> Option<(bool, &str)> {
    answer.map(|answer| (answer.is_error, answer.text.as_str()))
}

/// Hashes whether the times of a record have passed.
pub(crate) fn times(record: &CallRecord, now: Timestamp, state: &mut impl Hasher) {
    let has_passed = |time: Option<Timestamp>| time.map(|time| time <= now);
    has_passed(record.lease).hash(state);
    has_passed(record.ask.as_ref().map(|ask| ask.deadline)).hash(state);
    has_passed(record.not_before).hash(state);
    has_passed(record.handed_over_until).hash(state);
}

/// Hashes what a task knows of its call.
pub(crate) fn snapshot(snapshot: &Snapshot, now: Timestamp, state: &mut impl Hasher) {
    record(&snapshot.record, state);
    times(&snapshot.record, now, state);
    (snapshot.is_recorded, snapshot.run_ended, snapshot.denied_before).hash(state);
    let tool = snapshot.tool.as_ref().and_then(|tool| tool.as_ref().ok());
    tool.map(|tool| &tool.fingerprint).hash(state);
    let evaluated = snapshot.evaluated.as_ref().and_then(|it| it.as_ref().ok());
    evaluated.map(|it| format!("{:?}", it.policy)).hash(state);
}

/// Hashes why a task looks at its call.
pub(crate) fn input(input: &Input, state: &mut impl Hasher) {
    match input {
        Input::Attempted(attempt) => {
            let error = attempt.error.as_ref().map(|error| error.kind.as_str());
            ("attempted", attempt.epoch, error, &attempt.more).hash(state);
        }
        other => format!("{other:?}").hash(state),
    }
}

/// Hashes a decision.
pub(crate) fn step(step: &Step, now: Timestamp, state: &mut impl Hasher) {
    match &step.then {
        Then::WaitUntil(_) => "wait".hash(state),
        then => format!("{then:?}").hash(state),
    }
    for write in step.commit.iter().flat_map(|unit| &unit.calls) {
        write.expects.hash(state);
        record(&write.record, state);
        times(&write.record, now, state);
    }
    for write in step.commit.iter().flat_map(|unit| &unit.documents) {
        (&write.key, write.expects).hash(state);
    }
}
