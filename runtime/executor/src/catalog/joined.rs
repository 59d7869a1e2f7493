//! Combines two catalogs into one.

use std::sync::Arc;

use super::{Catalog, Inner, Tools};

impl Catalog {
    /// Returns the tools of this catalog, followed by the tools of `others` whose names this catalog does not have.
    ///
    /// ```
    /// use serde_json::json;
    /// use toolwright::{DynamicTool, Registry};
    ///
    /// let tool = |name| DynamicTool::new(name, "Speaks.", json!({"type": "object"}), |_, _| async { Ok(()) });
    /// let (one, both) = (Registry::of([tool("hello")])?, Registry::of(["hello", "bye"].map(tool))?);
    /// assert_eq!(one.catalog().followed_by(&both.catalog()).names().collect::<Vec<_>>(), ["hello", "bye"]);
    /// # Ok::<(), toolwright::RegistryError>(())
    /// ```
    #[must_use]
    pub fn followed_by(&self, others: &Self) -> Self {
        let own = &self.0.tools;
        let others = others.0.tools.entries.iter().filter(|it| own.index(&it.name).is_none());
        let tools = Tools::new(own.entries.iter().chain(others).cloned().collect());
        let Inner { generation, profile, revealed, .. } = &*self.0;
        Self::with(*generation, Arc::new(tools), profile.clone(), revealed.clone())
    }
}
