//! What a policy answers.

use std::sync::Arc;

use serde::{Serialize, Serializer};

use super::mode::{Mode, ModeSays};
use super::question::Question;
use super::undeclared::Undeclared;
use toolwright_core::tool::Effect;

/// What becomes of a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "verdict")]
pub enum PolicyDecision {
    /// It runs.
    Allow,
    /// A person decides.
    Ask {
        /// Why, at least one reason.
        reasons: Vec<String>,
        /// Whether a grant that covers the call is a decision.
        grants_count: bool,
    },
    /// It is refused.
    Deny {
        /// Why the call is refused.
        reason: String,
    },
    /// It is put into the plan, for a person to accept.
    Queue,
}

/// The answer about one call.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Evaluation {
    /// What becomes of it.
    pub verdict: PolicyDecision,
    /// The rules that match it, the strongest first.
    pub rules: Vec<RuleMatch>,
    /// That the call does not say which files it touches, where protections ask about it for that reason alone.
    pub undeclared: Option<Undeclared>,
    /// What the mode says.
    pub mode: ModeSays,
    /// What rules say that the call touches, where it does not say it itself.
    pub touches: Vec<DeclaredAccess>,
}

/// What one rule says of one call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct RuleMatch {
    /// The rule's name.
    #[serde(serialize_with = "text")]
    pub rule: Arc<str>,
    /// What it says.
    pub says: RuleEffect,
    /// The reason of the rule.
    #[serde(serialize_with = "text")]
    pub reason: Arc<str>,
    /// Whether it is certain that the rule matches. Where it is not, it counts all the same.
    pub certain: bool,
}

/// What one rule says that a call touches.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct DeclaredAccess {
    /// The rule's name.
    #[serde(serialize_with = "text")]
    pub rule: Arc<str>,
    /// The files and folders that are read.
    pub reads: Vec<String>,
    /// The files and folders that are written.
    pub writes: Vec<String>,
}

/// What a rule says of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RuleEffect {
    /// It is refused.
    Deny,
    /// A person decides, granted or not.
    AlwaysAsk,
    /// A person decides, or has granted it.
    Ask,
    /// The mode does not ask.
    Allow,
}

/// Decides, from what everybody says. A rule can only add an objection; an allow takes away the mode's question and
/// nothing else.
///
/// The tool's own reason is the first of those why a person is asked, and what the call does not say of its files is
/// one reason, however many protections want to know it.
pub(super) fn decide(
    rules: &[RuleMatch],
    undeclared: Option<&Undeclared>,
    mode: Mode,
    plan: bool,
    question: &Question<'_>,
) -> PolicyDecision {
    let said = |says: RuleEffect| rules.iter().filter(move |it| it.says == says);
    let mode_says = mode.says(question.danger);
    if let Some(denial) = said(RuleEffect::Deny).next() {
        return PolicyDecision::Deny { reason: denial.reason.to_string() };
    }
    if mode_says == ModeSays::Deny {
        let danger = danger_name(question.danger);
        return PolicyDecision::Deny {
            reason: format!("the mode `{mode}` refuses {danger} calls"),
        };
    }
    if plan && !question.accepted && question.effect != Effect::Read {
        return PolicyDecision::Queue;
    }
    let mut reasons: Vec<String> = question.approval.map(ToOwned::to_owned).into_iter().collect();
    let asks = said(RuleEffect::AlwaysAsk).chain(said(RuleEffect::Ask));
    let is_told = |it: &&RuleMatch| undeclared.is_some_and(|undeclared| undeclared.covers(it));
    reasons.extend(asks.filter(|it| !is_told(it)).map(|it| it.reason.to_string()));
    reasons.extend(undeclared.map(ToString::to_string));
    if mode_says == ModeSays::Ask && said(RuleEffect::Allow).next().is_none() {
        let danger = danger_name(question.danger);
        reasons.push(format!("the mode `{mode}` asks about {danger} calls"));
    }
    if reasons.is_empty() {
        return PolicyDecision::Allow;
    }
    PolicyDecision::Ask { reasons, grants_count: said(RuleEffect::AlwaysAsk).next().is_none() }
}

pub(super) fn danger_name(danger: toolwright_core::tool::Danger) -> &'static str {
    use toolwright_core::tool::Danger::{Critical, Dangerous, Moderate, Safe};

    match danger {
        Safe => "safe",
        Moderate => "moderate",
        Dangerous => "dangerous",
        Critical => "critical",
    }
}

fn text<S: Serializer>(text: &Arc<str>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(text)
}
