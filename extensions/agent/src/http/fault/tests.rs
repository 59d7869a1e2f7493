//! Which status means what, and in which words.

use super::*;

const SEVEN: Option<Duration> = Some(Duration::from_secs(7));

#[test]
fn a_status_says_whether_the_request_began() {
    let not_started = ErrorClass::NotStarted { retry_after: SEVEN };
    for (status, kind, class) in [
        (302, "redirected", ErrorClass::Final),
        (400, "invalid_request", ErrorClass::Final),
        (401, "wrong_key", ErrorClass::Final),
        (403, "wrong_key", ErrorClass::Final),
        (404, "not_found", ErrorClass::Final),
        (408, "server_error", ErrorClass::Transient),
        (413, "request_too_large", ErrorClass::Final),
        (422, "invalid_request", ErrorClass::Final),
        (429, "rate_limited", not_started),
        (500, "server_error", ErrorClass::Transient),
        (502, "server_error", ErrorClass::Transient),
        (503, "unavailable", not_started),
        (529, "overloaded", not_started),
    ] {
        let fault = Fault::of_status(status, SEVEN, "");
        assert_eq!((fault.kind, fault.class, fault.retry_after), (kind, class, SEVEN), "{status}");
    }
}

#[test]
fn the_message_names_what_came_what_was_expected_and_what_to_do() {
    let body = r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#;
    assert_eq!(
        Fault::of_status(529, SEVEN, body).message,
        "answered status 529 (overloaded_error: Overloaded) and asks to be left alone for 7 s, expected 200; ask again later, or ask another model"
    );
    let openai = r#"{"error":{"message":"No such model","type":"","code":"model_not_found"}}"#;
    assert_eq!(
        Fault::of_status(404, None, openai).message,
        "answered status 404 (model_not_found: No such model), expected 200; check the base URL and the model's name"
    );
    let long = Fault::of_status(500, None, &"x".repeat(100_000)).message;
    assert!(long.len() < 400, "{} bytes", long.len());
    let page = Fault::unexpected("<html>\n", "a message", &"it is not JSON").message;
    assert_eq!(
        page,
        "answered `<html>`, expected a message (it is not JSON); check that the provider and the base URL belong together"
    );
    let empty = Fault::unexpected("", "a message", &"it is not JSON").message;
    assert!(empty.starts_with("answered an empty body, expected a message"), "{empty}");
}

