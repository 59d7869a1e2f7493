//! What is explored: who there is, what they may do, and how often something may go wrong.

use toolwright_core::tool::Effect;
use toolwright_policy::policy::PolicyDecision;

use crate::reading::{OTHER_RUN, RUN};
use crate::switches::{Switch, Switches};

/// One call of the turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Call {
    /// The effect of its tool, which is another tool for each effect.
    pub effect: Effect,
    /// What the policy says of it, and what it says after each of its changes.
    pub policies: &'static [Policy],
}

/// What a policy says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Policy {
    /// It runs.
    Allow,
    /// A person or a grant decides.
    Ask,
    /// A person decides each time.
    AskEachTime,
    /// It does not run.
    Deny,
    /// It is planned first. Where its plan is accepted, it runs.
    Plan,
}

impl Policy {
    /// The decision.
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

/// How often something happens that nobody wants; what is left of it is part of a state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Budget {
    /// Processes that lose their memory.
    pub crashes: u8,
    /// Leases that lapse although their owner lives.
    pub lapses: u8,
    /// Times that the clock passes the deadlines of approvals.
    pub deadlines: u8,
    /// Commits that stand although nobody hears of it.
    pub unheard: u8,
    /// New versions of the tools.
    pub changes: u8,
    /// Changes of the policy.
    pub policies: u8,
    /// Times that a stage lets a call begin later.
    pub delays: u8,
    /// Times that somebody who writes the journal rewrites a record.
    pub rewrites: u8,
}

/// What somebody does who writes the journal, without a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Rewrite {
    /// The record shows the other arguments.
    Show,
    /// The arguments are marked as sealed, so that nobody can compare them, or plain again.
    Hide,
    /// The other arguments are put in the place of those that would run.
    Swap,
    /// The digest is that of what the record says now.
    Digest,
    /// The call is one of the other run.
    Move,
    /// The history says that the policy lets the call run.
    Allow,
    /// An approval of the same call that a person gave in another journal is put in.
    Approve,
}

/// What the stages of the application may say of a call that may run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum StageSays {
    /// It begins.
    Continue,
    /// It may begin later.
    Later,
    /// It has an answer, and does not begin.
    Answer,
    /// It does not begin.
    Refuse,
}

/// How a body ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// With a result.
    Result,
    /// Nothing happened.
    NotStarted,
    /// It may have acted.
    Transient,
    /// With an error that the model should see.
    Final,
    /// As after a panic.
    Unknown,
    /// Its task is dropped, because whoever waited for it has gone.
    Dropped,
}

/// What a person may say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// It may run.
    Approve,
    /// It may run, and one call like it.
    Grant,
    /// A grant does not count any more.
    Revoke,
    /// It may run with other arguments.
    Edit,
    /// It must not run.
    Reject,
    /// Its plan is accepted.
    Accept,
    /// An indeterminate call happened.
    Happened,
    /// It did not.
    DidNotHappen,
    /// That it did not, signed with a key that does not count.
    Forged,
    /// A dead call is tried again.
    Requeue,
    /// A dead call is tried again with other arguments.
    RequeueEdited,
    /// A dead call is tried again, signed with a key that does not count.
    ForgedRequeue,
    /// It is put away.
    Discard,
}

/// What is explored.
#[derive(Debug, Clone)]
pub struct Scenario {
    /// A word for reports.
    pub name: &'static str,
    /// The calls of the turn, three at most.
    pub calls: Vec<Call>,
    /// How many workers there are, three at most.
    pub workers: u8,
    /// How often a call is begun in one generation.
    pub attempts: u8,
    /// How many generations are explored.
    pub generations: u8,
    /// How often something goes wrong.
    pub budget: Budget,
    /// How bodies end.
    pub outcomes: Vec<Outcome>,
    /// What people say.
    pub verdicts: Vec<Verdict>,
    /// Whether somebody ends the run.
    pub ends_run: bool,
    /// Whether tools find out what became of their calls.
    pub reconciles: bool,
    /// Whether an owner whose lease is lost may begin and act for a while, as a paused process does.
    pub late_owners_act: bool,
    /// What stages say; there are none where they say nothing.
    pub stages: &'static [StageSays],
    /// What somebody does who writes the journal; there is none where this is empty.
    pub rewrites: &'static [Rewrite],
    /// Whether the arguments hold a secret, so that they are sealed.
    pub is_sealed: bool,
    /// Whether the second call is one of another run.
    pub has_two_runs: bool,
    /// Whether the calls are carried out elsewhere, and their results supplied by the processes that hear of them.
    pub is_external: bool,
    /// Whether the application lays every failed call aside as a dead letter.
    pub lays_failures_aside: bool,
    /// Which checks are missing.
    pub switches: Switches,
}

impl Scenario {
    /// The same without some checks.
    #[must_use]
    pub fn without(mut self, switches: &[Switch]) -> Self {
        self.switches = Switches::of(switches);
        self
    }

    /// Whether a check is missing.
    #[must_use]
    pub fn lacks(&self, switch: Switch) -> bool {
        self.switches.has(switch)
    }

    /// The run of a call, as it is made.
    #[must_use]
    pub fn run_of(&self, place: u32) -> &'static str {
        if self.has_two_runs && place > 0 { OTHER_RUN } else { RUN }
    }

    /// What the policy says of a call after so many of its changes.
    #[must_use]
    pub fn policy(&self, place: u32, changes: u8) -> Policy {
        let policies = self.calls.get(place as usize).map_or(&[][..], |call| call.policies);
        let now = usize::from(changes).min(policies.len().saturating_sub(1));
        policies.get(now).copied().unwrap_or(Policy::Deny)
    }
}
