//! A tool finds out what became of its call.

use super::super::outcome::CallFailure;
use super::{JournaledCall, not_recorded};
use crate::executor::own::identity_of;
use crate::executor::own::own_of;
use crate::stage;
use toolwright_core::call::Call;
use toolwright_core::capability::Scope;
use toolwright_core::error::ToolError;
use toolwright_core::footprint::Facts;
use toolwright_core::output::{Answer, Reconciled};
use toolwright_core::spec::Start;
use toolwright_journal::journal::{CallRecord, Transition};

impl JournaledCall<'_> {
    /// Asks the tool what became of a call, where it can tell.
    pub(super) async fn reconcile(self, record: &CallRecord) -> Result<bool, CallFailure> {
        let found = self.plan(record)?;
        let plan = found.plan();
        let Some(reconcile) = plan.entry.spec.reconcile else { return Ok(false) };
        let Ok(arguments) = self.arguments(record) else { return Ok(false) };
        let call = Call::new(record.tool.as_str(), arguments.as_str());
        let identity = identity_of(record);
        let looked = async {
            let own = own_of(self.run, plan, &call, Some(identity))?;
            let scope = Scope::new(&self.run.values, &plan.wiring, &call, own.as_ref());
            let mut facts: Facts = plan.facts();
            let keys = &plan.entry.keys;
            let start = Start { scope, text: &arguments, keys, facts: &mut facts, changes: None };
            let future = reconcile(start).map_err(|problems| {
                ToolError::internal(format!("the reconciliation could not be begun: {problems}"))
            })?;
            stage::in_time(&record.tool, plan.timeout, future).await?
        };
        let looked = futures::FutureExt::catch_unwind(std::panic::AssertUnwindSafe(looked)).await;
        let mut next = record.clone();
        let why = Some("its tool looked".to_owned());
        let entry = match looked {
            Ok(Ok(Reconciled::Happened(output))) => {
                let entry = self.step(&mut next, Transition::Happened, why)?;
                next.answer_with(self.store_answer(record, &Answer::from(output)));
                entry
            }
            Ok(Ok(Reconciled::DidNotHappen)) => {
                let entry = self.step(&mut next, Transition::DidNotHappen, why)?;
                // No person has said that it may be begun more often.
                next.attempt = record.attempt;
                entry
            }
            Ok(Ok(Reconciled::Unknown)) => return Ok(false),
            Ok(Err(error)) => {
                tracing::warn!(call = %record.id, %error, "a tool could not reconcile its call");
                return Ok(false);
            }
            Err(_) => {
                tracing::error!(call = %record.id, "a reconciliation panicked");
                return Ok(false);
            }
        };
        match self.write(Some(record.version), &next, vec![entry]).await {
            Ok(()) => Ok(true),
            Err(error) if error.is_conflict() => Ok(false),
            Err(error) => Err(not_recorded(&record.tool, error)),
        }
    }
}
