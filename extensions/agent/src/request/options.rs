//! What a run brings beside its prompt.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use uuid::Uuid;

use crate::{Agent, AgentRun, AgentRunBuilder, StartError};

type Change = Box<dyn FnOnce(AgentRunBuilder) -> AgentRunBuilder + Send>;

/// The id, user, services and cancellation of a run that has not begun.
#[derive(Default)]
pub(crate) struct RunOptions {
    id: Option<String>,
    changes: Vec<Change>,
}

impl RunOptions {
    pub(crate) fn id(&mut self, id: String) {
        self.id = Some(id);
    }

    pub(crate) fn change(
        &mut self,
        change: impl FnOnce(AgentRunBuilder) -> AgentRunBuilder + Send + 'static,
    ) {
        self.changes.push(Box::new(change));
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.id.is_none() && self.changes.is_empty()
    }

    /// Begins the run, by an id that is made where none was given. While the second value is held, no other run of the agent
    /// begins by that id.
    pub(crate) fn start(self, agent: &Agent) -> Result<(AgentRun, HeldId), StartError> {
        let id = self.id.unwrap_or_else(|| format!("run-{}", Uuid::now_v7()));
        let held = HeldId::new(&agent.0.ids, &id)?;
        let run = agent.new_run(id);
        Ok((self.changes.into_iter().fold(run, |run, change| change(run)).start()?, held))
    }
}

/// The ids of the runs and conversations of an agent that go on.
pub(crate) type Ids = Arc<Mutex<HashSet<String>>>;

/// An id that a run has until this is dropped.
pub(crate) struct HeldId {
    ids: Ids,
    id: String,
}

impl HeldId {
    fn new(ids: &Ids, id: &str) -> Result<Self, StartError> {
        let is_free = ids.lock().unwrap_or_else(PoisonError::into_inner).insert(id.to_owned());
        match is_free {
            true => Ok(Self { ids: Arc::clone(ids), id: id.to_owned() }),
            false => Err(StartError::IdInUse { id: id.to_owned() }),
        }
    }
}

impl Drop for HeldId {
    fn drop(&mut self) {
        self.ids.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.id);
    }
}

/// Adds what a run and a conversation both take, to a type with `options`.
macro_rules! run_options {
    () => {
        /// Names the run: its calls are journalled by this id, which no other run of the application has. Unless it is set,
        /// one is made.
        pub fn id(mut self, id: impl Into<String>) -> Self {
            self.options.id(id.into());
            self
        }

        /// Sets the user; approvers see the name, and what is spent is on the user's account.
        pub fn user(mut self, name: impl Into<String>) -> Self {
            let name = name.into();
            self.options.change(move |run| run.user(name));
            self
        }

        /// Sets the session, in which grants of scope `session` count.
        pub fn session(mut self, id: impl Into<String>) -> Self {
            let id = id.into();
            self.options.change(move |run| run.session(id));
            self
        }

        /// Adds a service of this run, which the executor declares by
        /// [`per_run`](toolwright::ExecutorBuilder::per_run).
        pub fn with<T: Send + Sync + 'static>(mut self, service: T) -> Self {
            self.options.change(move |run| run.with(service));
            self
        }

        /// Cancels it when the token is cancelled: the request to the model is dropped, open calls are answered that they were
        /// cancelled.
        pub fn cancelled_by(mut self, token: CancellationToken) -> Self {
            self.options.change(move |run| run.cancelled_by(token));
            self
        }
    };
}

pub(crate) use run_options;
