//! Tools that a provider runs itself: requests carry them as they are, and what they did goes back as it came.

use toolwright::provider::Provider;
use toolwright::tool;

use super::*;
use crate::agent::Agent;
use crate::events::RunEnd;
use crate::http::api::Api;
use crate::model::{ModelSettings, ProviderTool, StopReason};

/// Adds one.
#[tool(name = "math.add", effect = read)]
async fn add(
    /// To what.
    a: i64,
) -> i64 {
    a + 1
}

const SEARCH: &str = r#"{"type":"web_search_20250305", "name":"web_search"}"#;

fn written(api: Api, tools: &[ProviderTool], has_own: bool) -> Result<String, ModelError> {
    let own = if has_own { vec![ADD] } else { vec![] };
    let listing = Registry::of(own).unwrap().listing(api.provider().into()).unwrap();
    let history = [Message::user("Add.")];
    let settings = tools.iter().cloned().fold(ModelSettings::new(), ModelSettings::provider_tool);
    let request = ModelRequest::new(&history, &listing).settings(&settings);
    api.body(&api.asked("some-model", Some(100)), &request)
}

#[test]
fn a_request_has_the_tools_of_its_own_provider_as_they_are_after_the_applications() {
    for (api, other) in [
        (Api::Anthropic, Provider::Gemini),
        (Api::OpenAiChat, Provider::Anthropic),
        (Api::OpenAiResponses, Provider::OpenAiChat),
        (Api::Gemini, Provider::OpenAiResponses),
    ] {
        let own = ProviderTool::new(api.provider(), SEARCH);
        let foreign = ProviderTool::new(other, r#"{"type":"foreign"}"#);
        let plain = written(api, &[], true).unwrap();
        let both = written(api, &[foreign.clone(), own.clone(), own.clone()], true).unwrap();
        let tools = format!(",{SEARCH},{SEARCH}]");
        assert!(both.contains(&tools) && !both.contains("foreign"), "{both}");
        assert_eq!(both.replace(&tools, "]"), plain);
        let alone = written(api, &[own], false).unwrap();
        assert!(alone.contains(&format!("\"tools\":[{SEARCH}]")), "{alone}");
        assert_eq!(written(api, std::slice::from_ref(&foreign), true).unwrap(), plain);
        let none = written(api, &[foreign], false).unwrap();
        assert!(!none.contains("tools") && !none.contains("functionDeclarations"), "{none}");
    }
}

#[test]
fn a_definition_that_is_no_object_is_refused() {
    for definition in ["", "[]", "{", "7"] {
        let tool = ProviderTool::new(Provider::Gemini, definition);
        let error = written(Api::Gemini, std::slice::from_ref(&tool), true).unwrap_err();
        assert_eq!(error.kind(), "invalid_settings");
        assert!(
            error.message().contains(&format!("found the definition `{definition}`")),
            "{error}"
        );
        written(Api::Anthropic, &[tool], true).unwrap();
    }
}

/// The provider stops in the middle of its own tools, and wants its blocks back to go on.
#[tokio::test]
async fn an_answer_that_is_paused_goes_back_as_it_is_and_the_model_is_asked_again() {
    let block = r#"{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{"query": "tea"}}"#;
    let paused = format!(
        r#"{{"type":"message","role":"assistant","content":[{block}],"stop_reason":"pause_turn"}}"#
    );
    let server = Server::start(vec![Answers::with(200, &paused), Answers::with(200, DONE)]).await;
    let model = at(&server.url()).build().unwrap();
    let executor = toolwright::Executor::builder(Registry::empty()).build().unwrap();
    let agent = Agent::on(executor, model).build().unwrap();
    let mut run = agent.new_run("r").start().unwrap();
    let ended = run.send("Search.").await.unwrap();
    assert!(matches!(ended, RunEnd::Text { text, .. } if text == "Done."));
    let requests = server.requests();
    let goes_back = format!(r#"{{"role":"assistant","content":[{block}]}}]}}"#);
    assert!(requests[1].ends_with(&goes_back), "{}", requests[1]);
    // Of another provider the next is without it: it has neither words nor calls.
    let listing = Registry::empty().listing(Provider::Gemini.into()).unwrap();
    let request = ModelRequest::new(run.history(), &listing);
    let body = Api::Gemini.body(&Api::Gemini.asked("some-model", None), &request).unwrap();
    assert_eq!(body.matches("\"role\":\"model\"").count(), 1, "{body}");
}

#[tokio::test]
async fn a_model_that_pauses_for_ever_ends_at_a_limit() {
    let paused = || {
        let said = crate::ModelAnswer::text("Hm.").stopped(StopReason::Paused);
        said.verbatim(crate::history::Verbatim::new("anthropic", "[]"))
    };
    let model = (0..3).fold(crate::ScriptedModel::new(), |model, _| model.answers(paused()));
    let executor = toolwright::Executor::builder(Registry::empty()).build().unwrap();
    let agent = Agent::on(executor, model).max_turns(3).build().unwrap();
    let ended = agent.new_run("r").start().unwrap().send("Search.").await.unwrap();
    assert!(matches!(ended, RunEnd::Limit(crate::limits::Limit::Turns { turns: 3 })), "{ended}");
}
