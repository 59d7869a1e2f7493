//! The states of plugins, for tools and for the run, and the recording of their changes.

use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

use futures::future::BoxFuture;
use tokio::sync::{Mutex, MutexGuard};
use toolwright::ToolError;

use super::draft::{Draft, state_of};
use super::reader::StateValue;
use super::set::{InstalledPlugin, PluginSet, ProvidedPlugin};
use super::{Plugin, PluginProblem, PluginStates, PluginTurn, PreparedTurn, StateError};

/// The states of the plugins of a run. A tool borrows them as `&Plugins`, and reads or sets a state by the type of the
/// state's plugin.
///
/// When [`set`](Self::set) returns, all tools and plugins of the run see the new state, even if the tool that has set
/// it fails later. In a recorded run, the state is recorded before `set` returns, so no crash loses it.
///
/// ```
/// use toolwright::{ToolError, tool};
/// use toolwright_agent::{Plugin, Plugins};
///
/// /// What is counted.
/// #[toolwright::data]
/// #[derive(Clone, Default)]
/// struct Count {
///     /// How many there are.
///     number: u32,
/// }
///
/// struct Counter;
///
/// impl Plugin for Counter {
///     type State = Count;
///
///     fn id(&self) -> String {
///         "counter".to_owned()
///     }
/// }
///
/// /// Counts one more.
/// #[tool(effect = once)]
/// async fn count(plugins: &Plugins) -> Result<u32, ToolError> {
///     plugins.edit::<Counter, _>(|count| {
///         count.number += 1;
///         count.number
///     }).await
/// }
///
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// // In a test of the tool, without a run:
/// let plugins = Plugins::holding(Counter, Count { number: 2 })?;
/// assert_eq!(count(&plugins).await?, 3);
/// assert_eq!(plugins.get::<Counter>().map(|it| it.number), Some(3));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Plugins {
    set: Arc<PluginSet>,
    shared: Arc<SharedStates>,
    sink: Option<Arc<dyn Sink>>,
}

/// The states of the plugins. They are shared, so that a change can still be recorded after the call that made the
/// change was dropped.
struct SharedStates {
    /// The states, in the order of the plugins.
    states: RwLock<Vec<StateValue>>,
    /// The states in their stored form. A change holds the lock until it is recorded.
    record: Arc<Mutex<PluginStates>>,
}

impl SharedStates {
    fn new(states: Vec<StateValue>, record: PluginStates) -> Arc<Self> {
        let record = Arc::new(Mutex::new(record));
        Arc::new(Self { states: RwLock::new(states), record })
    }

    fn show(&self, states: Vec<StateValue>) {
        *self.states.write().unwrap_or_else(PoisonError::into_inner) = states;
    }
}

/// A store for the record of a turn, which is written again after a tool has set a plugin's state.
pub(crate) trait Sink: Send + Sync {
    fn write<'a>(&'a self, turn: &'a PluginTurn) -> BoxFuture<'a, Result<(), ToolError>>;
}

impl Plugins {
    /// Makes the states of a run's plugins from the recorded states.
    ///
    /// # Errors
    /// When a recorded state does not fit its type.
    pub(crate) fn new(
        set: &Arc<PluginSet>,
        record: PluginStates,
        sink: Option<Arc<dyn Sink>>,
    ) -> Result<Self, StateError> {
        let state = |it: &InstalledPlugin| match record.states.get(&it.id) {
            None => Ok(it.reader.initial()),
            Some(value) => it.reader.read(value).map_err(|problems| StateError::Misfit {
                plugin: it.id.clone(),
                name: it.reader.name().to_owned(),
                problems,
            }),
        };
        let states = set.plugins.iter().map(state).collect::<Result<_, _>>()?;
        Ok(Self { set: Arc::clone(set), shared: SharedStates::new(states, record), sink })
    }

    /// Makes the state of a single plugin, for tests of a tool.
    ///
    /// # Errors
    /// When the plugin has no id, or the state cannot be recorded.
    #[track_caller]
    pub fn holding<P: Plugin>(plugin: P, state: P::State) -> Result<Self, PluginProblem> {
        let place = std::panic::Location::caller();
        let (id, set) = (plugin.id(), PluginSet::of(vec![ProvidedPlugin::new(plugin, place)])?);
        let set = Arc::new(set);
        let problem = |why: StateError| PluginProblem { plugin: id, place, why: why.to_string() };
        let mut draft = Draft::new(Arc::clone(&set), set.initial());
        draft.set::<P>(state).map_err(problem)?;
        let shared = SharedStates::new(draft.into_states(), PluginStates::default());
        Ok(Self { set, shared, sink: None })
    }

    /// Returns the state of a plugin, or `None` if the agent has no plugin of the type.
    #[must_use]
    pub fn get<P: Plugin>(&self) -> Option<Arc<P::State>> {
        let index = self.set.index::<P>().ok()?;
        state_of::<P>(&self.states(), index)
    }

    /// Returns the states, for a host that stores the run itself. To restore the states, pass them to
    /// [`AgentRunBuilder::plugins`](crate::AgentRunBuilder::plugins).
    pub async fn export_states(&self) -> PluginStates {
        self.shared.record.lock().await.clone()
    }

