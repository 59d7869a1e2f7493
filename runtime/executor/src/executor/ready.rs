//! The tools of one catalog with their plans: what a call finds without a lock.

use std::sync::Arc;

use super::Core;
use super::plan::Plan;
use crate::catalog::{Catalog, Tools};
use crate::registry::Registry;

pub(crate) struct Ready {
    tools: Arc<Tools>,
    /// One for each tool, in the same order.
    plans: Vec<Plan>,
    catalog: Catalog,
    /// The registry whose changes count; for a pinned catalog none does.
    follows: Option<Registry>,
}

impl Ready {
    pub(super) fn new(catalog: Catalog, plans: Vec<Plan>, follows: Option<Registry>) -> Self {
        Self { tools: Arc::clone(catalog.tools()), plans, catalog, follows }
    }

    /// A catalog as an executor runs it, whatever becomes of the registry. A plan that lacks something
    /// refuses its calls.
    pub(super) fn pinned(catalog: &Catalog, core: &Core) -> Self {
        let entries = catalog.tools().entries().iter();
        let plans = entries.map(|entry| core.provisions.plan(entry, &core.gates)).collect();
        Self::new(catalog.clone(), plans, None)
    }

    /// The plan of a tool, unless the registry has changed or no tool has the name. This is all that
    /// most calls do to find their tool: one load and one look-up.
    #[inline]
    pub(crate) fn plan(&self, name: &str) -> Option<&Plan> {
        if let Some(registry) = &self.follows
            && registry.generation() != self.catalog.generation()
        {
            return None;
        }
        self.plans.get(self.tools.index(name)?)
    }

    /// The catalog that is pinned, or that was there when the executor was built.
    pub(crate) fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    /// The tools that can be called now.
    pub(crate) fn current(&self) -> Catalog {
        self.follows.as_ref().map_or_else(|| self.catalog.clone(), Registry::catalog)
    }

    /// The tools that can find out what became of their calls.
    pub(crate) fn reconciling(&self) -> impl Iterator<Item = &str> {
        let plans = self.plans.iter().filter(|plan| plan.entry.spec.reconcile.is_some());
        plans.map(|plan| &*plan.entry.name)
    }

    pub(crate) fn is_pinned(&self) -> bool {
        self.follows.is_none()
    }
}
