//! What an agent may do that a run was handed off to: never more than the one with which the run began.

use std::sync::{Arc, Mutex};

use futures::future::BoxFuture;
use proptest::prelude::*;
use serde_json::json;
use toolwright::approval::{ApprovalRequest, Callback, Response};
use toolwright::dialect::Dialect;
use toolwright::policy::{Mode, Policy, Rule};
use toolwright_agent::{
    Agent, HandOff, Message, Model, ModelAnswer, ModelError, ModelRequest, ScriptedModel, SubAgent,
};

use super::{builder, hands_off, to};
use crate::delegate::subset::{self, AGENTS, Says, TOOLS, says};
use crate::support::{Log, call, kinds};

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
        let back = to("triage");
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

/// Calls every tool there may be, and hands the run off to the next agent, whatever it was shown.
struct Greedy;

impl Model for Greedy {
    fn name(&self) -> &str {
        "greedy"
    }

    fn dialect(&self) -> Dialect {
        Dialect::Anthropic
    }

    fn answer<'a>(
        &'a self,
        request: ModelRequest<'a>,
    ) -> BoxFuture<'a, Result<ModelAnswer, ModelError>> {
        let answers = request.history.iter().filter(|it| matches!(it, Message::Assistant { .. }));
        let arguments = json!({ "by": request.instructions }).to_string();
        let next = AGENTS.iter().chain(["root"].iter());
        let answer = match (answers.count(), next) {
            (at, _) if at % 2 == 0 => {
                let all = TOOLS.iter().map(|name| call(name, name, &arguments));
                ModelAnswer::new("", all.collect())
            }
            (at, mut next) => match next.nth(at / 2) {
                Some(next) => ModelAnswer::new("", vec![call("h", "hand_off", &to(next))]),
                None => ModelAnswer::text("Done."),
            },
        };
        Box::pin(async move { Ok(answer) })
    }
}

/// What each agent has called of a run that goes through all of them and comes back.
fn called(root: &Says, agents: &[Says]) -> Vec<(String, String)> {
    let log = subset::Log::default();
    let tools = TOOLS.iter().map(|name| subset::tool(name, &log));
    let builder = Agent::builder(Greedy).name("root").instructions("root").tools(tools);
    let builder = builder.policy(root.policy()).sub_agent(SubAgent::new("helper", "Helps."));
    let next = AGENTS[1..].iter().chain(["root"].iter());
    let agents = AGENTS.iter().zip(agents).zip(next);
    let builder = agents.fold(builder, |builder, ((name, says), next)| {
        let agent = HandOff::to(*name, "Works.").instructions(*name).profile(says.profile());
        builder.hand_off(agent.policy(says.policy()).may_hand_off_to([*next]))
    });
    let agent = builder.build().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let ended = runtime.block_on(async { agent.run("Go!").await });
    assert_eq!(ended.unwrap().text(), "Done.");
    std::mem::take(&mut *log.lock().unwrap())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn what_an_agent_calls_is_what_it_and_the_first_may_call_and_the_first_may_the_same_afterwards(
        root in says(),
        agents in prop::collection::vec(says(), AGENTS.len()),
    ) {
        let called = called(&root, &agents);
        let of = |name: &str| -> Vec<&str> {
            called.iter().filter(|(by, _)| by == name).map(|(_, tool)| tool.as_str()).collect()
        };
        let lets = |says: Option<&Says>| -> Vec<&str> {
            let tools = TOOLS.iter().zip(&root.denies).filter(|(_, denies)| !**denies);
            let tools = tools.map(|(tool, _)| *tool);
            tools.filter(|tool| says.is_none_or(|it| it.lets(tool))).collect()
        };
        prop_assert_eq!(of("root"), [lets(None), lets(None)].concat());
        for (name, says) in AGENTS.iter().zip(&agents) {
            prop_assert_eq!(of(name), lets(Some(says)));
        }
    }
}
