//! Somebody who writes the journal cannot have a person sign one call and another run, nor have an approval or a grant
//! count for another call, run, session or journal.

use toolwright::approval::{
    ApprovalError, Callback, Grant, GrantTerms, Response, Scope, SignedStatement, Statement,
    Subject,
};
use toolwright::journal::{
    CallRecord, CallWrite, DocumentWrite, Entry, MemoryStore, Note, SealingKey, State, Store,
    StoredText, Transaction, Transition,
};
use toolwright::{Call, CallId, Executor, Outcome};

use crate::calls::support::{Office, a_refund, office, suspended, terms};

/// A row of the journal is written without a word in its history.
async fn rewrite(office: &Office, call: CallId, change: impl FnOnce(&mut CallRecord)) {
    let record = office.record(call).await;
    let expects = Some(record.version);
    let record = record.with(change).with(|it| it.version += 1);
    commit(&office.store, CallWrite { expects, record, entries: Vec::new() }).await;
}

async fn commit(store: &MemoryStore, write: CallWrite) {
    let unit = Transaction { calls: vec![write], documents: Vec::new() };
    store.commit(unit, "2026-01-02T03:04:05Z".parse().unwrap()).await.unwrap();
}

/// An entry that says that the policy lets the call run.
async fn forge_allowed(office: &Office, call: CallId, change: impl FnOnce(&mut CallRecord)) {
    let before = office.record(call).await;
    let expects = Some(before.version);
    let note =
        || Note { who: "executor:one".to_owned(), at: office.clock.now(), why: None, signed: None };
    let mut record = before.with(change);
    // The only way from pending back to where a call is judged is that of an edit.
    let edited = record.advance(Transition::Edited, note()).unwrap();
    let allowed = record.advance(Transition::Allowed, note()).unwrap();
    let entries = vec![edited, allowed];
    commit(&office.store, CallWrite { expects, record, entries }).await;
}

async fn go_on(executor: &Executor, call: CallId) -> Outcome {
    executor.worker().unwrap().resume(call).await
}

/// Nothing has run, and a person is asked once more, for this reason among others.
#[track_caller]
fn asked_again(office: &Office, outcome: Outcome, reason: &str) {
    let waits = suspended(outcome);
    assert_eq!((office.ran.times(), waits.state), (0, State::Pending));
    let request = waits.request.expect("a person is asked");
    assert!(request.reason.contains(reason), "{}", request.reason);
}

fn sealing() -> SealingKey {
    SealingKey::from_bytes([7; 32])
}

