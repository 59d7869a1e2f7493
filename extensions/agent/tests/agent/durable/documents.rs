//! What the journal holds of a run, and what is refused of it.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use toolwright::Content;
use toolwright::journal::{DocumentWrite, Filter, Page, Store as _, Transaction};
use toolwright_agent::durable::{NewRun, RunError, Runner, Runs};
use toolwright_agent::{Cost, Message, ModelAnswer, Stopped, TotalUsage, Usage, import};

use super::process::{Deadly, Provider, World, calls};
use super::unreadable::Unreadable;

async fn ended() -> (World, Runner) {
    let model = Provider::new([
        calls([("find", r#"{"word":"tea"}"#), ("send", r#"{"text":"hello"}"#)]),
        ModelAnswer::text("Done."),
        ModelAnswer::text("Bye."),
    ]);
    let world = World::new();
    let agents = world.process(&model);
    let run = NewRun::new("r1", "clerk", "greet them").user("ada").session("s1");
    agents.start(run).await.unwrap();
    (world, agents)
}

type Change = fn(&str) -> Option<String>;

/// A document with another value at this key.
fn with(text: &str, key: &str, value: Value) -> Option<String> {
    let mut document: Value = serde_json::from_str(text).unwrap();
    document[key] = value;
    Some(document.to_string())
}

/// Writes a document by hand.
async fn write(world: &World, key: &str, change: impl FnOnce(&str) -> Option<String>) {
    let found = world.store().document(key).await.unwrap().unwrap();
    let text = change(&found.text);
    let documents = vec![DocumentWrite { key: key.to_owned(), expects: Some(found.version), text }];
    let unit = Transaction { documents, ..Transaction::default() };
    world.store().commit(unit, world.now()).await.unwrap();
}

/// Between the two reads of a process another one drives the run on.
#[tokio::test(start_paused = true)]
async fn a_commit_of_another_driver_between_two_reads_is_no_damage() {
    let world = World::new();
    let model = Provider::new(["One.", "Two.", "Three."].map(ModelAnswer::text));
    let (store, other) = (Unreadable::of(world.store()), world.process(&model));
    let reader = world.on(store.clone(), &model).build().unwrap();
    other.start(NewRun::new("r1", "clerk", "go")).await.unwrap();
    let says = |other: &Runner| {
        let other = other.clone();
        async move { _ = other.send("r1", "more").await.unwrap() }
    };
    store.before_turns(says(&other));
    assert_eq!(reader.history("r1").await.unwrap().len(), 4);
    store.before_turns(says(&other));
    let late = reader.send("r1", "and more").await.unwrap_err();
    assert!(late.is_elsewhere(), "{late}");
    assert_eq!(reader.history("r1").await.unwrap().len(), 6);
}

#[tokio::test(start_paused = true)]
async fn a_run_is_a_head_and_three_documents_a_turn() {
    let (world, _) = ended().await;
    let documents = world.store().documents("run").await.unwrap();
    let keys: Vec<&str> = documents.iter().map(|it| it.key.as_str()).collect();
    assert_eq!(
        keys,
        [
            "run/r1/agent",
            "run/r1/head",
            "run/r1/turn/1/answer",
            "run/r1/turn/1/answers",
            "run/r1/turn/1/said",
            "run/r1/turn/2/answer",
            "runs/ended/r1",
        ]
    );
    for document in &documents {
        assert!(
            document.text.starts_with(r#"{"version":1,"#),
            "{}: {}",
            document.key,
            document.text
        );
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_damaged_is_refused_with_its_key_and_nothing_is_written() {
    let cases: [(&str, Change, &str); 9] = [
        (
            "run/r1/head",
            |it| Some(it.replace(r#""version":1,"run""#, r#""version":2,"run""#)),
            "version 2",
        ),
        ("run/r1/head", |it| Some(it.replacen(r#""turn":2"#, r#""turn":1"#, 1)), "changed by hand"),
        ("run/r1/head", |_| Some("{}".to_owned()), "no version"),
        ("run/r1/head", |it| with(it, "epoch", u64::MAX.into()), "its `epoch` is 184467440737"),
        ("run/r1/head", |it| with(it, "turn", u64::MAX.into()), "its `turn` is 184467440737"),
        (
            "run/r1/head",
            |it| with(it, "deaths", json!({"turn": 2, "drivers": u32::MAX})),
            "its `deaths/drivers` is 4294967295",
        ),
        ("run/r1/turn/1/answer", |_| None, "it is missing"),
        ("run/r1/turn/1/answers", |_| None, "it is missing"),
        ("run/r1/turn/2/answer", |it| Some(it.replacen("1", "9", 1)), "version 9"),
    ];
    for (key, change, words) in cases {
        let (world, agents) = ended().await;
        write(&world, key, change).await;
        let before = world.store().documents("run").await.unwrap();
        let error = agents.send("r1", "more").await.unwrap_err();
        let RunError::Damaged { key: named, why } = &error else { panic!("{key}: {error}") };
        assert_eq!(named, key);
        assert!(why.contains(words), "{key}: {why}");
        assert_eq!(world.store().documents("run").await.unwrap(), before, "{key}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_id_that_is_no_name_and_an_agent_that_is_not_known_are_refused() {
    let (_, agents) = ended().await;
    for id in ["", "a/b", "a\nb"] {
        let error = agents.start(NewRun::new(id, "clerk", "go")).await.unwrap_err();
        assert!(matches!(error, RunError::Id { .. }), "{error}");
    }
    let error = agents.start(NewRun::new("r2", "cook", "go")).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "no agent `cook` is known here, found clerk; add it with `.agent(…)`"
    );
    let error = agents.resume("r2").await.unwrap_err();
    assert!(matches!(error, RunError::NoSuchRun { .. }), "{error}");
}

#[tokio::test(start_paused = true)]
async fn a_removed_run_leaves_its_calls_and_no_other_run_gets_its_id() {
    let world = World::new();
    let model =
        Provider::new([calls([("send", r#"{"text":"hello"}"#)]), ModelAnswer::text("Sent.")]);
    let agents = world.process(&model);
    agents.submit(NewRun::new("r1", "clerk", "go")).await.unwrap();
    let early = agents.remove("r1").await.unwrap_err();
    assert!(early.to_string().contains("has not ended"), "{early}");
    agents.resume("r1").await.unwrap();
    agents.remove("r1").await.unwrap();
    let left: Vec<String> =
        world.store().documents("run").await.unwrap().into_iter().map(|it| it.key).collect();
    assert_eq!(left, ["runs/removed/r1"]);
    let calls = world.store().list(&Filter::default(), Page::first(9)).await.unwrap().calls;
    assert_eq!(calls.len(), 1);
    let again = agents.start(NewRun::new("r1", "clerk", "go")).await.unwrap_err();
    assert_eq!(again, RunError::Exists { run: "r1".into() });
    assert_eq!(agents.remove("r1").await.unwrap_err(), RunError::NoSuchRun { run: "r1".into() });
}

#[tokio::test(start_paused = true)]
async fn of_two_processes_that_remove_a_run_at_once_the_later_hears_that_it_is_gone() {
    let (world, agents) = ended().await;
    let (store, still) = Deadly::at(&world, 0);
    let goes_on = Arc::clone(&store.goes_on);
    let runs = Runs::of(Arc::new(store));
    let mut removed = Box::pin(runs.remove("r1", world.now()));
    tokio::select! {
        removed = &mut removed => panic!("it waits before its commit: {removed:?}"),
        () = still.notified() => {}
    }
    agents.remove("r1").await.unwrap();
    goes_on.notify_one();
    assert_eq!(removed.await.unwrap_err(), RunError::NoSuchRun { run: "r1".into() });
}

#[tokio::test(start_paused = true)]
async fn a_cancellation_is_reported_as_recorded_although_the_head_cannot_be_read_after_it() {
    let world = World::new();
    let agents = world.process(&Provider::new([ModelAnswer::text("Done.")]));
    agents.submit(NewRun::new("r1", "clerk", "go")).await.unwrap();
    let store = Unreadable::of(world.store());
    store.hide("run/r1/head", 1..2);
    let runs = Runs::of(Arc::new(store));
    assert!(runs.cancel("r1", "ada", "not any more", world.now()).await.unwrap());
    assert!(!runs.cancel("r1", "ada", "not any more", world.now()).await.unwrap());
}

#[tokio::test(start_paused = true)]
async fn a_head_counts_failed_requests_and_a_fork_has_what_its_turns_cost() {
    let world = World::new();
    let failed = TotalUsage::of(Some(Usage::new(5, 1)), Some(Cost::cents(1)));
    let answer = ModelAnswer::text("Hello.").usage(Usage::new(10, 2)).cost(Cost::cents(3));
    let model = Provider::new([answer.failed(failed).prices_of("2026-11")]);
    let agents = world.process(&model);
    agents.start(NewRun::new("r1", "clerk", "Hello!")).await.unwrap();
    let head = agents.head("r1").await.unwrap();
    assert_eq!((head.spent.usage, head.spent.cost), (Usage::new(15, 3), Cost::cents(4)));
    assert_eq!(head.prices.as_deref(), Some("2026-11"));

    // Nothing was spent in the fork itself.
    let fork = agents.fork("r1", 1, "r2").await.unwrap();
    assert_eq!((fork.spent, fork.prices), (TotalUsage::default(), None));
    let turn = Runs::of(Arc::new(world.store())).turn("r2", 1).await.unwrap();
    assert_eq!((turn.cost, turn.prices.as_deref()), (Some(Cost::cents(3)), Some("2026-11")));
}

/// Written before costs were recorded.
#[tokio::test(start_paused = true)]
async fn an_earlier_head_has_its_tokens_and_an_unknown_cost() {
    let (world, agents) = ended().await;
    write(&world, "run/r1/head", |text| {
        let mut head: serde_json::Value = serde_json::from_str(text).unwrap();
        head.as_object_mut().unwrap().remove("spent");
        head["usage"] = serde_json::json!({"input_tokens": 7, "output_tokens": 3});
        Some(head.to_string())
    })
    .await;
    let spent = agents.head("r1").await.unwrap().spent;
    assert_eq!((spent.usage.total(), spent.unpriced, spent.known_cost()), (10, 2, None));
}

#[tokio::test(start_paused = true)]
async fn what_was_attached_and_imported_is_there_after_a_restart() {
    let world = World::new();
    let model = Provider::new([
        ModelAnswer::text("Earlier."),
        ModelAnswer::text("A pixel."),
        ModelAnswer::text("The same."),
    ]);
    let pixel = "R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7";
    let picture = Content::Image { media_type: "image/gif".into(), data: pixel.into() };
    let earlier = import([Message::user("Hello!"), Message::assistant("Earlier.", [])]).unwrap();
    let run = NewRun::new("r1", "clerk", "What is this?").attached([picture.clone()]);
    world.process(&model).submit(run.imported(earlier)).await.unwrap();

    let second = world.process(&model);
    second.resume("r1").await.unwrap();
    second.send_with("r1", "", [picture]).await.unwrap();
    let history = world.process(&model).history("r1").await.unwrap();
    let shown = serde_json::to_string(&history).unwrap();
    assert_eq!((history.len(), shown.matches(pixel).count()), (6, 2), "{shown}");
    assert!(matches!(&history[1], Message::Assistant { text, .. } if text == "Earlier."));
    assert!(matches!(&history[5], Message::Assistant { text, .. } if text == "The same."));
    let nothing = second.send_with("r1", " ", []).await.unwrap_err();
    assert_eq!(nothing, Stopped::NothingSaid.into());
}

#[tokio::test(start_paused = true)]
async fn no_run_begins_with_a_history_whose_calls_have_no_answer() {
    let world = World::new();
    let agents = world.process(&Provider::new([ModelAnswer::text("Done.")]));
    let mut earlier = import([Message::user("Hello!")]).unwrap();
    let open = calls([("send", r#"{"text":"hello"}"#)]).calls;
    earlier.history.push(Message::assistant("I send it.", open));
    let run = NewRun::new("r1", "clerk", "Well?").imported(earlier.clone());
    let error = agents.start(run).await.unwrap_err().to_string();
    let why = "run `r1` cannot begin with this history, found 1 open at its end, expected all calls answered; give what `import` makes of it";
    assert_eq!(error, why);
    assert_eq!(world.store().documents("run").await.unwrap(), []);

    let repaired = import(earlier.history).unwrap();
    agents.start(NewRun::new("r1", "clerk", "Well?").imported(repaired)).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn what_a_user_says_later_has_the_time_that_the_run_was_started_with() {
    let world = World::new();
    let model = Provider::new([ModelAnswer::text("Hello."), ModelAnswer::text("Bye.")]);
    let with_time = |seconds| {
        let agent = world.agent(world.store(), &model).max_duration(Duration::from_secs(seconds));
        Runner::builder().agent("clerk", agent.build().unwrap()).build().unwrap()
    };
    with_time(3_600).start(NewRun::new("r1", "clerk", "Hello!")).await.unwrap();
    // An hour after the start nothing would be left of its time.
    world.pass(Duration::from_secs(7_200));
    let agents = with_time(60);
    agents.send("r1", "Good-bye!").await.unwrap();
    let head = agents.head("r1").await.unwrap();
    let left = head.deadline.unwrap().duration_since(head.updated);
    assert!((3_500..=3_600).contains(&left.as_secs()), "{left}");
    assert_eq!(head.ended.as_deref(), Some("text"));
}
