//! Pictures and documents: where each provider gets them, and which sentence stands for what it does not get.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use toolwright_core::output::Content;

use super::super::{AnsweredCall, MediaSupport, Provider};

const PNG: &str = "iVBORw0KGgo=";
const GIF: &str = "R0lGODlhAQA=";
const PDF: &str = "JVBERi0xLjc=";

fn image(label: &'static str, data: impl Into<String>) -> Content<'static> {
    Content::Image { media_type: label.into(), data: data.into().into() }
}

fn pdf(name: Option<&'static str>) -> Content<'static> {
    let name = name.map(Into::into);
    Content::Document { name, media_type: "application/pdf".into(), data: PDF.into() }
}

fn said(provider: Provider, content: &[Content<'_>]) -> Value {
    provider.user_message(content, MediaSupport::Full)
}

fn answered(provider: Provider, content: &[Content<'_>], support: MediaSupport) -> Value {
    let answered = AnsweredCall { id: Some("c1"), name: "look".into(), is_error: false, content };
    provider.results(&[answered], support).unwrap()
}

#[test]
fn a_message_of_the_user_carries_pictures_and_documents_in_the_form_of_each_provider() {
    let content = [image("image/png", PNG), pdf(Some("plan.pdf")), Content::text("What is it?")];
    let [anthropic, chat, responses, gemini] = Provider::ALL.map(|it| said(it, &content));
    let source =
        |kind: &str, data: &str| json!({"type": "base64", "media_type": kind, "data": data});
    let (png, pdf) =
        (format!("data:image/png;base64,{PNG}"), format!("data:application/pdf;base64,{PDF}"));
    assert_eq!(
        anthropic,
        json!({"role": "user", "content": [
            {"type": "image", "source": source("image/png", PNG)},
            {"type": "document", "title": "plan.pdf", "source": source("application/pdf", PDF)},
            {"type": "text", "text": "What is it?"}
        ]})
    );
    assert_eq!(
        chat,
        json!({"role": "user", "content": [
            {"type": "image_url", "image_url": {"url": png}},
            {"type": "file", "file": {"filename": "plan.pdf", "file_data": pdf}},
            {"type": "text", "text": "What is it?"}
        ]})
    );
    assert_eq!(
        responses,
        json!({"role": "user", "content": [
            {"type": "input_image", "image_url": png, "detail": "auto"},
            {"type": "input_file", "filename": "plan.pdf", "file_data": pdf},
            {"type": "input_text", "text": "What is it?"}
        ]})
    );
    assert_eq!(
        gemini,
        json!({"role": "user", "parts": [
            {"inlineData": {"mimeType": "image/png", "data": PNG}},
            {"inlineData": {"mimeType": "application/pdf", "data": PDF}},
            {"text": "What is it?"}
        ]})
    );
}

#[test]
fn a_message_of_text_alone_is_a_string_where_the_provider_takes_one() {
    let content = [Content::text("Hello."), Content::text("  ")];
    for provider in [Provider::Anthropic, Provider::OpenAiChat, Provider::OpenAiResponses] {
        assert_eq!(said(provider, &content), json!({"role": "user", "content": "Hello."}));
    }
    let gemini = said(Provider::Gemini, &content);
    assert_eq!(gemini, json!({"role": "user", "parts": [{"text": "Hello."}]}));
}

#[test]
fn a_document_goes_into_the_answer_or_after_it() {
    let [anthropic, chat, responses, gemini] =
        Provider::ALL.map(|it| answered(it, &[pdf(None)], MediaSupport::Full));
    assert_eq!(anthropic["content"][0]["content"][0]["type"], "document");
    assert_eq!(anthropic["content"][0]["content"][0].get("title"), None);
    assert_eq!(chat[0]["content"], "[application/pdf, 8 bytes: attachment 1, after the answers]");
    assert_eq!(chat[1]["content"][1]["file"]["filename"], "document.pdf");
    assert_eq!(responses[0]["output"][0]["filename"], "document.pdf");
    let data = &gemini["parts"][0]["functionResponse"]["parts"][0]["inlineData"];
    assert_eq!(data["mimeType"], "application/pdf");
}

#[test]
fn a_model_that_reads_media_in_messages_alone_gets_those_of_answers_after_them() {
    let content = [image("image/png", PNG), image("image/jpeg", "/9j/4AAQSkY=")];
    let written = |provider| answered(provider, &content, MediaSupport::Messages);
    let [anthropic, chat, responses, gemini] = Provider::ALL.map(written);
    let text = "[image/png, 8 bytes: attachment 1, after the answers]";
    assert_eq!(gemini["parts"][0]["functionResponse"]["response"]["output"][0], text);
    assert_eq!(gemini["parts"][0]["functionResponse"].get("parts"), None);
    assert_eq!(gemini["parts"][1]["text"], "[attachment 1: image/png, 8 bytes]");
    assert_eq!(gemini["parts"][2]["inlineData"]["data"], PNG);
    assert_eq!(gemini["parts"][3]["text"], "[attachment 2: image/jpeg, 8 bytes]");
    assert_eq!(anthropic["content"][2]["type"], "image");
    assert_eq!(responses[1]["content"][1]["type"], "input_image");
    assert_eq!(chat, answered(Provider::OpenAiChat, &content, MediaSupport::Full));
}

#[test]
fn a_model_that_reads_text_alone_gets_a_sentence() {
    let (media_type, data) = ("text/csv".into(), "MSwy".into());
    let text = Content::Document { name: None, media_type, data };
    let content = [image("image/png", PNG), pdf(Some("plan.pdf")), text];
    for provider in Provider::ALL {
        for message in [
            provider.user_message(&content, MediaSupport::None),
            answered(provider, &content, MediaSupport::None),
        ] {
            let message = message.to_string();
            assert!(!message.contains(PNG) && !message.contains(PDF), "{provider}: {message}");
            for sentence in [
                "[image/png, 8 bytes, left out: the model reads text alone]",
                "[plan.pdf: application/pdf, 8 bytes, left out: the model reads text alone]",
                "document without a name (text/csv):\\n1,2",
            ] {
                assert!(message.contains(sentence), "{provider}: {message}");
            }
        }
    }
}

#[test]
fn a_picture_is_sent_as_what_its_data_is() {
    let content = [image("image/png", GIF)];
    let [anthropic, ..] = Provider::ALL.map(|it| said(it, &content));
    assert_eq!(anthropic["content"][0]["source"]["media_type"], "image/gif");
    let gemini = said(Provider::Gemini, &content);
    assert_eq!(
        gemini["parts"][0]["text"],
        "[image/png, 8 bytes, left out: its data is image/gif, which gemini cannot take]"
    );
}

#[test]
fn what_a_provider_would_refuse_is_left_out_with_the_reason() {
    let wrong = |content: Content<'_>, reason: &str| {
        for provider in Provider::ALL {
            let message = said(provider, std::slice::from_ref(&content)).to_string();
            assert!(message.contains(reason), "{provider}: {message}");
        }
    };
    wrong(image("image/png", "no base64!"), "left out: its data is no base64]");
    wrong(image("image/png", "AAAA"), "left out: its data has no format that is known]");
    let document = |media_type: &'static str, data: &'static str| Content::Document {
        name: Some("a".into()),
        media_type: media_type.into(),
        data: data.into(),
    };
    wrong(document("application/zip", "UEsDBA=="), "[a: application/zip, 4 bytes, left out: ");
    wrong(document("text/plain", "/w=="), "left out: its data is no text in UTF-8]");
    wrong(document("text/csv", "MSwy"), "document a (text/csv):\\n1,2");
}

#[test]
fn a_picture_that_is_larger_than_the_provider_takes_is_left_out_with_the_limit() {
    let mut bytes = STANDARD.decode(PNG).unwrap();
    bytes.resize(4_000_000, 0);
    let data = STANDARD.encode(bytes);
    let content = [image("image/png", data.clone())];
    let [anthropic, chat, responses, gemini] = Provider::ALL.map(|it| said(it, &content));
    assert_eq!(
        anthropic["content"],
        "[image/png, 4000000 bytes, left out: anthropic takes at most 3932160 bytes]"
    );
    for other in [chat, responses, gemini] {
        assert!(other.to_string().contains(&data));
    }
}

/// A screenshot of a long page. Anthropic would refuse every later request of the run.
#[test]
fn a_picture_with_a_side_that_is_too_long_for_a_provider_is_left_out() {
    let header = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\0\0\x05\0\0\0\x23\x28";
    let content = [image("image/png", STANDARD.encode(header))];
    let said = |provider| answered(provider, &content, MediaSupport::Full).to_string();
    let words = "[image/png, 24 bytes, left out: a side of it has 9000 pixels, and anthropic takes at most 8000]";
    assert!(said(Provider::Anthropic).contains(words), "{}", said(Provider::Anthropic));
    for provider in [Provider::OpenAiChat, Provider::OpenAiResponses, Provider::Gemini] {
        assert!(!said(provider).contains("left out"), "{provider}");
    }
}
