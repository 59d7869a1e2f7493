//! The table of the reservations, called holds: which run holds which resources, and until when. It does no I/O: its
//! callers pass the time, counted from the creation of the table.
//!
//! - Valid holds of different runs never conflict.
//! - A hold is valid until it expires. Every operation that depends on holds first removes the expired ones, so a hold
//!   that was never released has no effect after it has expired.

use std::sync::Arc;
use std::time::Duration;

use toolwright::{Footprint, TouchedResource};

/// The holds of all runs.
#[derive(Debug)]
pub(super) struct Table {
    /// How long a hold is valid unless it is renewed.
    lifetime: Duration,
    holds: Vec<Hold>,
    next: u64,
}

/// A reservation of resources, which belongs to one call, or to a run independently of its calls.
#[derive(Debug)]
struct Hold {
    id: HoldId,
    run: Arc<str>,
    footprint: Footprint,
    /// Whether the hold belongs to a call; otherwise it belongs to the run itself.
    of_call: bool,
    until: Duration,
}

/// The id of a hold. Ids are never reused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct HoldId(u64);

/// Why a run cannot reserve a resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Conflict {
    /// The resource that both runs need; `None` if both may touch every resource.
    pub(super) resource: Option<TouchedResource>,
    pub(super) holder: Arc<str>,
    /// The remaining time until the existing hold expires, unless it is renewed.
    pub(super) left: Duration,
}

/// A valid hold.
#[derive(Debug, Clone)]
pub(super) struct HeldFiles<'a> {
    pub(super) run: &'a str,
    pub(super) footprint: &'a Footprint,
    pub(super) left: Duration,
}

impl Table {
    pub(super) fn new(lifetime: Duration) -> Self {
        Self { lifetime, holds: Vec::new(), next: 0 }
    }

    /// Reserves the resources that a call touches, until the hold is released or expires.
    pub(super) fn reserve_for_call(
        &mut self,
        run: &Arc<str>,
        footprint: &Footprint,
        now: Duration,
    ) -> Result<HoldId, Conflict> {
        self.check(run, footprint, now)?;
        Ok(self.add(run, footprint, true, now))
    }

    /// Reserves resources for a run, independently of its calls. Renews the existing hold of the run, if it has the
    /// same footprint.
    pub(super) fn reserve_for_run(
        &mut self,
        run: &Arc<str>,
        footprint: &Footprint,
        now: Duration,
    ) -> Result<(), Conflict> {
        self.check(run, footprint, now)?;
        let until = now.saturating_add(self.lifetime);
        let is_held =
            |hold: &&mut Hold| !hold.of_call && hold.run == *run && hold.footprint == *footprint;
        match self.holds.iter_mut().find(is_held) {
            Some(hold) => hold.until = until,
            None => {
                self.add(run, footprint, false, now);
            }
        }
        Ok(())
    }

    /// Renews a hold. Returns `false` if the hold has expired, because another run may have reserved the resource
    /// since.
    pub(super) fn renew(&mut self, id: HoldId, now: Duration) -> bool {
        self.expire(now);
        let until = now.saturating_add(self.lifetime);
        let hold = self.holds.iter_mut().find(|hold| hold.id == id);
        hold.map(|hold| hold.until = until).is_some()
    }

    pub(super) fn release(&mut self, id: HoldId) {
        self.holds.retain(|hold| hold.id != id);
    }

    /// Releases the holds of a run that do not belong to its calls.
    pub(super) fn release_all(&mut self, run: &str) {
        self.holds.retain(|hold| hold.of_call || &*hold.run != run);
    }

    pub(super) fn list_held(&mut self, now: Duration) -> impl Iterator<Item = HeldFiles<'_>> {
        self.expire(now);
        self.holds.iter().map(move |hold| HeldFiles {
            run: &hold.run,
            footprint: &hold.footprint,
            left: hold.until.saturating_sub(now),
        })
    }

    /// Checks that no hold of another run conflicts with these resources. If several holds conflict, returns the one
    /// that expires last.
    fn check(&mut self, run: &str, footprint: &Footprint, now: Duration) -> Result<(), Conflict> {
        self.expire(now);
        let others = self.holds.iter().filter(|hold| &*hold.run != run);
        let conflicts = others.filter_map(|hold| {
            let resource = footprint.conflict(&hold.footprint)?;
            Some((hold.until, resource, &hold.run))
        });
        match conflicts.max_by_key(|(until, ..)| *until) {
            None => Ok(()),
            Some((until, resource, holder)) => Err(Conflict {
                resource: resource.cloned(),
                holder: Arc::clone(holder),
                left: until.saturating_sub(now),
            }),
        }
    }

    fn add(
        &mut self,
        run: &Arc<str>,
        footprint: &Footprint,
        of_call: bool,
        now: Duration,
    ) -> HoldId {
        let id = HoldId(self.next);
        self.next += 1;
        let (run, footprint) = (Arc::clone(run), footprint.clone());
        let until = now.saturating_add(self.lifetime);
        self.holds.push(Hold { id, run, footprint, of_call, until });
        id
    }

    fn expire(&mut self, now: Duration) {
        self.holds.retain(|hold| hold.until > now);
    }
}
