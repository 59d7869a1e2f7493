//! Agents that a model gives tasks to: what they may call, who is asked, how they end, and what they leave.

mod budgets;
mod durable;
mod policies;
pub mod subset;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::StreamExt as _;
use serde_json::{Value, json};
use toolwright::approval::{ApprovalRequest, Approver, Callback, Response};
use toolwright::journal::MemoryStore;
use toolwright::policy::{Mode, Policy, Rule};
use toolwright::{CancellationToken, Danger, tool};
use toolwright_agent::{
    Agent, AgentBuilder, Message, ModelAnswer, ModelError, RunEnd, RunEvent, ScriptedModel,
    StopReason, SubAgent,
};

use crate::support::{ADD, COMPLETE_TASK, DELETE, LOOK_UP, Log, WAIT};

/// A call of `spawn_agent`.
pub fn task(agent: &str) -> String {
    json!({ "agent": agent, "task": "Do it." }).to_string()
}

/// A script that starts a sub-agent and says what is given.
pub fn starts(agent: &str) -> ScriptedModel {
    ScriptedModel::new().calls([("spawn_agent", task(agent).as_str())]).says("Done.")
}

pub fn builder(log: &Log, model: ScriptedModel) -> AgentBuilder {
    let tools = [LOOK_UP, ADD, DELETE, WAIT, COMPLETE_TASK];
    Agent::builder(model).tools(tools).service(log.clone())
}

/// What the model reads of the calls of a turn.
pub fn answers(history: &[Message], turn: usize) -> Vec<Value> {
    let mut results = history.iter().filter_map(|message| match message {
        Message::ToolResults(answered) => Some(answered),
        _ => None,
    });
    let answered = results.nth(turn).expect("the turn has calls");
    let read = |text: &str| serde_json::from_str(text).unwrap_or_else(|_| json!(text));
    answered.iter().map(|(_, answer)| read(&answer.text())).collect()
}

