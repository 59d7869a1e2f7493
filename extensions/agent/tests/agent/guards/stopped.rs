//! Guards that end a run, by their decision or because they fail.

use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt as _;
use toolwright_agent::{
    AfterDecision, AnswerChange, BeforeDecision, Guard, GuardStage, Message, ModelAnswer,
    ModelError, RequestChange, RunEnd, RunEvent, ScriptedModel, Secrets, StopReason,
};

use super::{builder, stopped};
use crate::support::{Log, call, outline};

#[tokio::test]
async fn what_a_guard_does_not_let_in_is_in_no_history_and_no_model_is_asked() {
    let model = Arc::new(ScriptedModel::new().says("Hello."));
    let polite = Guard::before_run("polite", async |prompt| match prompt.text.contains("damn") {
        true => BeforeDecision::stop("it is not polite"),
        false => BeforeDecision::Continue,
    });
    let agent = builder(&Log::default(), &model).guard(polite).build().unwrap();
    let mut chat = agent.chat();
    let error = chat.send("damn").await.unwrap_err();
    let expected = ("polite".to_owned(), GuardStage::BeforeRun, "it is not polite".to_owned());
    assert_eq!(stopped(&error), expected);
    assert_eq!(error.to_string(), "ended by the guard `polite` before the run: it is not polite");
    assert!(error.result().unwrap().history().is_empty() && model.requests().is_empty());
    // The conversation goes on with what is said next.
    assert_eq!(chat.send("Hello!").await.unwrap().text(), "Hello.");
    assert_eq!(outline(chat.history()), ["user: Hello!", "model: Hello. +0"]);
}

