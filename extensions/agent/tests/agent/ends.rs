//! How a run ends.

use std::time::Duration;

use toolwright_agent::{
    ContextSize, Limit, ModelAnswer, ModelError, RunEnd, ScriptedModel, StopReason, Stopped,
};

use super::support::{Log, agent, call, kinds, outline, run};

const COMPLETE: (&str, &str) = ("complete_task", r#"{"summary":"all sums"}"#);
const SUM: (&str, &str) = ("add", r#"{"a":1,"b":2}"#);

fn is_complete(ended: &RunEnd) -> bool {
    matches!(ended, RunEnd::Terminal { tool, text, .. } if tool == "complete_task" && text == "Task completed: all sums")
}

/// S0.9: the loop ends with the turn in which a terminal tool succeeds, though it may take more turns and the model would
/// go on; it ends after the other calls of the turn have their answers.
#[tokio::test]
async fn the_loop_ends_with_the_turn_in_which_a_terminal_tool_succeeds() {
    for turns_before in 0..3 {
        for place in 0..3 {
            let log = Log::default();
            let mut model = ScriptedModel::new();
            for _ in 0..turns_before {
                model = model.calls([SUM]);
            }
            let mut last = vec![SUM, SUM];
            last.insert(place, COMPLETE);
            // No step is left in the script and 25 turns are: asked once more, the model would panic.
            let mut run = run(agent(&log, model.calls(last)));
            let ended = run.send("Do the sums.").await.unwrap();
            assert!(is_complete(&ended), "{ended}");
            assert_eq!(run.state().turn(), turns_before + 1);
            assert_eq!(kinds(run.history()).last().unwrap(), &["ok", "ok", "ok"]);
            assert_eq!(
                log.lines().iter().filter(|it| *it == "add 1 2").count(),
                turns_before as usize + 2
            );
        }
    }
}

#[tokio::test]
async fn the_first_terminal_call_that_succeeded_counts() {
    let model = ScriptedModel::new().calls([
        ("complete_task", r#"{"summary":""}"#),
        COMPLETE,
        ("complete_task", r#"{"summary":"too late"}"#),
    ]);
    let mut run = run(agent(&Log::default(), model));
    let ended = run.send("Do the sums.").await.unwrap();
    assert!(is_complete(&ended));
    assert_eq!(kinds(run.history()), [["invalid_input", "ok", "ok"]]);
}

#[tokio::test]
async fn a_terminal_call_that_fails_or_has_wrong_input_does_not_end_the_run() {
    let model = ScriptedModel::new()
        .calls([("complete_task", "{}")])
        .calls([("complete_task", r#"{"summary":""}"#)])
        .calls([COMPLETE]);
    let mut run = run(agent(&Log::default(), model));
    assert!(is_complete(&run.send("Do the sums.").await.unwrap()));
    assert_eq!(kinds(run.history()), [["invalid_input"], ["invalid_input"], ["ok"]]);
}

#[tokio::test]
async fn a_text_that_a_limit_on_tokens_cut_says_so() {
    let cut = ModelAnswer::text("And then").stopped(StopReason::CutShort);
    let ended = run(agent(&Log::default(), ScriptedModel::new().answers(cut))).send("Tell.").await;
    let ended = serde_json::to_value(ended.unwrap()).unwrap();
    assert_eq!(ended, serde_json::json!({"ended": "text", "text": "And then", "cut_short": true}));
}

#[tokio::test]
async fn a_failed_model_ends_the_run_and_what_was_done_stays() {
    let error = ModelError::new("quota_spent", "anthropic answered 429; add to the quota")
        .after(Duration::from_secs(2));
    let model = ScriptedModel::new().calls([SUM]).fails(error).calls([SUM]).says("3");
    let mut run = run(agent(&Log::default(), model));
    let ended = run.send("1 + 2?").await.unwrap();
    let expected = serde_json::json!({
        "ended": "model_failed", "kind": "quota_spent", "retry_after_ms": 2000,
        "message": "anthropic answered 429; add to the quota",
    });
    assert_eq!(serde_json::to_value(&ended).unwrap(), expected);
    // The user may say more, and the conversation goes on.
    run.send("Again, please.").await.unwrap();
    assert_eq!(kinds(run.history()), [["ok"], ["ok"]]);
    assert_eq!(
        outline(run.history())[2..4],
        ["answers: 1".to_owned(), "user: Again, please.".to_owned()]
    );
}

#[tokio::test]
async fn a_history_that_is_too_long_ends_the_run_with_its_size() {
    let size = ContextSize::new(Some(208_310), Some(200_000));
    let error = ModelError::new("context_too_long", "the prompt is too long").too_long(size);
    let mut run = run(agent(&Log::default(), ScriptedModel::new().fails(error)));
    let ended = run.send("Go on.").await.unwrap();
    let expected = serde_json::json!({
        "ended": "model_failed", "kind": "context_too_long", "message": "the prompt is too long",
        "context_size": {"found": 208_310, "allowed": 200_000},
    });
    assert_eq!(serde_json::to_value(&ended).unwrap(), expected);
    assert_eq!(serde_json::from_value::<RunEnd>(expected).unwrap(), ended);
}

#[tokio::test]
async fn a_refusal_ends_the_run_and_none_of_its_calls_runs() {
    let log = Log::default();
    let calls = vec![call("c1", "add", SUM.1)];
    let refused = ModelAnswer::new("I cannot help with that.", calls).stopped(StopReason::Refused);
    let mut run = run(agent(&log, ScriptedModel::new().answers(refused)));
    let ended = run.send("Break in.").await.unwrap();
    assert!(matches!(&ended, RunEnd::ModelFailed { kind, message, .. }
        if kind == "refused" && message.ends_with("I cannot help with that.")));
    assert!(log.lines().is_empty());
    assert_eq!(outline(run.history()), ["user: Break in."]);
}

#[tokio::test]
async fn an_empty_answer_is_asked_for_once_more() {
    let empty = || ModelAnswer::text(" \n");
    let model = ScriptedModel::new().answers(empty()).says("Here.");
    let mut run = run(agent(&Log::default(), model));
    assert!(matches!(run.send("Well?").await.unwrap(), RunEnd::Text { .. }));
    assert_eq!(outline(run.history()), ["user: Well?", "model: Here. +0"], "no empty message");
}

#[tokio::test]
async fn a_series_of_empty_answers_ends_the_run() {
    let model = ScriptedModel::new().says("").says("");
    let mut run = run(agent(&Log::default(), model));
    let ended = run.send("Well?").await.unwrap();
    assert_eq!(ended, RunEnd::Limit(Limit::EmptyAnswers { times: 2 }));
}

#[tokio::test]
async fn nothing_said_asks_nothing() {
    let mut run = run(agent(&Log::default(), ScriptedModel::new()));
    assert_eq!(run.send(" \n").await, Err(Stopped::NothingSaid));
    assert_eq!(run.resume().await, Err(Stopped::NothingSaid));
    assert!(run.history().is_empty());
}

#[test]
fn a_script_that_is_not_used_up_fails_the_test() {
    let left = std::panic::catch_unwind(|| drop(ScriptedModel::new().says("a").says("b")));
    let words = left.unwrap_err();
    assert_eq!(
        words.downcast_ref::<String>().unwrap(),
        "2 steps of the model's script are left unused"
    );
}

#[tokio::test]
async fn a_script_that_is_asked_for_more_fails_the_test() {
    let task = tokio::spawn(async {
        let mut run = run(agent(&Log::default(), ScriptedModel::new().calls([SUM])));
        run.send("Go.").await.map(drop)
    });
    let panic = task.await.unwrap_err().into_panic();
    let words = panic.downcast_ref::<String>().unwrap();
    assert!(words.contains("no step left") && words.contains("2. time"), "{words}");
}
