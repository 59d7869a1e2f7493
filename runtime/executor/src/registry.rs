//! Maps names to tools. A registry changes while a program runs; a [`Catalog`] is an immutable copy of its tools.
//!
//! - No two tools have the same name. The second tool is refused, and the error names the source locations of both.
//! - Every change begins a new generation, and notifies listeners in the order of the generations.
//! - No code of tools or listeners runs while a lock is held.

mod adapting;
mod listeners;
mod prepare;
mod problem;
mod state;

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use crate::catalog::{Catalog, Origin};
use toolwright_core::registration::{IntoTool, Registration};
use toolwright_core::spec::Handle;
use toolwright_core::tool::Definition;
use toolwright_wire::dialect::{Dialect, DialectError, Finding, Listing};

pub use crate::catalog::UnknownTool;
pub use listeners::{Listening, RegistryEvent, RegistryEventKind};
pub use problem::{RegistryError, RegistryProblem};
pub(crate) use state::Lookup;

use crate::registry::listeners::Listeners;
use crate::registry::prepare::prepare;
use crate::registry::state::State;
use toolwright_core::near::near;

/// The tools of an application. Cloning is cheap, and a clone is the same registry.
///
/// ```standalone_crate
/// use toolwright::{Registry, tool};
///
/// /// Says hello.
/// #[tool(effect = read)]
/// async fn hello() -> &'static str {
///     "hello"
/// }
///
/// // Every tool that is linked into the program…
/// let all = Registry::linked()?;
/// assert!(all.get("hello").is_some());
/// // …or exactly those that are named.
/// let some = Registry::of([HELLO])?;
/// assert_eq!(some.definitions().count(), 1);
/// # Ok::<(), toolwright::RegistryError>(())
/// ```
///
/// Tools come and go while the program runs. A catalog that was shown to a model does not change:
///
/// ```
/// use toolwright::{Registry, tool};
///
/// /// Says hello.
/// #[tool(effect = read)]
/// async fn hello() {}
///
/// /// Says goodbye.
/// #[tool(effect = read)]
/// async fn goodbye() {}
///
/// let registry = Registry::of([HELLO])?;
/// let shown = registry.catalog();
/// registry.register(GOODBYE)?;
/// registry.disable("hello")?;
/// assert_eq!(shown.names().collect::<Vec<_>>(), ["hello"]);
/// assert_eq!(registry.catalog().names().collect::<Vec<_>>(), ["goodbye"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Registry(Arc<Inner>);

struct Inner {
    /// The generation of the state, which can be read without the lock.
    generation: AtomicU64,
    state: RwLock<State>,
    listeners: Listeners,
}

impl Registry {
    /// Returns every tool that is linked into the program, in the order of their names.
    ///
    /// # Errors
    /// When two tools have the same name, or a tool is invalid; see [`RegistryProblem`]. The error lists all such
    /// problems. Also when no tool is linked, because then a [`link!`](toolwright_core::link) is missing.
    pub fn linked() -> Result<Self, RegistryError> {
        let mut tools = Handle::linked().peekable();
        if tools.peek().is_none() {
            return Err(RegistryError { problems: vec![RegistryProblem::NothingLinked] });
        }
        Self::of(tools)
    }

    /// Makes a registry of exactly these tools: handles, or registrations with other names and descriptions.
    ///
    /// # Errors
    /// When two tools have the same name, or a tool is invalid; see [`RegistryProblem`]. The error lists all such
    /// problems.
    pub fn of(tools: impl IntoIterator<Item = impl IntoTool>) -> Result<Self, RegistryError> {
        let registry = Self::empty();
        registry.register_all(tools)?;
        Ok(registry)
    }

    /// Makes a registry without tools.
    #[must_use]
    pub fn empty() -> Self {
        Self(Arc::new(Inner {
            generation: AtomicU64::new(0),
            state: RwLock::default(),
            listeners: Listeners::default(),
        }))
    }

