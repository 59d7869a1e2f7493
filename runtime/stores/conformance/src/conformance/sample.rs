//! Calls and transactions for the tests.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use jiff::{SignedDuration, Timestamp};

use toolwright_core::context::CallId;
use toolwright_core::tool::{Danger, Effect};
use toolwright_journal::journal::{
    Ask, CallRecord, CallSlot, CallWrite, CommitError, Document, DocumentWrite, Entry, Filter,
    Note, Page, Requester, Store, StoredText, Transaction, Transition,
};

/// Returns a time, in seconds after the start of the tests' clock.
pub fn time(seconds: i64) -> Timestamp {
    Timestamp::UNIX_EPOCH + SignedDuration::from_secs(1_700_000_000 + seconds)
}

/// Makes an id that is higher than those before it.
pub fn new_id() -> CallId {
    static COUNTER: AtomicU64 = AtomicU64::new(1);
    let mut bytes = [0; 16];
    bytes[8..].copy_from_slice(&COUNTER.fetch_add(1, Ordering::SeqCst).to_be_bytes());
    CallId::from_bytes(bytes)
}

pub fn place(run: &str, turn: u64, index: u32) -> CallSlot {
    CallSlot { run: run.to_owned(), turn: Some(turn), index }
}

/// Makes a new call outside of turns.
pub fn call(run: &str) -> CallRecord {
    let id = new_id();
    CallRecord::draft(
        id,
        CallSlot { run: run.to_owned(), turn: None, index: 0 },
        "read_file",
        time(0),
    )
    .with(|it| {
        it.fingerprint = "f1".to_owned();
        it.danger = Danger::Safe;
        it.effect = Effect::Once;
        it.raw = StoredText::Plain("{}".to_owned());
        it.arguments = StoredText::Plain("{}".to_owned());
        it.shown = "{}".to_owned();
        it.digest = "d1".to_owned();
        it.requester = Requester { agent: format!("agent:{run}"), user: None, session: None };
    })
}

pub fn call_at(place: CallSlot) -> CallRecord {
    call("").with(|it| it.place = place)
}

pub fn ask(deadline: Timestamp) -> Ask {
    Ask {
        reason: "it sends money".to_owned(),
        preview: None,
        deadline,
        notified: false,
        reviewable: false,
    }
}

pub fn note(seconds: i64) -> Note {
    Note { who: "executor:1".to_owned(), at: time(seconds), why: None, signed: None }
}

/// Writes a new call with the first entry of its history.
pub fn opening(record: &CallRecord) -> CallWrite {
    CallWrite { expects: None, record: record.clone(), entries: vec![record.opened(note(0))] }
}

/// Applies a transition to a record, and returns the write.
pub fn happening(record: &mut CallRecord, event: Transition) -> CallWrite {
    let expects = Some(record.version);
    let entries: Vec<Entry> = match record.advance(event, note(1)) {
        Ok(entry) => vec![entry],
        Err(illegal) => panic!("a rule is written wrongly: {illegal}"),
    };
    CallWrite { expects, record: record.clone(), entries }
}

/// Writes a record as it is, one version later.
pub fn revision(record: &mut CallRecord) -> CallWrite {
    let expects = Some(record.version);
    record.version += 1;
    CallWrite { expects, record: record.clone(), entries: Vec::new() }
}

pub fn document(key: &str, expects: Option<u64>, text: &str) -> DocumentWrite {
    DocumentWrite { key: key.to_owned(), expects, text: Some(text.to_owned()) }
}

pub fn removal(key: &str, expects: Option<u64>) -> DocumentWrite {
    DocumentWrite { key: key.to_owned(), expects, text: None }
}

pub fn unit(
    calls: impl IntoIterator<Item = CallWrite>,
    documents: impl IntoIterator<Item = DocumentWrite>,
) -> Transaction {
    Transaction { calls: calls.into_iter().collect(), documents: documents.into_iter().collect() }
}

pub fn calls(calls: impl IntoIterator<Item = CallWrite>) -> Transaction {
    unit(calls, [])
}

pub async fn commit(store: &Arc<impl Store>, unit: Transaction) {
    if let Err(error) = store.commit(unit, time(0)).await {
        panic!("a unit that conflicts with nothing is not committed: {error}");
    }
}

/// Commits a unit that must conflict, and returns the conflict.
pub async fn commit_refused(store: &Arc<impl Store>, unit: Transaction, why: &str) -> CommitError {
    match store.commit(unit, time(0)).await {
        Ok(()) => panic!("a unit is committed, although {why}"),
        Err(error) => error,
    }
}

/// Adds a new call and returns it.
pub async fn add(store: &Arc<impl Store>, record: CallRecord) -> CallRecord {
    commit(store, calls([opening(&record)])).await;
    record
}

/// Makes a call that runs and was claimed for the first time. Its lease ends at the time 30.
pub async fn running(store: &Arc<impl Store>) -> CallRecord {
    let mut record = add(store, call("run")).await;
    commit(store, calls([happening(&mut record, Transition::Allowed)])).await;
    let mut write = happening(&mut record, Transition::Claimed);
    (record.owner, record.lease) = (Some("one".to_owned()), Some(time(30)));
    write.record = record.clone();
    commit(store, calls([write])).await;
    record
}

pub async fn got(store: &Arc<impl Store>, call: CallId) -> Option<CallRecord> {
    match store.get(call).await {
        Ok(found) => found,
        Err(error) => panic!("a call cannot be looked up: {error}"),
    }
}

pub async fn stood_at(store: &Arc<impl Store>, place: &CallSlot) -> Option<CallRecord> {
    match store.at(place).await {
        Ok(found) => found,
        Err(error) => panic!("a call cannot be looked up by its place: {error}"),
    }
}

pub async fn list(store: &Arc<impl Store>, filter: &Filter, page: Page) -> Vec<CallId> {
    match store.list(filter, page).await {
        Ok(found) => found.calls.into_iter().map(|record| record.id).collect(),
        Err(error) => panic!("calls cannot be listed: {error}"),
    }
}

pub async fn history(store: &Arc<impl Store>, call: CallId) -> Vec<Entry> {
    match store.history(call).await {
        Ok(entries) => entries,
        Err(error) => panic!("a history cannot be read: {error}"),
    }
}

pub async fn read(store: &Arc<impl Store>, key: &str) -> Option<Document> {
    match store.document(key).await {
        Ok(found) => found,
        Err(error) => panic!("a document cannot be read: {error}"),
    }
}

pub async fn keys(store: &Arc<impl Store>, prefix: &str) -> Vec<String> {
    match store.documents(prefix).await {
        Ok(found) => found.into_iter().map(|document| document.key).collect(),
        Err(error) => panic!("documents cannot be listed: {error}"),
    }
}
