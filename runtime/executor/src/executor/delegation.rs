//! Calls that a call makes on behalf of an agent: they can use only some of the tools, and further rules apply to
//! them.
//!
//! A delegation gives no rights: it removes tools from the catalog and adds none, and its rules only make decisions
//! stricter.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use super::run::Run;
use crate::attempt::Children;
use crate::call::DelegatedContext;
use crate::catalog::Profile;
use crate::event::{Listener, ToolEvent};
use toolwright_core::calls::Calls;
use toolwright_policy::policy::Policy;

/// The settings and values that a call passes to the calls that it makes on behalf of an agent.
#[doc(hidden)]
pub struct Delegation {
    agent: String,
    profile: Profile,
    policy: Option<Policy>,
    inherited: Option<Arc<dyn Any + Send + Sync>>,
    listener: Option<Listener>,
}

/// A run on behalf of an agent, with the value that makes calls in it.
#[doc(hidden)]
pub struct DelegatedRun {
    /// The run of the agent, with its tools, user and services. A call that is made with this run directly is not a
    /// child of the delegating call.
    pub run: Run,
    /// Makes calls as children of the delegating call.
    pub calls: Calls,
}

impl Delegation {
    /// Makes a delegation to the agent of this name, which may call only the tools that the profile selects.
    #[must_use]
    pub fn to(agent: impl Into<String>, profile: Profile) -> Self {
        Self { agent: agent.into(), profile, policy: None, inherited: None, listener: None }
    }

    /// Adds a policy for these calls. The stricter of its decision and the decision of the executor's policy is used.
    #[must_use]
    pub fn policy(mut self, policy: Option<Policy>) -> Self {
        self.policy = policy;
        self
    }

    /// Passes this value to the calls, which read it with [`inherited`].
    #[must_use]
    pub fn inherited(mut self, value: Arc<dyn Any + Send + Sync>) -> Self {
        self.inherited = Some(value);
        self
    }

    /// Sends the events of the calls to this listener instead of the run's listener.
    #[must_use]
    pub fn listen(mut self, listener: impl Fn(&ToolEvent<'_>) + Send + Sync + 'static) -> Self {
        self.listener = Some(Box::new(listener));
        self
    }

    /// Returns the same run on behalf of the agent. Its calls are limited to the selected tools, and the policy of this
    /// delegation evaluates them as well. Everything else stays the same. A listener of [`listen`](Self::listen) is not
    /// used.
    #[must_use]
    pub fn of_run(self, run: &Run) -> Run {
        let state = &run.state;
        let catalog = state.ready.current().within(&self.profile, |name| state.may_call(name));
        let delegated =
            DelegatedContext::below(state.delegated(), &self.agent, self.policy, self.inherited);
        Run { state: Arc::new(state.pinned(&catalog).handed_to(delegated)) }
    }

    /// Returns a run on behalf of the agent, whose calls are children of the call that owns `calls`. Returns `None` if
    /// `calls` cannot make calls.
    #[must_use]
    pub fn of(self, calls: &Calls) -> Option<DelegatedRun> {
        let children = children(calls)?;
        let run = children.run();
        let may_call = |name: &str| run.may_call(name);
        let catalog = run.ready.current().within(&self.profile, may_call);
        let delegated =
            DelegatedContext::below(run.delegated(), &self.agent, self.policy, self.inherited);
        let narrowed = run.pinned(&catalog).on_behalf_of(delegated, self.listener);
        let narrowed = Arc::new(narrowed);
        let calls = Calls::new(Arc::new(children.of_run(&narrowed)));
        Some(DelegatedRun { run: Run { state: narrowed }, calls })
    }
}

/// Returns the value of [`Delegation::inherited`] that an agent passed to these calls.
#[doc(hidden)]
#[must_use]
pub fn inherited<T: Send + Sync + 'static>(calls: &Calls) -> Option<Arc<T>> {
    let run = children(calls)?.run();
    Arc::downcast(Arc::clone(run.delegated()?.inherited()?)).ok()
}

/// Returns the run to which these calls belong, with its user and its tools.
#[doc(hidden)]
#[must_use]
pub fn run_of(calls: &Calls) -> Option<Run> {
    let state = Arc::clone(children(calls)?.run());
    Some(Run { state })
}

fn children(calls: &Calls) -> Option<&Children> {
    calls.made_by()?.downcast_ref()
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
