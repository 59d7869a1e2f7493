//! Tools that do not declare which files they touch. A policy can list those of them that touch no files
//! (`touches_no_files`). For the other ones, this module writes a message that says what to do.

use std::collections::HashMap;
use std::fmt;

use serde::Serialize;
use serde_json::Value;

use super::compile::Scope;
use super::judged::RuleMatch;
use super::problem::{At, Problems, suggestion};
use super::programs::runs_programs;
use super::question::Asking;
use toolwright_core::spec::Location;
use toolwright_core::tool::{Definition, Effect, ToolSet};

/// The prefix that marks the name of a group in the list.
const GROUP: &str = "group:";

/// A tool that does not declare which files its calls touch, and the built-in rules
/// ([`Protection`](super::Protection)) that require approval of its calls only for that reason. Its
/// [`Display`](fmt::Display) is a message for people and models.
///
/// ```
/// use toolwright::policy::Policy;
/// use toolwright::{Registry, tool};
///
/// /// Adds an entry to the account.
/// #[tool(effect = once)]
/// async fn add_entry() {}
///
/// let catalog = Registry::of([ADD_ENTRY])?.catalog();
/// let [found] = &Policy::builder().build(&catalog)?.lint(&catalog)[..] else { panic!("one tool") };
/// assert_eq!(found.tool, "add_entry");
/// assert_eq!(
///     found.to_string(),
///     "`add_entry` does not say what it writes: add `writes()`, or list it under `touches_no_files` of the policy"
/// );
/// let policy = Policy::builder().touches_no_files(["add_entry"]).build(&catalog)?;
/// assert!(policy.lint(&catalog).is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct UndeclaredTool {
    /// The tool's name.
    pub tool: String,
    /// Which fact the tool does not declare, and how to declare it.
    pub message: String,
    /// The names of the protections, in the order of the policy.
    pub rules: Vec<String>,
}

/// The policy's list of tools that touch no files although they do not declare it.
#[derive(Debug, Default)]
pub(super) struct NoFiles {
    /// The tools on the list, by name.
    listed: HashMap<String, ListedTool>,
}

/// The facts of a listed tool when the policy was made. The list does not apply to a later tool that has the same name
/// but other facts.
#[derive(Debug)]
struct ListedTool {
    location: Location,
    effect: Effect,
    input_schema: Value,
}

impl NoFiles {
    /// Looks up the tools that a list names, by the name of the tool or of its group.
    pub(super) fn of(list: &[At<String>], scope: &Scope<'_>, problems: &mut Problems) -> Self {
        let mut made = Self::default();
        for entry in list {
            let added = match entry.value.strip_prefix(GROUP) {
                Some(group) => made.add_group(group, scope),
                None => made.add_tool(&entry.value, scope),
            };
            if let Err(problem) = added {
                let message = format!("`touches_no_files`: {problem}");
                problems.add(entry.place.as_ref(), message);
            }
        }
        made
    }

    fn add_tool(&mut self, name: &str, scope: &Scope<'_>) -> Result<(), String> {
        let Some(definition) = scope.catalog.get(name) else {
            if name.contains('*') {
                return Err(format!(
                    "`{name}` is a pattern: name each tool, or its group as `group:…`"
                ));
            }
            if scope.arrives(name) {
                return Err(too_late(name));
            }
            let names: Vec<&str> = scope.catalog.names().collect();
            return Err(format!(
                "no tool is called `{name}`{}",
                suggestion(name, names.into_iter())
            ));
        };
        if definition.came_at_run_time {
            return Err(too_late(name));
        }
        if runs_programs(definition) {
            return Err(format!(
                "`{name}` runs programs, and what they write is not known: say it in an allow with `touches`"
            ));
        }
        self.listed.insert(name.to_owned(), ListedTool::of(definition));
        Ok(())
    }

