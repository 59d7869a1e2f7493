//! Whoever claims a call or waits for its answer goes away, at the moment at which that is hardest to hear of: while the
//! journal commits, or while a person thinks.

use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;
use std::time::Duration;

use toolwright::journal::{CallRecord, State};
use toolwright::{Call, CallFailure, CallId, Outcome, Registry, Worker, tool};

use super::hostile::tools::builder_of;
use super::odd::Odd;
use super::support::{Office, Ran, a_refund, answered, office, path, suspended};

/// Keeps what may be repeated.
#[tool(name = "away_keep", effect = idempotent)]
async fn keep(ran: &Ran) {
    ran.add("keep");
}

/// Keeps what may be repeated, for ever, and asks.
#[tool(name = "away_hold", effect = idempotent, approval = "it is held for long")]
async fn hold(ran: &Ran) {
    ran.add("hold");
    crate::support::forever().await
}

/// Takes ten seconds, and must not be repeated.
#[tool(name = "away_slow", effect = once)]
async fn slow(ran: &Ran) {
    ran.add("slow");
    tokio::time::sleep(Duration::from_secs(10)).await;
}

const NOTE: &str = r#"{"text":"a"}"#;

/// Its journal does what it is asked to do a moment later, although whoever asked has gone.
fn behind(office: &Office) -> Odd {
    Odd { inner: office.store.clone(), is_behind: true, ..Odd::default() }
}

/// Nobody waits for the call any more as soon as it has to wait itself; then what is under way comes to its end.
async fn left_alone<T>(call: impl Future<Output = T>) {
    tokio::select! {
        biased;
        _ = call => unreachable!("it waits for its journal or a person"),
        () = tokio::task::yield_now() => {}
    }
    tokio::time::sleep(Duration::from_secs(60)).await;
}

async fn only(office: &Office) -> CallRecord {
    let mut records = office.records().await;
    assert_eq!(records.len(), 1);
    records.remove(0)
}

#[tokio::test(start_paused = true)]
async fn a_call_whose_caller_goes_while_it_is_claimed_is_cancelled() {
    for tool in ["kept_note", "away_keep"] {
        let office = office();
        let executor = match tool {
            "kept_note" => {
                office.builder().journal(office.parking_in(behind(&office))).build().unwrap()
            }
            _ => builder_of(&office, Registry::of([KEEP]).unwrap())
                .journal(office.parking_in(behind(&office)))
                .build()
                .unwrap(),
        };
        let call = Call::new(tool, if tool == "kept_note" { NOTE } else { "{}" });
        left_alone(executor.submit(&call)).await;
        let record = only(&office).await;
        assert_eq!((record.state, office.ran.times()), (State::Cancelled, 0), "{tool}");
        assert!(record.answer.is_some_and(|it| it.text.contains("cancelled")), "{tool}");
    }
}

/// An approved call, and a worker whose journal is behind.
async fn claimed_by_a_worker(office: &Office) -> (CallId, Worker) {
    let builder = || builder_of(office, Registry::of([HOLD]).unwrap());
    let first = builder().build().unwrap();
    let call = suspended(first.submit(&Call::new("away_hold", "{}")).await).call;
    office.approve(call).await.unwrap();
    let executor = builder().journal(office.parking_in(behind(office))).build().unwrap();
    (call, executor.worker().unwrap())
}

#[tokio::test(start_paused = true)]
async fn a_call_whose_worker_goes_while_it_is_claimed_is_left_to_others() {
    let office = office();
    let (call, worker) = claimed_by_a_worker(&office).await;
    left_alone(worker.resume(call)).await;
    let record = office.record(call).await;
    assert_eq!((record.state, record.attempt, office.ran.times()), (State::Ready, 0, 0));
    let path = path(&office.history(call).await);
    assert_eq!(path, "judging → pending → ready → running → ready");
}

/// What one loses, another has: the first may not speak for it.
#[tokio::test(start_paused = true)]
async fn a_worker_that_goes_says_nothing_of_what_another_has_claimed() {
    let office = office();
    let (call, worker) = claimed_by_a_worker(&office).await;
    let other = builder_of(&office, Registry::of([HOLD]).unwrap()).timeout(None).build().unwrap();
    tokio::select! {
        biased;
        _ = worker.resume(call) => unreachable!("its journal is behind"),
        () = tokio::task::yield_now() => {}
    }
    let holds = tokio::spawn(async move { other.worker().unwrap().resume(call).await });
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert_eq!((office.state(call).await, office.ran.times()), (State::Running, 1));
    holds.abort();
}

#[tokio::test(start_paused = true)]
async fn a_claim_that_stands_although_its_reply_was_lost_is_seen_and_carried_out() {
    let office = office();
    let store = Odd { inner: office.store.clone(), lies_at: Some(1), ..Odd::default() };
    let commits = Arc::clone(&store.commits);
    let executor = office.builder().journal(office.parking_in(store)).build().unwrap();
    let outcome = executor.submit(&Call::new("kept_note", NOTE)).await;
    assert!(answered(outcome).error().is_none());
    assert_eq!((only(&office).await.state, office.ran.times()), (State::Succeeded, 1));
    assert_eq!(commits.load(SeqCst), 2, "the claim was not sent once more");
}

