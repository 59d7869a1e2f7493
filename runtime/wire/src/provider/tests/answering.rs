//! Answers out: the shape of each provider's message, and that nothing in an answer gets lost.

use serde_json::{Value, json};

use super::super::{AnsweredCall, MediaSupport, Provider};
use toolwright_core::output::Content;

/// How a PNG begins; the converters look no further.
const DATA: &str = "iVBORw0KGgo=";

fn image(media_type: &'static str) -> Content<'static> {
    Content::Image { media_type: media_type.into(), data: beginning(media_type).into() }
}

/// How a picture of this format begins.
fn beginning(media_type: &str) -> &'static str {
    match media_type {
        "image/jpeg" => "/9j/4AAQSkY=",
        "image/gif" => "R0lGODlhAQA=",
        "image/webp" => "UklGRhoAAABXRUJQVlA4TA==",
        "image/svg+xml" => "PHN2Zz48L3M=",
        "image/tiff" => "SUkqAAgAAAA=",
        _ => DATA,
    }
}

fn answers(provider: Provider, is_error: bool, content: &[Content<'_>]) -> Value {
    let answered = AnsweredCall { id: Some("c1"), name: "ping".into(), is_error, content };
    provider.results(&[answered], MediaSupport::Full).unwrap()
}

#[test]
fn a_single_text_is_a_plain_string_for_every_provider() {
    let content = [Content::text("pong")];
    let [anthropic, chat, responses, gemini] = Provider::ALL.map(|it| answers(it, false, &content));
    assert_eq!(
        anthropic,
        json!({"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "c1", "content": "pong"}
        ]})
    );
    assert_eq!(chat, json!([{"role": "tool", "tool_call_id": "c1", "content": "pong"}]));
    assert_eq!(
        responses,
        json!([{"type": "function_call_output", "call_id": "c1", "output": "pong"}])
    );
    assert_eq!(
        gemini,
        json!({"role": "user", "parts": [
            {"functionResponse": {"id": "c1", "name": "ping", "response": {"output": "pong"}}}
        ]})
    );
}

#[test]
fn an_error_is_marked_where_the_provider_has_a_mark_and_carried_as_given() {
    let json = r#"{"is_error":true,"error_type":"not_found","message":"no such file"}"#;
    let content = [Content::json(json)];
    let [anthropic, chat, responses, gemini] = Provider::ALL.map(|it| answers(it, true, &content));
    assert_eq!(anthropic["content"][0]["is_error"], true);
    assert_eq!(anthropic["content"][0]["content"], json);
    assert_eq!(chat[0]["content"], json);
    assert_eq!(responses[0]["output"], json);
    assert_eq!(
        gemini["parts"][0]["functionResponse"]["response"]["error"]["error_type"],
        "not_found"
    );
}

#[test]
fn pictures_go_where_the_provider_takes_them_and_those_that_none_takes_become_a_sentence() {
    let content = [Content::text("two:"), image("image/png"), image("image/tiff")];
    let [anthropic, chat, responses, gemini] = Provider::ALL.map(|it| answers(it, false, &content));
    assert_eq!(
        anthropic["content"][0]["content"],
        json!([
            {"type": "text", "text": "two:"},
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": DATA}},
            {"type": "text",
             "text": "[image/tiff, 8 bytes, left out: anthropic cannot take it]"}
        ])
    );
    assert_eq!(
        chat[0]["content"],
        "two:\n[image/png, 8 bytes: attachment 1, after the answers]\n\
         [image/tiff, 8 bytes, left out: openai-chat cannot take it]"
    );
    assert_eq!(
        chat[1],
        json!({"role": "user", "content": [
            {"type": "text", "text": "[attachment 1: image/png, 8 bytes]"},
            {"type": "image_url", "image_url": {"url": format!("data:image/png;base64,{DATA}")}}
        ]})
    );
    assert_eq!(
        responses[0]["output"][1],
        json!({"type": "input_image", "detail": "auto",
               "image_url": format!("data:image/png;base64,{DATA}")})
    );
    let response = &gemini["parts"][0]["functionResponse"];
    assert_eq!(response["response"]["output"][1], "[image/png, 8 bytes, part 1 of this response]");
    assert_eq!(response["parts"], json!([{"inlineData": {"mimeType": "image/png", "data": DATA}}]));
}

