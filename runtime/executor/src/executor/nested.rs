//! The calls that a running call makes: each passes every stage, as a call from outside does.

use std::sync::Arc;

use futures::future::BoxFuture;

use super::calling::Calling;
use crate::call::{Family, NestedCalls, Refusal, RunState};
use crate::lifecycle::Lifecycle;
use crate::stage;
use toolwright_core::call::Call;
use toolwright_core::error::ToolError;
use toolwright_core::error_kind;
use toolwright_core::output::Answer;
use toolwright_core::tool::Effect;
use toolwright_journal::journal::ParentCall;
use toolwright_policy::policy::PolicyDecision;

/// Passes the calls of running calls through the stages.
pub(super) struct ThroughStages;

impl NestedCalls for ThroughStages {
    fn call<'a>(
        &'a self,
        run: &'a Arc<RunState>,
        family: &'a Arc<Family>,
        index: u32,
        call: &'a Call<'a>,
    ) -> BoxFuture<'a, Answer> {
        match (&family.recorded, Lifecycle::of(run)) {
            (Some(recorded), Some(lifecycle)) => {
                let child = ParentCall { call: recorded.call, index };
                Box::pin(lifecycle.of_parent(child).child(call, family))
            }
            _ => Box::pin(perform_unrecorded(run, family, index, call)),
        }
    }

    fn check(&self, run: &Arc<RunState>, call: &Call<'_>) -> Result<(), ToolError> {
        run.examine(call).map(drop)
    }

    fn permits(
        &self,
        run: Arc<RunState>,
        call: Call<'static>,
    ) -> BoxFuture<'static, Result<(), ToolError>> {
        Box::pin(async move {
            drop(stage::seek(&run, &call).await?);
            run.read_sources(call.name()).await?;
            let refusal = match run.judge(&call)? {
                PolicyDecision::Deny { reason } => Refusal::Denied(reason),
                PolicyDecision::Queue => Refusal::CannotBePlanned,
                // A grant may have allowed the tool that makes the call, which does not allow this call.
                PolicyDecision::Ask { reasons, grants_count: false } => {
                    let words = format!(
                        "a person decides on each call of `{}`: {}",
                        call.name(),
                        reasons.join("; ")
                    );
                    let hint = format!("call `{}` itself", call.name());
                    return Err(ToolError::new(error_kind::APPROVAL_REQUIRED, words).hint(hint));
                }
                _ => return Ok(()),
            };
            Err(refusal.error(call.name(), run.id()))
        })
    }
}

/// Makes a child call that no journal records.
async fn perform_unrecorded(
    run: &Arc<RunState>,
    family: &Family,
    index: u32,
    call: &Call<'_>,
) -> Answer {
    let Family { tool, remembered, .. } = family;
    if let Some(answer) = remembered.answer(index, tool, call) {
        return answer;
    }
    // A child that changes nothing may run again in the next attempt, so its answer is not stored.
    let found = stage::find(run, call.name());
    let is_read =
        found.is_ok_and(|it| it.definition().effect == Effect::Read && !it.plan().makes_calls);
    if is_read {
        return Calling::new(run, call).await;
    }
    remembered.begins(index, call);
    let answer = Calling::new(run, call).await;
    remembered.ends(index, &answer);
    answer
}
