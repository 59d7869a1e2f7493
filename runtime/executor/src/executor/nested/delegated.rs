//! Calls that a call makes on behalf of an agent of its own: of a part of the tools that it may call, and judged by more rules.
//!
//! Nothing here gives a right: a catalog is narrowed and never widened, and a rule adds an objection and never takes one away.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use super::children::Children;
use crate::catalog::Profile;
use crate::event::{Listener, ToolEvent};
use crate::executor::{Run, RunState};
use toolwright_core::calls::Calls;
use toolwright_policy::policy::{Evaluation, Policy, PolicyDecision};

/// What a call hands down to the calls that it makes on behalf of an agent.
#[doc(hidden)]
pub struct Delegation {
    agent: String,
    profile: Profile,
    policy: Option<Policy>,
    inherited: Option<Arc<dyn Any + Send + Sync>>,
    listener: Option<Listener>,
}

/// What the calls of a run have from the agents on whose behalf they are made.
#[derive(Default)]
pub(crate) struct Delegated {
    /// The names of the agents, each behind a slash.
    path: String,
    /// The rules of each of them.
    rules: Vec<Policy>,
    inherited: Option<Arc<dyn Any + Send + Sync>>,
}

/// What makes calls on behalf of an agent.
#[doc(hidden)]
pub struct DelegatedRun {
    /// The run in which they are made: its tools, user and services. What it calls itself is no child of the call.
    pub run: Run,
    /// Makes the calls.
    pub calls: Calls,
}

impl Delegation {
    /// On behalf of an agent of this name, of the tools that the profile selects.
    #[must_use]
    pub fn to(agent: impl Into<String>, profile: Profile) -> Self {
        Self { agent: agent.into(), profile, policy: None, inherited: None, listener: None }
    }

    /// Judges the calls by this policy too: the stricter decision counts.
    #[must_use]
    pub fn policy(mut self, policy: Option<Policy>) -> Self {
        self.policy = policy;
        self
    }

    /// Hands this down to the calls, which find it by [`inherited`].
    #[must_use]
    pub fn inherited(mut self, value: Arc<dyn Any + Send + Sync>) -> Self {
        self.inherited = Some(value);
        self
    }

    /// Notifies this listener of the calls, in place of the one of the run.
    #[must_use]
    pub fn listen(mut self, listener: impl Fn(&ToolEvent<'_>) + Send + Sync + 'static) -> Self {
        self.listener = Some(Box::new(listener));
        self
    }

    /// Makes calls on behalf of the agent; nothing for [`Calls`] that call nothing.
    #[must_use]
    pub fn of(self, calls: &Calls) -> Option<DelegatedRun> {
        let children = children(calls)?;
        let run = children.run();
        let may_call = |name: &str| run.may_call(name);
        let catalog = run.ready.current().within(&self.profile, may_call);
        let before = run.delegated();
        let mut rules = before.map_or_else(Vec::new, |it| it.rules.clone());
        rules.extend(self.policy);
        let path = format!("{}/{}", before.map_or("", |it| &it.path), self.agent);
        let delegated = Delegated { path, rules, inherited: self.inherited };
        let narrowed = run.pinned(&catalog).on_behalf_of(delegated, self.listener);
        let narrowed = Arc::new(narrowed);
        let calls = Calls::new(Arc::new(children.of_run(&narrowed)));
        Some(DelegatedRun { run: Run { state: narrowed }, calls })
    }
}

/// What the agent has handed down on whose behalf these calls are made.
#[doc(hidden)]
#[must_use]
pub fn inherited<T: Send + Sync + 'static>(calls: &Calls) -> Option<Arc<T>> {
    let run = children(calls)?.run();
    Arc::downcast(Arc::clone(run.delegated()?.inherited.as_ref()?)).ok()
}

/// The user and the tools of the run in which these calls are made.
#[doc(hidden)]
#[must_use]
pub fn run_of(calls: &Calls) -> Option<Run> {
    let state = Arc::clone(children(calls)?.run());
    Some(Run { state })
}

fn children(calls: &Calls) -> Option<&Children> {
    calls.made_by()?.downcast_ref()
}

impl Delegated {
    /// The names of the agents, each behind a slash.
    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    pub(crate) fn rules(&self) -> &[Policy] {
        &self.rules
    }
}

impl RunState {
    /// Adds the decisions of the agents' own rules: the strictest counts.
    pub(crate) fn stricter(
        &self,
        evaluation: Evaluation,
        by: impl Fn(&Policy) -> Evaluation,
    ) -> Evaluation {
        let own = self.delegated().map_or(&[][..], Delegated::rules);
        own.iter().fold(evaluation, |evaluation, policy| {
            let Evaluation { verdict, rules, .. } = by(policy);
            let mut joined = evaluation;
            joined.rules.extend(rules);
            joined.verdict = strictest(joined.verdict, verdict);
            joined
        })
    }
}

/// Of two decisions the one that lets less through.
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

impl fmt::Debug for Delegation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Delegation").field("agent", &self.agent).finish_non_exhaustive()
    }
}

impl fmt::Debug for DelegatedRun {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("DelegatedRun").field("run", &self.run).finish_non_exhaustive()
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
