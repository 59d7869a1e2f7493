//! A policy's rules in short, for commands that list them.

use serde::Serialize;

use super::compiled::CompiledRule;
use super::protection::Protection;
use super::rule::RuleKind;

/// A rule of a policy, in short.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct RuleOutline<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its effect on the calls that it matches.
    pub kind: RuleKind,
    /// Why it is there.
    pub reason: &'a str,
    /// On how many examples it was tried.
    pub examples: usize,
}

impl<'a> RuleOutline<'a> {
    pub(super) fn of(rule: &'a CompiledRule) -> Self {
        let CompiledRule { name, kind, reason, examples, .. } = rule;
        Self { name, kind: *kind, reason, examples: *examples }
    }

    /// Returns the protection that the rule is, where it is one.
    #[must_use]
    pub fn protection(&self) -> Option<Protection> {
        Protection::ALL.into_iter().find(|it| it.name() == self.name)
    }
}
