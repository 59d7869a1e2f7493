//! Sends messages to a run or a conversation while it works.

use std::fmt;

use crate::agent::{Agent, RunError};
use crate::durable::{self, ById, Urgency};
use crate::history::Prompt;
use crate::run::{Inbox, Stopped};

/// A handle that sends messages to a conversation while a turn is in progress. Made by
/// [`Chat::steering`](crate::Chat::steering); cloning is cheap.
#[derive(Clone)]
pub struct Steering {
    agent: Agent,
    id: String,
    /// The inbox of a run in memory; `None` if the run is recorded.
    inbox: Option<Inbox>,
}

impl Steering {
    pub(crate) fn new(agent: &Agent, id: String, inbox: Option<Inbox>) -> Self {
        Self { agent: agent.clone(), id, inbox }
    }

    pub(super) fn agent(&self) -> &Agent {
        &self.agent
    }

    pub(super) fn id(&self) -> &str {
        &self.id
    }

    /// Sends a message: the model gets the message with the next request, after all earlier messages. A turn whose
    /// model is done continues if it has an unread message. If the conversation is recorded, the message is recorded
    /// before this method returns. If the turn stops before the model has read the message,
    /// [`Chat::resume`](crate::Chat::resume) passes it on.
    ///
    /// # Errors
    /// When no turn is in progress, the message is empty, or the journal fails.
    pub async fn send(&self, prompt: impl Into<Prompt>) -> Result<(), RunError> {
        self.say(prompt.into(), Urgency::Next).await
    }

    /// Sends a message, as [`send`](Self::send) does, and interrupts a request to the model that is in progress: the
    /// run aborts the request, counts its usage, and asks the model again with the message, unless that usage reaches a
    /// limit of the run. Calls are not interrupted.
    ///
    /// # Errors
    /// The errors of [`send`](Self::send).
    pub async fn send_now(&self, prompt: impl Into<Prompt>) -> Result<(), RunError> {
        self.say(prompt.into(), Urgency::Now).await
    }

    pub(super) async fn say(&self, prompt: Prompt, urgency: Urgency) -> Result<(), RunError> {
        if prompt.text.trim().is_empty() && prompt.attachments.is_empty() {
            return Err(Stopped::NothingSaid.into());
        }
        match &self.inbox {
            Some(inbox) => {
                let put = match urgency {
                    Urgency::Next => inbox.put(prompt),
                    Urgency::Now => inbox.put_now(prompt),
                };
                put.map_err(|_| self.has_ended())
            }
            None => Ok(ById::put(&self.agent, &self.id, prompt, urgency).await?),
        }
    }

    fn has_ended(&self) -> RunError {
        let why = "does not work at the moment; say it in a conversation".to_owned();
        durable::RunError::NotNow { run: self.id.clone(), why }.into()
    }
}

impl fmt::Debug for Steering {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Steering").field("id", &self.id).finish_non_exhaustive()
    }
}
