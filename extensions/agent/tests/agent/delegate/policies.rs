//! The settings of a sub-agent's policy that are not rules.

use std::sync::Arc;

use super::{answers, builder, starts, task};
use crate::support::{DELETE, Log};
use serde_json::Value;
use toolwright::approval::{ApproverKey, Callback, Response};
use toolwright::policy::{Mode, Policy, Rule};
use toolwright::{Call, Executor, Registry, ToolContext, ToolError, tool};
use toolwright_agent::{Agent, Message, ScriptedModel, SubAgent};

fn worker() -> SubAgent {
    let script = ScriptedModel::new().calls([("delete", r#"{"path":"a"}"#)]).says("Gone.");
    SubAgent::new("worker", "Deletes.").profile(["delete"]).model(script)
}

#[tokio::test]
async fn the_user_does_not_approve_calls_of_an_agent_whose_policy_has_four_eyes() {
    for (name, of_agent, deleted) in [("ann", true, 0), ("bob", true, 1), ("ann", false, 1)] {
        let log = Log::default();
        let key = ApproverKey::generate(name).unwrap();
        let executor = Executor::builder(Registry::of([DELETE]).unwrap()).service(log.clone());
        let executor = executor.approver(key, Callback::new(|_| Response::Approve));
        let sub_agent = worker().policy(Policy::builder().four_eyes(of_agent));
        let agent = Agent::on(executor.build().unwrap(), starts("worker")).sub_agent(sub_agent);
        agent.build().unwrap().run("Delete it.").user("ann").await.unwrap();
        assert_eq!(log.lines().len(), deleted, "{name}, four eyes: {of_agent}");
    }
}

#[tokio::test]
async fn an_agent_with_four_eyes_needs_an_approver_with_a_name() {
    let approver = Callback::new(|_| Response::Approve);
    let agent = builder(&Log::default(), ScriptedModel::new()).approver(approver);
    let sub_agent = SubAgent::new("worker", "Deletes.").model(ScriptedModel::new());
    let agent = agent.sub_agent(sub_agent.policy(Policy::builder().four_eyes(true)));
    let error = agent.build().map(drop).unwrap_err().to_string();
    assert!(error.contains("the policy wants four eyes"), "{error}");
}

/// Cleans up by another tool.
#[tool(effect = read, reads())]
async fn clean_up(context: &ToolContext) -> Result<String, ToolError> {
    context.permits(Call::new("delete", r#"{"path":"a"}"#)).await?;
    Ok("it may".to_owned())
}

#[tokio::test]
async fn what_a_tool_may_do_by_another_tool_depends_on_the_policy_of_the_agent_too() {
    let open = || Policy::builder().mode(Mode::Unrestricted);
    let denying = open().rule(Rule::deny("nothing is deleted").named("keep").tool("delete"));
    for (policy, expected) in [(open(), "it may"), (denying, "nothing is deleted")] {
        let janitor = Arc::new(ScriptedModel::new().calls([("clean_up", "{}")]).says("Done."));
        let sub_agent = SubAgent::new("janitor", "Cleans up.").model(Arc::clone(&janitor));
        let agent = builder(
            &Log::default(),
            ScriptedModel::new().calls([("spawn_agent", task("janitor").as_str())]).says("Done."),
        );
        let agent = agent.tools([CLEAN_UP]).policy(open()).sub_agent(sub_agent.policy(policy));
        agent.build().unwrap().run("Clean up.").await.unwrap();
        let request = janitor.requests().pop().unwrap();
        let history: &[Message] = &request.history;
        let answer: &Value = &answers(history, 0)[0];
        assert!(answer.to_string().contains(expected), "{answer}");
    }
}
