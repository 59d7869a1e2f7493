//! Invariant 14: what a person allows in advance.

use std::time::Duration;

use toolwright::approval::{GrantTerms, Scope, Statement};
use toolwright::journal::State;
use toolwright::{Call, Run};

use super::support::{Office, a_refund, answered, office, suspended, terms};

/// Ada approves a call, and calls like it on these terms; the id of the grant.
async fn granted(office: &Office, run: &Run, change: impl FnOnce(&mut GrantTerms)) -> String {
    let waits = suspended(run.submit(&a_refund()).await);
    let record = office.record(waits.call).await;
    let mut terms = terms(&record);
    change(&mut terms);
    let statement = Statement::approve_with_grant(&record, terms, "ada", office.clock.now());
    let submitted = office.say(statement).await.unwrap();
    answered(run.worker().unwrap().resume(waits.call).await);
    submitted.grant.unwrap()
}

/// Whether the same call runs without asking.
async fn runs(run: &Run, call: &Call<'_>) -> bool {
    run.submit(call).await.answer().is_some()
}

#[tokio::test]
async fn a_grant_covers_calls_like_it_and_no_others() {
    let office = office();
    let run = office.executor().run("r").start().unwrap();
    let id = granted(&office, &run, |_| {}).await;
    assert!(runs(&run, &a_refund()).await);
    assert!(!runs(&run, &Call::new("kept_refund", r#"{"order":"B-2"}"#)).await);
    let covered = office.records().await.into_iter().find(|it| it.grant.is_some()).unwrap();
    assert_eq!(covered.grant, Some(id.clone()));
    let history = office.history(covered.id).await;
    assert!(history.iter().any(|it| it.why.as_deref().is_some_and(|why| why.contains(&id))));
}

#[tokio::test]
async fn a_grant_counts_its_uses_with_the_claim() {
    let office = office();
    let run = office.executor().run("r").start().unwrap();
    granted(&office, &run, |terms| terms.uses = Some(2)).await;
    assert!(runs(&run, &a_refund()).await);
    assert!(runs(&run, &a_refund()).await);
    assert!(!runs(&run, &a_refund()).await);
}

/// The use is taken in the commit of the claim.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_many_calls_at_once_no_more_run_than_a_grant_allows() {
    let office = office();
    let run = office.executor().run("r").start().unwrap();
    granted(&office, &run, |terms| terms.uses = Some(3)).await;
    let mut calling = tokio::task::JoinSet::new();
    for _ in 0..10 {
        let run = run.clone();
        calling.spawn(async move { runs(&run, &a_refund()).await });
    }
    let ran = calling.join_all().await.into_iter().filter(|ran| *ran).count();
    assert_eq!(ran, 3);
    assert_eq!(office.ran.times(), 4);
}

#[tokio::test]
async fn a_grant_ends_with_its_time_and_when_it_is_revoked() {
    let office = office();
    let run = office.executor().run("r").start().unwrap();
    let until = office.clock.now().checked_add(Duration::from_secs(60)).unwrap();
    granted(&office, &run, |terms| terms.until = Some(until)).await;
    assert!(runs(&run, &a_refund()).await);
    office.clock.pass(Duration::from_secs(61));
    assert!(!runs(&run, &a_refund()).await);

    let id = granted(&office, &run, |_| {}).await;
    assert!(runs(&run, &a_refund()).await);
    office.say(Statement::revoke(id, "ada", office.clock.now())).await.unwrap();
    assert!(!runs(&run, &a_refund()).await);
}

#[tokio::test]
async fn a_grant_counts_in_its_run_session_or_project_alone() {
    let office = office();
    let executor = office.builder().journal(office.parking().project("shop")).build().unwrap();
    let here = executor.run("r1").session("s1").start().unwrap();
    let same_session = executor.run("r2").session("s1").start().unwrap();
    let other = executor.run("r3").session("s3").start().unwrap();
    let elsewhere = office.executor().run("r4").start().unwrap();
    for (scope, expected) in [
        (Scope::Run("r1".to_owned()), [true, false, false, false]),
        (Scope::Session("s1".to_owned()), [true, true, false, false]),
        (Scope::Project("shop".to_owned()), [true, true, true, false]),
        (Scope::Forever, [true, true, true, true]),
    ] {
        let id = granted(&office, &here, |terms| terms.scope = scope.clone()).await;
        let mut ran = Vec::new();
        for run in [&here, &same_session, &other, &elsewhere] {
            ran.push(runs(run, &a_refund()).await);
        }
        assert_eq!(ran, expected, "{scope:?}");
        office.say(Statement::revoke(id, "ada", office.clock.now())).await.unwrap();
    }
}

#[tokio::test]
async fn a_revoked_grant_stops_a_call_that_it_has_made_ready() {
    let office = office();
    let run = office.executor().run("r").start().unwrap();
    let id = granted(&office, &run, |_| {}).await;
    let waits = suspended(run.submit(&Call::new("kept_refund", r#"{"order":"B-2"}"#)).await);
    assert_eq!(waits.state, State::Pending);
    office.say(Statement::revoke(id, "ada", office.clock.now())).await.unwrap();
    assert!(!runs(&run, &a_refund()).await);
}
