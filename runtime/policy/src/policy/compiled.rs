//! A compiled rule, which tests its conditions in the order of their cost.

use std::sync::Arc;

use regex::Regex;

use super::command_tests::CommandTest;
use super::foreign::{self, AfterUntrusted};
use super::holds::Holds;
use super::judged::RuleEffect;
use super::paths::{Folder, Name, PathPattern};
use super::protection::Protection;
use super::question::{Asking, Files};
use super::rule::{RuleKind, WhenUnknown};
use super::values::ValueTest;
use toolwright_core::person::is_same;
use toolwright_core::tool::{Danger, Effect};

#[derive(Debug)]
pub(super) struct CompiledRule {
    pub(super) name: Arc<str>,
    pub(super) reason: Arc<str>,
    pub(super) kind: RuleKind,
    /// The protection that the rule implements; `None` if the rule is not built in.
    pub(super) protection: Option<Protection>,
    pub(super) when_unknown: WhenUnknown,
    pub(super) only_certain: bool,
    pub(super) tools: Option<Vec<Regex>>,
    pub(super) groups: Option<Vec<String>>,
    pub(super) tags: Option<Vec<String>>,
    pub(super) principals: Option<Vec<String>>,
    pub(super) dangers: Option<Vec<Danger>>,
    pub(super) danger_at_least: Option<Danger>,
    pub(super) effects: Option<Vec<Effect>>,
    pub(super) arguments: Vec<ValueTest>,
    /// The rule's tests of command lines.
    pub(super) lines: Vec<CommandTest>,
    pub(super) reads: Option<Vec<PathPattern>>,
    pub(super) writes: Option<Vec<PathPattern>>,
    pub(super) outside: Option<Vec<Folder>>,
    /// The files that the rule declares as read and written, for calls that do not declare their files.
    pub(super) touches: Option<[Vec<String>; 2]>,
    /// The untrusted sources that the run must have read.
    pub(super) after_untrusted: Option<AfterUntrusted>,
    /// Whether the rule matches only calls that send data off the machine.
    pub(super) sends: bool,
    /// How many examples the rule was tested with.
    pub(super) examples: usize,
}

impl CompiledRule {
    /// Whether the rule ignores the policy's list `touches_no_files`. If it did not, the list could permit a tool to
    /// change the policy itself or the recorded decisions.
    pub(super) fn wants_the_tools_own_word(&self) -> bool {
        matches!(self.protection, Some(Protection::Policy | Protection::Journal))
    }

    /// Whether the rule is a protection that can have only one reason to ask about this call: the call does not declare
    /// its files.
    pub(super) fn asks_for_want_of_files(&self, asking: &Asking<'_>) -> bool {
        match self.protection {
            None => false,
            Some(Protection::Bounds) => asking.is_open(),
            Some(_) => asking.is_open_to_write(),
        }
    }

    /// Whether the rule may match calls of a tool with this name.
    pub(super) fn selects_name(&self, tool: &str) -> bool {
        self.tools.as_ref().is_none_or(|tools| tools.iter().any(|it| it.is_match(tool)))
    }

    /// Returns the effect of the rule on a call of a tool that the rule selects by name, and whether the rule certainly
    /// matches. Returns `None` if the rule has no effect.
    pub(super) fn says(&self, asking: &Asking<'_>) -> Option<(RuleEffect, bool)> {
        let holds = self.holds(asking);
        let says = match (self.kind, holds) {
            (_, Holds::No) | (RuleKind::Allow, Holds::Unknown) => return None,
            (_, Holds::Unknown) if self.only_certain => return None,
            (RuleKind::Deny, Holds::Unknown) if self.when_unknown == WhenUnknown::Ask => {
                RuleEffect::Ask
            }
            (RuleKind::Deny, _) => RuleEffect::Deny,
            (RuleKind::AlwaysAsk, _) => RuleEffect::AlwaysAsk,
            (RuleKind::Ask, _) => RuleEffect::Ask,
            (RuleKind::Allow, _) => RuleEffect::Allow,
        };
        Some((says, holds == Holds::Yes))
    }

    pub(super) fn holds(&self, asking: &Asking<'_>) -> Holds {
        let question = asking.question;
        let named = |words: &Option<Vec<String>>, word: Option<&str>| {
            words
                .as_ref()
                .is_none_or(|words| word.is_some_and(|it| words.iter().any(|one| one == it)))
        };
        let is_plain = self.effects.as_ref().is_none_or(|it| it.contains(&question.effect))
            && self.dangers.as_ref().is_none_or(|it| it.contains(&question.danger))
            && self.danger_at_least.is_none_or(|it| question.danger >= it)
            && named(&self.groups, question.group)
            && self.is_for(question.principal)
            && self.tags.as_ref().is_none_or(|it| question.tags.iter().any(|tag| it.contains(tag)));
        if !is_plain {
            return Holds::No;
        }
        let mut holds = self.files(asking);
        if let Some(read) = &self.after_untrusted {
            let is_allow = self.kind == RuleKind::Allow;
            holds = holds.min(read.holds(question.untrusted, is_allow));
        }
        if self.sends && holds != Holds::No {
            holds = holds.min(foreign::sends(asking));
        }
        if holds == Holds::No || (self.arguments.is_empty() && self.lines.is_empty()) {
            return holds;
        }
        let Some(arguments) = asking.arguments() else { return Holds::Unknown };
        let all = self.kind == RuleKind::Allow;
        for test in &self.arguments {
            holds = holds.min(test.passes(arguments, asking, all));
            if holds == Holds::No {
                return holds;
            }
        }
        for test in &self.lines {
            holds = holds.min(test.passes(arguments, asking, all));
        }
        holds
    }

