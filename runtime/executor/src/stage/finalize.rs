//! Makes a call's arguments final before the policy judges them: what is judged, shown and run is one text.

use std::sync::Arc;

use futures::future::BoxFuture;

use super::input::{read, read_text};
use crate::executor::{Plan, Rules};
use toolwright_core::capability::Scope;
use toolwright_core::error::ToolError;
use toolwright_core::footprint::Facts;
use toolwright_core::output::Answer;
use toolwright_journal::arguments::FinalArguments;

/// The final arguments, and what is known of a call with them. Nothing of the tool has run.
pub(crate) fn finalize(
    rules: &Rules,
    plan: &Plan,
    scope: Scope<'_>,
    arguments: &str,
) -> Result<(Facts, FinalArguments), ToolError> {
    let (facts, final_arguments, _unpolled) = finalize_and_read(rules, plan, scope, arguments)?;
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
    let final_arguments =
        FinalArguments::of(&plan.entry.definition, &accepted).map_err(|error| {
            ToolError::internal(format!(
                "the arguments of `{}` were accepted but could not be made final: {error}",
                plan.entry.definition.name
            ))
        })?;
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
