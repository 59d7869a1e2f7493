//! Continues an ended run with another message of its user.

use std::sync::Arc;

use toolwright::Content;
use toolwright::journal::DocumentWrite;

use super::deadline::deadline_of;
use super::head::{Head, Phase};
use super::record::DrivenRun;
use super::recorded::has_messages;
use super::rewind::refuse_rewound;
use super::runner::Inner;
use super::{RunError, keys};

impl Inner {
    /// Reopens an ended run with a message. Sets `before` to the number of earlier messages, unless it is set already.
    pub(super) async fn say_to_ended(
        &self,
        id: &str,
        text: &str,
        attachments: Arc<[Content<'static>]>,
        before: &mut Option<usize>,
    ) -> Result<DrivenRun, RunError> {
        let (head, version) = self.head(id).await?;
        let mut driven = self.opened_again(head, version).await?;
        before.get_or_insert(driven.run.history().len());
        driven.said_before().await?;
        driven.say(text, attachments).await?;
        Ok(driven)
    }

    /// Reopens an ended run if its inbox has messages that it has not read.
    ///
    /// # Errors
    /// [`RunError::LeaseLost`] if another process has read the messages first.
    pub(super) async fn spoken_of_inbox(&self, id: &str) -> Result<Option<DrivenRun>, RunError> {
        while has_messages(&*self.access.store, id).await? {
            let (head, version) = self.head(id).await?;
            if head.phase != Phase::Ended {
                return Err(RunError::LeaseLost { run: id.to_owned() });
            }
            match self.spoken_of(head, version).await {
                // A message was withdrawn, or another process was faster: read the inbox and the head again.
                Err(error) if error.is_elsewhere() => tokio::task::yield_now().await,
                spoken => return spoken,
            }
        }
        Ok(None)
    }

    async fn spoken_of(&self, head: Head, version: u64) -> Result<Option<DrivenRun>, RunError> {
        let mut driven = self.opened_again(head, version).await?;
        Ok(driven.said_before().await?.then_some(driven))
    }

    async fn opened_again(&self, head: Head, version: u64) -> Result<DrivenRun, RunError> {
        let run = head.run.clone();
        let not_now = |why: &str| RunError::NotNow { run: run.clone(), why: why.to_owned() };
        if head.phase != Phase::Ended {
            return Err(not_now("has not ended; resume it, or wait for its end"));
        }
        if head.rewound.is_some() {
            return Err(refuse_rewound(&head));
        }
        if head.cancelled.is_some() {
            return Err(not_now("was cancelled; start another"));
        }
        let head = Head { epoch: head.epoch + 1, ..head };
        let mut driven = self.load(head, version, false).await?;
        let limits = driven.run.state().limits();
        driven.record.recorded.head.deadline = deadline_of(&self.access, limits);
        // A cancellation that was requested after the end of the run must not end the work on this message.
        let key = keys::cancel(&run);
        if let Some(found) = self.access.store.document(&key).await? {
            let expects = Some(found.version);
            driven.record.recorded.also.push(DocumentWrite { key, expects, text: None });
        }
        Ok(driven)
    }
}

impl DrivenRun {
    /// Adds the messages that the run had not read when it ended. Returns whether the inbox had any.
    async fn said_before(&mut self) -> Result<bool, RunError> {
        let waiting = self.record.recorded.take_messages().await?;
        let has_some = !waiting.is_empty();
        // The commit that records a message also removes it from the inbox.
        let mut removals = std::mem::take(&mut self.record.recorded.taken).into_iter();
        for (index, message) in waiting.into_iter().enumerate() {
            self.record.recorded.taken = removals.next().into_iter().collect();
            let (text, attachments) = message.into_parts();
            match self.say(&text, attachments).await {
                // This message was withdrawn. The run is open again, and reads the messages after it with its next
                // request.
                Err(error) if error.is_elsewhere() && index > 0 => break,
                said => said?,
            }
        }
        Ok(has_some)
    }
}
