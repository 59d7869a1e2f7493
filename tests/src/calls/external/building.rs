//! What an executor needs before it can hand calls over.

use std::time::Duration;

use serde_json::json;
use toolwright::journal::{Journal, State};
use toolwright::{
    BuildProblem, Call, DynamicTool, Executor, OnNoApprover, Registry, RegistryProblem,
};

use super::super::odd::Odd;
use super::super::support::{key, suspended};
use super::{PICK, a_pick, count};
use crate::support::kind;

#[test]
fn a_durable_journal_without_a_stored_key_is_reported_at_build_with_the_tool() {
    let journal = || Journal::new(Odd::default()).on_no_approver(OnNoApprover::Deny);
    let registry = || Registry::of([PICK]).unwrap();
    let error = Executor::builder(registry()).journal(journal()).build().unwrap_err();
    let [BuildProblem::NoHandOverKey { tool, .. }] = &error.problems[..] else { panic!("{error}") };
    assert_eq!(tool, "external_pick");
    assert!(error.to_string().contains("Journal::hand_over_key"), "{error}");
    assert!(error.to_string().contains("`toolwright keys new` makes one"), "{error}");
    let with_key = journal().hand_over_key(key("executor", 9));
    Executor::builder(registry()).journal(with_key).build().unwrap();
    Executor::builder(Registry::empty()).journal(journal()).build().unwrap();
}

#[tokio::test]
async fn without_a_journal_a_call_waits_in_the_memory_of_the_process() {
    let executor = Executor::builder(Registry::of([PICK]).unwrap()).build().unwrap();
    let waits = suspended(executor.submit(&a_pick()).await);
    assert_eq!(waits.state, State::HandedOver);
    let handed = waits.handed_over.unwrap();
    executor.supply(handed.call, &handed.token.to_string(), Ok(r#""Red""#)).await.unwrap();
    let answer = executor.worker().unwrap().wait(handed.call).await.answer().unwrap();
    assert_eq!(answer.text(), r#""Red""#);
}

#[tokio::test]
async fn a_tool_that_comes_later_is_not_handed_over_where_that_is_not_safe() {
    let registry = Registry::empty();
    let executor = Executor::builder(registry.clone()).unrestricted().build().unwrap();
    registry.register(count()).unwrap();
    let answer = executor.call(&Call::new("external_count", "{}")).await;
    assert_eq!(kind(&answer), "internal_error");

    let registry = Registry::empty();
    let journal = Journal::new(Odd::default()).on_no_approver(OnNoApprover::Deny);
    let executor = Executor::builder(registry.clone()).unrestricted().journal(journal).build();
    let executor = executor.unwrap();
    registry.register(count()).unwrap();
    let outcome = executor.submit(&Call::new("external_count", "{}")).await;
    let failure = outcome.failure().expect("there is no stored key").to_string();
    assert!(failure.contains("Journal::hand_over_key"), "{failure}");
}

#[test]
fn only_a_tool_that_is_carried_out_elsewhere_and_ends_no_run_goes_on_in_the_background() {
    let schema = || json!({"type": "object"});
    let here = DynamicTool::new("ask", "Asks.", schema(), async |_, _| Ok("yes")).background();
    let ends = DynamicTool::external("ask", "Asks.", schema()).background().terminal();
    for (tool, ends_its_run) in [(here, false), (ends, true)] {
        let error = Registry::of([tool]).unwrap_err();
        let [RegistryProblem::Background { is_terminal, .. }] = error.problems[..] else {
            panic!("{error}")
        };
        assert_eq!(is_terminal, ends_its_run, "{error}");
    }
    assert!(Registry::of([DynamicTool::external("ask", "Asks.", schema()).background()]).is_ok());
}

#[test]
fn a_tool_without_a_time_limit_is_refused_when_it_is_registered() {
    let endless = DynamicTool::external("ask", "Asks.", json!({"type": "object"})).timeout(None);
    let error = Registry::of([endless]).unwrap_err();
    assert!(matches!(error.problems[..], [RegistryProblem::NoDeadline { .. }]), "{error}");
    let short = DynamicTool::external("ask", "Asks.", json!({"type": "object"}));
    assert!(Registry::of([short.timeout(Some(Duration::from_secs(1)))]).is_ok());
}
