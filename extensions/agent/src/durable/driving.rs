//! Drives a run in this process until it ends or rests.

use std::sync::Arc;

use super::RunError;
use super::decide::CallStatus;
use super::progress::{Progress, Waiting};
use super::record::{DrivenRun, RunRecord};
use super::recorded::has_messages;
use super::runner::Inner;
use super::taken_by::TakenBy;

impl Inner {
    /// Takes a run if this process may, and drives it.
    pub(super) async fn gone_on(&self, run: &str, by: TakenBy) -> Result<Progress, RunError> {
        match Box::pin(self.take_run(run, by)).await? {
            Ok(mut driven) => self.drive(&mut driven).await,
            Err(progress) => Ok(progress),
        }
    }

    /// Takes a run for a worker and drives it. The worker limits how many runs run calls at once.
    pub(super) async fn worked_on(&self, run: &str) -> Result<(), RunError> {
        if let Ok(mut driven) = Box::pin(self.take_run(run, TakenBy::Worker)).await? {
            driven.record.places = Some(Arc::clone(&self.places));
            self.drive(&mut driven).await?;
        }
        Ok(())
    }

    /// Drives a run as far as possible in this process, and continues it with messages that arrived while it ended.
    pub(super) async fn drive(&self, driven: &mut DrivenRun) -> Result<Progress, RunError> {
        loop {
            let progress = self.driven_once(driven).await?;
            if let Progress::Waiting(waiting) = &progress
                && let Some(more) = self.said_while_it_rested(waiting).await
            {
                let places = driven.record.places.take();
                *driven = more;
                driven.record.places = places;
                continue;
            }
            let recorded = &mut driven.record.recorded;
            let (Progress::Ended(end), true) =
                (&progress, std::mem::take(&mut recorded.is_said_more))
            else {
                return Ok(progress);
            };
            let is_answer = end.is_answer() && recorded.head.cancelled.is_none();
            let run = recorded.head.run.clone();
            let more = match is_answer {
                // The future is boxed because it is large.
                true => Box::pin(self.spoken_of_inbox(&run)).await,
                false => Ok(None),
            };
            let more = match more {
                // Another process goes on with the message; this process has driven the run to its end.
                Err(error) if error.is_elsewhere() => return Ok(progress),
                more => more?,
            };
            match more {
                Some(more) => {
                    let places = driven.record.places.take();
                    *driven = more;
                    driven.record.places = places;
                }
                // No message continues the run: a message that arrived was withdrawn, or the run reads it with the next
                // message.
                None => {
                    // The calls in the background are cancelled before the run is listed as ended. If the listing
                    // fails, a worker on the journal lists the run.
                    let RunRecord { recorded, background, left, .. } = &mut driven.record;
                    if let Err(error) =
                        self.recall(&recorded.head, left, background, is_answer).await
                    {
                        tracing::warn!(run, %error, "calls in the background were not cancelled");
                        return Ok(progress);
                    }
                    let left = std::mem::take(left);
                    let _ = recorded.list_as_ended(&left, background, is_answer).await;
                    if !driven.record.recorded.is_said_more {
                        return Ok(progress);
                    }
                }
            }
        }
    }

    /// Takes a run that waits only for calls in the background again, if a message came after the driver last read the
    /// inbox. Otherwise no process would read the message before a result of these calls comes.
    async fn said_while_it_rested(&self, waiting: &Waiting) -> Option<DrivenRun> {
        if !waiting.calls.iter().any(|it| it.in_background)
            || !has_messages(&*self.access.store, &waiting.run).await.ok()?
        {
            return None;
        }
        // If another process has taken the run meanwhile, that process reads the message.
        Box::pin(self.take_run(&waiting.run, TakenBy::Worker)).await.ok()?.ok()
    }

    async fn driven_once(&self, driven: &mut DrivenRun) -> Result<Progress, RunError> {
        let run = driven.run.id().to_owned();
        // The future is boxed because it is large.
        let progress = Box::pin(driven.drive()).await?;
        if let Progress::Waiting(waiting) = &progress {
            let now = self.access.now();
            let (calls, versions, _) = self.calls(&waiting.calls, now).await?;
            if calls.contains(&CallStatus::MayGoOn) {
                self.remembered.took_in_vain(&run, versions, now);
            }
        }
        Ok(progress)
    }
}
