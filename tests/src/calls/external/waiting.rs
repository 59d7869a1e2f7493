//! A call waits for who carries it out: judged and approved before, over restarts, until it is cancelled.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use toolwright::approval::Statement;
use toolwright::journal::{SealingKey, State, SupplyError};
use toolwright::policy::{Mode, Policy, Protection};
use toolwright::{Call, CancellationToken, Executor, Registry, ToolEventKind};

use super::super::support::{answered, office, path, suspended};
use super::{a_pick, builder, count, executor, handed_over, journal};
use crate::support::kind;

fn a_payment() -> Call<'static> {
    Call::new("external_pay", r#"{"cents":100}"#)
}

#[tokio::test]
async fn a_call_is_judged_and_approved_before_it_is_handed_over() {
    let office = office();
    let executor = executor(&office);
    let wrong = answered(executor.submit(&Call::new("external_pay", r#"{"cents":0}"#)).await);
    assert_eq!(kind(&wrong), "invalid_input");
    let waits = suspended(executor.submit(&a_payment()).await);
    assert_eq!(waits.state, State::Pending);
    assert!(waits.handed_over.is_none() && executor.handed_over().await.unwrap().is_empty());
    office.approve(waits.call).await.unwrap();
    executor.worker().unwrap().sweep().await.unwrap();
    let [handed] = &executor.handed_over().await.unwrap()[..] else { panic!("one") };
    assert_eq!(handed.call, waits.call);
    executor.supply(handed.call, &handed.token.to_string(), Ok(r#""paid""#)).await.unwrap();
    assert_eq!(
        path(&office.history(waits.call).await),
        "judging → pending → ready → running → handed_over → succeeded"
    );
    assert_eq!(office.record(waits.call).await.answer.unwrap().text, "paid");
}

#[tokio::test]
async fn what_a_person_rejects_is_never_handed_over() {
    let office = office();
    let executor = executor(&office);
    let waits = suspended(executor.submit(&a_payment()).await);
    office.reject(waits.call, "too much").await.unwrap();
    executor.worker().unwrap().sweep().await.unwrap();
    assert!(executor.handed_over().await.unwrap().is_empty());
    assert_eq!(office.state(waits.call).await, State::Rejected);
}

#[tokio::test]
async fn a_caller_waits_for_the_result_as_for_any() {
    let office = office();
    let executor = executor(&office);
    let call = a_pick();
    let supplying = async {
        let handed = loop {
            match executor.handed_over().await.unwrap().pop() {
                Some(handed) => break handed,
                None => tokio::task::yield_now().await,
            }
        };
        executor.supply(handed.call, &handed.token.to_string(), Ok(r#""Red""#)).await.unwrap();
    };
    let (answer, ()) = futures::future::join(executor.call(&call), supplying).await;
    assert_eq!(answer.text(), r#""Red""#);
}

#[tokio::test]
async fn a_call_of_a_turn_waits_over_a_restart_and_is_handed_over_once() {
    let office = office();
    let first = executor(&office).run("r").start().unwrap();
    let calls = [a_pick()];
    let [outcome] = <[_; 1]>::try_from(first.submit_turn(1, &calls).await).unwrap();
    let waits = suspended(outcome);
    drop(first);
    let restarted = executor(&office);
    let run = restarted.run("r").start().unwrap();
    let [again] = <[_; 1]>::try_from(run.submit_turn(1, &calls).await).unwrap();
    let again = suspended(again);
    assert_eq!((again.call, again.state), (waits.call, State::HandedOver));
    let (before, now) = (waits.handed_over.unwrap(), again.handed_over.unwrap());
    assert_eq!(before.token, now.token);
    restarted.supply(now.call, &before.token.to_string(), Ok(r#""Red""#)).await.unwrap();
    let turn = run.turn(1, &calls).await.unwrap();
    assert_eq!(turn.answers()[0].text(), r#""Red""#);
}

#[tokio::test]
async fn a_worker_ends_what_is_not_supplied_in_time() {
    let office = office();
    let executor = executor(&office);
    let handed = handed_over(&executor, &a_pick()).await;
    office.clock.pass(Duration::from_secs(59));
    assert_eq!(executor.worker().unwrap().sweep().await.unwrap().expired, 0);
    office.clock.pass(Duration::from_secs(1));
    assert_eq!(executor.worker().unwrap().sweep().await.unwrap().expired, 1);
    assert_eq!(office.state(handed.call).await, State::Expired);
}

#[tokio::test]
async fn without_a_time_limit_of_its_own_it_may_take_as_long_as_an_approval() {
    let office = office();
    let executor = builder(&office)
        .journal(journal(&office).approval_expires_after(Duration::from_secs(7)))
        .build()
        .unwrap();
    let handed = handed_over(&executor, &Call::new("external_count", "{}")).await;
    let left = office.clock.now().duration_until(handed.until);
    assert_eq!(Duration::try_from(left).unwrap(), Duration::from_secs(7));
}

#[tokio::test]
async fn cancelling_is_heard_by_who_listens_and_the_answer_does_not_say_that_nothing_happened() {
    let office = office();
    let heard: Arc<Mutex<Vec<String>>> = Arc::default();
    let hears = Arc::clone(&heard);
    let listening = builder(&office).listen(move |event| {
        let word = match event.kind {
            ToolEventKind::HandedOver { handed_over } => format!("handed {}", handed_over.tool),
            ToolEventKind::Recalled { why } => format!("recalled: {why}"),
            _ => return,
        };
        hears.lock().unwrap().push(word);
    });
    let executor = listening.build().unwrap();
    let handed = handed_over(&executor, &Call::new("external_count", "{}")).await;
    let answer = answered(executor.worker().unwrap().cancel(handed.call).await);
    assert_eq!(kind(&answer), "cancelled");
    assert!(answer.text().contains("it may have been carried out"), "{}", answer.text());
    assert_eq!(
        *heard.lock().unwrap(),
        ["handed external_count", "recalled: given up by its caller"]
    );
    let token = handed.token.to_string();
    let error = executor.supply(handed.call, &token, Ok(r#"{"count":1}"#)).await.unwrap_err();
    assert!(matches!(error, SupplyError::Ended { state: State::Cancelled, .. }), "{error}");
}

#[tokio::test]
async fn the_end_of_its_run_ends_it_and_so_does_the_token_of_its_caller() {
    let office = office();
    let executor = executor(&office);
    let run = executor.run("visit").start().unwrap();
    let waits = suspended(run.submit(&a_pick()).await);
    assert_eq!(executor.worker().unwrap().end_run("visit").await.unwrap(), 1);
    assert_eq!(office.state(waits.call).await, State::Cancelled);

    let token = CancellationToken::new();
    let call = a_pick().cancelled_by(token.clone());
    let cancelling = async {
        while executor.handed_over().await.unwrap().is_empty() {
            tokio::task::yield_now().await;
        }
        token.cancel();
    };
    let (answer, ()) = futures::future::join(executor.call(&call), cancelling).await;
    assert_eq!(kind(&answer), "cancelled");
    assert!(executor.handed_over().await.unwrap().is_empty());
}

#[tokio::test]
async fn a_secret_is_handed_over_whole_and_stored_encrypted_or_not_at_all() {
    let office = office();
    let call = Call::new("external_pay", r#"{"cents":100,"card":"4242"}"#);
    let refused = answered(executor(&office).submit(&call).await);
    assert!(refused.is_error(), "there is no key to seal the secret with");

    let sealing = journal(&office).sealing_key(SealingKey::generate().unwrap());
    let executor = builder(&office).journal(sealing).build().unwrap();
    let waits = suspended(executor.submit(&call).await);
    office.approve_unseen(waits.call).await.unwrap();
    executor.worker().unwrap().sweep().await.unwrap();
    let [handed] = &executor.handed_over().await.unwrap()[..] else { panic!("one") };
    assert!(handed.arguments.contains("4242") && !format!("{handed:?}").contains("4242"));
    let record = serde_json::to_string(&office.record(waits.call).await).unwrap();
    assert!(!record.contains("4242"), "{record}");
    executor.supply(handed.call, &handed.token.to_string(), Ok(r#""paid 4242""#)).await.unwrap();
    let record = serde_json::to_string(&office.record(waits.call).await).unwrap();
    assert!(!record.contains("4242"), "the result may repeat the secret: {record}");
    let answer = answered(executor.worker().unwrap().resume(waits.call).await);
    assert_eq!(answer.text(), "paid 4242");
}

#[tokio::test]
async fn the_next_call_of_a_plan_waits_for_the_result_of_a_call_that_is_carried_out_elsewhere() {
    let office = office();
    let policy = Policy::builder().mode(Mode::Unrestricted).without(Protection::ALL).plan(true);
    let registry = Registry::empty();
    registry.register(count()).unwrap();
    let executor = Executor::builder(registry).policy(policy).journal(journal(&office));
    let executor = executor.build().unwrap();
    let run = executor.run("r").start().unwrap();
    let counts = ["a", "b"].map(|of| Call::new("external_count", format!(r#"{{"of":"{of}"}}"#)));
    for call in &counts {
        answered(run.submit(call).await);
    }
    for record in office.records().await {
        let accepted = Statement::accept(&record, "ada", office.clock.now());
        office.say(accepted).await.unwrap();
    }
    for _ in 0..3 {
        executor.worker().unwrap().sweep().await.unwrap();
    }
    let states: Vec<State> = office.records().await.iter().map(|it| it.state).collect();
    assert_eq!(states, [State::HandedOver, State::Judging]);
}
