//! The events of a run as its readers get them.

use futures::FutureExt as _;
use toolwright::journal::{Journal, MemoryStore};
use toolwright::{Executor, OnNoApprover, Registry, ToolContext, tool};
use toolwright_agent::durable::{NewRun, Runner};
use toolwright_agent::{Agent, ModelError, NumberedEvent, RunEvent, RunEvents, ScriptedModel};

use crate::support::{Log, agent, builder, run};

/// Logs in.
#[tool(effect = read)]
async fn log_in(
    /// The password.
    #[arg(secret)]
    password: String,
) -> usize {
    password.len()
}

/// Says how far it is.
#[tool(effect = read)]
async fn climb(context: &ToolContext) -> &'static str {
    context.progress("half", Some(0.5));
    "up"
}

fn in_words(event: &NumberedEvent) -> String {
    match &event.kind {
        RunEvent::Text(text) => format!("text {text}"),
        RunEvent::Arguments { index, text } => format!("arguments {index} {text}"),
        RunEvent::CallBegan { index, tool } => format!("began {index} {tool}"),
        RunEvent::Calling { calls } => format!("calling {}", calls.len()),
        RunEvent::ToolCall(call) => format!("call {} {}", call.name, call.arguments),
        RunEvent::ToolResult(result) => format!("result {} {:?}", result.name, result.error),
        RunEvent::Progress { message, .. } => format!("progress {message}"),
        other => format!("{other:?}"),
    }
}

/// What is left of a run that is gone: each event once, numbered without a gap.
async fn rest(mut events: RunEvents) -> Vec<String> {
    let (mut words, mut last) = (Vec::new(), None);
    while let Some(event) = events.next().await {
        assert!(last.is_none_or(|last| event.number == last + 1), "{event:?} after {last:?}");
        last = Some(event.number);
        words.push(format!("{}: {}", event.turn, in_words(&event)));
    }
    words
}

