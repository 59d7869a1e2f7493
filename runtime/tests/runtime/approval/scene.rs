//! A call that waits for a person, and the people.

use std::sync::Arc;

use jiff::Timestamp;
use toolwright::approval::{
    ApprovalService, ApproverKey, Clause, GrantTerms, Scope, SignedStatement, Statement,
    TrustedKeys,
};
use toolwright::journal::{
    Ask, CallRecord, CallSlot, CallWrite, MemoryStore, Note, Requester, State, Store, StoredText,
    Transaction, Transition,
};
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

/// A call that waits; its id is made of `number`. Its record shows what would run.
pub fn pending(number: u8) -> CallRecord {
    let arguments = match number {
        1 => r#"{"to":"eve@example.org"}"#.to_owned(),
        _ => format!(r#"{{"number":{number},"to":"eve@example.org"}}"#),
    };
    CallRecord::draft(
        CallId::from_bytes([number; 16]),
        CallSlot { run: "run-1".to_owned(), turn: Some(1), index: u32::from(number) },
        "send_mail",
        at(0),
    )
    .with(|it| {
        it.fingerprint = "f1".to_owned();
        it.danger = Danger::Dangerous;
        it.effect = Effect::Once;
        it.raw = StoredText::Plain(arguments.clone());
        it.arguments = StoredText::Plain(arguments.clone());
        it.shown = arguments;
        it.requester = Requester {
            agent: "agent:run-1".to_owned(),
            user: Some("ada".to_owned()),
            session: Some("s-1".to_owned()),
        };
        it.digest = it.digest_with(&it.shown);
        it.idempotency_key = format!("key-{number}");
        it.state = State::Pending;
        it.ask = Some(Ask {
            reason: "it sends mail to other people".to_owned(),
            preview: None,
            deadline: at(3600),
            notified: false,
            reviewable: true,
        });
    })
}

/// A journal with these calls.
pub async fn journal(calls: impl IntoIterator<Item = CallRecord>) -> MemoryStore {
    let store = MemoryStore::new();
    let calls = calls.into_iter().map(|record| {
        let note = Note { who: record.requester.agent.clone(), at: at(0), why: None, signed: None };
        let entries = vec![record.opened(note)];
        CallWrite { expects: None, record, entries }
    });
    let unit = Transaction { calls: calls.collect(), documents: Vec::new() };
    store.commit(unit, at(0)).await.expect("new calls");
    store
}

/// Lets something happen to a call, as an executor would.
pub async fn happens(store: &MemoryStore, call: CallId, event: Transition, now: Timestamp) -> bool {
    let mut record = call_of(store, call).await;
    let expects = Some(record.version);
    let note = Note { who: "executor:one".to_owned(), at: now, why: None, signed: None };
    let Ok(entry) = record.advance(event, note) else { return false };
    let calls = vec![CallWrite { expects, record, entries: vec![entry] }];
    store.commit(Transaction { calls, documents: Vec::new() }, now).await.is_ok()
}

/// A call as it is now.
pub async fn call_of(store: &MemoryStore, call: CallId) -> CallRecord {
    store.get(call).await.expect("a store that works").expect("a call that is there")
}

/// An approval service at this journal that trusts Ada and Bob.
pub fn service(store: &MemoryStore) -> ApprovalService {
    ApprovalService::new(Arc::new(store.clone())).trusting(trusted())
}

/// Ada and Bob.
pub fn trusted() -> TrustedKeys {
    let one = TrustedKeys::new().with("ada", key("ada").public());
    one.and_then(|one| one.with("bob", key("bob").public())).expect("two people")
}

/// A statement signed by whoever says it.
pub fn signed(statement: &Statement) -> SignedStatement {
    key(&statement.by).sign(statement).expect("their own")
}

/// Terms that fit [`pending`].
pub fn terms() -> GrantTerms {
    GrantTerms {
        scope: Scope::Forever,
        tool: "send_mail".to_owned(),
        fingerprint: "f1".to_owned(),
        arguments: vec![Clause {
            pointer: "/to".to_owned(),
            is_one_of: vec![r#""eve@example.org""#.to_owned()],
        }],
        until: Some(at(7200)),
        uses: Some(2),
    }
}
