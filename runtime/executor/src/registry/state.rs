//! The content of a registry at one moment. The cost of most changes does not depend on the number of tools. An
//! adaptation visits all tools, and so does making a catalog, which happens on demand.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, OnceLock};

use foldhash::fast::FixedState;

use super::adapting::Adaptations;
use super::listeners::{RegistryEvent, RegistryEventKind};
use super::problem::RegistryProblem;
use crate::catalog::{Catalog, Entry, Origin};

#[derive(Default)]
pub(super) struct State {
    generation: u64,
    /// The number of the next tool, which puts tools in the order of registration.
    next_place: u64,
    places: HashMap<Arc<str>, u64, FixedState>,
    slots: BTreeMap<u64, Slot>,
    /// The catalog of this generation, made when it is first requested.
    catalog: OnceLock<Catalog>,
    adaptations: Adaptations,
}

struct Slot {
    entry: Arc<Entry>,
    is_enabled: bool,
}

/// The state of a name.
pub(crate) enum Lookup {
    Enabled(Arc<Entry>),
    Disabled,
    Absent,
}

impl State {
    pub(super) fn generation(&self) -> u64 {
        self.generation
    }

    /// Returns the tools that can be called, in the order of registration.
    pub(super) fn catalog(&self) -> &Catalog {
        self.catalog.get_or_init(|| {
            let enabled = self.slots.values().filter(|slot| slot.is_enabled);
            Catalog::new(self.generation, enabled.map(|slot| Arc::clone(&slot.entry)).collect())
        })
    }

    pub(super) fn lookup(&self, name: &str) -> Lookup {
        match self.slot(name) {
            Some(Slot { entry, is_enabled: true }) => Lookup::Enabled(Arc::clone(entry)),
            Some(_) => Lookup::Disabled,
            None => Lookup::Absent,
        }
    }

    /// Returns where a tool comes from, whether it is enabled or not; `None` for an unknown name.
    pub(super) fn origin(&self, name: &str) -> Option<Origin> {
        self.slot(name).map(|slot| slot.entry.origin)
    }

    /// Returns the adaptations of the application, which also apply to tools that are added later.
    pub(super) fn adaptations(&self) -> &Adaptations {
        &self.adaptations
    }

    /// Adapts the tools that are registered now, and remembers the adaptations for tools that are registered later.
    pub(super) fn adapt(
        &mut self,
        more: &Adaptations,
    ) -> Result<Vec<RegistryEvent>, Vec<RegistryProblem>> {
        let (mut changed, mut problems) = (Vec::new(), Vec::new());
        for (place, slot) in &self.slots {
            match more.adapted(&slot.entry) {
                None => {}
                Some(Ok(entry)) => changed.push((*place, Arc::new(entry))),
                Some(Err(problem)) => problems.push(problem),
            }
        }
        if !problems.is_empty() {
            return Err(problems);
        }
        self.adaptations.extend(more);
        if !changed.is_empty() {
            self.change();
        }
        let mut events = Vec::new();
        for (place, entry) in changed {
            events.push(self.event(RegistryEventKind::Adapted, Arc::clone(&entry.name)));
            if let Some(slot) = self.slots.get_mut(&place) {
                slot.entry = entry;
            }
        }
        Ok(events)
    }

    pub(super) fn disabled(&self) -> Vec<Arc<str>> {
        let disabled = self.slots.values().filter(|slot| !slot.is_enabled);
        disabled.map(|slot| Arc::clone(&slot.entry.name)).collect()
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.slots.values().map(|slot| &*slot.entry.name)
    }

    /// Adds tools whose names are not taken.
    pub(super) fn add(&mut self, entries: Vec<Entry>) -> Vec<RegistryEvent> {
        if entries.is_empty() {
            return Vec::new();
        }
        self.change();
        let mut events = Vec::with_capacity(entries.len());
        for entry in entries {
            let name = Arc::clone(&entry.name);
            self.places.insert(Arc::clone(&name), self.next_place);
            self.slots.insert(self.next_place, Slot { entry: Arc::new(entry), is_enabled: true });
            self.next_place += 1;
            events.push(self.event(RegistryEventKind::Registered, name));
        }
        events
    }

    pub(super) fn remove(&mut self, name: &str) -> Option<(Arc<Entry>, RegistryEvent)> {
        let place = self.places.remove(name)?;
        let Slot { entry, .. } = self.slots.remove(&place)?;
        self.change();
        let event = self.event(RegistryEventKind::Unregistered, Arc::clone(&entry.name));
        Some((entry, event))
    }

    /// Enables or disables a tool. Returns `None` for an unknown name, and no event if nothing changes.
    pub(super) fn switch(&mut self, name: &str, on: bool) -> Option<Option<RegistryEvent>> {
        let slot = self.slots.get_mut(self.places.get(name)?)?;
        if slot.is_enabled == on {
            return Some(None);
        }
        slot.is_enabled = on;
        let name = Arc::clone(&slot.entry.name);
        self.change();
        let kind = if on { RegistryEventKind::Enabled } else { RegistryEventKind::Disabled };
        Some(Some(self.event(kind, name)))
    }

    /// Reports the names that a registered tool or another of these tools already has.
    pub(super) fn duplicates(&self, entries: &[Entry]) -> Vec<RegistryProblem> {
        let mut coming: HashMap<&str, &Entry, FixedState> = HashMap::default();
        let mut problems = Vec::new();
        for entry in entries {
            let here = self.slot(&entry.name).map(|slot| &*slot.entry);
            match here.or_else(|| coming.get(&*entry.name).copied()) {
                Some(first) => problems.push(RegistryProblem::Duplicate {
                    name: entry.name.to_string(),
                    first: first.definition.location,
                    second: entry.definition.location,
                }),
                None => {
                    coming.insert(&entry.name, entry);
                }
            }
        }
        problems
    }

    fn slot(&self, name: &str) -> Option<&Slot> {
        self.slots.get(self.places.get(name)?)
    }

    fn change(&mut self) {
        self.generation += 1;
        self.catalog = OnceLock::new();
    }

    fn event(&self, kind: RegistryEventKind, name: Arc<str>) -> RegistryEvent {
        RegistryEvent { kind, name, generation: self.generation }
    }
}
