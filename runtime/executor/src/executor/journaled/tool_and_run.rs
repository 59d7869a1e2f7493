//! Whether a call can go on here: its tool, what its tool needs, and the life of its run.

use super::super::Plan;
use super::super::outcome::CallFailure;
use super::claim::Step;
use super::{JournaledCall, not_recorded};
use crate::stage::{self, Found};
use toolwright_core::call::Call;
use toolwright_core::error::{Class, ToolError};
use toolwright_journal::journal::{CallRecord, DocumentWrite};

/// What a tool needs that only the caller has.
pub(super) const NEEDS_ITS_CALLER: &str = "needs services that its caller brings with the call";

impl<'a> JournaledCall<'a> {
    /// The tool of a call, if it is here and needs nothing that only its own run has.
    pub(super) fn plan(self, record: &CallRecord) -> Result<Found<'a>, CallFailure> {
        let not_here = |why: String| not_here(record, why);
        let found = stage::find(self.run, &record.tool).map_err(|it| not_here(it.to_string()))?;
        let plan = found.plan();
        if plan.needs_run() && record.place.run != self.run.id() {
            return Err(not_here(format!(
                "it needs services of run `{run}`; go on with `executor.run(\"{run}\").with(…).start()?`",
                run = record.place.run
            )));
        }
        if let Some(missing) = plan.lacks.first() {
            return Err(not_here(missing.to_string()));
        }
        Ok(found)
    }

    /// Like [`plan`](Self::plan); a resolver is asked for a tool that is not known yet, as after a restart.
    pub(super) async fn sought(self, record: &CallRecord) -> Result<Found<'a>, CallFailure> {
        let call = Call::new(record.tool.as_str(), "");
        // What it finds is registered; what it does not find, the look-up below reports.
        let _found = stage::seek(self.run, &call).await;
        self.plan(record)
    }

    /// Whether somebody here could go on with the call: another process may have tools that this one has not.
    pub(super) fn is_ours(self, record: &CallRecord) -> bool {
        match self.plan(record) {
            // Of one that is answered nobody else comes: that it cannot run has to be found out here.
            Ok(found) => found.plan().from_call.is_empty() || record.answer.is_some(),
            Err(_) => {
                self.run.core.resolving.is_some() && stage::find(self.run, &record.tool).is_err()
            }
        }
    }

    /// Whether the services are here that the caller of the call has to bring.
    pub(super) fn has_services(
        self,
        plan: &Plan,
        record: &CallRecord,
        call: Option<&Call<'_>>,
    ) -> Result<(), CallFailure> {
        if call.is_some() || plan.from_call.is_empty() {
            return Ok(());
        }
        Err(not_here(record, format!("it {NEEDS_ITS_CALLER}")))
    }

    pub(super) async fn run_has_ended(self, record: &CallRecord) -> Result<bool, CallFailure> {
        let ended = self.journal.store.document(&ended_key(&record.place.run)).await;
        ended.map(|it| it.is_some()).map_err(|error| not_recorded(&record.tool, error.into()))
    }

    pub(super) async fn end_with_run(self, record: &CallRecord) -> Result<Step, CallFailure> {
        let ended = ToolError::new("cancelled", format!("the run of `{}` has ended", record.tool))
            .class(Class::Cancelled);
        let record = self.end_unbegun(record.id, &ended, "its run has ended").await?;
        Ok(Step::Moved(Box::new(record)))
    }
}

pub(super) fn not_here(record: &CallRecord, why: String) -> CallFailure {
    CallFailure::NotHere { call: record.id, tool: record.tool.clone(), why }
}

/// That a run has not ended: a condition of what is begun for it.
pub(super) fn not_ended(run: &str) -> DocumentWrite {
    DocumentWrite { key: ended_key(run), expects: None, text: None }
}

/// The document that says that a run has ended.
pub(super) fn ended_key(run: &str) -> String {
    format!("run/{run}/ended")
}
