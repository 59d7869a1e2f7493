//! The round of an agent: the model is asked with the tools, it calls some, they run, it reads what came of them.

use std::sync::{Arc, Mutex};

use serde_json::Value;
use toolwright::dialect::Dialect;
use toolwright::journal::{Filter, Journal, MemoryStore, Page, Store};
use toolwright::policy::Policy;
use toolwright::{Executor, OnNoApprover, Registry, ToolContext, tool};
use toolwright_agent::{
    Agent, Message, ModelAnswer, NoticeKind, RunEnd, ScriptedModel, Usage, Verbatim,
};

use super::support::{ADD, Log, agent, builder, call, kinds, outline, run};

/// S0.30: every request of the loop carries the array of the tools as its provider takes it, byte for byte the same.
#[tokio::test]
async fn every_request_carries_the_tools_of_the_listing_unchanged() {
    let log = Log::default();
    let executor = builder(&log).unrestricted().build().unwrap();
    let catalog = executor.catalog();
    let model = ScriptedModel::new().calls([("add", r#"{"a":1,"b":2}"#)]).says("3");
    let model = Arc::new(model);
    let agent = Agent::on(executor, Arc::clone(&model)).instructions("Be brief.").build().unwrap();
    agent.new_run("r").start().unwrap().send("1 + 2?").await.unwrap();
    let requests = model.requests();
    assert_eq!(requests.len(), 2);
    for request in &requests {
        assert_eq!(request.tools, catalog.listing(Dialect::Anthropic).unwrap().tools().get());
        assert_eq!(request.instructions, "Be brief.");
    }
}

/// S3.40: the tools are sent in `OpenAI`'s form of a function, with the JSON Schema of their parameters.
#[tokio::test]
async fn tools_are_sent_as_functions_with_the_schema_of_their_parameters() {
    let executor = Executor::builder(Registry::of([ADD]).unwrap());
    let executor = executor.service(Log::default()).unrestricted().build().unwrap();
    let model = Arc::new(ScriptedModel::new().dialect(Dialect::OpenAiChat).says("Nothing to add."));
    let agent = Agent::on(executor, Arc::clone(&model)).build().unwrap();
    agent.new_run("r").start().unwrap().send("Hello.").await.unwrap();
    let tools: Value = serde_json::from_str(&model.requests()[0].tools).unwrap();
    assert_eq!(
        (&tools[0]["type"], &tools[0]["function"]["name"]),
        (&"function".into(), &"add".into())
    );
    let parameters = &tools[0]["function"]["parameters"];
    assert_eq!(parameters["properties"]["a"]["type"], "integer");
    assert_eq!(parameters["properties"]["b"]["description"], "The second.");
    assert_eq!(parameters["required"], serde_json::json!(["a", "b"]));
}

/// S3.41, S3.47: the model decides each time whether it calls, and what, until it gives a text.
#[tokio::test]
async fn the_model_decides_what_is_called_until_it_gives_a_text() {
    let log = Log::default();
    let model = ScriptedModel::new()
        .calls([("look_up", r#"{"word":"sum"}"#), ("add", r#"{"a":1,"b":2}"#)])
        .says_and_calls("And one more.", [("add", r#"{"a":3,"b":4}"#)])
        .says("Done.");
    let mut run = run(agent(&log, model));
    let ended = run.send("Do some sums.").await.unwrap();
    assert!(matches!(ended, RunEnd::Text { text, cut_short: false, .. } if text == "Done."));
    assert_eq!(log.lines(), ["look_up sum", "add 1 2", "add 3 4"]);
    assert_eq!(
        outline(run.history()),
        [
            "user: Do some sums.",
            "model:  +2",
            "answers: 2",
            "model: And one more. +1",
            "answers: 1",
            "model: Done. +0"
        ]
    );
    // What it says after the end goes on with the same history.
    assert_eq!(run.state().turn(), 3);
}

/// S3.42: the arguments are read by the tool's own types, from the text that the model wrote.
#[tokio::test]
async fn arguments_are_checked_before_a_tool_sees_them() {
    let log = Log::default();
    let model = ScriptedModel::new()
        .calls([
            ("add", r#"{"a":"many","b":2}"#),
            ("add", r#"{"a":1"#),
            ("add", r#"{"a":9007199254740993,"b":-1}"#),
        ])
        .says("Done.");
    let mut run = run(agent(&log, model));
    run.send("Do some sums.").await.unwrap();
    assert_eq!(kinds(run.history()), [["invalid_input", "invalid_input", "ok"]]);
    assert_eq!(log.lines(), ["add 9007199254740993 -1"], "and no digit was lost");
}

/// Who asks.
struct Asker(&'static str);

/// Says who asks, and in which run.
#[tool(effect = read)]
async fn who(asker: &Asker, log: &Log, context: &ToolContext) -> String {
    log.add(context.run_id().unwrap_or("no run"));
    asker.0.to_owned()
}

/// S3.44: a tool is called with its input, the services of the application, and what is its run's alone.
#[tokio::test]
async fn a_tool_gets_the_services_of_the_application_and_of_its_run() {
    let log = Log::default();
    let executor = Executor::builder(Registry::of([WHO]).unwrap())
        .unrestricted()
        .service(log.clone())
        .per_run::<Asker>()
        .build()
        .unwrap();
    let model = ScriptedModel::new().calls([("who", "{}")]).says("I see.");
    let agent = Agent::on(executor, model).build().unwrap();
    let missing = agent.new_run("r").start().unwrap_err().to_string();
    assert!(missing.contains("Asker"), "{missing}");
    let mut run = agent.new_run("ticket-7").with(Asker("Ada")).start().unwrap();
    run.send("Who am I?").await.unwrap();
    let Message::ToolResults(answered) = &run.history()[2] else { panic!("answers") };
    assert_eq!((&*answered[0].1.text(), log.lines()), ("Ada", vec!["ticket-7".to_owned()]));
}

/// S3.45, S3.46: each result or error is recorded in the history, and the model reads it with its next request.
#[tokio::test]
async fn every_result_and_error_is_recorded_and_fed_back() {
    let log = Log::default();
    let model = ScriptedModel::new()
        .calls([("add", r#"{"a":1,"b":2}"#), ("fail", r#"{"how":"slowly"}"#), ("unheard_of", "{}")])
        .says("One of three.");
    let model = Arc::new(model);
    let executor = builder(&log).unrestricted().build().unwrap();
    let agent = Agent::on(executor, Arc::clone(&model)).build().unwrap();
    let mut run = agent.new_run("r").start().unwrap();
    run.send("Try.").await.unwrap();
    assert_eq!(kinds(run.history()), [["ok", "on_purpose", "unknown_tool"]]);
    let asked = &model.requests()[1].history;
    assert_eq!(outline(asked), ["user: Try.", "model:  +3", "answers: 3"]);
    let listing = agent_listing();
    let Some(Message::ToolResults(answered)) = asked.last() else { panic!("answers") };
    let results = listing.tool_results(answered).unwrap();
    assert_eq!(
        results["content"][0],
        serde_json::json!({"type":"tool_result","tool_use_id":"call_1","content":"3"})
    );
    assert_eq!(results["content"][1]["is_error"], true);
    assert!(results["content"][1]["content"].as_str().unwrap().contains("it failed: slowly"));
}

fn agent_listing() -> toolwright::dialect::Listing {
    let executor = builder(&Log::default()).unrestricted().build().unwrap();
    executor.catalog().listing(Dialect::Anthropic).unwrap()
}

#[tokio::test]
async fn what_a_provider_requires_back_is_in_the_history_as_it_was() {
    let verbatim = Verbatim::new("anthropic", r#"[{"signature":"x",  "type":"thinking"}]"#);
    let calls = vec![call("c1", "add", r#"{"a":1,"b":2}"#)];
    let answer = ModelAnswer::new("", calls).verbatim(verbatim.clone()).usage(Usage::new(100, 20));
    let model = ScriptedModel::new()
        .answers(answer)
        .answers(ModelAnswer::text("3").usage(Usage::new(130, 5)));
    let mut run = run(agent(&Log::default(), model));
    run.send("1 + 2?").await.unwrap();
    let Message::Assistant { verbatim: Some(back), .. } = &run.history()[1] else {
        panic!("verbatim")
    };
    assert_eq!(*back, verbatim);
    assert_eq!(run.state().usage(), Usage::new(230, 25));
}

/// The registry changes while the model answers: the turn runs what the model was shown, the next request shows what there
/// is then.
#[tokio::test]
async fn a_turn_runs_the_tools_that_its_model_was_shown() {
    let log = Log::default();
    let executor = builder(&log).unrestricted().build().unwrap();
    let registry = executor.registry().clone();
    let model = Arc::new(
        ScriptedModel::new()
            .calls([("add", r#"{"a":1,"b":2}"#)])
            .calls([("add", r#"{"a":1,"b":2}"#)])
            .says("Done."),
    );
    let agent = Agent::on(executor, Arc::clone(&model))
        .listen(move |notice| {
            if notice.turn == 1 && matches!(notice.kind, NoticeKind::Answered { .. }) {
                registry.unregister("add").unwrap();
            }
        })
        .build()
        .unwrap();
    let mut run = agent.new_run("r").start().unwrap();
    run.send("1 + 2?").await.unwrap();
    assert_eq!(kinds(run.history()), [["ok"], ["unknown_tool"]]);
    let shows_add = |it: &toolwright_agent::ScriptedRequest| it.tools.contains(r#""name":"add""#);
    let shown: Vec<bool> = model.requests().iter().map(shows_add).collect();
    assert_eq!(shown, [true, false, false]);
}

#[tokio::test]
async fn the_text_before_a_call_is_its_reason_in_a_plan() {
    let (log, store) = (Log::default(), Arc::new(MemoryStore::new()));
    let executor = builder(&log)
        .policy(Policy::builder().plan(true))
        .journal(Journal::shared(store.clone()).on_no_approver(OnNoApprover::Park))
        .build()
        .unwrap();
    let delete = [("delete", r#"{"path":"a.md"}"#)];
    let model = ScriptedModel::new()
        .says_and_calls("It is empty, so it can go.\n", delete)
        .calls([("delete", r#"{"path":"b.md"}"#)])
        .says("Done.");
    run(Agent::on(executor, model)).send("Go.").await.unwrap();
    let records = store.list(&Filter::default(), Page::first(9)).await.unwrap().calls;
    let mut reasons: Vec<_> = records
        .iter()
        .map(|it| (it.place.turn, it.ask.as_ref().unwrap().reason.as_str()))
        .collect();
    reasons.sort_unstable();
    assert_eq!(reasons[0], (Some(1), "It is empty, so it can go."));
    assert_eq!((reasons.len(), reasons[1].0), (2, Some(2)));
    assert!(!reasons[1].1.contains("empty"), "the next call has none: {}", reasons[1].1);
}

#[tokio::test]
async fn listeners_are_notified_in_the_order_in_which_it_happens() {
    let log = Log::default();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let model = ScriptedModel::new().calls([("add", r#"{"a":1,"b":2}"#)]).says("3");
    let agent = agent(&log, model).listen({
        let seen = Arc::clone(&seen);
        move |notice| {
            let word = match notice.kind {
                NoticeKind::Asking => "asking",
                NoticeKind::Answered { .. } => "answered",
                NoticeKind::Failed { .. } => "failed",
                NoticeKind::Calling { .. } => "calling",
                NoticeKind::Appended { .. } => "appended",
                NoticeKind::Ended { .. } => "ended",
                _ => "unknown",
            };
            assert_eq!(notice.run, "r");
            seen.lock().unwrap().push(format!("{word} {}", notice.turn));
        }
    });
    run(agent).send("1 + 2?").await.unwrap();
    assert_eq!(
        *seen.lock().unwrap(),
        [
            "appended 0",
            "asking 1",
            "answered 1",
            "appended 1",
            "calling 1",
            "appended 1",
            "asking 2",
            "answered 2",
            "appended 2",
            "ended 2"
        ]
    );
}
