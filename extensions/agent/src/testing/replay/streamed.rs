//! Converts a recorded answer into the server-sent events of a stream with the same answer.

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use toolwright::provider::Provider;

/// The number of characters in a piece of a streamed text.
const PIECE: usize = 12;

/// Reports whether a request asks for a streamed answer.
pub(super) fn is_wanted(path: &str, body: &Value) -> bool {
    body["stream"] == true || path.contains(STREAM)
}

/// Returns the path that the same request has without streaming.
pub(super) fn whole_path(path: &str) -> String {
    match path.split_once(STREAM) {
        Some((before, _)) => format!("{before}:generateContent"),
        None => path.to_owned(),
    }
}

/// Removes the members of a request that define how its answer is sent.
pub(super) fn without_transport(mut body: Value) -> Value {
    if let Some(body) = body.as_object_mut() {
        body.remove("stream");
        body.remove("stream_options");
    }
    body
}

const STREAM: &str = ":streamGenerateContent";

/// Writes an answer as the events of a stream.
pub(super) fn events(provider: Provider, answer: &str) -> serde_json::Result<String> {
    let mut events = Events::default();
    match provider {
        Provider::Anthropic => anthropic(answer, &mut events)?,
        Provider::OpenAiChat => openai_chat(answer, &mut events)?,
        Provider::OpenAiResponses => openai_responses(answer, &mut events)?,
        Provider::Gemini => gemini(answer, &mut events)?,
        // The answer of an unknown provider is sent in one piece.
        _ => events.0.push_str(answer),
    }
    Ok(events.0)
}

#[derive(Default)]
struct Events(String);

impl Events {
    fn push(&mut self, event: &Value) {
        if let Some(kind) = event["type"].as_str() {
            self.0.push_str(&format!("event: {kind}\n"));
        }
        self.text(&event.to_string());
    }

    fn text(&mut self, data: &str) {
        self.0.push_str(&format!("data: {data}\n\n"));
    }
}

fn pieces(text: &str) -> impl Iterator<Item = String> {
    let characters: Vec<char> = text.chars().collect();
    let pieces: Vec<String> =
        characters.chunks(PIECE).map(|piece| piece.iter().collect()).collect();
    pieces.into_iter()
}

#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow)]
    content: Vec<&'a RawValue>,
}

/// The input of a call as raw JSON.
#[derive(Deserialize)]
struct CallInput<'a> {
    #[serde(borrow)]
    input: Option<&'a RawValue>,
}

fn anthropic(answer: &str, events: &mut Events) -> serde_json::Result<()> {
    let mut message: Map<String, Value> = serde_json::from_str(answer)?;
    let reason = message.insert("stop_reason".to_owned(), Value::Null);
    let usage = message.get("usage").cloned();
    message.insert("content".to_owned(), json!([]));
    events.push(&json!({"type": "message_start", "message": message}));
    let content: Message<'_> = serde_json::from_str(answer)?;
    for (index, raw) in content.content.into_iter().enumerate() {
        let mut block: Value = serde_json::from_str(raw.get())?;
        let called: CallInput<'_> = serde_json::from_str(raw.get())?;
        let (kind, key, text) = match block["type"].as_str() {
            Some("text") => ("text_delta", "text", block["text"].take()),
            Some("thinking") => ("thinking_delta", "thinking", block["thinking"].take()),
            Some("tool_use") => {
                let input = called.input.map_or("{}", RawValue::get);
                block["input"] = json!({});
                ("input_json_delta", "partial_json", input.into())
            }
            _ => ("", "", Value::Null),
        };
        if let Some(text @ Value::Null) = block.get_mut(key) {
            *text = "".into();
        }
        let start = json!({"type": "content_block_start", "index": index, "content_block": block});
        events.push(&start);
        for piece in pieces(text.as_str().unwrap_or_default()) {
            let delta = json!({"type": kind, key: piece});
            let event = json!({"type": "content_block_delta", "index": index, "delta": delta});
            events.push(&event);
        }
        events.push(&json!({"type": "content_block_stop", "index": index}));
    }
    events
        .push(&json!({"type": "message_delta", "delta": {"stop_reason": reason}, "usage": usage}));
    events.push(&json!({"type": "message_stop"}));
    Ok(())
}

