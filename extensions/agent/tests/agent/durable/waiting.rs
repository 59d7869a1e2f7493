//! A run waits for people without a process, goes on by itself when they have decided, and is cancelled.

use std::time::Duration;

use toolwright::approval::ApproverKey;
use toolwright::journal::{Filter, State, Store as _};
use toolwright_agent::durable::{NewRun, Phase, RunError};
use toolwright_agent::{Message, ModelAnswer, RunEnd, check};

use super::process::{Provider, World, calls};

fn provider() -> std::sync::Arc<Provider> {
    Provider::new([
        calls([
            ("find", r#"{"word":"tea"}"#),
            ("pay", r#"{"amount":3}"#),
            ("pay", r#"{"amount":4}"#),
        ]),
        ModelAnswer::text("Paid."),
    ])
}

fn lines(world: &World, word: &str) -> usize {
    world.log.lines().iter().filter(|line| line.starts_with(word)).count()
}

/// S3.26, S3.34, S3.38, S3.43.
#[tokio::test(start_paused = true)]
async fn a_run_whose_calls_ask_waits_with_the_answers_of_the_others() {
    let (world, model) = (World::new(), provider());
    let agents = world.process(&model);
    let progress = agents.start(NewRun::new("r1", "clerk", "pay them")).await.unwrap();
    let waiting = progress.waiting().unwrap();
    assert_eq!((waiting.turn, waiting.calls.len(), waiting.requests.len()), (1, 2, 2));
    assert!(waiting.calls.iter().all(|call| call.state == State::Pending && call.tool == "pay"));
    assert_eq!(waiting.requests[0].reason, "it pays");
    let head = agents.head("r1").await.unwrap();
    assert_eq!((head.phase, head.lease, head.waiting.len()), (Phase::Waiting, None, 2));
    assert_eq!((lines(&world, "find"), lines(&world, "pay")), (1, 0));

    // Looked at again, it waits, and nothing runs.
    let again = world.process(&model).resume("r1").await.unwrap();
    assert_eq!(again.waiting().unwrap().requests.len(), 2);
    assert_eq!((lines(&world, "find"), model.asked()), (1, 1));
}

/// S3.35, S3.36, S3.37, S3.38.
#[tokio::test(start_paused = true)]
async fn a_run_goes_on_by_itself_when_the_last_of_its_calls_is_decided() {
    let (world, model) = (World::new(), provider());
    let started = world.process(&model).start(NewRun::new("r1", "clerk", "pay them")).await;
    let calls: Vec<_> =
        started.unwrap().waiting().unwrap().calls.iter().map(|call| call.call).collect();

    let agents = world.process(&model);
    let working = tokio::spawn({
        let agents = agents.clone();
        async move { agents.work().await }
    });
    world.approve(calls[0]).await;
    while lines(&world, "pay") == 0 {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    tokio::time::sleep(Duration::from_secs(5)).await;
    assert_eq!(agents.head("r1").await.unwrap().phase, Phase::Waiting, "one is not decided");
    assert_eq!(model.asked(), 1);

    let no = Some("too much".to_owned());
    world.approvals().reject(calls[1], no, &world.key()).await.unwrap();
    while agents.head("r1").await.unwrap().phase != Phase::Ended {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    working.abort();
    let history = agents.history("r1").await.unwrap();
    let Message::ToolResults(answers) = &history[2] else { panic!("the answers") };
    let texts: Vec<String> = answers.iter().map(|(_, answer)| answer.text().into_owned()).collect();
    assert_eq!(texts[..2], ["the meaning of tea", "paid 3"]);
    assert!(texts[2].contains("too much"), "{}", texts[2]);
    assert_eq!((lines(&world, "find"), lines(&world, "pay"), model.asked()), (1, 1, 2));
    // The run has taken every answer.
    let open = Filter { delivered: Some(false), ..Filter::default() };
    let page = toolwright::journal::Page::first(10);
    assert!(world.store().list(&open, page).await.unwrap().is_empty());
}

/// The key of a person whom the application does not name.
#[tokio::test(start_paused = true)]
async fn a_run_that_waits_says_why_a_decision_did_not_count() {
    let (world, model) = (World::new(), provider());
    let progress = world.process(&model).start(NewRun::new("r1", "clerk", "pay them")).await;
    let call = progress.unwrap().waiting().unwrap().calls[0].call;
    let eve = ApproverKey::generate("eve").unwrap();
    world.approvals().approve(call, &eve).await.unwrap();

    let again = world.process(&model).resume("r1").await.unwrap();
    let waiting = again.waiting().unwrap();
    assert_eq!((waiting.calls.len(), lines(&world, "pay")), (2, 0));
    let words = waiting.to_string();
    assert!(words.contains("pending: it pays ("), "{words}");
    assert!(words.contains("is not trusted: the application names the keys that count"), "{words}");
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_run_answers_its_open_calls_and_says_who_cancelled_it() {
    let (world, model) = (World::new(), provider());
    let agents = world.process(&model);
    agents.start(NewRun::new("r1", "clerk", "pay them")).await.unwrap();
    world.process(&model).cancel("r1", "bob", "the wrong customer").await.unwrap();

    let head = agents.head("r1").await.unwrap();
    let cancelled = head.cancelled.unwrap();
    assert_eq!((cancelled.who.as_str(), cancelled.why.as_str()), ("bob", "the wrong customer"));
    assert_eq!((head.phase, head.ended.as_deref()), (Phase::Ended, Some("cancelled")));
    let history = agents.history("r1").await.unwrap();
    assert!(check(&history).unwrap().is_empty());
    let Message::ToolResults(answers) = &history[2] else { panic!("the answers") };
    assert_eq!(answers[0].1.text(), "the meaning of tea");
    assert!(answers[1..].iter().all(|(_, answer)| answer.is_error()));
    assert_eq!((lines(&world, "find"), lines(&world, "pay"), model.asked()), (1, 0, 1));
    let said = agents.send("r1", "and now?").await.unwrap_err();
    assert!(matches!(said, RunError::NotNow { .. }), "{said}");
}

#[tokio::test(start_paused = true)]
async fn a_run_that_has_ended_goes_on_when_its_user_says_more() {
    let world = World::new();
    let model = Provider::new([ModelAnswer::text("Hello."), ModelAnswer::text("Good-bye.")]);
    let agents = world.process(&model);
    agents.start(NewRun::new("r1", "clerk", "good morning")).await.unwrap();
    let ended = world.process(&model).send("r1", "good night").await.unwrap();
    assert!(matches!(ended.ended(), Some(RunEnd::Text { text, .. }) if text == "Good-bye."));
    assert_eq!(agents.history("r1").await.unwrap().len(), 4);
}