    /// Sets the state of a plugin.
    ///
    /// # Errors
    /// When the agent has no plugin of the type, the state does not fit its schema, or the state cannot be recorded,
    /// for instance because another process drives the run.
    pub async fn set<P: Plugin>(&self, state: P::State) -> Result<(), ToolError> {
        self.change(|draft| draft.set::<P>(state)).await
    }

    /// Changes the state of a plugin and returns the result of `change`. No other change happens between reading and
    /// writing the state.
    ///
    /// # Errors
    /// The errors of [`set`](Self::set).
    pub async fn edit<P: Plugin, R>(
        &self,
        change: impl FnOnce(&mut P::State) -> R,
    ) -> Result<R, ToolError> {
        self.change(|draft| draft.edit::<P, R>(change)).await
    }

    async fn change<R>(
        &self,
        change: impl FnOnce(&mut Draft) -> Result<R, StateError>,
    ) -> Result<R, ToolError> {
        let mut record = Arc::clone(&self.shared.record).lock_owned().await;
        let mut draft = self.draft();
        let result = change(&mut draft)?;
        let changed = draft.changed();
        if changed.is_empty() {
            return Ok(result);
        }
        let mut turn = record.turn.clone();
        turn.states.extend(changed.clone());
        let shared = Arc::clone(&self.shared);
        let Some(sink) = self.sink.clone() else {
            record.states.extend(changed);
            record.turn = turn;
            shared.show(draft.into_states());
            return Ok(result);
        };
        // If the call is dropped, this future is dropped too, but its commit may succeed. The task makes sure that the
        // states match the record. It holds the lock, so the next step waits for it.
        let recording = tokio::spawn(async move {
            sink.write(&turn).await?;
            record.states.extend(changed);
            record.turn = turn;
            shared.show(draft.into_states());
            Ok::<(), ToolError>(())
        });
        match recording.await {
            Ok(recorded) => recorded.map(|()| result),
            Err(error) => {
                Err(ToolError::internal(format!("the state of a plugin was not recorded: {error}")))
            }
        }
    }

    pub(super) fn set_of(&self) -> &Arc<PluginSet> {
        &self.set
    }

    /// Returns a draft with the current states.
    pub(super) fn draft(&self) -> Draft {
        Draft::new(Arc::clone(&self.set), self.states().clone())
    }

    pub(crate) fn states(&self) -> Vec<StateValue> {
        self.shared.states.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Publishes these states to the tools.
    pub(crate) fn show(&self, states: Vec<StateValue>) {
        self.shared.show(states);
    }

    /// Publishes the states `before` in place of the states that are still those in `prepared`.
    pub(crate) fn restore(&self, prepared: &[StateValue], before: Vec<StateValue>) {
        let mut states = self.shared.states.write().unwrap_or_else(PoisonError::into_inner);
        for ((state, prepared), before) in states.iter_mut().zip(prepared).zip(before) {
            if Arc::ptr_eq(state, prepared) {
                *state = before;
            }
        }
    }

    /// Locks the states against changes until a step is recorded.
    pub(crate) async fn lock(&self) -> LockedPlugins<'_> {
        LockedPlugins { plugins: self, record: self.shared.record.lock().await }
    }
}

/// The plugins' states, locked while a step is recorded.
pub(crate) struct LockedPlugins<'a> {
    plugins: &'a Plugins,
    record: MutexGuard<'a, PluginStates>,
}

/// The changes of the plugins' states that a step records.
pub(crate) struct StagedTurn {
    turn: PluginTurn,
    is_new: bool,
    is_changed: bool,
    states: Option<Vec<StateValue>>,
}

impl StagedTurn {
    /// Returns the document to write with the step; `None` if the step does not change the document.
    pub(crate) fn to_write(&self) -> Option<&PluginTurn> {
        self.is_changed.then_some(&self.turn)
    }
}

impl LockedPlugins<'_> {
    /// Returns the states in their stored form.
    pub(crate) fn record(&self) -> &PluginStates {
        &self.record
    }

    /// Computes the changes of a step. A step that begins a turn includes the changes that plugins prepared for the
    /// turn. A step that ends the run includes the changes that plugins made at its end.
    pub(crate) fn stage(&self, begins: Option<&PreparedTurn>, ended: Option<Draft>) -> StagedTurn {
        let mut turn = begins.map_or_else(|| self.record.turn.clone(), PreparedTurn::to_record);
        if begins.is_some() {
            // A read-only call that began before the answer was complete may have set a state since the turn was
            // prepared.
            self.plugins.draft().refresh(&mut turn.states);
        }
        let at_end = ended.as_ref().map(Draft::changed).unwrap_or_default();
        let is_changed = !at_end.is_empty() || (begins.is_some() && !turn.is_empty());
        turn.states.extend(at_end);
        let states = ended.map(Draft::into_states);
        StagedTurn { turn, is_new: begins.is_some(), is_changed, states }
    }

    /// Applies the changes, after the step that records them was recorded.
    pub(crate) fn commit(&mut self, staged: StagedTurn) {
        if staged.is_new || staged.is_changed {
            self.record.add(staged.turn);
        }
        if let Some(states) = staged.states {
            self.plugins.show(states);
        }
    }
}

impl fmt::Debug for Plugins {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Plugins")
            .field("plugins", &self.set.ids().collect::<Vec<_>>())
            .finish()
    }
}
