//! Quirks of servers that imitate an API of a vendor, or take less than the vendor does. Those of streams, piece by piece, are tested where
//! streams are read.

use serde_json::Value;
use toolwright::provider::{MediaSupport, Provider, ToolCall};
use toolwright::{Answer, Executor, Output};

use super::streamed::{hear, stream_text};
use super::*;
use crate::agent::Agent;
use crate::http::api::Api;
use crate::{RunEnd, StopReason, Verbatim};

#[tokio::test]
async fn a_stream_that_is_called_plain_text_is_heard() {
    let answer = Answers::with(200, &stream_text()).header("content-type: text/plain");
    let server = Server::start(vec![answer]).await;
    let (answer, heard) = hear(&at(&server.url()).build().unwrap()).await;
    assert_eq!((answer.unwrap().text.as_str(), heard.text.as_str()), ("Done.", "Done."));
}

#[tokio::test]
async fn an_empty_refusal_refuses_nothing() {
    let said = r#"{"choices":[{"message":{"role":"assistant","content":"Done.","refusal":""}}]}"#;
    let server = Server::start(vec![Answers::with(200, said)]).await;
    let model = HttpModel::openai_chat("some-model").base_url(server.url()).key("hunter2");
    let answer = ask(model).await.unwrap();
    assert_eq!((answer.text.as_str(), answer.stop), ("Done.", StopReason::Finished));
}

/// The arguments of the call of a body, as an object.
fn arguments(api: Api, body: &str) -> Value {
    let body: Value = serde_json::from_str(body).unwrap();
    let text = |it: &Value| serde_json::from_str(it.as_str().unwrap()).unwrap();
    match api {
        Api::Anthropic => body["messages"][1]["content"][0]["input"].clone(),
        Api::OpenAiChat => text(&body["messages"][1]["tool_calls"][0]["function"]["arguments"]),
        Api::OpenAiResponses => text(&body["input"][1]["arguments"]),
        Api::Gemini => body["contents"][1]["parts"][0]["functionCall"]["args"].clone(),
    }
}

/// vLLM and llama.cpp refuse every later request of a history with other arguments.
#[test]
fn arguments_that_are_no_object_go_back_as_one() {
    let listing = |api: Api| Registry::empty().listing(api.provider().into()).unwrap();
    for api in [Api::Anthropic, Api::OpenAiChat, Api::OpenAiResponses, Api::Gemini] {
        for (written, sent) in [
            // It may be the begin of another number.
            ("{\"n\": 1", serde_json::json!({})),
            ("{\"n\": \"1\"", serde_json::json!({"n": "1"})),
            ("{'n': 1,}", serde_json::json!({"n": 1})),
            ("[1]", serde_json::json!({})),
            ("one, please", serde_json::json!({})),
            ("", serde_json::json!({})),
            ("{\"n\": 1}", serde_json::json!({"n": 1})),
        ] {
            let call =
                ToolCall { id: Some("c1".into()), name: "f".into(), arguments: written.into() };
            let item = serde_json::json!([{"type": "function_call", "call_id": "c1", "name": "f", "arguments": written}]);
            let plain = Message::assistant("", [call.clone()]);
            let verbatim =
                plain.clone().verbatim(Verbatim::new("openai-responses", item.to_string()));
            for said in [plain, verbatim] {
                let answer = Answer::from(Output::text("no"));
                let history =
                    [Message::user("Go."), said, Message::tool_results([(call.clone(), answer)])];
                let to =
                    RequestTarget { media: MediaSupport::Full, ..api.asked("some-model", None) };
                let listing = listing(api);
                let body = api.body(&to, &ModelRequest::new(&history, &listing)).unwrap();
                assert_eq!(arguments(api, &body), sent, "{api:?} {written}");
            }
        }
    }
}

/// The texts of every key `name` of a body.
fn names(value: &Value) -> Vec<&str> {
    match value {
        Value::Array(items) => items.iter().flat_map(names).collect(),
        Value::Object(members) => {
            let own = members.get("name").and_then(Value::as_str);
            members.values().flat_map(names).chain(own).collect()
        }
        _ => Vec::new(),
    }
}

