//! Tools that a model is not shown until it looks for them, with models of any provider.

use std::sync::Arc;

use serde_json::{Value, json};
use toolwright::dialect::Dialect;
use toolwright::journal::MemoryStore;
use toolwright::{DynamicTool, Effect, Exposure, tool};
use toolwright_agent::durable::{NewRun, Runner};
use toolwright_agent::{Agent, AgentBuilder, Message, ScriptedModel, SubAgent};

use crate::support::{ADD, Log};

/// Creates an issue in the tracker.
#[tool(effect = once, deferred, group = "tracker")]
async fn create_issue(
    log: &Log,
    /// What it is about.
    title: String,
) -> String {
    log.add(format!("create_issue {title}"));
    format!("created {title}")
}

/// Closes an issue.
#[tool(effect = once, deferred, group = "tracker")]
async fn close_issue(log: &Log) {
    log.add("close_issue");
}

/// Sends a letter.
#[tool(effect = once, deferred)]
async fn send_letter(log: &Log) {
    log.add("send_letter");
}

fn builder(log: &Log, model: &Arc<ScriptedModel>) -> AgentBuilder {
    Agent::builder(Arc::clone(model))
        .tools([ADD])
        .tools([CREATE_ISSUE, CLOSE_ISSUE, SEND_LETTER])
        .service(log.clone())
        .unrestricted()
}

/// The names of the tools of each request.
fn listed(model: &ScriptedModel) -> Vec<Vec<String>> {
    let names = |tools: &str| {
        let tools: Vec<Value> = serde_json::from_str(tools).unwrap();
        let name = |it: &Value| it["name"].as_str().unwrap().to_owned();
        tools.iter().map(name).collect()
    };
    model.requests().iter().map(|it| names(&it.tools)).collect()
}

/// The texts of the answers to the calls of each turn.
fn texts(history: &[Message]) -> Vec<String> {
    let answers = history.iter().filter_map(|message| match message {
        Message::ToolResults(answered) => Some(answered),
        _ => None,
    });
    answers.flat_map(|it| it.iter().map(|(_, answer)| answer.text().into_owned())).collect()
}

