//! Says something to a run or a conversation while it works.

use std::fmt;

use crate::agent::{Agent, RunError};
use crate::durable::{self, ById, Urgency};
use crate::history::Prompt;
use crate::run::{Inbox, Stopped};

/// Says something to a conversation while a turn of it is under way; made by [`Chat::steering`](crate::Chat::steering). Cheap to
/// clone.
#[derive(Clone)]
pub struct Steering {
    agent: Agent,
    id: String,
    /// Nothing where the run is recorded.
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

    /// Says something: the model gets it with the next request, behind what was said before. A turn that is done does not end
    /// where something waits for it. Of a recorded conversation it is recorded before this returns.
    ///
    /// # Errors
    /// When no turn is under way, nothing is said, or the journal fails.
    pub async fn send(&self, prompt: impl Into<Prompt>) -> Result<(), RunError> {
        self.say(prompt.into(), Urgency::Next).await
    }

    /// Says something, as [`send`](Self::send) does, and does not wait for the end of a request to the model that is under way: that
    /// request is given up, what it took counts, and the model is asked again with what was said. No call is given up.
    ///
    /// # Errors
    /// As [`send`](Self::send).
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