    /// Adds a tool.
    ///
    /// # Errors
    /// When the tool's name is taken, or the tool is invalid; see [`RegistryProblem`]. The registry then does not
    /// change.
    pub fn register(&self, tool: impl IntoTool) -> Result<(), RegistryError> {
        self.register_all([tool])
    }

    /// Adds all of these tools in one generation, or none.
    ///
    /// # Errors
    /// When a name is taken, or a tool is invalid; see [`RegistryProblem`]. The registry then does not change.
    pub fn register_all(
        &self,
        tools: impl IntoIterator<Item = impl IntoTool>,
    ) -> Result<(), RegistryError> {
        self.add(tools.into_iter().map(IntoTool::into_tool), Origin::Application)
    }

    /// Removes a tool. Running calls continue, and earlier catalogs still contain the tool.
    ///
    /// # Errors
    /// When no tool has the name.
    pub fn unregister(&self, name: &str) -> Result<Arc<Definition>, UnknownTool> {
        let removed = self.change(|state| {
            let (entry, event) = state.remove(name)?;
            Some((entry, [event]))
        });
        let entry = removed.ok_or_else(|| self.unknown(name))?;
        Ok(Arc::clone(&entry.definition))
    }

    /// Enables a tool that was disabled. Returns `false` if the tool was enabled already.
    ///
    /// # Errors
    /// When no tool has the name.
    pub fn enable(&self, name: &str) -> Result<bool, UnknownTool> {
        self.switch(name, true)
    }

    /// Disables a tool. It is neither listed nor called until it is enabled again, but earlier catalogs still contain
    /// it. Returns `false` if the tool was disabled already.
    ///
    /// # Errors
    /// When no tool has the name.
    pub fn disable(&self, name: &str) -> Result<bool, UnknownTool> {
        self.switch(name, false)
    }

    /// Returns a catalog of the tools that can be called now. A catalog never changes. After a change of the registry,
    /// this method makes a new catalog once, and then returns clones of it.
    #[must_use]
    pub fn catalog(&self) -> Catalog {
        self.read().catalog().clone()
    }

    /// Returns the generation of the registry: the number of its changes so far.
    #[must_use]
    #[inline]
    pub fn generation(&self) -> u64 {
        self.0.generation.load(Ordering::Acquire)
    }

