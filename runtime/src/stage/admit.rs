//! Lets a call in when there is room, or turns it away when the executor is shutting down.

use crate::call::Call;
use crate::error::{Class, ToolError};
use crate::executor::{Closed, Pass, Plan, Run};
use crate::stage::invoke::{cancellations, cancelled};

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
    if cancellations(run, call).any(|token| token.is_cancelled()) {
        return Err(cancelled(&call.name));
    }
    let enter = async {
        let tool = match &plan.gate {
            Some(gate) => Some(gate.enter().await?),
            None => None,
        };
        Ok(Admitted { _tool: tool, _executor: run.core.gate.enter().await? })
    };
    let mut enter = std::pin::pin!(enter);
    let admitted = match futures::poll!(enter.as_mut()) {
        std::task::Poll::Ready(admitted) => admitted,
        std::task::Poll::Pending => {
            let given_up = futures::future::select_all(all_cancellations(run, call));
            match futures::future::select(enter, given_up).await {
                futures::future::Either::Left((admitted, _)) => admitted,
                futures::future::Either::Right(_) => return Err(cancelled(&call.name)),
            }
        }
    };
    admitted.map_err(|Closed| shutting_down())
}

fn all_cancellations<'a>(
    run: &'a Run,
    call: &'a Call<'_>,
) -> impl Iterator<Item = impl Future<Output = ()> + Unpin + 'a> {
    std::iter::once(&run.core.released)
        .chain(cancellations(run, call))
        .map(|token| Box::pin(token.cancelled()))
}

#[cold]
fn shutting_down() -> ToolError {
    ToolError::new("shutting_down", "the application is shutting down and takes no more calls")
        .class(Class::NotStarted { retry_after: None })
}
