//! What a tool gives back: content for the model, a structured value for programs, metadata for
//! the host alone.

mod answer;
mod codec;
mod content;
mod process;
mod sent;
mod stored;

use serde_json::{Map, Value};

pub use answer::Answer;
pub use codec::Reconciled;
pub use codec::{
    Codec, Encode, Failure, IntoPreview, IntoReconciled, IntoValidated, NoSchema, Plain, Preview,
    Probe, Reconciling, ToolOutput, Validated,
};
pub use content::Content;
#[doc(hidden)]
pub use content::decoded_length;
pub use process::ProcessOutput;
#[doc(hidden)]
pub use sent::{NestedResult, Single};
pub use sent::{NoContainer, OneResult, SentValue};
pub use stored::{StoredAnswer, StoredAnswerError};

/// An answer put together by hand, for a tool that gives more than one value.
///
/// ```
/// use toolwright::Output;
///
/// let output = Output::text("3 files written").structured(serde_json::json!({"files": 3})).metadata("bytes", 4096);
/// # let _ = output;
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Output {
    #[doc(hidden)]
    pub content: Vec<Content<'static>>,
    #[doc(hidden)]
    pub structured: Option<Value>,
    #[doc(hidden)]
    pub metadata: Map<String, Value>,
}

impl Output {
    /// Makes an output that is one text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::default().with(Content::text(text.into()))
    }

    /// Adds one more block.
    #[must_use]
    pub fn with(mut self, content: Content<'static>) -> Self {
        self.content.push(content);
        self
    }

    /// Adds the result as a structured value, for programs; models that read text do not see it.
    #[must_use]
    pub fn structured(mut self, value: Value) -> Self {
        self.structured = Some(value);
        self
    }

    /// Adds a fact for the host; no model sees it.
    #[must_use]
    pub fn metadata(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.metadata.insert(key.into(), value.into());
        self
    }
}
