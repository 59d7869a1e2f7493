//! The size of a request that is too long for its model.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The number of tokens of a request that is too long for its model, and the number that the model accepts, as far as
/// the provider reports them.
///
/// ```
/// use toolwright_agent::{ContextSize, ModelError};
///
/// let error = ModelError::new("context_too_long", "the prompt is too long")
///     .too_long(ContextSize::new(Some(208_310), Some(200_000)));
/// let size = error.context_size().expect("it says the size");
/// assert_eq!(size.excess(), Some(8_310));
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ContextSize {
    /// The tokens of the request. Some providers include the tokens that are reserved for the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub found: Option<u64>,
    /// The maximum number of tokens that the model accepts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allowed: Option<u64>,
}

impl ContextSize {
    /// Makes a size; each number may be unknown.
    #[must_use]
    pub fn new(found: Option<u64>, allowed: Option<u64>) -> Self {
        Self { found, allowed }
    }

    /// Computes by how many tokens the request is too long, if both numbers are known.
    #[must_use]
    pub fn excess(self) -> Option<u64> {
        Some(self.found?.saturating_sub(self.allowed?))
    }
}

impl fmt::Display for ContextSize {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.found {
            Some(found) => write!(formatter, "the request has {found} tokens, ")?,
            None => formatter.write_str("the request has an unknown number of tokens, ")?,
        }
        match self.allowed {
            Some(allowed) => write!(formatter, "the model takes at most {allowed}"),
            None => formatter.write_str("more than the model takes"),
        }
    }
}
