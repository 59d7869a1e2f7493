//! Admits a call when there is room, or refuses it when the executor is shutting down.

use std::pin::pin;

use futures::future::{Either, select};
use tokio::time::Instant;

use super::invoke;
use super::invoke::{given_up, is_given_up, slept};
use crate::call::{Gate, GateClosed, Pass, Plan, RunState, cancelled, shutting_down};
use toolwright_core::call::Call;
use toolwright_core::error::{Done, ToolError};

/// The places of a running call. A call takes the place of its tool first, so that calls that wait for one slow tool do
/// not occupy the executor's places.
pub(crate) struct Admission<'a> {
    tool: Option<Pass<'a>>,
    executor: Option<Pass<'a>>,
}

impl<'a> Admission<'a> {
    /// Gives up this value without freeing the places. The caller must free them.
    pub(crate) fn hand_over(mut self) -> Self {
        self.tool.take().into_iter().chain(self.executor.take()).for_each(std::mem::forget);
        self
    }
}

/// Admits a call if there is room; `None` if the call would have to wait.
#[inline]
pub(crate) fn admit_at_once<'a>(
    run: &'a RunState,
    plan: &'a Plan,
    call: &Call<'_>,
) -> Option<Result<Admission<'a>, ToolError>> {
    if is_given_up(run, call) {
        return Some(Err(cancelled(call.name()).by_executor(Done::NotBegun)));
    }
    // The parent of a child was admitted before, so the child may enter a closed gate.
    let enter = match run.lineage() {
        None => Gate::enter_at_once,
        Some(_) => Gate::enter_again_at_once,
    };
    let tool = match &plan.gate {
        Some(gate) => Some(enter(gate)?),
        None => None,
    };
    let executor = enter(&run.core.gate)?;
    Some(admit_both(tool, executor))
}

/// Admits a call when there is room, unless the call is cancelled or its total timeout ends first.
pub(crate) async fn admit<'a>(
    run: &'a RunState,
    plan: &'a Plan,
    call: &Call<'_>,
    deadline: Option<Instant>,
) -> Result<Admission<'a>, ToolError> {
    let enter = async |gate: &'a Gate| match run.lineage() {
        None => gate.enter().await,
        // The parent of a child was admitted before, so the child may enter a closed gate.
        Some(_) => gate.enter_again().await,
    };
    let enter = async {
        let tool = match &plan.gate {
            Some(gate) => Some(enter(gate).await),
            None => None,
        };
        admit_both(tool, enter(&run.core.gate).await)
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
fn admit_both<'a>(
    tool: Option<Result<Pass<'a>, GateClosed>>,
    executor: Result<Pass<'a>, GateClosed>,
) -> Result<Admission<'a>, ToolError> {
    match (tool.transpose(), executor) {
        (Ok(tool), Ok(executor)) => Ok(Admission { tool, executor: Some(executor) }),
        _ => Err(shutting_down()),
    }
}
