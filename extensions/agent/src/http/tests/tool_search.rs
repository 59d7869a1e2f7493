//! Deferred tools for models that search for them: what requests list, what goes back, and which models get which list.

use toolwright::dialect::Dialect;
use toolwright::provider::Provider;
use toolwright::{Executor, tool};

use super::*;
use crate::agent::Agent;
use crate::events::{RunEnd, RunEvent};
use crate::history::Verbatim;
use crate::http::api::Api;
use crate::model::{Fallback, ModelSettings, ProviderTool};

/// Says the time.
#[tool(effect = read)]
async fn clock() -> &'static str {
    "noon"
}

/// Adds one.
#[tool(name = "math.add", effect = read, deferred)]
async fn add(
    /// To what.
    a: i64,
) -> i64 {
    a + 1
}

/// Nobody is shown it.
#[tool(effect = read, hidden)]
async fn secret() {}

const BY_WORDS: &str =
    r#"{"type":"tool_search_tool_bm25_20251119","name":"tool_search_tool_bm25"}"#;
const OF_RESPONSES: &str = r#"{"type":"tool_search"}"#;

fn registry() -> Registry {
    Registry::of([ADD, CLOCK, SECRET]).unwrap()
}

fn executor() -> Executor {
    Executor::builder(registry()).unrestricted().build().unwrap()
}

fn written(api: Api, settings: &ModelSettings, searches: bool) -> String {
    let (catalog, dialect) = (registry().catalog(), Dialect::from(api.provider()));
    let listing = match searches {
        true => catalog.searchable_listing(dialect).unwrap(),
        false => catalog.listing(dialect).unwrap(),
    };
    let history = [Message::user("Add.")];
    let request = ModelRequest::new(&history, &listing).settings(settings);
    api.body(&api.asked("some-model", Some(100)), &request).unwrap()
}

