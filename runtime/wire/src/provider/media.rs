//! Decides which images and documents a provider accepts. Each block of an answer or a message becomes a part of the
//! message, or a sentence that explains why the block is left out.
//!
//! The data is checked, because a provider refuses the whole request if an image is too large, is too wide or high, is
//! not base64, or has another format than its label. The provider would then also refuse every later request of the run.

mod pixels;

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use toolwright_core::output::{Content, decoded_length};

use super::kind::Provider;

/// The media that a model can read besides text.
///
/// ```
/// use toolwright::Content;
/// use toolwright::provider::{MediaSupport, Provider};
///
/// let pixel = "R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7";
/// let picture = [Content::Image { media_type: "image/gif".into(), data: pixel.into() }];
/// let message = Provider::OpenAiChat.user_message(&picture, MediaSupport::None);
/// assert_eq!(
///     message["content"],
///     "[image/gif, 42 bytes, left out: the model reads text alone]"
/// );
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum MediaSupport {
    /// The model accepts images and documents in messages and in the answers of calls.
    #[default]
    Full,
    /// The model accepts images and documents in messages, but not in the answers of calls. Those of an answer are sent
    /// in a message after the answers.
    Messages,
    /// The model accepts only text.
    None,
}

/// A part of a message, made from a block.
pub(super) enum Part<'a> {
    Words(Cow<'a, str>),
    Media(Media<'a>),
}

/// An image or document that the provider accepts.
pub(super) struct Media<'a> {
    /// The media type that was detected in the data. It may differ from the label of the block.
    media_type: &'static str,
    data: &'a str,
    name: Option<&'a str>,
}

/// Makes the parts of one message, which may be a user's message or the answers to calls.
pub(super) struct Parts<'a> {
    provider: Provider,
    support: MediaSupport,
    /// The parts that follow after the answers. They are numbered, and answers refer to them by number.
    after: Vec<Part<'a>>,
    count: usize,
}

const PDF: &str = "application/pdf";

const MIB: usize = 1 << 20;

impl<'a> Parts<'a> {
    pub(super) fn new(provider: Provider, support: MediaSupport) -> Self {
        Self { provider, support, after: Vec::new(), count: 0 }
    }

    /// Converts a block of a user's message.
    pub(super) fn of_message(&self, block: &'a Content<'_>) -> Part<'a> {
        match self.take(block, self.provider.in_messages()) {
            Ok(part) => part,
            Err(why) => Part::Words(left_out(block, &why).into()),
        }
    }

    /// Converts a block of an answer. If the block is accepted only in messages, the answer contains a reference to the
    /// block, which follows after the answers.
    pub(super) fn of_answer(&mut self, block: &'a Content<'_>, is_error: bool) -> Part<'a> {
        // In the answer of a failed call, Anthropic accepts only text.
        let is_apart = self.support == MediaSupport::Messages
            || (is_error && self.provider == Provider::Anthropic);
        let within = if is_apart { &[] } else { self.provider.in_answers() };
        let part = self.take(block, self.provider.in_messages());
        match part {
            Ok(Part::Media(media)) if !within.contains(&media.media_type) => {
                self.count += 1;
                let (kind, number) = (media.media_type, self.count);
                let size = decoded_length(media.data);
                let label = format!("[attachment {number}: {kind}, {size} bytes]");
                self.after.extend([Part::Words(label.into()), Part::Media(media)]);
                let place = "after the answers";
                Part::Words(format!("[{kind}, {size} bytes: attachment {number}, {place}]").into())
            }
            Ok(part) => part,
            Err(why) => Part::Words(left_out(block, &why).into()),
        }
    }

    /// Returns the parts that follow after the answers.
    pub(super) fn after(&mut self) -> Vec<Value> {
        let provider = self.provider;
        std::mem::take(&mut self.after).into_iter().map(|part| part.json(provider)).collect()
    }

    /// Converts a block for the provider, or returns why the block is left out.
    fn take(&self, block: &'a Content<'_>, taken: &[&str]) -> Result<Part<'a>, String> {
        let (label, data, name) = match block {
            Content::Image { media_type, data } => (media_type, data, None),
            Content::Document { media_type, data, name } => (media_type, data, name.as_deref()),
            Content::Audio { .. } => return Err(refusal(self.provider)),
            Content::Text(_) | Content::Json(_) | Content::Resource { .. } => {
                return Ok(Part::Words(block.words(self.provider.name())));
            }
        };
        if self.support == MediaSupport::None && !is_text(label) {
            return Err("the model reads text alone".to_owned());
        }
        let most = self.provider.largest(block);
        if data.len() > most {
            let most = most / 4 * 3;
            return Err(format!("{} takes at most {most} bytes", self.provider));
        }
        let bytes = STANDARD.decode(data.as_bytes()).map_err(|_| "its data is no base64")?;
        if is_text(label) {
            let text = String::from_utf8(bytes).map_err(|_| "its data is no text in UTF-8")?;
            let name = name.unwrap_or("without a name");
            return Ok(Part::Words(format!("document {name} ({label}):\n{text}").into()));
        }
        let found = infer::get(&bytes).map(|it| it.mime_type());
        match found.filter(|found| taken.contains(found)) {
            Some(media_type) => {
                self.provider.check_sides(media_type, &bytes)?;
                Ok(Part::Media(Media { media_type, data, name }))
            }
            None if taken.contains(&&**label) => Err(match found {
                Some(found) => format!("its data is {found}, which {} cannot take", self.provider),
                None => "its data has no format that is known".to_owned(),
            }),
            None => Err(refusal(self.provider)),
        }
    }
}

