//! What is written is what is read; what is wrong is named with its line.

use super::*;

const HEADER: &str = r#"{"recording":1,"provider":"openai-chat"}"#;

fn refused(text: &str) -> String {
    text.parse::<Recording>().unwrap_err().to_string()
}

#[test]
fn a_body_keeps_its_numbers_its_order_and_the_space_in_its_texts() {
    let body = "{ \"b\" : 1.50,\n\t\"a\":[ \"x \\\" { y\\\\\" , 9007199254740993 ] }";
    let response = RecordedResponse::new(200, body);
    assert_eq!(response.body(), r#"{"b":1.50,"a":["x \" { y\\",9007199254740993]}"#);
}

#[test]
fn a_recording_that_is_written_is_read_again() {
    let request = RecordedRequest::new("POST", "/chat/completions", "{}").unwrap();
    let mut response = RecordedResponse::new(429, "slow down");
    response.headers.insert("retry-after".to_owned(), "1".to_owned());
    let recording = Recording::new(Provider::OpenAiChat, vec![Exchange { request, response }]);
    let text = recording.to_string();
    let again: Recording = text.parse().unwrap();
    assert_eq!(again.to_string(), text);
    assert_eq!(again.exchanges()[0].response.body(), "slow down");
    assert_eq!(again.exchanges()[0].response.headers["retry-after"], "1");
}

#[test]
fn what_is_wrong_is_named_with_its_line() {
    assert!(refused("").starts_with("found no line"), "{}", refused(""));
    assert!(refused("[]").starts_with("line 1 is not the first line: "), "{}", refused("[]"));
    let provider = refused(r#"{"recording":1,"provider":"openai"}"#);
    assert!(provider.contains("found the provider `openai`, expected one of `anthropic`"));
    let unknown = refused(&format!("{HEADER}\n\n{{\"request\":{{}},\"answer\":{{}}}}\n"));
    assert!(unknown.starts_with("line 3 is not an exchange: "), "{unknown}");
}

#[test]
fn a_file_that_is_missing_is_named() {
    let error = Recording::read("no-such-recording.jsonl").unwrap_err();
    assert_eq!(error.to_string(), "the recording `no-such-recording.jsonl` cannot be read");
}

#[test]
fn debug_shows_no_body() {
    let request = RecordedRequest::new("POST", "/v1/messages", r#"{"text":"hunter2"}"#).unwrap();
    let exchange = Exchange { request, response: RecordedResponse::new(200, "hunter2") };
    assert!(!format!("{exchange:?}").contains("hunter2"));
}