#[tokio::test]
async fn a_reader_gets_pieces_calls_and_the_end_in_order() {
    let model = ScriptedModel::new()
        .streaming()
        .says_and_calls("I add.", [("add", r#"{"a":1}"#)])
        .says("Done.");
    let mut run = run(agent(&Log::default(), model));
    let events = run.events();
    run.send("go").await.unwrap();
    drop(run);
    assert_eq!(
        rest(events).await,
        [
            "1: Asking",
            "1: text I ad",
            "1: text d.",
            "1: began 0 add",
            r#"1: arguments 0 {"a""#,
            "1: arguments 0 :1}",
            "1: Answered(1 calls)",
            r#"1: call add {"a":1}"#,
            "1: calling 1",
            r#"1: Done("add", Some("invalid_input"), None)"#,
            r#"1: result add Some("invalid_input")"#,
            "2: Asking",
            "2: text Done",
            "2: text .",
            "2: Answered(0 calls)",
            "2: RunEnd(ended with a text)",
        ]
    );
}

#[tokio::test]
async fn a_model_that_does_not_stream_gives_its_text_in_one_event() {
    let mut run = run(agent(&Log::default(), ScriptedModel::new().says("Done.")));
    let events = run.events();
    run.send("go").await.unwrap();
    drop(run);
    let expected =
        ["1: Asking", "1: text Done.", "1: Answered(0 calls)", "1: RunEnd(ended with a text)"];
    assert_eq!(rest(events).await, expected);
}

#[tokio::test]
async fn no_event_has_the_arguments_of_a_tool_with_a_secret_or_of_no_tool() {
    let model = ScriptedModel::new()
        .streaming()
        .calls([("log_in", r#"{"password":"hunter2"}"#), ("log_out", r#"{"password":"hunter2"}"#)])
        .says("Done.");
    let executor =
        Executor::builder(Registry::of([LOG_IN]).unwrap()).unrestricted().build().unwrap();
    let mut run = Agent::on(executor, model).build().unwrap().new_run("r").start().unwrap();
    let mut events = run.events();
    run.send("go").await.unwrap();
    drop(run);
    let mut began = 0;
    while let Some(event) = events.next().await {
        began += usize::from(matches!(event.kind, RunEvent::CallBegan { .. }));
        let is_shown = matches!(event.kind, RunEvent::Arguments { .. });
        let text = serde_json::to_string(&event).unwrap();
        assert!(!is_shown && !text.contains("hunt") && !format!("{event:?}").contains("hunt"));
    }
    assert_eq!(began, 2);
}

#[tokio::test]
async fn a_tool_says_how_far_it_is() {
    let model = ScriptedModel::new().calls([("climb", "{}")]).says("Done.");
    let executor =
        Executor::builder(Registry::of([CLIMB]).unwrap()).unrestricted().build().unwrap();
    let mut run = Agent::on(executor, model).build().unwrap().new_run("r").start().unwrap();
    let events = run.events();
    run.send("go").await.unwrap();
    drop(run);
    let words = rest(events).await;
    let place = |wanted: &str| words.iter().position(|it| it == wanted);
    assert!(place("1: progress half") > place("1: calling 1"), "{words:?}");
    assert!(place("1: progress half") < place("1: result climb None"), "{words:?}");
}

#[tokio::test]
async fn a_reader_that_never_reads_delays_nothing_and_hears_that_it_missed_events() {
    let said = "word ".repeat(4000);
    let model = ScriptedModel::new().streaming().says(&said);
    let mut run = run(agent(&Log::default(), model));
    let mut slow = run.events();
    run.send("go").await.unwrap();
    let missed = slow.next().await.unwrap();
    let RunEvent::Missed { first: 1, last } = missed.kind else { panic!("{missed:?}") };
    assert!(last > 3000, "{last}");
    assert_eq!((missed.number, slow.next().await.unwrap().number), (last, last + 1));
}

#[tokio::test]
async fn a_reader_that_returns_continues_after_its_number() {
    let model = ScriptedModel::new().says("One.").says("Two.");
    let mut run = run(agent(&Log::default(), model));
    let mut first = run.events();
    run.send("go").await.unwrap();
    let seen = [first.next().await.unwrap(), first.next().await.unwrap()];
    let handle = first.clone();
    drop(first);
    run.send("on").await.unwrap();
    let mut again = handle.after(seen[1].number);
    assert_eq!(again.next().await.unwrap().number, 3);
    assert_eq!(handle.after(0).next().await.as_ref(), Some(&seen[0]));
    drop(run);
    assert_eq!(rest(again).await.last().unwrap(), "2: RunEnd(ended with a text)");
}

#[tokio::test]
async fn a_reader_may_come_before_the_run_and_goes_on_with_the_next_driver() {
    let model = ScriptedModel::new().says("One.").fails(ModelError::new("down", "it is down"));
    let agent = agent(&Log::default(), model).build().unwrap();
    let mut events = agent.events("r");
    assert!(events.next().now_or_never().is_none(), "no driver was there");
    for expected in ["ended with a text", "ended because the model failed: it is down"] {
        let mut run = agent.new_run("r").start().unwrap();
        run.send("go").await.unwrap();
        drop(run);
        let mut last = None;
        while let Some(event) = events.next().await {
            last = Some(event.kind);
        }
        let Some(RunEvent::Ended(ended)) = last else { panic!("{last:?}") };
        assert!(ended.to_string().contains(expected), "{ended}");
    }
}

#[tokio::test]
async fn a_run_whose_events_are_not_read_does_not_ask_its_model_to_stream() {
    let model = ScriptedModel::new().streaming().says("Done.");
    let mut run = run(agent(&Log::default(), model));
    run.send("go").await.unwrap();
    let events = run.events().after(0);
    drop(run);
    assert!(rest(events).await.contains(&"1: text Done.".to_owned()));
}

#[tokio::test]
async fn a_recorded_run_gives_its_events_too_and_says_what_it_waits_for() {
    let log = Log::default();
    let model =
        ScriptedModel::new().calls([("look_up", r#"{"word":"x"}"#), ("delete", r#"{"path":"x"}"#)]);
    let executor = builder(&log)
        .unrestricted()
        .journal(Journal::new(MemoryStore::new()).on_no_approver(OnNoApprover::Park))
        .build()
        .unwrap();
    let agent = Agent::on(executor, model).build().unwrap();
    let events = agent.events("r1");
    let agents = Runner::builder().agent("a", agent).build().unwrap();
    let progress = agents.start(NewRun::new("r1", "a", "delete x")).await.unwrap();
    assert!(progress.waiting().is_some(), "{progress}");
    let words = rest(events).await;
    let last = words.last().unwrap();
    assert!(last.starts_with("1: Waiting([CalledTool") && last.contains("delete"), "{words:?}");
    assert!(!last.contains("look_up"), "{words:?}");
}
