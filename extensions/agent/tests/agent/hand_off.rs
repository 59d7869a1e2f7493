//! Runs that are handed off to another agent: what it reads, may call and must not, who gets them back, and what is refused.

mod recorded;
mod refused;
mod rights;

use std::sync::Arc;

use futures::StreamExt as _;
use serde_json::{Value, json};
use toolwright_agent::{
    Agent, AgentBuilder, HandOff, Message, RunEvent, ScriptedModel, ScriptedRequest, SubAgent,
};

use crate::support::{ADD, DELETE, LOOK_UP, Log, kinds};

/// The arguments of a call that hands the run off.
pub fn to(agent: &str) -> String {
    json!({ "agent": agent, "reason": format!("It is for {agent}.") }).to_string()
}

/// A script that hands the run off.
pub fn hands_off(agent: &str) -> ScriptedModel {
    ScriptedModel::new().calls([("hand_off", to(agent).as_str())])
}

/// The agent `triage` with three tools.
pub fn builder(log: &Log, model: &Arc<ScriptedModel>) -> AgentBuilder {
    let agent = Agent::builder(Arc::clone(model)).name("triage").instructions("You are first.");
    agent.tools([LOOK_UP, ADD, DELETE]).service(log.clone())
}

/// The names of the tools of a request.
pub fn tools(request: &ScriptedRequest) -> Vec<String> {
    let tools: Vec<Value> = serde_json::from_str(&request.tools).unwrap();
    tools.iter().map(|it| it["name"].as_str().unwrap().to_owned()).collect()
}

/// The agents that `hand_off` of a request names.
pub fn targets(request: &ScriptedRequest) -> Vec<String> {
    let tools: Vec<Value> = serde_json::from_str(&request.tools).unwrap();
    let tool = tools.iter().find(|it| it["name"] == "hand_off");
    let names = tool.and_then(|it| it["input_schema"]["properties"]["agent"]["enum"].as_array());
    let names = names.into_iter().flatten();
    names.map(|it| it.as_str().unwrap().to_owned()).collect()
}

fn looks_up(word: &str) -> ScriptedModel {
    ScriptedModel::new().calls([("look_up", json!({ "word": word }).to_string().as_str())])
}

