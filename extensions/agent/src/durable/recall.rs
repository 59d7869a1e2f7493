//! Cancels the calls of a run that has ended without an answer, so that no worker begins them again.
//!
//! - A call in the background may still be in progress, because the driver of the run died before it cancelled the
//!   call.
//! - A call that the run gave up ran in a process that died. The lease of the call ends later, and a worker would then
//!   run the call again.

use toolwright::{CallFailure, CallId};

use super::RunError;
use super::acknowledge::UnacknowledgedTurn;
use super::head::Head;
use super::record::RunRecord;
use super::runner::Inner;
use crate::agent::Agent;
use crate::run::{BackgroundCall, State, Stopped};

impl Inner {
    /// Cancels those calls of an ended run that may still be running or may begin again. Does nothing if the run ended
    /// with an answer (`is_answer`).
    pub(super) async fn recall(
        &self,
        head: &Head,
        left: &[UnacknowledgedTurn],
        background: &[BackgroundCall],
        is_answer: bool,
    ) -> Result<(), RunError> {
        if is_answer || (background.is_empty() && left.is_empty()) {
            return Ok(());
        }
        let mut calls: Vec<CallId> = background.iter().map(|it| it.call).collect();
        for turn in left {
            let given_up = turn.given_up(&*self.access.store, &head.run).await?;
            calls.extend(given_up.into_iter().map(|it| it.id));
        }
        if calls.is_empty() {
            return Ok(());
        }
        cancel(self.agent(&head.agent)?, head, &calls).await
    }
}

impl RunRecord {
    /// Cancels the calls that a cancelled run has given up, once the run has ended, so that none of them begins again.
    pub(super) async fn recall_given_up(&self, state: &State) {
        let head = &self.recorded.head;
        if head.cancelled.is_none() || state.due().is_some() {
            return;
        }
        for turn in &self.left {
            let given_up = turn.given_up(&*self.recorded.access().store, &head.run).await;
            let calls: Vec<CallId> = given_up.iter().flatten().map(|it| it.id).collect();
            if let Some(error) = match calls[..] {
                [] => given_up.err().map(RunError::from),
                _ => cancel(&self.agent, head, &calls).await.err(),
            } {
                // A worker on the journal cancels the calls when it next reads the run.
                tracing::warn!(run = head.run, %error, "calls of a cancelled run may begin again");
            }
        }
    }
}

/// Cancels calls. Calls that still run in other processes do not begin again if the run was cancelled: no message
/// reopens such a run, so the executor may treat it as ended for good.
async fn cancel(agent: &Agent, head: &Head, calls: &[CallId]) -> Result<(), RunError> {
    let Some(worker) = agent.0.executor.worker() else { return Ok(()) };
    if head.cancelled.is_some() {
        worker.end_run(&head.run).await.map_err(Stopped::from)?;
    }
    for call in calls {
        match worker.cancel(*call).await.failure() {
            // There is nothing to cancel: the record of the call was removed.
            None | Some(CallFailure::NoSuchCall(_)) => {}
            Some(failure) => return Err(Stopped::from(failure.clone()).into()),
        }
    }
    Ok(())
}
