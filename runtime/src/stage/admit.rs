//! Lets a call in when there is room, or turns it away when the executor is shutting down.

use futures::future::{Either, select};

use crate::call::Call;
use crate::error::{Class, ToolError};
use crate::executor::{Closed, Gate, Pass, Plan, Run};
use crate::stage::invoke::{cancelled, given_up, is_given_up};

/// Places that a running call holds. The tool's comes first, so that calls that wait for one slow
/// tool do not hold the places of others.
pub(crate) struct Admitted<'a> {
    _tool: Option<Pass<'a>>,
    _executor: Pass<'a>,
}

#[inline]
pub(crate) async fn admit<'a>(
    run: &'a Run,
    plan: &'a Plan,
    call: &Call<'_>,
) -> Result<Admitted<'a>, ToolError> {
    if is_given_up(run, call) {
        return Err(cancelled(call.name()));
    }
    let tool = match &plan.gate {
        Some(gate) => Some(enter(gate, run, call).await?),
        None => None,
    };
    Ok(Admitted { _tool: tool, _executor: enter(&run.core.gate, run, call).await? })
}

/// Enters at once where there is room; the waiting is boxed, so that calls that need not wait do
/// not carry it.
#[inline]
async fn enter<'a>(gate: &'a Gate, run: &Run, call: &Call<'_>) -> Result<Pass<'a>, ToolError> {
    let entered = match gate.try_pass() {
        Some(entered) => entered,
        None => match select(Box::pin(gate.wait()), Box::pin(given_up(run, call))).await {
            Either::Left((entered, _)) => entered,
            Either::Right(_) => return Err(cancelled(call.name())),
        },
    };
    entered.map_err(|Closed| shutting_down())
}

#[cold]
fn shutting_down() -> ToolError {
    ToolError::new("shutting_down", "the application is shutting down and takes no more calls")
        .class(Class::NotStarted { retry_after: None })
}
