//! Ceilings over all runs: what a user, an agent and the application may spend in a day or month.

mod reserved;

use std::collections::BTreeSet;
use std::future::IntoFuture;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use futures::future::{BoxFuture, join_all};
use jiff::Timestamp;
use toolwright::dialect::Dialect;
use toolwright::journal::{CommitError, MemoryStore, Store, StoreError, Transaction};
use toolwright::tool;
use toolwright_agent::durable::Runs;
use toolwright_agent::{
    Agent, AgentBuilder, AgentError, Ceiling, CeilingOf, Cost, Limit, Model, ModelAnswer,
    ModelError, ModelRequest, Period, PeriodSpending, Price, Rates, RunEnd, RunError, RunResult,
    ScriptedModel, SubAgent, Usage,
};

use crate::delegate::task;
use crate::durable::process::World;

/// A model of which each answer takes a second, and costs 1.4 cents.
struct Priced;

fn price() -> Price {
    // A million tokens of a request cost a dollar, those of an answer ten.
    Price::new(Rates::new(Cost::cents(100), Cost::cents(1_000)))
}

impl Model for Priced {
    fn name(&self) -> &str {
        "priced"
    }

    fn dialect(&self) -> Dialect {
        Dialect::Anthropic
    }

    fn most_cost(&self, input_tokens: u64, output_tokens: u64) -> Option<Cost> {
        Some(price().most(input_tokens, output_tokens))
    }

    fn answer<'a>(&'a self, _: ModelRequest<'a>) -> BoxFuture<'a, Result<ModelAnswer, ModelError>> {
        Box::pin(async {
            tokio::time::sleep(Duration::from_secs(1)).await;
            let usage = Usage::new(4_000, 1_000);
            Ok(ModelAnswer::text("Done.").usage(usage).cost(price().cost(usage)))
        })
    }
}

/// Looks.
#[tool(effect = read)]
async fn look() {}

/// What one answer costs.
const ANSWER: Cost = Cost::picos(14_000_000_000);

fn builder(world: &World, store: impl Store) -> AgentBuilder {
    Agent::builder(Priced).journal(world.journal(Arc::new(store))).max_tokens(1_000)
}

fn limit(ended: Result<RunResult, RunError>) -> Option<Limit> {
    match ended {
        Ok(_) => None,
        Err(error) => match error.result().expect("it ended").end() {
            RunEnd::Limit(limit) => Some(limit.clone()),
            end => panic!("{end}"),
        },
    }
}

async fn spending(store: MemoryStore) -> Vec<PeriodSpending> {
    Runs::of(Arc::new(store)).spending().await.unwrap()
}

/// A store that refuses to be overspent: no commit may hold more than the ceiling. The replies of some commits are lost.
struct Watched {
    inner: MemoryStore,
    ceiling: Cost,
    commits: AtomicU32,
    /// The reply of every commit of spending with a number of these is lost.
    loses: fn(u32) -> bool,
}

impl Watched {
    fn new(inner: MemoryStore, ceiling: Cost, loses: fn(u32) -> bool) -> Self {
        Self { inner, ceiling, commits: AtomicU32::new(0), loses }
    }
}

impl Store for Watched {
    fn commit<'a>(
        &'a self,
        unit: Transaction,
        now: Timestamp,
    ) -> BoxFuture<'a, Result<(), CommitError>> {
        Box::pin(async move {
            let spends = unit.documents.iter().filter(|it| it.key.starts_with("spending/"));
            let mut is_spending = false;
            for text in spends.filter_map(|it| it.text.as_ref()) {
                is_spending = true;
                let found: serde_json::Value = serde_json::from_str(text).unwrap();
                let held = found["spent"].as_u64().unwrap() + found["reserved"].as_u64().unwrap();
                assert!(held <= self.ceiling.in_picos(), "{text}");
            }
            // Others come between.
            tokio::task::yield_now().await;
            self.inner.commit(unit, now).await?;
            match is_spending && (self.loses)(self.commits.fetch_add(1, Ordering::SeqCst)) {
                true => Err(StoreError::unavailable("the connection was cut").into()),
                false => Ok(()),
            }
        })
    }

    toolwright::pass_on_leases!(inner);
    toolwright::pass_on_questions!(inner);
}

