//! The explanation of a decision: its origins, and the effects of the tool, the rules and the mode.

use std::fmt;

use serde::Serialize;

use super::judged::{DeclaredAccess, Evaluation, PolicyDecision, RuleEffect, RuleMatch};
use super::mode::{Mode, ModeSays};
use super::question::Question;
use super::undeclared::UndeclaredTool;
use toolwright_core::tool::Danger;

/// The reasons for a policy's decision. The text form is for people, the serialised form for programs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Explanation {
    /// The tool's name.
    pub tool: String,
    /// The decision.
    #[serde(flatten)]
    pub verdict: PolicyDecision,
    /// The rules that match, the strongest first.
    pub rules: Vec<RuleMatch>,
    /// The files that each rule matches, for a call that itself declares several files.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<MatchedFiles>,
    /// The message that the tool does not declare its files, if protections ask only for that reason.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undeclared: Option<UndeclaredTool>,
    /// The files that rules declare as touched, for a call that does not declare its files.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub touches: Vec<DeclaredAccess>,
    /// The commands in the call's command lines.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<ExplainedCommand>,
    /// Why the tool itself asks for approval.
    pub tool_asks: Option<String>,
    /// The mode.
    pub mode: Mode,
    /// The danger of the call.
    pub danger: Danger,
    /// The effect of the mode on calls of that danger.
    pub mode_says: ModeSays,
    /// Whether calls that change something are put into a plan first.
    pub plan: bool,
}

/// The files of a call that a rule matches.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct MatchedFiles {
    /// The rule's name.
    pub rule: String,
    /// The files, relative to the base folder.
    pub files: Vec<String>,
}

/// A command in a command line, and the rules that match the command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ExplainedCommand {
    /// The part of the command line that contains the command.
    pub part: String,
    /// The program of the command; `None` if it is unknown before the line runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
    /// The names of the rules that match this command.
    pub rules: Vec<String>,
    /// A note about the line instead of a command: why a part of it is unknown, what it does besides running programs,
    /// or what makes it dangerous.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

impl Explanation {
    pub(super) fn new(
        judged: Evaluation,
        mode: Mode,
        plan: bool,
        question: &Question<'_>,
        files: Vec<MatchedFiles>,
        commands: Vec<ExplainedCommand>,
    ) -> Self {
        Self {
            tool: question.tool.to_owned(),
            verdict: judged.verdict,
            rules: judged.rules,
            files,
            undeclared: judged.undeclared,
            touches: judged.touches,
            commands,
            tool_asks: question.approval.map(ToOwned::to_owned),
            mode,
            danger: question.danger,
            mode_says: judged.mode,
            plan: plan && !question.accepted,
        }
    }

    /// Names the origins of the decision: `tool`, names of rules, `mode` or `plan`.
    #[must_use]
    pub fn because(&self) -> Vec<&str> {
        let mut because = Vec::new();
        if let PolicyDecision::Ask { .. } = self.verdict {
            because.extend(self.tool_asks.as_ref().map(|_| "tool"));
        }
        let rules = self.rules.iter().filter(|it| self.is_decisive(it.says));
        because.extend(rules.map(|it| &*it.rule));
        let is_allowed = self.rules.iter().any(|it| it.says == RuleEffect::Allow);
        match self.verdict {
            PolicyDecision::Queue => because.push("plan"),
            PolicyDecision::Ask { .. } if self.mode_says == ModeSays::Ask && !is_allowed => {
                because.push("mode");
            }
            PolicyDecision::Ask { .. } => {}
            PolicyDecision::Deny { .. } | PolicyDecision::Allow if because.is_empty() => {
                because.push("mode")
            }
            PolicyDecision::Deny { .. } | PolicyDecision::Allow => {}
        }
        because
    }

    /// Whether a rule with this effect contributed to the decision.
    fn is_decisive(&self, says: RuleEffect) -> bool {
        match self.verdict {
            PolicyDecision::Deny { .. } => says == RuleEffect::Deny,
            PolicyDecision::Ask { .. } => matches!(says, RuleEffect::Ask | RuleEffect::AlwaysAsk),
            // An allowed call matches only rules that allow. Such a rule contributes only if the mode would have asked.
            PolicyDecision::Allow => self.mode_says == ModeSays::Ask,
            PolicyDecision::Queue => false,
        }
    }
}

