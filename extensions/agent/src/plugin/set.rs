//! The plugins of an agent, in the order in which they were added.

use std::any::{TypeId, type_name};
use std::collections::HashMap;
use std::panic::Location;
use std::sync::Arc;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use toolwright::{Bundle, ExecutorBuilder};

use super::reader::{StateReader, StateValue};
use super::{EndedRun, NextTurn, Plugin, PluginError, PluginProblem, StateError};

/// A plugin without its Rust type, so that plugins of different types are in one list.
pub(super) trait ErasedPlugin: Send + Sync {
    fn prepare<'a, 't: 'a>(
        &'a self,
        turn: &'a mut NextTurn<'t>,
    ) -> BoxFuture<'a, Result<(), PluginError>>;

    fn ended<'a, 'r: 'a>(
        &'a self,
        run: &'a mut EndedRun<'r>,
    ) -> BoxFuture<'a, Result<(), PluginError>>;

    fn install(&self, executor: ExecutorBuilder) -> ExecutorBuilder;
}

impl<P: Plugin> ErasedPlugin for P {
    fn prepare<'a, 't: 'a>(
        &'a self,
        turn: &'a mut NextTurn<'t>,
    ) -> BoxFuture<'a, Result<(), PluginError>> {
        Plugin::prepare(self, turn).boxed()
    }

    fn ended<'a, 'r: 'a>(
        &'a self,
        run: &'a mut EndedRun<'r>,
    ) -> BoxFuture<'a, Result<(), PluginError>> {
        Plugin::ended(self, run).boxed()
    }

    fn install(&self, executor: ExecutorBuilder) -> ExecutorBuilder {
        Plugin::install(self, executor.tools(self.tools()))
    }
}

/// A plugin that the application has added to the builder of an agent.
pub(crate) struct ProvidedPlugin {
    id: String,
    place: &'static Location<'static>,
    plugin: Arc<dyn ErasedPlugin>,
    type_id: TypeId,
    has_state: bool,
    reader: Result<StateReader, String>,
}

impl ProvidedPlugin {
    pub(crate) fn new<P: Plugin>(plugin: P, place: &'static Location<'static>) -> Self {
        Self {
            id: plugin.id(),
            place,
            plugin: Arc::new(plugin),
            type_id: TypeId::of::<P>(),
            has_state: TypeId::of::<P::State>() != TypeId::of::<()>(),
            reader: StateReader::of::<P::State>(),
        }
    }

    /// Returns the parts that the plugin adds to the executor, as a bundle.
    pub(crate) fn bundle(&self) -> impl Bundle + use<> {
        PluginBundle { id: self.id.clone(), plugin: Arc::clone(&self.plugin) }
    }
}

struct PluginBundle {
    id: String,
    plugin: Arc<dyn ErasedPlugin>,
}

impl Bundle for PluginBundle {
    fn name(&self) -> String {
        format!("plugin {}", self.id)
    }

    fn install(self, executor: ExecutorBuilder) -> ExecutorBuilder {
        self.plugin.install(executor)
    }
}

#[derive(Default)]
pub(crate) struct PluginSet {
    pub(super) plugins: Vec<InstalledPlugin>,
    by_type: HashMap<TypeId, usize>,
}

pub(super) struct InstalledPlugin {
    pub id: String,
    pub plugin: Arc<dyn ErasedPlugin>,
    pub reader: StateReader,
}

impl PluginSet {
    /// Makes the set of these plugins.
    ///
    /// # Errors
    /// When a plugin has no id or a state that cannot be recorded, or when two plugins with a state have the same type.
    pub(crate) fn of(provided: Vec<ProvidedPlugin>) -> Result<Self, PluginProblem> {
        let mut set = Self::default();
        let mut places: Vec<&'static Location<'static>> = Vec::new();
        for it in provided {
            let ProvidedPlugin { id, place, plugin, type_id, has_state, reader } = it;
            let problem = |why: String| PluginProblem { plugin: id.clone(), place, why };
            if id.trim().is_empty() {
                return Err(problem("it has no id; let `id` return a name".to_owned()));
            }
            if let (Some(first), true) = (set.by_type.get(&type_id), has_state) {
                return Err(problem(format!(
                    "another plugin of its type is given at {}, and a state is found by the type of its plugin; wrap one of them in a type of its own",
                    places[*first]
                )));
            }
            let reader = reader.map_err(problem)?;
            set.by_type.entry(type_id).or_insert(set.plugins.len());
            set.plugins.push(InstalledPlugin { id, plugin, reader });
            places.push(place);
        }
        Ok(set)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.plugins.is_empty()
    }

    /// Returns the ids of the plugins, in their order.
    pub(crate) fn ids(&self) -> impl Iterator<Item = &str> {
        self.plugins.iter().map(|it| it.id.as_str())
    }

    pub(super) fn index<P: Plugin>(&self) -> Result<usize, StateError> {
        let index = self.by_type.get(&TypeId::of::<P>()).copied();
        index.ok_or(StateError::NoPlugin { plugin: type_name::<P>() })
    }

    /// Returns the states with which a run begins.
    pub(super) fn initial(&self) -> Vec<StateValue> {
        self.plugins.iter().map(|it| it.reader.initial()).collect()
    }
}