#[test]
fn each_provider_gets_the_pictures_that_it_reads_and_a_sentence_of_others() {
    let taken: [&[&str]; 4] = [
        &["image/jpeg", "image/png", "image/gif", "image/webp"],
        &["image/jpeg", "image/png", "image/gif", "image/webp"],
        &["image/jpeg", "image/png", "image/gif", "image/webp"],
        &["image/jpeg", "image/png", "image/webp"],
    ];
    for (provider, taken) in Provider::ALL.into_iter().zip(taken) {
        for format in ["image/jpeg", "image/png", "image/gif", "image/webp", "image/svg+xml"] {
            let message = answers(provider, false, &[image(format)]).to_string();
            let is_sent = message.contains(beginning(format));
            assert_eq!(is_sent, taken.contains(&format), "{provider} {format}: {message}");
            let is_left_out = message.contains(&format!("{provider} cannot take it"));
            assert_eq!(is_left_out, !is_sent, "{provider} {format}: {message}");
        }
    }
}

#[test]
fn anthropic_gets_the_picture_of_an_error_after_it_because_it_would_refuse_one_within() {
    let message = answers(Provider::Anthropic, true, &[image("image/png")]);
    assert_eq!(
        message["content"][0]["content"],
        "[image/png, 8 bytes: attachment 1, after the answers]"
    );
    assert_eq!(message["content"][2]["source"]["data"], DATA);
}

#[test]
fn sounds_and_resources_leave_at_least_their_name() {
    let content = [
        Content::Audio { media_type: "audio/wav".into(), data: DATA.into() },
        Content::Resource {
            uri: "file:///a.md".into(),
            media_type: Some("text/markdown".into()),
            text: Some("# A".into()),
        },
        Content::Resource { uri: "file:///b.bin".into(), media_type: None, text: None },
    ];
    for provider in Provider::ALL {
        let message = answers(provider, false, &content).to_string();
        for expected in [
            "audio/wav, 8 bytes, left out",
            r"resource file:///a.md (text/markdown):\n# A",
            "resource file:///b.bin, its content is not included",
        ] {
            assert!(message.contains(expected), "{provider}: {message}");
        }
    }
}

#[test]
fn answers_without_content_stay_valid() {
    let [anthropic, chat, responses, gemini] = Provider::ALL.map(|it| answers(it, false, &[]));
    assert_eq!(anthropic["content"][0], json!({"type": "tool_result", "tool_use_id": "c1"}));
    assert_eq!(chat[0]["content"], "");
    assert_eq!(responses[0]["output"], "");
    assert_eq!(gemini["parts"][0]["functionResponse"]["response"], json!({"output": ""}));
}

#[test]
fn anthropic_gets_no_blank_text_block() {
    let content = [Content::text(" \n"), image("image/png")];
    let blocks = answers(Provider::Anthropic, false, &content);
    assert_eq!(blocks["content"][0]["content"].as_array().map(Vec::len), Some(1));
    let empty = answers(Provider::Anthropic, false, &[Content::text("")]);
    assert_eq!(empty["content"][0], json!({"type": "tool_result", "tool_use_id": "c1"}));
}

#[test]
fn json_with_numbers_that_gemini_would_round_travels_as_text() {
    for (json, structured) in [
        (r#"{"n":9007199254740991,"f":0.5}"#, true),
        (r#"{"n":9007199254740993}"#, false),
        (r#"[{"n":-123456789012345678901234567890}]"#, false),
        ("no json at all", false),
    ] {
        let message = answers(Provider::Gemini, false, &[Content::json(json)]);
        let output = &message["parts"][0]["functionResponse"]["response"]["output"];
        assert_eq!(output.is_string(), !structured, "{json}");
        assert!(structured || output == json);
    }
}

#[test]
fn an_answer_without_an_id_is_an_error_for_all_but_gemini() {
    let answered = [AnsweredCall { id: None, name: "ping".into(), is_error: false, content: &[] }];
    let message = Provider::Gemini.results(&answered, MediaSupport::Full).unwrap();
    assert_eq!(message["parts"][0]["functionResponse"].get("id"), None);
    for provider in [Provider::Anthropic, Provider::OpenAiChat, Provider::OpenAiResponses] {
        assert_eq!(
            provider.results(&answered, MediaSupport::Full).unwrap_err().to_string(),
            format!("{provider} needs the call's id in an answer, answer 0 of tool ping has none")
        );
    }
}
