//! What guards look at, and what they can put in its place.

use std::borrow::Cow;
use std::sync::Arc;

use toolwright::Content;
use toolwright::provider::ToolCall;

use super::texts;
use crate::events::RunEnd;
use crate::history::{Message, Prompt};
use crate::model::ModelAnswer;

/// Whose run a guard looks at. Cheap to clone.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct GuardedRun {
    /// The id of the run.
    pub id: Arc<str>,
    /// The name of the agent; of a sub-agent that of the agent above it, a `/` and its own, and of an agent that the run was handed off to
    /// that of the first one, a `/` and its own.
    pub agent: Arc<str>,
    /// On whose behalf it calls.
    pub user: Option<Arc<str>>,
}

/// What the user says, before the run takes it. Cheap to clone, but for attachments.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct UserPrompt {
    /// The run.
    pub run: GuardedRun,
    /// The text.
    pub text: Arc<str>,
    /// The pictures and documents that belong to it.
    pub attachments: Arc<[Content<'static>]>,
    /// Everything before.
    pub history: Arc<[Message]>,
}

impl UserPrompt {
    /// Lists its texts: what is said, and the texts among the attachments.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        let attached = self.attachments.iter().filter_map(texts::of_block);
        std::iter::once(&*self.text).chain(attached)
    }

    /// Makes a prompt of which every text is what the function makes of it; nothing where it changes none. A string of JSON with escapes is
    /// given to it without them as well.
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

/// A request to a model, as it is about to be sent: long answers of tools are cut already, and an old history is shortened. Cheap
/// to clone.
///
/// What a guard puts in its place is sent, and the history of the run stays as it is: the guard looks again at the next request,
/// which has the unchanged messages again.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct OutgoingRequest {
    /// The run.
    pub run: GuardedRun,
    /// The number of the answer that is asked for, counted from 1.
    pub turn: u64,
    /// The system prompt.
    pub instructions: Arc<str>,
    /// Everything that was said, called and answered, as the model gets it.
    pub history: Arc<[Message]>,
}

impl OutgoingRequest {
    /// Lists every text of the request that the model reads: the instructions, what was said, arguments of calls and answers. Names,
    /// descriptions and schemas of tools are not among them, and neither are pictures.
    #[must_use]
    pub fn texts(&self) -> Vec<Cow<'_, str>> {
        let history = self.history.iter().flat_map(texts::of_message);
        std::iter::once(Cow::Borrowed(&*self.instructions)).chain(history).collect()
    }

    /// Makes a request of which every text is what the function makes of it; nothing where it changes none. A string of JSON with escapes is
    /// given to it without them as well, and arguments of calls stay JSON. What a provider wants back word for word goes without the message that is changed. An answer of a tool in which the text cannot be replaced is removed
    /// as a whole.
    #[must_use]
    pub fn map_texts(&self, map: impl Fn(&str) -> Option<String>) -> Option<RequestChange> {
        let history = texts::history(&self.history, &map);
        match (texts::mapped(&self.instructions, &map), history) {
            (None, None) => None,
            (instructions, history) => Some(RequestChange { instructions, history }),
        }
    }

    /// Makes a request in which every text that neither the application nor the model wrote is what the function makes of it: answers of
    /// tools, and documents that are attached to what the user says. Nothing where it changes none.
    #[must_use]
    pub fn map_foreign_texts(&self, map: impl Fn(&str) -> Option<String>) -> Option<RequestChange> {
        let history = texts::foreign(&self.history, &map)?;
        Some(RequestChange { instructions: None, history: Some(history) })
    }
}

/// What is sent in the place of a request.
#[derive(Debug, Clone, Default)]
pub struct RequestChange {
    pub(super) instructions: Option<String>,
    pub(super) history: Option<Vec<Message>>,
}

impl RequestChange {
    /// Begins a change that changes nothing.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sends these instructions.
    #[must_use]
    pub fn instructions(mut self, text: impl Into<String>) -> Self {
        self.instructions = Some(text.into());
        self
    }

    /// Sends this history. Each call in it has its answer ([`check`](crate::check)), and it ends with a message of the kind of the
    /// last one; anything else ends the run as a failure of the guard. What a provider wants back word for word goes without a message
    /// that is changed.
    #[must_use]
    pub fn history(mut self, history: Vec<Message>) -> Self {
        self.history = Some(history);
        self
    }
}

/// An answer of a model, before anything comes of it. Cheap to clone.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct IncomingAnswer {
    /// The run.
    pub run: GuardedRun,
    /// Its number, counted from 1.
    pub turn: u64,
    /// The answer; also one that the model refused to give, or that was cut short: see [`ModelAnswer::stop`].
    pub answer: Arc<ModelAnswer>,
    /// Everything before it.
    pub history: Arc<[Message]>,
}

impl IncomingAnswer {
    /// Lists its texts: what it says, and the arguments of its calls, which are JSON as the model wrote it: a string may have escapes, without
    /// which [`map_texts`](Self::map_texts) shows it.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        let arguments = self.answer.calls.iter().map(|call| call.arguments.as_str());
        std::iter::once(self.answer.text.as_str()).chain(arguments)
    }

    /// Makes an answer of which every text is what the function makes of it; nothing where it changes none. A string of JSON with escapes is
    /// given to it without them as well, and arguments of calls stay JSON.
    #[must_use]
    pub fn map_texts(&self, map: impl Fn(&str) -> Option<String>) -> Option<AnswerChange> {
        let text = texts::mapped(&self.answer.text, &map);
        let calls = texts::calls(&self.answer.calls, &map);
        (text.is_some() || calls.is_some()).then_some(AnswerChange { text, calls })
    }
}

/// What is taken in the place of an answer. What its provider wants back word for word goes without it.
#[derive(Debug, Clone, Default)]
pub struct AnswerChange {
    pub(super) text: Option<String>,
    pub(super) calls: Option<Vec<ToolCall>>,
}

impl AnswerChange {
    /// Begins a change that changes nothing.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes this text.
    #[must_use]
    pub fn text(mut self, text: impl Into<String>) -> Self {
        self.text = Some(text.into());
        self
    }

    /// Takes these calls, which are checked and judged as any. Those of an answer that was cut short in the middle of a call cannot be
    /// changed.
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
    /// The run.
    pub run: GuardedRun,
    /// How it ends: with a text, by a terminal tool, or in a value.
    pub end: Arc<RunEnd>,
    /// Everything that was said, called and answered, the last answer among it.
    pub history: Arc<[Message]>,
}

impl EndingRun {
    /// Returns its text: what the model said, the answer of the terminal tool, or the value as JSON.
    #[must_use]
    pub fn text(&self) -> &str {
        match &*self.end {
            RunEnd::Text { text, .. } | RunEnd::Terminal { text, .. } => text,
            RunEnd::Output { value } => value,
            _ => "",
        }
    }
}
