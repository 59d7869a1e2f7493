//! "An answer in pieces": from the bytes of a recorded stream of 2,000 deltas to events and the whole message, for
//! each provider.
//!
//! The floor parses the same lines: every event's data becomes a `serde_json::Value`, which is dropped at once. Both
//! get the bytes in pieces of 1,400, as over a network. Before anything is measured, the message is checked: its text
//! and arguments are those of the stream.

use std::hint::black_box;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use toolwright::provider::{Provider, StreamEvent};

use crate::measure::{Contestant, Effort, print_ratio, print_table, take_turns};

const DELTAS: usize = 2_000;
const PIECE: usize = 1_400;
const WORDS: [&str; 4] = ["The ", "tests pass\n", "with \"every\" ", "provider. "];

pub fn run(effort: Effort) -> Result<()> {
    let (rounds, times) = match effort {
        Effort::Full => (100, 10),
        Effort::Quick => (10, 3),
    };
    let mut table =
        vec![["provider", "bytes", "events", "µs", "µs, serde_json"].map(str::to_owned).to_vec()];
    let mut ratios = Vec::new();
    for provider in Provider::ALL {
        let bytes = recorded(provider)?;
        let count = checked(provider, &bytes)?;
        let rounds = take_turns(
            rounds,
            vec![
                Contestant::new("toolwright", || {
                    let begun = Instant::now();
                    for _ in 0..times {
                        black_box(read(provider, black_box(&bytes))?);
                    }
                    Ok(begun.elapsed())
                }),
                Contestant::new("json", || {
                    let begun = Instant::now();
                    for _ in 0..times {
                        black_box(parsed(black_box(&bytes))?);
                    }
                    Ok(begun.elapsed())
                }),
            ],
        )?;
        let micros =
            |name| rounds.median(name).map(|it| format!("{:.0}", it * 1e6 / f64::from(times)));
        table.push(vec![
            provider.to_string(),
            bytes.len().to_string(),
            count.to_string(),
            micros("toolwright")?,
            micros("json")?,
        ]);
        ratios.push((provider, rounds.ratio("toolwright", "json")?));
    }
    print_table(&table);
    for (provider, ratio) in ratios {
        print_ratio("stream", provider.name(), &ratio, "json");
    }
    Ok(())
}

fn read(provider: Provider, bytes: &[u8]) -> Result<(Vec<StreamEvent>, String)> {
    let (mut stream, mut events) = (provider.stream(), Vec::new());
    for piece in bytes.chunks(PIECE) {
        events.append(&mut stream.push(piece)?);
    }
    Ok((events, stream.finish()?))
}

/// Parses every event's data, and returns how many there are.
fn parsed(bytes: &[u8]) -> Result<usize> {
    let mut values = 0;
    for line in std::str::from_utf8(bytes)?.lines() {
        if let Some(data) = line.strip_prefix("data: ")
            && data != "[DONE]"
        {
            black_box(serde_json::from_str::<Value>(data)?);
            values += 1;
        }
    }
    Ok(values)
}

/// Returns how many events there are, if the message is the one that was streamed.
fn checked(provider: Provider, bytes: &[u8]) -> Result<usize> {
    let (events, message) = read(provider, bytes)?;
    let calls = provider.tool_calls(&message)?;
    let call = calls.first().context("no call")?;
    ensure!(calls.len() == 1 && call.arguments == arguments(), "{provider}: other arguments");
    let text: String = events
        .iter()
        .filter_map(|event| match event {
            StreamEvent::Text(text) => Some(text.as_str()),
            _ => None,
        })
        .collect();
    let deltas = if provider == Provider::Gemini { DELTAS } else { DELTAS / 2 };
    ensure!(text == said(deltas), "{provider}: another text");
    Ok(events.len())
}

fn said(deltas: usize) -> String {
    (0..deltas).map(|index| WORDS[index % WORDS.len()]).collect()
}

