//! Streams that were recorded of servers, three for each provider: cut at every byte, and with their events out of order.
//!
//! They are of llama.cpp with a small model, and of two servers that imitate the providers, llmock and aimock.

use super::*;

struct Recorded {
    provider: Provider,
    name: &'static str,
    stream: &'static str,
}

macro_rules! recorded {
    ($provider:ident, $name:literal) => {
        Recorded {
            provider: Provider::$provider,
            name: $name,
            stream: include_str!(concat!("../recorded/", $name, ".sse")),
        }
    };
}

const RECORDED: [Recorded; 12] = [
    recorded!(Anthropic, "anthropic-llama"),
    recorded!(Anthropic, "anthropic-llmock"),
    recorded!(Anthropic, "anthropic-aimock"),
    recorded!(OpenAiChat, "openai-chat-llama"),
    recorded!(OpenAiChat, "openai-chat-llmock"),
    recorded!(OpenAiChat, "openai-chat-aimock"),
    recorded!(OpenAiResponses, "openai-responses-llama"),
    recorded!(OpenAiResponses, "openai-responses-llmock"),
    recorded!(OpenAiResponses, "openai-responses-aimock"),
    recorded!(Gemini, "gemini-llmock-text"),
    recorded!(Gemini, "gemini-llmock"),
    recorded!(Gemini, "gemini-aimock"),
];

impl Recorded {
    fn calls(&self) -> Vec<ToolCall> {
        let (_, message) = read(self.provider, [self.stream.as_bytes()]);
        self.provider.tool_calls(&message.unwrap()).unwrap()
    }

    /// The events, each with the empty line that ends it.
    fn events(&self) -> Vec<&'static str> {
        self.stream.split_inclusive("\n\n").collect()
    }
}

#[test]
fn a_recorded_stream_gives_one_message_wherever_its_bytes_are_cut() {
    for Recorded { provider, name, stream } in RECORDED {
        let bytes = stream.as_bytes();
        let (whole, message) = read(provider, [bytes]);
        let message = message.unwrap();
        assert!(whole.len() > 1, "{name}");
        let unknown = whole.iter().find(|event| matches!(event, StreamEvent::Unknown { .. }));
        assert_eq!(unknown, None, "{name}");
        for place in 0..=bytes.len() {
            let (events, other) = read(provider, [&bytes[..place], &bytes[place..]]);
            assert_eq!((&events, &other.unwrap()), (&whole, &message), "{name} {place}");
        }
        let (events, other) = read(provider, bytes.chunks(1));
        assert_eq!((events, other.unwrap()), (whole, message), "{name}");
    }
}

#[test]
fn a_recorded_stream_that_breaks_off_at_any_byte_before_its_end_is_no_answer() {
    for Recorded { provider, name, stream } in RECORDED {
        let bytes = stream.as_bytes();
        let (_, message) = read(provider, [bytes]);
        let message = message.unwrap();
        let mut ends = None;
        for place in 0..bytes.len() {
            let (events, other) = read(provider, [&bytes[..place]]);
            let calls = events.into_iter().filter_map(|event| match event {
                StreamEvent::Call { call, .. } => Some(call),
                _ => None,
            });
            match other {
                Err(StreamError::Cut { complete }) if ends.is_none() => {
                    assert_eq!(complete, calls.collect::<Vec<_>>(), "{name} {place}");
                }
                Ok(other) => {
                    ends.get_or_insert(place);
                    let answer = message.split(",\"usage\":").next().unwrap();
                    assert!(
                        other.starts_with(answer.trim_end_matches('}')),
                        "{name} {place}: {other}"
                    );
                }
                other => panic!("{name} {place}: {other:?}"),
            }
        }
        // Nothing but the usage and the end of a stream in an older form may follow what says that the answer is whole.
        for rest in stream[ends.unwrap_or(bytes.len())..].split("\n\n").map(str::trim) {
            let is_end = ["", "data: [DONE]"].contains(&rest);
            let is_usage = rest.contains("\"usage\":") && rest.contains("\"choices\":[]");
            assert!(is_end || is_usage, "{name}: {rest}");
        }
    }
}

/// Text cannot say that it comes twice; a call has to be the one that the model made, or none that anything runs.
#[test]
fn a_recorded_stream_whose_events_are_swapped_or_come_twice_gives_no_other_call() {
    let mut refused = 0;
    for recorded in RECORDED {
        let (calls, events) = (recorded.calls(), recorded.events());
        let mut streams = Vec::new();
        for place in 0..events.len() {
            let mut twice = events.clone();
            twice.insert(place, events[place]);
            streams.push(twice.concat());
            if place > 0 {
                let mut swapped = events.clone();
                swapped.swap(place - 1, place);
                streams.push(swapped.concat());
            }
        }
        for stream in streams {
            let (_, message) = read(recorded.provider, [stream.as_bytes()]);
            let found = message.ok().and_then(|it| recorded.provider.tool_calls(&it).ok());
            let Some(found) = found else {
                refused += 1;
                continue;
            };
            for call in found {
                let is_json = serde_json::from_str::<serde_json::Value>(&call.arguments).is_ok();
                assert!(calls.contains(&call) || !is_json, "{}: {call:?}\n{stream}", recorded.name);
            }
        }
    }
    assert!(refused > 20, "{refused}");
}

#[test]
fn a_recorded_stream_with_bytes_that_are_no_text_is_damaged() {
    for Recorded { provider, name, stream } in RECORDED {
        // The begin of a character of four bytes, where a text begins.
        let place = stream.find('"').unwrap();
        let (before, after) = stream.as_bytes().split_at(place + 1);
        let (_, message) = read(provider, [before, b"\xf0\x9f", after]);
        assert!(matches!(message, Err(StreamError::NotUtf8(_))), "{name}: {message:?}");
    }
}
