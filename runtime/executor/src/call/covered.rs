//! Checks that a child touches only resources that its parent declares.

use super::plan::Plan;
use super::run_state::RunState;
use toolwright_core::error::{Done, ToolError};
use toolwright_core::error_kind;
use toolwright_core::footprint::{AccessOutside, Facts, Footprint};

/// Refuses a child that touches a resource which its parent does not declare. Other calls wait only for the declared
/// resources of the parent, so they could run at the same time as the child and conflict with it.
#[inline]
pub(crate) fn check_covered(run: &RunState, plan: &Plan, facts: &Facts) -> Result<(), ToolError> {
    let Some(lineage) = run.lineage() else { return Ok(()) };
    let undeclared = || Footprint::of_effect(plan.entry.definition.effect);
    let touched = facts.touches().unwrap_or_else(undeclared);
    // A parent without a footprint has not begun, so it cannot make calls.
    let declared = lineage.footprint().map_or(Ok(()), |declared| declared.covers(touched));
    declared.map_err(|uncovered| outside(&plan.entry.name, &lineage.tool, uncovered))
}

#[cold]
fn outside(tool: &str, parent: &str, uncovered: AccessOutside<'_>) -> ToolError {
    let verb = if uncovered.writes { "writes" } else { "reads" };
    let what = uncovered.resource.map_or("everything".to_owned(), ToString::to_string);
    let message =
        format!("`{tool}` {verb} {what}, and `{parent}`, which calls it, does not declare that");
    ToolError::new(error_kind::UNDECLARED_ACCESS, message)
        .by_executor(Done::Refused)
        .hint("go on without it")
}
