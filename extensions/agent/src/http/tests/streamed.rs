//! Answers that come in pieces over a real connection: what a listener hears, and what becomes of one that breaks off.

use std::path::Path;

use serde_json::Value;
use toolwright::provider::{Provider, ToolCall};

use super::server::End;
use super::*;
use crate::model::{Delta, DeltaListener};
use crate::testing::{Placeholders, Replay};

/// Everything that was heard since the answer began, and how often it began again.
#[derive(Debug, Default, Clone)]
pub(super) struct Heard {
    pub(super) text: String,
    reasoning: String,
    calls: Vec<(String, String, Option<ToolCall>)>,
    unknown: Vec<String>,
    provider_tools: Vec<String>,
    restarts: usize,
    /// What it had heard before the answer began again.
    before: String,
}

#[derive(Default)]
pub(super) struct Listening(Mutex<Heard>);

impl DeltaListener for Listening {
    fn delta(&self, delta: Delta<'_>) {
        let mut heard = self.0.lock().unwrap();
        match delta {
            Delta::Text(text) => heard.text.push_str(text),
            Delta::Reasoning(text) => heard.reasoning.push_str(text),
            Delta::CallBegan { index, name } => {
                assert_eq!(index, heard.calls.len());
                heard.calls.push((name.to_owned(), String::new(), None));
            }
            Delta::Arguments { index, text } => heard.calls[index].1.push_str(text),
            Delta::CallWhole { index, call } => heard.calls[index].2 = Some(call.clone()),
            Delta::Restarted => {
                let (restarts, before) = (heard.restarts + 1, heard.text.clone());
                *heard = Heard { restarts, before, ..Heard::default() };
            }
            Delta::Unknown { kind } => heard.unknown.push(kind.to_owned()),
            Delta::ProviderTool { name } => heard.provider_tools.push(name.to_owned()),
        }
    }
}

pub(super) async fn hear(model: &HttpModel) -> (Result<ModelAnswer, ModelError>, Heard) {
    let listing = Registry::empty().listing(model.dialect()).unwrap();
    let (history, heard) = ([Message::user("Go.")], Listening::default());
    let answer = model.answer(ModelRequest::new(&history, &listing).listener(&heard)).await;
    let heard = heard.0.lock().unwrap().clone();
    (answer, heard)
}

async fn heard(
    answers: impl Into<Vec<Answers>>,
) -> (Result<ModelAnswer, ModelError>, Heard, Vec<String>) {
    let server = Server::start(answers.into()).await;
    let (answer, heard) = hear(&at(&server.url()).build().unwrap()).await;
    (answer, heard, server.requests())
}

pub(super) const BEGIN: &str = r#"data: {"type":"message_start","message":{"type":"message","role":"assistant","content":[],"usage":{"input_tokens":5,"output_tokens":1}}}

data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}

"#;
pub(super) const MIDDLE: &str = r#"data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Done"}}

"#;
const END: &str = r#"data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"."}}

data: {"type":"content_block_stop","index":0}

data: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":9}}

data: {"type":"message_stop"}

"#;

pub(super) fn stream(pieces: &[&str], end: End) -> Answers {
    Answers::Stream { pieces: pieces.iter().map(|it| (*it).to_owned()).collect(), end }
}

/// A whole answer in pieces.
pub(super) fn stream_text() -> String {
    [BEGIN, MIDDLE, END].concat()
}

pub(super) fn whole() -> Answers {
    stream(&[BEGIN, MIDDLE, END], End::Whole)
}

/// What a provider requires back, as JSON: pieces come without the white space and the order of keys of the whole.
fn comparable(mut answer: ModelAnswer) -> (ModelAnswer, Option<Value>) {
    let verbatim = answer.verbatim.take();
    let verbatim = verbatim.map(|it| serde_json::from_str(it.text()).unwrap());
    (answer, verbatim)
}

