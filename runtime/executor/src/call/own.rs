//! The values that one call receives besides its input: the services that its run and its caller provide, and its
//! context.

use std::sync::Arc;
use toolwright_core::error_kind;

use toolwright_core::call::Call;
use toolwright_core::calls::Calls;
use toolwright_core::capability::{Own, Source};
use toolwright_core::context::{CallId, Identity, Journaled, ToolContext};
use toolwright_core::error::{Done, ErrorClass, ToolError};
use toolwright_journal::journal::CallRecord;

use super::plan::Plan;
use super::problem::BuildProblem;
use super::run_state::RunState;

/// Checks that the run and the call provide the services that the tool takes from them, and makes the context if the
/// tool needs one. `identity` is the identity of the call, if the call has one already. A tool cannot make calls with
/// these values.
pub(crate) fn own_of(
    run: &Arc<RunState>,
    plan: &Plan,
    call: &Call<'_>,
    identity: Option<Identity<'_>>,
) -> Result<Option<Own>, ToolError> {
    let context = context_of(run, plan, call, identity)?;
    Ok(context.map(|context| own_with(plan, context, Calls::none)))
}

/// Makes the values that a call passes to its tool: this context and, if the tool makes calls, the value that makes
/// them.
pub(crate) fn own_with(plan: &Plan, context: ToolContext, calls: impl FnOnce() -> Calls) -> Own {
    let own = Own::new(context);
    if plan.makes_calls { own.with_calls(Box::new(Arc::new(calls()))) } else { own }
}

/// Checks that the executor, the run and the call provide the services that the tool needs. Returns the context, if the
/// tool needs one.
pub(crate) fn context_of(
    run: &Arc<RunState>,
    plan: &Plan,
    call: &Call<'_>,
    identity: Option<Identity<'_>>,
) -> Result<Option<ToolContext>, ToolError> {
    if let Some(missing) = plan.lacks.first() {
        return Err(lacking(call.name(), missing));
    }
    if plan.needs_run() && run.values.own.is_empty() {
        return Err(no_run(call.name()));
    }
    if let Some(missing) = plan.from_call.iter().find(|it| call.value(it.id).is_none()) {
        return Err(not_brought(call.name(), missing.name));
    }
    let undeclared = |id| run.core.provisions.per_call.iter().all(|declared| declared.id != id);
    if let Some((_, name)) = call.brings().find(|(id, _)| undeclared(*id)) {
        return Err(undeclared_service(call.name(), name));
    }
    let named =
        |source: &Source| matches!(source, Source::Context | Source::Calls | Source::Opener(_));
    Ok(plan.wiring.sources.iter().any(named).then(|| {
        let identity = identity.unwrap_or_else(|| Identity::of(CallId::new()));
        ToolContext::new(identity, call, Arc::clone(run) as _)
    }))
}

/// Returns the identity of a call in a journal.
pub(crate) fn identity_of(record: &CallRecord) -> Identity<'_> {
    let known =
        Journaled { run: &record.place.run, digest: &record.digest, attempt: record.attempt };
    let slot = record.place.turn.map(|turn| (turn, record.place.index));
    Identity { id: record.id, key: Some(&record.idempotency_key), journaled: Some(known), slot }
}

#[cold]
fn no_run(tool: &str) -> ToolError {
    let cause =
        format!("`{tool}` needs services of a run; call it on `executor.run(id).with(…).start()?`");
    ToolError::new("no_run", "this tool cannot be used outside a run").caused_by(cause)
}

#[cold]
fn undeclared_service(tool: &str, type_name: &str) -> ToolError {
    let cause = format!(
        "a call of `{tool}` brings `{type_name}`, which is not declared; declare it with `.per_call::<{type_name}>()` on the builder"
    );
    ToolError::new("undeclared_service", "this tool cannot be used in this call").caused_by(cause)
}

/// Makes the error of a call whose tool needs a service that is not provided.
#[cold]
fn lacking(tool: &str, problem: &BuildProblem) -> ToolError {
    let needed = match problem {
        BuildProblem::Missing { requirement, .. } if requirement.exclusive => {
            format!(": it needs `&mut {}`, which is not provided", requirement.type_name)
        }
        BuildProblem::Missing { requirement, .. } => {
            format!(": it needs `&{}`, which is not provided", requirement.type_name)
        }
        _ => String::new(),
    };
    ToolError::new(error_kind::MISSING_SERVICE, format!("`{tool}` cannot be used here{needed}"))
        .class(ErrorClass::NotStarted { retry_after: None })
        .by_executor(Done::NotBegun)
        .hint("go on without it")
        .caused_by(problem.to_string())
}

#[cold]
fn not_brought(tool: &str, type_name: &str) -> ToolError {
    let cause = format!("`{tool}` needs `&{type_name}`, which every call brings: `Call::with(…)`");
    ToolError::new(error_kind::MISSING_SERVICE, "this tool cannot be used in this call")
        .caused_by(cause)
}
