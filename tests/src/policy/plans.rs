//! Plan mode: reads run, the rest is queued and its model told so; what is accepted is judged and runs.

use toolwright::approval::Statement;
use toolwright::journal::{CallRecord, State};
use toolwright::policy::Rule;
use toolwright::{Call, Executor};

use super::kept::{executor, open};
use crate::calls::support::{Office, a_refund, answered, key, office, path};
use crate::support::kind;

fn planning(office: &Office) -> Executor {
    executor(office, open().plan(true))
}

fn accept(record: &CallRecord, office: &Office) -> Statement {
    Statement::accept(record, "ada", office.clock.now())
}

/// S1.61
#[tokio::test]
async fn in_plan_mode_reads_run_and_the_rest_is_queued_in_order_with_reason_and_preview() {
    let office = office();
    let run = planning(&office).run("p").start().unwrap();
    let note = Call::new("kept_note", r#"{"text":"a"}"#).because("to remember it");
    let calls = [Call::new("kept_look", "{}"), a_refund(), note];
    let outcomes = run.submit_turn(1, &calls).await;
    let answers: Vec<_> = outcomes.into_iter().map(answered).collect();
    assert_eq!(office.ran.all(), ["look"]);
    assert!(answers.iter().all(|it| kind(it) == "ok"));
    let words = answers[1].text().into_owned();
    assert!(words.starts_with("`kept_refund` was put into the plan, and has not run."), "{words}");
    let planned = office.records().await;
    let asked = |record: &CallRecord| {
        let ask = record.ask.clone().unwrap();
        (record.tool.clone(), record.state, ask.reason, ask.preview)
    };
    let planned: Vec<_> = planned.iter().map(asked).collect();
    assert_eq!(planned[0].0, "kept_refund");
    assert_eq!((planned[0].1, planned[0].3.as_deref()), (State::Planned, Some("A-1: -100")));
    assert_eq!((planned[1].0.as_str(), planned[1].2.as_str()), ("kept_note", "to remember it"));
    // The same turn again, after a crash for instance, has the same answers and plans nothing twice.
    let again = run.submit_turn(1, &calls).await;
    assert_eq!(answered(again.into_iter().nth(1).unwrap()).text(), words);
    assert_eq!(office.records().await.len(), 2);
}

#[tokio::test]
async fn an_accepted_call_is_judged_with_the_plan_off_and_its_result_is_not_its_runs_answer() {
    let office = office();
    let planning = planning(&office);
    let queued = answered(planning.submit(&Call::new("kept_note", r#"{"text":"a"}"#)).await);
    let [record] = &office.records().await[..] else { panic!("one") };
    office.say(accept(record, &office)).await.unwrap();
    planning.worker().unwrap().sweep().await.unwrap();
    assert_eq!(office.ran.times(), 1);
    let done = office.record(record.id).await;
    assert_eq!(done.state, State::Succeeded);
    assert_eq!(done.answer.unwrap().text, queued.text());
    assert_eq!(done.result.unwrap().text, "a");
    let history = office.history(record.id).await;
    assert_eq!(path(&history), "judging → planned → judging → ready → running → succeeded");
}

/// Judged again: that the plan is accepted is no approval of what a tool asks about.
#[tokio::test]
async fn an_accepted_call_that_asks_waits_for_its_own_approval_and_runs_by_it() {
    let office = office();
    let planning = planning(&office);
    answered(planning.submit(&a_refund()).await);
    let [record] = &office.records().await[..] else { panic!("one") };
    office.say(accept(record, &office)).await.unwrap();
    planning.worker().unwrap().sweep().await.unwrap();
    assert_eq!(office.state(record.id).await, State::Pending);
    assert_eq!(office.ran.times(), 0);
    office.approve(record.id).await.unwrap();
    planning.worker().unwrap().sweep().await.unwrap();
    assert_eq!((office.state(record.id).await, office.ran.times()), (State::Succeeded, 1));
}

#[tokio::test]
async fn an_accepted_call_that_a_rule_denies_by_then_does_not_run() {
    let office = office();
    answered(planning(&office).submit(&Call::new("kept_note", r#"{"text":"a"}"#)).await);
    let [record] = &office.records().await[..] else { panic!("one") };
    office.say(accept(record, &office)).await.unwrap();
    let rule = Rule::deny("never").named("never").tool("kept_note");
    executor(&office, open().rule(rule)).worker().unwrap().sweep().await.unwrap();
    assert_eq!((office.state(record.id).await, office.ran.times()), (State::Refused, 0));
}

/// Invariant 15
#[tokio::test]
async fn a_plan_that_a_stranger_accepts_does_not_run() {
    let office = office();
    let planning = planning(&office);
    answered(planning.submit(&Call::new("kept_note", r#"{"text":"a"}"#)).await);
    let [record] = &office.records().await[..] else { panic!("one") };
    let said = Statement { by: "mallory".to_owned(), ..accept(record, &office) };
    let signed = key("mallory", 9).sign(&said).unwrap();
    office.service().submit(signed, office.clock.now()).await.unwrap();
    planning.worker().unwrap().sweep().await.unwrap();
    assert_eq!(office.ran.times(), 0);
    assert!(!matches!(office.state(record.id).await, State::Ready | State::Succeeded));
}

#[tokio::test]
async fn what_is_denied_is_not_planned() {
    let office = office();
    let rule = Rule::deny("never").named("never").tool("kept_note");
    let planning = executor(&office, open().plan(true).rule(rule));
    let denied = answered(planning.submit(&Call::new("kept_note", r#"{"text":"a"}"#)).await);
    assert_eq!(kind(&denied), "denied");
}

#[tokio::test]
async fn what_of_a_plan_is_left_when_its_run_ends_never_runs() {
    let office = office();
    let planning = planning(&office);
    let run = planning.run("p").start().unwrap();
    answered(run.submit(&Call::new("kept_note", r#"{"text":"a"}"#)).await);
    let [record] = &office.records().await[..] else { panic!("one") };
    assert_eq!(run.worker().unwrap().end_run(run.id()).await.unwrap(), 1);
    assert_eq!(office.state(record.id).await, State::Cancelled);
    assert!(office.say(accept(record, &office)).await.is_err());
}

/// What changes something would happen after all if a call with a secret could not wait.
#[tokio::test]
async fn a_secret_that_cannot_be_kept_is_not_planned() {
    let office = office();
    let call = Call::new("kept_sign_in", r#"{"site":"a","password":"hunter2"}"#);
    let refused = answered(planning(&office).submit(&call).await);
    assert_eq!(kind(&refused), "approval_required");
    let words = refused.error().unwrap().to_string();
    assert!(words.contains("(what changes something is planned first)"), "{words}");
    assert_eq!(office.ran.times(), 0);
}
