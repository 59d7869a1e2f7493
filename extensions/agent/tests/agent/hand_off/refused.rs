//! Calls of `hand_off` that hand nothing off, and agents that cannot be built.

use std::sync::Arc;

use serde_json::json;
use toolwright::policy::{Policy, Rule};
use toolwright::{Executor, Registry, tool};
use toolwright_agent::{Agent, HandOff, Message, ScriptedModel, SubAgent};

use super::{builder, hands_off, targets, to, tools};
use crate::support::{LOOK_UP, Log, kinds};

fn clerk() -> HandOff {
    HandOff::to("clerk", "Looks words up.").model(ScriptedModel::new())
}

/// What the model reads of the first call of the second turn.
fn refusal(history: &[Message]) -> String {
    let mut results = history.iter().filter_map(|message| match message {
        Message::ToolResults(answered) => Some(answered),
        _ => None,
    });
    let (_, answer) = &results.next().expect("a turn with calls")[0];
    let error = answer.error().expect("it is refused");
    format!("{error}; {}", error.next_action().unwrap_or_default())
}

#[tokio::test]
async fn a_call_that_names_no_agent_of_the_application_hands_nothing_off_and_says_who_there_is() {
    for (arguments, words) in [
        (
            to("nurse"),
            "`triage` has no agent `nurse` to hand it off to; hand it off to one of `clerk`, or go on yourself",
        ),
        (to("triage"), "`triage` is the agent that works on it already"),
        (to("Clerk"), "has no agent `Clerk`"),
        (json!({ "reason": "why not" }).to_string(), "found no name under `agent`"),
        (json!({ "agent": ["clerk"], "reason": "" }).to_string(), "found no name under `agent`"),
        ("{".to_owned(), "found no name under `agent`"),
    ] {
        let log = Log::default();
        let model = ScriptedModel::new().calls([("hand_off", arguments.as_str())]).says("Still I.");
        let model = Arc::new(model);
        let agent = builder(&log, &model).hand_off(clerk()).build().unwrap();
        let result = agent.run("Go!").await.unwrap();
        assert_eq!(result.text(), "Still I.", "{arguments}");
        assert_eq!(kinds(result.history()), [["not_handed_off"]]);
        let found = refusal(result.history());
        assert!(found.contains(words), "{found}");
    }
}

#[tokio::test]
async fn a_call_that_names_two_agents_hands_the_run_off_to_neither() {
    for arguments in [
        r#"{"agent":"boss","reason":"x","agent":"clerk"}"#,
        r#"{"agent":"clerk","reason":"x","agent":"boss"}"#,
        r#"{"agent":"clerk","reason":"x"} {"agent":"boss","reason":"x"}"#,
    ] {
        let log = Log::default();
        let model = ScriptedModel::new().calls([("hand_off", arguments)]).says("Still I.");
        let model = Arc::new(model);
        let agent = builder(&log, &model).hand_off(clerk()).build().unwrap();
        let result = agent.run("Go!").await.unwrap();
        assert_eq!(result.text(), "Still I.", "{arguments}");
        assert_ne!(kinds(result.history()), [["ok"]]);
    }
}

