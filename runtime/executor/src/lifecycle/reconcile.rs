//! Asks a tool for the unknown outcome of a call.

use super::driver::Lifecycle;
use super::step::{Input, Reconciliation};
use crate::call::{CallFailure, identity_of, own_of};
use crate::stage;
use toolwright_core::call::Call;
use toolwright_core::capability::Scope;
use toolwright_core::error::ToolError;
use toolwright_core::footprint::Facts;
use toolwright_core::output::{Answer, Reconciled};
use toolwright_core::spec::Start;
use toolwright_journal::journal::CallRecord;

impl Lifecycle<'_> {
    /// Asks the tool for the outcome of a call, if the tool has a `reconcile` function. Returns whether the outcome is
    /// now known.
    pub(super) async fn reconcile(self, record: &CallRecord) -> Result<bool, CallFailure> {
        let found = self.tool(record).map_err(|why| not_here(record, why))?;
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
            let text = &plan.entry.own_final_text(&arguments)?;
            let start = Start { scope, text, keys, facts: &mut facts, changes: None };
            let future = reconcile(start).map_err(|problems| {
                ToolError::internal(format!("the reconciliation could not be begun: {problems}"))
            })?;
            stage::in_time(&record.tool, plan.timeout, future).await?
        };
        let looked = futures::FutureExt::catch_unwind(std::panic::AssertUnwindSafe(looked)).await;
        let happened = match looked {
            Ok(Ok(Reconciled::Happened(output))) => {
                Some(self.store_answer(record, &Answer::from(output)))
            }
            Ok(Ok(Reconciled::DidNotHappen)) => None,
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
        let found = Reconciliation { version: record.version, happened };
        let mut look = self.look(record.clone(), None, None);
        self.advance(&mut look, &mut Input::Reconciled(found)).await?;
        Ok(look.is_committed())
    }
}

fn not_here(record: &CallRecord, why: String) -> CallFailure {
    CallFailure::NotHere { call: record.id, tool: record.tool.clone(), why }
}
