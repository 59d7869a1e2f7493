//! Finds and replaces the texts of messages. Pure.
//!
//! A JSON string is also examined with its escapes decoded, because a reader of the JSON sees `"\u0067hp_…"` as a
//! token.

mod blocks;
mod nested;
mod strings;

use std::borrow::Cow;

use toolwright::provider::ToolCall;
use toolwright::{Answer, Content, Output, ToolError};

pub(super) use self::blocks::{blocks, of_block};
use self::nested::nested;
use self::strings::mapped_json;
pub(super) use self::strings::{is_found, mapped};
use crate::history::{Message, RESULT_OF};

/// Returns the replacement of a text; `None` leaves it unchanged.
type Map<'m> = &'m dyn Fn(&str) -> Option<String>;

/// The text that replaces an answer that cannot be changed in parts.
const REMOVED: &str = "[a guard removed this answer]";

/// The text that replaces the arguments of a call that cannot be changed in parts.
const REMOVED_ARGUMENTS: &str = r#"{"removed":"[a guard removed these arguments]"}"#;

/// Lists every text of a message that a model reads.
pub(super) fn of_message(message: &Message) -> Vec<Cow<'_, str>> {
    match message {
        Message::User { text, attachments, .. } => {
            let attached = attachments.iter().flat_map(of_block);
            std::iter::once(Cow::Borrowed(text.as_str())).chain(attached).collect()
        }
        Message::Assistant { text, calls, verbatim } => {
            let arguments = calls.iter().map(|call| Cow::Borrowed(call.arguments.as_str()));
            let verbatim = verbatim.iter().map(|it| Cow::Borrowed(it.text()));
            std::iter::once(Cow::Borrowed(text.as_str())).chain(arguments).chain(verbatim).collect()
        }
        Message::ToolResults(answered) => {
            let texts = |answer| [Answer::text(answer)].into_iter().chain(beside_text(answer));
            answered.iter().flat_map(|(_, answer)| texts(answer)).collect()
        }
    }
}

/// Lists the texts in an answer that the answer's own text does not contain: names and texts of documents.
fn beside_text(answer: &Answer) -> Vec<Cow<'static, str>> {
    let content = answer.content();
    let is_in_text = |it: &&Content<'_>| {
        matches!(it, Content::Text(_) | Content::Json(_) | Content::Resource { .. })
    };
    content
        .iter()
        .filter(|it| !is_in_text(it))
        .flat_map(of_block)
        .map(|it| Cow::Owned(it.into_owned()))
        .collect()
}

/// Maps the texts of a history; `None` if none changes.
pub(super) fn history(messages: &[Message], map: Map<'_>) -> Option<Vec<Message>> {
    let changed: Vec<_> = messages.iter().map(|it| message(it, map)).collect();
    changed.iter().any(Option::is_some).then(|| {
        let pairs = changed.into_iter().zip(messages);
        pairs.map(|(changed, message)| changed.unwrap_or_else(|| message.clone())).collect()
    })
}

/// Maps the answers of tools and the texts of attachments in a history, which strangers may have written; `None` if
/// none changes.
pub(super) fn foreign(messages: &[Message], map: Map<'_>) -> Option<Vec<Message>> {
    let changed = |it: &Message| match it {
        Message::User { text, attachments, untrusted } => {
            // The result of a call in the background is a message of the user.
            let is_foreign = !untrusted.is_empty() || text.starts_with(RESULT_OF);
            let new = is_foreign.then(|| mapped(text, map)).flatten();
            user(text, new, attachments, untrusted, map)
        }
        Message::Assistant { .. } => None,
        Message::ToolResults(_) => message(it, map),
    };
    let changed: Vec<_> = messages.iter().map(changed).collect();
    changed.iter().any(Option::is_some).then(|| {
        let pairs = changed.into_iter().zip(messages);
        pairs.map(|(changed, message)| changed.unwrap_or_else(|| message.clone())).collect()
    })
}

