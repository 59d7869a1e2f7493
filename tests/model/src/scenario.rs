//! What is explored: who there is, what they may do, and how often something may go wrong.

use toolwright::Effect;

use crate::switches::Switches;

/// One call of the turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Call {
    /// The effect of its tool.
    pub effect: Effect,
    /// Whether a person has to decide.
    pub asks: bool,
}

/// How often something happens that nobody wants; what is left of it is part of a state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Budget {
    /// Workers that lose their memory.
    pub crashes: u8,
    /// Leases that lapse although their owner lives.
    pub lapses: u8,
    /// Deadlines that pass.
    pub deadlines: u8,
    /// Commits that stand although nobody hears of it.
    pub unheard: u8,
    /// New versions of the tools.
    pub changes: u8,
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
    /// Whoever waited for it has gone.
    GivenUp,
}

/// What a person may say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// It may run.
    Approve,
    /// It may run with other arguments.
    Edit,
    /// It must not run.
    Reject,
    /// An indeterminate call happened.
    Happened,
    /// It did not.
    DidNotHappen,
    /// That it did not, by somebody who has no say.
    Forged,
    /// A dead call is tried again.
    Requeue,
    /// It is put away.
    Discard,
}

/// What is explored.
#[derive(Debug, Clone)]
pub struct Scenario {
    /// A word for reports.
    pub name: &'static str,
    /// The calls of the turn, two at most.
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
    /// Whether an owner whose lease is lost may begin and act for a while, as a paused process does.
    pub late_owners_act: bool,
    /// Which guards are missing.
    pub switches: Switches,
}

impl Scenario {
    /// The same without some guards.
    #[must_use]
    pub fn without(mut self, switches: &[crate::switches::Switch]) -> Self {
        self.switches = Switches::of(switches);
        self
    }
}