/// S1.32: the model gives a task to an agent, which works on it with its own tools, and its end is the answer of the call.
#[tokio::test]
async fn an_agent_works_on_a_task_and_its_end_is_the_answer_of_the_call() {
    let log = Log::default();
    let clerk = Arc::new(
        ScriptedModel::new().calls([("look_up", r#"{"word":"tea"}"#)]).says("Tea is a drink."),
    );
    let sub_agent =
        SubAgent::new("clerk", "Looks words up.").profile(["look_up"]).model(Arc::clone(&clerk));
    let agent = builder(&log, starts("clerk")).sub_agent(sub_agent).build().unwrap();
    let result = agent.run("What is tea?").await.unwrap();
    assert_eq!(result.to_string(), "Done.");
    assert_eq!(log.lines(), ["look_up tea"]);
    let answer = json!({ "agent": "clerk", "ended": "text", "answer": "Tea is a drink.", "turns": 2, "tokens": 0 });
    assert_eq!(answers(result.history(), 0), [answer]);

    let requests = clerk.requests();
    assert!(requests[0].tools.contains("look_up") && !requests[0].tools.contains("delete"));
    assert!(requests[0].instructions.contains("You are the agent `clerk`. Looks words up."));
    let [Message::User { text, .. }] = &requests[0].history[..] else { panic!("the task alone") };
    assert_eq!(text, "Do it.");
}

#[tokio::test]
async fn the_tool_that_starts_agents_is_moderate_names_them_and_runs_unasked() {
    let log = Log::default();
    let sub_agent = || SubAgent::new("clerk", "Looks words up.");
    let model = Arc::new(starts("clerk"));
    let agent = Agent::builder(Arc::clone(&model)).tools([LOOK_UP, DELETE]).service(log.clone());
    let agent = agent.sub_agent(sub_agent().model(ScriptedModel::new().says("Yes.")));
    assert_eq!(agent.build().unwrap().run("Go!").await.unwrap().to_string(), "Done.");
    let tools: Vec<Value> = serde_json::from_str(&model.requests()[0].tools).unwrap();
    let spawn = tools.iter().find(|it| it["name"] == "spawn_agent").unwrap();
    assert!(spawn["description"].as_str().unwrap().contains("- clerk: Looks words up."));
    assert_eq!(spawn["input_schema"]["properties"]["agent"]["enum"], json!(["clerk"]));

    assert_eq!(spawn["input_schema"]["required"], json!(["agent", "task"]));
}

/// S1.32.
#[tokio::test]
async fn starting_an_agent_is_moderate_and_a_rule_of_the_application_counts() {
    let log = Log::default();
    let clerk = SubAgent::new("clerk", "Looks words up.").model(ScriptedModel::new());
    let rule = Rule::deny("not today").named("not-today").danger(Danger::Moderate);
    let agent = builder(&log, starts("clerk")).policy(Policy::builder().rule(rule));
    let result = agent.sub_agent(clerk).build().unwrap().run("Go!").await.unwrap();
    assert_eq!(answers(result.history(), 0)[0]["error_type"], "denied");
}

/// S1.46: of agents that are started in one answer, one works after the other.
#[tokio::test(start_paused = true)]
async fn agents_of_one_answer_work_one_after_the_other_unless_the_application_lets_several() {
    for (at_once, expected) in [(1, 2), (2, 1)] {
        let begun = tokio::time::Instant::now();
        let task = task("sleeper");
        let model = ScriptedModel::new()
            .calls([("spawn_agent", task.as_str()), ("spawn_agent", task.as_str())])
            .says("Done.");
        let sleeper = ScriptedModel::new().calls([("rest", "{}")]).calls([("rest", "{}")]);
        let sleeper = sleeper.says("Rested.").says("Rested.");
        let sub_agent = SubAgent::new("sleeper", "Rests.").profile(["rest"]).model(sleeper);
        let agent = Agent::builder(model).tools([REST]).sub_agent(sub_agent.at_once(at_once));
        agent.build().unwrap().run("Rest twice.").await.unwrap();
        assert_eq!(begun.elapsed().as_secs(), expected, "{at_once} at once");
    }
}

/// Rests for a second.
#[tool(effect = read)]
async fn rest() {
    tokio::time::sleep(Duration::from_secs(1)).await;
}

#[tokio::test]
async fn an_agent_that_asks_for_a_tool_outside_of_its_profile_does_not_get_it() {
    let log = Log::default();
    let clerk = ScriptedModel::new()
        .calls([("delete", r#"{"path":"a"}"#), ("spawn_agent", task("clerk").as_str())])
        .says("I cannot.");
    let clerk = SubAgent::new("clerk", "Looks words up.").profile(["look_up"]).model(clerk);
    let agent = builder(&log, starts("clerk")).unrestricted().sub_agent(clerk).build().unwrap();
    agent.run("Delete it.").await.unwrap();
    assert_eq!(log.lines(), [""; 0]);
}

#[tokio::test]
async fn agents_that_start_themselves_for_ever_end_three_deep() {
    let log = Log::default();
    let again = task("clerk");
    // Each of the three starts the next, and the last one reads that it is too deep.
    let clerk = Arc::new(
        ScriptedModel::new()
            .calls([("spawn_agent", again.as_str())])
            .calls([("spawn_agent", again.as_str())])
            .calls([("spawn_agent", again.as_str())])
            .says("three")
            .says("two")
            .says("one"),
    );
    let sub_agent = SubAgent::new("clerk", "Looks words up.")
        .profile(["look_up", "spawn_agent"])
        .model(Arc::clone(&clerk));
    let agent = builder(&log, starts("clerk")).sub_agent(sub_agent).build().unwrap();
    let result = agent.run("Go!").await.unwrap();
    let answer = &answers(result.history(), 0)[0];
    assert_eq!((&answer["answer"], &answer["turns"]), (&json!("one"), &json!(6)));
    let deepest = &clerk.requests()[3].history;
    assert_eq!(answers(deepest, 0)[0]["error_type"], "too_deep");
}

/// What a reviewer has found.
#[toolwright::data]
struct Review {
    /// Whether it can be merged.
    is_good: bool,
}

#[tokio::test]
async fn an_agent_that_ends_in_a_value_is_asked_again_for_one_that_fits_and_answers_with_it() {
    let reviewer = Arc::new(
        ScriptedModel::new()
            .calls([("final_answer", r#"{"is_good":"perhaps"}"#)])
            .calls([("final_answer", r#"{"is_good":false}"#)]),
    );
    let sub_agent = SubAgent::new("reviewer", "Reviews.").model(Arc::clone(&reviewer));
    let sub_agent = sub_agent.profile(["look_up"]).output::<Review>();
    let agent = builder(&Log::default(), starts("reviewer")).sub_agent(sub_agent).build().unwrap();
    let result = agent.run("Review it.").await.unwrap();
    let answer = &answers(result.history(), 0)[0];
    assert_eq!(
        (&answer["ended"], &answer["output"]),
        (&json!("output"), &json!({"is_good": false}))
    );
    let problem = format!("{:?}", reviewer.requests()[1].history);
    assert!(problem.contains("/is_good"), "{problem}");
}

#[test]
fn agents_that_are_recorded_three_deep_in_each_other_fit_into_the_stack_of_a_worker() {
    // A worker of tokio has 2 MiB, and what calls the agent needs some of it.
    const STACK: usize = 3 << 19;
    let deepest = || async {
        let again = task("clerk");
        let spawns = |model: ScriptedModel| model.calls([("spawn_agent", again.as_str())]);
        let clerk = spawns(spawns(spawns(ScriptedModel::new()))).says("3").says("2").says("1");
        let clerk = SubAgent::new("clerk", "Looks words up.").profile(["spawn_agent"]).model(clerk);
        let agent = Agent::builder(starts("clerk")).sub_agent(clerk).journal(MemoryStore::new());
        let result = agent.build().unwrap().run("Go!").id("deep").await.unwrap();
        assert_eq!(answers(result.history(), 0)[0]["answer"], "1");
    };
    let on_thread = move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(deepest());
    };
    std::thread::Builder::new().stack_size(STACK).spawn(on_thread).unwrap().join().unwrap();
}

/// An approver that notes who asks, and agrees.
fn approver(asked: &Arc<Mutex<Vec<String>>>) -> impl Approver + use<> {
    let asked = Arc::clone(asked);
    Callback::new(move |request: &ApprovalRequest| {
        let line = format!("{} {}", request.requester.agent, request.tool);
        asked.lock().unwrap().push(line);
        Response::Approve
    })
}

#[tokio::test]
async fn the_approver_of_the_run_is_asked_and_reads_which_agents_ask() {
    let (log, asked) = (Log::default(), Arc::default());
    let worker = ScriptedModel::new().calls([("delete", r#"{"path":"a"}"#)]).says("Gone.");
    let worker = SubAgent::new("worker", "Deletes.").profile(["delete"]).model(worker);
    let boss = ScriptedModel::new().calls([("spawn_agent", task("worker").as_str())]).says("Ok.");
    let profile = ["delete", "spawn_agent"];
    let boss = SubAgent::new("boss", "Lets others work.").profile(profile).model(boss);
    let agent = builder(&log, starts("boss")).approver(approver(&asked)).sub_agent(worker);
    let result = agent.sub_agent(boss).build().unwrap().run("Delete it.").id("r1").await.unwrap();
    assert_eq!(log.lines(), ["delete a"], "{:?}", answers(result.history(), 0));
    assert_eq!(*asked.lock().unwrap(), ["agent:r1/boss/worker delete"]);
}

#[tokio::test]
async fn the_stricter_of_the_policies_of_parent_and_agent_counts() {
    let denies = |tool: &str| Rule::deny("not this").named("not-this").tool(tool);
    let open = || Policy::builder().mode(Mode::Unrestricted);
    for (of_run, of_agent, runs) in [
        (open(), open(), true),
        (open(), open().rule(denies("look_up")), false),
        (open().rule(denies("look_up")), open(), false),
        (open(), open().rule(Rule::ask("ask me").named("ask").tool("look_up")), false),
    ] {
        let log = Log::default();
        let clerk = ScriptedModel::new().calls([("look_up", r#"{"word":"tea"}"#)]).says("Tea.");
        let clerk = SubAgent::new("clerk", "Looks words up.").profile(["look_up"]).model(clerk);
        let agent = builder(&log, starts("clerk")).policy(of_run);
        agent.sub_agent(clerk.policy(of_agent)).build().unwrap().run("Tea?").await.unwrap();
        assert_eq!(log.lines().len(), usize::from(runs));
    }
    // An executor that asks nobody asks where the agent's own rules do.
    let log = Log::default();
    let clerk = ScriptedModel::new().calls([("look_up", r#"{"word":"tea"}"#)]).says("Tea.");
    let clerk = SubAgent::new("clerk", "Looks words up.").profile(["look_up"]).model(clerk);
    let clerk = clerk.policy(open().rule(denies("look_up")));
    let agent = builder(&log, starts("clerk")).unrestricted().sub_agent(clerk).build().unwrap();
    agent.run("Tea?").await.unwrap();
    assert_eq!(log.lines(), [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn each_way_in_which_an_agent_ends_is_an_answer_with_its_reason() {
    let script = ScriptedModel::new;
    let look = [("look_up", r#"{"word":"tea"}"#)];
    let refused = ModelAnswer::text("No.").stopped(StopReason::Refused);
    let cut = ModelAnswer::text("It is").stopped(StopReason::CutShort);
    let done = [("complete_task", r#"{"summary":"all"}"#)];
    for (model, ended, answer, reason) in [
        (script().says("Yes."), "text", "Yes.", ""),
        (script().answers(cut), "text", "It is", "cut short"),
        (script().calls(done), "terminal", "Task completed: all", ""),
        (script().calls(look).calls(look), "limit", "", "2 turns"),
        (script().calls([("wait", "{}")]), "limit", "", "5000 ms"),
        (
            script().fails(ModelError::new("broken", "it is broken")),
            "model_failed",
            "",
            "it is broken",
        ),
        (script().answers(refused), "model_failed", "", "refused to answer"),
    ] {
        let sub_agent = SubAgent::new("clerk", "Looks words up.").model(model).max_turns(2);
        let sub_agent = sub_agent.max_duration(Duration::from_secs(5));
        let log = Log::default();
        let agent = builder(&log, starts("clerk")).unrestricted().sub_agent(sub_agent);
        let result = agent.build().unwrap().run("Go!").await.unwrap();
        let found = &answers(result.history(), 0)[0];
        assert_eq!((&found["ended"], &found["answer"]), (&json!(ended), &json!(answer)));
        let words = found["reason"].as_str().unwrap_or_default();
        assert!(words.contains(reason) && words.is_empty() == reason.is_empty(), "{found}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_agent_ends_with_the_run_that_is_cancelled() {
    let (log, token) = (Log::default(), CancellationToken::new());
    let waits = ScriptedModel::new().calls([("wait", "{}")]);
    let sub_agent = SubAgent::new("clerk", "Waits.").profile(["wait"]).model(waits);
    let model = ScriptedModel::new().calls([("spawn_agent", task("clerk").as_str())]);
    let agent = builder(&log, model).unrestricted().sub_agent(sub_agent).build().unwrap();
    let run = agent.run("Wait.").cancelled_by(token.clone());
    let cancel = async {
        while log.lines().is_empty() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        token.cancel();
    };
    let (result, ()) = tokio::join!(run.into_future(), cancel);
    let error = result.unwrap_err();
    assert_eq!(error.result().unwrap().end(), &RunEnd::Cancelled);
}

#[tokio::test]
async fn the_events_of_agents_are_in_the_stream_of_the_run_with_their_names() {
    let log = Log::default();
    let clerk = ScriptedModel::new().calls([("look_up", r#"{"word":"tea"}"#)]).says("A drink.");
    let clerk = SubAgent::new("clerk", "Looks words up.").profile(["look_up"]).model(clerk);
    let agent = builder(&log, starts("clerk")).sub_agent(clerk).build().unwrap();
    let mut stream = agent.run("Go!").stream();
    let mut lines = Vec::new();
    while let Some(event) = stream.next().await {
        match event.unwrap() {
            RunEvent::OfAgent { agents, of_agent } => {
                lines.push(format!("{}: {of_agent:?}", agents.join("/")));
            }
            event => lines.push(format!("{event:?}")),
        }
    }
    let at = |line: &str| lines.iter().position(|it| it.starts_with(line));
    let order = [
        "Executing(\"spawn_agent\")",
        "clerk: Asking",
        "clerk: ToolCall(\"look_up\"",
        "clerk: Executing(\"look_up\")",
        "clerk: Text(",
        "clerk: RunEnd(ended with a text)",
        "ToolResult(\"spawn_agent\"",
        "RunEnd(ended with a text)",
    ];
    let places: Vec<_> = order.iter().map(|line| at(line)).collect();
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{places:?} {lines:#?}");
    assert_eq!(at("Executing(\"look_up\")"), None, "it is a call of the agent");
}

#[tokio::test]
async fn a_tool_of_the_agents_own_name_takes_its_tasks() {
    let log = Log::default();
    let model = ScriptedModel::new().calls([("clerk", r#"{"task":"Look up tea."}"#)]).says("Ok.");
    let clerk = SubAgent::new("clerk", "Looks words up.").model(ScriptedModel::new().says("Tea."));
    let agent = builder(&log, model).sub_agent(clerk.as_tool()).build().unwrap();
    let result = agent.run("Go!").await.unwrap();
    assert_eq!(answers(result.history(), 0)[0]["answer"], "Tea.");
}

#[test]
fn what_is_wrong_with_an_agent_is_an_error_when_it_is_built() {
    let clerk = || SubAgent::new("clerk", "Looks words up.");
    let error = |agents: Vec<SubAgent>| {
        let builder = builder(&Log::default(), ScriptedModel::new());
        let builder = agents.into_iter().fold(builder, AgentBuilder::sub_agent);
        builder.build().map(|_| ()).unwrap_err().to_string()
    };
    for (agents, words) in [
        (vec![clerk(), clerk()], "`clerk` cannot work: there are two of its name"),
        (vec![SubAgent::new("my clerk", "")], "its name is no word"),
        (vec![clerk().profile(["lookup"])], "did you mean `look_up`?"),
        (vec![clerk().profile(["a b"])], "is no pattern"),
        (vec![clerk().at_once(6)], "found 6 of it at once, expected 1 to 5"),
        (vec![clerk().at_once(2)], "`delete` may change something"),
        (vec![clerk().model("antropic:x")], "did you mean `anthropic`?"),
    ] {
        let found = error(agents);
        assert!(found.contains(words), "{found}");
    }
}

#[test]
fn an_agent_that_cannot_be_built_leaves_no_tool_on_the_executor_that_it_shares() {
    let executor = crate::support::builder(&Log::default()).unrestricted().build().unwrap();
    let build = |agent: SubAgent| {
        Agent::on(executor.clone(), ScriptedModel::new()).sub_agent(agent).build().map(|_| ())
    };
    build(SubAgent::new("clerk", "Looks words up.").at_once(6)).unwrap_err();
    assert!(executor.registry().get("spawn_agent").is_none());
    build(SubAgent::new("clerk", "Looks words up.")).unwrap();
}