#[test]
fn a_quota_that_is_spent_is_not_waited_for() {
    for (status, body) in [
        (
            429,
            r#"{"error":{"message":"…","type":"insufficient_quota","code":"insufficient_quota"}}"#,
        ),
        (400, r#"{"error":{"message":"…","type":"x","code":"billing_hard_limit_reached"}}"#),
        (
            400,
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the API."}}"#,
        ),
        (
            429,
            r#"{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":"…","details":[{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"quotaId":"GenerateRequestsPerMinutePerProject"},{"quotaId":"GenerateRequestsPerDayPerProjectPerModel-FreeTier"}]},{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"37s"}]}}"#,
        ),
        (402, r#"{"type":"error","error":{"type":"billing_error","message":"…"}}"#),
        (402, ""),
    ] {
        let fault = Fault::of_status(status, SEVEN, body);
        assert_eq!(
            (fault.kind, fault.class),
            ("quota_spent", ErrorClass::Final),
            "{status} {body}"
        );
    }
    let of_a_minute = r#"{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","details":[{"violations":[{"quotaId":"GenerateRequestsPerMinutePerProject"}]}]}}"#;
    assert_eq!(Fault::of_status(429, SEVEN, of_a_minute).kind, "rate_limited");
    let reported = r#"{"type":"error","error":{"type":"billing_error","message":"…"}}"#;
    assert_eq!(Fault::reported(reported).kind, "quota_spent");
}

#[test]
fn a_request_that_is_too_long_for_xai_has_its_size() {
    let body = r#"{"code":"Client specified an invalid argument","error":"This model's maximum prompt length is 131072 but the request contains 136973 tokens."}"#;
    let fault = Fault::of_status(400, None, body);
    assert_eq!(fault.kind, "context_too_long");
    assert_eq!(fault.too_long, Some(Box::new(ContextSize::new(Some(136_973), Some(131_072)))));
}

#[test]
fn a_pause_is_read_from_the_vendors_header_first() {
    let pause = |milliseconds, header| wanted_pause(milliseconds, header, UNIX_EPOCH);
    assert_eq!(pause(Some("250"), Some("1")), Some(Duration::from_millis(250)));
    assert_eq!(pause(None, Some("7")), SEVEN);
    assert_eq!(pause(None, Some("0.5")), Some(Duration::from_millis(500)));
    assert_eq!(pause(None, Some("Thu, 01 Jan 1970 00:00:07 GMT")), SEVEN);
    for wrong in ["soon", "-1", "NaN", ""] {
        assert!(pause(Some(wrong), Some(wrong)).unwrap_or_default().is_zero(), "{wrong}");
    }
}

#[test]
fn a_pause_does_not_depend_on_the_clock_of_this_machine_where_the_server_says_its_time() {
    let (date, until) = ("Thu, 01 Jan 1970 00:10:00 GMT", "Thu, 01 Jan 1970 00:10:07 GMT");
    let (early, late) = (UNIX_EPOCH, UNIX_EPOCH + Duration::from_secs(1 << 32));
    for now in [early, late] {
        assert_eq!(wanted_pause(None, Some(until), clock(Some(date), now)), SEVEN);
    }
    assert_eq!((clock(None, late), clock(Some("soon"), late)), (late, late));
    // By the clock of this machine, a date that has passed asks for no pause.
    let pause = |now| wanted_pause(None, Some(until), clock(None, now));
    assert!(pause(late).unwrap_or_default().is_zero());
    assert_eq!(pause(early), Some(Duration::from_secs(607)));
}

/// The bodies are those that the providers and servers send, with the numbers that were reported.
#[test]
fn a_context_that_is_too_long_is_a_kind_of_its_own_with_the_size() {
    for (status, body, found, allowed) in [
        (
            400,
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 208310 tokens > 200000 maximum"},"request_id":"req_1"}"#,
            Some(208_310),
            Some(200_000),
        ),
        (
            400,
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"input length and `max_tokens` exceed context limit: 178959 + 64000 > 200000, decrease input length or `max_tokens` and try again"}}"#,
            Some(242_959),
            Some(200_000),
        ),
        (
            400,
            r#"{"error":{"message":"This model's maximum context length is 4097 tokens. However, your messages resulted in 13393 tokens. Please reduce the length of the messages.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}"#,
            Some(13_393),
            Some(4_097),
        ),
        (
            400,
            r#"{"object":"error","message":"This model's maximum context length is 4097 tokens, however you requested 4116 tokens (1044 in your prompt; 3072 for the completion).","type":"BadRequestError","code":400}"#,
            Some(4_116),
            Some(4_097),
        ),
        (
            400,
            r#"{"error":{"message":"This endpoint's maximum context length is 32768 tokens. However, you requested about 42832 tokens (42832 of text input).","code":400}}"#,
            Some(42_832),
            Some(32_768),
        ),
        (
            400,
            r#"{"error":{"message":"Your input exceeds the context window of this model. Please adjust your input and try again.","type":"invalid_request_error","param":"input","code":"context_length_exceeded"}}"#,
            None,
            None,
        ),
        (
            400,
            r#"[{"error":{"code":400,"message":"The input token count (1054016) exceeds the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}}]"#,
            Some(1_054_016),
            Some(1_048_576),
        ),
        (
            400,
            r#"{"error":{"code":400,"message":"The input token count exceeds the maximum number of tokens allowed 1048576.","status":"INVALID_ARGUMENT"}}"#,
            None,
            Some(1_048_576),
        ),
        (
            500,
            r#"{"error":{"code":500,"message":"the request exceeds the available context size. try increasing the context size or enable context shift","type":"exceed_context_size_error","n_prompt_tokens":1407,"n_ctx":256}}"#,
            Some(1_407),
            Some(256),
        ),
        (
            413,
            r#"{"error":"request (14429 tokens) exceeds the available context size (8192 tokens), try increasing it"}"#,
            Some(14_429),
            Some(8_192),
        ),
    ] {
        let fault = Fault::of_status(status, None, body);
        assert_eq!((fault.kind, fault.class), ("context_too_long", ErrorClass::Final), "{body}");
        assert_eq!(fault.too_long.as_deref(), Some(&ContextSize::new(found, allowed)), "{body}");
        for number in [found, allowed].into_iter().flatten() {
            assert!(fault.message.contains(&number.to_string()), "{}", fault.message);
        }
    }
    for body in ["", "prompt", r#"{"error":{"message":"max_tokens is too large: 5 > 4"}}"#] {
        let fault = Fault::of_status(400, None, body);
        assert_eq!((fault.kind, fault.too_long), ("invalid_request", None), "{body}");
    }
    assert_eq!(
        Fault::of_status(413, None, r#"{"error":{"type":"request_too_large"}}"#).too_long,
        None,
        "bytes are no tokens"
    );
}

/// As `OpenAI` reports it once an answer has begun, and as servers do that know one status.
#[test]
fn a_context_that_is_too_long_is_found_in_every_place_where_a_provider_says_so() {
    let size = |found, allowed| Some(Box::new(ContextSize::new(found, allowed)));
    let error = r#"{"type":"error","sequence_number":2,"error":{"type":"invalid_request_error","code":"context_length_exceeded","message":"Your input exceeds the context window of this model.","param":"input"}}"#;
    let flat = r#"{"type":"error","code":"context_length_exceeded","message":"Your input exceeds the context window of this model."}"#;
    let whole = r#"{"error":{"code":400,"message":"the request exceeds the available context size","type":"exceed_context_size_error","n_prompt_tokens":14429,"n_ctx":8192}}"#;
    for (fault, expected) in [
        (Fault::reported(error), size(None, None)),
        (Fault::reported(flat), size(None, None)),
        (Fault::of_failed_response("context_length_exceeded", "No."), size(None, None)),
        (Fault::unexpected(whole, "a message", &"no"), size(Some(14_429), Some(8_192))),
    ] {
        assert_eq!((fault.kind, &fault.too_long), ("context_too_long", &expected), "{fault:?}");
    }
}

#[test]
fn an_error_in_place_of_an_answer_is_judged_by_its_code() {
    for (error, kind) in [
        (r#"{"error":{"code":429,"message":"Slow down."}}"#, "rate_limited"),
        (r#"{"error":{"type":"overloaded_error","message":"Overloaded"}}"#, "overloaded"),
        (r#"{"error":{"message":"No."}}"#, "invalid_response"),
        (r#"{"error":null,"ok":true}"#, "invalid_response"),
    ] {
        let fault = Fault::unexpected(error, "a message", &"it has none");
        assert_eq!(fault.kind, kind, "{}", fault.message);
    }
}

#[test]
fn gemini_says_its_pause_and_a_wrong_key_in_the_details() {
    let limited = r#"{"error":{"code":429,"message":"Slow down.","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"1.5s"}]}}"#;
    assert_eq!(pause_in(limited), Some(Duration::from_millis(1500)));
    assert_eq!(pause_in(r#"{"error":{"details":[{"retryDelay":"-1s"}]}}"#), None);
    let fault = Fault::of_status(429, None, limited);
    assert!(fault.message.contains("(RESOURCE_EXHAUSTED: Slow down.)"), "{}", fault.message);
    let key = r#"{"error":{"code":400,"message":"API key not valid.","status":"INVALID_ARGUMENT","details":[{"reason":"API_KEY_INVALID"}]}}"#;
    assert_eq!(Fault::of_status(400, None, key).kind, "wrong_key");
}

#[test]
fn a_text_of_the_server_in_an_error_is_short() {
    let long = "x".repeat(1 << 20);
    let body = format!(r#"{{"choices":"{long}"}}"#);
    let why = serde_json::from_str::<Vec<u8>>(&format!("\"{long}\"")).unwrap_err();
    let keys = serde_json::json!({(long.clone()): 1}).to_string();
    let shape = toolwright::provider::Provider::OpenAiChat.tool_calls(&keys).unwrap_err();
    let event = format!("data: {{\"choices\":\"{long}\"}}\n\n");
    let damaged = toolwright::provider::Provider::OpenAiChat.stream().push(event.as_bytes());
    assert!(shape.to_string().len() < 300, "{} bytes", shape.to_string().len());
    for fault in [
        Fault::unexpected(&body, "a completion", &why),
        Fault::unexpected(&keys, "a completion", &shape),
        Fault::of_stream(damaged.unwrap_err()),
    ] {
        assert!(fault.message.len() < 2_000, "{} bytes", fault.message.len());
    }
}
