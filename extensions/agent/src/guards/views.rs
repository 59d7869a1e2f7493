//! The values that guards look at, and the changes that they can make.

use std::borrow::Cow;
use std::sync::Arc;

use toolwright::Content;
use toolwright::provider::ToolCall;

use super::texts;
use crate::events::RunEnd;
use crate::history::{Message, Prompt};
use crate::model::ModelAnswer;

/// The run that a guard looks at. Cheap to clone.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct GuardedRun {
    /// The id of the run.
    pub id: Arc<str>,
    /// The name of the agent. The name of a sub-agent follows the name of the agent above it and a `/`. The name of an
    /// agent that the run was handed off to follows the name of the run's first agent and a `/`.
    pub agent: Arc<str>,
    /// The user on whose behalf the run calls tools.
    pub user: Option<Arc<str>>,
}

/// A message of the user, before the run takes it. Cheap to clone.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct UserPrompt {
    /// The run that gets the message.
    pub run: GuardedRun,
    /// The text of the message.
    pub text: Arc<str>,
    /// The attachments of the message: pictures and documents.
    pub attachments: Arc<[Content<'static>]>,
    /// The history before the message.
    pub history: Arc<[Message]>,
}

impl UserPrompt {
    /// Lists the texts of the prompt: the message, and the texts, names and addresses of the attachments. A document of a
    /// text type counts as its decoded text, as the model reads it.
    pub fn texts(&self) -> impl Iterator<Item = Cow<'_, str>> {
        let attached = self.attachments.iter().flat_map(texts::of_block);
        std::iter::once(Cow::Borrowed(&*self.text)).chain(attached)
    }

    /// Replaces texts of the prompt: `map` gets every text and returns its replacement, or `None` to leave it
    /// unchanged. If a JSON string contains escapes, `map` also gets the decoded string. Returns `None` if nothing
    /// changes.
    #[must_use]
    pub fn map_texts(&self, map: impl Fn(&str) -> Option<String>) -> Option<Prompt> {
        let text = texts::mapped(&self.text, &map);
        let attachments = texts::blocks(&self.attachments, &map);
        if text.is_none() && attachments.is_none() {
            return None;
        }
        let text = text.unwrap_or_else(|| (*self.text).to_owned());
        let attachments = attachments.unwrap_or_else(|| self.attachments.to_vec());
        Some(attachments.into_iter().fold(Prompt::from(text), Prompt::with))
    }
}

/// A request to a model, in the form in which it would be sent: long answers of tools are already cut, and an old
/// history is already shortened. Cheap to clone.
///
/// A change by a guard applies to this request only. The history of the run stays unchanged, so the guard sees the
/// unchanged messages again in the next request.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct OutgoingRequest {
    /// The run that sends the request.
    pub run: GuardedRun,
    /// The number of the requested answer, counted from 1.
    pub turn: u64,
    /// The system prompt.
    pub instructions: Arc<str>,
    /// The history in the form in which the model gets it.
    pub history: Arc<[Message]>,
}

impl OutgoingRequest {
    /// Lists the texts of the request that the model reads: the instructions, messages, arguments of calls and answers.
    /// Of an answer of the model, the content that its provider requires verbatim is listed as well, which may repeat
    /// the text. A document of a text type counts as its decoded text, and the names and addresses of documents and
    /// resources are texts too. Not listed are pictures, and the names, descriptions and schemas of tools.
    #[must_use]
    pub fn texts(&self) -> Vec<Cow<'_, str>> {
        let history = self.history.iter().flat_map(texts::of_message);
        std::iter::once(Cow::Borrowed(&*self.instructions)).chain(history).collect()
    }

    /// Replaces texts of the request: `map` gets every text and returns its replacement, or `None` to keep it. If a
    /// JSON string contains escapes, `map` also gets the decoded string. Arguments of a call that are valid JSON remain
    /// valid JSON. A changed message loses the content that its provider requires verbatim. If parts of a tool's answer,
    /// of a call's arguments or of an attachment cannot be replaced, the whole is removed. Returns `None` if nothing
    /// changes.
    #[must_use]
    pub fn map_texts(&self, map: impl Fn(&str) -> Option<String>) -> Option<RequestChange> {
        let history = texts::history(&self.history, &map);
        match (texts::mapped(&self.instructions, &map), history) {
            (None, None) => None,
            (instructions, history) => Some(RequestChange { instructions, history }),
        }
    }

    /// Replaces texts of the request, as [`map_texts`](Self::map_texts) does, but only answers of tools, results of calls
    /// in the background, texts of documents that are attached to the user's messages, and messages of the user that are
    /// marked as [untrusted](Message::untrusted). A request for a summary of earlier turns is such a message, and so is
    /// the summary.
    #[must_use]
    pub fn map_foreign_texts(&self, map: impl Fn(&str) -> Option<String>) -> Option<RequestChange> {
        let history = texts::foreign(&self.history, &map)?;
        Some(RequestChange { instructions: None, history: Some(history) })
    }
}

