//! The parent of a call, and the document that finds a child again.

use serde::{Deserialize, Serialize};

use toolwright_core::context::CallId;

/// The parent of a call, and the index of the call among its children.
///
/// A parent that runs again makes the same calls again, in the same order. The document of [`key`](Self::key), which is
/// committed with the record of the child, names the child at each index: so no child has two records, and a parent
/// that runs again gets the answers that its children had.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ParentCall {
    /// The id of the parent.
    pub call: CallId,
    /// The index of the call among the parent's children, counted from 0.
    pub index: u32,
}

impl ParentCall {
    /// Returns the key of the document whose text is the id of the child.
    #[doc(hidden)]
    #[must_use]
    pub fn key(&self) -> String {
        format!("{}{}", Self::keys(self.call), self.index)
    }

    /// Returns the common prefix of the keys of a call's children.
    #[doc(hidden)]
    #[must_use]
    pub fn keys(call: CallId) -> String {
        format!("call/{call}/child/")
    }
}
