//! What a record keeps of attempts that failed.

use jiff::Timestamp;
use toolwright::journal::{CallRecord, CallSlot, FailedAttempt, Failure, Note, Transition};
use toolwright::{CallId, Effect};

fn note() -> Note {
    Note { who: "executor:a".to_owned(), at: Timestamp::UNIX_EPOCH, why: None, signed: None }
}

fn fails(record: &mut CallRecord, exhausted: bool) {
    record.advance(Transition::Claimed, note()).expect("it can happen to it");
    let (failure, effect) = (Failure::Transient, Effect::Read);
    record
        .advance(Transition::Errored { failure, effect, exhausted }, note())
        .expect("it can happen to it");
    record.failures.push(FailedAttempt {
        attempt: record.attempt,
        at: record.updated,
        failure,
        kind: "lost".to_owned(),
        message: None,
        cause: None,
    });
}

/// A dead letter shows how the call failed, also while it is judged again and waits for a person.
#[test]
fn failures_of_a_generation_stay_until_the_next_is_claimed() {
    let place = CallSlot { run: "r".to_owned(), turn: None, index: 0 };
    let id: CallId = "0192f0c1-2f4e-7c3a-9d1e-5b6a7c8d9e0f".parse().expect("it can happen to it");
    let mut record = CallRecord::draft(id, place, "t", Timestamp::UNIX_EPOCH);
    record.advance(Transition::Allowed, note()).expect("it can happen to it");
    fails(&mut record, false);
    fails(&mut record, true);
    for event in [Transition::Requeued, Transition::Asked, Transition::Approved] {
        record.advance(event, note()).expect("it can happen to it");
        assert_eq!(record.failures.len(), 2, "{event}");
    }
    fails(&mut record, false);
    assert_eq!(record.failures.len(), 1);
    assert_eq!((record.generation, record.failures[0].attempt), (2, 1));
}
