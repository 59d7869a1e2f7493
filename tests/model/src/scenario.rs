//! A scenario: the actors, what they may do, and how often something may go wrong.

use toolwright_core::tool::Effect;
use toolwright_policy::policy::PolicyDecision;

use crate::reading::{OTHER_RUN, RUN};
use crate::switches::{Switch, Switches};

/// One call of the turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Call {
    /// The effect of its tool. Each effect has a tool of its own.
    pub effect: Effect,
    /// The policy's decision about it, at first and after each change.
    pub policies: &'static [Policy],
}

/// The decision of a policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Policy {
    /// The call runs.
    Allow,
    /// A person or a grant decides.
    Ask,
    /// A person decides each time.
    AskEachTime,
    /// The call does not run.
    Deny,
    /// The call is planned, and runs once its plan is accepted.
    Plan,
}

impl Policy {
    /// Returns the decision as the executor knows it.
    #[must_use]
    pub fn decision(self) -> PolicyDecision {
        let ask = |grants_count| PolicyDecision::Ask { reasons: vec!["asks".into()], grants_count };
        match self {
            Self::Allow => PolicyDecision::Allow,
            Self::Ask => ask(true),
            Self::AskEachTime => ask(false),
            Self::Deny => PolicyDecision::Deny { reason: "denied".to_owned() },
            Self::Plan => PolicyDecision::Queue,
        }
    }
}

/// How often each mishap may still happen. It is part of a state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Budget {
    /// Processes that crash.
    pub crashes: u8,
    /// Leases that lapse although their owner is running.
    pub lapses: u8,
    /// Times that the clock passes the deadlines of approvals.
    pub deadlines: u8,
    /// Commits that succeed without a reply.
    pub unheard: u8,
    /// New versions of the tools.
    pub changes: u8,
    /// Changes of the policy.
    pub policies: u8,
    /// Times that a stage delays a call.
    pub delays: u8,
    /// Rewrites of a record by an adversary.
    pub rewrites: u8,
}

/// What an adversary does who writes the journal without a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Rewrite {
    /// The record shows other arguments.
    Show,
    /// The arguments are marked as sealed, so that nothing can compare them, or as plain again.
    Hide,
    /// The arguments that would run are replaced by the other ones.
    Swap,
    /// The digest is recomputed from the record.
    Digest,
    /// The call is moved to the other run.
    Move,
    /// The history is made to say that the policy allows the call.
    Allow,
    /// An approval of the same call from another journal is added.
    Approve,
}

/// What the stages of the application may decide about a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum StageSays {
    /// Let it begin.
    Continue,
    /// Delay it.
    Later,
    /// Answer it, so that it does not begin.
    Answer,
    /// Refuse it.
    Refuse,
}

/// How a tool body ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// With a result.
    Result,
    /// Nothing happened.
    NotStarted,
    /// It may have acted.
    Transient,
    /// With an error for the model.
    Final,
    /// With an unknown outcome, as after a panic.
    Unknown,
    /// Its task is dropped, because its caller has gone.
    Dropped,
}

/// What a person may say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// Let the call run.
    Approve,
    /// Let the call run, and one call like it.
    Grant,
    /// Revoke a grant.
    Revoke,
    /// Let the call run with other arguments.
    Edit,
    /// Reject the call.
    Reject,
    /// Accept its plan.
    Accept,
    /// An indeterminate call happened.
    Happened,
    /// An indeterminate call did not happen.
    DidNotHappen,
    /// An indeterminate call did not happen, signed with an untrusted key.
    Forged,
    /// Requeue a dead letter.
    Requeue,
    /// Requeue a dead letter with other arguments.
    RequeueEdited,
    /// Requeue a dead letter, signed with an untrusted key.
    ForgedRequeue,
    /// Discard a dead letter.
    Discard,
}

/// A scenario to explore.
#[derive(Debug, Clone)]
pub struct Scenario {
    /// A name for reports.
    pub name: &'static str,
    /// The calls of the turn, three at most.
    pub calls: Vec<Call>,
    /// How many workers there are, three at most.
    pub workers: u8,
    /// How often a call is attempted in one generation.
    pub attempts: u8,
    /// How many generations are explored.
    pub generations: u8,
    /// The mishaps.
    pub budget: Budget,
    /// How tool bodies may end.
    pub outcomes: Vec<Outcome>,
    /// What people may say.
    pub verdicts: Vec<Verdict>,
    /// Whether the run is ended.
    pub ends_run: bool,
    /// Whether tools find out what became of their calls.
    pub reconciles: bool,
    /// Whether an owner that has lost its lease may continue and act for a while, as a paused process does.
    pub late_owners_act: bool,
    /// What stages may decide. If it is empty, there are no stages.
    pub stages: &'static [StageSays],
    /// What an adversary does who writes the journal. If it is empty, there is none.
    pub rewrites: &'static [Rewrite],
    /// Whether the arguments hold a secret, so that they are sealed.
    pub is_sealed: bool,
    /// Whether the second call belongs to another run.
    pub has_two_runs: bool,
    /// Whether the calls are external, with results that the processes supply.
    pub is_external: bool,
    /// Whether the application makes every failed call a dead letter.
    pub lays_failures_aside: bool,
    /// Which checks are missing.
    pub switches: Switches,
}

impl Scenario {
    /// Returns the scenario without some checks.
    #[must_use]
    pub fn without(mut self, switches: &[Switch]) -> Self {
        self.switches = Switches::of(switches);
        self
    }

    /// Returns whether a check is missing.
    #[must_use]
    pub fn lacks(&self, switch: Switch) -> bool {
        self.switches.has(switch)
    }

    /// Returns the run in which a call is made.
    #[must_use]
    pub fn run_of(&self, place: u32) -> &'static str {
        if self.has_two_runs && place > 0 { OTHER_RUN } else { RUN }
    }

    /// Returns the policy's decision about a call after this many changes of the policy.
    #[must_use]
    pub fn policy(&self, place: u32, changes: u8) -> Policy {
        let policies = self.calls.get(place as usize).map_or(&[][..], |call| call.policies);
        let now = usize::from(changes).min(policies.len().saturating_sub(1));
        policies.get(now).copied().unwrap_or(Policy::Deny)
    }
}
