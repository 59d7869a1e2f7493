//! What is said to a run while it works: given to the model with the next request, in order, once.

mod recorded;

use std::future::IntoFuture as _;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::future::BoxFuture;
use jiff::Timestamp;
use toolwright::dialect::Dialect;
use toolwright::journal::{CommitError, MemoryStore, Store, Transaction};
use toolwright::{ErrorClass, tool};
use toolwright_agent::durable::{NewRun, Progress, Runner};
use toolwright_agent::{
    Agent, AgentBuilder, Limit, Message, Model, ModelAnswer, ModelError, ModelRequest, RunEnd,
    RunEvent, ScriptedModel, TotalUsage, Usage,
};

use crate::durable::process::{Deadly, Provider, World, calls, until_dead};
use crate::support::outline;

/// Rests for a second.
#[tool(effect = read)]
async fn rest() {
    tokio::time::sleep(Duration::from_secs(1)).await;
}

fn builder(model: &Arc<ScriptedModel>) -> AgentBuilder {
    Agent::builder(Arc::clone(model)).tools([REST]).unrestricted()
}

fn with_journal(builder: AgentBuilder, is_recorded: bool) -> Agent {
    let builder = if is_recorded { builder.journal(MemoryStore::new()) } else { builder };
    builder.build().unwrap()
}

#[tokio::test(start_paused = true)]
async fn what_is_said_while_a_tool_runs_is_in_the_next_request_in_its_order() {
    for is_recorded in [false, true] {
        let model = Arc::new(ScriptedModel::new().calls([("rest", "{}")]).says("Tea, then."));
        let run = with_journal(builder(&model), is_recorded).run("Coffee.").start().unwrap();
        tokio::time::sleep(Duration::from_millis(500)).await;
        run.send("Tea, please.").await.unwrap();
        run.clone().send("And a biscuit.").await.unwrap();
        let result = run.clone().await.unwrap();
        assert_eq!(result.to_string(), "Tea, then.");
        let said = [
            "user: Coffee.",
            "model:  +1",
            "answers: 1",
            "user: Tea, please.",
            "user: And a biscuit.",
        ];
        assert_eq!(outline(&model.requests()[1].history), said, "{is_recorded}");
        let error = run.send("Milk?").await.unwrap_err();
        assert!(error.to_string().contains("conversation"), "{error}");
    }
}

/// Answers after a second, by how often it was asked before.
struct Slow(&'static [&'static str]);

impl Model for Slow {
    fn name(&self) -> &str {
        "slow"
    }

    fn dialect(&self) -> Dialect {
        Dialect::Anthropic
    }

    fn answer<'a>(
        &'a self,
        request: ModelRequest<'a>,
    ) -> BoxFuture<'a, Result<ModelAnswer, ModelError>> {
        let is_answer = |it: &&Message| matches!(it, Message::Assistant { .. });
        let text = self.0[request.history.iter().filter(is_answer).count()];
        Box::pin(async move {
            tokio::time::sleep(Duration::from_secs(1)).await;
            Ok(ModelAnswer::text(text))
        })
    }
}

#[tokio::test(start_paused = true)]
async fn a_run_that_is_done_goes_on_where_something_was_said_meanwhile() {
    for is_recorded in [false, true] {
        let builder = Agent::builder(Slow(&["Coffee.", "Tea, then."]));
        let run = with_journal(builder, is_recorded).run("Coffee?").start().unwrap();
        tokio::time::sleep(Duration::from_millis(500)).await;
        run.send("No, tea.").await.unwrap();
        let result = run.await.unwrap();
        assert_eq!(result.to_string(), "Tea, then.");
        let said = ["user: Coffee?", "model: Coffee. +0", "user: No, tea.", "model: Tea, then. +0"];
        assert_eq!(outline(result.history()), said, "{is_recorded}");
    }
}

