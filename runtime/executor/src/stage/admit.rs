//! Lets a call in when there is room, or turns it away when the executor is shutting down.

use std::pin::pin;

use futures::future::{Either, select};

use crate::executor::{Closed, Pass, Plan, Run};
use crate::stage::invoke::{cancelled, given_up, is_given_up};
use toolwright_core::call::Call;
use toolwright_core::error::{Class, Done, ToolError};

/// Places that a running call holds. The tool's comes first, so that calls that wait for one slow
/// tool do not hold the places of others.
pub(crate) struct Admitted<'a> {
    _tool: Option<Pass<'a>>,
    _executor: Pass<'a>,
}

/// Lets a call in without waiting; `None` where it would have to wait.
#[inline]
pub(crate) fn admit_at_once<'a>(
    run: &'a Run,
    plan: &'a Plan,
    call: &Call<'_>,
) -> Option<Result<Admitted<'a>, ToolError>> {
    if is_given_up(run, call) {
        return Some(Err(cancelled(call.name()).by_executor(Done::NotBegun)));
    }
    let tool = match &plan.gate {
        Some(gate) => Some(gate.enter_at_once()?),
        None => None,
    };
    let executor = run.core.gate.enter_at_once()?;
    Some(admitted(tool, executor))
}

/// Lets a call in when there is room, unless it is given up before.
pub(crate) async fn admit<'a>(
    run: &'a Run,
    plan: &'a Plan,
    call: &Call<'_>,
) -> Result<Admitted<'a>, ToolError> {
    let enter = async {
        let tool = match &plan.gate {
            Some(gate) => Some(gate.enter().await),
            None => None,
        };
        admitted(tool, run.core.gate.enter().await)
    };
    match select(pin!(enter), pin!(given_up(run, call))).await {
        Either::Left((admitted, _)) => admitted,
        Either::Right(_) => Err(cancelled(call.name()).by_executor(Done::NotBegun)),
    }
}

#[inline]
fn admitted<'a>(
    tool: Option<Result<Pass<'a>, Closed>>,
    executor: Result<Pass<'a>, Closed>,
) -> Result<Admitted<'a>, ToolError> {
    match (tool.transpose(), executor) {
        (Ok(tool), Ok(executor)) => Ok(Admitted { _tool: tool, _executor: executor }),
        _ => Err(shutting_down()),
    }
}

#[cold]
pub(crate) fn shutting_down() -> ToolError {
    ToolError::new("shutting_down", "the application is shutting down and takes no more calls")
        .class(Class::NotStarted { retry_after: None })
        .by_executor(Done::NotBegun)
}
