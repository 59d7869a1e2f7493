//! The end of a run, and what a run has taken note of.

use super::super::outcome::CallFailure;
use super::sweep::PAGE;
use super::tool_and_run::ended_key;
use super::{JournaledCall, not_recorded};
use toolwright_core::context::CallId;
use toolwright_core::error::ToolError;
use toolwright_journal::journal::{DocumentWrite, Filter, Page, State, Transaction};

impl JournaledCall<'_> {
    /// Ends everything of a run that has not begun, and lets nothing of it begin.
    pub(crate) async fn end_run(self, run: &str) -> Result<usize, CallFailure> {
        if run == self.run.id() {
            self.run.end();
        }
        let key = ended_key(run);
        let said = DocumentWrite { key, expects: None, text: Some(self.journal.now().to_string()) };
        let unit = Transaction { calls: Vec::new(), documents: vec![said] };
        match self.journal.store.commit(unit, self.journal.now()).await {
            Ok(()) => {}
            // It was ended before.
            Err(error) if error.is_conflict() => {}
            Err(error) => return Err(not_recorded(run, error)),
        }
        let filter = Filter {
            states: vec![State::Judging, State::Planned, State::Pending, State::Ready],
            run: Some(run.to_owned()),
            ..Filter::default()
        };
        let mut ended = 0;
        loop {
            let some = self.journal.store.list(&filter, Page::first(PAGE)).await;
            let some = some.map_err(|error| not_recorded(run, error.into()))?;
            if some.is_empty() {
                return Ok(ended);
            }
            for record in some {
                let error = ToolError::new("cancelled", format!("run `{run}` has ended"));
                let now = self.end_unbegun(record.id, &error, "its run has ended").await?;
                ended += usize::from(now.state == State::Cancelled);
            }
        }
    }

    /// Notes that a run has taken the answer of a call.
    pub(crate) async fn acknowledge(self, id: CallId) -> Result<(), CallFailure> {
        let record = self.load(id).await?;
        let tool = record.tool;
        if record.answer.is_none() {
            return Err(CallFailure::NotAnswered { call: id, tool, state: record.state });
        }
        if record.delivered {
            return Ok(());
        }
        // It may run again after its answer, and must not be taken from whoever runs it.
        match self.journal.store.acknowledge(id).await {
            Ok(()) => Ok(()),
            Err(error) => Err(not_recorded(&tool, error)),
        }
    }
}