#[tokio::test(start_paused = true)]
async fn more_is_said_in_a_turn_of_a_conversation_and_not_between_turns() {
    for is_recorded in [false, true] {
        let builder = Agent::builder(Slow(&["Coffee.", "Tea, then.", "Good night."]));
        let agent = with_journal(builder, is_recorded);
        let mut chat = agent.chat();
        let steering = chat.steering().unwrap();
        assert!(steering.send("Too early.").await.is_err());
        let says_more = async {
            tokio::time::sleep(Duration::from_millis(500)).await;
            steering.send("No, tea.").await
        };
        let (answer, sent) = tokio::join!(chat.send("Coffee?").into_future(), says_more);
        sent.unwrap();
        assert_eq!(answer.unwrap().to_string(), "Tea, then.");
        assert!(steering.send("Too late.").await.is_err());
        assert_eq!(chat.send("Good night!").await.unwrap().to_string(), "Good night.");
        assert_eq!(chat.history().len(), 6);
    }
}

#[tokio::test(start_paused = true)]
async fn a_handle_cancels_its_run() {
    let model = Arc::new(ScriptedModel::new().calls([("rest", "{}")]));
    let run = builder(&model).build().unwrap().run("Rest.").start().unwrap();
    tokio::time::sleep(Duration::from_millis(100)).await;
    run.cancel();
    let error = run.await.unwrap_err();
    assert_eq!(error.result().unwrap().end(), &RunEnd::Cancelled);
}

#[tokio::test(start_paused = true)]
async fn a_limit_ends_a_run_whatever_is_said() {
    let model = Arc::new(ScriptedModel::new().calls([("rest", "{}")]).calls([("rest", "{}")]));
    let run = builder(&model).max_turns(2).build().unwrap().run("Rest.").start().unwrap();
    for _ in 0..30 {
        tokio::time::sleep(Duration::from_millis(100)).await;
        let _it_may_have_ended = run.send("Go on!").await;
    }
    let error = run.await.unwrap_err();
    let end = error.result().unwrap().end().clone();
    assert_eq!(end, RunEnd::Limit(Limit::Turns { turns: 2 }));
}

#[tokio::test(start_paused = true)]
async fn a_thousand_messages_come_in_their_order() {
    let model = Arc::new(ScriptedModel::new().calls([("rest", "{}")]).says("Done."));
    let run = builder(&model).build().unwrap().run("Rest.").start().unwrap();
    tokio::time::sleep(Duration::from_millis(100)).await;
    for number in 0..1000 {
        run.send(number.to_string()).await.unwrap();
    }
    run.await.unwrap();
    let said: Vec<String> = model.requests()[1].history[3..]
        .iter()
        .map(|message| match message {
            Message::User { text, .. } => text.clone(),
            _ => panic!("a word of the user"),
        })
        .collect();
    assert_eq!(said, (0..1000).map(|it| it.to_string()).collect::<Vec<_>>());
}