fn openai_chat(answer: &str, events: &mut Events) -> serde_json::Result<()> {
    let answer: Value = serde_json::from_str(answer)?;
    let choice = &answer["choices"][0];
    let mut chunk = |delta: Value, reason: &Value| {
        let choices = json!([{"index": 0, "delta": delta, "finish_reason": reason}]);
        events.push(&json!({"object": "chat.completion.chunk", "choices": choices}));
    };
    chunk(json!({"role": "assistant"}), &Value::Null);
    for key in ["content", "refusal"] {
        for piece in pieces(choice["message"][key].as_str().unwrap_or_default()) {
            chunk(json!({key: piece}), &Value::Null);
        }
    }
    let calls = choice["message"]["tool_calls"].as_array();
    for (index, call) in calls.into_iter().flatten().enumerate() {
        let function = json!({"name": call["function"]["name"], "arguments": ""});
        let begun =
            json!({"index": index, "id": call["id"], "type": "function", "function": function});
        chunk(json!({"tool_calls": [begun]}), &Value::Null);
        for piece in pieces(call["function"]["arguments"].as_str().unwrap_or_default()) {
            let more = json!({"index": index, "function": {"arguments": piece}});
            chunk(json!({"tool_calls": [more]}), &Value::Null);
        }
    }
    chunk(json!({}), &choice["finish_reason"]);
    if answer.get("usage").is_some() {
        events.push(&json!({"choices": [], "usage": answer["usage"]}));
    }
    events.text("[DONE]");
    Ok(())
}

fn openai_responses(answer: &str, events: &mut Events) -> serde_json::Result<()> {
    let response: Value = serde_json::from_str(answer)?;
    events.push(&json!({"type": "response.created", "response": {"status": "in_progress"}}));
    for (index, item) in response["output"].as_array().into_iter().flatten().enumerate() {
        let item_of = |kind: &str, item: &Value| json!({"type": format!("response.output_item.{kind}"), "output_index": index, "item": item});
        let mut begun = item.clone();
        let (kind, texts) = match item["type"].as_str() {
            Some("function_call") => {
                begun["arguments"] = "".into();
                let arguments = item["arguments"].as_str().unwrap_or_default();
                ("response.function_call_arguments.delta", vec![arguments])
            }
            Some("message") => {
                begun["content"] = json!([]);
                let parts = item["content"].as_array().into_iter().flatten();
                ("response.output_text.delta", parts.filter_map(|it| it["text"].as_str()).collect())
            }
            Some("reasoning") => {
                let parts = item["summary"].as_array().into_iter().flatten();
                let texts = parts.filter_map(|it| it["text"].as_str()).collect();
                ("response.reasoning_summary_text.delta", texts)
            }
            _ => ("", Vec::new()),
        };
        events.push(&item_of("added", &begun));
        for piece in texts.into_iter().flat_map(pieces) {
            events.push(&json!({"type": kind, "output_index": index, "delta": piece}));
        }
        events.push(&item_of("done", item));
    }
    let kind = match response["status"].as_str() {
        Some(status @ ("incomplete" | "failed")) => format!("response.{status}"),
        _ => "response.completed".to_owned(),
    };
    // The response is sent unchanged. It fits on one line, since recordings have no line breaks.
    events.0.push_str(&format!("event: {kind}\n"));
    events.text(&format!(r#"{{"type":"{kind}","response":{answer}}}"#));
    Ok(())
}

#[derive(Deserialize)]
struct Response<'a> {
    #[serde(borrow)]
    candidates: Vec<Candidate<'a>>,
}

#[derive(Deserialize)]
struct Candidate<'a> {
    #[serde(borrow)]
    content: Option<Content<'a>>,
}

#[derive(Deserialize)]
struct Content<'a> {
    #[serde(borrow, default)]
    parts: Vec<&'a RawValue>,
}

fn gemini(answer: &str, events: &mut Events) -> serde_json::Result<()> {
    let response: Response<'_> = serde_json::from_str(answer)?;
    let content = response.candidates.into_iter().next().and_then(|it| it.content);
    for part in content.into_iter().flat_map(|it| it.parts) {
        let content = format!(r#"{{"role":"model","parts":[{}]}}"#, part.get());
        events.text(&format!(r#"{{"candidates":[{{"content":{content}}}]}}"#));
    }
    let mut last: Value = serde_json::from_str(answer)?;
    if let Some(candidate) = last["candidates"].get_mut(0) {
        candidate["content"] = json!({"role": "model"});
    }
    events.text(&last.to_string());
    Ok(())
}
