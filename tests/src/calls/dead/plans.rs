//! A planned call is judged when somebody whose key counts accepts it, and its run keeps the answer it has.

use std::sync::atomic::Ordering::SeqCst;

use toolwright::CallId;
use toolwright::approval::Statement;
use toolwright::journal::{
    AnswerRecord, Ask, CallRecord, CallSlot, CallWrite, Note, State, Store, StoredText,
    Transaction, Transition,
};
use toolwright::unstable::arguments::canonical;

use super::super::support::{answered, key, path};
use super::office::{DeadLetters, dead_letters};

/// A call that was put into a plan.
async fn planned(dead_letters: &DeadLetters, arguments: &str) -> CallId {
    dead_letters.broken.0.store(false, SeqCst);
    dead_letters.executor().submit(&super::office::a_dead_letter()).await;
    let like = dead_letters.office.records().await[0].clone();
    let now = dead_letters.office.clock.now();
    let arguments = canonical(arguments).unwrap();
    let id: CallId = "0199a0b0-0001-7000-8000-0000000000a1".parse().unwrap();
    let place = CallSlot { run: "r".to_owned(), turn: Some(7), index: 0 };
    let mut record = CallRecord::draft(id, place, like.tool.clone(), now).with(|it| {
        it.fingerprint = like.fingerprint.clone();
        it.danger = like.danger;
        it.effect = like.effect;
        it.raw = StoredText::Plain(arguments.clone());
        it.shown = arguments.clone();
        it.digest = it.digest_with(&arguments);
        it.journal = like.journal.clone();
        it.arguments = StoredText::Plain(arguments);
        it.answer = Some(AnswerRecord::text("queued"));
    });
    let note = || Note { who: "agent:r".to_owned(), at: now, why: None, signed: None };
    let entries = vec![record.opened(note()), record.advance(Transition::Planned, note()).unwrap()];
    let ask = Ask {
        reason: "to tell Eve".to_owned(),
        preview: None,
        deadline: now,
        notified: false,
        reviewable: false,
    };
    record.ask = Some(ask);
    let unit = Transaction {
        calls: vec![CallWrite { expects: None, record, entries }],
        documents: vec![],
    };
    dead_letters.office.store.commit(unit, now).await.unwrap();
    id
}

async fn accept(dead_letters: &DeadLetters, id: CallId) {
    let record = dead_letters.office.record(id).await;
    let accept = Statement::accept(&record, "ada", dead_letters.office.clock.now());
    dead_letters.office.say(accept).await.unwrap();
}

#[tokio::test]
async fn a_planned_call_waits_until_it_is_accepted_and_runs_once() {
    let dead_letters = dead_letters();
    let id = planned(&dead_letters, r#"{"to":"eve","copies":2}"#).await;
    dead_letters.executor().worker().unwrap().sweep().await.unwrap();
    assert_eq!(
        (dead_letters.office.state(id).await, dead_letters.office.ran.times()),
        (State::Planned, 1)
    );
    accept(&dead_letters, id).await;
    for _ in 0..2 {
        dead_letters.executor().worker().unwrap().sweep().await.unwrap();
    }
    let record = dead_letters.office.record(id).await;
    assert_eq!((record.state, dead_letters.office.ran.times()), (State::Succeeded, 2));
    assert_eq!(record.result.unwrap().text, "sent 2 to eve");
    assert_eq!(record.idempotency_key, id.to_string());
    assert_eq!(
        answered(dead_letters.executor().worker().unwrap().resume(id).await).text(),
        "queued"
    );
}

/// That its plan is accepted is no approval.
#[tokio::test]
async fn an_accepted_call_asks_where_its_tool_asks() {
    let dead_letters = dead_letters();
    let id = planned(&dead_letters, r#"{"to":"abroad","copies":1}"#).await;
    accept(&dead_letters, id).await;
    dead_letters.executor().worker().unwrap().sweep().await.unwrap();
    assert_eq!(
        (dead_letters.office.state(id).await, dead_letters.office.ran.times()),
        (State::Pending, 1)
    );
    dead_letters.office.approve(id).await.unwrap();
    dead_letters.executor().worker().unwrap().sweep().await.unwrap();
    assert_eq!(dead_letters.office.ran.times(), 2);
}

#[tokio::test]
async fn what_a_stranger_accepts_is_planned_still() {
    let dead_letters = dead_letters();
    let id = planned(&dead_letters, r#"{"to":"eve","copies":1}"#).await;
    let before = dead_letters.office.record(id).await;
    let now = dead_letters.office.clock.now();
    let signed = key("mallory", 9).sign(&Statement::accept(&before, "mallory", now)).unwrap();
    dead_letters.office.service().submit(signed, now).await.unwrap();
    dead_letters.executor().worker().unwrap().sweep().await.unwrap();
    let record = dead_letters.office.record(id).await;
    assert_eq!((record.state, dead_letters.office.ran.times()), (State::Planned, 1));
    assert_eq!((record.ask, record.answer), (before.ask, before.answer));
    let history = dead_letters.office.history(id).await;
    assert_eq!(path(&history), "judging → planned → judging → planned");
    let why = history.last().unwrap().why.clone().unwrap();
    assert!(why.contains("that its plan is accepted does not count"), "{why}");
    accept(&dead_letters, id).await;
    dead_letters.executor().worker().unwrap().sweep().await.unwrap();
    assert_eq!(dead_letters.office.ran.times(), 2);
}

#[tokio::test]
async fn a_planned_call_that_is_rejected_never_runs() {
    let dead_letters = dead_letters();
    let id = planned(&dead_letters, r#"{"to":"eve","copies":1}"#).await;
    dead_letters.office.reject(id, "not now").await.unwrap();
    dead_letters.executor().worker().unwrap().sweep().await.unwrap();
    let record = dead_letters.office.record(id).await;
    assert_eq!((record.state, dead_letters.office.ran.times()), (State::Rejected, 1));
    assert_eq!(record.answer.unwrap().text, "queued");
}

#[tokio::test]
async fn an_accepted_call_that_dies_is_a_letter() {
    let dead_letters = dead_letters();
    let id = planned(&dead_letters, r#"{"to":"eve","copies":1}"#).await;
    dead_letters.broken.0.store(true, SeqCst);
    accept(&dead_letters, id).await;
    dead_letters.executor().worker().unwrap().sweep().await.unwrap();
    let record = dead_letters.office.record(id).await;
    assert_eq!((record.state, record.answer.unwrap().text.as_str()), (State::Dead, "queued"));
    assert!(record.result.unwrap().is_error);
}