/// A run that another process works on gets the message once, at whatever commit its process dies.
#[tokio::test(start_paused = true)]
async fn a_message_to_a_recorded_run_is_read_once_wherever_its_process_dies() {
    let answers = || {
        Provider::new([
            calls([("find", r#"{"word":"tea"}"#)]),
            calls([("find", r#"{"word":"milk"}"#)]),
            ModelAnswer::text("Done."),
        ])
    };
    for at in 0.. {
        let (world, model) = (World::new(), answers());
        let agents = world.process(&model);
        agents.submit(NewRun::new("r1", "clerk", "Look.")).await.unwrap();
        let queued = agents.send("r1", "And milk.").await.unwrap();
        assert!(matches!(queued, Progress::Queued), "{queued}");
        drop(agents);
        let (store, dead) = Deadly::at(&world, at);
        let first = world.on(store, &model).build().unwrap();
        let whole = until_dead(first.resume("r1"), &dead).await;
        drop(first);
        world.pass(Duration::from_mins(2));
        let second: Runner = world.process(&model);
        second.resume("r1").await.unwrap();
        let history = second.history("r1").await.unwrap();
        let lines = outline(&history);
        let said = lines.iter().filter(|it| *it == "user: And milk.").count();
        assert_eq!(said, 1, "commit {at}: {lines:?}");
        assert_eq!(lines[..2], ["user: Look.", "user: And milk."], "commit {at}");
        if whole.is_some() {
            assert!(at > 4, "there are more commits than {at}");
            break;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_said_to_a_recorded_run_that_has_ended_drives_it_on() {
    let (world, model) =
        (World::new(), Provider::new([ModelAnswer::text("One."), ModelAnswer::text("Two.")]));
    let agents = world.process(&model);
    agents.start(NewRun::new("r1", "clerk", "First.")).await.unwrap();
    let progress = agents.send("r1", "Second.").await.unwrap();
    assert_eq!(progress.to_string(), "ended with a text");
    assert_eq!(model.asked(), 2);
}

/// A store before whose first commit that ends a run something else happens.
struct Between<S> {
    inner: S,
    before: Mutex<Option<BoxFuture<'static, ()>>>,
}

impl<S: Store> Store for Between<S> {
    fn commit<'a>(
        &'a self,
        unit: Transaction,
        now: Timestamp,
    ) -> BoxFuture<'a, Result<(), CommitError>> {
        Box::pin(async move {
            let ends = unit.documents.iter().any(|it| it.key.starts_with("runs/ended/"));
            let before = if ends { self.before.lock().unwrap().take() } else { None };
            if let Some(before) = before {
                before.await;
            }
            self.inner.commit(unit, now).await
        })
    }

    toolwright::pass_on_leases!(inner);
    toolwright::pass_on_questions!(inner);
}

fn one_and_two() -> Arc<Provider> {
    Provider::new([ModelAnswer::text("One."), ModelAnswer::text("Two.")])
}

/// A process to whose run these messages come between its last look for one and the commit that ends it.
fn spoken_to_between(
    world: &World,
    inner: impl Store,
    model: &Arc<Provider>,
    texts: &'static [&str],
) -> Runner {
    let other = world.process(model);
    let before: BoxFuture<'static, ()> = Box::pin(async move {
        for text in texts {
            let queued = other.send("r1", text).await.unwrap();
            assert!(matches!(queued, Progress::Queued), "{queued}");
        }
    });
    let store = Between { inner, before: Mutex::new(Some(before)) };
    world.on(store, model).build().unwrap()
}

#[tokio::test(start_paused = true)]
async fn what_is_said_as_a_run_ends_is_read_by_the_driver_that_ends_it() {
    let (world, model) = (World::new(), one_and_two());
    let first = spoken_to_between(&world, world.store(), &model, &["And milk.", "And sugar."]);
    let progress = first.start(NewRun::new("r1", "clerk", "Tea.")).await.unwrap();
    assert_eq!(progress.to_string(), "ended with a text");
    let history = first.history("r1").await.unwrap();
    let said =
        ["user: Tea.", "model: One. +0", "user: And milk.", "user: And sugar.", "model: Two. +0"];
    assert_eq!(outline(&history), said);
    assert!(world.store().documents("runs/open/").await.unwrap().is_empty());
    assert_eq!(world.store().documents("runs/ended/").await.unwrap().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn what_is_said_as_a_run_ends_is_read_where_its_process_dies_then() {
    for at in 0.. {
        let (world, model) = (World::new(), one_and_two());
        let (store, dead) = Deadly::at(&world, at);
        let first = spoken_to_between(&world, store, &model, &["And milk."]);
        let whole = until_dead(first.start(NewRun::new("r1", "clerk", "Tea.")), &dead).await;
        drop(first);
        world.pass(Duration::from_mins(2));
        let second = world.process(&model);
        let worker = second.clone();
        let working = tokio::spawn(async move { worker.work().await });
        tokio::time::sleep(Duration::from_secs(20)).await;
        working.abort();
        if let Ok(history) = second.history("r1").await {
            let lines = outline(&history);
            let is_answered = lines.last().is_some_and(|it| it.starts_with("model: "));
            let said = lines.iter().filter(|it| *it == "user: And milk.").count();
            let waits = !world.store().documents("run/r1/inbox/").await.unwrap().is_empty();
            assert!(!waits, "commit {at}: {lines:?}");
            assert!(is_answered && said <= 1, "commit {at}: {lines:?}");
        }
        if whole.is_some() {
            assert!(at > 4, "there are more commits than {at}");
            break;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_run_that_goes_on_for_what_was_said_has_its_time_anew() {
    for is_recorded in [false, true] {
        let world = World::on_tokio_time();
        let model = Slow(&["Coffee.", "Tea, then."]);
        let builder = Agent::builder(model).max_duration(Duration::from_millis(1_500));
        let builder = match is_recorded {
            true => builder.journal(world.journal(Arc::new(world.store()))),
            false => builder,
        };
        let run = builder.build().unwrap().run("Coffee?").start().unwrap();
        tokio::time::sleep(Duration::from_millis(500)).await;
        run.send("No, tea.").await.unwrap();
        let result = run.await.unwrap();
        assert_eq!(result.to_string(), "Tea, then.", "{is_recorded}");
    }
}

/// The request that hangs is given up, also where the message comes from another process.
#[tokio::test(start_paused = true)]
async fn what_is_said_now_does_not_wait_for_the_end_of_a_request() {
    for is_recorded in [false, true] {
        let model = Arc::new(ScriptedModel::new().hangs().says("Done."));
        let agent = with_journal(builder(&model), is_recorded);
        let run = agent.run("Look.").start().unwrap();
        let mut events = run.stream();
        tokio::time::sleep(Duration::from_secs(5)).await;
        assert_eq!(model.requests().len(), 1);
        run.send("Later.").await.unwrap();
        tokio::time::sleep(Duration::from_secs(20)).await;
        assert_eq!(model.requests().len(), 1, "what is sent waits for the end of the request");

        run.send_now("Stop, do this.").await.unwrap();
        let result = run.clone().into_future().await.unwrap();
        assert_eq!(result.to_string(), "Done.");
        let expected = ["user: Look.", "user: Later.", "user: Stop, do this.", "model: Done. +0"];
        assert_eq!(outline(result.history()), expected);
        let requests = model.requests();
        assert_eq!(outline(&requests[1].history), expected[..3]);
        let mut restarted = 0;
        while let Some(event) = events.next().await {
            restarted += usize::from(matches!(event.kind, RunEvent::Restarted));
        }
        assert_eq!(restarted, 1);
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_said_now_gives_up_no_call() {
    for is_recorded in [false, true] {
        let model = Arc::new(ScriptedModel::new().calls([("rest", "{}")]).says("Done."));
        let agent = with_journal(builder(&model), is_recorded);
        let run = agent.run("Rest.").start().unwrap();
        tokio::time::sleep(Duration::from_millis(500)).await;
        run.send_now("Now.").await.unwrap();
        let result = run.await.unwrap();
        let lines = outline(result.history());
        assert_eq!(lines.len(), 5, "{lines:?}");
        let answers = result.history().iter().find_map(|it| match it {
            Message::ToolResults(answers) => Some(format!("{answers:?}")),
            _ => None,
        });
        assert!(!answers.expect("the call was answered").contains("cancelled"));
        assert_eq!(lines[3], "user: Now.");
        assert_eq!(model.requests().len(), 2);
    }
}

/// A message that is read at once is read once, at whatever commit the process dies that reads it.
#[tokio::test(start_paused = true)]
async fn what_is_said_now_is_read_once_wherever_its_process_dies() {
    let answers =
        || Provider::new([calls([("find", r#"{"word":"tea"}"#)]), ModelAnswer::text("Done.")]);
    for at in 0.. {
        let (world, model) = (World::new(), answers());
        let agents = world.process(&model);
        agents.submit(NewRun::new("r1", "clerk", "Look.")).await.unwrap();
        for text in ["And milk.", "And bread."] {
            let queued = match text {
                "And milk." => agents.send_now("r1", text).await.unwrap(),
                _ => agents.send("r1", text).await.unwrap(),
            };
            assert!(matches!(queued, Progress::Queued), "{queued}");
        }
        drop(agents);
        let (store, dead) = Deadly::at(&world, at);
        let first = world.on(store, &model).build().unwrap();
        let whole = until_dead(first.resume("r1"), &dead).await;
        drop(first);
        world.pass(Duration::from_mins(2));
        let second: Runner = world.process(&model);
        second.resume("r1").await.unwrap();
        let lines = outline(&second.history("r1").await.unwrap());
        let said = ["user: Look.", "user: And milk.", "user: And bread."];
        assert_eq!(lines[..3], said, "commit {at}");
        assert_eq!(lines.iter().filter(|it| it.starts_with("user: ")).count(), 3, "{lines:?}");
        if whole.is_some() {
            break;
        }
    }
}

/// A model that is away after a second, and then answers.
struct Away(AtomicUsize);

impl Model for Away {
    fn name(&self) -> &str {
        "away"
    }

    fn dialect(&self) -> Dialect {
        Dialect::Anthropic
    }

    fn answer<'a>(&'a self, _: ModelRequest<'a>) -> BoxFuture<'a, Result<ModelAnswer, ModelError>> {
        let asked = self.0.fetch_add(1, Ordering::SeqCst);
        Box::pin(async move {
            if asked > 0 {
                return Ok(ModelAnswer::text("Tea, then."));
            }
            tokio::time::sleep(Duration::from_secs(1)).await;
            let away = ModelError::new("away", "away");
            Err(away.class(ErrorClass::NotStarted { retry_after: None }))
        })
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_said_in_a_turn_that_stops_is_read_when_the_turn_is_resumed() {
    let hanging = Agent::builder(ScriptedModel::new().hangs().says("Tea, then.")).build().unwrap();
    let away = Agent::builder(Away(AtomicUsize::new(0))).build().unwrap();
    for agent in [hanging, away] {
        let mut chat = agent.chat();
        let steering = chat.steering().unwrap();
        let says_more = async {
            tokio::time::sleep(Duration::from_millis(500)).await;
            steering.send("No, tea.").await.unwrap();
        };
        let turn = chat.send("Coffee?").into_future();
        let turn = tokio::time::timeout(Duration::from_secs(2), turn);
        let (stopped, ()) = tokio::join!(turn, says_more);
        assert!(!matches!(stopped, Ok(Ok(_))), "the turn has stopped without an answer");
        assert!(steering.send("Too late.").await.is_err());
        assert_eq!(chat.resume().await.unwrap().to_string(), "Tea, then.");
        let said = ["user: Coffee?", "user: No, tea.", "model: Tea, then. +0"];
        assert_eq!(outline(chat.history()), said);
    }
}

/// A model that begins an answer of 101 tokens, and never ends it.
struct Costly;

impl Model for Costly {
    fn name(&self) -> &str {
        "costly"
    }

    fn dialect(&self) -> Dialect {
        Dialect::Anthropic
    }

    fn answer<'a>(
        &'a self,
        request: ModelRequest<'a>,
    ) -> BoxFuture<'a, Result<ModelAnswer, ModelError>> {
        if let Some(recorder) = request.usage_recorder {
            recorder.so_far(TotalUsage::of(Some(Usage::new(100, 1)), None));
        }
        Box::pin(std::future::pending())
    }
}

#[tokio::test(start_paused = true)]
async fn requests_that_are_given_up_for_a_message_count_toward_the_limits_of_the_run() {
    for is_recorded in [false, true] {
        let builder = Agent::builder(Costly).max_total_tokens(250);
        let run = with_journal(builder, is_recorded).run("Look.").start().unwrap();
        for _ in 0..3 {
            tokio::time::sleep(Duration::from_secs(1)).await;
            run.send_now("Look again.").await.unwrap();
        }
        let ended = tokio::time::timeout(Duration::from_secs(60), run.into_future()).await;
        let error = ended.expect("the limit ends the run").unwrap_err();
        let end = error.result().unwrap().end();
        assert_eq!(end, &RunEnd::Limit(Limit::Tokens { tokens: 303 }), "{is_recorded}");
    }
}