/// Makes a message of the user with the mapped text and attachments; `None` if neither changes.
fn user(
    text: &str,
    new: Option<String>,
    attachments: &[Content<'static>],
    untrusted: &[String],
    map: Map<'_>,
) -> Option<Message> {
    let attached = blocks(attachments, map);
    (new.is_some() || attached.is_some()).then(|| {
        let attached = attached.unwrap_or_else(|| attachments.to_vec());
        let changed = Message::user_with(new.unwrap_or_else(|| text.to_owned()), attached);
        changed.untrusted(untrusted.iter().cloned())
    })
}

fn message(message: &Message, map: Map<'_>) -> Option<Message> {
    match message {
        Message::User { text, attachments, untrusted } => {
            user(text, mapped(text, map), attachments, untrusted, map)
        }
        Message::Assistant { text, calls: made, verbatim } => {
            let (new, changed) = (mapped(text, map), calls(made, map));
            let is_verbatim_changed =
                verbatim.as_ref().is_some_and(|it| mapped(it.text(), map).is_some());
            (new.is_some() || changed.is_some() || is_verbatim_changed).then(|| {
                let changed = changed.unwrap_or_else(|| made.to_vec());
                Message::assistant(new.unwrap_or_else(|| text.clone()), changed)
            })
        }
        Message::ToolResults(answered) => {
            let changed: Vec<_> = answered.iter().map(|(_, it)| answer(it, map)).collect();
            changed.iter().any(Option::is_some).then(|| {
                let pairs = changed.into_iter().zip(answered.iter());
                Message::tool_results(pairs.map(|(changed, (call, answer))| {
                    (call.clone(), changed.unwrap_or_else(|| copied(answer)))
                }))
            })
        }
    }
}

/// Maps the arguments of calls; `None` if none changes.
pub(super) fn calls(calls: &[ToolCall], map: Map<'_>) -> Option<Vec<ToolCall>> {
    let changed: Vec<_> = calls.iter().map(|call| arguments(&call.arguments, map)).collect();
    changed.iter().any(Option::is_some).then(|| {
        let pairs = changed.into_iter().zip(calls);
        let new = pairs.map(|(arguments, call)| match arguments {
            Some(arguments) => ToolCall { arguments, ..call.clone() },
            None => call.clone(),
        });
        new.collect()
    })
}

/// Maps the arguments of a call; `None` if they do not change. Arguments that cannot be changed in parts are removed.
fn arguments(text: &str, map: Map<'_>) -> Option<String> {
    let changed = mapped_json(text, map);
    if changed.is_none() && map(text).is_some() {
        return Some(REMOVED_ARGUMENTS.to_owned());
    }
    let found = nested(changed.as_deref().unwrap_or(text));
    let is_changed = |text: &String| map(text).is_some_and(|new| new != *text);
    match found.iter().any(is_changed) {
        true => Some(REMOVED_ARGUMENTS.to_owned()),
        false => changed,
    }
}

/// Maps the text of an answer; `None` if it does not change. Removes the whole answer if its text cannot be changed in
/// parts.
fn answer(answer: &Answer, map: Map<'_>) -> Option<Answer> {
    let is_mapped = |text: &str| mapped(text, map).is_some();
    let is_any_mapped = |answer: &Answer| {
        is_mapped(&answer.text()) || beside_text(answer).iter().any(|it| is_mapped(it))
    };
    if !is_any_mapped(answer) {
        return None;
    }
    let changed: Answer = match answer.error() {
        Some(error) => {
            let kept = |text: &str| mapped(text, map).unwrap_or_else(|| text.to_owned());
            let new = ToolError::new(error.kind().to_owned(), kept(error.message()));
            let new = new.class(error.classified());
            match error.next_action() {
                Some(hint) => new.hint(kept(hint)).into(),
                None => new.into(),
            }
        }
        None => {
            let content = answer.content();
            let changed = blocks(&content, map).unwrap_or_default();
            changed.into_iter().fold(Output::default(), Output::with).into()
        }
    };
    match is_any_mapped(&changed) {
        false => Some(changed),
        true if answer.is_error() => Some(ToolError::new("removed", REMOVED).into()),
        true => Some(Output::text(REMOVED).into()),
    }
}

fn copied(answer: &Answer) -> Answer {
    toolwright::StoredAnswer::from(answer).into_answer()
}
