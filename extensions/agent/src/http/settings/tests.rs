//! Settings that a provider does not have are refused, and the others are sent.

use toolwright::{Registry, tool};

use super::*;
use crate::history::Message;
use crate::http::api::Api;
use crate::model::{Effort, ModelSettings};

/// Answers.
#[tool(effect = read)]
async fn ping() -> &'static str {
    "pong"
}

fn written(api: Api, settings: &ModelSettings) -> Result<serde_json::Value, ModelError> {
    let listing = Registry::of([PING]).unwrap().listing(api.provider().into()).unwrap();
    let history = [Message::user("Go.")];
    let request = ModelRequest::new(&history, &listing).settings(settings);
    let body = api.body(&api.asked("m", None), &request)?;
    Ok(serde_json::from_str(&body).unwrap())
}

#[test]
fn what_a_provider_does_not_have_is_refused_by_name() {
    let new = ModelSettings::new;
    let words = |count| new().stop_words(vec!["END"; count]);
    let tokens = |tokens| new().reasoning(Reasoning::Tokens(tokens));
    let effort = || new().reasoning(Reasoning::Effort(Effort::Low));
    for (api, settings, why) in [
        (Api::Anthropic, effort().tool_choice(ToolChoice::Required), "excludes reasoning"),
        (Api::Anthropic, tokens(1000), "found 1000 tokens of reasoning, expected at least 1024"),
        (Api::Anthropic, tokens(8192), "and fewer than 8192"),
        (Api::OpenAiChat, tokens(2000), "set an effort"),
        (Api::OpenAiChat, words(5), "found 5 stop words, expected at most 4"),
        (Api::OpenAiResponses, words(1), "found 1 stop words, expected none"),
        (Api::Gemini, words(6), "expected at most 5"),
        (Api::Gemini, new().one_call(), "leave `one_call` out"),
        (Api::Anthropic, new().temperature(1.5), "found a temperature of 1.5, expected 0 to 1"),
        (Api::Gemini, new().temperature(-0.5), "found a temperature of -0.5, expected 0 to 2"),
        (Api::OpenAiChat, new().temperature(f64::NAN), "found a temperature of NaN"),
        (Api::OpenAiResponses, new().top_p(1.5), "found a `top_p` of 1.5, expected 0 to 1"),
        (Api::Anthropic, effort().temperature(0.5), "reasoning excludes a temperature"),
        (Api::Anthropic, new().seed(7), "the API has no `seed`"),
        (Api::OpenAiResponses, new().seed(7), "the API has no `seed`"),
    ] {
        let error = written(api, &settings).unwrap_err();
        assert_eq!(error.kind(), "invalid_settings");
        assert!(error.message().contains(why), "{error}");
    }
}

#[test]
fn each_provider_reads_the_temperature_the_share_and_the_seed_where_it_has_them() {
    let plain = ModelSettings::new().temperature(0.25).top_p(0.5);
    for (api, settings, place) in [
        (Api::Anthropic, plain.clone(), ""),
        (Api::OpenAiChat, plain.clone().seed(7), ""),
        (Api::OpenAiResponses, plain.clone(), ""),
        (Api::Gemini, plain.seed(7), "generationConfig"),
    ] {
        let body = written(api, &settings).unwrap();
        let body = if place.is_empty() { &body } else { &body[place] };
        let top_p = if place.is_empty() { "top_p" } else { "topP" };
        assert_eq!((&body["temperature"], &body[top_p]), (&0.25.into(), &0.5.into()), "{api:?}");
        assert_eq!(body.get("seed").and_then(serde_json::Value::as_u64), settings.seed, "{api:?}");
    }
}

#[test]
fn an_agent_is_not_made_with_settings_that_its_provider_does_not_have() {
    use crate::agent::Agent;
    use crate::http::HttpModel;
    let settings = ModelSettings::new().reasoning(Reasoning::Tokens(4096));
    let made = |model: crate::http::HttpModelBuilder, max_tokens| {
        let model = model.base_url("http://127.0.0.1").build().unwrap();
        let executor = toolwright::Executor::builder(Registry::empty()).build().unwrap();
        let agent = Agent::on(executor, model).settings(settings.clone());
        agent.max_tokens(max_tokens).build().map(|_| ()).map_err(|error| error.to_string())
    };
    assert_eq!(made(HttpModel::anthropic("m"), 8000), Ok(()));
    let error = made(HttpModel::anthropic("m"), 4000).unwrap_err();
    assert!(error.contains("found 4096 tokens of reasoning, expected"), "{error}");
    let error = made(HttpModel::openai_chat("m"), 8000).unwrap_err();
    assert!(error.contains("set an effort"), "{error}");
    let own = HttpModel::openai_chat("m").reasoning(Reasoning::Effort(Effort::High));
    assert_eq!(made(own, 8000), Ok(()));
}

#[test]
fn a_call_cannot_be_wanted_where_there_are_no_tools() {
    let listing = Registry::empty().listing(Provider::Anthropic.into()).unwrap();
    let settings = ModelSettings::new().tool_choice(ToolChoice::Required);
    let request = ModelRequest::new(&[], &listing).settings(&settings);
    let error = checked(Provider::Gemini, None, &request).unwrap_err();
    assert!(error.message().contains("there are no tools"), "{error}");
}

#[test]
fn what_a_provider_has_is_sent() {
    let forced = ModelSettings::new().tool_choice(ToolChoice::Required).one_call();
    let body = written(Api::Anthropic, &forced).unwrap();
    assert_eq!(body["tool_choice"]["type"], "any");
    assert_eq!(body["tool_choice"]["disable_parallel_tool_use"], true);
    let body = written(Api::OpenAiChat, &forced.clone().stop_words(["END"])).unwrap();
    assert_eq!((&body["tool_choice"], &body["stop"][0]), (&"required".into(), &"END".into()));
    assert_eq!(body["parallel_tool_calls"], false);
    let thinking = ModelSettings::new().reasoning(Reasoning::Effort(Effort::Medium));
    let body = written(Api::Anthropic, &thinking).unwrap();
    assert_eq!(body["thinking"]["type"], "adaptive");
    assert_eq!(body["output_config"]["effort"], "medium");
    assert_eq!(written(Api::OpenAiChat, &thinking).unwrap()["reasoning_effort"], "medium");
    let budget = ModelSettings::new().reasoning(Reasoning::Tokens(2048));
    assert_eq!(written(Api::Anthropic, &budget).unwrap()["thinking"]["budget_tokens"], 2048);
    let body = written(Api::Gemini, &budget).unwrap();
    assert_eq!(body["generationConfig"]["thinkingConfig"]["thinkingBudget"], 2048);
    let shown = ModelSettings::new().show_reasoning();
    assert_eq!(written(Api::Anthropic, &shown).unwrap().get("thinking"), None);
    let body = written(Api::Gemini, &shown).unwrap();
    assert_eq!(body["generationConfig"]["thinkingConfig"]["includeThoughts"], true);
    assert_eq!(written(Api::OpenAiResponses, &shown).unwrap().get("reasoning"), None);
    let shown = thinking.clone().show_reasoning();
    assert_eq!(written(Api::Anthropic, &shown).unwrap()["thinking"]["display"], "summarized");
    let body = written(Api::OpenAiResponses, &shown).unwrap();
    assert_eq!(body["reasoning"], serde_json::json!({"effort": "medium", "summary": "auto"}));
    let none = ModelSettings::new().tool_choice(ToolChoice::None);
    assert_eq!(written(Api::OpenAiResponses, &none).unwrap()["tool_choice"], "none");
}
