//! What is judged is what runs, where a tool fills in other defaults than its schema says.

use serde_json::{Value, json};
use toolwright::policy::{ArgumentTest, Policy, PolicyBuilder, Rule};
use toolwright::{Call, DynamicTool, Executor, Registry, ToolError};

use crate::support::kind;

/// Says whether it runs for real. Its schema says that it does not unless it is told to; it does not say so itself.
fn executor(policy: PolicyBuilder) -> Executor {
    let schema = json!({
        "type": "object",
        "properties": {"dry_run": {"type": "boolean", "default": true}},
        "additionalProperties": false
    });
    let deploy = DynamicTool::new("deploy", "Deploys.", schema, |input: Value, _| async move {
        let is_dry = input["dry_run"].as_bool().unwrap_or(false);
        Ok::<_, ToolError>(if is_dry { "tried" } else { "deployed" })
    });
    Executor::builder(Registry::of([deploy]).unwrap()).policy(policy).build().unwrap()
}

fn only_dry() -> PolicyBuilder {
    let rule = Rule::allow("nothing happens").named("dry").tool("deploy");
    let rule = rule.argument("/dry_run", ArgumentTest::equals("true")).touches([""; 0], [""; 0]);
    Policy::builder().rule(rule)
}

#[tokio::test]
async fn a_default_that_was_judged_is_what_the_tool_is_given() {
    let executor = executor(only_dry());
    let answer = executor.call(&Call::new("deploy", "{}")).await;
    assert_eq!(answer.text(), "tried", "{answer:?}");
    let real = executor.call(&Call::new("deploy", r#"{"dry_run":false}"#)).await;
    assert_eq!(kind(&real), "approval_required");
}

#[tokio::test]
async fn what_was_mended_is_judged_and_given_and_told() {
    let executor = executor(only_dry());
    let answer = executor.call(&Call::new("deploy", r#"{"dry_run":"true"}"#)).await;
    assert_eq!(answer.text(), "tried", "{answer:?}");
    assert!(answer.repairs().is_some(), "{answer:?}");
    let real = executor.call(&Call::new("deploy", r#"{"dry_run":"false"}"#)).await;
    assert_eq!(kind(&real), "approval_required");
}
