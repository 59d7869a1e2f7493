//! Makes a call's arguments final before the policy evaluates the call, so that the policy, the approver and the tool
//! read the same text.

use std::borrow::Cow;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use futures::future::BoxFuture;

use super::input::{read, read_text};
use super::invoke::panicked;
use crate::call::{Plan, Rules, RunState, check_covered, own_of};
use crate::catalog::Form;
use toolwright_core::call::Call;
use toolwright_core::capability::Scope;
use toolwright_core::context::{CallId, Identity};
use toolwright_core::error::ToolError;
use toolwright_core::footprint::Facts;
use toolwright_core::output::Answer;
use toolwright_journal::arguments::FinalArguments;

/// Makes the final arguments of a call, and the facts about the call with these arguments. The tool's function does not
/// run. A panic while the input is read is returned as an error.
pub(crate) fn finalize(
    run: &Arc<RunState>,
    rules: &Rules,
    plan: &Plan,
    call: &Call<'_>,
    (arguments, form): (&str, Form),
    id: CallId,
) -> Result<(Facts, FinalArguments), ToolError> {
    let own = own_of(run, plan, call, Some(Identity::of(id)))?;
    let scope = Scope::new(&run.values, &plan.wiring, call, own.as_ref());
    let read = || {
        let (mut facts, accepted, final_arguments) =
            accept(run, rules, plan, scope, (arguments, form))?;
        // The input is already final and needed no repairs, so reading it again would give the same facts.
        let is_read =
            matches!(accepted, Cow::Borrowed(text) if text == final_arguments.arguments());
        if is_read {
            plan.raise_danger(&mut facts);
            check_covered(run, plan, &facts)?;
            return Ok((facts, final_arguments));
        }
        let (facts, _unpolled) = read_again(run, rules, plan, scope, &final_arguments, facts)?;
        Ok((facts, final_arguments))
    };
    let read = catch_unwind(AssertUnwindSafe(read));
    read.unwrap_or_else(|panic| Err(panicked(call.name(), panic)))
}

/// Makes the final arguments, the facts, and the future that runs with exactly these arguments. The future is not
/// polled.
pub(crate) fn finalize_and_read<'a>(
    run: &RunState,
    rules: &Rules,
    plan: &Plan,
    scope: Scope<'a>,
    arguments: &str,
) -> Result<(Facts, FinalArguments, BoxFuture<'a, Answer>), ToolError> {
    let (read_facts, _accepted, final_arguments) =
        accept(run, rules, plan, scope, (arguments, Form::Sent))?;
    let (facts, future) = read_again(run, rules, plan, scope, &final_arguments, read_facts)?;
    Ok((facts, final_arguments, future))
}

/// Returns the facts, the text that the tool's reader has accepted, and the final arguments made from that text.
fn accept<'t>(
    run: &RunState,
    rules: &Rules,
    plan: &Plan,
    scope: Scope<'_>,
    (arguments, form): (&'t str, Form),
) -> Result<(Facts, Cow<'t, str>, FinalArguments), ToolError> {
    let mut read_facts = rules.facts(run, plan);
    let accepted = read_text(plan, scope, arguments, form, &mut read_facts)?;
    let internal = |error: &dyn fmt::Display| {
        ToolError::internal(format!(
            "the arguments of `{}` were accepted but could not be made final: {error}",
            plan.entry.definition.name
        ))
    };
    let filled =
        read_facts.take_filled().into_iter().map(|it| it.value.map(|value| (it.key, value)));
    let filled = filled.collect::<Result<_, _>>().map_err(|error| internal(&error))?;
    let filled = plan.entry.filled(filled);
    let final_arguments = FinalArguments::with_filled(&plan.entry.definition, &accepted, filled)
        .map_err(|error| internal(&error))?;
    Ok((read_facts, accepted, final_arguments))
}

/// Reads the final arguments, so that the facts are about the call that will run. The future is not polled.
fn read_again<'a>(
    run: &RunState,
    rules: &Rules,
    plan: &Plan,
    scope: Scope<'a>,
    final_arguments: &FinalArguments,
    read_facts: Facts,
) -> Result<(Facts, BoxFuture<'a, Answer>), ToolError> {
    let mut facts = rules.facts(run, plan);
    let mut future = read(plan, scope, final_arguments.arguments(), Form::Final, &mut facts)?;
    if let Some(repairs) = read_facts.repairs().cloned().map(Arc::new) {
        let repaired = future;
        future = Box::pin(async move { repaired.await.with_repairs(repairs) });
    }
    facts.add_repairs(read_facts);
    plan.raise_danger(&mut facts);
    check_covered(run, plan, &facts)?;
    Ok((facts, future))
}