impl fmt::Display for Explanation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tool = &self.tool;
        match &self.verdict {
            PolicyDecision::Allow => write!(formatter, "`{tool}` runs")?,
            PolicyDecision::Ask { grants_count: true, .. } => {
                write!(formatter, "`{tool}` needs a person's decision, or a grant that covers it")?;
            }
            PolicyDecision::Ask { grants_count: false, .. } => {
                write!(formatter, "`{tool}` needs a person's decision; a grant does not count")?;
            }
            PolicyDecision::Deny { .. } => write!(formatter, "`{tool}` is refused")?,
            PolicyDecision::Queue => write!(formatter, "`{tool}` is put into the plan")?,
        }
        let asks = matches!(self.verdict, PolicyDecision::Ask { .. });
        if let Some(reason) = &self.tool_asks {
            let verb = if asks { "asks" } else { "would ask" };
            write!(formatter, "\n- the tool {verb}: {reason}")?;
        }
        let is_told = |said: &RuleMatch| self.undeclared.as_ref().is_some_and(|it| it.covers(said));
        for said in self.rules.iter().filter(|it| !is_told(it)) {
            let (does, would) = match said.says {
                RuleEffect::Deny => ("denies it", "would deny it"),
                RuleEffect::AlwaysAsk => ("asks each time", "would ask each time"),
                RuleEffect::Ask => ("asks", "would ask"),
                RuleEffect::Allow => ("allows it", "would allow it"),
            };
            let verb = if self.is_decisive(said.says) { does } else { would };
            write!(formatter, "\n- rule `{}` {verb}: {}", said.rule, said.words())?;
            if let Some(matched) = self.files.iter().find(|it| *it.rule == *said.rule) {
                write!(formatter, " (`{}`)", matched.files.join("`, `"))?;
            }
            if !said.certain {
                write!(formatter, " (whether it matches is unknown, so it counts)")?;
            }
        }
        if let Some(undeclared) = &self.undeclared {
            let verb = match (asks, undeclared.rules.len()) {
                (true, 1) => "asks",
                (true, _) => "ask",
                (false, _) => "would ask",
            };
            let rules = if undeclared.rules.len() == 1 { "rule" } else { "rules" };
            let names = undeclared.rules.join("`, `");
            write!(formatter, "\n- {rules} `{names}` {verb}: {undeclared}")?;
        }
        for DeclaredAccess { rule, reads, writes } in &self.touches {
            let listed = |files: &[String]| match files {
                [] => "nothing".to_owned(),
                some => format!("`{}`", some.join("`, `")),
            };
            let (reads, writes) = (listed(reads), listed(writes));
            write!(formatter, "\n- rule `{rule}` says that it reads {reads} and writes {writes}")?;
        }
        for command in &self.commands {
            match &command.note {
                Some(note) => write!(formatter, "\n- of the command line: {note}")?,
                None => write!(formatter, "\n- the command line runs `{}`", command.part)?,
            }
            if command.note.is_none() && !command.rules.is_empty() {
                write!(formatter, ", which rule `{}` matches", command.rules.join("`, `"))?;
            }
        }
        let denied_by_rule = self.rules.iter().any(|it| it.says == RuleEffect::Deny);
        let allowed = self.rules.iter().find(|it| it.says == RuleEffect::Allow);
        let calls = format!("{} calls", self.danger.as_str());
        write!(formatter, "\n- the mode `{}` ", self.mode)?;
        match (self.mode_says, &self.verdict) {
            (ModeSays::Deny, _) if !denied_by_rule => write!(formatter, "refuses {calls}")?,
            (ModeSays::Deny, _) => write!(formatter, "would refuse {calls}")?,
            (ModeSays::Ask, PolicyDecision::Ask { .. }) if allowed.is_none() => {
                write!(formatter, "asks about {calls}")?;
            }
            (ModeSays::Ask, _) => write!(formatter, "would ask about {calls}")?,
            (ModeSays::Allow, _) => write!(formatter, "lets {calls} run")?,
        }
        if let (ModeSays::Ask, Some(allowed)) = (self.mode_says, allowed) {
            write!(formatter, ", which rule `{}` silences", allowed.rule)?;
        }
        if self.plan {
            formatter.write_str("\n- what changes something is planned first")?;
        }
        Ok(())
    }
}
