//! Adaptations of tools by patterns of names. They also apply to tools that are added later.

use std::sync::Arc;

use super::Registry;
use super::problem::{RegistryError, RegistryProblem};
use crate::catalog::{Entry, InvalidPattern, Profile};
use toolwright_core::adaptation::Adaptation;
use toolwright_core::tool::Definition;

/// The adaptations in the order in which they were added, each with the pattern of its tools.
#[derive(Debug, Clone, Default)]
pub(super) struct Adaptations(Vec<Arc<(Profile, Adaptation)>>);

impl Registry {
    /// Adapts the tools that match this pattern of a [`Profile`], and matching tools that are added later. Use it for
    /// tools that the application did not write, such as those of an MCP server. Adding the same pattern with the same
    /// changes again does nothing.
    ///
    /// ```
    /// use serde_json::json;
    /// use toolwright::{Adaptation, DynamicTool, Registry};
    ///
    /// let registry = Registry::empty();
    /// registry.adapt("github__*", Adaptation::new().preset("owner", "ada"))?;
    ///
    /// let schema = json!({"type": "object", "properties": {"owner": {"type": "string"}}, "required": ["owner"]});
    /// registry.register(DynamicTool::new("github__list", "Lists issues.", schema, |_, _| async { Ok(()) }))?;
    /// let definition = registry.get("github__list").expect("registered");
    /// assert_eq!(definition.input_schema.get("required"), Some(&json!([])));
    ///
    /// let none = registry.adapt("github__list", Adaptation::new().preset("repo", "ada")).unwrap_err();
    /// assert!(none.to_string().contains("`preset` names it, and it is no argument"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// When the pattern is invalid, or one of the matching tools cannot be adapted in this way. The registry then does
    /// not change.
    pub fn adapt(&self, pattern: &str, adaptation: Adaptation) -> Result<(), RegistryError> {
        let profile = Profile::new([pattern]).map_err(|problem| invalid(&problem))?;
        let more = Adaptations(vec![Arc::new((profile, adaptation))]);
        let mut problems = Vec::new();
        self.change(|state| {
            if state.adaptations().has(&more) {
                return Some(((), Vec::new()));
            }
            match state.adapt(&more) {
                Ok(events) => Some(((), events)),
                Err(found) => {
                    problems = found;
                    None
                }
            }
        })
        .ok_or(RegistryError { problems })
    }
}

impl Adaptations {
    /// Combines the adaptations that match a tool.
    pub(super) fn of(&self, definition: &Definition) -> Adaptation {
        let of_it = self.0.iter().filter(|it| it.0.selects(definition));
        of_it.fold(Adaptation::new(), |all, it| all.and(it.1.clone()))
    }

    /// Adapts a tool; `None` if no adaptation matches the tool.
    pub(super) fn adapted(&self, entry: &Entry) -> Option<Result<Entry, RegistryProblem>> {
        let adaptation = self.of(&entry.definition);
        if adaptation.is_empty() {
            return None;
        }
        let problem = |problem| RegistryProblem::Adaptation {
            name: entry.name.to_string(),
            location: entry.definition.location,
            problem,
        };
        Some(entry.adapted(&adaptation).map_err(problem))
    }

    /// Adapts tools that are being added, and returns the problems.
    pub(super) fn adapt(&self, entries: &mut [Entry]) -> Vec<RegistryProblem> {
        let mut problems = Vec::new();
        for entry in entries {
            match self.adapted(entry) {
                None => {}
                Some(Ok(adapted)) => *entry = adapted,
                Some(Err(problem)) => problems.push(problem),
            }
        }
        problems
    }

    /// Returns the adaptations that were added after those of `earlier`.
    pub(super) fn after(&self, earlier: &Self) -> Self {
        Self(self.0.iter().skip(earlier.0.len()).cloned().collect())
    }

    pub(super) fn extend(&mut self, more: &Self) {
        self.0.extend(more.0.iter().cloned());
    }

    fn has(&self, more: &Self) -> bool {
        more.0.iter().all(|one| self.0.contains(one))
    }
}

fn invalid(problem: &InvalidPattern) -> RegistryError {
    RegistryError { problems: vec![RegistryProblem::Pattern { problem: problem.to_string() }] }
}
