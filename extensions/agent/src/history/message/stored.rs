//! The stored form of messages: one JSON object each, with a version. Verbatim content of a provider is stored as a
//! string, so that every store returns it byte for byte.

use std::borrow::Cow;
use std::sync::Arc;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use toolwright::provider::ToolCall;
use toolwright::{Answer, Content, Output, StoredAnswer};

use super::{Message, Verbatim};

#[derive(Serialize)]
struct VersionedMessage<T> {
    version: u32,
    #[serde(flatten)]
    body: T,
}

#[derive(Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "snake_case", deny_unknown_fields)]
enum Body<'a> {
    User {
        text: Cow<'a, str>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        attachments: Option<StoredAnswer>,
        #[serde(default, skip_serializing_if = "<[String]>::is_empty")]
        untrusted: Cow<'a, [String]>,
    },
    Model {
        #[serde(default, skip_serializing_if = "str::is_empty")]
        text: Cow<'a, str>,
        #[serde(default, skip_serializing_if = "<[ToolCall]>::is_empty")]
        calls: Cow<'a, [ToolCall]>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        verbatim: Option<StoredVerbatim<'a>>,
    },
    Answers {
        answers: Vec<AnsweredCall<'a>>,
    },
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredVerbatim<'a> {
    provider: Cow<'a, str>,
    text: Cow<'a, str>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct AnsweredCall<'a> {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    id: Option<Cow<'a, str>>,
    name: Cow<'a, str>,
    answer: StoredAnswer,
}

impl<'a> From<&'a (ToolCall, Answer)> for AnsweredCall<'a> {
    fn from((call, answer): &'a (ToolCall, Answer)) -> Self {
        let id = call.id.as_deref().map(Cow::Borrowed);
        Self { id, name: Cow::Borrowed(&call.name), answer: answer.into() }
    }
}

impl From<AnsweredCall<'_>> for (ToolCall, Answer) {
    fn from(stored: AnsweredCall<'_>) -> Self {
        let id = stored.id.map(Cow::into_owned);
        let call = ToolCall { id, name: stored.name.into_owned(), arguments: String::new() };
        (call, stored.answer.into_answer())
    }
}

