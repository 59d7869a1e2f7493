//! Writes a user's message, which may contain images and documents.

use serde_json::{Value, json};
use toolwright_core::output::Content;

use super::media::{Part, Parts};
use super::{MediaSupport, Provider};

impl Provider {
    /// Writes a user's message with these blocks, to append to the history. If the message is a single text and the
    /// provider accepts a string, the content is a string. Content that the provider or the model does not accept is
    /// replaced by a sentence, as in [`tool_results`](Self::tool_results).
    ///
    /// ```
    /// use toolwright::Content;
    /// use toolwright::provider::{MediaSupport, Provider};
    ///
    /// let pixel = "R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7";
    /// let said = [
    ///     Content::Image { media_type: "image/gif".into(), data: pixel.into() },
    ///     Content::text("What is this?"),
    /// ];
    /// assert_eq!(
    ///     Provider::OpenAiResponses.user_message(&said, MediaSupport::Full),
    ///     serde_json::json!({"role": "user", "content": [
    ///         {"type": "input_image", "detail": "auto", "image_url": format!("data:image/gif;base64,{pixel}")},
    ///         {"type": "input_text", "text": "What is this?"}
    ///     ]})
    /// );
    /// ```
    #[must_use]
    pub fn user_message<'a>(
        self,
        said: impl IntoIterator<Item = &'a Content<'a>>,
        support: MediaSupport,
    ) -> Value {
        let parts = Parts::new(self, support);
        let said = said.into_iter().map(|block| parts.of_message(block));
        let mut said: Vec<Part<'_>> = said.collect();
        said.retain(|part| !part.is_blank());
        let content = match (self, &said[..]) {
            (Self::Anthropic | Self::OpenAiChat | Self::OpenAiResponses, [Part::Words(words)]) => {
                words.as_ref().into()
            }
            (_, said) => said.iter().map(|part| part.json(self)).collect::<Value>(),
        };
        match self {
            Self::Gemini => json!({"role": "user", "parts": content}),
            _ => json!({"role": "user", "content": content}),
        }
    }
}