#[tokio::test(start_paused = true)]
async fn what_is_said_meanwhile_passes_the_guards_as_well() {
    let slow = Guard::after_model("slow", async |_| {
        tokio::time::sleep(Duration::from_secs(2)).await;
        AfterDecision::Continue
    });
    let polite = Guard::before_run("polite", async |prompt| match &*prompt.text {
        "damn" => BeforeDecision::stop("it is not polite"),
        "Coffee." => BeforeDecision::change("Tea.", "there is none"),
        _ => BeforeDecision::Continue,
    });
    for (says, is_stopped) in [("damn", true), ("Coffee.", false)] {
        let model = ScriptedModel::new().calls([("add", r#"{"a":1,"b":2}"#)]);
        let model = if is_stopped { model } else { model.says("Done.") };
        let model = Arc::new(model);
        let agent = builder(&Log::default(), &model).guard(slow.clone()).guard(polite.clone());
        let run = agent.build().unwrap().run("go").start().unwrap();
        tokio::time::sleep(Duration::from_secs(1)).await;
        run.send(says).await.unwrap();
        run.send("And a biscuit.").await.unwrap();
        let came = run.await;
        let history = match &came {
            Ok(result) => result.history(),
            Err(error) => {
                assert_eq!(stopped(error).1, GuardStage::BeforeRun);
                error.result().unwrap().history()
            }
        };
        assert_eq!(came.is_err(), is_stopped);
        let said = outline(history);
        assert!(!said.contains(&format!("user: {says}")), "{said:?}");
        // What was let in is not lost.
        assert!(said.contains(&"user: And a biscuit.".to_owned()), "{said:?}");
    }
}

#[tokio::test]
async fn an_answer_that_ends_the_run_is_counted_and_nothing_of_it_is_seen_or_run() {
    let log = Log::default();
    let answer = ModelAnswer::new("secret text", vec![call("1", "delete", r#"{"path":"a"}"#)]);
    let model = Arc::new(ScriptedModel::new().streaming().answers(answer));
    let guard = Guard::after_model("deletes-nothing", async |answer| {
        match answer.answer.calls.is_empty() {
            true => AfterDecision::Continue,
            false => AfterDecision::stop("it deletes"),
        }
    });
    let agent = builder(&log, &model).guard(guard).build().unwrap();
    let mut stream = agent.run("go").stream();
    let (mut events, mut error) = (Vec::new(), None);
    while let Some(event) = stream.next().await {
        match event {
            Ok(event) => events.push(event),
            Err(failed) => error = Some(failed),
        }
    }
    let error = error.unwrap();
    let result = error.result().unwrap();
    assert_eq!((result.turns(), outline(result.history())), (1, vec!["user: go".to_owned()]));
    assert!(log.lines().is_empty());
    let seen = |it: &RunEvent| {
        matches!(it, RunEvent::Text(_) | RunEvent::ToolCall(_) | RunEvent::Calling { .. })
    };
    assert!(!events.iter().any(seen), "{events:?}");
    assert!(serde_json::to_string(&events).unwrap().contains(r#""reason":"it deletes""#));
}

#[tokio::test]
async fn a_refusal_of_the_model_passes_the_guards_too() {
    let refusal = ModelAnswer::text("I will not say secret.").stopped(StopReason::Refused);
    let model = Arc::new(ScriptedModel::new().answers(refusal));
    let guard = Guard::after_model("no-secrets", async |answer| {
        match answer.map_texts(|text| text.contains("secret").then(|| text.replace("secret", "…")))
        {
            Some(change) => AfterDecision::change(change, "a secret"),
            None => AfterDecision::Continue,
        }
    });
    let agent = builder(&Log::default(), &model).guard(guard).build().unwrap();
    let error = agent.run("go").await.unwrap_err().to_string();
    assert!(error.contains("I will not say ….") && !error.contains("secret"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn a_guard_beside_the_model_ends_the_run_while_it_answers_and_what_it_took_counts() {
    let model = Arc::new(ScriptedModel::new().hangs());
    let guard = Guard::beside_model("watcher", async |request| {
        tokio::time::sleep(Duration::from_secs(1)).await;
        match request.texts().iter().any(|text| text.contains("bomb")) {
            true => Err("it is about bombs".to_owned()),
            false => Ok(()),
        }
    });
    let agent = builder(&Log::default(), &model).guard(guard.clone()).build().unwrap();
    let begun = tokio::time::Instant::now();
    let error = agent.run("bomb").await.unwrap_err();
    assert_eq!(stopped(&error).1, GuardStage::BesideModel);
    assert_eq!(begun.elapsed(), Duration::from_secs(1));
    let result = error.result().unwrap();
    assert_eq!((result.turns(), result.spent().lost), (0, 1));

    // An answer that is there first waits for the guard.
    let log = Log::default();
    for (says, is_let_through) in [("bomb", false), ("tea", true)] {
        let model = ScriptedModel::new().calls([("add", r#"{"a":1,"b":2}"#)]);
        let model = if is_let_through { model.says("Done.") } else { model };
        let model = Arc::new(model);
        let agent = builder(&log, &model).early_reads().guard(guard.clone()).build().unwrap();
        let came = agent.run(says).await;
        assert_eq!(
            (came.is_ok(), log.lines().len()),
            (is_let_through, usize::from(is_let_through))
        );
        if let Err(error) = came {
            assert_eq!(error.result().unwrap().turns(), 1);
        }
    }
}

/// A guard of each stage that does what it should not.
fn broken(stage: GuardStage, how: &'static str) -> Guard {
    async fn breaks<T>(how: &str) -> T {
        match how {
            "panics" => panic!("on purpose"),
            _ => pending().await,
        }
    }
    match stage {
        GuardStage::BeforeRun => Guard::before_run("broken", move |_| breaks(how)),
        GuardStage::BeforeModel => Guard::before_model("broken", move |_| breaks(how)),
        GuardStage::BesideModel => Guard::beside_model("broken", move |_| breaks(how)),
        GuardStage::AfterModel => Guard::after_model("broken", move |_| breaks(how)),
        _ => Guard::after_run("broken", move |_| breaks(how)),
    }
}

#[tokio::test(start_paused = true)]
async fn nothing_passes_a_guard_that_panics_or_never_ends() {
    use GuardStage::{AfterModel, AfterRun, BeforeModel, BeforeRun, BesideModel};
    for stage in [BeforeRun, BeforeModel, BesideModel, AfterModel, AfterRun] {
        for (how, words) in
            [("panics", "it panicked: on purpose"), ("hangs", "it took longer than 3s")]
        {
            // One beside the model that fails at once is quicker than the model.
            let is_asked = stage > BesideModel || (stage, how) == (BesideModel, "hangs");
            let model = ScriptedModel::new().streaming();
            let model = if is_asked { model.says("Hello.") } else { model };
            let model = Arc::new(model);
            let agent = builder(&Log::default(), &model).guard_timeout(Duration::from_secs(3));
            let agent = agent.guard(broken(stage, how)).build().unwrap();
            let error = agent.run("go").await.unwrap_err();
            let expected = ("broken".to_owned(), stage, words.to_owned());
            assert_eq!(stopped(&error), expected);
            assert!(matches!(
                error.result().unwrap().end(),
                RunEnd::GuardStopped { has_failed: true, .. }
            ));
            let history = outline(error.result().unwrap().history());
            assert!(!history.iter().any(|it| it.starts_with("model")), "{stage}: {history:?}");
        }
    }
}

#[tokio::test]
async fn a_guard_that_panics_before_it_waits_is_closed_too() {
    let model = Arc::new(ScriptedModel::new());
    let guard = Guard::before_run("broken", |prompt| {
        assert!(prompt.text.is_empty(), "it is not empty");
        async { BeforeDecision::Continue }
    });
    let agent = builder(&Log::default(), &model).guard(guard).build().unwrap();
    let error = agent.run("go").await.unwrap_err();
    assert_eq!(stopped(&error).2, "it panicked: it is not empty");
}

#[tokio::test]
async fn a_change_that_cannot_be_ends_the_run() {
    let unanswered = |request: &[Message]| {
        let call = call("1", "add", "{}");
        request.iter().cloned().chain([Message::assistant("", [call])]).collect::<Vec<_>>()
    };
    let of_request = move |name: &str, to: fn(Vec<Message>) -> Vec<Message>| {
        Guard::before_model(name, move |request| async move {
            let history = to(request.history.to_vec());
            BeforeDecision::change(RequestChange::new().history(history), "so")
        })
    };
    let open = Guard::before_model("broken", move |request| async move {
        let history = unanswered(&request.history);
        BeforeDecision::change(RequestChange::new().history(history), "so")
    });
    let guards = [
        (open, "a history that no provider takes: 1 calls at its end have no answer"),
        (of_request("broken", |_| Vec::new()), "ends with a message of another kind"),
        (
            Guard::before_run("broken", async |_| BeforeDecision::change(" ", "so")),
            "it left nothing of what was said",
        ),
    ];
    for (guard, words) in guards {
        let model = Arc::new(ScriptedModel::new());
        let agent = builder(&Log::default(), &model).guard(guard).build().unwrap();
        let error = agent.run("go").await.unwrap_err().to_string();
        assert!(error.starts_with("ended because of the failed guard `broken`"), "{error}");
        assert!(error.contains(words), "{error}");
    }
}

#[tokio::test]
async fn a_value_of_a_type_is_not_changed_by_a_guard_and_a_part_of_a_call_neither() {
    let change = Guard::after_run("words", async |_| AfterDecision::change("five", "so"));
    let model = Arc::new(ScriptedModel::new().says(r#"{"value":5}"#));
    let agent = builder(&Log::default(), &model).guard(change).build().unwrap();
    let error = agent.run("How many?").typed::<u8>().await.unwrap_err();
    assert!(stopped(&error).2.contains("a value of a type"), "{error}");
    assert_eq!(outline(error.result().unwrap().history()), ["user: How many?"]);

    let cut = ModelAnswer::new("", vec![call("1", "delete", r#"{"pa"#)]);
    let model = Arc::new(ScriptedModel::new().answers(cut.stopped(StopReason::CutInCall)));
    let guard = Guard::after_model("calls", async |_| {
        let whole = vec![call("1", "delete", r#"{"path":"a"}"#)];
        AfterDecision::change(AnswerChange::new().calls(whole), "it is whole now")
    });
    let log = Log::default();
    let agent = builder(&log, &model).guard(guard).build().unwrap();
    let error = agent.run("go").await.unwrap_err();
    assert!(stopped(&error).2.contains("cut short"), "{error}");
    assert!(log.lines().is_empty());
}

#[tokio::test]
async fn a_guard_that_never_lets_an_answer_through_ends_the_run() {
    let model = ScriptedModel::new().says("One").says("Two").says("Three");
    let model = Arc::new(model);
    let never = Guard::after_run("never", async |_| AfterDecision::ask_again("Better."));
    let agent = builder(&Log::default(), &model).guard(never).build().unwrap();
    let error = agent.run("go").await.unwrap_err();
    let why = "3 answers were sent back, the last of them with: Better.";
    assert_eq!(stopped(&error).2, why);
    assert_eq!(error.result().unwrap().turns(), 3);
}

#[tokio::test]
async fn an_error_of_a_provider_says_that_guards_had_changed_its_request() {
    let error = ModelError::new("invalid_request", "the provider answered 400");
    let model = Arc::new(ScriptedModel::new().fails(error));
    let agent = builder(&Log::default(), &model).guard(Secrets::new()).build().unwrap();
    let prompt = format!("Is AKIA{} one?", "A1".repeat(8));
    let error = agent.run(prompt).await.unwrap_err().to_string();
    assert!(error.contains("400; guards of the application had changed the request"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn a_run_that_is_cancelled_while_a_guard_looks_at_an_answer_counts_what_it_took() {
    let model = Arc::new(ScriptedModel::new().says("Hello."));
    let slow = Guard::after_model("slow", async |_| pending().await);
    let agent = builder(&Log::default(), &model).guard(slow).build().unwrap();
    let run = agent.run("go").start().unwrap();
    tokio::time::sleep(Duration::from_secs(1)).await;
    run.cancel();
    let error = run.await.unwrap_err();
    let result = error.result().unwrap();
    assert_eq!((result.end(), result.spent().unmeasured), (&RunEnd::Cancelled, 1));
}
