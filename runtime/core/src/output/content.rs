//! One block of an answer.

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::untrusted;

/// A block of an answer.
///
/// ```
/// use toolwright::Content;
///
/// let owned: Content<'static> = Content::text(String::from("three files"));
/// let borrowed = Content::json(r#"{"files":3}"#);
/// assert_ne!(owned, borrowed);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content<'a> {
    /// Plain text.
    Text(Cow<'a, str>),
    /// JSON text, which is sent unchanged to providers that accept text.
    Json(Cow<'a, str>),
    /// A picture.
    Image {
        /// The media type, for instance `image/png`.
        media_type: Cow<'a, str>,
        /// Standard base64 with padding, without line breaks.
        data: Cow<'a, str>,
    },
    /// A sound.
    Audio {
        /// The media type, for instance `audio/wav`.
        media_type: Cow<'a, str>,
        /// Standard base64 with padding, without line breaks.
        data: Cow<'a, str>,
    },
    /// A document in a format other than text, such as a PDF.
    Document {
        /// The file name of the document, if it has one.
        name: Option<Cow<'a, str>>,
        /// The media type, for instance `application/pdf`.
        media_type: Cow<'a, str>,
        /// Standard base64 with padding, without line breaks.
        data: Cow<'a, str>,
    },
    /// A resource with an address of its own.
    Resource {
        /// The address.
        uri: Cow<'a, str>,
        /// The media type, for instance `text/markdown`.
        media_type: Option<Cow<'a, str>>,
        /// The content of the resource, if that is text.
        text: Option<Cow<'a, str>>,
    },
}

impl<'a> Content<'a> {
    /// Makes a block of text.
    ///
    /// ```
    /// # use toolwright::Content;
    /// assert_eq!(Content::text("hi"), Content::Text("hi".into()));
    /// ```
    #[must_use]
    pub fn text(text: impl Into<Cow<'a, str>>) -> Self {
        Self::Text(text.into())
    }

    /// Makes a block from JSON text.
    ///
    /// ```
    /// # use toolwright::Content;
    /// assert_eq!(Content::json("[1]"), Content::Json("[1]".into()));
    /// ```
    #[must_use]
    pub fn json(json: impl Into<Cow<'a, str>>) -> Self {
        Self::Json(json.into())
    }

    /// Escapes the name and the media type of untrusted data, because models read them outside of any fence.
    pub(super) fn with_plain_labels(self) -> Self {
        let line = |label: Cow<'a, str>| Cow::Owned(untrusted::line(&label));
        match self {
            Self::Image { media_type, data } => Self::Image { media_type: line(media_type), data },
            Self::Audio { media_type, data } => Self::Audio { media_type: line(media_type), data },
            Self::Document { name, media_type, data } => {
                Self::Document { name: name.map(line), media_type: line(media_type), data }
            }
            other => other,
        }
    }

    /// Copies borrowed texts, so that the block borrows nothing.
    ///
    /// ```
    /// # use toolwright::Content;
    /// let words = String::from("three files");
    /// let owned: Content<'static> = Content::text(words.as_str()).into_owned();
    /// drop(words);
    /// assert_eq!(owned, Content::text("three files"));
    /// ```
    #[must_use]
    pub fn into_owned(self) -> Content<'static> {
        fn own(text: Cow<'_, str>) -> Cow<'static, str> {
            Cow::Owned(text.into_owned())
        }
        match self {
            Self::Text(text) => Content::Text(own(text)),
            Self::Json(json) => Content::Json(own(json)),
            Self::Image { media_type, data } => {
                Content::Image { media_type: own(media_type), data: own(data) }
            }
            Self::Audio { media_type, data } => {
                Content::Audio { media_type: own(media_type), data: own(data) }
            }
            Self::Document { name, media_type, data } => Content::Document {
                name: name.map(own),
                media_type: own(media_type),
                data: own(data),
            },
            Self::Resource { uri, media_type, text } => Content::Resource {
                uri: own(uri),
                media_type: media_type.map(own),
                text: text.map(own),
            },
        }
    }

    /// Decodes a document, or a picture, whose media type is that of a text: providers get such a block as plain text.
    /// Returns `None` for other blocks, and for data that is not text in UTF-8.
    #[doc(hidden)]
    #[must_use]
    pub fn decoded_text(&self) -> Option<String> {
        let (Self::Document { media_type, data, .. } | Self::Image { media_type, data }) = self
        else {
            return None;
        };
        let is_text = media_type.starts_with("text/") || media_type == "application/json";
        let bytes = is_text.then(|| STANDARD.decode(data.as_bytes()).ok()).flatten()?;
        String::from_utf8(bytes).ok()
    }

    /// Returns the text of the block. If the block has no text, returns a note about the block; `reader` names who
    /// cannot read it.
    #[doc(hidden)]
    pub fn words(&self, reader: &str) -> Cow<'_, str> {
        match self {
            Self::Text(words) | Self::Json(words) => Cow::Borrowed(words),
            Self::Image { media_type, data }
            | Self::Audio { media_type, data }
            | Self::Document { media_type, data, .. } => {
                let size = decoded_length(data);
                Cow::Owned(format!(
                    "[{media_type}, {size} bytes, left out: {reader} cannot take it in this answer]"
                ))
            }
            Self::Resource { uri, media_type, text } => {
                let media_type =
                    media_type.as_ref().map_or_else(String::new, |known| format!(" ({known})"));
                Cow::Owned(match text {
                    Some(text) => format!("resource {uri}{media_type}:\n{text}"),
                    None => format!("[resource {uri}{media_type}, its content is not included]"),
                })
            }
        }
    }
}

/// Returns the number of bytes to which a padded base64 text decodes.
#[doc(hidden)]
pub fn decoded_length(base64: &str) -> usize {
    base64.trim_end_matches('=').len() * 3 / 4
}
