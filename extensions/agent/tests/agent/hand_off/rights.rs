//! What an agent may do that a run was handed off to: never more than the one with which the run began.

use std::sync::{Arc, Mutex};

use toolwright::approval::{ApprovalRequest, Callback, Response};
use toolwright::policy::{Mode, Policy, Rule};
use toolwright_agent::{HandOff, ScriptedModel};

use super::{builder, hands_off};
use crate::support::{Log, kinds};

#[tokio::test]
async fn a_tool_outside_of_its_profile_is_unknown_to_it() {
    let log = Log::default();
    let second = ScriptedModel::new()
        .calls([("delete", r#"{"path":"a"}"#), ("look_up", r#"{"word":"tea"}"#)])
        .says("I cannot.");
    let clerk = HandOff::to("clerk", "Looks words up.").profile(["look_up"]).model(second);
    let first = Arc::new(hands_off("clerk"));
    let agent = builder(&log, &first).unrestricted().hand_off(clerk).build().unwrap();
    let result = agent.run("Delete it.").await.unwrap();
    assert_eq!(kinds(result.history()), [["ok"].as_slice(), &["unknown_tool", "ok"]]);
    assert_eq!(log.lines(), ["look_up tea"]);
}

#[tokio::test]
async fn the_stricter_of_the_policies_of_run_and_agent_counts_and_only_while_the_agent_has_the_run()
{
    let denies = |tool: &str| Rule::deny("not this").named("not-this").tool(tool);
    let open = || Policy::builder().mode(Mode::Unrestricted);
    for (of_run, of_agent, runs, runs_after) in [
        (open(), open(), true, true),
        (open(), open().rule(denies("look_up")), false, true),
        (open().rule(denies("look_up")), open(), false, false),
        (open(), open().rule(Rule::ask("ask me").named("ask").tool("look_up")), false, true),
    ] {
        let log = Log::default();
        let look = [("look_up", r#"{"word":"tea"}"#)];
        let back = super::to("triage");
        let second = ScriptedModel::new().calls(look).calls([("hand_off", back.as_str())]);
        let clerk = HandOff::to("clerk", "Looks words up.").model(second).policy(of_agent);
        let clerk = clerk.may_hand_off_to(["triage"]);
        let first = Arc::new(hands_off("clerk").calls(look).says("Done."));
        let agent = builder(&log, &first).policy(of_run).hand_off(clerk).build().unwrap();
        let result = agent.run("Tea?").await.unwrap();
        let kinds = kinds(result.history());
        let is_ok = |turn: usize| kinds[turn] == ["ok"];
        assert_eq!((is_ok(1), is_ok(3)), (runs, runs_after), "{kinds:?}");
    }
}

#[tokio::test]
async fn rules_of_an_agent_count_beside_an_executor_that_runs_everything() {
    let log = Log::default();
    let second = ScriptedModel::new().calls([("look_up", r#"{"word":"tea"}"#)]).says("No.");
    let rule = Rule::deny("not this").named("not-this").tool("look_up");
    let clerk = HandOff::to("clerk", "Looks words up.").model(second);
    let clerk = clerk.policy(Policy::builder().mode(Mode::Unrestricted).rule(rule));
    let first = Arc::new(hands_off("clerk"));
    let agent = builder(&log, &first).unrestricted().hand_off(clerk).build().unwrap();
    let result = agent.run("Tea?").await.unwrap();
    assert_eq!(
        (kinds(result.history()), log.lines()),
        (vec![vec!["ok".into()], vec!["denied".into()]], vec![])
    );
}

#[tokio::test]
async fn the_approver_of_the_run_is_asked_and_reads_which_agent_asks() {
    let (log, asked) = (Log::default(), Arc::new(Mutex::new(Vec::new())));
    let notes = Arc::clone(&asked);
    let approver = Callback::new(move |request: &ApprovalRequest| {
        notes.lock().unwrap().push(format!("{} {}", request.requester.agent, request.tool));
        Response::Approve
    });
    let second = ScriptedModel::new().calls([("delete", r#"{"path":"a"}"#)]).says("Gone.");
    let clerk = HandOff::to("clerk", "Deletes.").profile(["delete"]).model(second);
    let first = Arc::new(hands_off("clerk"));
    let agent = builder(&log, &first).approver(approver).hand_off(clerk).build().unwrap();
    agent.run("Delete it.").id("r1").await.unwrap();
    assert_eq!(log.lines(), ["delete a"]);
    assert_eq!(*asked.lock().unwrap(), ["agent:r1/clerk delete"]);
}
