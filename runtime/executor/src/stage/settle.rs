//! Settles a call's arguments before anybody looks at them: what is judged, shown and run is one text.

use std::sync::Arc;

use futures::future::BoxFuture;

use super::input::{accepted, read};
use crate::executor::{Plan, Rules};
use toolwright_core::capability::Scope;
use toolwright_core::error::ToolError;
use toolwright_core::footprint::Facts;
use toolwright_core::output::Answer;
use toolwright_journal::arguments::FinalArguments;

/// The final arguments, and what is known of a call with them. Nothing of the tool has run.
pub(crate) fn settle(
    rules: &Rules,
    plan: &Plan,
    scope: Scope<'_>,
    arguments: &str,
) -> Result<(Facts, FinalArguments), ToolError> {
    let (facts, settled, _unpolled) = settle_and_read(rules, plan, scope, arguments)?;
    Ok((facts, settled))
}

/// The same, and the call's future, not polled, which has read these arguments and no others.
pub(crate) fn settle_and_read<'a>(
    rules: &Rules,
    plan: &Plan,
    scope: Scope<'a>,
    arguments: &str,
) -> Result<(Facts, FinalArguments, BoxFuture<'a, Answer>), ToolError> {
    let mut read_facts = rules.facts(plan);
    let _unpolled = read(plan, scope, arguments, &mut read_facts)?;
    let accepted = accepted(plan, arguments, &read_facts)?;
    let settled = FinalArguments::of(&plan.entry.definition, &accepted).map_err(|error| {
        ToolError::internal(format!(
            "the arguments of `{}` were accepted but could not be settled: {error}",
            plan.entry.definition.name
        ))
    })?;
    // Once more, so that the facts are those of what will run.
    let mut facts = rules.facts(plan);
    let mut future = read(plan, scope, settled.arguments(), &mut facts)?;
    if let Some(repairs) = read_facts.repairs().cloned().map(Arc::new) {
        let mended = future;
        future = Box::pin(async move { mended.await.mended(repairs) });
    }
    facts.also_mended(read_facts);
    plan.judged(&mut facts);
    Ok((facts, settled, future))
}
