//! The parts of an answered call that a provider needs.

use std::borrow::Cow;

use super::{MessageError, Provider, ToolCall};
use toolwright_core::output::{Answer, Content};

/// An answered call, with all blocks of its answer.
///
/// The text of an error already says that the call failed, because `OpenAI` has no field for that.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct AnsweredCall<'a> {
    /// The id that the provider gave to the call.
    pub(super) id: Option<&'a str>,
    /// The name of the tool, as it is sent to the provider.
    pub(super) name: Cow<'a, str>,
    pub(super) is_error: bool,
    pub(super) content: &'a [Content<'a>],
}

impl<'a> AnsweredCall<'a> {
    pub(super) fn to(call: &'a ToolCall, answer: &Answer, content: &'a [Content<'a>]) -> Self {
        let (id, name) = (call.id.as_deref(), Cow::Borrowed(call.name.as_str()));
        Self { id, name, is_error: answer.is_error(), content }
    }

    /// Returns the id of the call. Fails if there is none, for a provider that matches answers by ids.
    pub(super) fn required_id(
        &self,
        provider: Provider,
        index: usize,
    ) -> Result<&'a str, MessageError> {
        self.id.ok_or_else(|| MessageError::MissingId {
            provider,
            name: self.name.clone().into_owned(),
            index,
        })
    }
}
