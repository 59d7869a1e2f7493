//! Calls that a journal keeps: between two attempts they are `ready`, and whoever is there at the time goes on.

use std::sync::Arc;
use std::time::Duration;

use toolwright::approval::{self, GrantTerms, Scope, Statement};
use toolwright::journal::{Failure, State};
use toolwright::{CancellationToken, ErrorClass, Outcome};

use super::support::{Delays, Desk, EVEN, NOT_STARTED, Step, again, limited, said, until_tried};
use crate::calls::support::{answered, key, suspended};
use crate::support::{Log, answer, call, kind};

const TWICE: &str = "judging → ready → running → ready → running → succeeded";

#[tokio::test(start_paused = true)]
async fn whoever_submitted_a_call_goes_on_with_it_in_place() {
    let desk = Desk::fails(1, ErrorClass::Transient);
    assert_eq!(answered(desk.executor().submit(&again()).await).text(), "done in attempt 2");
    assert_eq!(desk.path().await, TWICE);
    let record = desk.record().await;
    assert_eq!(desk.script.keys(), [record.idempotency_key.clone(), record.idempotency_key]);
    assert_eq!((record.attempt, record.epoch, record.generation), (2, 2, 1));
    let [failed] = &record.failures[..] else { panic!("{:?}", record.failures) };
    assert_eq!(
        (failed.attempt, failed.failure, failed.kind.as_str()),
        (1, Failure::Transient, "scripted")
    );
    assert_eq!(failed.message.as_deref(), Some("attempt 1 failed"));
    assert_eq!(failed.cause.as_deref(), Some("the script"));
}

#[tokio::test(start_paused = true)]
async fn calls_and_turns_go_on_in_place_as_well() {
    let desk = Desk::fails(1, NOT_STARTED);
    assert_eq!(answer(&desk.executor(), call("scripted_once")).await.text(), "done in attempt 2");
    assert_eq!(desk.path().await, TWICE);
    let desk = Desk::fails(1, NOT_STARTED);
    let run = desk.executor().run("r").start().unwrap();
    let outcomes = run.submit_turn(1, &[call("scripted_once")]).await;
    assert!(matches!(&outcomes[..], [Outcome::Answered(_)]), "{outcomes:?}");
    assert_eq!(desk.path().await, TWICE);
}

#[tokio::test(start_paused = true)]
async fn listeners_hear_of_attempts_in_place_as_of_one_call() {
    let (desk, log, delays) =
        (Desk::fails(2, ErrorClass::Transient), Log::default(), Delays::default());
    let executor = delays.listen(desk.builder().listen(log.listener())).build().unwrap();
    executor.submit(&again()).await;
    assert_eq!(delays.seconds(), [(1, 1), (2, 2)]);
    let heard =
        ["started", "executing", "retrying", "executing", "retrying", "executing", "completed"];
    assert_eq!(log.lines(), heard);
}

#[tokio::test(start_paused = true)]
async fn a_call_whose_next_attempt_is_far_is_put_aside_and_taken_up_when_it_is_due() {
    let desk = Desk::of([Step::Fail(limited(61))]);
    let waits = suspended(desk.executor().submit(&call("scripted_once")).await);
    assert_eq!((waits.state, desk.script.times()), (State::Ready, 1));
    let executor = desk.executor();
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert!(executor.worker().unwrap().sweep().await.unwrap().is_nothing(), "it is not due");
    assert_eq!(suspended(executor.worker().unwrap().resume(waits.call).await).state, State::Ready);
    assert_eq!(desk.script.times(), 1);
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(executor.worker().unwrap().sweep().await.unwrap().gone_on, 1);
    assert_eq!(desk.path().await, TWICE);
}

#[tokio::test(start_paused = true)]
async fn a_caller_who_waits_for_an_answer_waits_for_a_far_attempt() {
    let desk = Desk::of([Step::Fail(limited(3600))]);
    let answer = desk.executor().call(&call("scripted_once")).await;
    assert_eq!((answer.text().as_ref(), desk.script.times()), ("done in attempt 2", 2));
}

#[tokio::test(start_paused = true)]
async fn a_worker_takes_up_what_is_due_and_leaves_alone_what_somebody_here_waits_for() {
    let desk = Desk::fails(2, ErrorClass::Transient);
    let executor = desk.executor();
    let worker = tokio::spawn({
        let executor = executor.clone();
        async move { executor.worker().unwrap().work().await }
    });
    assert_eq!(answered(executor.submit(&again()).await).text(), "done in attempt 3");
    worker.abort();
    let desk = Desk::of([Step::Fail(limited(61)), Step::Fail(ErrorClass::Transient)]);
    let executor = desk.executor();
    suspended(executor.submit(&again()).await);
    let worker = tokio::spawn(async move { executor.worker().unwrap().work().await });
    tokio::time::sleep(Duration::from_secs(90)).await;
    assert_eq!(desk.record().await.state, State::Succeeded);
    worker.abort();
}