impl Part<'_> {
    pub(super) fn json(&self, provider: Provider) -> Value {
        match self {
            Self::Words(words) => match provider {
                Provider::Anthropic | Provider::OpenAiChat => {
                    json!({"type": "text", "text": words})
                }
                Provider::OpenAiResponses => json!({"type": "input_text", "text": words}),
                Provider::Gemini => json!({"text": words}),
            },
            Self::Media(media) => media.json(provider),
        }
    }

    /// Returns whether the part has no visible text, which some providers refuse.
    pub(super) fn is_blank(&self) -> bool {
        matches!(self, Self::Words(words) if words.trim().is_empty())
    }
}

impl Media<'_> {
    pub(super) fn describe(&self) -> String {
        format!("{}, {} bytes", self.media_type, decoded_length(self.data))
    }

    pub(super) fn json(&self, provider: Provider) -> Value {
        let Self { media_type, data, .. } = self;
        let is_document = *media_type == PDF;
        let url = || format!("data:{media_type};base64,{data}");
        let name = self.name.filter(|name| !name.trim().is_empty());
        let file_name = || name.unwrap_or("document.pdf");
        match provider {
            Provider::Anthropic => {
                let source = json!({"type": "base64", "media_type": media_type, "data": data});
                let kind = if is_document { "document" } else { "image" };
                let mut block = json!({"type": kind, "source": source});
                if let Some(name) = name.filter(|_| is_document) {
                    block["title"] = name.chars().take(LONGEST_TITLE).collect::<String>().into();
                }
                block
            }
            Provider::OpenAiChat if is_document => {
                json!({"type": "file", "file": {"filename": file_name(), "file_data": url()}})
            }
            Provider::OpenAiChat => json!({"type": "image_url", "image_url": {"url": url()}}),
            Provider::OpenAiResponses if is_document => {
                json!({"type": "input_file", "filename": file_name(), "file_data": url()})
            }
            Provider::OpenAiResponses => {
                json!({"type": "input_image", "image_url": url(), "detail": "auto"})
            }
            Provider::Gemini => json!({"inlineData": {"mimeType": media_type, "data": data}}),
        }
    }
}

/// The maximum number of pixels that Anthropic allows on a side of an image.
const LONGEST_SIDE: u32 = 8_000;

/// The maximum number of characters that Anthropic allows in a title.
const LONGEST_TITLE: usize = 500;

impl Provider {
    /// Lists the media types that the provider accepts in a user's message.
    fn in_messages(self) -> &'static [&'static str] {
        match self {
            Self::Anthropic | Self::OpenAiChat | Self::OpenAiResponses => {
                &["image/jpeg", "image/png", "image/gif", "image/webp", PDF]
            }
            Self::Gemini => &["image/jpeg", "image/png", "image/webp", "image/heif", PDF],
        }
    }

    /// Lists the media types that the provider accepts in the answer to a call.
    fn in_answers(self) -> &'static [&'static str] {
        match self {
            Self::OpenAiChat => &[],
            Self::Gemini => &["image/jpeg", "image/png", "image/webp", PDF],
            Self::Anthropic | Self::OpenAiResponses => self.in_messages(),
        }
    }

    /// Refuses an image with more pixels on a side than the provider accepts.
    fn check_sides(self, media_type: &str, image: &[u8]) -> Result<(), String> {
        match (self, pixels::longer_side(media_type, image)) {
            (Self::Anthropic, Some(found)) if found > LONGEST_SIDE => Err(format!(
                "a side of it has {found} pixels, and {self} takes at most {LONGEST_SIDE}"
            )),
            _ => Ok(()),
        }
    }

    /// Returns the maximum length of the base64 text of a block.
    fn largest(self, block: &Content<'_>) -> usize {
        match (self, block) {
            (Self::Anthropic, Content::Image { .. }) => 5 * MIB,
            // This limit applies to the whole request. Half a MiB is reserved for the rest of the request.
            (Self::Anthropic, _) => 31 * MIB + MIB / 2,
            (Self::Gemini, _) => 19 * MIB + MIB / 2,
            // A data URL begins with its media type, for which 64 bytes are reserved.
            (_, Content::Image { .. }) => 20 * MIB - 64,
            (_, _) => 66 * MIB,
        }
    }
}

fn is_text(media_type: &str) -> bool {
    media_type.starts_with("text/") || media_type == "application/json"
}

fn refusal(provider: Provider) -> String {
    format!("{provider} cannot take it")
}

fn left_out(block: &Content<'_>, why: &str) -> String {
    let (name, media_type, data) = match block {
        Content::Image { media_type, data } | Content::Audio { media_type, data } => {
            (String::new(), media_type, data)
        }
        Content::Document { name, media_type, data } => {
            let name = name.as_deref().map(|name| format!("{name}: "));
            (name.unwrap_or_default(), media_type, data)
        }
        // Text is sent to every provider, so it is not left out.
        Content::Text(_) | Content::Json(_) | Content::Resource { .. } => return why.to_owned(),
    };
    format!("[{name}{media_type}, {} bytes, left out: {why}]", decoded_length(data))
}