/// Models make up names such as this one, and a tool may have left the list. Providers refuse every later request of a
/// history with such a name.
#[test]
fn a_name_that_the_provider_refuses_goes_back_as_one_that_it_accepts() {
    for api in [Api::Anthropic, Api::OpenAiChat, Api::OpenAiResponses, Api::Gemini] {
        let call = |name: &str| ToolCall {
            id: Some(format!("c{}", name.len())),
            name: name.into(),
            arguments: "{}".into(),
        };
        let calls = ["multi_tool_use.parallel", "math/add", ""].map(call);
        let written: Value = calls.iter().map(|call| written(api, call)).collect();
        let plain = Message::assistant("", calls.clone());
        let verbatim = Verbatim::new(api.provider().name(), written.to_string());
        for said in [plain.clone(), plain.verbatim(verbatim)] {
            let answered = calls.clone().map(|call| (call, Answer::from(Output::text("no"))));
            let history = [Message::user("Go."), said, Message::tool_results(answered)];
            let listing = Registry::empty().listing(api.provider().into()).unwrap();
            let to = api.asked("some-model", None);
            let body = api.body(&to, &ModelRequest::new(&history, &listing)).unwrap();
            let body: Value = serde_json::from_str(&body).unwrap();
            let names = names(&body);
            assert!(names.len() >= 3, "{api:?} {body}");
            let dot = if api == Api::Gemini { "." } else { "" };
            let fits =
                |it: char| it.is_ascii_alphanumeric() || "_-".contains(it) || dot.contains(it);
            for name in names {
                assert!(!name.is_empty() && name.chars().all(fits), "{api:?} {name}: {body}");
            }
        }
    }
}

/// A call as a model of the API writes it.
fn written(api: Api, call: &ToolCall) -> Value {
    let (id, name) = (&call.id, &call.name);
    match api {
        Api::Anthropic => {
            serde_json::json!({"type": "tool_use", "id": id, "name": name, "input": {}})
        }
        Api::OpenAiChat => Value::Null,
        Api::OpenAiResponses => {
            serde_json::json!({"type": "function_call", "call_id": id, "name": name, "arguments": "{}"})
        }
        Api::Gemini => serde_json::json!({"functionCall": {"id": id, "name": name, "args": {}}}),
    }
}

#[test]
fn what_a_model_wrote_goes_back_after_a_tool_with_another_name_for_models_has_left_the_list() {
    let said = r#"[{"type":"thinking","thinking":"Hm.","signature":"s=="},{"type":"tool_use","id":"c1","name":"math_add","input":{}}]"#;
    let call = ToolCall { id: Some("c1".into()), name: "math.add".into(), arguments: "{}".into() };
    let history = [
        Message::user("Go."),
        Message::assistant("", [call.clone()]).verbatim(Verbatim::new("anthropic", said)),
        Message::tool_results([(call, Answer::from(Output::text("2")))]),
    ];
    let listing = Registry::empty().listing(Provider::Anthropic.into()).unwrap();
    let to = Api::Anthropic.asked("some-model", None);
    let settings = ModelSettings::new().reasoning(Reasoning::Tokens(2000));
    let body = |history: &[Message]| {
        let request = ModelRequest::new(history, &listing).settings(&settings);
        Api::Anthropic.body(&to, &request).unwrap()
    };
    let thinks = r#""thinking":{"budget_tokens":2000"#;
    let sent = body(&history);
    assert!(sent.contains(said) && sent.contains(thinks), "{sent}");
    // Without the thinking that the model wrote, the API refuses a request that lets it think.
    let [user, _, results] = history;
    let made_up = said.replace("math_add", "math.add");
    let call = ToolCall { id: Some("c1".into()), name: "math.add".into(), arguments: "{}".into() };
    let made_up = Message::assistant("", [call]).verbatim(Verbatim::new("anthropic", made_up));
    let sent = body(&[user, made_up, results]);
    assert!(!sent.contains("Hm.") && !sent.contains(thinks), "{sent}");
}

/// Buys articles.
#[toolwright::tool(effect = read, unlinked)]
async fn buy(
    /// Which.
    #[arg(alias = "items")]
    articles: Vec<String>,
    /// How many of each.
    count: u32,
) -> u32 {
    count * u32::try_from(articles.len()).unwrap_or_default()
}