#[tokio::test]
async fn an_answer_in_pieces_is_the_whole_answer_for_every_provider() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/coder/recordings");
    for provider in Provider::ALL {
        let path = folder.join(format!("{provider}.jsonl"));
        let mut calls = 0;
        let serve = || {
            let recording = Recording::read(&path).unwrap();
            Replay::of(recording, Placeholders::standard()).without_comparison().start()
        };
        let (at_once, in_pieces) = (serve().await.unwrap(), serve().await.unwrap());
        let exchanges = Recording::read(&path).unwrap().exchanges().len();
        assert!(exchanges > 3, "{provider}");
        let model = |replay: &Replay| {
            HttpModel::of(provider, "some-model").unwrap().base_url(replay.url()).build().unwrap()
        };
        let (whole, streaming) = (model(&at_once), model(&in_pieces));
        for _ in 0..exchanges {
            let listing = Registry::empty().listing(whole.dialect()).unwrap();
            let expected =
                whole.answer(ModelRequest::new(&[Message::user("Go.")], &listing)).await.unwrap();
            let (answer, heard) = hear(&streaming).await;
            let answer = answer.unwrap();
            assert_eq!(heard.text, answer.text, "{provider}");
            assert_eq!(heard.unknown, Vec::<String>::new(), "{provider}");
            assert_eq!(heard.calls.len(), answer.calls.len(), "{provider}");
            for ((name, arguments, call), expected) in heard.calls.iter().zip(&answer.calls) {
                assert_eq!((name, call.as_ref()), (&expected.name, Some(expected)), "{provider}");
                let is_whole = provider == Provider::Gemini || *arguments == expected.arguments;
                assert!(is_whole, "{provider}: {arguments}");
                calls += 1;
            }
            let (answer, expected) = (comparable(answer), comparable(expected));
            let arguments = |answer: &ModelAnswer| {
                answer.calls.iter().map(|it| it.arguments.clone()).collect::<Vec<_>>()
            };
            assert_eq!(arguments(&answer.0), arguments(&expected.0), "byte for byte");
            assert_eq!(answer, expected, "{provider}");
        }
        assert!(calls > 3, "{provider}");
    }
}

