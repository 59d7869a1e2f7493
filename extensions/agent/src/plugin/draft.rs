//! Pending changes of plugins' states, which take effect together.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use super::reader::StateValue;
use super::set::{InstalledPlugin, PluginSet};
use super::{Plugin, StateError};

/// The states of all plugins while a turn is prepared, with changes that are not recorded yet.
#[derive(Clone)]
pub(crate) struct Draft {
    set: Arc<PluginSet>,
    /// The states, in the order of the plugins.
    states: Vec<StateValue>,
    /// The stored forms of the states that changed, by the indexes of their plugins.
    changed: BTreeMap<usize, Value>,
}

impl Draft {
    pub(super) fn new(set: Arc<PluginSet>, states: Vec<StateValue>) -> Self {
        Self { set, states, changed: BTreeMap::new() }
    }

    /// Returns the state of a plugin; `None` if the agent has no such plugin.
    pub(super) fn get<P: Plugin>(&self) -> Option<Arc<P::State>> {
        let index = self.set.index::<P>().ok()?;
        state_of::<P>(&self.states, index)
    }

    pub(super) fn set<P: Plugin>(&mut self, state: P::State) -> Result<(), StateError> {
        let index = self.set.index::<P>()?;
        let InstalledPlugin { id, reader, .. } = &self.set.plugins[index];
        let misfit = |problems| StateError::Misfit {
            plugin: id.clone(),
            name: reader.name().to_owned(),
            problems,
        };
        let state: StateValue = Arc::new(state);
        let written = reader.write(&state).map_err(misfit)?;
        if reader.write(&self.states[index]).is_ok_and(|before| before == written) {
            return Ok(());
        }
        self.states[index] = state;
        self.changed.insert(index, written);
        Ok(())
    }

    pub(super) fn edit<P: Plugin, R>(
        &mut self,
        change: impl FnOnce(&mut P::State) -> R,
    ) -> Result<R, StateError> {
        let index = self.set.index::<P>()?;
        let state = state_of::<P>(&self.states, index);
        let mut state = state.map_or_else(P::State::default, |it| P::State::clone(&it));
        let result = change(&mut state);
        self.set::<P>(state)?;
        Ok(result)
    }

    /// Returns the changed states in their stored form, by the ids of their plugins.
    pub(super) fn changed(&self) -> BTreeMap<String, Value> {
        let changed = self.changed.iter();
        changed.map(|(index, it)| (self.set.plugins[*index].id.clone(), it.clone())).collect()
    }

    /// Updates each state in `recorded` to the draft's state of the same plugin.
    pub(super) fn refresh(&self, recorded: &mut BTreeMap<String, Value>) {
        for (InstalledPlugin { id, reader, .. }, state) in self.set.plugins.iter().zip(&self.states)
        {
            if let (Some(recorded), Ok(now)) = (recorded.get_mut(id), reader.write(state)) {
                *recorded = now;
            }
        }
    }

    pub(super) fn into_states(self) -> Vec<StateValue> {
        self.states
    }
}

pub(super) fn state_of<P: Plugin>(states: &[StateValue], index: usize) -> Option<Arc<P::State>> {
    Arc::clone(states.get(index)?).downcast().ok()
}
