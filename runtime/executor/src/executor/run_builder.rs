//! The settings of a run: its user, its session, its own services, and the token that cancels it.

use std::any::{TypeId, type_name};
use std::fmt;
use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::Executor;
use super::run::Run;
use crate::call::{Requester, RunState};
use crate::event::ToolEvent;
use toolwright_core::capability::Value;

/// The builder of a [`Run`], with its id, services and settings. Made by [`Executor::run`].
pub struct RunBuilder {
    executor: Executor,
    id: String,
    values: Vec<(TypeId, &'static str, Value)>,
    requester: Requester,
}

impl RunBuilder {
    pub(super) fn new(executor: &Executor, id: String) -> Self {
        let (executor, values) = (executor.clone(), Vec::new());
        Self { executor, id, values, requester: Requester::default() }
    }

    /// Provides the run with a service whose type the executor's builder has declared with `per_run`.
    #[must_use]
    pub fn with<T: Send + Sync + 'static>(self, value: T) -> Self {
        self.with_arc(Arc::new(value))
    }

    /// Provides the run with a service in an `Arc`. Other owners may share the service, or it may be a trait object.
    /// See [`with`](Self::with).
    #[must_use]
    pub fn with_arc<T: ?Sized + Send + Sync + 'static>(mut self, value: Arc<T>) -> Self {
        self.values.push((TypeId::of::<T>(), type_name::<T>(), Box::new(value)));
        self
    }

    /// Cancels the calls of the run that this process runs or waits for, when the token is cancelled.
    #[must_use]
    pub fn cancelled_by(mut self, token: CancellationToken) -> Self {
        self.requester.cancelled = Some(token);
        self
    }

    /// Sets the user of the run. Approvers see this name.
    #[must_use]
    pub fn user(mut self, name: impl Into<Arc<str>>) -> Self {
        self.requester.user = Some(name.into());
        self
    }

    /// Sets the session to which the run belongs. Grants of scope `session` are valid in that session.
    #[must_use]
    pub fn session(mut self, id: impl Into<Arc<str>>) -> Self {
        self.requester.session = Some(id.into());
        self
    }

    /// Calls this listener with the progress that the calls of this run report while they run in this process
    /// ([`ToolEventKind::Progress`](crate::event::ToolEventKind::Progress)). The listeners of the executor are called
    /// as well. The listener runs on the task of the call, so it must return quickly.
    ///
    /// ```
    /// use std::sync::mpsc;
    ///
    /// use toolwright::{Call, ToolEventKind, Executor, Registry, ToolContext, tool};
    ///
    /// /// Counts to two.
    /// #[tool(effect = read)]
    /// async fn count(context: &ToolContext) -> u8 {
    ///     context.progress("one", Some(0.5));
    ///     2
    /// }
    ///
    /// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
    /// let executor = Executor::builder(Registry::of([COUNT])?).build()?;
    /// let (sender, reports) = mpsc::channel();
    /// let run = executor.run("session-1").on_progress(move |event| {
    ///     if let ToolEventKind::Progress { message, .. } = event.kind {
    ///         let _ = sender.send(message.to_owned());
    ///     }
    /// });
    /// run.start()?.call(&Call::new("count", "{}")).await;
    /// assert_eq!(reports.recv()?, "one");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn on_progress(
        mut self,
        listener: impl Fn(&ToolEvent<'_>) + Send + Sync + 'static,
    ) -> Self {
        self.requester.progress = Some(Arc::new([Box::new(listener)]));
        self
    }

    /// Calls this listener with the events of the calls of this run while they run in this process. The listeners of
    /// the executor are called as well. The listener runs on the task of the call, so it must return quickly.
    ///
    /// ```
    /// use std::sync::mpsc;
    ///
    /// use toolwright::{Call, ToolEventKind, Executor, Registry, tool};
    ///
    /// /// Does nothing.
    /// #[tool(effect = read)]
    /// async fn rest() {}
    ///
    /// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
    /// let executor = Executor::builder(Registry::of([REST])?).build()?;
    /// let (sender, ended) = mpsc::channel();
    /// let run = executor.run("session-1").listen(move |event| {
    ///     if let ToolEventKind::Completed { .. } = event.kind {
    ///         let _ = sender.send(event.tool.to_owned());
    ///     }
    /// });
    /// run.start()?.call(&Call::new("rest", "{}")).await;
    /// assert_eq!(ended.recv()?, "rest");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn listen(mut self, listener: impl Fn(&ToolEvent<'_>) + Send + Sync + 'static) -> Self {
        self.requester.listener = Some(Arc::new([Box::new(listener)]));
        self
    }

    /// Starts the run.
    ///
    /// # Errors
    /// When a declared service is missing or given twice, or a service is given that was not declared.
    pub fn start(mut self) -> Result<Run, MissingServices> {
        let state = &self.executor.state;
        let declared = &state.core.provisions.per_run;
        let mut values = Vec::with_capacity(declared.len());
        let mut missing = Vec::new();
        for wanted in declared {
            match self.values.iter().position(|(id, ..)| *id == wanted.id) {
                Some(index) => values.push(self.values.swap_remove(index).2),
                None => missing.push(wanted.name),
            }
        }
        let unexpected: Vec<&'static str> = self.values.iter().map(|(_, name, _)| *name).collect();
        if !missing.is_empty() || !unexpected.is_empty() {
            return Err(MissingServices { missing, unexpected });
        }
        Ok(self.start_with(values))
    }

    /// Starts a run without services. The run can be ended, and its calls can be cancelled. A call of a tool that needs
    /// a service of the run is refused.
    #[doc(hidden)]
    #[must_use]
    pub fn start_without_services(self) -> Run {
        self.start_with(Vec::new())
    }

    fn start_with(self, values: Vec<Value>) -> Run {
        let state = &self.executor.state;
        let (core, ready) = (Arc::clone(&state.core), Arc::clone(&state.ready));
        let state = RunState::started(core, ready, self.id, values, self.requester);
        Run { state: Arc::new(state) }
    }
}

impl fmt::Debug for RunBuilder {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("RunBuilder").field("id", &self.id).finish_non_exhaustive()
    }
}

/// Why a run cannot start.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct MissingServices {
    /// The services that were declared with `per_run`, but not given.
    pub missing: Vec<&'static str>,
    /// The services that were given twice or not declared.
    pub unexpected: Vec<&'static str>,
}
toolwright_core::debug_as_sentence!(MissingServices);

impl fmt::Display for MissingServices {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("the run cannot start")?;
        for name in &self.missing {
            write!(
                formatter,
                "\n- it lacks `{name}`, which every run brings; give it with `.with(…)`"
            )?;
        }
        for name in &self.unexpected {
            write!(
                formatter,
                "\n- `{name}` is given twice or was not declared; declare it with `.per_run::<{name}>()` on the builder"
            )?;
        }
        Ok(())
    }
}

impl std::error::Error for MissingServices {}
