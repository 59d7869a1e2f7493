//! Where the application asks for it, every call that its tool began and that failed is a dead letter.

use toolwright::journal::State;
use toolwright::{Call, OnNoApprover};

use super::super::support::path;
use super::office::{dead_letters, told};

/// S1.7: any failed call, where the application asks for it; its run has the same answer, and an operator requeues it.
#[tokio::test]
async fn a_call_that_failed_for_good_is_a_dead_letter_where_the_application_asks_for_it() {
    let plain = dead_letters();
    let call = || Call::new("letter_seek", "{}");
    let run = plain.run();
    let answer = told(run.submit_turn(1, &[call()]).await.remove(0));
    assert_eq!(plain.office.records().await[0].state, State::Failed);

    let asks = dead_letters();
    let build = || {
        asks.builder()
            .journal(
                asks.office.parking().on_no_approver(OnNoApprover::Deny).dead_letter_failures(),
            )
            .build()
    };
    let executor = build().unwrap();
    let run = executor.run("r").start().unwrap();
    assert_eq!(told(run.submit_turn(1, &[call()]).await.remove(0)), answer);
    let record = asks.office.records().await.remove(0);
    assert_eq!(record.state, State::Dead);
    assert_eq!(record.failures.len(), 1, "the letter has its error: {:?}", record.failures);
    assert_eq!(path(&asks.office.history(record.id).await), "judging → ready → running → dead");

    asks.requeue(record.id, false).await;
    build().unwrap().worker().unwrap().sweep().await.unwrap();
    assert_eq!(asks.office.ran.times(), 2, "an operator's word runs it once more");
    assert_eq!(asks.office.record(record.id).await.state, State::Dead);
    assert_eq!(
        told(run.submit_turn(1, &[call()]).await.remove(0)),
        answer,
        "its run has its answer"
    );
}

/// What never began is none: the model corrects its input, and the policy refuses for good.
#[tokio::test]
async fn a_call_that_was_refused_is_no_dead_letter() {
    let office = dead_letters();
    let builder = office
        .builder()
        .journal(office.office.parking().on_no_approver(OnNoApprover::Deny).dead_letter_failures());
    let executor = builder.build().unwrap();
    let run = executor.run("r").start().unwrap();
    let calls = [
        Call::new("letter_post", r#"{"to":1,"by":2}"#),
        Call::new("letter_post", r#"{"to":"abroad"}"#),
    ];
    for outcome in run.submit_turn(1, &calls).await {
        assert!(told(outcome).contains("error_type"));
    }
    assert!(office.office.records().await.iter().all(|it| it.state != State::Dead));
    assert_eq!(office.office.ran.times(), 0);
}
