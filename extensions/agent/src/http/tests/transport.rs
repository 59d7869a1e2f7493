//! Servers that break HTTP or send without end, for every provider, with answers at once and in pieces.

use futures::future::join_all;
use toolwright::provider::Provider;

use super::server::End;
use super::streamed::hear;
use super::*;

/// A model of each provider, asked at once and in pieces. What went wrong, and how often the server was asked.
async fn each(
    answers: impl Fn() -> Vec<Answers>,
    changed: impl Fn(HttpModelBuilder) -> HttpModelBuilder,
) -> Vec<(String, ModelError, usize)> {
    let one = async |provider: Provider, in_pieces: bool| {
        let server = Server::start(answers()).await;
        let retry = RetryPolicy::NETWORK.delay(Duration::from_millis(1)).jitter(Jitter::None);
        let model = HttpModel::of(provider, "some-model").unwrap().base_url(server.url());
        let model = changed(model.key("hunter2").retry(retry)).build().unwrap();
        let answer = match in_pieces {
            true => hear(&model).await.0,
            false => {
                let listing = Registry::empty().listing(model.dialect()).unwrap();
                model.answer(ModelRequest::new(&[Message::user("Go.")], &listing)).await
            }
        };
        let name = format!("{provider}, in pieces: {in_pieces}");
        let error = answer.expect_err(&name);
        assert!(!format!("{error} {error:?}").contains("hunter2"), "{name}: {error:?}");
        (name, error, server.requests().len())
    };
    // Side by side, so that a time-out of the model may be long enough for a busy machine.
    let each = Provider::ALL.into_iter().flat_map(|it| [(it, false), (it, true)]);
    let found = join_all(each.map(|(provider, in_pieces)| one(provider, in_pieces))).await;
    assert_eq!(found.len(), 8);
    found
}

#[tokio::test]
async fn a_server_that_sends_a_byte_now_and_then_for_ever_is_given_up() {
    let answers = || vec![Answers::Drip, Answers::Drip, Answers::Drip];
    let brief = |model: HttpModelBuilder| model.timeout(Duration::from_secs(2));
    for (name, error, times) in each(answers, brief).await {
        assert_eq!((error.kind(), times), ("no_response", 3), "{name}");
    }
}

#[tokio::test]
async fn a_body_without_end_is_read_up_to_its_limit() {
    for is_stream in [false, true] {
        let limited =
            |model: HttpModelBuilder| model.body_limit(1 << 20).timeout(Duration::from_secs(20));
        for (name, error, times) in each(|| vec![Answers::Endless { is_stream }], limited).await {
            assert_eq!((error.kind(), times), ("response_too_large", 1), "{name}");
            assert!(error.message().contains("more than 1048576 bytes"), "{name}: {error}");
        }
    }
}

/// A gateway may answer with a page of its own.
#[tokio::test]
async fn a_status_counts_even_if_its_body_is_no_text_or_too_long_or_breaks_off() {
    let long = "x".repeat(3000) + "hunter2";
    for busy in [
        Answers::Bytes { status: 503, body: b"Indisponible, r\xe9essayez", is_cut: false },
        Answers::Bytes { status: 503, body: b"hunte", is_cut: true },
        Answers::with(503, &long),
    ] {
        let server = Server::start(vec![busy, Answers::with(200, DONE)]).await;
        let said = Arc::new(Mutex::new(String::new()));
        let (saying, retried) = (Arc::clone(&said), Arc::clone(&said));
        let model = at(&server.url())
            .body_limit(3005)
            .on_exchange(move |it| saying.lock().unwrap().push_str(it.response.body()))
            .on_retry(move |it| retried.lock().unwrap().push_str(it.message));
        assert_eq!(ask(model).await.unwrap().text, "Done.");
        assert_eq!(server.requests().len(), 2);
        let said = said.lock().unwrap().clone();
        assert!(said.contains("status 503") && !said.contains("hunt"), "{said}");
    }
}

