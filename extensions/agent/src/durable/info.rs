//! The data that the application stores with a run when the run starts, and reads when a process resumes the run.

use std::fmt;
use std::sync::Arc;

use serde_json::Value;
use toolwright::Content;

use crate::history::{Imported, Message};

/// A run to be started.
///
/// ```
/// use toolwright_agent::durable::NewRun;
///
/// let run = NewRun::new("ticket-7", "support", "refund order 7").user("ada").session("desk-3");
/// assert_eq!((run.id(), run.agent()), ("ticket-7", "support"));
/// ```
#[derive(Clone)]
pub struct NewRun {
    pub(super) info: RunInfo,
    pub(super) task: String,
    pub(super) attachments: Arc<[Content<'static>]>,
    pub(super) history: Vec<Message>,
}

/// The data that describes a run, without its history. A runner's function for
/// [`services`](super::RunnerBuilder::services) makes the services of the run from this data.
#[derive(Clone, PartialEq)]
pub struct RunInfo {
    pub(super) id: String,
    pub(super) agent: String,
    pub(super) user: Option<String>,
    pub(super) session: Option<String>,
    pub(super) data: Value,
}

impl NewRun {
    /// Describes a new run: its id, which no other run of the journal may have, its agent, and the first message of its
    /// user.
    pub fn new(id: impl Into<String>, agent: impl Into<String>, task: impl Into<String>) -> Self {
        let (id, agent) = (id.into(), agent.into());
        let info = RunInfo { id, agent, user: None, session: None, data: Value::Null };
        let (attachments, history) = (Arc::default(), Vec::new());
        Self { info, task: task.into(), attachments, history }
    }

    /// Sets the user of the run; approvers see the name.
    #[must_use]
    pub fn user(mut self, name: impl Into<String>) -> Self {
        self.info.user = Some(name.into());
        self
    }

    /// Sets the session of the run. Grants of scope `session` apply to all runs of a session.
    #[must_use]
    pub fn session(mut self, id: impl Into<String>) -> Self {
        self.info.session = Some(id.into());
        self
    }

    /// Adds pictures and documents to the user's first message, whose text may then be empty.
    #[must_use]
    pub fn attached(mut self, attachments: impl Into<Arc<[Content<'static>]>>) -> Self {
        self.attachments = attachments.into();
        self
    }

    /// Begins with a history that another program wrote and that [`import`](crate::import) has repaired. The history is
    /// recorded with the user's first message. None of the calls in the history run again.
    ///
    /// ```
    /// use toolwright_agent::durable::NewRun;
    /// use toolwright_agent::{Message, import};
    ///
    /// let imported = import([Message::user("Hello!"), Message::assistant("Good morning.", [])])?;
    /// let run = NewRun::new("r1", "support", "close my ticket").imported(imported);
    /// # let _ = run;
    /// # Ok::<(), toolwright_agent::ImportError>(())
    /// ```
    #[must_use]
    pub fn imported(mut self, imported: Imported) -> Self {
        self.history = imported.history;
        self
    }

    /// Attaches the data from which the application makes the services of the run each time that a process takes the
    /// run.
    #[must_use]
    pub fn data(mut self, data: impl Into<Value>) -> Self {
        self.info.data = data.into();
        self
    }

    /// Returns the id of the run.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.info.id
    }

    /// Returns the name of the run's agent.
    #[must_use]
    pub fn agent(&self) -> &str {
        &self.info.agent
    }
}

impl RunInfo {
    /// Returns the id of the run.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns the name of the run's agent.
    #[must_use]
    pub fn agent(&self) -> &str {
        &self.agent
    }

    /// Returns the user of the run, if there is one.
    #[must_use]
    pub fn user(&self) -> Option<&str> {
        self.user.as_deref()
    }

    /// Returns the session of the run, if there is one.
    #[must_use]
    pub fn session(&self) -> Option<&str> {
        self.session.as_deref()
    }

    /// Returns the data that the application stored with the run, or `null`.
    #[must_use]
    pub fn data(&self) -> &Value {
        &self.data
    }
}

/// Omits the task and the application's data.
impl fmt::Debug for NewRun {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("NewRun").field(&self.info).finish()
    }
}

/// Omits the application's data, which may hold secrets.
impl fmt::Debug for RunInfo {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("RunInfo")
            .field("id", &self.id)
            .field("agent", &self.agent)
            .field("user", &self.user)
            .finish_non_exhaustive()
    }
}
