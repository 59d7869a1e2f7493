//! The part of an answer that a provider needs.

use super::{MessageError, Provider, ToolCall};
use toolwright_core::output::{Answer, Content};

/// The answer to one call, with all its blocks.
///
/// The text of an error says that it is one, because `OpenAI` has no field for that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct AnsweredCall<'a> {
    /// The id that the provider gave to the call.
    pub(super) id: Option<&'a str>,
    /// The tool's name, as the model wrote it in the call.
    pub(super) name: &'a str,
    /// Whether the call failed.
    pub(super) is_error: bool,
    /// The content of the answer, as blocks.
    pub(super) content: &'a [Content<'a>],
}

impl<'a> AnsweredCall<'a> {
    pub(super) fn to(call: &'a ToolCall, answer: &Answer, content: &'a [Content<'a>]) -> Self {
        Self { id: call.id.as_deref(), name: &call.name, is_error: answer.is_error(), content }
    }

    /// Returns the call's id, for a provider that finds the call of an answer by its id.
    pub(super) fn required_id(
        &self,
        provider: Provider,
        index: usize,
    ) -> Result<&'a str, MessageError> {
        self.id.ok_or_else(|| MessageError::MissingId {
            provider,
            name: self.name.to_owned(),
            index,
        })
    }
}