    /// Returns the definition of a tool that can be called.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<Arc<Definition>> {
        match self.lookup(name) {
            Lookup::Enabled(entry) => Some(Arc::clone(&entry.definition)),
            Lookup::Disabled | Lookup::Absent => None,
        }
    }

    /// Lists every definition that can be called, in the order of registration.
    pub fn definitions(&self) -> impl Iterator<Item = Arc<Definition>> {
        self.catalog().into_definitions()
    }

    /// Lists the names of the tools that are disabled, in the order of registration.
    #[must_use]
    pub fn disabled(&self) -> Vec<Arc<str>> {
        self.read().disabled()
    }

    /// Calls the listener for every tool that is added, removed, enabled, disabled or adapted. Events come one at a
    /// time, in the order of the generations, on a thread that changes the registry. The listener may change the
    /// registry itself. A panic of the listener does not affect other listeners.
    pub fn listen(&self, listener: impl Fn(&RegistryEvent) + Send + Sync + 'static) -> Listening {
        self.0.listeners.add(listener)
    }

    /// Returns the [`Catalog::listing`] of the tools that can be called now.
    ///
    /// # Errors
    /// When the provider would refuse a tool, or the tools together. The error lists every reason.
    pub fn listing(&self, dialect: Dialect) -> Result<Listing, DialectError> {
        self.catalog().listing(dialect)
    }

    /// Runs [`Catalog::lint`] on the tools that can be called now. [`Executor::lint`](crate::executor::Executor::lint)
    /// finds the tools that need approval because they do not declare which files they touch.
    #[must_use]
    pub fn lint(&self, dialects: impl IntoIterator<Item = Dialect>) -> Vec<Finding> {
        self.catalog().lint(dialects)
    }

    /// Returns the registry if each of these providers accepts all tools of the registry.
    ///
    /// ```
    /// use toolwright::dialect::Dialect;
    /// use toolwright::{Registry, data, tool};
    ///
    /// /// A way to somewhere.
    /// #[data]
    /// struct Way {
    ///     /// The next step.
    ///     next: Box<Option<Way>>,
    /// }
    ///
    /// /// Goes there.
    /// #[tool]
    /// async fn go(
    ///     /// How.
    ///     way: Way,
    /// ) {
    ///     drop(way);
    /// }
    ///
    /// let registry = Registry::of([GO])?;
    /// assert!(registry.clone().shown_to([Dialect::Anthropic, Dialect::OpenAiChat]).is_ok());
    /// let error = registry.shown_to([Dialect::AnthropicStrict]).unwrap_err();
    /// assert!(error.to_string().contains("tool `go` at /input_schema/$defs/Way: the type contains itself"));
    /// # Ok::<(), toolwright::RegistryError>(())
    /// ```
    ///
    /// # Errors
    /// When a provider would refuse a tool. The error lists every reason of every provider.
    pub fn shown_to(
        self,
        dialects: impl IntoIterator<Item = Dialect>,
    ) -> Result<Self, DialectError> {
        self.catalog().shown_to(dialects).map(|_| self)
    }

    pub(crate) fn lookup(&self, name: &str) -> Lookup {
        self.read().lookup(name)
    }

    /// Returns whether a resolver has registered the tool with this name.
    pub(crate) fn has_resolved(&self, name: &str) -> bool {
        self.read().origin(name) == Some(Origin::Resolver)
    }

    pub(crate) fn add(
        &self,
        tools: impl Iterator<Item = Registration>,
        origin: Origin,
    ) -> Result<(), RegistryError> {
        // The schemas are made before any lock is taken, because the tools' own code makes them.
        let (mut problems, mut entries) = (Vec::new(), Vec::new());
        let adaptations = self.read().adaptations().clone();
        for tool in tools {
            match prepare(tool, origin, |definition| adaptations.of(definition)) {
                Ok(entry) => entries.push(entry),
                Err(problem) => problems.push(*problem),
            }
        }
        let added = self.change(|state| {
            problems.extend(state.duplicates(&entries));
            // Applies adaptations that were added after the tools were prepared.
            problems.extend(state.adaptations().after(&adaptations).adapt(&mut entries));
            // If there are problems, the new entries are dropped after the lock is released.
            problems.is_empty().then(|| ((), state.add(std::mem::take(&mut entries))))
        });
        added.ok_or(RegistryError { problems })
    }

    fn switch(&self, name: &str, on: bool) -> Result<bool, UnknownTool> {
        let switched = self.change(|state| {
            let event = state.switch(name, on)?;
            Some((event.is_some(), event))
        });
        switched.ok_or_else(|| self.unknown(name))
    }

    /// Makes one change, and notifies listeners after the lock is released.
    fn change<R, E: IntoIterator<Item = RegistryEvent>>(
        &self,
        step: impl FnOnce(&mut State) -> Option<(R, E)>,
    ) -> Option<R> {
        let changed = {
            let mut state = self.write();
            let (result, events) = step(&mut state)?;
            // The events are queued while the lock is held, so that listeners receive them in order.
            self.0.listeners.remember(events);
            self.0.generation.store(state.generation(), Ordering::Release);
            result
        };
        self.0.listeners.tell();
        Some(changed)
    }

    fn unknown(&self, name: &str) -> UnknownTool {
        let state = self.read();
        let near = near(name, state.names()).into_iter().map(str::to_owned).collect();
        UnknownTool { name: name.to_owned(), near }
    }

    fn read(&self) -> RwLockReadGuard<'_, State> {
        self.0.state.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, State> {
        self.0.state.write().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Makes a registry without tools.
impl Default for Registry {
    fn default() -> Self {
        Self::empty()
    }
}

impl fmt::Debug for Registry {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let catalog = self.catalog();
        formatter.debug_list().entries(catalog.names()).finish()
    }
}