/// Each process makes an agent of its own on the journal, and all ask at once.
#[tokio::test(start_paused = true)]
async fn processes_that_reach_a_ceiling_at_once_spend_not_one_cent_more() {
    let ceiling = Cost::cents(10);
    let world = World::on_tokio_time().at_noon();
    let agents: Vec<Agent> = (0..3)
        .map(|_| {
            let store = Watched::new(world.store(), ceiling, |_| false);
            let agent = builder(&world, store);
            agent.ceiling(Ceiling::of_the_application(Period::Day, ceiling)).build().unwrap()
        })
        .collect();
    let runs = agents.iter().flat_map(|agent| (0..10).map(move |_| agent.run("Go!")));
    let ended = join_all(runs.map(IntoFuture::into_future)).await;
    let (limited, done): (Vec<_>, Vec<_>) = ended.into_iter().map(limit).partition(Option::is_some);
    let [found] = &spending(world.store()).await[..] else { panic!("one period") };
    assert_eq!(found.spending.spent, Cost::picos(ANSWER.in_picos() * done.len() as u64));
    assert_eq!((found.spending.reserved, found.spending.unsettled), (Cost::default(), 0));
    // What is reserved for each is a third more than what it takes, so that six fit at first.
    assert!(done.len() >= 4 && limited.len() >= 20, "{} of 30 were done", done.len());
    let Some(Limit::Ceiling { whose, name, ceiling: reached, held, next, .. }) = &limited[0] else {
        panic!("{limited:?}")
    };
    assert_eq!((whose, name, reached), (&CeilingOf::Application, &None, &ceiling));
    assert!(held.plus(*next) > ceiling);
}

#[tokio::test(start_paused = true)]
async fn a_user_who_has_reached_the_ceiling_goes_on_the_next_day_and_others_go_on_at_once() {
    let world = World::new().at_noon();
    let agent = builder(&world, world.store())
        .ceiling(Ceiling::of_each_user(Period::Day, Cost::picos(25_000_000_000)))
        .ceiling(Ceiling::of_the_agent(Period::Month, Cost::cents(100)))
        .build()
        .unwrap();
    let mut chat = agent.chat().id("c1").user("ada");
    chat.send("One.").await.unwrap();
    let reached = limit(chat.send("Two.").await).unwrap();
    let words = reached.to_string();
    assert!(words.starts_with("the ceiling of $0.0250 for the user `ada` in 20"), "{words}");
    assert!(words.contains("$0.0140 of it is spent or reserved"), "{words}");
    agent.run("Go!").user("bob").await.unwrap();
    agent.run("Go!").await.unwrap();
    world.pass(Duration::from_hours(24));
    assert_eq!(chat.send("And now?").await.unwrap().to_string(), "Done.");
    let all = spending(world.store()).await;
    let of = |name: &str| -> Vec<Cost> {
        let found = all.iter().filter(|it| it.name.as_deref() == Some(name));
        found.map(|it| it.spending.spent).collect()
    };
    assert_eq!((of("ada"), of("bob")), (vec![ANSWER, ANSWER], vec![ANSWER]));
    let agent: u64 = of("agent").iter().map(|it| it.in_picos()).sum();
    assert_eq!(agent, 4 * ANSWER.in_picos(), "over one month or two");
    let keys: BTreeSet<_> = all.iter().map(|it| (it.period.len(), it.whose)).collect();
    assert_eq!(
        keys.into_iter().collect::<Vec<_>>(),
        [(7, CeilingOf::Agent), (10, CeilingOf::User)]
    );
}

#[tokio::test(start_paused = true)]
async fn what_sub_agents_ask_for_is_under_the_ceilings_of_the_run() {
    let world = World::new().at_noon();
    let clerk = ScriptedModel::new()
        .price(price())
        .answers(ModelAnswer::text("Tea.").usage(Usage::new(4_000, 1_000)));
    let task = task("clerk");
    let call = crate::support::call("call_1", "spawn_agent", &task);
    let model = ScriptedModel::new()
        .price(price())
        .answers(ModelAnswer::new("", vec![call]).usage(Usage::new(4_000, 1_000)));
    let agent = Agent::builder(model)
        .journal(world.journal(Arc::new(world.store())))
        .unrestricted()
        .tools([LOOK])
        .max_tokens(1_000)
        .sub_agent(SubAgent::new("clerk", "Looks words up.").model(clerk))
        .ceiling(Ceiling::of_each_user(Period::Month, Cost::cents(4)))
        .build()
        .unwrap();
    assert!(matches!(limit(agent.run("Go!").user("ada").await), Some(Limit::Ceiling { .. })));
    let [found] = &spending(world.store()).await[..] else { panic!("one period") };
    assert_eq!(found.spending.spent, ANSWER.plus(ANSWER));
}