#[tokio::test]
async fn every_provider_is_asked_for_pieces_where_somebody_hears_them() {
    for (provider, path, body) in [
        (Provider::Anthropic, "/v1/messages", r#""stream":true"#),
        (
            Provider::OpenAiChat,
            "/chat/completions",
            r#""stream":true,"stream_options":{"include_usage":true}"#,
        ),
        (Provider::OpenAiResponses, "/responses", r#""stream":true"#),
        (Provider::Gemini, "/v1beta/models/some-model:streamGenerateContent?alt=sse", ""),
    ] {
        let server = Server::start(vec![Answers::with(400, ""), Answers::with(400, "")]).await;
        let model = HttpModel::of(provider, "some-model").unwrap().base_url(server.url());
        let model = model.build().unwrap();
        hear(&model).await.0.unwrap_err();
        let listing = Registry::empty().listing(model.dialect()).unwrap();
        let history = [Message::user("Go.")];
        model.answer(ModelRequest::new(&history, &listing)).await.unwrap_err();
        let requests = server.requests();
        assert!(requests[0].starts_with(&format!("POST {path} HTTP/1.1\r\n")), "{}", requests[0]);
        assert!(requests[0].contains("accept: text/event-stream\r\n"), "{}", requests[0]);
        assert!(requests[0].contains(body), "{}", requests[0]);
        assert!(!requests[1].contains("stream"), "{}", requests[1]);
    }
}

#[tokio::test]
async fn an_answer_that_breaks_off_is_asked_for_again_and_its_pieces_are_taken_back() {
    for end in [End::Whole, End::Cut] {
        let (answer, heard, requests) = heard([stream(&[BEGIN, MIDDLE], end), whole()]).await;
        assert_eq!(answer.unwrap().text, "Done.", "{end:?}");
        assert_eq!((heard.restarts, heard.before.as_str()), (1, "Done"), "{end:?}");
        assert_eq!((heard.text.as_str(), requests.len()), ("Done.", 2), "{end:?}");
    }
    // Nothing is taken back of which nothing was heard.
    let (answer, heard, _) = heard([Answers::with(529, BUSY), whole()]).await;
    assert_eq!((answer.unwrap().text.as_str(), heard.restarts), ("Done.", 0));
}

#[tokio::test]
async fn an_answer_that_always_breaks_off_fails_and_is_never_a_whole_one() {
    for (end, kind) in [(End::Whole, "answer_cut"), (End::Cut, "connection_lost")] {
        let cut = || stream(&[BEGIN, MIDDLE], end);
        let (answer, _, requests) = heard([cut(), cut(), cut()]).await;
        let error = answer.unwrap_err();
        assert_eq!((error.kind(), error.classified()), (kind, ErrorClass::Transient));
        assert_eq!(requests.len(), 3, "{kind}");
    }
}

#[tokio::test]
async fn an_error_in_the_middle_of_an_answer_has_the_class_of_its_status() {
    let busy = ErrorClass::NotStarted { retry_after: None };
    for (error, kind, class, times) in [
        (r#"{"type":"overloaded_error","message":"Overloaded"}"#, "overloaded", busy, 3),
        (r#"{"type":"rate_limit_error","message":"no"}"#, "rate_limited", busy, 3),
        (r#"{"type":"api_error","message":"no"}"#, "server_error", ErrorClass::Transient, 3),
        (r#"{"type":"insufficient_quota","message":"no"}"#, "quota_spent", ErrorClass::Final, 1),
        (r#"{"code":503,"message":"no"}"#, "unavailable", busy, 3),
        (
            r#"{"type":"invalid_request_error","message":"no"}"#,
            "invalid_request",
            ErrorClass::Final,
            1,
        ),
        (r#""no""#, "server_error", ErrorClass::Transient, 3),
    ] {
        let event = format!("data: {{\"type\":\"error\",\"error\":{error}}}\n\n");
        let failing = || stream(&[BEGIN, &event], End::Whole);
        let (answer, _, requests) = heard([failing(), failing(), failing()]).await;
        let failed = answer.unwrap_err();
        assert_eq!((failed.kind(), failed.classified()), (kind, class), "{error}");
        assert_eq!(requests.len(), times, "{error}");
        assert!(failed.message().contains("reported an error in the middle"), "{failed}");
    }
}

#[tokio::test]
async fn an_answer_of_which_a_piece_is_damaged_is_asked_for_again() {
    for damaged in ["data: {\"type\": oops\n\n", "data: {\"type\":\"content_block_stop\"\n\n"] {
        let (answer, heard, _) =
            heard([stream(&[BEGIN, MIDDLE, damaged], End::Whole), whole()]).await;
        assert_eq!((answer.unwrap().text.as_str(), heard.restarts), ("Done.", 1));
    }
    let damaged = || stream(&[BEGIN, "data: {]\n\n"], End::Whole);
    let (answer, _, _) = heard([damaged(), damaged(), damaged()]).await;
    let error = answer.unwrap_err();
    assert_eq!((error.kind(), error.classified()), ("answer_damaged", ErrorClass::Transient));
}

#[tokio::test]
async fn an_answer_whose_pieces_contradict_each_other_is_none() {
    let (answer, _, requests) = heard([stream(&[BEGIN, BEGIN], End::Whole)]).await;
    let error = answer.unwrap_err();
    assert_eq!((error.kind(), requests.len()), ("invalid_response", 1));
    assert!(error.message().contains("out of order"), "{error}");
}

#[tokio::test]
async fn a_stream_past_the_limit_of_a_body_is_not_read() {
    let text = format!(": {}", "x".repeat(500));
    let (pieces, end) = ([BEGIN, &text, &text, &text], End::Never);
    let server = Server::start(vec![stream(&pieces, end)]).await;
    let (answer, _) = hear(&at(&server.url()).body_limit(1000).build().unwrap()).await;
    assert_eq!(answer.unwrap_err().kind(), "response_too_large");
}

/// A piece of one letter has hundreds of bytes around it, which are no part of the answer.
#[tokio::test]
async fn a_stream_may_be_many_times_as_long_as_its_answer() {
    let id = "x".repeat(400);
    let piece = format!(
        "data: {{\"id\":\"{id}\",\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"a\"}}}}]}}\n\n"
    );
    let end = "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";
    let pieces = vec![piece.repeat(2000), end.to_owned()];
    let server = Server::start(vec![Answers::Stream { pieces, end: End::Whole }]).await;
    let model = HttpModel::openai_chat("some-model").base_url(server.url()).body_limit(100_000);
    let (answer, _) = hear(&model.build().unwrap()).await;
    assert_eq!(answer.unwrap().text, "a".repeat(2000));
}

#[tokio::test]
async fn an_answer_is_whole_where_its_provider_says_so_also_of_a_server_that_sends_on() {
    let (answer, heard, _) = heard([stream(&[BEGIN, MIDDLE, END], End::Never)]).await;
    assert_eq!((answer.unwrap().text.as_str(), heard.text.as_str()), ("Done.", "Done."));
}

#[tokio::test]
async fn an_answer_that_comes_at_once_all_the_same_is_heard_as_one_piece() {
    let said = r#"{"type":"message","role":"assistant","content":[{"type":"text","text":"I add."},{"type":"tool_use","id":"c1","name":"add","input":{"a": 1}}],"stop_reason":"tool_use"}"#;
    let (answer, heard, _) = heard([Answers::with(200, said)]).await;
    let answer = answer.unwrap();
    assert_eq!((heard.text.as_str(), &heard.calls[0].0), ("I add.", &answer.calls[0].name));
    assert_eq!(heard.calls[0].2.as_ref(), answer.calls.first());
}

#[tokio::test]
async fn what_a_newer_api_sends_is_skipped_and_reported() {
    let unknown = "data: {\"type\":\"sparkle\"}\n\n";
    let run_there = concat!(
        r#"data: {"type":"content_block_start","index":3,"content_block":{"type":"server_tool_use","id":"s","name":"web_search","input":{}}}"#,
        "\n\ndata: {\"type\":\"content_block_stop\",\"index\":3}\n\n",
    );
    let pieces = [BEGIN, unknown, run_there, MIDDLE, END];
    let (answer, heard, _) = heard([stream(&pieces, End::Whole)]).await;
    assert_eq!(heard.provider_tools, ["web_search"]);
    assert_eq!((answer.unwrap().text.as_str(), heard.unknown), ("Done.", vec!["sparkle".into()]));
}

/// The key of these tests is `hunter2`.
#[tokio::test]
async fn no_piece_holds_the_key_even_where_a_server_splits_it() {
    let delta = |text: &str| {
        let delta = format!(r#"{{"type":"text_delta","text":"{text}"}}"#);
        format!("data: {{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{delta}}}\n\n")
    };
    let pieces = [BEGIN, &delta("a hun"), &delta("te"), &delta("r2 b hunt"), END];
    let server = Server::start(vec![stream(&pieces, End::Whole)]).await;
    let recorded = Arc::new(Mutex::new(String::new()));
    let recording = Arc::clone(&recorded);
    let model = at(&server.url()).on_exchange(move |exchange| {
        recording.lock().unwrap().push_str(exchange.response.body());
    });
    let (answer, heard) = hear(&model.build().unwrap()).await;
    assert_eq!(heard.text, "a [key] b hunt.");
    assert_eq!(answer.unwrap().text, heard.text);
    let recorded = recorded.lock().unwrap();
    assert!(recorded.contains("a [key] b hunt.") && !recorded.contains("hunter2"), "{recorded}");
}

/// The first piece of an answer says what the request took.
#[tokio::test]
async fn what_a_request_took_whose_answer_broke_off_is_counted_and_priced() {
    let prices = "version = 1\ndate = \"2026-11\"\n[models.some-model]\ninput = 1\noutput = 10";
    let prices: crate::limits::Prices = prices.parse().unwrap();
    let of = |input: u64, output: u64| {
        let usage = crate::limits::Usage::new(input, output);
        crate::limits::TotalUsage::of(Some(usage), prices.of("some-model").map(|it| it.cost(usage)))
    };
    for end in [End::Whole, End::Cut] {
        let cut = || stream(&[BEGIN, MIDDLE], end);
        let server = Server::start(vec![cut(), Answers::with(529, BUSY), whole()]).await;
        let (answer, _) = hear(&at(&server.url()).prices(prices.clone()).build().unwrap()).await;
        let answer = answer.unwrap();
        // What it may have taken after that is not known.
        let lost = crate::limits::TotalUsage::lost();
        let known = (of(5, 1).plus(lost), of(10, 10).plus(lost));
        assert_eq!((answer.failed, answer.spent()), known, "{end:?}");
        assert!(answer.cost > Some(crate::limits::Cost::default()));
        assert_eq!(answer.prices.as_deref(), Some("2026-11"));
        let server = Server::start(vec![cut(), cut(), cut()]).await;
        let (answer, _) = hear(&at(&server.url()).prices(prices.clone()).build().unwrap()).await;
        let spent = (0..3).fold(of(15, 3), |sum, _| sum.plus(lost));
        assert_eq!(answer.unwrap_err().spent(), spent, "{end:?}");
    }
    // The provider has not said anything of it.
    let server = Server::start(vec![stream(&[], End::Cut), whole()]).await;
    let (answer, _) = hear(&at(&server.url()).prices(prices.clone()).build().unwrap()).await;
    assert_eq!(answer.unwrap().failed, crate::limits::TotalUsage::lost());
    // The time of the request is over: what it took before is known all the same.
    let server = Server::start(vec![stream(&[BEGIN], End::Cut), Answers::Never]).await;
    let model = at(&server.url()).prices(prices.clone()).build().unwrap();
    let listing = Registry::empty().listing(model.dialect()).unwrap();
    let limits = crate::model::RequestLimits {
        time: Some(Duration::from_millis(700)),
        ..Default::default()
    };
    let (history, listening) = ([Message::user("Go.")], Listening::default());
    let request = ModelRequest::new(&history, &listing).limits(limits).listener(&listening);
    let error = model.answer(request).await.unwrap_err();
    assert_eq!(error.kind(), "no_response");
    assert!(error.message().contains("in the time that was left for it"), "{error}");
    assert_eq!(
        error.spent(),
        of(5, 1).plus(crate::limits::TotalUsage::lost()).plus(crate::limits::TotalUsage::lost())
    );
    // Nothing began.
    let (answer, _, _) = heard([Answers::with(400, BUSY)]).await;
    assert_eq!(answer.unwrap_err().spent(), crate::limits::TotalUsage::default());
}