#[tokio::test]
async fn a_megabyte_of_headers_is_not_read() {
    let large = || Answers::with(200, DONE).header(&format!("x-large: {}", "x".repeat(1 << 20)));
    for (name, error, times) in each(|| vec![large(), large(), large()], |it| it).await {
        assert_eq!((error.kind(), times), ("connection_lost", 3), "{name}");
    }
}

#[tokio::test]
async fn a_redirect_is_not_followed_and_the_key_goes_nowhere_else() {
    for status in [301, 302, 303, 307, 308] {
        let elsewhere = Server::start(vec![Answers::with(200, DONE); 8]).await;
        let to = format!("location: {}/v1/messages", elsewhere.url());
        let answers = || vec![Answers::with(status, "").header(&to)];
        // An application may want redirects for its other requests.
        let following = |model: HttpModelBuilder| {
            model.client(|client| client.redirect(reqwest::redirect::Policy::limited(5)))
        };
        for (name, error, times) in each(answers, following).await {
            assert_eq!((error.kind(), times), ("redirected", 1), "{name} {status}");
            assert!(error.message().contains("a key is not sent to another place"), "{error}");
        }
        assert_eq!(elsewhere.requests(), Vec::<String>::new(), "{status}");
    }
}

/// The clock of this machine may be wrong, or be set while a request waits; the date of the response is the server's own.
#[tokio::test]
async fn a_time_to_ask_again_is_read_by_the_clock_of_the_server() {
    for (date, until) in [
        ("Thu, 01 Jan 1970 00:10:00 GMT", "Thu, 01 Jan 1970 00:10:01 GMT"),
        ("Fri, 01 Jan 2100 00:00:00 GMT", "Fri, 01 Jan 2100 00:00:01 GMT"),
    ] {
        let limited = Answers::with(429, BUSY)
            .header(&format!("date: {date}"))
            .header(&format!("retry-after: {until}"));
        let server = Server::start(vec![limited, Answers::with(200, DONE)]).await;
        let waits = Arc::new(Mutex::new(Vec::new()));
        let waited = Arc::clone(&waits);
        let model = at(&server.url()).on_retry(move |it| waited.lock().unwrap().push(it.wait));
        assert_eq!(ask(model).await.unwrap().text, "Done.", "{date}");
        assert_eq!(*waits.lock().unwrap(), [Duration::from_secs(1)], "{date}");
    }
}