/// Converts attachments into their stored form, which is an answer with these blocks; `None` if there are no
/// attachments.
fn stored_attachments(attachments: &[Content<'static>]) -> Option<StoredAnswer> {
    if attachments.is_empty() {
        return None;
    }
    let output = attachments.iter().cloned().fold(Output::default(), Output::with);
    Some(StoredAnswer::from(&Answer::from(output)))
}

impl Serialize for Message {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let body = match self {
            Self::User { text, attachments, untrusted } => Body::User {
                text: Cow::Borrowed(text),
                attachments: stored_attachments(attachments),
                untrusted: Cow::Borrowed(untrusted),
            },
            Self::Assistant { text, calls, verbatim } => Body::Model {
                text: Cow::Borrowed(text),
                calls: Cow::Borrowed(calls),
                verbatim: verbatim.as_ref().map(|it| StoredVerbatim {
                    provider: Cow::Borrowed(it.provider()),
                    text: Cow::Borrowed(it.text()),
                }),
            },
            Self::ToolResults(answered) => {
                Body::Answers { answers: answered.iter().map(AnsweredCall::from).collect() }
            }
        };
        VersionedMessage { version: Self::VERSION, body }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Message {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut value = Value::deserialize(deserializer)?;
        let version = value.as_object_mut().and_then(|it| it.remove("version"));
        known("message", version, Self::VERSION).map_err(D::Error::custom)?;
        let body: Body<'_> = serde_json::from_value(value).map_err(D::Error::custom)?;
        Ok(match body {
            Body::User { text, attachments, untrusted } => {
                let attachments = attachments.map(StoredAnswer::into_answer);
                let blocks = attachments.iter().flat_map(Answer::content);
                let attachments = blocks.map(Content::into_owned).collect::<Arc<[_]>>();
                let untrusted = untrusted.into_owned().into();
                Self::User { text: text.into_owned(), attachments, untrusted }
            }
            Body::Model { text, calls, verbatim } => Self::Assistant {
                text: text.into_owned(),
                calls: calls.into_owned().into(),
                verbatim: verbatim.map(|it| Verbatim::new(&*it.provider, &*it.text)),
            },
            Body::Answers { answers } => {
                Self::ToolResults(answers.into_iter().map(Into::into).collect::<Arc<[_]>>())
            }
        })
    }
}

/// Checks that this release can read the version of a stored value.
pub(crate) fn known(what: &str, version: Option<Value>, own: u32) -> Result<(), String> {
    let number = version.as_ref().and_then(Value::as_u64);
    match number {
        Some(number) if number == u64::from(own) => Ok(()),
        Some(number) => Err(format!(
            "the stored {what} has version {number}, this release reads version {own}; read it with the release that wrote it"
        )),
        None => Err(format!(
            "the stored {what} has no version, expected `\"version\":{own}` as it was written"
        )),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use toolwright::ToolError;

    use super::*;

    fn call(arguments: &str) -> ToolCall {
        ToolCall { id: Some("c1".into()), name: "read".into(), arguments: arguments.into() }
    }

    fn history() -> Vec<Message> {
        let calls = [call(r#"{"n":9007199254740993,"n":1}"#), ToolCall { id: None, ..call("{") }];
        let verbatim =
            Verbatim::new("anthropic", "[{\"signature\": \"x\\u0041\",  \"b\":1,\"a\":2}]");
        let answers = [
            (calls[0].clone(), Answer::from(Output::text("three").metadata("bytes", 5))),
            (calls[1].clone(), ToolError::invalid("no object").hint("close it").into()),
        ];
        vec![
            Message::user("make it pass"),
            Message::Assistant {
                text: "I look.".into(),
                calls: calls.into(),
                verbatim: Some(verbatim),
            },
            Message::tool_results(answers),
            Message::assistant("Done.", []),
            Message::user_with("And this?", attachments()).untrusted(["page of eve".to_owned()]),
        ]
    }

    fn attachments() -> [Content<'static>; 2] {
        let name = Some("plan.pdf".into());
        [
            Content::Document { name, media_type: "application/pdf".into(), data: "JVBE".into() },
            Content::Image { media_type: "image/png".into(), data: "iVBO".into() },
        ]
    }

    #[test]
    fn a_history_comes_back_as_it_was() {
        let text = serde_json::to_string(&history()).unwrap();
        // A store may parse the text, and return it with its keys in another order.
        let parsed: Value = serde_json::from_str(&text).unwrap();
        let back: Vec<Message> = serde_json::from_value(parsed).unwrap();
        assert_eq!(serde_json::to_string(&back).unwrap(), text);
        let Message::Assistant { verbatim: Some(verbatim), calls, .. } = &back[1] else {
            panic!("the model's message")
        };
        assert_eq!(
            verbatim.of("anthropic"),
            Some("[{\"signature\": \"x\\u0041\",  \"b\":1,\"a\":2}]")
        );
        assert_eq!(calls[0].arguments, r#"{"n":9007199254740993,"n":1}"#);
        let Message::ToolResults(answered) = &back[2] else { panic!("answers") };
        assert_eq!(answered[1].1.error().unwrap().kind(), "invalid_input");
        assert_eq!(answered[0].1.metadata().unwrap()["bytes"], 5);
        let Message::User { text: said, attachments: sent, untrusted } = &back[4] else {
            panic!("the user's")
        };
        assert_eq!(**untrusted, ["page of eve"]);
        assert_eq!((said.as_str(), &**sent), ("And this?", &attachments()[..]));
    }

    #[test]
    fn arguments_are_stored_once() {
        let text = serde_json::to_string(&history()).unwrap();
        assert_eq!(text.matches("9007199254740993").count(), 1);
    }

    #[test]
    fn what_no_release_wrote_is_refused_by_name() {
        let problem =
            |value: Value| serde_json::from_value::<Message>(value).unwrap_err().to_string();
        let answer = json!({ "version": 1, "text": "a" });
        let film =
            json!({ "version": 1, "role": "user", "text": "a", "attachments": { "film": 1 } });
        assert!(problem(film).contains("`film`"));
        let texts = json!({ "version": 1, "role": "user", "text": "a", "attachments": answer });
        assert!(serde_json::from_value::<Message>(texts).is_ok());
        let newer = problem(json!({ "version": 2, "role": "user", "image": "…" }));
        assert!(newer.contains("version 2") && newer.contains("version 1"), "{newer}");
        assert!(problem(json!({ "role": "user", "text": "a" })).contains("no version"));
        assert!(problem(json!("text")).contains("no version"));
        let unknown = problem(json!({ "version": 1, "role": "tool", "text": "a" }));
        assert!(unknown.contains("`tool`"), "{unknown}");
        let also = problem(json!({ "version": 1, "role": "user", "text": "a", "image": "b" }));
        assert!(also.contains("`image`"), "{also}");
    }

    #[test]
    fn no_debug_form_shows_texts_arguments_or_results() {
        let calls = [call("hunter2")];
        for message in [
            Message::user("hunter2"),
            Message::user_with("", [Content::text("hunter2")]),
            Message::Assistant {
                text: "hunter2".into(),
                calls: calls.clone().into(),
                verbatim: Some(Verbatim::new("anthropic", "hunter2")),
            },
            Message::tool_results([(calls[0].clone(), Output::text("hunter2").into())]),
        ] {
            let shown = format!("{message:?}");
            assert!(!shown.contains("hunter2"), "{shown}");
        }
    }
}
