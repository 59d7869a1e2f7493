//! What a process knows while it looks at a call; a crash loses it. A process goes from one task to the next between
//! two actions of the driver: read, decide, commit, perform, record the result.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use jiff::Timestamp;
use toolwright_core::context::CallId;
use toolwright_executor::lifecycle::{By, Input, Snapshot, Step, ToolNow};
use toolwright_journal::journal::{CallRecord, Transaction};

use crate::digest;
use crate::scenario::Policy;

/// What a process is about to do.
#[derive(Debug, Clone)]
pub enum Task {
    /// It does nothing.
    Idle,
    /// It has read a call.
    Looking(Arc<Look>),
    /// The stages of the application look at its call.
    Staging(Arc<Look>),
    /// It has decided, and is about to commit.
    Decided(Arc<Decision>),
    /// Its claim is durable, and it runs the tool.
    Running(Arc<Running>),
}

/// A call that was read, and why.
#[derive(Debug, Clone)]
pub struct Look {
    /// What the process knows of the call.
    pub snapshot: Snapshot,
    /// Why it looks at the call.
    pub input: Input,
}

/// A decision, and the circumstances in which it was made.
#[derive(Debug, Clone)]
pub struct Decision {
    /// What it was made from.
    pub look: Look,
    /// The decision.
    pub step: Step,
    /// The circumstances.
    pub then: Circumstances,
}

/// The circumstances of a decision. Only the model knows them for certain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Circumstances {
    /// What the policy said.
    pub policy: Policy,
    /// Whether the deadline of the approval had passed.
    pub is_late: bool,
    /// Whether the deadline for supplying a result had passed.
    pub is_overdue: bool,
    /// Whether the grant that is used was valid.
    pub grant_counts: bool,
}

/// A running call.
#[derive(Debug, Clone)]
pub struct Running {
    /// The record as it was claimed.
    pub record: CallRecord,
    /// The tool at that time.
    pub tool: ToolNow,
    /// The process that runs it.
    pub by: By,
    /// How far it has come.
    pub phase: Phase,
    /// The claim, where the missing guard lets it run before the claim is durable.
    pub ahead: Option<Transaction>,
}

/// How far a running call has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Phase {
    /// Its body has not begun.
    Claimed,
    /// Its body has begun.
    Begun,
    /// Its body has acted.
    Acted,
}

impl Task {
    /// Returns the call that the task is about.
    #[must_use]
    pub fn call(&self) -> Option<CallId> {
        match self {
            Self::Idle => None,
            Self::Looking(look) | Self::Staging(look) => Some(look.snapshot.record.id),
            Self::Decided(decision) => Some(decision.look.snapshot.record.id),
            Self::Running(running) => Some(running.record.id),
        }
    }

    /// Returns the call and the epoch that the task runs, or whose end it is about to record.
    #[must_use]
    pub fn holds(&self) -> Option<(CallId, u64)> {
        let of = |look: &Look| {
            let epoch = match &look.input {
                Input::Attempted(attempt) => attempt.epoch,
                Input::Dropped(dropped) => dropped.epoch,
                _ => return None,
            };
            Some((look.snapshot.record.id, epoch))
        };
        match self {
            Self::Idle | Self::Staging(_) => None,
            Self::Looking(look) => of(look),
            Self::Decided(decision) => of(&decision.look),
            Self::Running(running) => Some((running.record.id, running.record.epoch)),
        }
    }

    pub(crate) fn hash_into(&self, now: Timestamp, state: &mut impl Hasher) {
        match self {
            Self::Idle => 0_u8.hash(state),
            Self::Looking(look) => {
                1_u8.hash(state);
                digest::snapshot(&look.snapshot, now, state);
                digest::input(&look.input, state);
            }
            Self::Decided(decision) => {
                2_u8.hash(state);
                digest::snapshot(&decision.look.snapshot, now, state);
                digest::input(&decision.look.input, state);
                digest::step(&decision.step, now, state);
                decision.then.hash(state);
            }
            Self::Staging(look) => {
                4_u8.hash(state);
                digest::snapshot(&look.snapshot, now, state);
                digest::input(&look.input, state);
            }
            Self::Running(running) => {
                3_u8.hash(state);
                digest::record(&running.record, state);
                (running.phase, running.ahead.is_some()).hash(state);
                (&running.tool.fingerprint, running.by == By::Caller).hash(state);
            }
        }
    }
}