/// Returns a list of numbers, in as many pieces as there are deltas of arguments.
fn pieces() -> Vec<String> {
    let middle = (1..DELTAS / 2 - 1).map(|number| format!("{number},"));
    let mut pieces = vec![r#"{"numbers":["#.to_owned()];
    pieces.extend(middle);
    pieces.push("0]}".to_owned());
    pieces
}

fn arguments() -> String {
    pieces().concat()
}

/// Returns the stream as a provider sends it: half of the deltas are text, half are arguments. Gemini sends calls
/// whole, so all of its deltas are text.
fn recorded(provider: Provider) -> Result<Vec<u8>> {
    let words = |deltas: usize| (0..deltas).map(|index| WORDS[index % WORDS.len()]);
    let mut events: Vec<Value> = Vec::new();
    match provider {
        Provider::Anthropic => {
            let message = json!({"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": [], "stop_reason": null, "usage": {"input_tokens": 5, "output_tokens": 1}});
            events.push(json!({"type": "message_start", "message": message}));
            let start = |index: u64, block: Value| json!({"type": "content_block_start", "index": index, "content_block": block});
            let delta = |index: u64, delta: Value| json!({"type": "content_block_delta", "index": index, "delta": delta});
            events.push(start(0, json!({"type": "text", "text": ""})));
            events.extend(
                words(DELTAS / 2).map(|it| delta(0, json!({"type": "text_delta", "text": it}))),
            );
            events.push(json!({"type": "content_block_stop", "index": 0}));
            events.push(start(
                1,
                json!({"type": "tool_use", "id": "toolu_1", "name": "sum", "input": {}}),
            ));
            events.extend(
                pieces()
                    .iter()
                    .map(|it| delta(1, json!({"type": "input_json_delta", "partial_json": it}))),
            );
            events.push(json!({"type": "content_block_stop", "index": 1}));
            events.push(json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 2000}}));
            events.push(json!({"type": "message_stop"}));
        }
        Provider::OpenAiChat => {
            let chunk = |delta: Value, reason: Value| json!({"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [{"index": 0, "delta": delta, "logprobs": null, "finish_reason": reason}]});
            events.extend(words(DELTAS / 2).map(|it| chunk(json!({"content": it}), Value::Null)));
            let begun = json!({"index": 0, "id": "call_1", "type": "function", "function": {"name": "sum", "arguments": ""}});
            events.push(chunk(json!({"tool_calls": [begun]}), Value::Null));
            events.extend(pieces().iter().map(|it| {
                chunk(
                    json!({"tool_calls": [{"index": 0, "function": {"arguments": it}}]}),
                    Value::Null,
                )
            }));
            events.push(chunk(json!({}), "tool_calls".into()));
        }
        Provider::OpenAiResponses => {
            let text = said(DELTAS / 2);
            let message = json!({"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [{"type": "output_text", "text": text, "annotations": []}]});
            let call = json!({"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "sum", "arguments": arguments(), "status": "completed"});
            let delta = |kind: &str, index: u64, delta: &str| json!({"type": kind, "sequence_number": 1, "item_id": "item_1", "output_index": index, "delta": delta});
            events.extend(words(DELTAS / 2).map(|it| delta("response.output_text.delta", 0, it)));
            events.push(json!({"type": "response.output_item.added", "output_index": 1, "item": {"type": "function_call", "call_id": "call_1", "name": "sum", "arguments": ""}}));
            events.extend(
                pieces().iter().map(|it| delta("response.function_call_arguments.delta", 1, it)),
            );
            events.push(
                json!({"type": "response.output_item.done", "output_index": 1, "item": call}),
            );
            events.push(json!({"type": "response.completed", "response": {"object": "response", "status": "completed", "output": [message, call]}}));
        }
        _ => {
            let chunk = |part: Value| json!({"candidates": [{"content": {"role": "model", "parts": [part]}, "index": 0}], "usageMetadata": {"promptTokenCount": 5}, "modelVersion": "m", "responseId": "r"});
            events.extend(words(DELTAS).map(|it| chunk(json!({"text": it}))));
            let arguments: Value = serde_json::from_str(&arguments())?;
            events.push(chunk(json!({"functionCall": {"name": "sum", "args": arguments}})));
            events.push(json!({"candidates": [{"finishReason": "STOP", "index": 0}]}));
        }
    }
    let mut bytes = Vec::new();
    for event in &events {
        if let Some(kind) = event["type"].as_str() {
            bytes.extend_from_slice(format!("event: {kind}\n").as_bytes());
        }
        bytes.extend_from_slice(format!("data: {event}\n\n").as_bytes());
    }
    if provider == Provider::OpenAiChat {
        bytes.extend_from_slice(b"data: [DONE]\n\n");
    }
    Ok(bytes)
}
