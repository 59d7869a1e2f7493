//! The state to which a file is restored.

use super::state::{Above, State};

/// A recorded state, with its content and its folders.
pub(crate) struct RecordedFile<'a> {
    pub(crate) state: &'a State,
    /// The content, if it is a file.
    pub(crate) content: &'a [u8],
    /// The folders above it in the recorded state.
    pub(crate) above: &'a [Above],
}
