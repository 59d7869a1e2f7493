//! Which call makes a call, and the document by which the call is found again.

use serde::{Deserialize, Serialize};

use toolwright_core::context::CallId;

/// The call that makes a call, its parent, and how many calls that has made before.
///
/// A parent that runs again makes its calls again, in the same order. The document of [`key`](Self::key), which is committed
/// with the record of the child, says which call each of them was: so no two records are of one child, and a parent that
/// runs again gets the answers that its children have given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ParentCall {
    /// The parent.
    pub call: CallId,
    /// Which of its calls, counted from 0.
    pub index: u32,
}

impl ParentCall {
    /// Returns the key of the document whose text is the id of the child.
    #[doc(hidden)]
    #[must_use]
    pub fn key(&self) -> String {
        format!("{}{}", Self::keys(self.call), self.index)
    }

    /// Returns what the keys of all children of a call begin with.
    #[doc(hidden)]
    #[must_use]
    pub fn keys(call: CallId) -> String {
        format!("call/{call}/child/")
    }
}
