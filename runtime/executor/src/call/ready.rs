//! The tools of one catalog with their plans, which a call finds without a lock.

use std::sync::Arc;

use super::core::Core;
use super::plan::Plan;
use crate::catalog::{Catalog, Tools};
use crate::registry::Registry;

pub(crate) struct Ready {
    tools: Arc<Tools>,
    /// The plans of the tools, in the order in which the catalog lists the tools.
    plans: Vec<Plan>,
    catalog: Catalog,
    /// The registry whose changes this value follows; `None` if the catalog is pinned.
    follows: Option<Registry>,
}

impl Ready {
    pub(crate) fn new(catalog: Catalog, plans: Vec<Plan>, follows: Option<Registry>) -> Self {
        Self { tools: Arc::clone(catalog.tools()), plans, catalog, follows }
    }

    /// Prepares a catalog that later changes of the registry do not affect. A plan that lacks a service refuses its
    /// calls.
    pub(crate) fn pinned(catalog: &Catalog, core: &Core) -> Self {
        let entries = catalog.tools().entries().iter();
        let plans = entries.map(|entry| core.provisions.plan(entry, &core.gates)).collect();
        Self::new(catalog.clone(), plans, None)
    }

    /// Returns the plan of a tool; `None` if the registry has changed, or no tool has the name. For most calls, this is
    /// the whole search for their tool: one atomic load and one look-up.
    #[inline]
    pub(crate) fn plan(&self, name: &str) -> Option<&Plan> {
        if let Some(registry) = &self.follows
            && registry.generation() != self.catalog.generation()
        {
            return None;
        }
        self.plans.get(self.tools.index(name)?)
    }

    /// Returns the pinned catalog, or the one at the time of the build.
    pub(crate) fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    /// Returns the tools that can be called now.
    pub(crate) fn current(&self) -> Catalog {
        self.follows.as_ref().map_or_else(|| self.catalog.clone(), Registry::catalog)
    }

    /// Lists the names of the tools that have a `reconcile` function and can be called now.
    pub(crate) fn reconciling(&self) -> Vec<String> {
        let current = self.current();
        let entries = current.tools().entries().iter().filter(|it| it.spec.reconcile.is_some());
        entries.map(|entry| entry.name.to_string()).collect()
    }

    pub(crate) fn is_pinned(&self) -> bool {
        self.follows.is_none()
    }
}
