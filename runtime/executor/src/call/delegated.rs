//! The context that calls inherit from the agents on whose behalf they are made: the names of the agents, and rules
//! that can only make decisions stricter.

use std::any::Any;
use std::sync::Arc;

use toolwright_policy::policy::{Evaluation, Policy, PolicyDecision};

#[derive(Default)]
pub(crate) struct DelegatedContext {
    /// The names of the agents, each preceded by a slash.
    path: String,
    /// The policies of the agents that have one, the outermost first.
    rules: Vec<Policy>,
    inherited: Option<Arc<dyn Any + Send + Sync>>,
}

impl DelegatedContext {
    /// Returns the context of the calls that a further agent makes.
    pub(crate) fn below(
        above: Option<&Self>,
        agent: &str,
        policy: Option<Policy>,
        inherited: Option<Arc<dyn Any + Send + Sync>>,
    ) -> Self {
        let mut rules = above.map_or_else(Vec::new, |it| it.rules.clone());
        rules.extend(policy);
        let path = format!("{}/{agent}", above.map_or("", |it| &it.path));
        Self { path, rules, inherited }
    }

    pub(super) fn path(&self) -> &str {
        &self.path
    }

    /// Returns whether none of the agents has a policy of its own.
    pub(super) fn has_no_rules(&self) -> bool {
        self.rules.is_empty()
    }

    /// Returns whether an agent has rules that depend on the untrusted sources that the run has read.
    pub(super) fn asks_what_was_read(&self) -> bool {
        self.rules.iter().any(Policy::looks_at_what_was_read)
    }

    /// Returns whether the policy of an agent has `four_eyes`.
    pub(super) fn has_four_eyes(&self) -> bool {
        self.rules.iter().any(Policy::four_eyes)
    }

    /// Returns the value that the calling agent has passed to its calls.
    pub(crate) fn inherited(&self) -> Option<&Arc<dyn Any + Send + Sync>> {
        self.inherited.as_ref()
    }

    /// Evaluates the policies of the agents with `by`. Returns the strictest of their decisions and `evaluation`.
    pub(super) fn stricter(
        &self,
        evaluation: Evaluation,
        by: impl Fn(&Policy) -> Evaluation,
    ) -> Evaluation {
        self.rules.iter().fold(evaluation, |evaluation, policy| {
            let Evaluation { verdict, rules, .. } = by(policy);
            let mut joined = evaluation;
            joined.rules.extend(rules);
            joined.verdict = strictest(joined.verdict, verdict);
            joined
        })
    }
}

/// Returns the stricter of two decisions.
fn strictest(one: PolicyDecision, other: PolicyDecision) -> PolicyDecision {
    use PolicyDecision::{Allow, Ask, Deny, Queue};
    match (one, other) {
        (Deny { reason }, _) | (_, Deny { reason }) => Deny { reason },
        (Queue, _) | (_, Queue) => Queue,
        (Ask { mut reasons, grants_count }, Ask { reasons: more, grants_count: also_counts }) => {
            reasons.extend(more.into_iter().filter(|it| !reasons.contains(it)).collect::<Vec<_>>());
            Ask { reasons, grants_count: grants_count && also_counts }
        }
        (ask @ Ask { .. }, Allow) | (Allow, ask @ Ask { .. }) => ask,
        (Allow, Allow) => Allow,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(reason: &str, grants_count: bool) -> PolicyDecision {
        PolicyDecision::Ask { reasons: vec![reason.to_owned()], grants_count }
    }

    #[test]
    fn the_stricter_of_two_decisions_counts_whichever_comes_first() {
        let deny = || PolicyDecision::Deny { reason: "no".to_owned() };
        let ordered = [PolicyDecision::Allow, ask("a", true), PolicyDecision::Queue, deny()];
        for (strict, one) in ordered.iter().enumerate() {
            for (stricter, other) in ordered.iter().enumerate() {
                let expected = &ordered[strict.max(stricter)];
                assert_eq!(&strictest(one.clone(), other.clone()), expected);
            }
        }
        let both = PolicyDecision::Ask {
            reasons: vec!["a".to_owned(), "b".to_owned()],
            grants_count: false,
        };
        assert_eq!(strictest(ask("a", true), ask("b", false)), both);
    }
}