#[tokio::test]
async fn a_call_beside_other_calls_hands_nothing_off_while_the_others_run() {
    let arguments = to("clerk");
    let hand_off = ("hand_off", arguments.as_str());
    let look_up = ("look_up", r#"{"word":"tea"}"#);
    for (calls, expected, ran) in [
        (vec![hand_off, look_up], vec!["not_handed_off", "ok"], 1),
        (vec![look_up, hand_off], vec!["ok", "not_handed_off"], 1),
        (vec![hand_off, hand_off], vec!["not_handed_off", "not_handed_off"], 0),
    ] {
        let log = Log::default();
        let model = Arc::new(ScriptedModel::new().calls(calls).says("Still I."));
        let agent = builder(&log, &model).hand_off(clerk()).build().unwrap();
        let result = agent.run("Go!").await.unwrap();
        assert_eq!(result.text(), "Still I.");
        assert_eq!(
            (kinds(result.history()), log.lines().len()),
            (vec![expected.iter().map(ToString::to_string).collect()], ran)
        );
        let whole = format!("{:?}", model.requests()[1].history);
        assert!(whole.contains("beside other calls"), "{whole}");
    }
}

#[tokio::test]
async fn a_call_that_the_policy_denies_hands_nothing_off() {
    let log = Log::default();
    let model = Arc::new(hands_off("clerk").says("Still I."));
    let rule = Rule::deny("not today").named("not-today").tool("hand_off");
    let agent = builder(&log, &model).policy(Policy::builder().rule(rule)).hand_off(clerk());
    let result = agent.build().unwrap().run("Go!").await.unwrap();
    assert_eq!((result.text(), kinds(result.history())), ("Still I.", vec![vec!["denied".into()]]));
    assert_eq!(tools(&model.requests()[1]), tools(&model.requests()[0]));
}

#[tokio::test]
async fn an_agent_without_whom_to_hand_to_is_not_shown_the_tool_and_a_call_of_it_is_refused() {
    let log = Log::default();
    let second = Arc::new(hands_off("triage").says("I stay."));
    let clerk = HandOff::to("clerk", "Looks words up.").model(Arc::clone(&second));
    let agent = builder(&log, &Arc::new(hands_off("clerk"))).hand_off(clerk).build().unwrap();
    let result = agent.run("Go!").await.unwrap();
    assert_eq!(result.text(), "I stay.");
    assert_eq!(kinds(result.history()), [["ok"], ["not_handed_off"]]);
    assert_eq!(tools(&second.requests()[0]), ["look_up", "add", "delete"]);
    assert_eq!(targets(&second.requests()[0]), [""; 0]);
}

#[tokio::test]
async fn two_agents_do_not_hand_a_run_to_each_other_for_ever_and_a_message_of_the_user_counts_anew()
{
    let log = Log::default();
    let three = |agent: &str| {
        let call = to(agent);
        let hands_off = |model: ScriptedModel, _| model.calls([("hand_off", call.as_str())]);
        (0..3).fold(ScriptedModel::new(), hands_off)
    };
    let first = Arc::new(three("clerk").says("triage ends"));
    let again = to("triage");
    let second = three("triage").says("clerk ends").calls([("hand_off", again.as_str())]);
    let second = Arc::new(second);
    let clerk = HandOff::to("clerk", "Looks words up.").model(Arc::clone(&second));
    let clerk = clerk.may_hand_off_to(["triage"]);
    let agent = builder(&log, &first).hand_off(clerk).build().unwrap();
    let mut chat = agent.chat();
    let turn = chat.send("Go!").await.unwrap();
    // Five hand-offs: the clerk has it, whose third call is refused.
    assert_eq!(turn.text(), "clerk ends");
    let history = format!("{:?}", second.requests().last().unwrap().history);
    assert!(history.contains("that was done 5 times since the user last spoke"), "{history}");
    assert_eq!(chat.send("Again!").await.unwrap().text(), "triage ends");
}

/// Hands a call on.
#[tool(effect = once)]
async fn hand_on(calls: &toolwright::Calls) -> String {
    let arguments = to("clerk");
    let call = toolwright::Call::new("hand_off", &arguments);
    calls.call(&call).await.text().into_owned()
}

#[tokio::test]
async fn a_tool_that_calls_the_tool_hands_nothing_off() {
    let model = Arc::new(ScriptedModel::new().calls([("hand_on", "{}")]).says("Still I."));
    let agent = Agent::builder(Arc::clone(&model)).tools([HAND_ON]).unrestricted();
    let result = agent.hand_off(clerk()).build().unwrap().run("Go!").await.unwrap();
    assert_eq!(result.text(), "Still I.");
    let Some(Message::ToolResults(answered)) = result.history().get(2) else { panic!("an answer") };
    let text = answered[0].1.text();
    assert!(text.contains("by a call of its own"), "{text}");
}

/// Hands a parcel off.
#[tool(effect = read)]
async fn hand_off() -> &'static str {
    r#"{"handed_off_to":"clerk"}"#
}

#[tokio::test]
async fn a_tool_of_the_application_with_this_name_is_none_of_ours() {
    let model = Arc::new(ScriptedModel::new().calls([("hand_off", "{}")]).says("Still I."));
    let agent = Agent::builder(model).tools([HAND_OFF]).build().unwrap();
    assert_eq!(agent.run("Go!").await.unwrap().text(), "Still I.");
}

#[test]
fn what_is_wrong_with_an_agent_is_an_error_when_it_is_built() {
    let log = Log::default();
    let model = Arc::new(ScriptedModel::new());
    let error = |agents: Vec<HandOff>| {
        let builder = agents.into_iter().fold(builder(&log, &model), |it, to| it.hand_off(to));
        let builder = builder.sub_agent(SubAgent::new("helper", "Helps."));
        builder.build().map(|_| ()).unwrap_err().to_string()
    };
    let named = |name: &str| HandOff::to(name, "Looks words up.");
    for (agents, words) in [
        (
            vec![named("clerk"), named("clerk")],
            "no run can be handed off to `clerk`: there are two of its name",
        ),
        (vec![named("my clerk")], "its name is no word"),
        (vec![named("triage")], "the agent with which runs begin has this name"),
        (vec![named("helper")], "a sub-agent has this name"),
        (vec![named("clerk").profile(["lookup"])], "did you mean `look_up`?"),
        (vec![named("clerk").profile(["a b"])], "is no pattern"),
        (
            vec![named("clerk").may_hand_off_to(["boss"])],
            "it may not hand a run off to `boss`, expected one of `triage`",
        ),
        (vec![named("clerk").may_hand_off_to(["clerk"])], "it may not hand a run off to `clerk`"),
        (vec![named("clerk").model("antropic:x")], "did you mean `anthropic`?"),
    ] {
        let found = error(agents);
        assert!(found.contains(words), "{found}");
    }
}

#[test]
fn one_executor_hands_off_the_runs_of_one_agent() {
    let log = Log::default();
    let tools = Registry::of([LOOK_UP]).unwrap();
    let executor = Executor::builder(tools).service(log.clone()).unrestricted().build().unwrap();
    let agent = || Agent::on(executor.clone(), ScriptedModel::new()).hand_off(clerk()).build();
    assert!(agent().is_ok());
    let error = agent().map(|_| ()).unwrap_err().to_string();
    assert!(error.contains("the executor has a tool `hand_off` already"), "{error}");
}