/// The process is gone in the middle of a wait.
#[tokio::test(start_paused = true)]
async fn what_waits_when_its_process_is_gone_is_taken_up_when_it_is_due_and_not_before() {
    let desk = Desk::fails(1, ErrorClass::Transient);
    let lost = desk.builder().retry(EVEN.delay(Duration::from_secs(30)).max_delay(Duration::MAX));
    let lost = lost.build().unwrap();
    let call = again();
    tokio::select! {
        biased;
        _ = lost.submit(&call) => unreachable!("it waits"),
        () = until_tried(&desk.script, 1) => {}
    }
    drop(lost);
    let next = desk.executor();
    tokio::time::sleep(Duration::from_secs(29)).await;
    assert!(next.worker().unwrap().sweep().await.unwrap().is_nothing());
    assert_eq!(desk.script.times(), 1);
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(next.worker().unwrap().sweep().await.unwrap().gone_on, 1);
    assert_eq!(desk.path().await, TWICE);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_given_up_while_it_waits_is_cancelled_and_never_begun_again() {
    for is_call in [false, true] {
        let desk = Desk::fails(9, ErrorClass::Transient);
        let executor = desk.executor();
        let token = CancellationToken::new();
        let given_up = again().cancelled_by(token.clone());
        let began = tokio::time::Instant::now();
        let waiting = async {
            match is_call {
                true => executor.call(&given_up).await,
                false => answered(executor.submit(&given_up).await),
            }
        };
        let (cancelled, ()) = tokio::join!(waiting, async {
            until_tried(&desk.script, 1).await;
            token.cancel();
        });
        assert_eq!(kind(&cancelled), "cancelled");
        assert!(began.elapsed().is_zero(), "the clock has not moved");
        assert_eq!(desk.path().await, "judging → ready → running → ready → cancelled");
        tokio::time::sleep(Duration::from_secs(600)).await;
        assert!(desk.executor().worker().unwrap().sweep().await.unwrap().is_nothing());
        assert_eq!(desk.script.times(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn a_run_that_ends_while_its_call_waits_lets_it_begin_no_more() {
    let desk = Desk::fails(9, ErrorClass::Transient);
    let run = desk.executor().run("ends").start().unwrap();
    let (ended, count) = tokio::join!(async { answered(run.submit(&again()).await) }, async {
        until_tried(&desk.script, 1).await;
        run.worker().unwrap().end_run(run.id()).await.unwrap()
    });
    assert_eq!((kind(&ended).as_str(), count, desk.script.times()), ("cancelled", 1, 1));
}

#[tokio::test(start_paused = true)]
async fn what_waits_when_the_application_shuts_down_is_left_to_the_next() {
    let desk = Desk::fails(1, ErrorClass::Transient);
    let executor = desk.executor();
    let (outcome, drained) = tokio::join!(async { executor.submit(&again()).await }, async {
        until_tried(&desk.script, 1).await;
        executor.drain(Duration::from_secs(100)).await
    });
    assert_eq!((suspended(outcome).state, drained.cancelled), (State::Ready, 0));
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(desk.executor().worker().unwrap().sweep().await.unwrap().gone_on, 1);
    assert_eq!(desk.path().await, TWICE);
}

/// Its one answer is that it will not happen, so nothing may happen later.
#[tokio::test(start_paused = true)]
async fn a_caller_who_waits_when_the_application_shuts_down_is_told_and_nothing_happens_later() {
    let desk = Desk::fails(1, ErrorClass::Transient);
    let executor = desk.executor();
    let (told, _) = tokio::join!(async { executor.call(&again()).await }, async {
        until_tried(&desk.script, 1).await;
        executor.drain(Duration::from_secs(100)).await
    });
    // It has been begun once, so nobody says that it was not.
    assert_eq!(kind(&told), "cancelled");
    assert_eq!(desk.record().await.state, State::Cancelled);
}

/// A grant for one use is used by one call, however often that is tried.
#[tokio::test(start_paused = true)]
async fn all_attempts_of_a_call_take_one_use_of_its_grant() {
    let ada = key("ada", 1);
    let failing = Step::Fail(ErrorClass::Transient);
    let desk = Desk::of([Step::Done, failing.clone(), failing]);
    let executor =
        desk.builder().journal(desk.parking().trust("ada", ada.public())).build().unwrap();
    let waits = suspended(executor.submit(&call("scripted_asking")).await);
    let record = desk.record().await;
    let terms = GrantTerms {
        scope: Scope::Forever,
        tool: record.tool.clone(),
        fingerprint: record.fingerprint.clone(),
        arguments: vec![],
        until: None,
        uses: Some(1),
    };
    let statement = Statement::approve_with_grant(&record, terms, "ada", record.updated);
    let people = approval::ApprovalService::new(Arc::new(desk.store.clone()));
    people.submit(ada.sign(&statement).unwrap(), record.updated).await.unwrap();
    answered(executor.worker().unwrap().resume(waits.call).await);
    let covered = executor.submit(&call("scripted_asking")).await;
    assert_eq!(said(&answered(covered)), "done in attempt 4");
    let third = executor.submit(&call("scripted_asking")).await;
    assert_eq!(suspended(third).state, State::Pending, "the one use is taken");
}

#[tokio::test(start_paused = true)]
async fn the_words_of_a_failure_are_not_kept_where_a_secret_was_among_the_arguments() {
    let desk = Desk::fails(1, ErrorClass::Transient);
    let executor = desk.executor();
    let secret = toolwright::Call::new("scripted_secret", r#"{"password":"hunter2"}"#);
    let answer = answered(executor.submit(&secret).await);
    // Its arguments were not kept, so that nobody could begin it again: its own error is the answer.
    assert_eq!((kind(&answer).as_str(), desk.record().await.state), ("scripted", State::Dead));
    let [failed] = &desk.record().await.failures[..] else { panic!("one attempt failed") };
    assert_eq!((&failed.message, &failed.cause, failed.kind.as_str()), (&None, &None, "scripted"));
}
