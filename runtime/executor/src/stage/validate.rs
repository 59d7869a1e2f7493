//! Runs a tool's own validation of a call's arguments before the policy evaluates the call. The validation may run
//! again immediately before the call begins.

use std::future::ready;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::BoxFuture;

use super::invoke::in_time;
use crate::call::{Plan, RunState, own_of};
use toolwright_core::call::Call;
use toolwright_core::capability::Scope;
use toolwright_core::context::Identity;
use toolwright_core::error::{Done, ErrorClass, ToolError};
use toolwright_core::spec::Start;

type Validating<'a> = BoxFuture<'a, Result<(), ToolError>>;

/// How long a validation may take.
const TIME: Duration = Duration::from_secs(10);

/// Runs a validation that is expected not to wait, on the arguments as the model sent them. Returns `None` if the
/// validation waits after all.
pub(crate) fn validate_at_once(
    plan: &Plan,
    scope: Scope<'_>,
    arguments: &str,
    context: &mut Context<'_>,
) -> Option<Result<(), ToolError>> {
    let checked = || {
        let mut validation = begin(plan, scope, arguments)?;
        match validation.as_mut().poll(context) {
            Poll::Ready(checked) => checked.map(Some),
            Poll::Pending => Ok(None),
        }
    };
    let checked = catch_unwind(AssertUnwindSafe(checked)).unwrap_or_else(|_| Err(panicked(plan)));
    checked.map_err(refused).transpose()
}

/// Runs the validation of a tool on the final arguments of a call. The call is refused if the validation refuses the
/// arguments, fails, panics or takes too long.
pub(crate) async fn validate(
    run: &Arc<RunState>,
    plan: &Plan,
    call: &Call<'_>,
    arguments: &str,
    identity: Option<Identity<'_>>,
) -> Result<(), ToolError> {
    if plan.entry.spec.validate.is_none() {
        return Ok(());
    }
    let tool = &*plan.entry.definition.name;
    let checked = async {
        let own = own_of(run, plan, call, identity)?;
        let scope = Scope::new(&run.values, &plan.wiring, call, own.as_ref());
        let text = &plan.entry.own_final_text(arguments)?;
        in_time(tool, Some(TIME), begin(plan, scope, text)?).await?
    };
    let checked = AssertUnwindSafe(checked).catch_unwind().await;
    checked.unwrap_or_else(|_| Err(panicked(plan))).map_err(refused)
}

/// Starts the validation of a tool. The validation does nothing before its future is polled.
fn begin<'a>(plan: &Plan, scope: Scope<'a>, text: &str) -> Result<Validating<'a>, ToolError> {
    let Some(validate) = plan.entry.spec.validate else { return Ok(Box::pin(ready(Ok(())))) };
    let (keys, mut facts) = (&plan.entry.keys, plan.facts());
    let start = Start { scope, text, keys, facts: &mut facts, changes: None };
    validate(start).map_err(|problems| {
        let tool = &plan.entry.definition.name;
        ToolError::internal(format!("the check of `{tool}` could not be begun: {problems}"))
    })
}

fn panicked(plan: &Plan) -> ToolError {
    let tool = &plan.entry.definition.name;
    ToolError::internal(format!("the check of `{tool}` panicked, so the call was not made"))
}

/// Converts an error of the validation to the refusal of the call.
fn refused(error: ToolError) -> ToolError {
    // If the validation itself failed, the call must not be retried automatically.
    let is_invalid = error.classified() == ErrorClass::Invalid;
    let error = if is_invalid { error } else { error.class(ErrorClass::Final) };
    error.by_executor(Done::Refused)
}
