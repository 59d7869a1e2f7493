//! The prompt of a user.

use std::sync::Arc;

use toolwright::Content;

/// A message of the user: a text, and optionally pictures or documents.
///
/// ```
/// use toolwright::Content;
/// use toolwright_agent::Prompt;
///
/// let pixel = "R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7";
/// let picture = Content::Image { media_type: "image/gif".into(), data: pixel.into() };
/// let prompt = Prompt::from("What is this?").with(picture);
/// # let _ = prompt;
/// ```
#[derive(Debug, Clone)]
pub struct Prompt {
    pub(crate) text: String,
    pub(crate) attachments: Vec<Content<'static>>,
}

impl Prompt {
    /// Adds a picture or a document. If the model's provider does not accept the attachment, the model gets a sentence
    /// about it instead.
    #[must_use]
    pub fn with(mut self, attachment: Content<'static>) -> Self {
        self.attachments.push(attachment);
        self
    }

    /// Reports whether the prompt has neither text nor attachments.
    pub(crate) fn is_empty(&self) -> bool {
        self.text.trim().is_empty() && self.attachments.is_empty()
    }

    pub(crate) fn into_parts(self) -> (String, Arc<[Content<'static>]>) {
        (self.text, self.attachments.into())
    }
}

impl From<String> for Prompt {
    fn from(text: String) -> Self {
        Self { text, attachments: Vec::new() }
    }
}

impl From<&str> for Prompt {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

impl From<&String> for Prompt {
    fn from(text: &String) -> Self {
        text.clone().into()
    }
}