    /// Adds the tools of a group that may be listed. For its other tools, the protections still ask.
    fn add_group(&mut self, group: &str, scope: &Scope<'_>) -> Result<(), String> {
        let of_group = |it: &&Definition| it.group.as_deref() == Some(group);
        let members: Vec<&Definition> = scope.catalog.definitions().filter(of_group).collect();
        if members.is_empty() && !scope.has_arriving_group(group) {
            let groups = scope.catalog.definitions().filter_map(|it| it.group.as_deref());
            return Err(format!("no tool has the group `{group}`{}", suggestion(group, groups)));
        }
        let may_be_listed = |it: &&&Definition| !it.came_at_run_time && !runs_programs(it);
        let mut listed = members.iter().filter(may_be_listed).peekable();
        if listed.peek().is_none() {
            return Err(format!(
                "every tool of the group `{group}` comes at run time or runs programs, so what it writes is not known: \
                 say it in an allow with `touches`"
            ));
        }
        self.listed.extend(listed.map(|it| (it.name.clone(), ListedTool::of(it))));
        Ok(())
    }

    /// Whether the list applies to the tool of a call.
    pub(super) fn count_for(&self, asking: &Asking<'_>) -> bool {
        let question = asking.question;
        !question.came_at_run_time && question.definition.is_some_and(|it| self.covers(it))
    }

    fn covers(&self, definition: &Definition) -> bool {
        let is_it = |it: &ListedTool| it.is(definition);
        !definition.came_at_run_time && self.listed.get(&definition.name).is_some_and(is_it)
    }

    /// Writes the message about a call for which these protections ask because it does not declare its files. Returns
    /// `None` if there are no such protections. With `wants_the_tools_own_word`, one of the protections ignores
    /// `touches_no_files`, so the message does not suggest that list.
    pub(super) fn describe_undeclared(
        &self,
        asking: &Asking<'_>,
        rules: Vec<String>,
        wants_the_tools_own_word: bool,
    ) -> Option<UndeclaredTool> {
        if rules.is_empty() {
            return None;
        }
        let question = asking.question;
        let access = match question.effect {
            Effect::Read => "reads",
            Effect::Idempotent | Effect::Keyed | Effect::Once => "writes",
        };
        let tool = question.tool.to_owned();
        let cure = if question.definition.is_some_and(runs_programs) {
            "add an allow with `touches` to the policy".to_owned()
        } else if question.came_at_run_time {
            "add `footprint_by`, or an allow with `touches` to the policy".to_owned()
        } else if wants_the_tools_own_word {
            format!("add `{access}()`, or an allow with `touches` to the policy")
        } else {
            format!("add `{access}()`, or list it under `touches_no_files` of the policy")
        };
        let message = format!("`{tool}` does not say what it {access}: {cure}");
        Some(UndeclaredTool { tool, message, rules })
    }

    /// Lists the tools of this set that are on the list and have not changed since the policy was made, in the order of
    /// the set.
    pub(super) fn listed_in<'c>(&self, set: &'c dyn ToolSet) -> impl Iterator<Item = &'c str> {
        let covered = set.definitions().into_iter().filter(|it| self.covers(it));
        covered.map(|it| it.name.as_str())
    }
}

impl ListedTool {
    fn of(definition: &Definition) -> Self {
        let Definition { location, effect, input_schema, .. } = definition;
        Self { location: *location, effect: *effect, input_schema: input_schema.clone() }
    }

    fn is(&self, definition: &Definition) -> bool {
        self.location == definition.location
            && self.effect == definition.effect
            && self.input_schema == definition.input_schema
    }
}

impl UndeclaredTool {
    /// Whether the message about the undeclared tool already covers a matching rule.
    pub(super) fn covers(&self, said: &RuleMatch) -> bool {
        self.rules.iter().any(|it| **it == *said.rule)
    }
}

impl fmt::Display for UndeclaredTool {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

fn too_late(tool: &str) -> String {
    format!(
        "`{tool}` comes at run time, so what it writes is not known here: say it in its `footprint_by`, or in an allow with \
         `touches`"
    )
}
