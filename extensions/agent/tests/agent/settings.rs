//! How a model is asked: by the settings of its agent, by those of a run, and once for a call that is forced.

use std::sync::Arc;

use toolwright::tool;
use toolwright_agent::{
    Agent, Message, ModelSettings, RunEnd, ScriptedModel, SubAgent, ToolChoice,
};

/// Looks a word up.
#[tool(effect = read, unlinked)]
async fn find(
    /// Which.
    word: String,
) -> String {
    format!("the meaning of {word}")
}

const FIND_TEA: (&str, &str) = ("find", r#"{"word":"tea"}"#);

fn choices(model: &ScriptedModel) -> Vec<ToolChoice> {
    model.requests().into_iter().map(|it| it.settings.tool_choice).collect()
}

#[tokio::test]
async fn a_call_is_forced_until_there_is_one_and_again_when_the_user_says_more() {
    for forced in [ToolChoice::Required, ToolChoice::Tool("find".to_owned())] {
        let model = ScriptedModel::new().says(" ").calls([FIND_TEA]).says("A plant.");
        let model = Arc::new(model.calls([FIND_TEA]).says("Still a plant."));
        let settings = ModelSettings::new().tool_choice(forced.clone());
        let agent = Agent::builder(Arc::clone(&model)).tools([FIND]).settings(settings);
        // What is left is said as the user's words, which are not the user's.
        let mut chat = agent.report_budget().build().unwrap().chat();
        chat.send("What is tea?").await.unwrap();
        chat.send("And now?").await.unwrap();
        let auto = ToolChoice::Auto;
        let expected = [&forced, &forced, &auto, &forced, &auto].map(Clone::clone);
        assert_eq!(choices(&model), expected);
    }
}

#[tokio::test]
async fn a_run_with_a_type_may_force_another_tool_first() {
    let value = ("final_answer", r#"{"value":["tea"]}"#);
    let model = Arc::new(ScriptedModel::new().calls([FIND_TEA]).calls([value]));
    let settings = ModelSettings::new().tool_choice(ToolChoice::Tool("find".to_owned()));
    let agent =
        Agent::builder(Arc::clone(&model)).tools([FIND]).settings(settings).build().unwrap();
    let words = agent.run("Which?").typed::<Vec<String>>().await.unwrap().into_output();
    assert_eq!(words, ["tea"]);
    assert_eq!(choices(&model), [ToolChoice::Tool("find".to_owned()), ToolChoice::Required]);
}

#[tokio::test]
async fn the_settings_of_a_run_stand_in_the_place_of_those_of_its_agent() {
    let model = Arc::new(ScriptedModel::new().says("One.").says("Two.").says("Three."));
    let agent = Agent::builder(Arc::clone(&model)).unrestricted();
    let agent = agent.settings(ModelSettings::new().temperature(1.0).seed(7));
    let agent = agent.journal(toolwright::journal::MemoryStore::new()).build().unwrap();
    let cold = ModelSettings::new().temperature(0.0);
    agent.run("Go.").settings(cold.clone()).await.unwrap();
    agent.run("Go.").await.unwrap();
    let mut run = agent.new_run("r1").settings(cold.clone()).start().unwrap();
    assert!(matches!(run.send("Go.").await.unwrap(), RunEnd::Text { .. }));
    assert!(matches!(run.history().last(), Some(Message::Assistant { .. })));
    let settings: Vec<ModelSettings> = model.requests().into_iter().map(|it| it.settings).collect();
    let warm = ModelSettings::new().temperature(1.0).seed(7);
    assert_eq!(settings, [cold.clone(), warm, cold]);
}

#[tokio::test]
async fn a_tool_that_a_sub_agent_does_not_have_is_not_forced_on_it() {
    let clerk = Arc::new(ScriptedModel::new().says("Tea."));
    let task = ("spawn_agent", r#"{"agent":"clerk","task":"Find it."}"#);
    let model = Arc::new(ScriptedModel::new().calls([task]).says("Done."));
    let forced = ToolChoice::Tool("spawn_agent".to_owned());
    let agent = Agent::builder(Arc::clone(&model)).tools([FIND]);
    let agent = agent.settings(ModelSettings::new().tool_choice(forced.clone()));
    let agent = agent.sub_agent(SubAgent::new("clerk", "Finds words.").model(Arc::clone(&clerk)));
    agent.build().unwrap().run("What is tea?").await.unwrap();
    assert_eq!(choices(&model), [forced, ToolChoice::Auto]);
    assert_eq!(choices(&clerk), [ToolChoice::Auto]);
}

/// The provider then refuses the request, and names the tool.
#[tokio::test]
async fn a_forced_tool_that_does_not_exist_is_not_left_out_silently() {
    let model = Arc::new(ScriptedModel::new().says("Tea."));
    let forced = ToolChoice::Tool("fnid".to_owned());
    let agent = Agent::builder(Arc::clone(&model)).tools([FIND]);
    let agent = agent.settings(ModelSettings::new().tool_choice(forced.clone()));
    agent.build().unwrap().run("What is tea?").await.unwrap();
    assert_eq!(choices(&model), [forced]);
}
