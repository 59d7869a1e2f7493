//! What is reserved for a request: everything in it that a provider counts, and requests for summaries.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use futures::future::BoxFuture;
use toolwright::dialect::Dialect;
use toolwright::journal::MemoryStore;
use toolwright::{Content, Output, tool};
use toolwright_agent::{
    Agent, Ceiling, Cost, Model, ModelAnswer, ModelError, ModelRequest, NoticeKind, OutputFormat,
    Period, Price, Rates, ScriptedModel,
};

use super::{ANSWER, Priced, limit, price, spending};
use crate::durable::process::World;

/// A model that follows a script, with this price; its answers do not say what they cost.
struct Script(ScriptedModel, Price);

impl Model for Script {
    fn name(&self) -> &str {
        "script"
    }

    fn dialect(&self) -> Dialect {
        Model::dialect(&self.0)
    }

    fn most_cost(&self, input_tokens: u64, output_tokens: u64) -> Option<Cost> {
        Some(self.1.most(input_tokens, output_tokens))
    }

    fn takes_format(&self, _: &OutputFormat) -> bool {
        true
    }

    fn answer<'a>(
        &'a self,
        request: ModelRequest<'a>,
    ) -> BoxFuture<'a, Result<ModelAnswer, ModelError>> {
        self.0.answer(request)
    }
}

/// Looks at a picture, or reads as many letters.
#[tool(effect = read)]
async fn look_at(
    /// Whether it is a picture.
    is_picture: bool,
) -> Output {
    match is_picture {
        true => Output::default()
            .with(Content::Image { media_type: "image/png".into(), data: "aGVsbG8=".into() }),
        false => Output::text("aGVsbG8="),
    }
}

#[tokio::test]
async fn a_picture_in_the_answer_of_a_tool_is_reserved_as_one_of_the_user_is() {
    for (arguments, fits) in [(r#"{"is_picture":false}"#, true), (r#"{"is_picture":true}"#, false)]
    {
        let script = ScriptedModel::new().calls([("look_at", arguments)]);
        let script = if fits { script.says("Done.") } else { script };
        let world = World::new().at_noon();
        let agent = Agent::builder(Script(script, price())).max_tokens(1_000).tools([LOOK_AT]);
        let agent = agent.journal(world.journal(Arc::new(MemoryStore::new())));
        let agent = agent.ceiling(Ceiling::of_the_application(Period::Day, Cost::cents(5)));
        let limit = limit(agent.build().unwrap().run("Look!").await);
        assert_eq!(limit.is_none(), fits, "{limit:?}");
    }
}

/// A value with many words about itself.
#[toolwright::data]
struct Wordy {
    #[doc = include_str!("../ceilings.rs")]
    text: String,
}

#[tokio::test]
async fn the_schema_of_a_value_is_a_part_of_its_request() {
    let world = World::new().at_noon();
    let agent = |script: ScriptedModel| {
        let script = Script(script, price());
        let agent = Agent::builder(script).max_tokens(1_000);
        let agent = agent.journal(world.journal(Arc::new(MemoryStore::new())));
        agent.ceiling(Ceiling::of_the_application(Period::Day, Cost::cents(2)))
    };
    let asked = agent(ScriptedModel::new().says("x")).build().unwrap().run("Say!").await;
    assert_eq!(limit(asked), None);
    let asked = agent(ScriptedModel::new()).output::<Wordy>().build().unwrap().run("Say!").await;
    assert!(limit(asked).is_some());
}

#[tokio::test(start_paused = true)]
async fn a_summary_is_under_the_ceilings_of_its_run() {
    for (ceiling, is_made) in [(Cost::cents(1_000), true), (Cost::picos(1), false)] {
        let mut script = ScriptedModel::new();
        for _ in 0..30 {
            script = script.calls([("look_at", r#"{"is_picture":false}"#)]);
        }
        let free = Price::new(Rates::new(Cost::default(), Cost::default()));
        let (world, store) = (World::new().at_noon(), MemoryStore::new());
        let reported = Arc::new(AtomicU32::new(0));
        let heard = Arc::clone(&reported);
        let agent = Agent::builder(Script(script.says("Done."), free)).max_tokens(1_000);
        let agent = agent.tools([LOOK_AT]).max_turns(100).window(2_000).summarizer(Priced);
        let agent = agent.journal(world.journal(Arc::new(store.clone()))).listen(move |notice| {
            let counts = match notice.kind {
                NoticeKind::Summarized { .. } => is_made,
                NoticeKind::NotSummarized { why } => !is_made && why.contains("ceiling"),
                _ => return,
            };
            heard.fetch_add(u32::from(counts), Ordering::Relaxed);
        });
        let agent = agent.ceiling(Ceiling::of_the_application(Period::Day, ceiling));
        agent.build().unwrap().run("Look!").await.unwrap();
        let made = reported.load(Ordering::Relaxed);
        assert!(made > 0, "{is_made}");
        let spent = spending(store).await[0].spending.held();
        let expected = (0..made).fold(Cost::default(), |sum, _| sum.plus(ANSWER));
        assert_eq!(spent, if is_made { expected } else { Cost::default() });
    }
}
