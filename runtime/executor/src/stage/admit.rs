//! Lets a call in when there is room, or turns it away when the executor is shutting down.

use std::pin::pin;

use futures::future::{Either, select};
use tokio::time::Instant;

use crate::executor::{Closed, Pass, Plan, RunState};
use crate::lifecycle::words::{cancelled, shutting_down};
use crate::stage::invoke;
use crate::stage::invoke::given_up;
use crate::stage::invoke::is_given_up;
use crate::stage::invoke::slept;
use toolwright_core::call::Call;
use toolwright_core::error::Done;
use toolwright_core::error::ToolError;

/// Places that a running call holds. The tool's comes first, so that calls that wait for one slow
/// tool do not hold the places of others.
pub(crate) struct Admitted<'a> {
    _tool: Option<Pass<'a>>,
    _executor: Pass<'a>,
}

/// Lets a call in without waiting; `None` where it would have to wait.
#[inline]
pub(crate) fn admit_at_once<'a>(
    run: &'a RunState,
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

/// Lets a call in when there is room, unless it is given up or its time is over before.
pub(crate) async fn admit<'a>(
    run: &'a RunState,
    plan: &'a Plan,
    call: &Call<'_>,
    deadline: Option<Instant>,
) -> Result<Admitted<'a>, ToolError> {
    let enter = async {
        let tool = match &plan.gate {
            Some(gate) => Some(gate.enter().await),
            None => None,
        };
        admitted(tool, run.core.gate.enter().await)
    };
    let too_late = async {
        match deadline {
            Some(deadline) => slept(deadline.saturating_duration_since(Instant::now())).await,
            None => std::future::pending().await,
        }
    };
    match select(pin!(enter), select(pin!(given_up(run, call)), pin!(too_late))).await {
        Either::Left((admitted, _)) => admitted,
        Either::Right((Either::Left(_), _)) => {
            Err(cancelled(call.name()).by_executor(Done::NotBegun))
        }
        Either::Right((Either::Right((slept, _)), _)) => {
            Err(slept.err().unwrap_or_else(|| invoke::too_late(call.name(), plan)))
        }
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
