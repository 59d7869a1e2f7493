//! Guards of an agent and the sub-agents that it has.

use std::sync::Arc;
use std::time::Duration;

use toolwright_agent::durable::{NewRun, RunError, Runner};
use toolwright_agent::{
    AfterDecision, Agent, BeforeDecision, Guard, ModelAnswer, RunEnd, ScriptedModel, SubAgent,
};

use crate::delegate::{answers, builder, starts, task};
use crate::durable::process::{Deadly, FIND, PAY, Provider, SEND, World, calls, until_dead};
use crate::support::Log;

#[tokio::test]
async fn requests_and_answers_of_a_sub_agent_pass_the_guards_of_its_agent() {
    let clerk =
        Arc::new(ScriptedModel::new().says("Tea is a drink of Acme.").says("Tea is a drink."));
    let sub_agent =
        SubAgent::new("clerk", "Looks words up.").profile(["look_up"]).model(Arc::clone(&clerk));
    let seen = Log::default();
    let noted = seen.clone();
    let requests = Guard::before_model("secret", move |request| {
        noted.add(request.run.agent.to_string());
        async move {
            match request.map_texts(|text| text.contains("Do it").then(|| "Do that.".to_owned())) {
                Some(change) => BeforeDecision::change(change, "so"),
                None => BeforeDecision::Continue,
            }
        }
    });
    let answers_of =
        Guard::after_model("no-rivals", async |answer| match answer.answer.text.contains("Acme") {
            true => AfterDecision::ask_again("Without Acme."),
            false => AfterDecision::Continue,
        });
    let prompts = Guard::before_run("named", async |prompt| {
        BeforeDecision::change(format!("Ada: {}", prompt.text), "so")
    });
    let agent = builder(&Log::default(), starts("clerk")).sub_agent(sub_agent);
    let agent = agent.guard(requests).guard(answers_of).guard(prompts).build().unwrap();
    let result = agent.run("What is tea?").await.unwrap();
    assert_eq!(answers(result.history(), 0)[0]["answer"], "Tea is a drink.");
    assert_eq!(seen.lines(), ["agent", "agent/clerk", "agent/clerk", "agent"]);
    let text = format!(
        "{:?}",
        clerk.requests()[0]
            .history
            .iter()
            .map(|it| { serde_json::to_string(it).unwrap() })
            .collect::<Vec<_>>()
    );
    assert!(text.contains("Do that.") && !text.contains("Ada"), "{text}");
}

#[tokio::test]
async fn a_guard_that_stops_a_sub_agent_ends_its_work_and_its_parent_reads_that() {
    let clerk = Arc::new(ScriptedModel::new().says("Acme."));
    let sub_agent = SubAgent::new("clerk", "Looks words up.").profile(["look_up"]).model(clerk);
    let stop =
        Guard::after_model("no-rivals", async |answer| match answer.answer.text.contains("Acme") {
            true => AfterDecision::stop("Acme"),
            false => AfterDecision::Continue,
        });
    let agent = builder(&Log::default(), starts("clerk")).sub_agent(sub_agent);
    let result = agent.guard(stop).build().unwrap().run("What is tea?").await.unwrap();
    let answer = &answers(result.history(), 0)[0];
    assert_eq!((&answer["ended"], &answer["answer"]), (&"guard_stopped".into(), &"".into()));
}

/// A process whose worker is sent back once.
fn process(
    world: &World,
    store: impl toolwright::journal::Store,
    clerk: &Arc<Provider>,
    worker: &Arc<Provider>,
) -> Runner {
    let worker = SubAgent::new("worker", "Works.").model(Arc::clone(worker));
    let finds = Guard::after_model("finds", async |answer| {
        match answer.answer.calls.first().is_some_and(|it| it.arguments.contains("hello")) {
            true => AfterDecision::ask_again("Find first."),
            false => AfterDecision::Continue,
        }
    });
    let agent = Agent::builder(Arc::clone(clerk))
        .tools([FIND, SEND, PAY])
        .service(world.log.clone())
        .unrestricted()
        .journal(world.journal(Arc::new(store)))
        .sub_agent(worker)
        .guard(finds)
        .build()
        .unwrap();
    Runner::builder().agent("clerk", agent).build().unwrap()
}

#[tokio::test(start_paused = true)]
async fn what_was_sent_back_in_a_sub_agent_stays_so_whenever_its_process_dies() {
    let clerk = || {
        Provider::new([
            calls([("spawn_agent", task("worker").as_str())]),
            ModelAnswer::text("Done."),
        ])
    };
    let worker = || {
        Provider::new([
            calls([("send", r#"{"text":"hello"}"#)]),
            calls([("find", r#"{"word":"tea"}"#)]),
            calls([("send", r#"{"text":"tea"}"#)]),
            ModelAnswer::text("Worked."),
        ])
    };
    for at in 0.. {
        let (world, clerk, worker) = (World::new(), clerk(), worker());
        let (store, dead) = Deadly::at(&world, at);
        let first = process(&world, store, &clerk, &worker);
        let run = || NewRun::new("r1", "clerk", "greet them");
        if let Some(ended) = until_dead(first.start(run()), &dead).await {
            assert!(ended.unwrap().ended().is_some());
            assert!(at > 20, "there are more commits than {at}");
            break;
        }
        drop(first);
        let second = process(&world, world.store(), &clerk, &worker);
        world.pass(Duration::from_mins(2));
        let resumed = match second.resume("r1").await {
            Err(RunError::NoSuchRun { .. }) => second.start(run()).await,
            resumed => resumed,
        };
        let resumed = resumed.unwrap();
        assert!(matches!(resumed.ended(), Some(RunEnd::Text { .. })), "commit {at}: {resumed}");
        let history = second.history("r1").await.unwrap();
        let answer = &answers(&history, 0)[0];
        assert_eq!((&answer["answer"], &answer["turns"]), (&"Worked.".into(), &4.into()), "{at}");
        let sent = world.log.lines();
        assert!(sent.iter().all(|it| !it.starts_with("send hello")), "commit {at}: {sent:?}");
        let asked = clerk.asked() + worker.asked();
        assert!((6..=7).contains(&asked), "commit {at}: {asked} requests");
    }
}
