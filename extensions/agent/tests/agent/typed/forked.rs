//! Forks of runs that end in a value of a type.

use std::future::IntoFuture as _;
use std::sync::Arc;

use jiff::Timestamp;
use toolwright::journal::MemoryStore;
use toolwright_agent::durable::{Phase, Runs};
use toolwright_agent::{Agent, Message, ScriptedModel};

use super::{PRICE_OF, Quote, TEA, tea};

const LOOK: (&str, &str) = ("price_of", r#"{"article":"tea"}"#);

struct World {
    store: MemoryStore,
    model: Arc<ScriptedModel>,
    agent: Agent,
}

impl World {
    fn new(model: ScriptedModel) -> Self {
        let (store, model) = (MemoryStore::new(), Arc::new(model));
        let agent = Agent::builder(Arc::clone(&model)).tools([PRICE_OF]).unrestricted();
        let agent = agent.journal(store.clone()).build().unwrap();
        Self { store, model, agent }
    }

    async fn fork(&self, run: &str, turn: u64, new: &str) -> Phase {
        let runs = Runs::of(Arc::new(self.store.clone()));
        runs.fork(run, turn, new, Timestamp::now()).await.unwrap().phase
    }

    async fn typed(&self, id: &str) -> Quote {
        let run = self.agent.run("What does tea cost?").id(id).typed::<Quote>();
        run.await.unwrap().into_output()
    }

    fn asked(&self) -> usize {
        self.model.requests().len()
    }

    /// The last message of the last request.
    fn last(&self) -> Message {
        self.model.requests().last().unwrap().history.last().unwrap().clone()
    }
}

#[tokio::test]
async fn a_fork_ends_in_what_its_last_turn_had_to_end_in_whatever_was_said_since() {
    let model = ScriptedModel::new().calls([LOOK]).calls([("final_answer", TEA)]).says("Bye.");
    let world = World::new(model.calls([("final_answer", TEA)]));
    world.typed("r1").await;
    // The conversation goes on without a type.
    world.agent.chat().id("r1").send("Thank you.").await.unwrap();
    assert_eq!(world.fork("r1", 1, "r2").await, Phase::Asking);
    assert_eq!(world.typed("r2").await, tea());
    assert_eq!(world.asked(), 4);
}

#[tokio::test]
async fn a_fork_of_what_was_said_without_a_type_needs_none_although_the_run_has_one_now() {
    let model = ScriptedModel::new().calls([LOOK]).says("450.").says("Tea: 450.");
    let world = World::new(model);
    world.agent.run("What does tea cost?").id("r1").await.unwrap();
    let typed = Agent::builder(ScriptedModel::new().says(TEA)).tools([PRICE_OF]).unrestricted();
    let typed = typed.journal(world.store.clone()).output::<Quote>().build().unwrap();
    let quote = typed.chat().id("r1").send("As a quote!").await.unwrap();
    assert_eq!(quote.output::<Quote>().unwrap(), tea());
    assert_eq!(world.fork("r1", 1, "r2").await, Phase::Asking);
    let text = world.agent.run("What does tea cost?").id("r2").await.unwrap();
    assert_eq!(text.text(), "Tea: 450.");
}

#[tokio::test]
async fn a_fork_of_the_turn_in_which_the_value_was_given_has_ended_in_it() {
    let model = ScriptedModel::new().calls([("final_answer", TEA)]).says("Bye.");
    let world = World::new(model);
    world.typed("r1").await;
    assert_eq!(world.fork("r1", 1, "r2").await, Phase::Ended);
    world.agent.chat().id("r1").send("Thank you.").await.unwrap();
    assert_eq!(world.fork("r1", 1, "r3").await, Phase::Ended);
    for run in ["r2", "r3"] {
        assert_eq!(world.typed(run).await, tea());
    }
    assert_eq!(world.asked(), 2);
}

#[tokio::test]
async fn a_fork_in_the_middle_of_a_correction_asks_with_what_is_wrong() {
    let world = World::new(ScriptedModel::new().says("Well.").hangs().says(TEA));
    {
        let run = world.agent.run("What does tea cost?").id("r1").typed::<Quote>();
        let mut run = run.into_future();
        while world.asked() < 2 {
            assert!(futures::poll!(&mut run).is_pending());
            tokio::task::yield_now().await;
        }
    }
    assert_eq!(world.fork("r1", 1, "r2").await, Phase::Asking);
    assert_eq!(world.typed("r2").await, tea());
    let Message::User { text, .. } = world.last() else { panic!("a correction") };
    assert!(text.starts_with("[Your answer is not the value"), "{text}");
}

#[tokio::test]
async fn a_fork_of_a_run_that_never_gave_the_value_asks_again_with_what_is_wrong() {
    let world = World::new(ScriptedModel::new().says("No.").says("No.").says("No.").says(TEA));
    let run = world.agent.run("What does tea cost?").id("r1").typed::<Quote>();
    assert!(!run.await.unwrap_err().output_problems().is_empty());
    assert_eq!(world.fork("r1", 3, "r2").await, Phase::Asking);
    assert_eq!(world.typed("r2").await, tea());
    let Message::User { text, .. } = world.last() else { panic!("a correction") };
    assert!(text.starts_with("[Your answer is not the value"), "{text}");
}