/// What ran is what its model reads of it, in every later request.
#[test]
fn a_call_that_was_repaired_and_ran_goes_back_as_it_ran() {
    let written = "{'items': 'tea', 'count': '3'}";
    for api in [Api::Anthropic, Api::OpenAiChat, Api::OpenAiResponses, Api::Gemini] {
        let catalog = Registry::of([BUY]).unwrap().catalog();
        let listing = catalog.listing(api.provider().into()).unwrap();
        let call =
            ToolCall { id: Some("c1".into()), name: "buy".into(), arguments: written.into() };
        let item = serde_json::json!([{"type": "function_call", "call_id": "c1", "name": "buy", "arguments": written}]);
        let plain = Message::assistant("", [call.clone()]);
        let verbatim = plain.clone().verbatim(Verbatim::new("openai-responses", item.to_string()));
        for said in [plain, verbatim] {
            let answer = Answer::from(Output::text("3"));
            let history =
                [Message::user("Go."), said, Message::tool_results([(call.clone(), answer)])];
            let to = RequestTarget { media: MediaSupport::Full, ..api.asked("some-model", None) };
            let request = ModelRequest::new(&history, &listing).catalog(&catalog);
            let body = api.body(&to, &request).unwrap();
            let ran = serde_json::json!({"articles": ["tea"], "count": 3});
            assert_eq!(arguments(api, &body), ran, "{api:?}");
        }
    }
}

#[test]
fn a_call_that_the_provider_made_itself_goes_back_as_it_wrote_it() {
    let item = r#"{"type":"mcp_call","name":"f","arguments":"","output":"x"}"#;
    let said = Message::assistant("Done.", []);
    let said = said.verbatim(Verbatim::new("openai-responses", format!("[{item}]")));
    let api = Api::OpenAiResponses;
    let listing = Registry::empty().listing(api.provider().into()).unwrap();
    let to = RequestTarget { media: MediaSupport::Full, ..api.asked("some-model", None) };
    let history = [Message::user("Go."), said, Message::user("On.")];
    let body = api.body(&to, &ModelRequest::new(&history, &listing)).unwrap();
    assert!(body.contains(item), "{body}");
}

/// Writes a word down.
#[toolwright::tool(effect = read, unlinked)]
async fn note(
    /// The word.
    #[arg(default = "nothing")]
    word: String,
) -> String {
    format!("noted {word}")
}

/// A delta of a stream, with what else its choice has.
fn chunk(delta: &str, beside: &str) -> String {
    format!("data: {{\"choices\":[{{\"index\":0,\"delta\":{{{delta}}}{beside}}}]}}\n\n")
}

