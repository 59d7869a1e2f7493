//! The limits of a run, by name and number.

use std::sync::Arc;
use std::time::Duration;

use toolwright::policy::{Policy, Rule};
use toolwright_agent::{
    Accounts, Agent, Cost, Limit, Message, ModelAnswer, ModelError, RunEnd, ScriptedModel,
    StopReason, TotalUsage, Usage,
};

use super::support::{Log, agent, builder, call, kinds, outline, run};

const SUM: (&str, &str) = ("add", r#"{"a":1,"b":2}"#);

fn sums(turns: usize) -> ScriptedModel {
    (0..turns).fold(ScriptedModel::new(), |model, _| model.calls([SUM]))
}

#[tokio::test]
async fn a_run_takes_25_turns_unless_it_is_set() {
    let mut run = run(agent(&Log::default(), sums(25)));
    let ended = run.send("Add for ever.").await.unwrap();
    assert_eq!(ended, RunEnd::Limit(Limit::Turns { turns: 25 }));
    assert_eq!(kinds(run.history()).len(), 25, "the calls of the last turn have their answers");
}

#[tokio::test]
async fn turns_count_from_what_the_user_said_last() {
    let mut run = run(agent(&Log::default(), sums(4)).max_turns(2));
    assert_eq!(run.send("Add.").await.unwrap(), RunEnd::Limit(Limit::Turns { turns: 2 }));
    assert_eq!(run.send("Go on.").await.unwrap(), RunEnd::Limit(Limit::Turns { turns: 2 }));
    assert_eq!(run.state().turn(), 4);
}

#[tokio::test]
async fn a_terminal_tool_in_the_last_turn_ends_the_run_and_not_the_limit() {
    let model = ScriptedModel::new().calls([("complete_task", r#"{"summary":"it"}"#)]);
    let ended = run(agent(&Log::default(), model).max_turns(1)).send("Go.").await.unwrap();
    assert!(matches!(ended, RunEnd::Terminal { .. }));
}

#[tokio::test]
async fn the_same_failing_call_ends_the_run_the_third_time() {
    let failing = ("fail", r#"{"how":"badly"}"#);
    let model = ScriptedModel::new()
        .calls([failing])
        .calls([SUM])
        .calls([failing])
        .calls([failing])
        .calls([failing]);
    let mut run = run(agent(&Log::default(), model));
    let ended = run.send("Go.").await.unwrap();
    let times = Limit::RepeatedFailure { tool: "fail".into(), times: 3 };
    assert_eq!(ended, RunEnd::Limit(times), "a call in between begins the count anew");
    assert_eq!(kinds(run.history()).len(), 5);
}

#[tokio::test]
async fn a_failing_call_with_other_arguments_is_another_call() {
    let model = ["a", "b", "c", "d"].iter().fold(ScriptedModel::new(), |model, how| {
        model.calls([("fail", format!(r#"{{"how":"{how}"}}"#).as_str())])
    });
    let ended = run(agent(&Log::default(), model.says("Enough."))).send("Go.").await.unwrap();
    assert!(matches!(ended, RunEnd::Text { .. }));
}

#[tokio::test]
async fn a_call_that_was_cut_short_is_answered_so_and_not_run() {
    let log = Log::default();
    let calls = vec![call("c1", "look_up", r#"{"word":"a"}"#), call("c2", "add", r#"{"a":1"#)];
    let cut = ModelAnswer::new("Both.", calls).stopped(StopReason::CutInCall);
    let model = ScriptedModel::new().answers(cut).calls([SUM]).says("3");
    let mut run = run(agent(&log, model));
    run.send("Go.").await.unwrap();
    assert_eq!(kinds(run.history()), [vec!["ok", "call_cut_short"], vec!["ok"]]);
    assert_eq!(log.lines(), ["look_up a", "add 1 2"], "the whole call before it ran");
}

/// What a provider makes of a call that was cut short can look whole.
#[tokio::test]
async fn a_lone_call_that_was_cut_short_is_answered_without_a_turn() {
    let log = Log::default();
    let cut = ModelAnswer::new("", vec![call("c1", SUM.0, SUM.1)]).stopped(StopReason::CutInCall);
    let mut run = run(agent(&log, ScriptedModel::new().answers(cut).says("I give up.")));
    run.send("Go.").await.unwrap();
    assert_eq!(kinds(run.history()), [["call_cut_short"]]);
    assert!(log.lines().is_empty());
}

#[tokio::test]
async fn an_answer_whose_cut_call_is_not_in_it_is_answered_in_words() {
    let cut = || ModelAnswer::text("I write it all.").stopped(StopReason::CutInCall);
    let model = ScriptedModel::new().answers(cut()).says("Shorter.");
    let mut run = run(agent(&Log::default(), model));
    assert!(matches!(run.send("Go.").await.unwrap(), RunEnd::Text { .. }));
    let outline = outline(run.history());
    assert_eq!(outline[1], "model: I write it all. +0");
    assert!(outline[2].contains("cut short in the middle of a call"), "{}", outline[2]);
}

#[tokio::test]
async fn three_answers_in_a_row_that_were_cut_short_end_the_run() {
    let cut = || ModelAnswer::text("").stopped(StopReason::CutInCall);
    let model = ScriptedModel::new()
        .answers(cut())
        .calls([SUM])
        .answers(cut())
        .answers(cut())
        .answers(cut());
    let ended = run(agent(&Log::default(), model)).send("Go.").await.unwrap();
    assert_eq!(ended, RunEnd::Limit(Limit::CutShort { times: 3 }));
}

#[tokio::test(start_paused = true)]
async fn time_that_is_up_drops_the_request() {
    let model = ScriptedModel::new().calls([SUM]).hangs();
    let mut run = run(agent(&Log::default(), model).max_duration(Duration::from_secs(9)));
    let ended = run.send("Go.").await.unwrap();
    assert_eq!(ended, RunEnd::Limit(Limit::Time { milliseconds: 9000 }));
    assert_eq!(kinds(run.history()), [["ok"]]);
}

#[tokio::test(start_paused = true)]
async fn time_that_is_up_cancels_the_calls_that_run() {
    let model = ScriptedModel::new().calls([SUM, ("wait", "{}"), SUM]).calls([SUM]).says("3");
    let mut run = run(agent(&Log::default(), model).max_duration(Duration::from_secs(9)));
    let ended = run.send("Go.").await.unwrap();
    assert_eq!(ended, RunEnd::Limit(Limit::Time { milliseconds: 9000 }));
    // The calls that do not conflict with it have run beside it.
    assert_eq!(kinds(run.history()), [["ok", "cancelled", "ok"]]);
    // Its time counts anew with what the user says next.
    assert!(matches!(run.send("Go on.").await.unwrap(), RunEnd::Text { .. }));
    assert_eq!(kinds(run.history())[1], ["ok"]);
}

#[tokio::test(start_paused = true)]
async fn the_model_is_told_how_much_it_may_take() {
    let model = std::sync::Arc::new(ScriptedModel::new().says("Yes."));
    let log = Log::default();
    let executor = super::support::builder(&log).unrestricted().build().unwrap();
    let agent = toolwright_agent::Agent::on(executor, model.clone())
        .max_tokens(1000)
        .max_duration(Duration::from_secs(9))
        .build()
        .unwrap();
    agent.new_run("r").start().unwrap().send("Go.").await.unwrap();
    let limits = model.requests()[0].limits;
    assert_eq!((limits.max_tokens, limits.time), (Some(1000), Some(Duration::from_secs(9))));
}

/// An answer that calls, with what it took.
fn taking(tokens: u64, cost: Cost) -> ModelAnswer {
    ModelAnswer::new("", vec![call("c1", SUM.0, SUM.1)]).usage(Usage::new(tokens, 10)).cost(cost)
}

#[tokio::test]
async fn the_answer_that_reaches_the_limit_of_tokens_is_the_last_and_its_calls_are_answered() {
    let model = || {
        let taking = |tokens| taking(tokens, Cost::cents(1));
        ScriptedModel::new().answers(taking(90)).answers(taking(140))
    };
    let mut limited = run(agent(&Log::default(), model()).max_total_tokens(250));
    let ended = limited.send("Add for ever.").await.unwrap();
    assert_eq!(ended, RunEnd::Limit(Limit::Tokens { tokens: 250 }));
    assert_eq!(ended.to_string(), "ended after 250 tokens, more than it may take");
    assert_eq!(kinds(limited.history()).len(), 2, "the calls of the last turn have their answers");
    let mut run = run(agent(&Log::default(), model().says("Done.")).max_total_tokens(251));
    let ended = run.send("Add.").await.unwrap();
    assert!(matches!(ended, RunEnd::Text { .. }), "{ended}");
}

#[tokio::test]
async fn a_run_that_costs_what_it_may_ends_and_counts_anew_when_the_user_speaks() {
    let answer = || taking(10, Cost::cents(2));
    let model = (0..4).fold(ScriptedModel::new(), |model, _| model.answers(answer()));
    let mut run = run(agent(&Log::default(), model).max_cost(Cost::cents(4)));
    let reached = RunEnd::Limit(Limit::Cost { cost: Cost::cents(4) });
    assert_eq!(run.send("Add.").await.unwrap(), reached);
    assert_eq!(reached.to_string(), "ended after $0.0400, more than it may cost");
    assert_eq!(run.send("Go on.").await.unwrap(), reached);
    assert_eq!(run.state().spent().cost, Cost::cents(8), "over the whole run");
    let stored = serde_json::to_string(run.state()).unwrap();
    let state: toolwright_agent::State = serde_json::from_str(&stored).unwrap();
    assert_eq!(state, *run.state());
}

/// A limit that cannot be held is reported, before the model is asked again.
#[tokio::test]
async fn a_limit_of_what_is_not_known_ends_the_run_with_an_error() {
    let unmeasured = || ModelAnswer::new("", vec![call("c1", SUM.0, SUM.1)]);
    let model = ScriptedModel::new().answers(unmeasured());
    let ended = run(agent(&Log::default(), model).max_total_tokens(9)).send("Add.").await.unwrap();
    let RunEnd::ModelFailed { kind, message, .. } = ended else { panic!("{ended:?}") };
    assert_eq!(kind, "spending_unknown");
    assert!(message.starts_with("of 1 answers of the model the number of tokens is not known"));
    let model = ScriptedModel::new().answers(unmeasured().usage(Usage::new(1, 1)));
    let cost = Cost::cents(9);
    let ended = run(agent(&Log::default(), model).max_cost(cost)).send("Add.").await.unwrap();
    assert!(ended.to_string().contains("answers of the model the cost is not known"), "{ended}");
}

#[tokio::test]
async fn the_model_reads_what_is_left_where_the_application_wants_that() {
    let answer = || taking(90, Cost::cents(1));
    let model = || ScriptedModel::new().answers(answer()).says("Done.");
    let agent = |log: &Log| agent(log, model()).max_turns(5).max_total_tokens(1000);
    let mut reporting = run(agent(&Log::default()).max_cost(Cost::cents(5)).report_budget());
    reporting.send("Add.").await.unwrap();
    let history = outline(reporting.history());
    assert_eq!(history[3], "user: [Left for this task: 4 turns, 900 tokens, $0.0400.]");
    toolwright_agent::check(reporting.history()).unwrap();
    let mut silent = run(agent(&Log::default()));
    silent.send("Add.").await.unwrap();
    assert_eq!(silent.history().len(), history.len() - 1);
    assert!(matches!(silent.history()[3], Message::Assistant { .. }));
}

#[tokio::test]
async fn failed_requests_are_on_the_account_of_the_user() {
    let spent = TotalUsage::of(Some(Usage::new(70, 1)), None);
    let failing = ModelError::new("answer_cut", "cut").taking(spent);
    let model = ScriptedModel::new()
        .answers(ModelAnswer::text("Hello.").usage(Usage::new(10, 2)).failed(spent))
        .fails(failing);
    let accounts = Accounts::new();
    let agent = agent(&Log::default(), model).accounts(accounts.clone()).build().unwrap();
    let mut run = agent.new_run("r").user("ada").start().unwrap();
    run.send("Hi.").await.unwrap();
    run.send("And again?").await.unwrap();
    let spent = run.state().spent();
    assert_eq!((spent.usage, spent.unpriced), (Usage::new(150, 4), 3));
    assert_eq!(accounts.of(Some("ada")), spent);
    assert_eq!((accounts.of(None), accounts.total()), (TotalUsage::default(), spent));
}

#[tokio::test]
async fn a_tool_that_was_refused_five_times_in_a_row_is_left_out_and_the_model_reads_why() {
    let log = Log::default();
    let paths: Vec<String> = (0..5).map(|it| format!(r#"{{"path":"{it}"}}"#)).collect();
    let model = paths
        .iter()
        .fold(ScriptedModel::new(), |model, path| model.calls([("delete", path.as_str())]));
    let model = Arc::new(model.calls([("delete", r#"{"path":"6"}"#)]).says("Done."));
    let rule = Rule::deny("nothing is deleted").named("none").tool("delete");
    let policy = Policy::builder().rule(rule);
    let executor = builder(&log).policy(policy).build().unwrap();
    let agent = Agent::on(executor, Arc::clone(&model)).build().unwrap();
    let mut run = agent.new_run("r").start().unwrap();
    run.send("Delete them.").await.unwrap();
    let requests = model.requests();
    assert!(requests[4].tools.contains(r#""name":"delete""#));
    assert!(!requests[5].tools.contains(r#""name":"delete""#));
    let Some(Message::User { text, .. }) = requests[5].history.last() else { panic!("the words") };
    assert!(text.contains("The last 5 calls of `delete` were refused"), "{text}");
    let kinds = kinds(run.history()).concat();
    assert_eq!(kinds[4..], ["denied", "unknown_tool"]);
    assert_eq!(log.lines(), [""; 0]);
}
