//! Estimates how many tokens messages have.

use toolwright::{Answer, Content};

use crate::history::Message;

/// The estimated tokens of a picture or a document. The size in bytes does not help to estimate them.
const MEDIA: u64 = 1_600;

/// The estimated tokens of a message besides its texts.
const MESSAGE: u64 = 8;

/// Estimates the tokens of a text with this many bytes. The estimate is high for most languages and for code.
pub(crate) fn text_tokens(bytes: usize) -> u64 {
    (bytes as u64).div_ceil(3)
}

pub(super) fn tokens(message: &Message) -> u64 {
    MESSAGE
        + match message {
            Message::User { text, attachments, .. } => {
                text_tokens(text.len()) + attachments.iter().map(content).sum::<u64>()
            }
            Message::Assistant { text, calls, verbatim } => {
                let calls = calls
                    .iter()
                    .map(|it| MESSAGE + text_tokens(it.name.len() + it.arguments.len()));
                let own = text_tokens(text.len()) + calls.sum::<u64>();
                own.max(verbatim.as_ref().map_or(0, |it| text_tokens(it.text().len())))
            }
            Message::ToolResults(answered) => answered.iter().map(|(_, it)| answer(it)).sum(),
        }
}

pub(super) fn answer(answer: &Answer) -> u64 {
    MESSAGE
        + match answer.output() {
            Some(output) => output.content.iter().map(content).sum(),
            None => text_tokens(answer.text().len()),
        }
}

fn content(content: &Content<'_>) -> u64 {
    match content {
        Content::Text(text) => text_tokens(text.len()),
        Content::Json(json) => text_tokens(json.len()),
        Content::Resource { text: Some(text), .. } => text_tokens(text.len()),
        _ => MEDIA,
    }
}
