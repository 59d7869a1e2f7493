//! The recorded state to which a file is restored.

use super::state::{Above, State};

/// A recorded state of a file, with its content and its folders.
pub(crate) struct RecordedFile<'a> {
    pub(crate) state: &'a State,
    /// The content of the file; empty for any other state.
    pub(crate) content: &'a [u8],
    /// The folders above the file in the recorded state.
    pub(crate) above: &'a [Above],
}
