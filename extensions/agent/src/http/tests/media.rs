//! Pictures and documents of a history, in the requests to each provider.

use std::sync::Arc;

use toolwright::provider::{MediaSupport, ToolCall};
use toolwright::{Answer, Content, Output};

use super::*;
use crate::http::api::Api;

const PNG: &str = "iVBORw0KGgo=";
const PDF: &str = "JVBERi0xLjc=";

const APIS: [Api; 4] = [Api::Anthropic, Api::OpenAiChat, Api::OpenAiResponses, Api::Gemini];

fn picture() -> Content<'static> {
    Content::Image { media_type: "image/png".into(), data: PNG.into() }
}

fn plan() -> Content<'static> {
    let name = Some("plan.pdf".into());
    Content::Document { name, media_type: "application/pdf".into(), data: PDF.into() }
}

/// A user shows a document, and a tool a picture.
fn history() -> Vec<Message> {
    let call = ToolCall { id: Some("c1".into()), name: "look".into(), arguments: "{}".into() };
    let answer = Answer::from(Output::text("a picture:").with(picture()));
    vec![
        Message::user_with("Look.", [plan()]),
        Message::assistant("", [call.clone()]),
        Message::tool_results([(call, answer)]),
    ]
}

fn written(api: Api, media: MediaSupport, history: &[Message]) -> String {
    let listing = Registry::empty().listing(api.provider().into()).unwrap();
    let to = RequestTarget { media, ..api.asked("some-model", None) };
    api.body(&to, &ModelRequest::new(history, &listing)).unwrap()
}

#[test]
fn pictures_and_documents_of_users_and_tools_reach_every_provider() {
    for api in APIS {
        let body = written(api, MediaSupport::Full, &history());
        assert!(body.contains(PDF) && body.contains(PNG), "{api:?}: {body}");
        let text = body.find("Look.").unwrap();
        assert!(body.find(PDF).unwrap() < text, "{api:?}: what belongs to a text is before it");
    }
}

#[test]
fn a_message_of_the_user_may_be_a_picture_alone() {
    for api in APIS {
        let body = written(api, MediaSupport::Full, &[Message::user_with("", [picture()])]);
        assert!(body.contains(PNG) && !body.contains("\"text\":\"\""), "{api:?}: {body}");
    }
}

#[tokio::test]
async fn a_model_without_media_gets_sentences_over_the_wire() {
    let server = Server::start(vec![Answers::with(200, DONE)]).await;
    let model = at(&server.url()).media(MediaSupport::None).build().unwrap();
    let listing = Registry::empty().listing(model.dialect()).unwrap();
    let history = history();
    model.answer(ModelRequest::new(&history, &listing)).await.unwrap();
    let [request] = &server.requests()[..] else { panic!("one request") };
    assert!(!request.contains(PDF) && !request.contains(PNG), "{request}");
    assert!(request.contains("left out: the model reads text alone"), "{request}");
}

#[test]
fn gemini_before_3_gets_the_pictures_of_answers_after_them() {
    let older = Api::Gemini.media("models/gemini-2.5-pro");
    assert_eq!(
        (older, Api::Gemini.media("gemini-3-pro")),
        (MediaSupport::Messages, MediaSupport::Full)
    );
    let body = written(Api::Gemini, older, &history());
    let (answer, picture) = (body.find("functionResponse").unwrap(), body.find(PNG).unwrap());
    assert!(answer < body.find("attachment 1, after the answers").unwrap() && answer < picture);
    assert!(!body[answer..].contains(r#""parts":[{"inlineData""#), "{body}");
}

#[test]
fn what_a_picture_was_said_with_stays_in_the_prefix_of_later_requests() {
    let mut history = history();
    for api in APIS {
        let before = written(api, MediaSupport::Full, &history);
        history.push(Message::user("More."));
        let after = written(api, MediaSupport::Full, &history);
        history.pop();
        assert!(after.starts_with(before.strip_suffix("]}").unwrap()), "{api:?}");
    }
}

#[tokio::test]
async fn a_run_sends_what_its_user_attaches() {
    let server = Server::start(vec![Answers::with(200, DONE)]).await;
    let executor = toolwright::Executor::builder(Registry::empty()).build().unwrap();
    let model = at(&server.url()).build().unwrap();
    let agent = crate::agent::Agent::on(executor, model).build().unwrap();
    let mut run = agent.new_run("r").start().unwrap();
    run.send_with("", Arc::from([picture()])).await.unwrap();
    assert!(server.requests()[0].contains(PNG));
}
