//! The limits of a run, by name and number.

use std::time::Duration;

use toolwright_agent::{Ended, Limit, ModelAnswer, ScriptedModel, StopReason};

use super::support::{Log, agent, call, kinds, outline, run};

const SUM: (&str, &str) = ("add", r#"{"a":1,"b":2}"#);

fn sums(turns: usize) -> ScriptedModel {
    (0..turns).fold(ScriptedModel::new(), |model, _| model.calls([SUM]))
}

#[tokio::test]
async fn a_run_takes_25_turns_unless_it_is_set() {
    let mut run = run(agent(&Log::default(), sums(25)));
    let ended = run.say("Add for ever.").await.unwrap();
    assert_eq!(ended, Ended::Limit(Limit::Turns { turns: 25 }));
    assert_eq!(kinds(run.history()).len(), 25, "the calls of the last turn have their answers");
}

#[tokio::test]
async fn turns_count_from_what_the_user_said_last() {
    let mut run = run(agent(&Log::default(), sums(4)).max_turns(2));
    assert_eq!(run.say("Add.").await.unwrap(), Ended::Limit(Limit::Turns { turns: 2 }));
    assert_eq!(run.say("Go on.").await.unwrap(), Ended::Limit(Limit::Turns { turns: 2 }));
    assert_eq!(run.state().turn(), 4);
}

#[tokio::test]
async fn a_terminal_tool_in_the_last_turn_ends_the_run_and_not_the_limit() {
    let model = ScriptedModel::new().calls([("complete_task", r#"{"summary":"it"}"#)]);
    let ended = run(agent(&Log::default(), model).max_turns(1)).say("Go.").await.unwrap();
    assert!(matches!(ended, Ended::Terminal { .. }));
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
    let ended = run.say("Go.").await.unwrap();
    let times = Limit::RepeatedFailure { tool: "fail".into(), times: 3 };
    assert_eq!(ended, Ended::Limit(times), "a call in between begins the count anew");
    assert_eq!(kinds(run.history()).len(), 5);
}

#[tokio::test]
async fn a_failing_call_with_other_arguments_is_another_call() {
    let model = ["a", "b", "c", "d"].iter().fold(ScriptedModel::new(), |model, how| {
        model.calls([("fail", format!(r#"{{"how":"{how}"}}"#).as_str())])
    });
    let ended = run(agent(&Log::default(), model.says("Enough."))).say("Go.").await.unwrap();
    assert!(matches!(ended, Ended::Text { .. }));
}

#[tokio::test]
async fn a_call_that_was_cut_short_is_answered_so_and_not_run() {
    let log = Log::default();
    let calls = vec![call("c1", "look_up", r#"{"word":"a"}"#), call("c2", "add", r#"{"a":1"#)];
    let cut = ModelAnswer::new("Both.", calls).stopped(StopReason::CutInCall);
    let model = ScriptedModel::new().answers(cut).calls([SUM]).says("3");
    let mut run = run(agent(&log, model));
    run.say("Go.").await.unwrap();
    assert_eq!(kinds(run.history()), [vec!["ok", "call_cut_short"], vec!["ok"]]);
    assert_eq!(log.lines(), ["look_up a", "add 1 2"], "the whole call before it ran");
}

/// What a provider makes of a call that was cut short can look whole.
#[tokio::test]
async fn a_lone_call_that_was_cut_short_is_answered_without_a_turn() {
    let log = Log::default();
    let cut = ModelAnswer::new("", vec![call("c1", SUM.0, SUM.1)]).stopped(StopReason::CutInCall);
    let mut run = run(agent(&log, ScriptedModel::new().answers(cut).says("I give up.")));
    run.say("Go.").await.unwrap();
    assert_eq!(kinds(run.history()), [["call_cut_short"]]);
    assert!(log.lines().is_empty());
}

#[tokio::test]
async fn an_answer_whose_cut_call_is_not_in_it_is_answered_in_words() {
    let cut = || ModelAnswer::text("I write it all.").stopped(StopReason::CutInCall);
    let model = ScriptedModel::new().answers(cut()).says("Shorter.");
    let mut run = run(agent(&Log::default(), model));
    assert!(matches!(run.say("Go.").await.unwrap(), Ended::Text { .. }));
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
    let ended = run(agent(&Log::default(), model)).say("Go.").await.unwrap();
    assert_eq!(ended, Ended::Limit(Limit::CutShort { times: 3 }));
}

#[tokio::test(start_paused = true)]
async fn time_that_is_up_drops_the_request() {
    let model = ScriptedModel::new().calls([SUM]).hangs();
    let mut run = run(agent(&Log::default(), model).time(Duration::from_secs(9)));
    let ended = run.say("Go.").await.unwrap();
    assert_eq!(ended, Ended::Limit(Limit::Time { milliseconds: 9000 }));
    assert_eq!(kinds(run.history()), [["ok"]]);
}

#[tokio::test(start_paused = true)]
async fn time_that_is_up_cancels_the_calls_that_run() {
    let model = ScriptedModel::new().calls([SUM, ("wait", "{}"), SUM]).calls([SUM]).says("3");
    let mut run = run(agent(&Log::default(), model).time(Duration::from_secs(9)));
    let ended = run.say("Go.").await.unwrap();
    assert_eq!(ended, Ended::Limit(Limit::Time { milliseconds: 9000 }));
    // The calls that do not conflict with it have run beside it.
    assert_eq!(kinds(run.history()), [["ok", "cancelled", "ok"]]);
    // Its time counts anew with what the user says next.
    assert!(matches!(run.say("Go on.").await.unwrap(), Ended::Text { .. }));
    assert_eq!(kinds(run.history())[1], ["ok"]);
}

#[tokio::test(start_paused = true)]
async fn the_model_is_told_how_much_it_may_take() {
    let model = std::sync::Arc::new(ScriptedModel::new().says("Yes."));
    let log = Log::default();
    let executor = super::support::builder(&log).unrestricted().build().unwrap();
    let agent = toolwright_agent::Agent::builder(executor, model.clone())
        .max_tokens(1000)
        .time(Duration::from_secs(9))
        .build()
        .unwrap();
    agent.run("r").start().unwrap().say("Go.").await.unwrap();
    let limits = model.requests()[0].limits;
    assert_eq!((limits.max_tokens, limits.time), (Some(1000), Some(Duration::from_secs(9))));
}
