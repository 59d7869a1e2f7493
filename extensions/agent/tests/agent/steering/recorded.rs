//! Messages to recorded runs: many, under a key, and to a run that waits for a person.

use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use jiff::Timestamp;
use tokio::time::sleep;
use toolwright::journal::{CommitError, DocumentWrite, MemoryStore, Store, Transaction};
use toolwright_agent::durable::{NewRun, Progress, RunError, Runner, Runs};
use toolwright_agent::{Message, ModelAnswer, ScriptedModel};

use crate::durable::process::{Deadly, Provider, World, calls, until_dead};
use crate::durable::unreadable::Unreadable;
use crate::support::outline;

fn count(lines: &[String], wanted: &str) -> usize {
    lines.iter().filter(|it| *it == wanted).count()
}

/// The sender dies at each commit, sends the message again in another process, and once more after that.
#[tokio::test(start_paused = true)]
async fn a_message_that_is_sent_again_under_its_key_is_read_once_wherever_its_sender_died() {
    for has_ended in [false, true] {
        for at in 0.. {
            let world = World::new();
            let model = Provider::new(["One.", "Two."].map(ModelAnswer::text));
            let before = world.process(&model);
            let new = NewRun::new("r1", "clerk", "Tea.");
            match has_ended {
                true => drop(before.start(new).await.unwrap()),
                false => before.submit(new).await.unwrap(),
            }
            drop(before);
            let (store, dead) = Deadly::at(&world, at);
            let first = world.on(store, &model).build().unwrap();
            let whole = until_dead(first.send_once("r1", "m-1", "And milk."), &dead).await;
            drop(first);
            world.pass(Duration::from_mins(2));
            let second = world.process(&model);
            second.send_once("r1", "m-1", "And milk.").await.unwrap();
            let last = second.send_once("r1", "m-1", "And milk.").await.unwrap();
            assert_eq!(last.to_string(), "ended with a text", "commit {at}");
            let lines = outline(&second.history("r1").await.unwrap());
            assert_eq!(count(&lines, "user: And milk."), 1, "commit {at}: {lines:?}");
            if whole.is_some() {
                assert!(at > u64::from(has_ended), "there are more commits than {at}");
                break;
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn another_key_is_another_message_and_a_key_is_a_short_name() {
    let world = World::new();
    let model = Provider::new(["One.", "Two.", "Three."].map(ModelAnswer::text));
    let agents = world.process(&model);
    agents.start(NewRun::new("r1", "clerk", "Tea.")).await.unwrap();
    for key in ["m-1", "m-2", "m-1"] {
        agents.send_once("r1", key, "Again.").await.unwrap();
    }
    let lines = outline(&agents.history("r1").await.unwrap());
    assert_eq!((count(&lines, "user: Again."), model.asked()), (2, 3));
    for key in ["", "a/b", "a\nb"] {
        let error = agents.send_once("r1", key, "Again.").await.unwrap_err();
        assert!(matches!(error, RunError::MessageKey { .. }), "{error}");
    }
    agents.remove("r1").await.unwrap();
    assert!(world.store().documents("run/r1/").await.unwrap().is_empty());
}

#[tokio::test(start_paused = true)]
async fn what_is_said_to_a_run_that_waits_for_a_person_is_read_after_the_decision() {
    let world = World::new();
    let model = Provider::new([calls([("pay", r#"{"amount":3}"#)]), ModelAnswer::text("Paid.")]);
    let agents = world.process(&model);
    let waiting = agents.start(NewRun::new("r1", "clerk", "Pay.")).await.unwrap();
    let call = waiting.waiting().unwrap().calls[0].call;
    let queued = agents.send("r1", "In cash.").await.unwrap();
    assert!(matches!(queued, Progress::Queued), "{queued}");
    assert_eq!(model.asked(), 1);
    world.approve(call).await;
    let ended = agents.resume("r1").await.unwrap();
    assert_eq!(ended.to_string(), "ended with a text");
    let said =
        ["user: Pay.", "model: I call. +1", "answers: 1", "user: In cash.", "model: Paid. +0"];
    assert_eq!(outline(&agents.history("r1").await.unwrap()), said);
    assert_eq!(world.log.lines().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_thousand_messages_to_a_recorded_run_come_in_their_order() {
    let world = World::new();
    let model = Provider::new([ModelAnswer::text("Done.")]);
    let agents = world.process(&model);
    agents.submit(NewRun::new("r1", "clerk", "Count.")).await.unwrap();
    for number in 0..1_000 {
        agents.send("r1", &number.to_string()).await.unwrap();
    }
    agents.resume("r1").await.unwrap();
    let history = agents.history("r1").await.unwrap();
    let said: Vec<&str> = history
        .iter()
        .filter_map(|message| match message {
            Message::User { text, .. } => Some(text.as_str()),
            _ => None,
        })
        .collect();
    let expected: Vec<String> = (0..1_000).map(|it| it.to_string()).collect();
    assert_eq!(said[1..], expected);
}

/// The journal of a process to whose run a message is sent just before the run ends. The sender withdraws the message
/// just before the run reads it.
struct Withdrawn {
    inner: MemoryStore,
    other: Runner,
}

impl Withdrawn {
    async fn withdraw(&self, message: &DocumentWrite, now: Timestamp) {
        let unit = Transaction { documents: vec![message.clone()], ..Transaction::default() };
        self.inner.commit(unit, now).await.unwrap();
    }
}

impl Store for Withdrawn {
    fn commit<'a>(
        &'a self,
        unit: Transaction,
        now: Timestamp,
    ) -> BoxFuture<'a, Result<(), CommitError>> {
        Box::pin(async move {
            let is_read = |it: &&DocumentWrite| it.key.starts_with("run/r1/inbox/");
            if let Some(message) = unit.documents.iter().find(is_read) {
                self.withdraw(message, now).await;
            }
            // The commit of the end also lists the run as ended.
            if unit.documents.iter().any(|it| it.key == "runs/ended/r1")
                && self.inner.document("run/r1/turn/1/answer").await?.is_none()
            {
                let sent = self.other.send("r1", "And milk.").await.unwrap();
                assert!(matches!(sent, Progress::Queued), "{sent}");
            }
            self.inner.commit(unit, now).await
        })
    }

    toolwright::pass_on_leases!(inner);
    toolwright::pass_on_questions!(inner);
}

#[tokio::test(start_paused = true)]
async fn a_message_that_is_withdrawn_as_the_run_reads_it_takes_no_result_from_the_caller() {
    let world = World::new();
    let model = Provider::new([ModelAnswer::text("Done.")]);
    let store = Withdrawn { inner: world.store(), other: world.process(&model) };
    let agents = world.on(store, &model).build().unwrap();
    let ended = agents.start(NewRun::new("r1", "clerk", "Tea.")).await.unwrap();
    assert_eq!(ended.to_string(), "ended with a text");
    let said = ["user: Tea.", "model: Done. +0"];
    assert_eq!(outline(&agents.history("r1").await.unwrap()), said);
    assert_eq!(Runs::of(Arc::new(world.store())).list_ended().await.unwrap().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_message_that_waits_for_the_end_of_a_request_is_not_read_again_and_again() {
    let world = World::on_tokio_time();
    let model = Arc::new(ScriptedModel::new().hangs().says("Done."));
    let store = Unreadable::of(world.store());
    let first = world.on(store.clone(), &model).build().unwrap();
    let driven = tokio::spawn(async move { first.start(NewRun::new("r1", "clerk", "Tea.")).await });
    while model.requests().is_empty() {
        sleep(Duration::from_millis(5)).await;
    }
    let second = world.process(&model);
    second.send("r1", "And milk.").await.unwrap();
    let before = store.readings("run/r1/inbox/");
    sleep(Duration::from_mins(2)).await;
    let readings = store.readings("run/r1/inbox/") - before;
    assert!(readings <= 2, "{readings} readings");

    second.send_now("r1", "Now.").await.unwrap();
    assert_eq!(driven.await.unwrap().unwrap().to_string(), "ended with a text");
    let said = ["user: Tea.", "user: And milk.", "user: Now.", "model: Done. +0"];
    assert_eq!(outline(&second.history("r1").await.unwrap()), said);
}