/// The change that a guard makes to a request.
#[derive(Debug, Clone, Default)]
pub struct RequestChange {
    pub(super) instructions: Option<String>,
    pub(super) history: Option<Vec<Message>>,
}

impl RequestChange {
    /// Makes a change that replaces nothing.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Replaces the instructions of the request by these.
    #[must_use]
    pub fn instructions(mut self, text: impl Into<String>) -> Self {
        self.instructions = Some(text.into());
        self
    }

    /// Sends this history. Each call in it must have its answer ([`check`](crate::check)), and the last message must be
    /// of the same kind as before; anything else ends the run as a failure of the guard. A changed message loses the
    /// content that its provider requires verbatim.
    #[must_use]
    pub fn history(mut self, history: Vec<Message>) -> Self {
        self.history = Some(history);
        self
    }
}

/// An answer of a model, before its calls run. Cheap to clone.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct IncomingAnswer {
    /// The run that gets the answer.
    pub run: GuardedRun,
    /// The number of the turn, counted from 1.
    pub turn: u64,
    /// The answer. The model may have refused, or the answer may be cut short; see [`ModelAnswer::stop`].
    pub answer: Arc<ModelAnswer>,
    /// The history before the answer.
    pub history: Arc<[Message]>,
}

impl IncomingAnswer {
    /// Lists the texts of the answer: what the model says, and the arguments of its calls. The arguments are JSON as
    /// the model wrote it, possibly with escapes; [`map_texts`](Self::map_texts) decodes them.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        let arguments = self.answer.calls.iter().map(|call| call.arguments.as_str());
        std::iter::once(self.answer.text.as_str()).chain(arguments)
    }

    /// Replaces texts of the answer: `map` gets every text and returns its replacement, or `None` to leave it
    /// unchanged. If a JSON string contains escapes, `map` also gets the decoded string. Arguments of a call that are
    /// valid JSON remain valid JSON. `map` also gets the strings in arguments that only the executor can read, such as
    /// `{'to':'\x41cme'}`, and the strings of JSON inside of a string; if it replaces such a string, all arguments of the
    /// call are removed. Returns `None` if nothing changes.
    #[must_use]
    pub fn map_texts(&self, map: impl Fn(&str) -> Option<String>) -> Option<AnswerChange> {
        let text = texts::mapped(&self.answer.text, &map);
        let calls = texts::calls(&self.answer.calls, &map);
        (text.is_some() || calls.is_some()).then_some(AnswerChange { text, calls })
    }
}

/// The change that a guard makes to an answer. A changed answer loses the content that the provider requires verbatim.
#[derive(Debug, Clone, Default)]
pub struct AnswerChange {
    pub(super) text: Option<String>,
    pub(super) calls: Option<Vec<ToolCall>>,
}

impl AnswerChange {
    /// Makes a change that replaces nothing.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Replaces the text of the answer.
    #[must_use]
    pub fn text(mut self, text: impl Into<String>) -> Self {
        self.text = Some(text.into());
        self
    }

    /// Replaces the calls. The new calls are validated and authorized like all calls. If the answer was cut short in
    /// the middle of a call, its calls cannot be changed.
    #[must_use]
    pub fn calls(mut self, calls: Vec<ToolCall>) -> Self {
        self.calls = Some(calls);
        self
    }
}

/// A run that is about to end with an answer. Cheap to clone.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct EndingRun {
    /// The run that is about to end.
    pub run: GuardedRun,
    /// The end: a text, the answer of a terminal tool, or a value.
    pub end: Arc<RunEnd>,
    /// The whole history, including the last answer.
    pub history: Arc<[Message]>,
}

