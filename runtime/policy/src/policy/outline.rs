//! A summary of a policy's rules, for commands that list the rules.

use serde::Serialize;

use super::compiled::CompiledRule;
use super::protection::Protection;
use super::rule::RuleKind;

/// A summary of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct RuleOutline<'a> {
    /// The name of the rule.
    pub name: &'a str,
    /// The kind of the rule, which is its effect on the calls that it matches.
    pub kind: RuleKind,
    /// Why the rule exists.
    pub reason: &'a str,
    /// How many examples the rule was tested with.
    pub examples: usize,
}

impl<'a> RuleOutline<'a> {
    pub(super) fn of(rule: &'a CompiledRule) -> Self {
        let CompiledRule { name, kind, reason, examples, .. } = rule;
        Self { name, kind: *kind, reason, examples: *examples }
    }

    /// Returns the protection that the rule implements; `None` if the rule is not built in.
    #[must_use]
    pub fn protection(&self) -> Option<Protection> {
        Protection::ALL.into_iter().find(|it| it.name() == self.name)
    }
}