#[tokio::test(start_paused = true)]
async fn while_the_journal_is_away_for_a_moment_a_call_is_decided_once_more() {
    let office = office();
    let store = Odd { inner: office.store.clone(), away_for: 2, ..Odd::default() };
    let executor = office.builder().journal(office.parking_in(store)).build().unwrap();
    let outcome = executor.submit(&Call::new("kept_note", NOTE)).await;
    assert!(answered(outcome).error().is_none());
    assert_eq!((only(&office).await.state, office.ran.times()), (State::Succeeded, 1));
}

#[tokio::test(start_paused = true)]
async fn while_the_journal_is_away_for_long_nothing_runs_and_the_host_is_told() {
    let office = office();
    let store = Odd { inner: office.store.clone(), away_for: 100, ..Odd::default() };
    let executor = office.builder().journal(office.parking_in(store)).build().unwrap();
    let outcome = executor.submit(&Call::new("kept_note", NOTE)).await;
    assert!(matches!(outcome, Outcome::Failed(CallFailure::NotRecorded { .. })), "{outcome:?}");
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert_eq!((office.records().await.len(), office.ran.times()), (0, 0));
}

/// A store that is away for a minute from now on, after five seconds.
fn away_for_a_minute(office: &Office) -> Odd {
    let from = tokio::time::Instant::now() + Duration::from_secs(5);
    let away = Some((from, from + Duration::from_secs(60)));
    Odd { inner: office.store.clone(), away, ..Odd::default() }
}

#[tokio::test(start_paused = true)]
async fn who_waits_for_a_person_waits_on_while_the_journal_is_away_for_a_minute() {
    let office = office();
    let executor =
        office.builder().journal(office.parking_in(away_for_a_minute(&office))).build().unwrap();
    let working = executor.clone();
    tokio::spawn(async move { working.worker().unwrap().work().await });
    let waiting = tokio::spawn(async move { executor.call(&a_refund()).await });
    tokio::time::sleep(Duration::from_secs(30)).await;
    // Ada reaches the journal from elsewhere.
    let id = only(&office).await.id;
    office.approve(id).await.unwrap();
    tokio::time::sleep(Duration::from_secs(20)).await;
    assert_eq!((office.ran.times(), waiting.is_finished()), (0, false));
    let answer = waiting.await.unwrap();
    assert!(answer.error().is_none(), "{answer:?}");
    assert_eq!((office.state(id).await, office.ran.times()), (State::Succeeded, 1));
}

/// As long as its claim counts, the result is the executor's to record.
#[tokio::test(start_paused = true)]
async fn a_result_is_recorded_when_the_journal_is_back_within_the_lease() {
    let office = office();
    let from = tokio::time::Instant::now() + Duration::from_secs(9);
    let away = Some((from, from + Duration::from_secs(15)));
    let store = Odd { inner: office.store.clone(), away, ..Odd::default() };
    let executor = builder_of(&office, Registry::of([SLOW]).unwrap())
        .journal(office.parking_in(store))
        .build()
        .unwrap();
    let answer = executor.call(&Call::new("away_slow", "{}")).await;
    assert!(answer.error().is_none(), "{answer:?}");
    assert_eq!((only(&office).await.state, office.ran.times()), (State::Succeeded, 1));
}

#[tokio::test(start_paused = true)]
async fn who_waits_hears_of_a_journal_that_stays_away() {
    let office = office();
    let from = tokio::time::Instant::now() + Duration::from_secs(5);
    let away = Some((from, from + Duration::from_secs(3_600)));
    let store = Odd { inner: office.store.clone(), away, ..Odd::default() };
    let executor = office.builder().journal(office.parking_in(store)).build().unwrap();
    let waits = suspended(executor.submit(&a_refund()).await);
    let outcome = executor.worker().unwrap().wait(waits.call).await;
    assert!(matches!(outcome, Outcome::Failed(CallFailure::NotRecorded { .. })), "{outcome:?}");
    assert!(from.elapsed() < Duration::from_secs(180));
}

/// Who waited would make it again, and then both would run.
#[tokio::test(start_paused = true)]
async fn a_call_whose_caller_goes_while_a_person_thinks_is_withdrawn() {
    let office = office();
    left_alone(office.executor().call(&a_refund())).await;
    let record = only(&office).await;
    assert_eq!(record.state, State::Cancelled);
    assert!(office.approve(record.id).await.is_err(), "nothing is left to be approved");
    assert_eq!(office.ran.times(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_call_whose_caller_goes_before_it_is_recorded_is_withdrawn_when_it_is() {
    let office = office();
    let executor = office.builder().journal(office.parking_in(behind(&office))).build().unwrap();
    left_alone(executor.call(&a_refund())).await;
    assert_eq!(only(&office).await.state, State::Cancelled);
}

/// Whoever submits a call is told that it waits, and asks for it later.
#[tokio::test(start_paused = true)]
async fn a_call_that_was_submitted_waits_on_when_nobody_waits_for_it() {
    let office = office();
    let executor = office.executor();
    let waits = suspended(executor.submit(&a_refund()).await);
    left_alone(executor.worker().unwrap().wait(waits.call)).await;
    assert_eq!(office.state(waits.call).await, State::Pending);
}