#[tokio::test]
async fn a_run_goes_on_as_another_agent_with_its_own_instructions_model_and_tools_and_the_whole_history()
 {
    let log = Log::default();
    let first = Arc::new(hands_off("clerk"));
    let second = Arc::new(looks_up("tea").says("Tea is a drink."));
    let clerk = HandOff::to("clerk", "Looks words up.").profile(["look_up"]);
    let clerk = clerk.model(Arc::clone(&second));
    let agent = builder(&log, &first).hand_off(clerk).build().unwrap();
    let result = agent.run("What is tea?").id("r1").await.unwrap();
    assert_eq!((result.text(), result.turns(), result.id()), ("Tea is a drink.", 3, "r1"));
    assert_eq!(log.lines(), ["look_up tea"]);

    let (asked, asked_second) = (first.requests(), second.requests());
    assert_eq!((asked.len(), asked_second.len()), (1, 2));
    assert_eq!(tools(&asked[0]), ["look_up", "add", "delete", "hand_off"]);
    assert_eq!(targets(&asked[0]), ["clerk"]);
    assert_eq!(tools(&asked_second[0]), ["look_up"]);
    let instructions = &asked_second[0].instructions;
    assert!(instructions.starts_with("You are the agent `clerk`. Looks words up."));
    let [Message::User { text, .. }, Message::Assistant { .. }, Message::ToolResults(answered)] =
        &asked_second[0].history[..]
    else {
        panic!("{:?}", asked_second[0].history)
    };
    assert_eq!(text, "What is tea?");
    assert_eq!(answered[0].1.text(), r#"{"handed_off_to":"clerk"}"#);
}

#[tokio::test]
async fn what_the_user_says_next_is_heard_by_the_agent_that_has_the_run() {
    let log = Log::default();
    let first = Arc::new(hands_off("clerk").says("I am first."));
    let second = Arc::new(ScriptedModel::new().says("How can I help?").says("Of course."));
    let clerk = HandOff::to("clerk", "Looks words up.").model(Arc::clone(&second));
    let agent = builder(&log, &first).hand_off(clerk).build().unwrap();
    let mut chat = agent.chat();
    assert_eq!(chat.send("Hello!").await.unwrap().text(), "How can I help?");
    assert_eq!(chat.send("Please.").await.unwrap().text(), "Of course.");
    // The other conversation begins with the first agent.
    assert_eq!(agent.run("Hello!").await.unwrap().text(), "I am first.");
}

#[tokio::test]
async fn an_agent_gives_the_run_back_where_the_application_lets_it_and_the_first_has_all_tools_again()
 {
    let log = Log::default();
    let first = Arc::new(hands_off("clerk").calls([("add", r#"{"a":1,"b":2}"#)]).says("It is 3."));
    let second = Arc::new(hands_off("triage"));
    let clerk = HandOff::to("clerk", "Looks words up.").profile(["look_up"]);
    let clerk = clerk.model(Arc::clone(&second)).may_hand_off_to(["triage"]);
    let agent = builder(&log, &first).hand_off(clerk).build().unwrap();
    assert_eq!(agent.run("How much?").await.unwrap().text(), "It is 3.");
    assert_eq!(log.lines(), ["add 1 2"]);
    assert_eq!(tools(&second.requests()[0]), ["look_up", "hand_off"]);
    assert_eq!(targets(&second.requests()[0]), ["triage"]);
    let back = &first.requests()[1];
    assert_eq!(tools(back), ["look_up", "add", "delete", "hand_off"]);
    assert_eq!(back.instructions, "You are first.");
}

#[tokio::test]
async fn an_agent_hands_on_to_a_third_that_it_may_hand_to() {
    let log = Log::default();
    let first = Arc::new(hands_off("clerk"));
    let third = Arc::new(ScriptedModel::new().says("Third."));
    let clerk = HandOff::to("clerk", "Looks words up.").model(hands_off("boss"));
    let boss = HandOff::to("boss", "Decides.").model(Arc::clone(&third)).profile(["delete"]);
    let agent = builder(&log, &first).hand_off(clerk.may_hand_off_to(["boss"])).hand_off(boss);
    assert_eq!(agent.build().unwrap().run("Go!").await.unwrap().text(), "Third.");
    assert_eq!(tools(&third.requests()[0]), ["delete"]);
    assert_eq!(targets(&first.requests()[0]), ["clerk", "boss"]);
}

#[tokio::test]
async fn the_events_of_a_run_say_who_has_handed_it_to_whom_and_why() {
    let log = Log::default();
    let first = Arc::new(hands_off("clerk"));
    let clerk = HandOff::to("clerk", "Looks words up.").model(ScriptedModel::new().says("Done."));
    let agent = builder(&log, &first).hand_off(clerk).build().unwrap();
    let mut stream = agent.run("Go!").stream();
    let (mut order, mut handed) = (Vec::new(), Vec::new());
    while let Some(event) = stream.next().await {
        match event.unwrap() {
            RunEvent::HandedOff { from, to, reason } => {
                order.push("handed off");
                handed.push((from, to, reason));
            }
            RunEvent::Asking => order.push("asking"),
            RunEvent::ToolResult(_) => order.push("answered"),
            _ => {}
        }
    }
    assert_eq!(order, ["asking", "answered", "handed off", "asking"]);
    assert_eq!(handed, [("triage".into(), "clerk".into(), "It is for clerk.".into())]);
}

/// What the run ends in.
#[toolwright::data]
struct Price {
    /// In cents.
    cents: u32,
}

#[tokio::test]
async fn a_run_that_has_to_end_in_a_value_ends_in_it_whichever_agent_has_it() {
    let log = Log::default();
    let first = Arc::new(hands_off("clerk"));
    let second = ScriptedModel::new().calls([("final_answer", r#"{"cents":3}"#)]);
    let clerk = || HandOff::to("clerk", "Looks words up.").profile(["look_up"]);
    let agent = builder(&log, &first).hand_off(clerk().model(second)).output::<Price>();
    let result = agent.build().unwrap().run("How much?").await.unwrap();
    assert_eq!(result.output::<Price>().unwrap().cents, 3);

    let second = ScriptedModel::new().calls([("final_answer", r#"{"cents":4}"#)]);
    let first = Arc::new(hands_off("clerk"));
    let agent = builder(&log, &first).hand_off(clerk().model(second)).build().unwrap();
    let price: Price = agent.run("How much?").typed().await.unwrap().into_output();
    assert_eq!(price.cents, 4);
}

#[tokio::test]
async fn the_limits_of_the_run_count_over_all_of_its_agents() {
    let log = Log::default();
    let first = Arc::new(looks_up("a").calls([("hand_off", to("clerk").as_str())]));
    let second = Arc::new(looks_up("b").calls([("look_up", r#"{"word":"c"}"#)]));
    let clerk = HandOff::to("clerk", "Looks words up.").model(Arc::clone(&second));
    let agent = builder(&log, &first).hand_off(clerk).max_turns(4).build().unwrap();
    let error = agent.run("Go!").await.unwrap_err();
    assert!(error.to_string().contains("4 turns"), "{error}");
    assert_eq!((log.lines().len(), second.requests().len()), (3, 2));
}

#[tokio::test]
async fn an_agent_that_has_the_run_gives_tasks_to_sub_agents_within_its_own_tools() {
    let log = Log::default();
    let helper = Arc::new(
        ScriptedModel::new()
            .calls([("look_up", r#"{"word":"tea"}"#), ("add", r#"{"a":1,"b":2}"#)])
            .calls([("hand_off", to("triage").as_str())])
            .says("Helped."),
    );
    let first = Arc::new(hands_off("clerk"));
    let task = r#"{"agent":"helper","task":"Help."}"#;
    let second = ScriptedModel::new().calls([("spawn_agent", task)]).says("Done.");
    let clerk = HandOff::to("clerk", "Looks words up.").profile(["look_up", "spawn_agent"]);
    let clerk = clerk.model(second).may_hand_off_to(["triage"]);
    let helper_agent = SubAgent::new("helper", "Helps.").profile(["*"]).model(Arc::clone(&helper));
    let agent = builder(&log, &first).hand_off(clerk).sub_agent(helper_agent).build().unwrap();
    assert_eq!(agent.run("Go!").await.unwrap().text(), "Done.");
    assert_eq!(log.lines(), ["look_up tea"], "the sub-agent has what its parent has");
    assert_eq!(tools(&helper.requests()[0]), ["look_up", "spawn_agent"]);
    let history = &helper.requests()[2].history;
    assert_eq!(kinds(history), [["ok", "unknown_tool"].as_slice(), &["not_handed_off"]]);
}

#[tokio::test]
async fn settings_of_one_run_count_for_the_agent_with_which_it_began() {
    use toolwright_agent::ModelSettings;
    let log = Log::default();
    let first = Arc::new(hands_off("clerk"));
    let second = Arc::new(ScriptedModel::new().says("Done."));
    let clerk = HandOff::to("clerk", "Looks words up.").model(Arc::clone(&second));
    let clerk = clerk.settings(ModelSettings::new().temperature(0.5)).max_tokens(77);
    let agent = builder(&log, &first).hand_off(clerk).build().unwrap();
    agent.run("Go!").settings(ModelSettings::new().temperature(0.1)).await.unwrap();
    assert_eq!(first.requests()[0].settings, ModelSettings::new().temperature(0.1));
    assert_eq!(second.requests()[0].settings, ModelSettings::new().temperature(0.5));
    assert_eq!(second.requests()[0].limits.max_tokens, Some(77));
}
