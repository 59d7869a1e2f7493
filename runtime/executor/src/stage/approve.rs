//! Evaluates the policy for a call that no journal records. If the call needs approval, it is refused, because there is
//! no approver.

use crate::call::Refusal;
use futures::future::BoxFuture;

use super::gate::{Gate, KnownFacts, gate};
use crate::call::{About, Plan, RunState, Watch};
use toolwright_core::capability::Scope;
use toolwright_core::error::ToolError;
use toolwright_core::footprint::Facts;
use toolwright_core::output::Answer;
use toolwright_journal::arguments::FinalArguments;
use toolwright_policy::policy::Evaluation;

/// A call whose input has been read, and which the policy evaluates next.
pub(crate) struct EvaluationInput<'a, 's> {
    pub(crate) run: &'a RunState,
    pub(crate) plan: &'a Plan,
    pub(crate) scope: Scope<'s>,
    pub(crate) arguments: &'a str,
    pub(crate) facts: &'a Facts,
    pub(crate) watch: Option<&'a Watch<'a>>,
}

/// Refuses a call if its tool requires approval. Used for calls to which no policy applies.
#[inline]
pub(crate) fn refuse_unasked(plan: &Plan, facts: &Facts) -> Result<(), ToolError> {
    match &facts.approval {
        None => Ok(()),
        Some(reason) => Err(refused(&plan.entry.name, reason)),
    }
}

/// Evaluates the policy. If the policy needed the final arguments, returns a future that runs with exactly these
/// arguments. It replaces the future that the caller has made from the input.
#[cold]
pub(crate) fn approve<'s>(
    read: &EvaluationInput<'_, 's>,
) -> Result<Option<BoxFuture<'s, Answer>>, ToolError> {
    let (judged, settled) = judge(read)?;
    if let Some(watch) = read.watch {
        watch.report_decision(&judged.verdict);
    }
    admit_verdict(&judged, read.run, read.plan).map(|()| settled)
}

/// Evaluates the policy for a call with these final arguments. The error refuses the call.
pub(crate) fn approved_final(
    run: &RunState,
    plan: &Plan,
    facts: &Facts,
    arguments: &FinalArguments,
    watch: Option<&Watch<'_>>,
) -> Result<(), ToolError> {
    let rules = &run.core.rules;
    if run.is_open() {
        return refuse_unasked(plan, facts);
    }
    let sources = run.known_sources();
    let untrusted = sources.as_deref();
    let about = About { plan, facts, user: run.user(), untrusted, accepted: false };
    let judged = rules.evaluate(run, about, arguments);
    if let Some(watch) = watch {
        watch.report_decision(&judged.verdict);
    }
    admit_verdict(&judged, run, plan)
}

fn admit_verdict(judged: &Evaluation, run: &RunState, plan: &Plan) -> Result<(), ToolError> {
    match gate(&judged.verdict, KnownFacts::NO_JOURNAL) {
        Ok(Gate::Allow) => Ok(()),
        Ok(Gate::Refuse(refusal)) => Err(refusal.error(&plan.entry.name, run.id())),
        // Without a journal, no further fact can be read, no person can be asked and no call can wait.
        Ok(Gate::Ask(_) | Gate::Plan | Gate::Fail(_)) | Err(_) => {
            Err(refused(&plan.entry.name, "it has to be decided"))
        }
    }
}

/// Evaluates the policy. If a rule depends on arguments, or the call is made on behalf of an agent, makes the arguments
/// final first.
fn judge<'s>(
    read: &EvaluationInput<'_, 's>,
) -> Result<(Evaluation, Option<BoxFuture<'s, Answer>>), ToolError> {
    let rules = &read.run.core.rules;
    let plan = read.plan;
    let user = read.run.user();
    let sources = read.run.known_sources();
    let untrusted = sources.as_deref();
    let about = About { plan, facts: read.facts, user, untrusted, accepted: false };
    // The policy may be reloaded meanwhile, so both steps use the same policy.
    let policy = rules.current();
    if policy.looks_at_arguments(&plan.entry.name) || read.run.delegated().is_some() {
        let (facts, final_arguments, future) =
            super::finalize_and_read(read.run, rules, plan, read.scope, read.arguments)?;
        let about = About { facts: &facts, ..about };
        let evaluation = about.judged(read.run, &policy, Some(&final_arguments));
        return Ok((evaluation, Some(future)));
    }
    Ok((about.judged(read.run, &policy, None), None))
}

#[cold]
fn refused(tool: &str, reason: &str) -> ToolError {
    Refusal::NoApprover(reason.to_owned()).error(tool, "")
}
