//! Asks the policy. As long as nobody can be asked, what a person would have to decide is refused.

use std::borrow::Cow;

use futures::future::BoxFuture;

use crate::executor::{About, Plan, RunState};
use crate::stage::record::Watch;
use toolwright_core::capability::Scope;
use toolwright_core::error::{Class, Done, ToolError};
use toolwright_core::footprint::Facts;
use toolwright_core::output::Answer;
use toolwright_policy::policy::{Evaluation, PolicyDecision};

/// What is evaluated of a call whose input has been read.
pub(crate) struct Read<'a, 's> {
    pub(crate) run: &'a RunState,
    pub(crate) plan: &'a Plan,
    pub(crate) scope: Scope<'s>,
    pub(crate) arguments: &'a str,
    pub(crate) facts: &'a Facts,
    pub(crate) watch: Option<&'a Watch<'a>>,
}

/// Where there is no policy, only what its tool asks about is not run.
#[inline]
pub(crate) fn unasked(plan: &Plan, facts: &Facts) -> Result<(), ToolError> {
    match &facts.approval {
        None => Ok(()),
        Some(reason) => Err(refused(&plan.entry.name, reason)),
    }
}

/// What runs in place of what was read, not polled, where the arguments were settled to be evaluated: what is evaluated is what
/// runs.
#[cold]
pub(crate) fn approved<'s>(
    read: &Read<'_, 's>,
) -> Result<Option<BoxFuture<'s, Answer>>, ToolError> {
    let (judged, settled) = judged(read)?;
    if let Some(watch) = read.watch {
        watch.judged(&judged.verdict);
    }
    let tool = &read.plan.entry.name;
    match judged.verdict {
        PolicyDecision::Allow => Ok(settled),
        PolicyDecision::Ask { reasons, .. } => Err(refused(tool, &reasons.join("; "))),
        PolicyDecision::Deny { reason } => Err(denied(tool, &reason)),
        PolicyDecision::Queue => Err(ToolError::new(
            "cannot_be_planned",
            format!("`{tool}` was not run: what changes something is planned first, and there is no journal for a plan"),
        )
        .by_executor(Done::Refused)
        .hint("go on without it, and say what you would have done")),
    }
}

/// What the policy says. It sees the arguments as they will run, where a rule looks at them.
fn judged<'s>(
    read: &Read<'_, 's>,
) -> Result<(Evaluation, Option<BoxFuture<'s, Answer>>), ToolError> {
    let rules = &read.run.core.rules;
    let plan = read.plan;
    let user = read.run.user();
    let about = About { plan, facts: read.facts, user, accepted: false };
    // One policy for both questions: it may be read again meanwhile.
    let policy = rules.current();
    if policy.looks_at_arguments(&plan.entry.name) {
        let (facts, final_arguments, future) =
            super::finalize_and_read(rules, plan, read.scope, read.arguments)?;
        let about = About { facts: &facts, ..about };
        return Ok((about.judged_by(&policy, Some(&final_arguments)), Some(future)));
    }
    Ok((about.judged_by(&policy, None), None))
}

#[cold]
fn refused(tool: &str, reason: &str) -> ToolError {
    ToolError::new(
        "approval_required",
        format!("`{tool}` needs a person's approval ({reason}), and nobody can be asked here"),
    )
    .class(Class::NotStarted { retry_after: None })
    .by_executor(Done::NotBegun)
    .hint("go on without this call, or tell the user that it needs approval")
}

#[cold]
pub(crate) fn denied(tool: &str, reason: &str) -> ToolError {
    let denied = Cow::Owned(format!("`{tool}` is not allowed here: {reason}"));
    ToolError::new("denied", denied)
        .by_executor(Done::Refused)
        .hint("do not make this call again; find another way, or tell the user")
}
