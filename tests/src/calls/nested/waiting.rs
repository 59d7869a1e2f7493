//! A child waits for a person, and so does its parent.

use std::sync::Arc;

use toolwright::approval::{Callback, Response, Statement};
use toolwright::journal::State;
use toolwright::policy::{Mode, Policy, Rule};
use toolwright::{Call, CallId, Calls, Executor, Outcome, Registry, ToolError, tool};

use super::super::odd::Odd;
use super::super::support::{Office, REFUND, Ran, answered, office, path, suspended};
use super::{bare, builder, children, executor, parent, relayed, ruled};
use crate::support::{ended, kind};

fn settle() -> Call<'static> {
    Call::new("nested_settle", r#"{"order":"A-1"}"#)
}

/// The parent that waits, and the child that it waits for.
async fn waits(office: &Office) -> (CallId, CallId) {
    let waits = suspended(executor(office).submit(&settle()).await);
    assert_eq!(waits.state, State::Waiting);
    let record = office.record(waits.call).await;
    let [child] = record.awaits[..] else { panic!("one child") };
    assert_eq!(office.state(child).await, State::Pending);
    (waits.call, child)
}

#[tokio::test]
async fn a_parent_waits_for_the_decision_on_its_child_and_goes_on_in_another_process() {
    let office = office();
    let (parent, child) = waits(&office).await;
    let worker = executor(&office).worker().unwrap();
    assert!(worker.sweep().await.unwrap().is_nothing(), "nothing goes on before the decision");
    office.approve(child).await.unwrap();
    worker.sweep().await.unwrap();
    let record = office.record(parent).await;
    assert_eq!(record.answer.unwrap().text, "A-1, 7, refunded 100 for A-1");
    assert_eq!(
        path(&office.history(parent).await),
        "judging → ready → running → waiting → ready → running → succeeded"
    );
    let ran = office.ran.all();
    let times = |what: &str| ran.iter().filter(|it| it.starts_with(what)).count();
    assert_eq!((times("settle"), times("note"), times("refund")), (2, 1, 1), "{ran:?}");
}

#[tokio::test]
async fn a_child_that_is_approved_runs_with_its_parent_and_never_by_itself() {
    let office = office();
    let (parent, child) = waits(&office).await;
    office.approve(child).await.unwrap();
    let worker = executor(&office).worker().unwrap();
    let outcome = worker.resume(child).await;
    assert_eq!(suspended(outcome).state, State::Ready);
    assert_eq!(answered(worker.resume(parent).await).text(), "A-1, 7, refunded 100 for A-1");
    assert_eq!(office.state(child).await, State::Succeeded);
}

#[tokio::test]
async fn a_child_that_is_rejected_fails_its_parent_with_the_reason() {
    let office = office();
    let (parent, child) = waits(&office).await;
    office.reject(child, "not this one").await.unwrap();
    executor(&office).worker().unwrap().sweep().await.unwrap();
    let record = office.record(parent).await;
    assert_eq!(record.state, State::Failed);
    assert!(record.answer.unwrap().text.contains("not this one"));
}

#[tokio::test]
async fn a_child_whose_time_is_over_fails_its_parent() {
    let office = office();
    let (parent, _) = waits(&office).await;
    office.clock.pass(std::time::Duration::from_hours(25));
    executor(&office).worker().unwrap().sweep().await.unwrap();
    assert_eq!(office.state(parent).await, State::Failed);
}

#[tokio::test]
async fn waiting_for_a_child_spends_no_attempt() {
    let office = office();
    let orders = ["A-1", "A-2", "A-3", "A-4", "A-5"];
    let arguments = serde_json::json!({"orders": orders}).to_string();
    let call = Call::new("nested_all", arguments);
    let waits = suspended(executor(&office).submit(&call).await);
    assert_eq!(office.record(waits.call).await.awaits.len(), 5, "all are asked about at once");
    for _ in orders {
        let child = office.record(waits.call).await.awaits[0];
        office.approve(child).await.unwrap();
        executor(&office).worker().unwrap().sweep().await.unwrap();
    }
    let record = office.record(waits.call).await;
    assert_eq!((record.state, record.attempt), (State::Succeeded, 1));
    assert_eq!(office.ran.times(), 5, "{:?}", office.ran.all());
}

#[tokio::test]
async fn a_turn_that_is_made_again_gets_the_answer_of_the_parent() {
    let office = office();
    let turn = async || {
        let run = executor(&office).run("r").start().unwrap();
        run.submit_turn(1, &[settle()]).await.into_iter().next().unwrap()
    };
    let waits = suspended(turn().await);
    assert_eq!(suspended(turn().await).call, waits.call);
    let child = office.record(waits.call).await.awaits[0];
    office.approve(child).await.unwrap();
    assert_eq!(answered(turn().await).text(), "A-1, 7, refunded 100 for A-1");
    assert_eq!(answered(turn().await).text(), "A-1, 7, refunded 100 for A-1");
    assert_eq!(office.records().await.len(), 3);
}

