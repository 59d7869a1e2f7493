//! The decision of a policy on a call, with the reasons for the decision.

use std::sync::Arc;

use serde::{Deserialize, Serialize, Serializer};

use super::foreign::in_words;
use super::mode::{Mode, ModeSays};
use super::question::Question;
use super::undeclared::UndeclaredTool;
use toolwright_core::tool::Effect;

/// The decision of a policy on a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "verdict")]
pub enum PolicyDecision {
    /// The call may run without a person's decision.
    Allow,
    /// A person decides.
    Ask {
        /// The reasons, at least one.
        reasons: Vec<String>,
        /// Whether a grant that covers the call is sufficient.
        grants_count: bool,
    },
    /// The call is refused.
    Deny {
        /// Why the call is refused.
        reason: String,
    },
    /// The call is added to a plan, which a person has to accept before the call runs.
    Queue,
}

/// The evaluation of one call: the decision, and the rules and facts that led to it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Evaluation {
    /// The decision.
    pub verdict: PolicyDecision,
    /// The rules that match the call, the strongest first.
    pub rules: Vec<RuleMatch>,
    /// The message that the tool does not declare its files, if protections ask only for that reason.
    pub undeclared: Option<UndeclaredTool>,
    /// The effect of the mode.
    pub mode: ModeSays,
    /// The files that rules declare as touched, for a call that does not declare its files.
    pub touches: Vec<DeclaredAccess>,
}

/// A rule that matches a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct RuleMatch {
    /// The rule's name.
    #[serde(serialize_with = "text")]
    pub rule: Arc<str>,
    /// The effect of the rule.
    pub says: RuleEffect,
    /// The reason of the rule.
    #[serde(serialize_with = "text")]
    pub reason: Arc<str>,
    /// Whether the rule certainly matches. A rule that denies or asks can have an effect even if this is uncertain.
    pub certain: bool,
    /// The matching sources, for a rule about untrusted sources. The list is empty if it is unknown what the run has
    /// read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub untrusted: Option<Vec<String>>,
    /// The parameters that leave the machine, for a rule about calls that send data.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sinks: Vec<String>,
}

impl RuleMatch {
    /// Returns the rule's reason, with the untrusted sources and the parameters that it matches.
    pub(super) fn words(&self) -> String {
        let read = self.untrusted.as_ref().map(|sources| match sources.is_empty() {
            true => "it is not known what the run has read".to_owned(),
            false => format!("the run has read text of {}", in_words(sources)),
        });
        let sent = (!self.sinks.is_empty()).then(|| {
            let verb = if self.sinks.len() == 1 { "leaves" } else { "leave" };
            format!("`{}` {verb} the machine", self.sinks.join("`, `"))
        });
        let more: Vec<String> = read.into_iter().chain(sent).collect();
        match more.is_empty() {
            true => self.reason.to_string(),
            false => format!("{} ({})", self.reason, more.join("; ")),
        }
    }
}

/// The files that one rule declares for a call.
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

/// The effect of a rule on a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RuleEffect {
    /// The call is refused.
    Deny,
    /// A person must decide on the call, even if a grant covers it.
    AlwaysAsk,
    /// A person must decide on the call, unless a grant covers it.
    Ask,
    /// The mode does not ask about the call.
    Allow,
}

/// Combines the effects of the tool, the rules and the mode into a decision. Rules can only make the decision stricter,
/// except that a rule which allows cancels the mode's question.
///
/// The tool's own reason comes first among the reasons why a person is asked. If several protections ask because a call
/// does not declare its files, this counts as one reason.
pub(super) fn decide(
    rules: &[RuleMatch],
    undeclared: Option<&UndeclaredTool>,
    (mode, mode_says): (Mode, ModeSays),
    plan: bool,
    question: &Question<'_>,
) -> PolicyDecision {
    let said = |says: RuleEffect| rules.iter().filter(move |it| it.says == says);
    if let Some(denial) = said(RuleEffect::Deny).next() {
        return PolicyDecision::Deny { reason: denial.words() };
    }
    if mode_says == ModeSays::Deny {
        let danger = question.danger.as_str();
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
    reasons.extend(asks.filter(|it| !is_told(it)).map(RuleMatch::words));
    reasons.extend(undeclared.map(ToString::to_string));
    if mode_says == ModeSays::Ask && said(RuleEffect::Allow).next().is_none() {
        let danger = question.danger.as_str();
        reasons.push(format!("the mode `{mode}` asks about {danger} calls"));
    }
    if reasons.is_empty() {
        return PolicyDecision::Allow;
    }
    PolicyDecision::Ask { reasons, grants_count: said(RuleEffect::AlwaysAsk).next().is_none() }
}

fn text<S: Serializer>(text: &Arc<str>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(text)
}
