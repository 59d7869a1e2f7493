//! Dead letters: they keep everything, run again only by the word of an operator whose key counts, and through the
//! gate. And plans, which are accepted in the same way.

mod elsewhere;
mod forged;
mod laid_aside;
pub mod office;
mod plans;

use std::sync::atomic::Ordering::SeqCst;

use toolwright::approval::Statement;
use toolwright::journal::{State, StoredText, Transition};
use toolwright::{Call, CallFailure, Outcome};

use super::support::{path, suspended};
use office::{dead_letters, told};

#[tokio::test]
async fn a_call_that_panics_is_dead_and_its_run_has_its_answer() {
    let dead_letters = dead_letters();
    let (id, answer) = dead_letters.die().await;
    assert!(answer.contains(r#""error_type":"panic""#), "{answer}");
    let record = dead_letters.office.record(id).await;
    assert_eq!((record.state, record.result.is_none()), (State::Dead, true));
    assert_eq!(record.answer.unwrap().text, answer);
    assert_eq!(record.raw, StoredText::Plain(r#"{"to":"eve"}"#.to_owned()));
}

/// S1.7
/// Invariants 9 and 12.
#[tokio::test]
async fn a_requeued_call_runs_again_with_the_same_key_and_its_run_keeps_its_answer() {
    let dead_letters = dead_letters();
    let (id, answer) = dead_letters.die().await;
    dead_letters.broken.0.store(false, SeqCst);
    dead_letters.requeue(id, false).await;
    dead_letters.executor().worker().unwrap().sweep().await.unwrap();
    let ran = dead_letters.office.ran.all();
    assert_eq!(ran.len(), 2);
    assert_eq!(ran[0], ran[1], "the same letter with another key");
    let record = dead_letters.office.record(id).await;
    assert_eq!((record.state, record.generation), (State::Succeeded, 2));
    assert_eq!(record.result.unwrap().text, "sent 1 to eve");
    assert_eq!(record.answer.unwrap().text, answer);
    assert_eq!(dead_letters.turn().await, answer, "the same turn made again");
    assert_eq!(dead_letters.office.ran.times(), 2);
    let path = path(&dead_letters.office.history(id).await);
    assert_eq!(path, "judging → ready → running → dead → judging → ready → running → succeeded");
}

/// Invariant 12: whoever resumes it has an answer in the run's history already.
#[tokio::test]
async fn whoever_resumes_a_requeued_call_gets_the_answer_that_the_run_has() {
    let dead_letters = dead_letters();
    let (id, answer) = dead_letters.die().await;
    dead_letters.broken.0.store(false, SeqCst);
    dead_letters.requeue(id, false).await;
    let executor = dead_letters.executor();
    assert_eq!(told(executor.worker().unwrap().resume(id).await), answer);
    assert_eq!(dead_letters.office.record(id).await.result.unwrap().text, "sent 1 to eve");
    assert_eq!(told(executor.worker().unwrap().resume(id).await), answer);
    assert_eq!(told(executor.worker().unwrap().wait(id).await), answer);
    assert_eq!(dead_letters.office.ran.times(), 2);
}

/// Invariant 9: by an operator's explicit word.
#[tokio::test]
async fn the_key_changes_when_an_operator_says_so() {
    let dead_letters = dead_letters();
    let (id, _) = dead_letters.die().await;
    dead_letters.requeue(id, true).await;
    dead_letters.executor().worker().unwrap().sweep().await.unwrap();
    let ran = dead_letters.office.ran.all();
    assert_eq!(ran.len(), 2);
    assert_ne!(ran[0], ran[1]);
}

#[tokio::test]
async fn other_arguments_run_with_another_key() {
    let dead_letters = dead_letters();
    let (id, _) = dead_letters.die().await;
    dead_letters.broken.0.store(false, SeqCst);
    dead_letters.edit(id, r#"{"to":"bob","copies":2}"#).await;
    dead_letters.executor().worker().unwrap().sweep().await.unwrap();
    let record = dead_letters.office.record(id).await;
    assert_eq!(record.result.unwrap().text, "sent 2 to bob");
    assert_ne!(record.idempotency_key, id.to_string());
    assert_eq!(record.proposal, None);
}

#[tokio::test]
async fn an_edited_requeue_asks_where_its_tool_asks() {
    let dead_letters = dead_letters();
    let (id, _) = dead_letters.die().await;
    dead_letters.broken.0.store(false, SeqCst);
    dead_letters.edit(id, r#"{"to":"abroad"}"#).await;
    let executor = dead_letters.executor();
    executor.worker().unwrap().sweep().await.unwrap();
    assert_eq!(dead_letters.office.state(id).await, State::Pending);
    assert_eq!(dead_letters.office.ran.times(), 1);
    dead_letters.office.approve(id).await.unwrap();
    executor.worker().unwrap().sweep().await.unwrap();
    assert_eq!(dead_letters.office.record(id).await.result.unwrap().text, "sent 1 to abroad");
}

#[tokio::test]
async fn a_requeue_of_an_approved_call_is_no_approval() {
    let dead_letters = dead_letters();
    let executor = dead_letters.executor();
    let call = Call::new("letter_post", r#"{"to":"abroad"}"#);
    let id = suspended(executor.submit(&call).await).call;
    dead_letters.office.approve(id).await.unwrap();
    executor.worker().unwrap().sweep().await.unwrap();
    assert_eq!(dead_letters.office.state(id).await, State::Dead);
    dead_letters.requeue(id, false).await;
    executor.worker().unwrap().sweep().await.unwrap();
    assert_eq!(dead_letters.office.state(id).await, State::Pending);
    dead_letters.office.reject(id, "no more").await.unwrap();
    executor.worker().unwrap().sweep().await.unwrap();
    let record = dead_letters.office.record(id).await;
    assert_eq!((record.state, dead_letters.office.ran.times()), (State::Rejected, 1));
    assert!(record.result.unwrap().text.contains("no more"));
}

#[tokio::test]
async fn new_arguments_that_the_tool_does_not_take_leave_the_letter_where_it_was() {
    let dead_letters = dead_letters();
    let (id, _) = dead_letters.die().await;
    dead_letters.edit(id, r#"{"to":"bob","copies":0}"#).await;
    dead_letters.executor().worker().unwrap().sweep().await.unwrap();
    let record = dead_letters.office.record(id).await;
    assert_eq!((record.state, record.proposal), (State::Dead, None));
    assert_eq!(record.arguments, StoredText::Plain(r#"{"to":"eve","copies":1}"#.to_owned()));
    let history = dead_letters.office.history(id).await;
    let why = history.last().unwrap().why.clone().unwrap_or_default();
    assert!(why.starts_with("the new arguments were not taken: "), "{why}");
    assert_eq!(dead_letters.office.ran.times(), 1);
    dead_letters.edit(id, r#"{"to":"bob"}"#).await;
    dead_letters.executor().worker().unwrap().sweep().await.unwrap();
    assert_eq!(dead_letters.office.ran.times(), 2);
}

/// Where no approver can be asked, the dead letter is not lost by having been requeued.
#[tokio::test]
async fn a_letter_that_the_gate_refuses_is_a_letter_still() {
    let dead_letters = dead_letters();
    let (id, _) = dead_letters.die().await;
    dead_letters.edit(id, r#"{"to":"abroad"}"#).await;
    dead_letters.denying().worker().unwrap().sweep().await.unwrap();
    let record = dead_letters.office.record(id).await;
    assert_eq!((record.state, record.result), (State::Dead, None));
    let history = dead_letters.office.history(id).await;
    let last = history.last().unwrap();
    assert_eq!(last.event, Some(Transition::PutBack));
    assert!(last.why.as_deref().unwrap_or_default().contains("needs a person's approval"));
}

#[tokio::test]
async fn a_letter_whose_run_has_ended_is_put_back() {
    let dead_letters = dead_letters();
    let (id, _) = dead_letters.die().await;
    dead_letters.executor().worker().unwrap().end_run("r").await.unwrap();
    dead_letters.requeue(id, false).await;
    dead_letters.executor().worker().unwrap().sweep().await.unwrap();
    assert_eq!(dead_letters.office.state(id).await, State::Dead);
    let history = dead_letters.office.history(id).await;
    assert_eq!(history.last().unwrap().why.as_deref(), Some("its run has ended"));
    assert_eq!(dead_letters.office.ran.times(), 1);
}

#[tokio::test]
async fn a_discarded_letter_never_runs() {
    let dead_letters = dead_letters();
    let (id, answer) = dead_letters.die().await;
    let record = dead_letters.office.record(id).await;
    let now = dead_letters.office.clock.now();
    dead_letters.office.say(Statement::discard(&record, None, "ada", now)).await.unwrap();
    dead_letters.executor().worker().unwrap().sweep().await.unwrap();
    let requeue = Statement::requeue(&dead_letters.office.record(id).await, false, "ada", now);
    assert!(dead_letters.office.say(requeue).await.is_err());
    assert_eq!(dead_letters.turn().await, answer);
    assert_eq!(dead_letters.office.ran.times(), 1);
}

/// Invariant 17: final outcomes outlive any duplicate that may still arrive.
#[tokio::test]
async fn the_same_call_that_arrives_again_is_answered_though_it_was_forgotten() {
    let dead_letters = dead_letters();
    let (id, answer) = dead_letters.die().await;
    let record = dead_letters.office.record(id).await;
    let now = dead_letters.office.clock.now();
    dead_letters.office.say(Statement::forget(&record, None, "ada", now)).await.unwrap();
    assert_eq!(dead_letters.office.record(id).await.arguments, StoredText::Omitted);
    assert_eq!(dead_letters.turn().await, answer);
    let other = Call::new("letter_post", r#"{"to":"bob"}"#);
    let outcome = dead_letters.run().submit_turn(1, &[other]).await.remove(0);
    assert!(matches!(outcome, Outcome::Failed(CallFailure::PlaceTaken { .. })), "{outcome:?}");
    assert_eq!(dead_letters.office.ran.times(), 1);
}

/// Invariant 4, where an operator and a sweep meet.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_many_who_requeue_and_discard_at_once_one_wins_and_it_runs_at_most_once_more() {
    for round in 0..20_usize {
        let dead_letters = dead_letters();
        let (id, _) = dead_letters.die().await;
        dead_letters.broken.0.store(false, SeqCst);
        let record = dead_letters.office.record(id).await;
        let now = dead_letters.office.clock.now();
        let mut saying = tokio::task::JoinSet::new();
        for task in 0..6 {
            let statement = match (task + round) % 3 {
                0 => Statement::discard(&record, Some(format!("task {task}")), "ada", now),
                _ => Statement::requeue(&record, false, "ada", now),
            };
            let (service, signed) =
                (dead_letters.office.service(), dead_letters.office.ada.sign(&statement).unwrap());
            saying.spawn(
                async move { service.submit(signed, now).await.is_ok_and(|it| !it.repeated) },
            );
        }
        let mut sweeping = tokio::task::JoinSet::new();
        for _ in 0..3 {
            let executor = dead_letters.executor();
            sweeping.spawn(async move { executor.worker().unwrap().sweep().await.is_ok() });
        }
        let won = saying.join_all().await.into_iter().filter(|won| *won).count();
        sweeping.join_all().await;
        dead_letters.executor().worker().unwrap().sweep().await.unwrap();
        assert_eq!(won, 1);
        match dead_letters.office.state(id).await {
            State::Succeeded => assert_eq!(dead_letters.office.ran.times(), 2),
            State::Discarded => assert_eq!(dead_letters.office.ran.times(), 1),
            state => panic!("{state}"),
        }
    }
}