#[tokio::test]
async fn what_a_search_finds_is_listed_from_the_next_request_on_behind_what_was_listed_before() {
    let log = Log::default();
    let model = Arc::new(
        ScriptedModel::new()
            .calls([("tool_search", r#"{"query":"send a letter"}"#)])
            .calls([("tool_search", r#"{"query":"create an issue","limit":1}"#)])
            .calls([("create_issue", r#"{"title":"tea"}"#)])
            .says("Done."),
    );
    let agent = builder(&log, &model).build().unwrap();
    agent.run("Go!").await.unwrap();
    assert_eq!(log.lines(), ["create_issue tea"]);
    let first = ["add", "tool_search", "tool_list"];
    let listed = listed(&model);
    assert_eq!(listed[0], first);
    assert_eq!(listed[1], [&first[..], &["send_letter"]].concat());
    let all = [&first[..], &["send_letter", "create_issue"]].concat();
    assert_eq!((&listed[2], &listed[3]), (&listed[2], &listed[2]));
    assert_eq!(listed[2], all);
    let requests = model.requests();
    let begin = requests[1].tools.trim_end_matches(']');
    assert!(requests[2].tools.starts_with(begin), "the prefix stays");
}

#[tokio::test]
async fn a_tool_that_is_called_unfound_is_answered_once_with_its_schema_and_runs_nothing() {
    let log = Log::default();
    let model = Arc::new(
        ScriptedModel::new()
            .calls([("create_issue", r#"{"subject":"tea"}"#), ("add", r#"{"a":1,"b":2}"#)])
            .calls([("create_issue", r#"{"title":"tea"}"#)])
            .says("Done."),
    );
    let agent = builder(&log, &model).build().unwrap();
    let result = agent.run("Go!").await.unwrap();
    assert_eq!(log.lines(), ["add 1 2", "create_issue tea"]);
    let answer: Value = serde_json::from_str(&texts(result.history())[0]).unwrap();
    assert_eq!(answer["error_type"], "tool_not_listed");
    assert!(answer["message"].as_str().unwrap().contains(r#""title""#), "{answer}");
    assert!(listed(&model)[1].contains(&"create_issue".to_owned()));
}

#[tokio::test]
async fn the_groups_and_the_tools_of_a_group_are_named() {
    let model = Arc::new(
        ScriptedModel::new()
            .calls([("tool_list", "{}"), ("tool_list", r#"{"group":"tracker"}"#)])
            .calls([("tool_list", r#"{"group":"trackers"}"#), ("tool_search", r#"{"query":" "}"#)])
            .calls([("tool_search", r#"{"query":"quantum"}"#)])
            .says("Done."),
    );
    let agent = builder(&Log::default(), &model).build().unwrap();
    let result = agent.run("Go!").await.unwrap();
    let texts = texts(result.history());
    let groups =
        json!({ "groups": [{ "group": "other", "tools": 1 }, { "group": "tracker", "tools": 2 }] });
    assert_eq!(serde_json::from_str::<Value>(&texts[0]).unwrap(), groups);
    assert!(texts[1].contains("create_issue: Creates an issue in the tracker"), "{}", texts[1]);
    assert!(texts[2].contains("the groups are `other`, `tracker`"), "{}", texts[2]);
    assert!(texts[3].contains("the query is empty"), "{}", texts[3]);
    assert!(texts[4].contains("no tool fits"), "{}", texts[4]);
    // What was named only is not listed.
    assert!(listed(&model).iter().all(|it| it.len() == 3));
}

#[tokio::test]
async fn a_recorded_run_that_goes_on_elsewhere_lists_what_it_has_found() {
    let (log, store) = (Log::default(), MemoryStore::new());
    let model = Arc::new(
        ScriptedModel::new()
            .calls([("tool_search", r#"{"query":"letter"}"#)])
            .says("Found.")
            .says("Still there."),
    );
    let first = builder(&log, &model).journal(store.clone()).build().unwrap();
    first.chat().id("c1").send("Look.").await.unwrap();
    drop(first);
    let second = builder(&log, &model).journal(store).build().unwrap();
    second.chat().id("c1").send("And now?").await.unwrap();
    assert!(listed(&model)[2].contains(&"send_letter".to_owned()));
}

#[tokio::test]
async fn an_agent_finds_no_tool_that_its_profile_leaves_out() {
    let log = Log::default();
    let clerk = Arc::new(
        ScriptedModel::new()
            .calls([("tool_search", r#"{"query":"issue letter"}"#), ("send_letter", "{}")])
            .says("One."),
    );
    let sub_agent = SubAgent::new("clerk", "Creates issues.")
        .profile(["create_issue", "tool_search"])
        .model(Arc::clone(&clerk));
    let task = r#"{"agent":"clerk","task":"Look."}"#;
    let model = Arc::new(ScriptedModel::new().calls([("spawn_agent", task)]).says("Done."));
    builder(&log, &model).sub_agent(sub_agent).build().unwrap().run("Go!").await.unwrap();
    assert_eq!(listed(&clerk)[1], ["tool_search", "create_issue"]);
    assert_eq!(log.lines(), [""; 0]);
}

#[tokio::test]
async fn an_application_without_deferred_tools_has_no_search() {
    let model = Arc::new(ScriptedModel::new().says("Hello.").dialect(Dialect::Anthropic));
    let agent = Agent::builder(Arc::clone(&model)).tools([ADD]).service(Log::default());
    agent.build().unwrap().run("Hello!").await.unwrap();
    assert_eq!(listed(&model)[0], ["add"]);
}

#[tokio::test]
async fn of_ten_thousand_characters_of_a_query_the_first_count() {
    let model = Arc::new(
        ScriptedModel::new()
            .calls([(
                "tool_search",
                json!({ "query": "letter ".repeat(1_500) }).to_string().as_str(),
            )])
            .says("Done."),
    );
    let result = builder(&Log::default(), &model).build().unwrap().run("Go!").await.unwrap();
    assert!(texts(result.history())[0].contains("send_letter"));
}

/// The name of the search is the application's where it has such a tool.
#[tokio::test]
async fn a_tool_of_the_application_with_the_name_of_the_search_stays() {
    let own = DynamicTool::new("tool_search", "Mine.", json!({ "type": "object" }), |_, _| async {
        Ok(json!({ "tools": [{ "name": "send_letter" }] }))
    });
    let own = own.effect(Effect::Read).exposure(Exposure::Direct);
    let model = Arc::new(ScriptedModel::new().calls([("tool_search", "{}")]).says("Done."));
    let agent = builder(&Log::default(), &model).tool(own).build().unwrap();
    agent.run("Go!").await.unwrap();
    assert_eq!(listed(&model)[1], ["add", "tool_search"], "it reveals nothing");
}

#[tokio::test]
async fn a_fork_lists_what_its_model_had_found() {
    let log = Log::default();
    let search = [("tool_search", r#"{"query":"send a letter"}"#)];
    let model = Arc::new(ScriptedModel::new().calls(search).says("Found.").says("Forked."));
    let agent = builder(&log, &model).journal(MemoryStore::new()).build().unwrap();
    let agents = Runner::builder().agent("clerk", agent).build().unwrap();
    agents.start(NewRun::new("r1", "clerk", "Go!")).await.unwrap();
    agents.fork("r1", 1, "r2").await.unwrap();
    agents.resume("r2").await.unwrap();
    let listed = listed(&model);
    assert!(listed[1].contains(&"send_letter".to_owned()));
    assert_eq!(listed[2], listed[1]);
}
