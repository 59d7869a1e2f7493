//! The window of an agent whose builder sets none: that of its model.

use std::sync::Arc;

use futures::future::BoxFuture;
use toolwright::dialect::Dialect;
use toolwright_agent::http::HttpModel;
use toolwright_agent::{
    Agent, Fallback, HandOff, Model, ModelAnswer, ModelError, ModelRequest, Prices, ScriptedModel,
    ScriptedRequest, SubAgent,
};

use super::READ_PAGE;

/// An address that needs no TLS; it is not asked.
const LOOPBACK: &str = "http://127.0.0.1:9";

/// A scripted model whose window is known.
struct Narrow(Arc<ScriptedModel>);

impl Model for Narrow {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn dialect(&self) -> Dialect {
        self.0.dialect()
    }

    fn window(&self) -> Option<u64> {
        Some(16_000)
    }

    fn answer<'a>(
        &'a self,
        request: ModelRequest<'a>,
    ) -> BoxFuture<'a, Result<ModelAnswer, ModelError>> {
        self.0.answer(request)
    }
}

/// Returns the number of bytes of the largest history that the model was sent in 30 turns.
async fn largest_request(window: Option<u64>) -> usize {
    let mut model = ScriptedModel::new();
    for page in 0..30 {
        model = model.calls([("read_page", format!(r#"{{"page":{page}}}"#).as_str())]);
    }
    let model = Arc::new(model.says("Done."));
    let agent = Agent::builder(Narrow(Arc::clone(&model))).tools([READ_PAGE]).max_turns(100);
    let agent = window.into_iter().fold(agent, |agent, window| agent.window(window));
    agent.build().unwrap().run("Read the book.").await.unwrap();
    let bytes = |it: &ScriptedRequest| serde_json::to_string(&it.history).unwrap().len();
    model.requests().iter().map(bytes).max().unwrap()
}

#[tokio::test]
async fn a_history_that_outgrows_the_window_of_its_model_is_shortened_unless_the_agent_has_another()
{
    let (own, small, whole) = tokio::join!(
        largest_request(None),
        largest_request(Some(16_000)),
        largest_request(Some(u64::MAX))
    );
    assert_eq!(own, small);
    assert!(whole > 2 * own, "{whole} bytes without a window, {own} with that of the model");
}

#[tokio::test]
async fn a_run_that_is_handed_off_to_another_model_has_the_window_of_that_model() {
    let mut clerk = ScriptedModel::new();
    for page in 0..30 {
        clerk = clerk.calls([("read_page", format!(r#"{{"page":{page}}}"#).as_str())]);
    }
    let clerk = Arc::new(clerk.says("Done."));
    let handed = ("hand_off", r#"{"agent":"clerk","reason":"It is a book."}"#);
    let agent = Agent::builder(ScriptedModel::new().calls([handed])).tools([READ_PAGE]);
    let reader = HandOff::to("clerk", "Reads.").model(Narrow(Arc::clone(&clerk)));
    let agent = agent.max_turns(100).window(u64::MAX).hand_off(reader);
    agent.build().unwrap().run("Read the book.").await.unwrap();
    let bytes = |it: &ScriptedRequest| serde_json::to_string(&it.history).unwrap().len();
    let most = clerk.requests().iter().map(bytes).max().unwrap();
    assert!(clerk.requests().len() == 31 && most < 16_000 * 4, "{most}");
}

#[tokio::test]
async fn a_sub_agent_with_a_model_of_its_own_has_the_window_of_that_model() {
    let mut clerk = ScriptedModel::new();
    for page in 0..30 {
        clerk = clerk.calls([("read_page", format!(r#"{{"page":{page}}}"#).as_str())]);
    }
    let clerk = Arc::new(clerk.says("Done."));
    let task = ("spawn_agent", r#"{"agent":"clerk","task":"Read the book."}"#);
    let model = ScriptedModel::new().calls([task]).says("Done.");
    let agent = Agent::builder(model).tools([READ_PAGE]).max_turns(100).window(u64::MAX);
    let sub_agent = SubAgent::new("clerk", "Reads.").model(Narrow(Arc::clone(&clerk)));
    let agent = agent.sub_agent(sub_agent.max_turns(60));
    agent.build().unwrap().run("Read the book.").await.unwrap();
    let bytes = |it: &ScriptedRequest| serde_json::to_string(&it.history).unwrap().len();
    let most = clerk.requests().iter().map(bytes).max().unwrap();
    assert!(clerk.requests().len() == 31 && most < 16_000 * 4, "{most}");
}

#[test]
fn a_model_over_http_knows_the_window_that_its_price_list_has() {
    let model = |name: &str| HttpModel::openai_responses(name).base_url(LOOPBACK).key("k");
    let known = model("gpt-5.2-2025-12-11").build().unwrap();
    assert_eq!(known.window(), Some(400_000));
    assert_eq!(model("house-model").build().unwrap().window(), None);
    assert_eq!(model("gpt-5.2").prices(Prices::none()).build().unwrap().window(), None);
    let compacting = model("gpt-5.2").compact_above(100_000).build().unwrap();
    assert_eq!(compacting.window(), None, "its server keeps the history small");
    let smaller =
        HttpModel::anthropic("claude-haiku-4-5").base_url(LOOPBACK).key("k").build().unwrap();
    assert_eq!(Fallback::builder(known).then(smaller).build().window(), Some(200_000));
}