#[test]
fn deferred_tools_are_listed_behind_the_others_and_with_the_search_of_the_provider() {
    for (api, search) in [(Api::Anthropic, BY_WORDS), (Api::OpenAiResponses, OF_RESPONSES)] {
        let settings = ModelSettings::new();
        let (plain, searching) = (written(api, &settings, false), written(api, &settings, true));
        assert!(!plain.contains("math_add") && !plain.contains("tool_search"), "{plain}");
        let (shown, deferred) = searching.split_once(r#""name":"math_add""#).unwrap();
        assert!(shown.contains("clock") && !shown.contains("defer_loading"), "{searching}");
        assert!(deferred.contains(&format!(r#""defer_loading":true}},{search}]"#)), "{searching}");
        assert_eq!(searching.matches("tool_search").count(), search.matches("tool_search").count());
        assert!(!searching.contains("secret"));
        // What is shown is the same text, so that a provider finds it in its cache.
        let tools = plain.split_once(r#""tools":["#).unwrap().1.split_once(']').unwrap().0;
        assert!(searching.contains(&format!(r#""tools":[{}"#, tools.trim_end_matches(']'))));
    }
    let plain = ModelSettings::new();
    for api in [Api::OpenAiChat, Api::Gemini] {
        assert_eq!(written(api, &plain, true), written(api, &plain, false), "{api:?}");
    }
}

#[test]
fn a_search_that_the_application_chose_stands_alone() {
    let own = r#"{"type":"tool_search_tool_regex_20251119","name":"tool_search_tool_regex"}"#;
    let settings = ModelSettings::new().provider_tool(ProviderTool::new(Provider::Anthropic, own));
    let text = written(Api::Anthropic, &settings, true);
    assert!(text.contains(own) && !text.contains("bm25"), "{text}");
}

/// The API refuses the name of a tool that it does not have.
#[test]
fn a_tool_that_is_gone_since_a_search_found_it_is_named_no_more() {
    let found = r#"[{"type":"server_tool_use","id":"s1","name":"tool_search_tool_bm25","input":{}},{"type":"tool_search_tool_result","tool_use_id":"s1","content":{"type":"tool_search_tool_search_result","tool_references":[{"type":"tool_reference","tool_name":"math_add"}]}},{"type":"text","text":"Found."}]"#;
    let history = [
        Message::user("Add."),
        Message::assistant("Found.", []).verbatim(Verbatim::new("anthropic", found)),
        Message::user("Go on."),
    ];
    let body = |registry: Registry| {
        let listing = registry.catalog().searchable_listing(Dialect::Anthropic).unwrap();
        let request = ModelRequest::new(&history, &listing);
        Api::Anthropic.body(&Api::Anthropic.asked("some-model", None), &request).unwrap()
    };
    assert!(body(registry()).contains(found));
    let gone = body(Registry::of([CLOCK]).unwrap());
    assert!(!gone.contains("math_add") && !gone.contains("tool_search"), "{gone}");
    assert!(gone.contains(r#""content":[{"type":"text","text":"Found."}]"#), "{gone}");
}

/// A model finds a tool, calls it and gets its answer; the second request begins with all of the first.
#[tokio::test]
async fn a_tool_that_a_model_finds_is_called_and_its_search_goes_back() {
    let searched = [
        (
            Provider::Anthropic,
            r#"{"type":"message","role":"assistant","content":[BLOCKS],"stop_reason":"tool_use"}"#,
            r#"{"type":"server_tool_use","id":"srvtoolu_1","name":"tool_search_tool_bm25","input":{"query": "add"}},{"type":"tool_search_tool_result","tool_use_id":"srvtoolu_1","content":{"type":"tool_search_tool_search_result","tool_references":[{"type":"tool_reference","tool_name":"math_add"}]}},{"type":"tool_use","id":"t1","name":"math_add","input":{"a": 1}}"#,
            DONE,
        ),
        (
            Provider::OpenAiResponses,
            r#"{"object":"response","status":"completed","output":[BLOCKS]}"#,
            r#"{"type":"tool_search_call","id":"tsc_1","call_id":null,"execution":"server","arguments":{"paths": ["math"]},"status":"completed"},{"type":"tool_search_output","id":"tso_1","call_id":null,"execution":"server","tools":[{"type":"function","name":"math_add"}],"status":"completed"},{"type":"function_call","id":"fc_1","call_id":"c1","name":"math_add","arguments":"{\"a\": 1}","status":"completed"}"#,
            r#"{"object":"response","status":"completed","output":[{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Done."}]}]}"#,
        ),
    ];
    for (provider, message, blocks, done) in searched {
        let called = message.replace("BLOCKS", blocks);
        let server =
            Server::start(vec![Answers::with(200, &called), Answers::with(200, done)]).await;
        let model = HttpModel::of(provider, "some-model").unwrap().base_url(server.url());
        let agent = Agent::on(executor(), model.tool_search().build().unwrap());
        let mut run = agent.build().unwrap().new_run("r").start().unwrap();
        let ended = run.send("Add one to one.").await.unwrap();
        assert!(matches!(ended, RunEnd::Text { text, .. } if text == "Done."), "{provider}");
        let Message::ToolResults(answered) = &run.history()[2] else { panic!("{provider}") };
        assert_eq!((&*answered[0].0.name, &*answered[0].1.text()), ("math.add", "2"));
        let requests = server.requests();
        let body = |index: usize| requests[index].split_once("\r\n\r\n").unwrap().1;
        let open = body(0).strip_suffix("]}").unwrap();
        assert!(body(1).starts_with(open), "{provider}:\n{}\n{}", body(0), body(1));
        assert!(body(1).contains(blocks), "{provider}: {}", body(1));
    }
}

#[tokio::test]
async fn readers_of_events_get_the_search_and_the_call_of_the_found_tool() {
    let events = [
        r#"{"type":"message_start","message":{"type":"message","role":"assistant","content":[]}}"#,
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"server_tool_use","id":"srvtoolu_1","name":"tool_search_tool_bm25","input":{}}}"#,
        r#"{"type":"content_block_stop","index":0}"#,
        r#"{"type":"content_block_start","index":1,"content_block":{"type":"tool_search_tool_result","tool_use_id":"srvtoolu_1","content":{"type":"tool_search_tool_search_result","tool_references":[]}}}"#,
        r#"{"type":"content_block_stop","index":1}"#,
        r#"{"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"t1","name":"math_add","input":{"a":1}}}"#,
        r#"{"type":"content_block_stop","index":2}"#,
        r#"{"type":"message_delta","delta":{"stop_reason":"tool_use"}}"#,
        r#"{"type":"message_stop"}"#,
    ];
    let pieces = events.iter().map(|event| format!("data: {event}\n\n")).collect();
    let streamed = Answers::Stream { pieces, end: server::End::Whole };
    let server = Server::start(vec![streamed, Answers::with(200, DONE)]).await;
    let model = at(&server.url()).tool_search().build().unwrap();
    let agent = Agent::on(executor(), model).build().unwrap();
    let mut run = agent.new_run("r").start().unwrap();
    let mut events = run.events();
    run.send("Add.").await.unwrap();
    let mut seen = Vec::new();
    while let Some(event) = events.next().await {
        match event.kind {
            RunEvent::ProviderTool { tool } | RunEvent::CallBegan { tool, .. } => {
                seen.push(tool);
            }
            RunEvent::Ended(_) => break,
            _ => {}
        }
    }
    assert_eq!(seen, ["tool_search_tool_bm25", "math.add"]);
    assert!(server.requests()[1].contains(r#""content":[{"id":"srvtoolu_1","#));
}

#[test]
fn an_api_without_a_search_is_refused() {
    for builder in [HttpModel::openai_chat("m"), HttpModel::gemini("m")] {
        let error = builder.base_url("http://127.0.0.1").tool_search().build().unwrap_err();
        assert!(error.to_string().contains("has no search for tools; leave `tool_search` out"));
    }
}

/// Each model gets the list that is for it, whichever is asked first.
#[tokio::test]
async fn a_model_that_does_not_search_gets_no_deferred_tools_at_the_failover() {
    for searches_first in [true, false] {
        let first = Server::start(vec![Answers::with(402, "")]).await;
        let second = Server::start(vec![Answers::with(200, DONE)]).await;
        let model = |server: &Server, searches: bool| {
            let model = at(&server.url());
            if searches { model.tool_search() } else { model }.build().unwrap()
        };
        let models = Fallback::builder(model(&first, searches_first));
        let models = models.then(model(&second, !searches_first)).build();
        let agent = Agent::on(executor(), models).build().unwrap();
        let ended = agent.new_run("r").start().unwrap().send("Add.").await.unwrap();
        assert!(matches!(ended, RunEnd::Text { .. }), "{ended}");
        let lists = |server: &Server| server.requests()[0].contains("defer_loading");
        assert_eq!((lists(&first), lists(&second)), (searches_first, !searches_first));
    }
}
