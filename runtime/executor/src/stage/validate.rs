//! Runs a tool's own validation of a call's arguments, before the policy judges the call and a person is asked, and
//! again when the call is about to begin.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt as _;

use super::in_time;
use crate::executor::{Plan, RunState, own_of};
use toolwright_core::call::Call;
use toolwright_core::capability::Scope;
use toolwright_core::context::Identity;
use toolwright_core::error::{Done, ErrorClass, ToolError};
use toolwright_core::spec::Start;

/// How long a validation may take.
const TIME: Duration = Duration::from_secs(10);

/// Refuses a call whose final arguments its tool's validation refuses. A validation that fails, panics or takes too
/// long refuses the call as well.
pub(crate) async fn validate(
    run: &Arc<RunState>,
    plan: &Plan,
    call: &Call<'_>,
    arguments: &str,
    identity: Option<Identity<'_>>,
) -> Result<(), ToolError> {
    let Some(validate) = plan.entry.spec.validate else { return Ok(()) };
    let tool = &*plan.entry.definition.name;
    let checked = async {
        let own = own_of(run, plan, call, identity)?;
        let scope = Scope::new(&run.values, &plan.wiring, call, own.as_ref());
        let (keys, mut facts) = (&plan.entry.keys, plan.facts());
        let text = &plan.entry.own_final_text(arguments)?;
        let start = Start { scope, text, keys, facts: &mut facts, changes: None };
        let future = validate(start).map_err(|problems| {
            ToolError::internal(format!("the check of `{tool}` could not be begun: {problems}"))
        })?;
        in_time(tool, Some(TIME), future).await?
    };
    let checked = AssertUnwindSafe(checked).catch_unwind().await;
    let checked = checked.unwrap_or_else(|_| {
        let message = format!("the check of `{tool}` panicked, so the call was not made");
        Err(ToolError::internal(message))
    });
    checked.map_err(|error| {
        // If the validation itself failed, the call has not begun, and is not retried automatically.
        let is_invalid = error.classified() == ErrorClass::Invalid;
        let error = if is_invalid { error } else { error.class(ErrorClass::Final) };
        error.by_executor(Done::Refused)
    })
}
