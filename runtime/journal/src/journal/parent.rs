//! The parent of a call, and the documents by which a parent finds its children again.

use serde::{Deserialize, Serialize};

use toolwright_core::context::CallId;

/// The parent of a call, and the index of the call among its children.
///
/// A parent that runs again has to make the same calls again, in the same order. For each child, the document under
/// [`key`](Self::key) contains the child's id. The document and the child's record are committed together, so no child
/// has two records. A parent that runs again gets the answers that its children have already.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ParentCall {
    /// The id of the parent.
    pub call: CallId,
    /// The index of the child among the calls that the parent makes, from 0.
    pub index: u32,
}

impl ParentCall {
    /// Returns the key of the document that contains the id of the child.
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
