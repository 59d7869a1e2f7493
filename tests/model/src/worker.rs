//! A worker: a process that submits calls and goes on with what is left ([`judging`](crate::judging)), and runs what it
//! has claimed ([`running`](crate::running)). Each step that a crash may follow is one of its own.

use crate::record::Record;
use crate::system::System;

/// What a worker knows; gone when it crashes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Worker {
    /// Nothing.
    Idle,
    /// It has judged a call that was not in the journal.
    Opening {
        /// The place of the call.
        place: u8,
    },
    /// It has read a call.
    Seen {
        /// Which.
        id: u8,
        /// As it was then.
        record: Record,
    },
    /// It has looked at all else, and knows what is to be done.
    Judged {
        /// Which call.
        id: u8,
        /// As it was when it was read.
        record: Record,
        /// What is to be done.
        then: Then,
    },
    /// Its claim is durable.
    Claimed {
        /// Which call.
        id: u8,
        /// As it was claimed.
        record: Record,
        /// The version that its end starts from.
        from: u8,
    },
    /// The body has begun.
    Begun {
        /// Which call.
        id: u8,
        /// As it was claimed.
        record: Record,
        /// The version that its end starts from.
        from: u8,
    },
    /// The body has had its effect.
    Acted {
        /// Which call.
        id: u8,
        /// As it was claimed.
        record: Record,
        /// The version that its end starts from.
        from: u8,
    },
    /// The body has ended, which is to be written.
    Ended {
        /// Which call.
        id: u8,
        /// As it was claimed.
        record: Record,
        /// As it shall be.
        ended: Record,
        /// The version that its end starts from.
        from: u8,
        /// Whether it is known that nothing came of the body.
        is_undone: bool,
    },
}

/// What is to be done with a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Then {
    /// It is claimed.
    Claim,
    /// It is judged again.
    Change,
    /// It is ended with its run.
    EndWithRun,
    /// It may run.
    Allow,
    /// A person is asked.
    Ask,
    /// It is indeterminate after all.
    Doubt,
}

impl Worker {
    /// The call it runs, if any.
    #[must_use]
    pub fn running(&self) -> Option<(u8, Record)> {
        match *self {
            Self::Claimed { id, record, .. }
            | Self::Begun { id, record, .. }
            | Self::Acted { id, record, .. }
            | Self::Ended { id, record, .. } => Some((id, record)),
            _ => None,
        }
    }

    /// Whether its body has ended.
    #[must_use]
    pub fn is_ended(&self) -> bool {
        matches!(self, Self::Ended { .. })
    }

    /// Its place among workers.
    #[must_use]
    pub fn rank(&self) -> (u8, u8, u8, u8) {
        let of = |rank, id, record: &Record, more| (rank, id, record.version, more);
        match self {
            Self::Ended { id, record, ended, .. } => of(0, *id, record, ended.version),
            Self::Acted { id, record, from } => of(1, *id, record, *from),
            Self::Begun { id, record, from } => of(2, *id, record, *from),
            Self::Claimed { id, record, from } => of(3, *id, record, *from),
            Self::Judged { id, record, then } => of(4, *id, record, *then as u8),
            Self::Seen { id, record } => of(5, *id, record, 0),
            Self::Opening { place } => (6, *place, 0, 0),
            Self::Idle => (7, 0, 0, 0),
        }
    }
}

/// Lets a worker know something else.
pub(crate) fn set(system: &mut System, worker: u8, to: Worker) -> Option<()> {
    *system.workers.get_mut(usize::from(worker))? = to;
    Some(())
}
