//! A history that the provider's server compacts: what requests say, which messages they leave out then, and what it takes.

use serde_json::{Value, json};

use super::*;
use crate::http::HttpModelError;

const COMPACTED: &str = r#"{"type":"message","role":"assistant","content":[{"type":"compaction","content":"It was sunny."},{"type":"text","text":"Rain."}],"stop_reason":"end_turn","usage":{"input_tokens":7,"output_tokens":2,"iterations":[{"type":"compaction","input_tokens":60000,"output_tokens":300},{"type":"message","input_tokens":7,"output_tokens":2}]}}"#;

/// A model whose server passes for the vendor's own, also in a build without TLS.
fn vendors() -> HttpModelBuilder {
    HttpModel::anthropic("m").base_url("http://127.0.0.1:8000").origin("anthropic")
}

fn body_of(request: &str) -> Value {
    serde_json::from_str(request.split_once("\r\n\r\n").expect("a body").1).unwrap()
}

/// Asks with a history that ends in the answer before it, and gives the bodies and the last answer.
async fn ask_twice(model: &HttpModel, server: &Server) -> (Vec<Value>, ModelAnswer, Vec<Message>) {
    let listing = Registry::empty().listing(model.dialect()).unwrap();
    let mut history = vec![Message::user("What was the weather?"), Message::assistant("Sun.", [])];
    history.push(Message::user("And now?"));
    let answer = model.answer(ModelRequest::new(&history, &listing)).await.unwrap();
    let ModelAnswer { text, verbatim, .. } = answer.clone();
    history.push(Message::Assistant { text, calls: [].into(), verbatim });
    history.push(Message::user("Sure?"));
    model.answer(ModelRequest::new(&history, &listing)).await.unwrap();
    let bodies = server.requests().iter().map(|it| body_of(it)).collect();
    (bodies, answer, history)
}

#[tokio::test]
async fn anthropic_does_not_get_again_what_it_has_compacted() {
    let server = Server::start(vec![Answers::with(200, COMPACTED), Answers::with(200, DONE)]).await;
    let model = at(&server.url()).header("anthropic-beta", "other-1").compact_above(50_000);
    let model = model.build().unwrap();
    let (bodies, answer, history) = ask_twice(&model, &server).await;

    let edit =
        json!({"type": "compact_20260112", "trigger": {"type": "input_tokens", "value": 50_000}});
    for (body, request) in bodies.iter().zip(server.requests()) {
        assert_eq!(body["context_management"], json!({"edits": [edit]}));
        assert!(request.contains("anthropic-beta: other-1,compact-2026-01-12\r\n"), "{request}");
    }
    assert_eq!(bodies[0]["messages"].as_array().unwrap().len(), 3);
    let messages = bodies[1]["messages"].as_array().unwrap();
    assert_eq!(messages.len(), 2, "{messages:?}");
    assert_eq!(
        messages[0]["content"][0],
        json!({"type": "compaction", "content": "It was sunny."})
    );
    assert_eq!(messages[1]["content"], "Sure?");
    // The summary is no words of the answer, and is paid.
    assert_eq!(answer.text, "Rain.");
    assert_eq!(answer.usage.unwrap().total(), 60_000 + 300 + 7 + 2);
    assert_eq!(model.first_read(&history), 3);
    // Another server can read none of it, and gets the whole history.
    let other = HttpModel::anthropic("m").base_url("http://other.example").compact_above(50_000);
    assert_eq!(other.build().unwrap().first_read(&history), 0);
}

#[tokio::test]
async fn openai_does_not_get_again_what_it_has_compacted() {
    let compacted = json!({"status": "completed", "output": [
        {"type": "compaction", "id": "cmp_1", "encrypted_content": "secret"},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Rain."}]},
    ]});
    let done = json!({"status": "completed", "output": [
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Yes."}]},
    ]});
    let answers = [compacted, done].map(|it| Answers::with(200, &it.to_string()));
    let server = Server::start(answers.into()).await;
    let model = HttpModel::openai_responses("m").base_url(server.url()).compact_above(20_000);
    let (bodies, answer, _) = ask_twice(&model.build().unwrap(), &server).await;
    let setting = json!([{"type": "compaction", "compact_threshold": 20_000}]);
    assert!(bodies.iter().all(|it| it["context_management"] == setting), "{bodies:?}");
    assert_eq!(answer.text, "Rain.");
    let input = bodies[1]["input"].as_array().unwrap();
    assert_eq!(input.len(), 3, "{input:?}");
    assert_eq!(input[0]["encrypted_content"], "secret");
    assert_eq!(input[2]["content"], "Sure?");
}

