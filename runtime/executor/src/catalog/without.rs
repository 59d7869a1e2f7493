//! A catalog from which some tools are removed.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::{Catalog, Inner, RevealedTools, Tools};

impl Catalog {
    /// Returns the tools of this catalog except those of these names; a name that the catalog does not have is ignored.
    ///
    /// ```
    /// use serde_json::json;
    /// use toolwright::{DynamicTool, Registry};
    ///
    /// let tool = |name| DynamicTool::new(name, "Speaks.", json!({"type": "object"}), |_, _| async { Ok(()) });
    /// let catalog = Registry::of(["hello", "bye"].map(tool))?.catalog();
    /// assert_eq!(catalog.without(["hello"]).names().collect::<Vec<_>>(), ["bye"]);
    /// # Ok::<(), toolwright::RegistryError>(())
    /// ```
    #[must_use]
    pub fn without<'n>(&self, names: impl IntoIterator<Item = &'n str>) -> Self {
        let gone: BTreeSet<&str> = names.into_iter().collect();
        let Inner { generation, tools, profile, revealed, .. } = &*self.0;
        let stays = |index: &usize| !gone.contains(&*tools.entries[*index].name);
        let left: Vec<usize> = (0..tools.entries.len()).filter(stays).collect();
        let now = |old: &usize| left.binary_search(old).ok();
        let revealed = RevealedTools {
            tools: revealed.tools.iter().filter_map(now).collect(),
            are_behind: revealed.are_behind,
        };
        let entries = left.iter().map(|index| Arc::clone(&tools.entries[*index])).collect();
        Self::with(*generation, Arc::new(Tools::new(entries)), profile.clone(), revealed)
    }
}
