//! What a run brings beside its prompt.

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

    /// Begins the run, by an id that is made where none was given.
    pub(crate) fn start(self, agent: &Agent) -> Result<AgentRun, StartError> {
        let id = self.id.unwrap_or_else(|| format!("run-{}", Uuid::now_v7()));
        self.changes.into_iter().fold(agent.new_run(id), |run, change| change(run)).start()
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
