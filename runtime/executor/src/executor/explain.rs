//! Evaluates the policy and the tool's validation for a call, and computes the facts about the call, without running
//! its tool.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use crate::call::{About, Rules, RunState, own_of};
use crate::catalog::Form;
use crate::lifecycle::Lifecycle;
use crate::stage;
use toolwright_core::call::Call;
use toolwright_core::capability::Scope;
use toolwright_core::context::{CallId, Identity};
use toolwright_core::error::ToolError;
use toolwright_core::footprint::Facts;
use toolwright_journal::arguments::FinalArguments;
use toolwright_policy::policy::{Explanation, PolicyDecision};

impl RunState {
    /// Evaluates these rules for a call of this run, without making the call. The policies of the agents on whose
    /// behalf the run makes calls are not evaluated.
    pub(super) fn explain(
        self: &Arc<Self>,
        rules: &Rules,
        call: &Call<'_>,
    ) -> Result<Explanation, ToolError> {
        let sources = match rules.current().looks_at_what_was_read() {
            true => self.read_text().sources(),
            false => Some(Arc::default()),
        };
        self.ask_about(rules, call, sources, |about, arguments| {
            rules.explain(about, arguments.arguments())
        })
    }

    /// Decides on a call of this run as the policies of the executor and of the agents on whose behalf the run makes
    /// calls do, without making the call.
    pub(super) fn judge(self: &Arc<Self>, call: &Call<'_>) -> Result<PolicyDecision, ToolError> {
        let rules = &self.core.rules;
        self.ask_about(rules, call, self.known_sources(), |about, arguments| {
            rules.evaluate(self, about, arguments).verdict
        })
    }

    /// Computes the facts and the final arguments of a call, and asks `answer` about them.
    fn ask_about<T>(
        self: &Arc<Self>,
        rules: &Rules,
        call: &Call<'_>,
        sources: Option<Arc<[String]>>,
        answer: impl FnOnce(About<'_>, &FinalArguments) -> T,
    ) -> Result<T, ToolError> {
        let found = stage::find(self, call.name())?;
        let plan = found.plan();
        let (mut facts, arguments) =
            stage::finalize(self, rules, plan, call, sent(call), CallId::new())?;
        stage::ask_at_once(self, plan, call, &arguments, &mut facts);
        let untrusted = sources.as_deref();
        let about = About { plan, facts: &facts, user: self.user(), untrusted, accepted: false };
        Ok(answer(about, &arguments))
    }

    /// Reads from the journal which untrusted sources the run has read in other processes, as the policy may depend on
    /// them.
    pub(super) async fn read_sources(self: &Arc<Self>, tool: &str) -> Result<(), ToolError> {
        let Some(lifecycle) = Lifecycle::of(self) else { return Ok(()) };
        let read = lifecycle.sources(self.id(), tool).await;
        read.map(drop).map_err(|failure| ToolError::internal(failure.to_string()))
    }

    /// Checks the final arguments of a call by the tool's validation.
    pub(super) async fn validate(self: &Arc<Self>, call: &Call<'_>) -> Result<(), ToolError> {
        let found = stage::find(self, call.name())?;
        let (plan, rules, id) = (found.plan(), &self.core.rules, CallId::new());
        let (_, arguments) = stage::finalize(self, rules, plan, call, sent(call), id)?;
        stage::validate(self, plan, call, arguments.arguments(), Some(Identity::of(id))).await
    }

    /// Returns the facts that the policy would receive for a call of this run.
    pub(super) fn examine(self: &Arc<Self>, call: &Call<'_>) -> Result<Facts, ToolError> {
        let found = stage::find(self, call.name())?;
        let plan = found.plan();
        let own = own_of(self, plan, call, None)?;
        let scope = Scope::new(&self.values, &plan.wiring, call, own.as_ref());
        let read = AssertUnwindSafe(|| {
            let mut facts = plan.facts();
            facts.ask_for_footprint(plan.entry.definition.effect);
            let _unpolled = stage::read(plan, scope, call.arguments(), Form::Sent, &mut facts)?;
            plan.raise_danger(&mut facts);
            Ok(facts)
        });
        let read = catch_unwind(read);
        let mut facts = read.unwrap_or_else(|panic| Err(stage::panicked(call.name(), panic)))?;
        if plan.entry.spec.asks.is_some() {
            let (rules, id) = (&self.core.rules, CallId::new());
            let (_, arguments) = stage::finalize(self, rules, plan, call, sent(call), id)?;
            stage::ask_at_once(self, plan, call, &arguments, &mut facts);
        }
        Ok(facts)
    }
}

fn sent<'c>(call: &'c Call<'_>) -> (&'c str, Form) {
    (call.arguments(), Form::Sent)
}