#[tokio::test]
async fn a_person_at_this_process_decides_on_a_child() {
    let office = office();
    let asked =
        || bare(&office).journal(office.journal()).ask(Callback::new(|_| Response::Approve));
    let executor = asked().build().unwrap();
    assert_eq!(ended(executor.call(&settle())).await.text(), "A-1, 7, refunded 100 for A-1");
    let run = executor.run("r").start().unwrap();
    let answers = ended(run.turn(1, &[settle()])).await.unwrap();
    assert_eq!(answers.answers()[0].text(), "A-1, 7, refunded 100 for A-1");
    let outcome = ended(executor.submit(&settle())).await;
    assert_eq!(answered(outcome).text(), "A-1, 7, refunded 100 for A-1");
}

/// Its claim is held meanwhile: it would be unclear whether it happened, were it given back.
#[tokio::test]
async fn a_parent_that_must_not_repeat_waits_in_memory_and_runs_once() {
    let office = office();
    let call = relayed("nested_once", "kept_refund", r#"{"order":"A-1"}"#);
    let executor = builder(&office).build().unwrap();
    let decide = async {
        let child = loop {
            let children = office.records().await;
            match children.iter().find(|it| it.state == State::Pending) {
                Some(child) => break child.id,
                None => tokio::task::yield_now().await,
            }
        };
        assert_eq!(parent(&office).await.state, State::Running);
        office.approve(child).await.unwrap();
    };
    let (outcome, ()) = ended(async { tokio::join!(executor.submit(&call), decide) }).await;
    assert_eq!(answered(outcome).text(), "refunded 100 for A-1");
    assert_eq!(office.ran.all(), ["once", "refund A-1 100"]);
}

#[tokio::test]
async fn a_run_that_ends_takes_parents_and_children_with_it() {
    let office = office();
    let run = executor(&office).run("r").start().unwrap();
    let waits = suspended(run.submit_turn(1, &[settle()]).await.into_iter().next().unwrap());
    let child = office.record(waits.call).await.awaits[0];
    executor(&office).worker().unwrap().end_run("r").await.unwrap();
    assert_eq!(office.state(waits.call).await, State::Cancelled);
    assert_eq!(office.state(child).await, State::Cancelled);
}

#[tokio::test]
async fn a_parent_that_is_cancelled_while_it_waits_takes_its_child_with_it() {
    let office = office();
    let (parent, child) = waits(&office).await;
    let outcome = executor(&office).worker().unwrap().cancel(parent).await;
    assert_eq!(kind(&answered(outcome)), "cancelled");
    assert_eq!(office.state(child).await, State::Cancelled);
}

#[tokio::test]
async fn a_child_of_a_parent_that_has_its_answer_is_ended_and_not_run() {
    let office = office();
    let (parent, child) = waits(&office).await;
    office.approve(child).await.unwrap();
    let worker = executor(&office).worker().unwrap();
    let Outcome::Answered(_) = worker.cancel(parent).await else { panic!("it is cancelled") };
    worker.sweep().await.unwrap();
    assert_eq!(office.state(child).await, State::Cancelled);
    assert!(office.ran.all().iter().all(|it| !it.starts_with("refund")));
    assert_eq!(children(&office, &office.record(parent).await).await.len(), 2);
}

/// A person finds out, while the parent waits in memory.
#[tokio::test]
async fn a_parent_that_must_not_repeat_waits_for_what_became_of_its_child() {
    let office = office();
    let call = relayed("nested_once", "kept_fail", r#"{"how":"panic"}"#);
    let executor = builder(&office).build().unwrap();
    let find_out = async {
        let child = loop {
            let children = office.records().await;
            match children.into_iter().find(|it| it.state == State::Indeterminate) {
                Some(child) => break child,
                None => tokio::task::yield_now().await,
            }
        };
        assert_eq!(parent(&office).await.state, State::Running);
        let now = office.clock.now();
        office.say(Statement::happened(&child, "it was paid", "ada", now)).await.unwrap();
    };
    let (outcome, ()) = ended(async { tokio::join!(executor.submit(&call), find_out) }).await;
    assert_eq!(answered(outcome).text(), "it was paid");
    assert_eq!(office.ran.all(), ["once", "fail panic"]);
}

/// The disk is full when the parent gives its claim back, so that its lease runs out.
#[tokio::test]
async fn a_parent_that_could_not_give_its_claim_back_waits_and_spends_no_attempt() {
    let office = office();
    // The claim of the parent, the question about its child, and then its way back.
    let store = Odd { inner: office.store.clone(), fails_from: Some(3), ..Odd::default() };
    let full = bare(&office).journal(office.parking_in(store)).build().unwrap();
    let call = Call::new("nested_all", r#"{"orders":["A-1"]}"#);
    let Outcome::Failed(_) = full.submit(&call).await else { panic!("nothing is recorded") };
    let lost = parent(&office).await;
    assert_eq!((lost.state, lost.attempt), (State::Running, 1));
    office.clock.pass(std::time::Duration::from_secs(31));
    let worker = executor(&office).worker().unwrap();
    worker.sweep().await.unwrap();
    let waits = office.record(lost.id).await;
    let [child] = waits.awaits[..] else { panic!("one child") };
    assert_eq!((waits.state, waits.attempt), (State::Waiting, 0));
    office.approve(child).await.unwrap();
    worker.sweep().await.unwrap();
    let record = office.record(lost.id).await;
    assert_eq!((record.state, record.attempt), (State::Succeeded, 1));
    assert_eq!(office.ran.all(), ["refund A-1 100"]);
}

/// What counts is the policy when the child would run.
#[tokio::test]
async fn a_child_that_was_approved_is_denied_where_the_policy_denies_it_by_then() {
    let office = office();
    let (parent, child) = waits(&office).await;
    office.approve(child).await.unwrap();
    let no = Rule::deny("refunds are stopped").named("no").tool("kept_refund");
    let policy = Policy::builder().mode(Mode::Unrestricted).rule(no);
    // What they write is not what this is about.
    let policy = policy.touches_no_files(["nested_settle", "kept_note", "kept_refund"]);
    let denies = ruled(&office).policy(policy).journal(office.parking());
    denies.build().unwrap().worker().unwrap().sweep().await.unwrap();
    assert_eq!(office.state(child).await, State::Refused);
    let record = office.record(parent).await;
    assert_eq!(record.state, State::Failed);
    assert!(record.answer.unwrap().text.contains("refunds are stopped"));
    assert!(office.ran.all().iter().all(|it| !it.starts_with("refund")));
}

/// A child that a person rejected is not asked about again in its run, whoever calls the tool.
#[tokio::test]
async fn a_rejection_of_a_child_holds_for_every_call_of_its_run() {
    let office = office();
    let run = executor(&office).run("r").start().unwrap();
    let relay = || relayed("nested_relay", "kept_refund", r#"{"order":"A-1"}"#);
    let outcome = async |number, call| run.submit_turn(number, &[call]).await.into_iter().next();
    let waits = suspended(outcome(1, relay()).await.unwrap());
    let child = office.record(waits.call).await.awaits[0];
    office.reject(child, "not this one").await.unwrap();
    for (number, call) in [(2, relay()), (3, Call::new("kept_refund", r#"{"order":"A-1"}"#))] {
        let answer = answered(outcome(number, call).await.unwrap());
        assert_eq!(kind(&answer), "rejected", "{}", answer.text());
    }
    assert!(office.ran.all().iter().all(|it| it == "relay"));
}

#[tokio::test]
async fn a_parent_goes_on_when_its_child_cannot_be_read_any_more() {
    let office = office();
    let (parent, child) = waits(&office).await;
    office.store.damage(child);
    executor(&office).worker().unwrap().sweep().await.unwrap();
    let record = office.record(parent).await;
    assert_eq!(record.state, State::Failed);
    assert!(record.answer.unwrap().text.contains("journal_failed"));
}

#[tokio::test]
async fn a_due_child_of_a_parent_that_cannot_be_read_stops_no_sweep() {
    let office = office();
    let (parent, child) = waits(&office).await;
    let other = suspended(
        executor(&office)
            .submit(&relayed("nested_relay", "kept_refund", r#"{"order":"B-2"}"#))
            .await,
    )
    .call;
    let of_other = office.record(other).await.awaits[0];
    office.approve(child).await.unwrap();
    office.approve(of_other).await.unwrap();
    office.store.damage(parent);
    executor(&office).worker().unwrap().sweep().await.unwrap();
    assert_eq!(office.state(other).await, State::Succeeded);
}

/// The run keeps the answer it has, and the call remains a dead letter.
#[tokio::test]
async fn a_requeued_parent_that_waits_for_its_child_is_put_back_when_its_run_ends() {
    let office = office();
    let process = || {
        let registry = Registry::of([RELENT, REFUND]).unwrap();
        let journal = office.parking().dead_letter_failures();
        let builder = Executor::builder(registry).unrestricted().journal(journal);
        builder.service_arc(Arc::clone(&office.ran)).build().unwrap()
    };
    let run = process().run("r").start().unwrap();
    let refused = answered(run.submit(&Call::new("nested_relent", "{}")).await);
    let letter = office.records().await[0].clone();
    assert_eq!(letter.state, State::Dead);
    office.say(Statement::requeue(&letter, false, "ada", office.clock.now())).await.unwrap();
    process().worker().unwrap().sweep().await.unwrap();
    assert_eq!(office.state(letter.id).await, State::Waiting);
    process().worker().unwrap().end_run("r").await.unwrap();
    let record = office.record(letter.id).await;
    assert_eq!(record.state, State::Dead);
    assert_eq!(record.answer.unwrap().text, refused.text());
}

/// Refuses once, and then refunds an order.
#[tool(name = "nested_relent", effect = idempotent)]
async fn relent(calls: &Calls, ran: &Ran) -> Result<String, ToolError> {
    ran.add("relent");
    if ran.times() == 1 {
        return Err(ToolError::new("refused", "not yet"));
    }
    calls.to(REFUND).with("order", "A-1").await_as().await
}