#[test]
fn a_compaction_that_failed_hides_no_message() {
    let model = vendors().compact_above(60_000).build().unwrap();
    let answer = |text: &str| Message::Assistant {
        text: "Rain.".into(),
        calls: [].into(),
        verbatim: Some(crate::history::Verbatim::new("anthropic", text)),
    };
    let said = Message::user("And now?");
    let failed = answer(r#"[{"type":"compaction","content":null},{"type":"text","text":"Rain."}]"#);
    let spoken =
        answer(r#"[{"type":"text","text":"{\"type\":\"compaction\",\"content\":\"x\"}"}]"#);
    assert_eq!(model.first_read(&[said.clone(), failed.clone(), said.clone(), spoken.clone()]), 0);
    let sealed = answer(r#"[{"type":"compaction","content":null,"encrypted_content":"e"}]"#);
    assert_eq!(model.first_read(&[said.clone(), sealed]), 0);
    let done = answer(r#"[{"type":"compaction","content":"It was sunny."}]"#);
    assert_eq!(model.first_read(&[said.clone(), done.clone(), failed, done, spoken, said]), 3);
    let without = vendors().build().unwrap();
    assert_eq!(without.first_read(&[Message::user("a")]), 0);
}

#[tokio::test]
async fn a_model_whose_requests_name_no_compaction_gets_no_block_of_one() {
    let server = Server::start(vec![Answers::with(200, DONE)]).await;
    let model = at(&server.url()).build().unwrap();
    let listing = Registry::empty().listing(model.dialect()).unwrap();
    let origin = model.origin().unwrap().to_owned();
    let text =
        r#"[{"type":"compaction","content":"It was sunny."},{"type":"text","text":"Rain."}]"#;
    let history = [
        Message::user("And now?"),
        Message::Assistant {
            text: "Rain.".into(),
            calls: [].into(),
            verbatim: Some(crate::history::Verbatim::new(origin, text)),
        },
        Message::user("Sure?"),
    ];
    model.answer(ModelRequest::new(&history, &listing)).await.unwrap();
    let messages = body_of(&server.requests()[0])["messages"].clone();
    assert_eq!(messages.as_array().unwrap().len(), 3);
    assert_eq!(messages[1]["content"], json!([{"type": "text", "text": "Rain."}]));
}

#[test]
fn thinking_goes_on_behind_a_compaction() {
    let model = vendors().compact_above(50_000).build().unwrap();
    let listing = Registry::empty().listing(model.dialect()).unwrap();
    let call = toolwright::provider::ToolCall {
        id: Some("t1".into()),
        name: "add".into(),
        arguments: "{}".into(),
    };
    let text = r#"[{"type":"compaction","content":"c"},{"type":"thinking","thinking":"t","signature":"s"},{"type":"tool_use","id":"t1","name":"add","input":{}}]"#;
    let history = [
        Message::user("Add."),
        Message::Assistant {
            text: "".into(),
            calls: [call.clone()].into(),
            verbatim: Some(crate::history::Verbatim::new("anthropic", text)),
        },
        Message::tool_results([(call, toolwright::Answer::from(toolwright::Output::text("3")))]),
    ];
    let settings = ModelSettings::new().reasoning(Reasoning::Tokens(2_000));
    let body = model.body(&ModelRequest::new(&history, &listing).settings(&settings)).unwrap();
    let body: Value = serde_json::from_str(&body).unwrap();
    assert_eq!(body["thinking"]["budget_tokens"], 2_000);
    assert_eq!(body["messages"].as_array().unwrap().len(), 2);
}

#[test]
fn a_provider_that_compacts_nothing_and_a_size_that_it_refuses_are_errors() {
    for (builder, expected) in [
        (
            HttpModel::openai_chat("m").compact_above(1),
            "the API of openai-chat compacts no history",
        ),
        (HttpModel::gemini("m").compact_above(1), "the API of gemini compacts no history"),
        (
            HttpModel::anthropic("m").compact_above(49_999),
            "found 49999 as `compact_above`, expected at least the 50000 tokens",
        ),
        (
            HttpModel::openai_responses("m").compact_above(0),
            "found 0 as `compact_above`, expected at least the 1000 tokens",
        ),
    ] {
        let error: HttpModelError = builder.build().unwrap_err();
        assert!(error.to_string().starts_with(expected), "{error}");
    }
}

#[tokio::test]
async fn a_setting_of_the_application_goes_before() {
    let server = Server::start(vec![Answers::with(200, DONE)]).await;
    let own = json!({"edits": [{"type": "clear_tool_uses_20250919"}]});
    let builder = at(&server.url()).extra_body(json!({"context_management": own}));
    ask(builder.compact_above(50_000)).await.unwrap();
    assert_eq!(body_of(&server.requests()[0])["context_management"], own);
}
