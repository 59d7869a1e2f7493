//! Guards look at the values to which the calls of a model refer.

use std::sync::Arc;

use toolwright::tool;
use toolwright_agent::{Agent, AnswerBudget, ScriptedModel, Secrets};

use crate::support::Log;

/// Reads the settings.
#[tool(effect = read)]
async fn read_settings() -> String {
    format!("TOKEN=ghp_{}\n{}", "a1B".repeat(12), "line\n".repeat(2_000))
}

/// Posts a text.
#[tool(effect = once)]
async fn post(
    log: &Log,
    /// The text.
    body: String,
) {
    log.add(format!("post {}", body.len()));
}

fn agent(log: &Log, model: &Arc<ScriptedModel>) -> toolwright_agent::AgentBuilder {
    let agent = Agent::builder(Arc::clone(model)).tools([READ_SETTINGS, POST]).service(log.clone());
    agent.unrestricted().answer_budget(AnswerBudget::characters(2_000))
}

fn script() -> Arc<ScriptedModel> {
    let referring = r#"{"body":{"$result":"lr_1"}}"#;
    let model = ScriptedModel::new().calls([("read_settings", "{}")]).calls([("post", referring)]);
    Arc::new(model.says("Done."))
}

#[tokio::test]
async fn a_secret_behind_a_reference_is_found_and_the_history_has_the_reference() {
    let (log, model) = (Log::default(), script());
    let guarded = agent(&log, &model).guard(Secrets::new()).build().unwrap();
    let result = guarded.run("Post it.").await.unwrap();
    assert!(log.lines().is_empty(), "{:?}", log.lines());
    let written = serde_json::to_string(result.history()).unwrap();
    assert!(written.contains("$result"), "{written}");

    let (log, model) = (Log::default(), script());
    let result = agent(&log, &model).build().unwrap().run("Post it.").await.unwrap();
    assert_eq!(log.lines().len(), 1);
    let written = serde_json::to_string(result.history()).unwrap();
    assert!(written.contains("$result"), "{written}");
}