    /// Returns the untrusted sources that the rule matches.
    pub(super) fn untrusted(&self, asking: &Asking<'_>) -> Option<Vec<String>> {
        let read = self.after_untrusted.as_ref()?;
        Some(read.among(asking.question.untrusted.unwrap_or_default()))
    }

    /// Returns the parameters of the call that leave the machine, if the rule is about such parameters.
    pub(super) fn sinks(&self, asking: &Asking<'_>) -> Vec<String> {
        if self.sends { foreign::sinks(asking) } else { Vec::new() }
    }

    /// Whether the rule is for calls of this user. A deny or ask rule applies to every spelling of a name, an allow
    /// rule only to the exact one.
    fn is_for(&self, principal: Option<&str>) -> bool {
        let Some(users) = &self.principals else { return true };
        let is_exact = self.kind == RuleKind::Allow;
        let is_it = |user: &String, name| if is_exact { user == name } else { is_same(user, name) };
        principal.is_some_and(|name| users.iter().any(|user| is_it(user, name)))
    }

    fn files(&self, asking: &Asking<'_>) -> Holds {
        let fits = |patterns: &[PathPattern], name: &Name, written| {
            Holds::any(patterns.iter().map(|pattern| pattern.fits(name, written)))
        };
        let mut holds = Holds::Yes;
        if let Some(patterns) = &self.writes {
            holds = holds.min(self.each(asking.writes(), |name| fits(patterns, name, true)));
        }
        if let Some(patterns) = &self.reads {
            holds = holds.min(self.each(asking.reads(), |name| fits(patterns, name, false)));
        }
        if let Some(folders) = &self.outside {
            let is_outside =
                |name: &Name| Holds::any(folders.iter().map(|it| it.holds(name))).not();
            let (read, written) = (asking.reads(), asking.writes());
            let either = match (self.each(read, is_outside), self.each(written, is_outside)) {
                // For a call that only reads, or only writes, the other list is empty and decides nothing.
                (one, Holds::No) if written.is_some_and(Vec::is_empty) => one,
                (Holds::No, other) if read.is_some_and(Vec::is_empty) => other,
                (one, other) if self.kind == RuleKind::Allow => one.min(other),
                (one, other) => one.max(other),
            };
            holds = holds.min(either);
        }
        holds
    }

    /// Returns the files of the call that this rule matches, if the call has several files.
    pub(super) fn matched_files<'n>(&self, asking: &'n Asking<'_>) -> Vec<&'n Name> {
        let fits = |patterns: &Option<Vec<PathPattern>>, name: &Name, written| {
            patterns.as_ref().is_some_and(|patterns| {
                patterns.iter().any(|pattern| pattern.fits(name, written) != Holds::No)
            })
        };
        let is_outside = |name: &Name| {
            self.outside.as_ref().is_some_and(|it| it.iter().all(|it| it.holds(name) != Holds::Yes))
        };
        let [written, read] = [asking.writes(), asking.reads()];
        let [written, read] = [written, read].map(|it| it.into_iter().flatten().flatten());
        let mut all: Vec<&Name> = Vec::new();
        let mut matched: Vec<&Name> = Vec::new();
        for (names, patterns, is_written) in [
            (written.collect::<Vec<_>>(), &self.writes, true),
            (read.collect(), &self.reads, false),
        ] {
            for name in names {
                if !all.contains(&name) {
                    all.push(name);
                }
                if (fits(patterns, name, is_written) || is_outside(name))
                    && !matched.contains(&name)
                {
                    matched.push(name);
                }
            }
        }
        if all.len() > 1 { matched } else { Vec::new() }
    }

    /// Combines the results for the files of a call. For a rule that denies or asks, one matching file is enough; for a
    /// rule that allows, each file must match.
    fn each(&self, files: Option<&Files>, holds: impl Fn(&Name) -> Holds) -> Holds {
        let Some(files) = files else { return Holds::Unknown };
        let is_allow = self.kind == RuleKind::Allow;
        let each = files.iter().map(|it| it.as_ref().map_or((!is_allow).into(), &holds));
        if is_allow { Holds::all(each) } else { Holds::any(each) }
    }
}
