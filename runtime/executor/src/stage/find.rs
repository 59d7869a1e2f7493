//! Finds a tool by its name, or makes the error that suggests similar names.

use std::pin::pin;
use std::sync::Arc;
use toolwright_core::error_kind;

use futures::future::{Either, select};

use super::invoke::{given_up, in_time};
use crate::call::{Plan, RunState, cancelled, unknown};
use crate::catalog::Origin;
use crate::registry::Lookup;
use toolwright_core::call::Call;
use toolwright_core::error::{ErrorClass, ToolError};
use toolwright_core::tool::Definition;

/// A tool of the prepared catalog, or a tool that was registered later.
#[derive(Clone)]
pub(crate) enum FoundTool<'a> {
    Ready(&'a Plan),
    Later(Arc<Plan>),
}

impl FoundTool<'_> {
    pub(crate) fn plan(&self) -> &Plan {
        match self {
            Self::Ready(plan) => plan,
            Self::Later(plan) => plan,
        }
    }

    pub(crate) fn definition(&self) -> &Definition {
        &self.plan().entry.definition
    }
}

/// Finds a tool by its name, without asking resolvers.
///
/// If a catalog is pinned, callers may use its tools. They may also use tools that a resolver has registered and that
/// the catalog's profile selects, because no earlier catalog could contain these tools. They may not use other tools
/// that were registered later.
pub(crate) fn find<'a>(run: &'a RunState, name: &str) -> Result<FoundTool<'a>, ToolError> {
    if !run.may_call(name) {
        return Err(unknown(&run.ready.current(), name));
    }
    if let Some(plan) = run.ready.plan(name) {
        return Ok(FoundTool::Ready(plan));
    }
    let is_pinned = run.ready.is_pinned();
    match run.core.registry.lookup(name) {
        Lookup::Enabled(entry)
            if !is_pinned
                || (entry.origin == Origin::Resolver
                    && run.ready.catalog().admits(&entry.definition)) =>
        {
            Ok(FoundTool::Later(run.core.plan(&entry)))
        }
        Lookup::Disabled if !is_pinned => Err(disabled(name)),
        _ => Err(unknown(&run.ready.current(), name)),
    }
}

/// Finds a tool as `find` does, but also asks the resolvers for an unknown name.
pub(crate) async fn seek<'a>(
    run: &'a RunState,
    call: &Call<'_>,
) -> Result<FoundTool<'a>, ToolError> {
    let found = find(run, call.name());
    let Some(resolving) = run.core.resolving.as_ref().filter(|_| found.is_err()) else {
        return found;
    };
    if !matches!(run.core.registry.lookup(call.name()), Lookup::Absent) {
        return found;
    }
    let resolved = resolving.resolve(call.name(), &run.core.registry);
    let timeout = resolving.timeout(run.core.provisions.timeout);
    let resolved = pin!(in_time(call.name(), timeout, resolved));
    match select(resolved, pin!(given_up(run, call))).await {
        Either::Left((Ok(Ok(true)), _)) => find(run, call.name()),
        Either::Left((Ok(Ok(false)), _)) => found,
        Either::Left((Ok(Err(error)) | Err(error), _)) => Err(error),
        Either::Right(_) => Err(cancelled(call.name())),
    }
}

#[cold]
fn disabled(name: &str) -> ToolError {
    ToolError::new(error_kind::DISABLED_TOOL, format!("`{name}` is switched off at the moment"))
        .class(ErrorClass::NotStarted { retry_after: None })
        .hint("go on without it")
}
