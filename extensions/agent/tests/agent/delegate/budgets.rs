//! The budget of a tree of agents: what they spend counts for the run, and none has more than what is left.

use serde_json::json;
use toolwright_agent::{
    AgentBuilder, Cost, Limit, ModelAnswer, RunEnd, RunResult, ScriptedModel, SubAgent, Usage,
};

use super::{answers, builder, task};
use crate::support::Log;

fn answer(text: &str, cents: u64) -> ModelAnswer {
    ModelAnswer::text(text).usage(Usage::new(90, 10)).cost(Cost::cents(cents))
}

fn calls(calls: &[(&str, &str)], cents: u64) -> ModelAnswer {
    let call = |(index, (name, arguments)): (usize, &(&str, &str))| {
        crate::support::call(&format!("call_{index}"), name, arguments)
    };
    let calls = calls.iter().enumerate().map(call).collect();
    ModelAnswer::new("", calls).usage(Usage::new(90, 10)).cost(Cost::cents(cents))
}

#[tokio::test]
async fn what_an_agent_spends_counts_for_the_run() {
    let clerk = ScriptedModel::new()
        .answers(calls(&[("look_up", r#"{"word":"tea"}"#)], 20))
        .answers(answer("Tea.", 5));
    let clerk = SubAgent::new("clerk", "Looks words up.").profile(["look_up"]).model(clerk);
    let model = ScriptedModel::new()
        .answers(calls(&[("spawn_agent", &task("clerk"))], 1))
        .answers(answer("Done.", 1));
    let agent = builder(&Log::default(), model).sub_agent(clerk).max_cost(Cost::cents(100));
    let result = agent.build().unwrap().run("Go!").await.unwrap();
    assert_eq!(result.cost(), Some(Cost::cents(27)));
    assert_eq!((result.usage().total(), result.turns()), (400, 2));
    let found = &answers(result.history(), 0)[0];
    assert_eq!((&found["cost"], &found["tokens"]), (&json!("$0.2500"), &json!(200)));
}

/// Starts five of them in one answer, and answers after that where the run gets so far.
async fn five(
    clerk: SubAgent,
    limits: fn(AgentBuilder) -> AgentBuilder,
    answers: bool,
) -> RunResult {
    let task = task("clerk");
    let model = ScriptedModel::new().answers(calls(&[("spawn_agent", task.as_str()); 5], 1));
    let model = if answers { model.answers(answer("Done.", 1)) } else { model };
    let agent = limits(builder(&Log::default(), model)).sub_agent(clerk).build().unwrap();
    match agent.run("Go!").await {
        Ok(result) => result,
        Err(error) => error.result().expect("it ended").clone(),
    }
}

#[tokio::test]
async fn five_agents_cannot_each_spend_the_whole() {
    // Each answer costs 40 of 100 cents, and its model would go on for ever.
    let look = [("look_up", r#"{"word":"tea"}"#)];
    let clerk = (0..3).fold(ScriptedModel::new(), |it, _| it.answers(calls(&look, 40)));
    let clerk = SubAgent::new("clerk", "Looks words up.").profile(["look_up"]).model(clerk);
    let clerk = clerk.max_cost(Cost::cents(100));
    let result = five(clerk, |it| it.max_cost(Cost::cents(100)), false).await;
    let found = answers(result.history(), 0);
    assert_eq!(found[0]["ended"], "limit");
    assert!(found[1..].iter().all(|it| it["error_type"] == "budget_spent"), "{found:?}");
    assert_eq!(result.cost(), Some(Cost::cents(121)), "an answer that reaches a limit is the last");
    assert!(matches!(result.end(), RunEnd::Limit(Limit::Cost { .. })), "{}", result.end());
}

#[tokio::test]
async fn the_share_that_an_agent_has_not_spent_is_there_for_the_next() {
    let clerk = (0..5).fold(ScriptedModel::new(), |it, _| it.answers(answer("Tea.", 10)));
    let clerk = SubAgent::new("clerk", "Looks words up.").profile(["look_up"]).model(clerk);
    let clerk = clerk.max_cost(Cost::cents(50));
    let result = five(clerk, |it| it.max_cost(Cost::cents(60)), true).await;
    let found = answers(result.history(), 0);
    assert!(found.iter().all(|it| it["answer"] == "Tea."), "{found:?}");
    assert_eq!(result.cost(), Some(Cost::cents(52)));
}

#[tokio::test]
async fn the_turns_of_agents_are_turns_of_the_run_of_which_one_is_left_for_its_answer() {
    let look = [("look_up", r#"{"word":"tea"}"#), ("look_up", r#"{"word":"milk"}"#)];
    let clerk = (0..3).fold(ScriptedModel::new(), |it, _| it.answers(calls(&look, 0)));
    let clerk = SubAgent::new("clerk", "Looks words up.").profile(["look_up"]).model(clerk);
    let result = five(clerk, |it| it.max_turns(5), true).await;
    let found = answers(result.history(), 0);
    assert_eq!(found[0]["turns"], 3);
    assert!(found[1..].iter().all(|it| it["error_type"] == "budget_spent"), "{found:?}");
    assert_eq!(result.text(), "Done.");
}

#[tokio::test]
async fn agents_that_work_at_once_share_what_is_left() {
    let clerk = (0..2).fold(ScriptedModel::new(), |it, _| it.answers(answer("Tea.", 30)));
    let clerk = SubAgent::new("clerk", "Looks words up.").profile(["look_up"]).model(clerk);
    let task = task("clerk");
    let model = ScriptedModel::new()
        .answers(calls(&[("spawn_agent", task.as_str()); 2], 1))
        .answers(answer("Done.", 1));
    let agent = builder(&Log::default(), model).sub_agent(clerk.at_once(2));
    let agent = agent.max_cost(Cost::cents(101)).build().unwrap();
    let result = agent.run("Go!").await.unwrap();
    let found = answers(result.history(), 0);
    assert!(found.iter().all(|it| it["answer"] == "Tea."), "{found:?}");
}

#[tokio::test]
async fn an_agent_whose_prices_are_unknown_ends_a_run_with_a_limit_of_cost() {
    let clerk = ScriptedModel::new().says("Tea.");
    let clerk = SubAgent::new("clerk", "Looks words up.").profile(["look_up"]).model(clerk);
    let model = ScriptedModel::new().answers(calls(&[("spawn_agent", &task("clerk"))], 1));
    let agent = builder(&Log::default(), model).sub_agent(clerk).max_cost(Cost::cents(100));
    let error = agent.build().unwrap().run("Go!").await.unwrap_err();
    assert!(error.to_string().contains("the cost is not known"), "{error}");
}