fn calls(calls: &str) -> String {
    chunk(&format!(r#""tool_calls":[{calls}]"#), "")
}

fn one(id: &str, index: &str, word: &str) -> String {
    let arguments = format!(r#"{{\"word\":\"{word}\"}}"#);
    calls(&format!(r#"{{{index}{id}"function":{{"name":"note","arguments":"{arguments}"}}}}"#))
}

fn one_object(id: &str, index: &str, word: &str) -> String {
    let function = format!(r#"{{"name":"note","arguments":{{"word":"{word}"}}}}"#);
    calls(&format!(r#"{{{index}{id}"function":{function}}}"#))
}

/// A whole answer with these calls.
fn completion(calls: &str) -> String {
    format!(
        r#"{{"choices":[{{"message":{{"role":"assistant","content":null,"refusal":"","tool_calls":[{calls}]}},"finish_reason":"tool_calls"}}]}}"#
    )
}

const END: &str = "data: [DONE]\n\n";

fn reason(reason: &str) -> String {
    chunk("", &format!(r#","finish_reason":"{reason}""#))
}

/// What servers do otherwise than the API that they imitate: the table of `docs/agents.md`. Each answer has two calls of `note`, and what is
/// in the results.
fn quirks() -> Vec<(&'static str, &'static str, String, [&'static str; 2])> {
    let (a, b) = (r#""id":"a","#, r#""id":"b","#);
    let zero = r#""index":0,"#;
    let both = ["tea", "milk"];
    let object = |id: &str, arguments: &str| {
        format!(r#"{{{id}"type":"","function":{{"name":"note"{arguments}}}}}"#)
    };
    vec![
        (
            "Ollama, Gemini's endpoint of the chat API",
            "every call has index 0",
            one(a, zero, "tea") + &one(b, zero, "milk") + &reason("tool_calls") + END,
            both,
        ),
        (
            "Ollama before 0.4.7",
            "no call has an index",
            one(a, "", "tea") + &one(b, "", "milk") + &reason("tool_calls") + END,
            both,
        ),
        (
            "Gemini's endpoint of the chat API",
            "no call has an id, and the reason to finish is `stop`",
            one(r#""id":"","#, zero, "tea")
                + &one(r#""id":"","#, zero, "milk")
                + &reason("stop")
                + END,
            both,
        ),
        (
            "gateways",
            "the id is left out",
            one("", zero, "tea") + &one("", r#""index":1,"#, "milk") + &reason("tool_calls") + END,
            both,
        ),
        (
            "Ollama, SGLang",
            "the reason to finish is empty until the last piece",
            chunk(r#""content":"Hm.""#, r#","finish_reason":"""#)
                + &one(a, zero, "tea")
                + &one(b, r#""index":1,"#, "milk")
                + &reason("tool_calls")
                + END,
            both,
        ),
        (
            "Nebius, gateways",
            "`[DONE]` without a reason to finish",
            one(a, zero, "tea") + &one(b, r#""index":1,"#, "milk") + END,
            both,
        ),
        (
            "proxies",
            "the stream ends without `[DONE]`",
            one(a, zero, "tea") + &one(b, r#""index":1,"#, "milk") + &reason("tool_calls"),
            both,
        ),
        (
            "Qwen",
            "a piece of a call with neither name nor arguments",
            one(a, zero, "tea")
                + &calls(r#"{"index":0,"function":{"name":null,"arguments":null}}"#)
                + &one(b, r#""index":1,"#, "milk")
                + &reason("tool_calls")
                + END,
            both,
        ),
        (
            "MiniMax",
            "the arguments of a stream are objects",
            one_object(a, zero, "tea")
                + &one_object(b, r#""index":1,"#, "milk")
                + &reason("tool_calls")
                + END,
            both,
        ),
        (
            "gateways",
            "the arguments of a stream are objects, every call has index 0, and none an id",
            one_object("", zero, "tea")
                + &one_object("", zero, "milk")
                + &reason("tool_calls")
                + END,
            both,
        ),
        (
            "llama.cpp of March 2026, Azure",
            "whole: arguments are objects, ids and types are empty, the refusal is empty",
            completion(
                &[
                    object(r#""id":"","#, r#","arguments":{"word":"tea"}"#),
                    object(r#""id":"","#, r#","arguments":{"word":"milk"}"#),
                ]
                .join(","),
            ),
            both,
        ),
        (
            "gateways",
            "whole: arguments are null, or left out",
            completion(&[object(a, r#","arguments":null"#), object(b, "")].join(",")),
            ["nothing", "nothing"],
        ),
    ]
}

/// Each is asked once, and both of its calls run.
#[tokio::test]
async fn the_calls_of_each_quirk_run_and_no_answer_is_paid_for_twice() {
    for (server, what, body, words) in quirks() {
        let first = match body.starts_with("data: ") {
            true => Answers::Stream { pieces: vec![body], end: server::End::Whole },
            false => Answers::with(200, &body),
        };
        let last = r#"{"choices":[{"message":{"role":"assistant","content":"Done."},"finish_reason":"stop"}]}"#;
        let loopback = Server::start(vec![first, Answers::with(200, last)]).await;
        let executor = Executor::builder(Registry::of([NOTE]).unwrap()).unrestricted();
        let model = HttpModel::openai_chat("some-model").base_url(loopback.url()).build().unwrap();
        let agent = Agent::on(executor.build().unwrap(), model).build().unwrap();
        let mut run = agent.new_run("r").start().unwrap();
        let events = run.events();
        let ended = run.send("Go.").await;
        assert!(matches!(ended, Ok(RunEnd::Text { .. })), "{server}: {what}: {ended:?}");
        let Some(Message::ToolResults(results)) = run.history().get(2) else {
            panic!("{server}: {what}: {:?}", run.history())
        };
        let results: Vec<String> =
            results.iter().map(|(_, answer)| answer.text().to_string()).collect();
        assert_eq!(results, words.map(|word| format!("noted {word}")), "{server}: {what}");
        assert_eq!(loopback.requests().len(), 2, "{server}: {what}");
        drop(events);
    }
}