#[tokio::test]
async fn a_call_that_hides_its_arguments_while_a_person_looks_does_not_run_by_their_approval() {
    let office = office();
    let executor = office.executor();
    let call = Call::new("kept_refund", r#"{"order":"E-9","cents":990000}"#);
    let waits = suspended(executor.submit(&call).await);
    let was = office.record(waits.call).await;
    rewrite(&office, waits.call, |it| {
        it.arguments = StoredText::Encrypted("00".repeat(60));
        it.shown = r#"{"order":"A-1","cents":100}"#.to_owned();
    })
    .await;
    let refused = office.approve(waits.call).await.unwrap_err();
    assert!(matches!(refused, ApprovalError::Unseen { .. }), "{refused}");
    office.approve_unseen(waits.call).await.unwrap();
    rewrite(&office, waits.call, |it| (it.arguments, it.shown) = (was.arguments, was.shown)).await;
    asked_again(
        &office,
        go_on(&executor, waits.call).await,
        "what was shown is not what would run",
    );
}

#[tokio::test]
async fn a_call_with_a_secret_that_shows_other_arguments_does_not_run_by_an_approval_of_those() {
    let office = office();
    let executor =
        office.builder().journal(office.parking().sealing_key(sealing())).build().unwrap();
    let call = Call::new("kept_sign_in", r#"{"site":"evil.example","password":"1234"}"#);
    let waits = suspended(executor.submit(&call).await);
    rewrite(&office, waits.call, |it| {
        it.shown = r#"{"site":"good.example","password":"(secret)"}"#.to_owned();
    })
    .await;
    let refused = office.approve(waits.call).await.unwrap_err();
    assert!(matches!(refused, ApprovalError::Unseen { .. }), "{refused}");
    office.approve_unseen(waits.call).await.unwrap();
    asked_again(
        &office,
        go_on(&executor, waits.call).await,
        "what was shown is not what would run",
    );
    // Asked again, the record shows what would run.
    office.approve_unseen(waits.call).await.unwrap();
    go_on(&executor, waits.call).await;
    assert_eq!(office.ran.all(), ["sign in evil.example 4"]);
}

#[tokio::test]
async fn an_approver_in_the_process_is_not_asked_about_a_secret_call_that_shows_another() {
    let office = office();
    let builder = office.builder().journal(office.parking().sealing_key(sealing()));
    let call = Call::new("kept_sign_in", r#"{"site":"evil.example","password":"1234"}"#);
    let waits = suspended(builder.build().unwrap().submit(&call).await);
    rewrite(&office, waits.call, |it| {
        it.shown = r#"{"site":"good.example","password":"(secret)"}"#.to_owned();
    })
    .await;
    let approving = Callback::new(|_| Response::Approve);
    let asks = office
        .bare()
        .journal(office.journal().sealing_key(sealing()))
        .approver(office.ada.clone(), approving);
    asks.build().unwrap().worker().unwrap().sweep().await.unwrap();
    assert_eq!((office.ran.times(), office.state(waits.call).await), (0, State::Pending));
}

/// A call of production as somebody shows it in staging, where they write the journal: the same id, arguments and run, in
/// staging's journal.
async fn shown_in(staging: &Office, record: CallRecord) -> CallRecord {
    let own = suspended(staging.executor().submit(&a_refund()).await).call;
    let own = staging.record(own).await;
    record.with(|it| (it.journal, it.project) = (own.journal, own.project))
}

/// Puts a decision into the journal, as somebody does who writes it.
async fn forge_approved(office: &Office, call: CallId, signed: SignedStatement) {
    let mut record = office.record(call).await;
    let expects = Some(record.version);
    let note = Note {
        who: "ada".to_owned(),
        at: office.clock.now(),
        why: None,
        signed: Some(signed.clone()),
    };
    let entries = vec![record.advance(Transition::Approved, note).unwrap()];
    record.decision = Some(signed);
    commit(&office.store, CallWrite { expects, record, entries }).await;
}

#[tokio::test]
async fn an_approval_that_was_given_in_another_journal_does_not_count() {
    let (staging, production) = (office(), office());
    let executor = production.executor();
    let waits = suspended(executor.submit(&a_refund()).await);
    let shown = shown_in(&staging, production.record(waits.call).await).await;
    let statement = Statement::approve(&shown, "ada", staging.clock.now());
    let refused = production.say(statement.clone()).await.unwrap_err();
    assert!(matches!(refused, ApprovalError::OtherJournal { .. }), "{refused}");
    let signed = staging.ada.sign(&statement).unwrap();
    forge_approved(&production, waits.call, signed).await;
    asked_again(&production, go_on(&executor, waits.call).await, "signed for another journal");
}

#[tokio::test]
async fn an_approval_that_was_given_for_another_project_does_not_count() {
    let office = office();
    let of = |project: &str| {
        office.builder().journal(office.parking().project(project)).build().unwrap()
    };
    let waits = suspended(of("web").submit(&a_refund()).await);
    office.approve(waits.call).await.unwrap();
    let why = "signed for project \"web\", and this executor belongs to project \"shop\"";
    asked_again(&office, go_on(&of("shop"), waits.call).await, why);
}

#[tokio::test]
async fn a_grant_that_was_given_in_another_journal_does_not_count() {
    let (staging, production) = (office(), office());
    let executor = staging.executor();
    let waits = suspended(executor.submit(&a_refund()).await);
    let record = staging.record(waits.call).await;
    let granted =
        Statement::approve_with_grant(&record, terms(&record), "ada", staging.clock.now());
    staging.say(granted).await.unwrap();
    let documents = staging.store.documents("grant/").await.unwrap();
    let documents = documents.into_iter().map(|it| DocumentWrite {
        key: it.key,
        expects: None,
        text: Some(it.text),
    });
    let unit = Transaction { calls: Vec::new(), documents: documents.collect() };
    production.store.commit(unit, production.clock.now()).await.unwrap();
    let outcome = production.executor().submit(&a_refund()).await;
    asked_again(&production, outcome, "does not count: it was signed for another journal");
}

/// A grant for calls of one run or session, and a call of another that waits; its id.
async fn granted_elsewhere(office: &Office, scope: Scope) -> CallId {
    let executor = office.executor();
    let trusted = executor.run("trusted").session("s-1").start().unwrap();
    let waits = suspended(trusted.submit(&a_refund()).await);
    let record = office.record(waits.call).await;
    let terms = GrantTerms { scope, ..terms(&record) };
    office
        .say(Statement::approve_with_grant(&record, terms, "ada", office.clock.now()))
        .await
        .unwrap();
    let other = executor.run("other").session("s-2").start().unwrap();
    suspended(other.submit(&a_refund()).await).call
}

#[tokio::test]
async fn a_call_that_is_moved_into_another_run_does_not_run_by_that_runs_grant() {
    let office = office();
    let call = granted_elsewhere(&office, Scope::Run("trusted".to_owned())).await;
    // The place of a record cannot change in a store: the row is removed and written anew.
    let moved = office.record(call).await.with(|it| it.place.run = "trusted".to_owned());
    let store = MemoryStore::new();
    let history = office.history(call).await;
    commit(&store, CallWrite { expects: None, record: moved, entries: history }).await;
    for document in office.store.documents("").await.unwrap() {
        let (key, text) = (document.key, Some(document.text));
        let expects = store.document(&key).await.unwrap().map(|it| it.version);
        let documents = vec![DocumentWrite { key, expects, text }];
        let unit = Transaction { calls: Vec::new(), documents };
        store.commit(unit, office.clock.now()).await.unwrap();
    }
    let office = Office { store, ..office };
    forge_allowed(&office, call, |_| {}).await;
    let _ = go_on(&office.executor(), call).await;
    assert_eq!(office.ran.all(), [""; 0]);
}

#[tokio::test]
async fn a_call_that_is_moved_into_another_session_does_not_run_by_that_sessions_grant() {
    let office = office();
    let call = granted_elsewhere(&office, Scope::Session("s-1".to_owned())).await;
    forge_allowed(&office, call, |it| it.requester.session = Some("s-1".to_owned())).await;
    let _ = go_on(&office.executor(), call).await;
    assert_eq!(office.ran.all(), [""; 0]);
}

/// A call that the version before has recorded, which Ada has approved.
async fn former(office: &Office) -> CallId {
    let stored: serde_json::Value = serde_json::from_str(include_str!("former.json")).unwrap();
    let record: CallRecord = serde_json::from_value(stored["record"].clone()).unwrap();
    let entries: Vec<Entry> = serde_json::from_value(stored["history"].clone()).unwrap();
    let call = record.id;
    commit(&office.store, CallWrite { expects: None, record, entries }).await;
    call
}

#[tokio::test]
async fn an_approval_of_the_version_before_is_read_and_asked_for_again_with_the_reason() {
    let office = office();
    let executor = office.executor();
    let call = former(&office).await;
    asked_again(&office, go_on(&executor, call).await, "an older release evaluated it");
    office.approve(call).await.unwrap();
    go_on(&executor, call).await;
    assert_eq!(office.ran.all(), ["refund A-1 100"]);
}

#[tokio::test]
async fn a_grant_of_the_version_before_is_named_as_the_reason_to_ask() {
    let office = office();
    let executor = office.executor();
    let waits = suspended(executor.submit(&a_refund()).await);
    let record = office.record(waits.call).await;
    let mut statement =
        Statement::approve_with_grant(&record, terms(&record), "ada", office.clock.now());
    (statement.journal, statement.project) = (None, None);
    if let Subject::Call { shown, .. } = &mut statement.about {
        *shown = None;
    }
    let signed = office.ada.sign(&statement).unwrap();
    let (id, granted) = (Grant::id_of(waits.call, 1), office.clock.now());
    let grant = Grant { id, signed, granted, used: 0, revoked: None };
    let (key, text) = (Grant::key(&record.tool, &grant.id), Some(grant.to_text()));
    let documents = vec![DocumentWrite { key, expects: None, text }];
    let unit = Transaction { calls: Vec::new(), documents };
    office.store.commit(unit, granted).await.unwrap();
    let why = "it was signed for an older release";
    asked_again(&office, executor.submit(&a_refund()).await, why);
}