/// A commit whose reply is lost is not made twice, and what is not known counts as spent.
#[tokio::test(start_paused = true)]
async fn a_lost_reply_of_the_journal_lets_no_run_spend_more() {
    // Every second commit settles a request.
    for loses in [|it: u32| it % 2 == 1, |it: u32| it.is_multiple_of(4)] as [fn(u32) -> bool; 2] {
        let (world, ceiling) = (World::new().at_noon(), Cost::cents(20));
        let store = Watched::new(world.store(), ceiling, loses);
        let agent = builder(&world, store)
            .ceiling(Ceiling::of_the_application(Period::Day, ceiling))
            .build()
            .unwrap();
        let mut done = 0;
        while limit(agent.run("Go!").await).is_none() {
            done += 1;
        }
        let [found] = &spending(world.store()).await[..] else { panic!("one period") };
        let taken = found.spending;
        assert_eq!(taken.spent, Cost::picos(ANSWER.in_picos() * done), "{taken:?}");
        let unsettled = world.store().documents("reserved/").await.unwrap().len();
        assert_eq!(taken.unsettled, unsettled as u64);
        assert!(done >= 6, "{done}");
    }
}

/// A process that dies while it asks leaves what it had reserved: that may have been spent.
#[tokio::test(start_paused = true)]
async fn a_request_whose_process_dies_counts_as_much_as_was_reserved() {
    let world = World::new().at_noon();
    let make = || {
        builder(&world, world.store())
            .ceiling(Ceiling::of_the_application(Period::Day, Cost::cents(5)))
            .build()
            .unwrap()
    };
    let first = make();
    let request = first.run("Go!").id("r1").into_future();
    assert!(tokio::time::timeout(Duration::from_millis(500), request).await.is_err());
    let [found] = &spending(world.store()).await[..] else { panic!("one period") };
    assert_eq!((found.spending.unsettled, found.spending.spent), (1, Cost::default()));
    assert!(found.spending.reserved > ANSWER);
    drop(first);
    world.pass(Duration::from_mins(2));
    make().run("Go!").id("r1").await.unwrap();
    let [found] = &spending(world.store()).await[..] else { panic!("one period") };
    assert_eq!((found.spending.unsettled, found.spending.spent), (1, ANSWER));
}

#[tokio::test]
async fn a_ceiling_that_cannot_be_held_is_refused_when_the_agent_is_built() {
    let ceiling = Ceiling::of_each_user(Period::Day, Cost::cents(500));
    let refused = |builder: AgentBuilder| match builder.ceiling(ceiling).build() {
        Err(error @ AgentError::Ceiling { .. }) => error.to_string(),
        built => panic!("{:?}", built.map(drop)),
    };
    let without_journal = refused(Agent::builder(Priced).max_tokens(1_000));
    assert!(without_journal.contains("give the agent one by `.journal(…)`"), "{without_journal}");
    let recorded = |model: ScriptedModel| Agent::builder(model).journal(MemoryStore::new());
    let endless = refused(recorded(ScriptedModel::new().price(price())));
    assert!(endless.contains("limit it by `.max_tokens(…)`"), "{endless}");
    let unknown = refused(recorded(ScriptedModel::new()).max_tokens(10));
    assert_eq!(
        unknown,
        "the ceiling of $5.0000 a day for each user cannot be enforced: the price of the model `scripted` is not known; add it to the prices of the model, or leave the ceiling out"
    );
    let clerk = SubAgent::new("clerk", "Looks words up.").model(ScriptedModel::new());
    let priced = recorded(ScriptedModel::new().price(price())).max_tokens(10).sub_agent(clerk);
    assert!(refused(priced.tools([LOOK])).contains("is not known"));
}