impl EndingRun {
    /// Returns the text of the end: what the model said, the answer of the terminal tool, or the value as JSON.
    #[must_use]
    pub fn text(&self) -> &str {
        match &*self.end {
            RunEnd::Text { text, .. } | RunEnd::Terminal { text, .. } => text,
            RunEnd::Output { value } => value,
            _ => "",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::RESULT_OF;

    #[test]
    fn results_in_the_background_and_untrusted_messages_are_foreign() {
        let history = [
            Message::user("Ignore."),
            Message::user(format!("{RESULT_OF}1 of `wait`:]\nIgnore.")),
            Message::user("The page says: Ignore.").untrusted(["web page of eve".to_owned()]),
        ];
        let run = GuardedRun { id: "r".into(), agent: "a".into(), user: None };
        let request =
            OutgoingRequest { run, turn: 1, instructions: "".into(), history: history.into() };
        let remove = |text: &str| text.contains("Ignore.").then(|| text.replace("Ignore.", "-"));
        let changed = request.map_foreign_texts(remove).expect("a change").history.expect("it");
        let texts: Vec<_> = changed.iter().flat_map(texts::of_message).collect();
        let background = format!("{RESULT_OF}1 of `wait`:]\n-");
        assert_eq!(texts, ["Ignore.", &background, "The page says: -"]);
    }

    /// Models get a document of a text type as text.
    #[test]
    fn documents_of_a_text_type_are_texts() {
        let document = |data: &'static str| Content::Document {
            name: Some("a.md".into()),
            media_type: "text/markdown".into(),
            data: data.into(),
        };
        // The data is the text `Ignore.`, then no UTF-8.
        let attached = Message::user_with("Read.", [document("SWdub3JlLg=="), document("/w==")]);
        let call = ToolCall { id: None, name: "read".into(), arguments: String::new() };
        let answer = toolwright::Output::text("It is here.").with(document("SWdub3JlLg=="));
        let history = [attached, Message::tool_results([(call, answer.into())])];
        let run = GuardedRun { id: "r".into(), agent: "a".into(), user: None };
        let request =
            OutgoingRequest { run, turn: 1, instructions: "".into(), history: history.into() };
        assert_eq!(request.texts().iter().filter(|it| *it == "Ignore.").count(), 2);
        let remove = |text: &str| text.contains("Ignore.").then(|| text.replace("Ignore.", "-"));
        let changed = request.map_foreign_texts(remove).expect("a change").history.expect("it");
        assert!(matches!(&changed[0], Message::User { attachments, .. }
            if attachments[..] == [document("LQ=="), document("/w==")]));
        let Message::ToolResults(answered) = &changed[1] else { panic!("answers") };
        assert_eq!(answered[0].1.content(), [Content::text("It is here."), document("LQ==")]);
    }

    #[test]
    fn names_addresses_and_media_types_are_texts() {
        let document = |name: &'static str, media_type: &'static str| Content::Document {
            name: Some(name.into()),
            media_type: media_type.into(),
            data: "/w==".into(),
        };
        let resource = |uri: &'static str| Content::Resource {
            uri: uri.into(),
            media_type: Some("text/plain".into()),
            text: None,
        };
        let named = document("Ignore.md", "application/pdf");
        let typed = document("a.md", "text/plain\nIgnore.");
        let attached =
            Message::user_with("Read.", [named.clone(), typed, resource("db://Ignore.")]);
        let call = ToolCall { id: None, name: "read".into(), arguments: String::new() };
        let answer = toolwright::Output::text("It is here.").with(named);
        let history = [attached, Message::tool_results([(call, answer.into())])];
        let run = GuardedRun { id: "r".into(), agent: "a".into(), user: None };
        let request =
            OutgoingRequest { run, turn: 1, instructions: "".into(), history: history.into() };
        let texts = request.texts();
        for expected in ["Ignore.md", "text/plain\nIgnore.", "db://Ignore."] {
            assert!(texts.iter().any(|it| it == expected), "{expected}: {texts:?}");
        }
        let remove = |text: &str| text.contains("Ignore.").then(|| text.replace("Ignore.", "-"));
        let changed = request.map_foreign_texts(remove).expect("a change").history.expect("it");
        let removed = Content::text("[a guard removed this attachment]");
        let clean = document("-md", "application/pdf");
        assert!(matches!(&changed[0], Message::User { attachments, .. }
            if attachments[..] == [clean.clone(), removed, resource("db://-")]));
        let Message::ToolResults(answered) = &changed[1] else { panic!("answers") };
        assert_eq!(answered[0].1.content(), [Content::text("It is here."), clean]);
    }
}
