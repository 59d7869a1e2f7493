//! The state to which a file is restored.

use super::state::{Above, State};

/// A recorded state of a name, with the content and the folders.
pub(crate) struct RecordedFile<'a> {
    pub(crate) state: &'a State,
    /// The content, if the state is that of a file.
    pub(crate) content: &'a [u8],
    /// The folders above the name in the recorded state.
    pub(crate) above: &'a [Above],
}