/// The answer is one all the same; what it took is not known.
#[tokio::test]
async fn a_usage_that_is_negative_or_no_number_is_none() {
    for (provider, at_once, in_pieces, good, wrong) in [
        (
            Provider::Anthropic,
            r#"{"type":"message","role":"assistant","content":[{"type":"text","text":"Done."}],"stop_reason":"end_turn","usage":USAGE}"#,
            concat!(
                r#"data: {"type":"message_start","message":{"type":"message","role":"assistant","content":[]}}"#,
                "\n\n",
                r#"data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":"Done."}}"#,
                "\n\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n",
                r#"data: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":USAGE}"#,
                "\n\ndata: {\"type\":\"message_stop\"}\n\n"
            ),
            r#"{"input_tokens":5,"output_tokens":2}"#,
            r#"{"input_tokens":-5,"output_tokens":2}"#,
        ),
        (
            Provider::OpenAiChat,
            r#"{"choices":[{"message":{"role":"assistant","content":"Done."},"finish_reason":"stop"}],"usage":USAGE}"#,
            concat!(
                r#"data: {"choices":[{"index":0,"delta":{"content":"Done."},"finish_reason":"stop"}]}"#,
                "\n\ndata: {\"choices\":[],\"usage\":USAGE}\n\ndata: [DONE]\n\n"
            ),
            r#"{"prompt_tokens":5,"completion_tokens":2}"#,
            r#"{"prompt_tokens":5,"completion_tokens":-2}"#,
        ),
        (
            Provider::OpenAiResponses,
            r#"{"object":"response","status":"completed","output":[{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Done."}]}],"usage":USAGE}"#,
            concat!(
                r#"data: {"type":"response.output_text.delta","output_index":0,"delta":"Done."}"#,
                "\n\n",
                r#"data: {"type":"response.completed","response":{"object":"response","status":"completed","output":[{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Done."}]}],"usage":USAGE}}"#,
                "\n\n"
            ),
            r#"{"input_tokens":5,"output_tokens":2}"#,
            r#"{"input_tokens":5,"output_tokens":-2}"#,
        ),
        (
            Provider::Gemini,
            r#"{"candidates":[{"content":{"role":"model","parts":[{"text":"Done."}]},"finishReason":"STOP"}],"usageMetadata":USAGE}"#,
            concat!(
                r#"data: {"candidates":[{"content":{"role":"model","parts":[{"text":"Done."}]},"finishReason":"STOP"}],"usageMetadata":USAGE}"#,
                "\n\n"
            ),
            r#"{"promptTokenCount":5,"candidatesTokenCount":2}"#,
            r#"{"promptTokenCount":-5,"candidatesTokenCount":2}"#,
        ),
    ] {
        for (usage, known) in
            [(good, Some(crate::limits::Usage::new(5, 2))), (wrong, None), ("\"much\"", None)]
        {
            let pieces = vec![in_pieces.replace("USAGE", usage)];
            let answers = vec![
                Answers::with(200, &at_once.replace("USAGE", usage)),
                Answers::Stream { pieces, end: End::Whole },
            ];
            let server = Server::start(answers).await;
            let model = HttpModel::of(provider, "some-model").unwrap().base_url(server.url());
            let model = model.build().unwrap();
            let listing = Registry::empty().listing(model.dialect()).unwrap();
            let whole = model.answer(ModelRequest::new(&[Message::user("Go.")], &listing)).await;
            for answer in [whole, hear(&model).await.0] {
                let answer = answer.unwrap();
                let found = (answer.text.as_str(), answer.usage, answer.spent().unmeasured);
                assert_eq!(
                    found,
                    ("Done.", known, u32::from(known.is_none())),
                    "{provider} {usage}"
                );
            }
        }
    }
}

#[tokio::test]
async fn requests_go_through_the_proxy_that_is_set_with_the_headers_that_are_set() {
    let proxy = Server::start(vec![Answers::with(200, DONE)]).await;
    let through = reqwest::Proxy::all(proxy.url()).unwrap();
    let mut headers = reqwest::header::HeaderMap::new();
    headers.insert("x-team", "support".parse().unwrap());
    let model =
        at("http://models.invalid").client(|client| client.proxy(through).default_headers(headers));
    assert_eq!(ask(model).await.unwrap().text, "Done.");
    let [request] = &proxy.requests()[..] else { panic!("{:?}", proxy.requests()) };
    assert!(
        request.starts_with("POST http://models.invalid/v1/messages HTTP/1.1\r\n"),
        "{request}"
    );
    assert!(request.contains("x-team: support\r\n"), "{request}");
}

/// The proxies of the system are not for a server on loopback; one that is set for it is.
#[tokio::test]
async fn a_proxy_that_is_set_is_used_for_loopback_too() {
    let proxy = Server::start(vec![Answers::with(200, DONE)]).await;
    let through = reqwest::Proxy::all(proxy.url()).unwrap();
    let model = at("http://127.0.0.1:1").client(|client| client.proxy(through));
    assert_eq!(ask(model).await.unwrap().text, "Done.");
}

#[tokio::test]
async fn the_times_of_a_model_count_whatever_is_set_for_its_client() {
    let server = Server::start(vec![Answers::Never]).await;
    let model = at(&server.url())
        .retry(RetryPolicy::NETWORK.attempts(1))
        .timeout(Duration::from_millis(100))
        .client(|client| client.timeout(Duration::from_secs(3600)));
    assert_eq!(ask(model).await.unwrap_err().kind(), "no_response");
}
