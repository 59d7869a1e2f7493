//! A call that waits for a person, and the people.

use jiff::Timestamp;
use toolwright::approval::ApproverKey;
use toolwright::journal::{Ask, CallRecord, Kept, Place, Requester, State};
use toolwright::{CallId, Danger, Effect};

/// So many seconds after the beginning.
pub fn at(seconds: i64) -> Timestamp {
    Timestamp::from_second(1_800_000_000 + seconds).expect("a time")
}

/// The key of `name`, a different one for each name.
pub fn key(name: &str) -> ApproverKey {
    let mut seed = [7; 32];
    for (place, byte) in seed.iter_mut().zip(name.bytes()) {
        *place = byte;
    }
    ApproverKey::from_seed(name, seed).expect("a name")
}

/// A call that waits; its id is made of `number`.
pub fn pending(number: u8) -> CallRecord {
    CallRecord {
        id: CallId::from_bytes([number; 16]),
        place: Place { run: "run-1".to_owned(), turn: Some(1), index: u32::from(number) },
        provider_id: None,
        tool: "send_mail".to_owned(),
        fingerprint: "f1".to_owned(),
        danger: Danger::Dangerous,
        effect: Effect::Once,
        raw: Kept::Plain(r#"{"to":"eve@example.org"}"#.to_owned()),
        arguments: Kept::Plain(r#"{"to":"eve@example.org"}"#.to_owned()),
        shown: r#"{"to":"eve@example.org"}"#.to_owned(),
        repairs: Vec::new(),
        digest: format!("d{number}"),
        requester: Requester { agent: "agent:run-1".to_owned(), user: Some("ada".to_owned()) },
        idempotency_key: format!("key-{number}"),
        state: State::Pending,
        version: 1,
        generation: 1,
        attempt: 0,
        owner: None,
        epoch: 0,
        lease: None,
        not_before: None,
        ask: Some(Ask {
            reason: "it sends mail to other people".to_owned(),
            preview: None,
            deadline: at(3600),
            told: false,
        }),
        decision: None,
        grant: None,
        proposal: None,
        answer: None,
        delivered: false,
        created: at(0),
        updated: at(0),
    }
}
