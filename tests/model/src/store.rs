//! The store: it compares versions and does all of a commit or nothing of it.

use crate::record::Record;
use crate::switches::{Switch, Switches};

/// How many records there can be: one more than places, for a place that is taken twice.
pub const RECORDS: usize = 3;

/// What is durable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Store {
    /// Calls, by id.
    pub calls: [Option<Record>; RECORDS],
    /// The document that says that the run has ended.
    pub run_ended: bool,
}

/// Nothing was done: somebody was faster.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Conflict;

impl Store {
    /// The call of an id.
    #[must_use]
    pub fn get(&self, id: u8) -> Option<Record> {
        self.calls.get(usize::from(id)).copied().flatten()
    }

    /// The calls that there are.
    pub fn all(&self) -> impl Iterator<Item = (u8, Record)> {
        (0..).zip(self.calls).filter_map(|(id, call)| Some((id, call?)))
    }

    /// The call at a place of the turn.
    #[must_use]
    pub fn at(&self, place: u8) -> Option<(u8, Record)> {
        self.all().find(|(_, call)| call.place == place)
    }

    /// Puts a new call at its place, if that is free.
    ///
    /// # Errors
    /// When it is taken.
    pub fn insert(&mut self, record: Record, switches: Switches) -> Result<u8, Conflict> {
        if self.at(record.place).is_some() && !switches.has(Switch::PlaceNotKept) {
            return Err(Conflict);
        }
        let (id, free) =
            (0..).zip(&mut self.calls).find(|(_, call)| call.is_none()).ok_or(Conflict)?;
        *free = Some(record);
        Ok(id)
    }

    /// Changes a call that is still at the version expected.
    ///
    /// # Errors
    /// When it is not.
    pub fn update(
        &mut self,
        id: u8,
        expects: u8,
        record: Record,
        switches: Switches,
    ) -> Result<(), Conflict> {
        let found = self.calls.get_mut(usize::from(id)).and_then(Option::as_mut).ok_or(Conflict)?;
        if found.version != expects && !switches.has(Switch::NoCompareAndSet) {
            return Err(Conflict);
        }
        *found = record;
        Ok(())
    }

    /// Extends the lease of a running call for the owner that claimed it with this epoch.
    ///
    /// # Errors
    /// When somebody else has it by now, or nobody.
    pub fn renew(&mut self, id: u8, epoch: u8) -> Result<(), Conflict> {
        let found = self.calls.get_mut(usize::from(id)).and_then(Option::as_mut).ok_or(Conflict)?;
        if found.state != toolwright::journal::State::Running || found.epoch != epoch {
            return Err(Conflict);
        }
        found.is_lapsed = false;
        Ok(())
    }
}
