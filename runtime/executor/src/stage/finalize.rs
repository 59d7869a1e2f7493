//! Makes a call's arguments final before the policy judges them: what is judged, shown and run is one text.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use futures::future::BoxFuture;

use super::input::{read, read_text};
use super::panicked;
use crate::executor::{Plan, Rules, RunState, own_of};
use toolwright_core::call::Call;
use toolwright_core::capability::Scope;
use toolwright_core::context::{CallId, Identity};
use toolwright_core::error::ToolError;
use toolwright_core::footprint::Facts;
use toolwright_core::output::Answer;
use toolwright_journal::arguments::FinalArguments;

/// The final arguments, and what is known of a call with them. Nothing of the tool has run but what looks at its input; a
/// panic there is an error.
pub(crate) fn finalize(
    run: &Arc<RunState>,
    rules: &Rules,
    plan: &Plan,
    call: &Call<'_>,
    arguments: &str,
    id: CallId,
) -> Result<(Facts, FinalArguments), ToolError> {
    let own = own_of(run, plan, call, Some(Identity::of(id)))?;
    let scope = Scope::new(&run.values, &plan.wiring, call, own.as_ref());
    let read = || finalize_and_read(rules, plan, scope, arguments);
    let read = catch_unwind(AssertUnwindSafe(read));
    let (facts, final_arguments, _unpolled) =
        read.unwrap_or_else(|panic| Err(panicked(call.name(), panic)))?;
    Ok((facts, final_arguments))
}

/// The final arguments, what is known of a call with them, and its future, not polled, which has read these arguments
/// and no others.
pub(crate) fn finalize_and_read<'a>(
    rules: &Rules,
    plan: &Plan,
    scope: Scope<'a>,
    arguments: &str,
) -> Result<(Facts, FinalArguments, BoxFuture<'a, Answer>), ToolError> {
    let mut read_facts = rules.facts(plan);
    let accepted = read_text(plan, scope, arguments, &mut read_facts)?;
    let internal = |error: &dyn fmt::Display| {
        ToolError::internal(format!(
            "the arguments of `{}` were accepted but could not be made final: {error}",
            plan.entry.definition.name
        ))
    };
    let filled =
        read_facts.take_filled().into_iter().map(|it| it.value.map(|value| (it.key, value)));
    let filled = filled.collect::<Result<_, _>>().map_err(|error| internal(&error))?;
    let final_arguments = FinalArguments::with_filled(&plan.entry.definition, &accepted, filled)
        .map_err(|error| internal(&error))?;
    // Once more, so that the facts are those of what will run.
    let mut facts = rules.facts(plan);
    let mut future = read(plan, scope, final_arguments.arguments(), &mut facts)?;
    if let Some(repairs) = read_facts.repairs().cloned().map(Arc::new) {
        let repaired = future;
        future = Box::pin(async move { repaired.await.mended(repairs) });
    }
    facts.also_mended(read_facts);
    plan.judged(&mut facts);
    Ok((facts, final_arguments, future))
}
