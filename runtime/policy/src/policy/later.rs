//! Tools that are registered after the policy was made.

use super::problem::At;

/// The tools that a resolver or a server may register after the policy is built.
#[derive(Debug, Clone, Default)]
pub(super) struct Arriving {
    pub(super) tools: Vec<At<String>>,
    pub(super) groups: Vec<At<String>>,
    pub(super) tags: Vec<At<String>>,
}

impl Arriving {
    pub(super) fn extend(&mut self, more: Self) {
        self.tools.extend(more.tools);
        self.groups.extend(more.groups);
        self.tags.extend(more.tags);
    }
}
