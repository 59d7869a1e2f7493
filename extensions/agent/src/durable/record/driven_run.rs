//! A run that this process drives.

use std::sync::Arc;

use toolwright::Content;

use super::RunRecord;
use crate::durable::RunError;
use crate::durable::progress::Progress;
use crate::events::NoticeKind;
use crate::history::Prompt;
use crate::run::{AgentRun, Driver, Rest};

/// A run that this process drives, and its record.
pub(in crate::durable) struct DrivenRun {
    pub run: AgentRun,
    pub record: RunRecord,
    /// How the agent differs from the agent that drove the run before.
    pub differences: Vec<String>,
}

impl DrivenRun {
    /// Drives the run until it ends, waits or cannot continue in this process.
    pub(in crate::durable) async fn drive(&mut self) -> Result<Progress, RunError> {
        self.run.begin_events(self.record.recorded.head.epoch);
        if !self.differences.is_empty() {
            tracing::warn!(run = self.run.id(), differences = ?self.differences, "a run goes on with another agent");
            self.run.notify(NoticeKind::Differs { differences: &self.differences });
        }
        let driver = Driver { run: &mut self.run, recorder: &mut self.record };
        Ok(match driver.drive().await? {
            Rest::Ended(ended) => Progress::Ended(ended),
            Rest::Waiting(waiting) => Progress::Waiting(waiting),
        })
    }

    /// Records a message of the user.
    pub(in crate::durable) async fn say(
        &mut self,
        text: &str,
        attachments: Arc<[Content<'static>]>,
    ) -> Result<(), RunError> {
        let prompt = Prompt { text: text.to_owned(), attachments: attachments.to_vec() };
        let (state, actions) = self.run.hear(prompt).await;
        Driver { run: &mut self.run, recorder: &mut self.record }.commit(state, actions, None).await
    }
}
