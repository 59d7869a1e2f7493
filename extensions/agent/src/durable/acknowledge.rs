//! Acknowledges calls: notes in the journal that their run has recorded their answers.

use toolwright::journal::{CallRecord, CallSlot, State, Store, StoreError};

use super::record::RunRecord;
use crate::history::Message;
use crate::run::BackgroundCall;

/// A turn whose answers the run has recorded, but whose calls the journal does not yet mark as acknowledged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct UnacknowledgedTurn {
    turn: u64,
    calls: u32,
}

impl UnacknowledgedTurn {
    /// Returns the last turn of a history, if it has tool results and the model has not answered since. `turn` is the
    /// number of that turn.
    pub(super) fn last_of(history: &[Message], turn: u64) -> Option<Self> {
        let since = history.iter().rev().take_while(|it| !matches!(it, Message::Assistant { .. }));
        let calls = since.filter_map(|message| match message {
            Message::ToolResults(answers) => Some(answers.len()),
            _ => None,
        });
        let calls = u32::try_from(calls.last()?).unwrap_or(u32::MAX);
        Some(Self { turn, calls })
    }

    /// Acknowledges the calls of the turn, except those in the background, whose results the run has not read. Returns
    /// whether nothing is left to do. Something is left if the store fails, or if a call that the run has given up has
    /// not ended in another process: the caller then tries again later.
    pub(super) async fn acknowledge_calls(
        self,
        store: &dyn Store,
        run: &str,
        background: &[BackgroundCall],
    ) -> bool {
        let mut is_done = true;
        for index in 0..self.calls {
            is_done &= match store.at(&self.slot(run, index)).await {
                Ok(Some(record)) if background.iter().any(|it| it.call == record.id) => true,
                Ok(Some(record)) if may_go_on(&record) => false,
                Ok(Some(record)) if record.answer.is_some() && !record.delivered => {
                    store.acknowledge(record.id).await.is_ok()
                }
                Ok(_) => true,
                Err(error) => {
                    tracing::warn!(run, turn = self.turn, index, %error, "a call is not acknowledged");
                    false
                }
            };
        }
        is_done
    }

    /// Returns the calls that the run has given up although they may still go on: the run has recorded an answer for
    /// each of them, and the journal has none. For example, the process that ran such a call has died.
    pub(super) async fn given_up(
        self,
        store: &dyn Store,
        run: &str,
    ) -> Result<Vec<CallRecord>, StoreError> {
        let mut given_up = Vec::new();
        for index in 0..self.calls {
            given_up.extend(store.at(&self.slot(run, index)).await?.filter(may_go_on));
        }
        Ok(given_up)
    }

    fn slot(self, run: &str, index: u32) -> CallSlot {
        CallSlot { run: run.to_owned(), turn: Some(self.turn), index }
    }
}

/// Returns whether a call may still continue: it has no answer in the journal, and does not wait for a person to find
/// out its outcome.
pub(super) fn may_go_on(record: &CallRecord) -> bool {
    record.answer.is_none() && record.state != State::Indeterminate
}

impl RunRecord {
    /// Acknowledges the calls of the turns in `self.left`. The run has recorded the answers of these calls already, so
    /// a failure loses nothing.
    pub(super) async fn acknowledge(&mut self) {
        let store = &self.recorded.access().store;
        let mut left = Vec::new();
        for calls in self.left.drain(..) {
            let run = &self.recorded.head.run;
            if !calls.acknowledge_calls(&**store, run, &self.background).await {
                left.push(calls);
            }
        }
        self.left = left;
    }
}
