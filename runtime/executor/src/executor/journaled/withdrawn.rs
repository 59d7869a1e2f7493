//! Whoever makes a call outside of turns gets one answer. Where they go before it is there, nothing of the call may happen
//! later: they would make it again, and nobody could know it as the same.

use std::sync::Arc;
use std::time::Duration;

use super::super::RunState;
use super::super::outcome::CallFailure;
use super::JournaledCall;
use crate::stage;
use toolwright_core::context::CallId;

/// How often the journal is asked for a call whose commit may still be under way, each pause twice the last.
const LOOKS: u32 = 10;

/// The first pause.
const PAUSE: Duration = Duration::from_millis(10);

/// A call whose answer somebody waits for. Dropped before it is answered, what has not begun of it is cancelled.
pub(super) struct Waits<'a> {
    run: &'a Arc<RunState>,
    id: CallId,
    is_answered: bool,
}

impl<'a> Waits<'a> {
    pub(super) fn new(run: &'a Arc<RunState>, id: CallId) -> Self {
        Self { run, id, is_answered: false }
    }

    pub(super) fn answered(mut self) {
        self.is_answered = true;
    }
}

impl Drop for Waits<'_> {
    fn drop(&mut self) {
        if self.is_answered {
            return;
        }
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        let (run, id) = (Arc::clone(self.run), self.id);
        runtime.spawn(async move {
            if let Some(journaled) = JournaledCall::of(&run) {
                journaled.withdraw(id).await;
            }
        });
    }
}

impl JournaledCall<'_> {
    async fn withdraw(self, id: CallId) {
        for pause in pauses() {
            match self.load(id).await {
                Ok(record) => {
                    let error = stage::cancelled(&record.tool);
                    let ended =
                        self.end_unbegun(id, &error, "whoever waited for it has gone").await;
                    if let Err(failure) = ended {
                        tracing::warn!(call = %id, %failure, "a call that nobody waits for could not be withdrawn");
                    }
                    return;
                }
                // Most calls that are not recorded never are.
                Err(CallFailure::NoSuchCall(_)) => tokio::time::sleep(pause).await,
                Err(failure) => {
                    tracing::warn!(call = %id, %failure, "a call that nobody waits for could not be withdrawn");
                    return;
                }
            }
        }
    }
}

/// How long the journal is given for a commit that nobody heard of: longer than a store waits for another program.
pub(super) fn pauses() -> impl Iterator<Item = Duration> {
    (0..LOOKS).map(|look| PAUSE * 2_u32.pow(look))
}
