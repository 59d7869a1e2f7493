//! What a run needs is gone when another process takes it up: a tool, or a service.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use toolwright::journal::{Filter, Journal, Page, Store as _};
use toolwright::{CallFailure, Executor, OnNoApprover, Registry, tool};
use toolwright_agent::durable::{NewRun, Phase, RunError, Runner};
use toolwright_agent::{Agent, Message, ModelAnswer, RunEnd, Stopped, check};

use super::process::{Deadly, FIND, Provider, World, calls, until_dead};

/// A process that knows no tool but `find`.
fn without_tools(world: &World, model: &Arc<Provider>) -> Runner {
    let tools = Registry::of([FIND]).unwrap();
    let executor = world.executor_of(world.store(), tools).unrestricted().build().unwrap();
    let agent = Agent::on(executor, Arc::clone(model)).build().unwrap();
    Runner::builder().agent("clerk", agent).build().unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_call_whose_tool_is_gone_is_unknown_only_where_it_was_never_made() {
    let (mut unknown, mut left, mut answered) = (0, 0, 0);
    for at in 0.. {
        let world = World::new();
        let model =
            Provider::new([calls([("send", r#"{"text":"hello"}"#)]), ModelAnswer::text("Done.")]);
        let (store, dead) = Deadly::at(&world, at);
        let first = world.on(store, &model).build().unwrap();
        let run = || NewRun::new("r1", "clerk", "go");
        if until_dead(first.start(run()), &dead).await.is_some() {
            break;
        }
        drop(first);
        world.pass(Duration::from_mins(2));
        let mut taker = without_tools(&world, &model);
        let progress = match taker.resume("r1").await {
            Err(RunError::NoSuchRun { .. }) => continue,
            Err(RunError::Stopped(Stopped::Call(CallFailure::NotHere { tool, .. }))) => {
                // It was made and is not answered: a process that has the tool goes on with it.
                assert_eq!(tool, "send", "commit {at}");
                left += 1;
                taker = world.process(&model);
                taker.resume("r1").await
            }
            progress => progress,
        }
        .unwrap_or_else(|error| panic!("commit {at}: {error}"));
        let is_done =
            matches!(progress.ended(), Some(RunEnd::Text { text, .. }) if text == "Done.");
        assert!(is_done, "commit {at}: {progress}");
        let history = taker.history("r1").await.unwrap();
        assert!(check(&history).unwrap().is_empty());
        let Message::ToolResults(answers) = &history[2] else { panic!("the answers") };
        let mut keys = world.log.lines();
        keys.dedup();
        match answers[0].1.error() {
            Some(error) => {
                assert_eq!(error.kind(), "unknown_tool", "commit {at}");
                assert!(keys.is_empty(), "commit {at}: {keys:?}");
                unknown += 1;
            }
            None => {
                assert_eq!(answers[0].1.text(), "sent hello", "commit {at}");
                assert_eq!(keys.len(), 1, "commit {at}: {keys:?}");
                answered += 1;
            }
        }
        let calls = world.store().list(&Filter::default(), Page::first(9)).await.unwrap().calls;
        assert!(calls.iter().all(|it| it.answer.is_some()), "commit {at}: nothing runs later");
    }
    assert!(unknown > 0 && left > 0 && answered > left, "{unknown}, {left}, {answered}");
}

#[tokio::test(start_paused = true)]
async fn an_approved_call_waits_for_a_process_that_has_its_tool_and_a_cancelled_one_does_not() {
    for is_cancelled in [false, true] {
        let world = World::new();
        let model =
            Provider::new([calls([("pay", r#"{"amount":3}"#)]), ModelAnswer::text("Paid.")]);
        let first = world.process(&model);
        let progress = first.start(NewRun::new("r1", "clerk", "pay")).await.unwrap();
        let call = progress.waiting().unwrap().calls[0].call;
        let second = without_tools(&world, &model);
        let waits = second.resume("r1").await.unwrap();
        assert_eq!(waits.waiting().unwrap().calls[0].call, call, "a person may still decide");
        world.approve(call).await;
        match second.resume("r1").await {
            Err(RunError::Stopped(Stopped::Call(CallFailure::NotHere { .. }))) => {}
            other => panic!("{other:?}"),
        }
        if is_cancelled {
            second.cancel("r1", "ada", "no more").await.unwrap();
            assert!(second.head("r1").await.unwrap().cancelled.is_some());
        } else {
            first.resume("r1").await.unwrap();
        }
        let history = second.history("r1").await.unwrap();
        let Message::ToolResults(answers) = &history[2] else { panic!("the answers") };
        let (kind, paid) = match is_cancelled {
            false => (None, vec!["pay 3".to_owned()]),
            true => (Some("cancelled"), Vec::new()),
        };
        assert_eq!(answers[0].1.error().map(|it| it.kind()), kind);
        assert_eq!(world.log.lines(), paid);
    }
}

/// What a run is about.
struct Ticket(u64);

/// Gives the number of the ticket.
#[tool(effect = read)]
async fn number(ticket: &Ticket) -> u64 {
    ticket.0
}

#[tokio::test(start_paused = true)]
async fn a_run_whose_services_fail_once_is_left_as_it_is_and_goes_on_when_they_can_be_made() {
    let world = World::new();
    let model = Provider::new([calls([("number", "{}")]), ModelAnswer::text("7.")]);
    let is_away = Arc::new(AtomicBool::new(false));
    let failures = Arc::new(std::sync::Mutex::new(Vec::new()));
    let executor = Executor::builder(Registry::of([NUMBER]).unwrap())
        .unrestricted()
        .per_run::<Ticket>()
        .journal(Journal::new(world.store()).on_no_approver(OnNoApprover::Park))
        .build()
        .unwrap();
    let agents = Runner::builder()
        .agent("clerk", Agent::on(executor, Arc::clone(&model)).build().unwrap())
        .services({
            let is_away = Arc::clone(&is_away);
            move |_, builder| match is_away.load(Ordering::SeqCst) {
                true => Err("the database is away".into()),
                false => Ok(builder.with(Ticket(7))),
            }
        })
        .on_failure({
            let failures = Arc::clone(&failures);
            move |run, error| failures.lock().unwrap().push(format!("{run}: {error}"))
        })
        .build()
        .unwrap();
    let work = tokio::spawn({
        let agents = agents.clone();
        async move { agents.work().await }
    });
    tokio::time::sleep(Duration::from_millis(10)).await;
    // It is recorded, and its services fail from then on.
    agents.submit(NewRun::new("r1", "clerk", "which?")).await.unwrap();
    is_away.store(true, Ordering::SeqCst);
    let before = world.store().documents("run").await.unwrap();
    while failures.lock().unwrap().is_empty() {
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let expected = "r1: the services of run `r1` could not be made: the database is away";
    assert_eq!(failures.lock().unwrap()[0], expected);
    assert_eq!(world.store().documents("run").await.unwrap(), before, "nothing was written");
    assert_eq!(model.asked(), 0);

    is_away.store(false, Ordering::SeqCst);
    while agents.head("r1").await.unwrap().phase != Phase::Ended {
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    work.abort();
    assert_eq!(agents.head("r1").await.unwrap().crashes, None, "a failure is no death");
}
