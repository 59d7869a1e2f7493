//! The tools that a policy is made for, by name.

use toolwright_core::tool::{Definition, ToolSet};

/// Tools that can be found by name, in the order of their [`ToolSet`].
pub(super) struct Tools<'a>(Vec<&'a Definition>);

impl<'a> Tools<'a> {
    pub(super) fn of(set: &'a dyn ToolSet) -> Self {
        Self(set.definitions())
    }

    pub(super) fn definitions(&self) -> impl Iterator<Item = &'a Definition> + Clone + '_ {
        self.0.iter().copied()
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &'a str> + Clone + '_ {
        self.definitions().map(|it| it.name.as_str())
    }

    pub(super) fn get(&self, name: &str) -> Option<&'a Definition> {
        self.definitions().find(|it| it.name == name)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
