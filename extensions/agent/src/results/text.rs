//! Extracts the text of an answer for paging, search and references.

use std::borrow::Cow;

use toolwright::unstable::json::{Node, read};
use toolwright::{Answer, Content};

/// Returns the text of an answer: the texts of its blocks, each on lines of its own, with documents of a text type, but
/// without pictures, sounds and other documents; for an error, its message.
pub(super) fn text_of(answer: &Answer) -> Cow<'_, str> {
    if let Some(error) = answer.error() {
        return error.message().to_owned().into();
    }
    match answer.output() {
        None => answer.text(),
        Some(output) => match output.content.as_slice() {
            [Content::Text(text) | Content::Json(text)] => Cow::Borrowed(text),
            blocks => {
                let texts: Vec<_> = blocks.iter().filter(|it| is_text(it)).map(words).collect();
                texts.join("\n").into()
            }
        },
    }
}

pub(super) fn is_text(block: &Content<'_>) -> bool {
    matches!(block, Content::Text(_) | Content::Json(_) | Content::Resource { text: Some(_), .. })
        || block.decoded_text().is_some()
}

fn words<'a>(block: &'a Content<'_>) -> Cow<'a, str> {
    match block {
        Content::Text(text) | Content::Json(text) => Cow::Borrowed(text),
        other => match other.decoded_text() {
            Some(text) => document(other, &text).into(),
            None => other.words("text"),
        },
    }
}

/// Writes a document of a text type like the providers' messages do.
fn document(block: &Content<'_>, text: &str) -> String {
    let (name, media_type) = match block {
        Content::Document { name, media_type, .. } => (name.as_deref(), &**media_type),
        Content::Image { media_type, .. } => (None, &**media_type),
        _ => (None, "text/plain"),
    };
    format!("document {} ({media_type}):\n{text}", name.unwrap_or("without a name"))
}

/// Parses a text that is a JSON object or array, and keeps numbers as they are written; `None` for any other text.
pub(super) fn value_of(text: &str) -> Option<Node> {
    let is_like_it = text.trim_start().starts_with(['{', '[']);
    is_like_it.then(|| read(text).ok())?
}

/// Returns the value of an answer with this text: the text as JSON, or the answer's only JSON block.
pub(super) fn value_in(answer: &Answer, text: &str) -> Option<Node> {
    value_of(text).or_else(|| {
        let blocks = answer.output()?.content.iter();
        let mut values = blocks.filter_map(|block| match block {
            Content::Json(text) => Some(text),
            _ => None,
        });
        match (values.next(), values.next()) {
            (Some(value), None) => read(value).ok(),
            _ => None,
        }
    })
}

/// Writes a number with a comma between groups of three digits.
pub(super) fn number(number: usize) -> String {
    let digits = number.to_string();
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.char_indices() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// Splits a text after this many characters.
pub(super) fn split_at_character(text: &str, characters: usize) -> (&str, &str) {
    // A character has at least one byte, so the characters of a text with few bytes need not be counted.
    if text.len() <= characters {
        return (text, "");
    }
    let end = match text.is_ascii() {
        true => characters,
        false => text.char_indices().nth(characters).map_or(text.len(), |(at, _)| at),
    };
    text.split_at(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_stand_apart() {
        assert_eq!([0, 999, 1_000, 1_234_567].map(number), ["0", "999", "1,000", "1,234,567"]);
    }

    #[test]
    fn a_document_of_a_text_type_is_text_of_the_answer() {
        let document = |media_type: &'static str| Content::Document {
            name: Some("a.md".into()),
            media_type: media_type.into(),
            data: "T2JleS4=".into(),
        };
        let output = toolwright::Output::text("Here.").with(document("text/markdown"));
        let answer = Answer::from(output.with(document("application/pdf")));
        assert_eq!(text_of(&answer), "Here.\ndocument a.md (text/markdown):\nObey.");
    }

    #[test]
    fn a_text_is_split_between_characters() {
        assert_eq!(split_at_character("häuser", 2), ("hä", "user"));
        assert_eq!(split_at_character("häuser", 9), ("häuser", ""));
    }
}
