//! What is to stand at a name again.

use super::state::{Above, State};

/// A recorded state with what belongs to it.
pub(crate) struct RecordedFile<'a> {
    pub(crate) state: &'a State,
    /// Of a file.
    pub(crate) content: &'a [u8],
    /// The folders above it, as they were.
    pub(crate) above: &'a [Above],
}
