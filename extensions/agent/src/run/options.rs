//! The options of a run besides its prompt.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use toolwright::CancellationToken;
use uuid::Uuid;

use crate::agent::Agent;
use crate::model::ModelSettings;
use crate::run::{AgentRun, AgentRunBuilder, Output, StartError};

type Service = Box<dyn Fn(AgentRunBuilder) -> AgentRunBuilder + Send + Sync>;

/// The options of a run that has not begun.
#[derive(Default)]
pub(crate) struct RunOptions {
    pub id: Option<String>,
    pub user: Option<String>,
    pub session: Option<String>,
    pub token: Option<CancellationToken>,
    /// Each function adds a service to a run. A function may be called more than once: a process opens a recorded run
    /// each time that it takes the run.
    pub services: Vec<Service>,
    /// The type of the value in which the run ends; `None` if the agent's output type applies.
    pub output: Option<Output>,
    /// The settings of this run's requests; `None` if the agent's settings apply.
    pub settings: Option<ModelSettings>,
}

impl RunOptions {
    pub(crate) fn with<T: Send + Sync + 'static>(&mut self, service: T) {
        let service = Arc::new(service);
        self.services.push(Box::new(move |run| run.with_arc(Arc::clone(&service))));
    }

    pub(crate) fn is_empty(&self) -> bool {
        let Self { id, user, session, token, services, output, settings } = self;
        let is_named = id.is_some() || user.is_some() || session.is_some();
        !is_named
            && token.is_none()
            && services.is_empty()
            && output.is_none()
            && settings.is_none()
    }

    /// Returns an id that no other run has.
    pub(crate) fn new_id() -> String {
        format!("run-{}", Uuid::now_v7())
    }

    /// Begins the run in memory, under a new id if none was set. While the run exists, no other request or conversation
    /// of the agent can use its id.
    pub(crate) fn start(&self, agent: &Agent) -> Result<AgentRun, StartError> {
        let Self { id, user, session, token, services, output, settings } = self;
        let id = id.clone().unwrap_or_else(Self::new_id);
        let held = HeldId::new(&agent.0.ids, &id)?;
        let mut run = agent.new_run(id);
        if let Some(user) = user {
            run = run.user(user.as_str());
        }
        if let Some(session) = session {
            run = run.session(session.as_str());
        }
        if let Some(token) = token {
            run = run.cancelled_by(token.clone());
        }
        if let Some(output) = output {
            run = run.ending_in(output.clone());
        }
        if let Some(settings) = settings {
            run = run.settings(settings.clone());
        }
        let mut run = services.iter().fold(run, |run, service| service(run)).start()?;
        run.held = Some(held);
        Ok(run)
    }
}

/// The ids of the agent's runs and conversations that exist in memory.
pub(crate) type Ids = Arc<Mutex<HashSet<String>>>;

/// The reservation of an id for a run, which ends when this value is dropped.
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

/// Adds the setters that runs and conversations share, to a type with a field `options`.
macro_rules! run_options {
    () => {
        /// Sets the id of the run. Unless set, the run gets a new id. With a journal
        /// ([`AgentBuilder::journal`](crate::AgentBuilder::journal)), a run that is recorded under this id continues,
        /// even if another process began it. Without a journal, the id identifies the calls of the run, so no other run
        /// of the application may have the same id.
        pub fn id(mut self, id: impl Into<String>) -> Self {
            self.options.id = Some(id.into());
            self
        }

        /// Sets the user; approvers see the name, and the user's account is charged.
        pub fn user(mut self, name: impl Into<String>) -> Self {
            self.options.user = Some(name.into());
            self
        }

        /// Sets the session of the run. Grants of scope `session` apply to all runs of a session.
        pub fn session(mut self, id: impl Into<String>) -> Self {
            self.options.session = Some(id.into());
            self
        }

        /// Adds a service to this run. Declare the type of the service on the executor's builder, by
        /// [`per_run`](toolwright::ExecutorBuilder::per_run).
        pub fn with<T: Send + Sync + 'static>(mut self, service: T) -> Self {
            self.options.with(service);
            self
        }

        /// Sets options of requests to the model, in place of the agent's settings
        /// ([`AgentBuilder::settings`](crate::AgentBuilder::settings)). The options are not recorded: another process
        /// that continues a recorded run uses the settings of its agent. A setting that the provider does not support
        /// is an error before the first request.
        pub fn settings(mut self, settings: $crate::ModelSettings) -> Self {
            self.options.settings = Some(settings);
            self
        }

        /// Cancels the run when the token is cancelled: the request to the model is dropped, and open calls are
        /// answered as cancelled.
        pub fn cancelled_by(mut self, token: CancellationToken) -> Self {
            self.options.token = Some(token);
            self
        }
    };
}

pub(crate) use run_options;
