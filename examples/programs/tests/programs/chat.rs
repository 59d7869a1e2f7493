//! A conversation, text as it comes.

use std::fs::File;
use std::io::Write as _;

use serde_json::json;

use crate::provider::Provider;
use crate::{printed, program};

const CHAT: &str = env!("CARGO_BIN_EXE_chat");

/// An answer in pieces.
fn streamed<const N: usize>(pieces: [&str; N]) -> String {
    let mut events = String::new();
    for (index, text) in pieces.iter().enumerate() {
        let mut candidate =
            json!({ "content": { "role": "model", "parts": [{ "text": text }] }, "index": 0 });
        if index + 1 == N {
            candidate["finishReason"] = "STOP".into();
        }
        let usage =
            json!({ "promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15 });
        let event = json!({ "candidates": [candidate], "usageMetadata": usage, "modelVersion": "gemini-3-pro-preview" });
        events += &format!("data: {event}\r\n\r\n");
    }
    events
}

#[test]
fn each_line_is_a_message_and_the_second_continues_the_first() {
    let provider = Provider::of([streamed(["Hello, ", "Ada."]), streamed(["Good-bye."])]);
    let mut said = tempfile::NamedTempFile::new().unwrap();
    said.write_all(b"I am Ada.\nI have to go.\n").unwrap();
    let mut chat = program(CHAT);
    chat.env("GEMINI_API_KEY", "secret").env("GEMINI_BASE_URL", &provider.url);
    chat.stdin(File::open(said.path()).unwrap());
    assert_eq!(printed(&chat.output().unwrap()), "Hello, Ada.\nGood-bye.\n");
    let requests = provider.requests();
    assert_eq!(requests[1]["contents"].as_array().unwrap().len(), 3, "{}", requests[1]);
}

#[test]
fn an_empty_line_is_an_error_that_says_so() {
    let mut said = tempfile::NamedTempFile::new().unwrap();
    said.write_all(b"\n").unwrap();
    let mut chat = program(CHAT);
    chat.env("GOOGLE_API_KEY", "secret").env("GEMINI_BASE_URL", "http://127.0.0.1:1");
    let output = chat.stdin(File::open(said.path()).unwrap()).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(error.contains("nothing was said to the model"), "{error}");
}
