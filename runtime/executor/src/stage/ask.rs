//! Asks a tool, through its async function, whether a call with these arguments needs approval. This happens before the
//! policy evaluates the call.

use std::borrow::Cow;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt as _;

use super::invoke::in_time;
use crate::call::{Plan, RunState, own_of};
use toolwright_core::call::Call;
use toolwright_core::capability::Scope;
use toolwright_core::context::Identity;
use toolwright_core::error::ToolError;
use toolwright_core::footprint::Facts;
use toolwright_core::spec::Start;
use toolwright_journal::arguments::FinalArguments;

/// How long the tool may take to decide whether a call needs approval.
const TIME: Duration = Duration::from_secs(10);

/// Adds to the facts of a call why its tool requires approval. If the tool's function fails, the failure is the reason.
pub(crate) async fn ask(
    run: &Arc<RunState>,
    plan: &Plan,
    call: &Call<'_>,
    arguments: &FinalArguments,
    identity: Option<Identity<'_>>,
    facts: &mut Facts,
) {
    if plan.entry.spec.asks.is_none() || facts.approval.is_some() {
        return;
    }
    let asked = AssertUnwindSafe(ask_tool(run, plan, call, arguments.arguments(), identity));
    facts.approval = reason_of(asked.catch_unwind().await, arguments.has_secrets());
}

/// Asks the tool without waiting. If the tool does not answer at once, the call needs approval.
pub(crate) fn ask_at_once(
    run: &Arc<RunState>,
    plan: &Plan,
    call: &Call<'_>,
    arguments: &FinalArguments,
    facts: &mut Facts,
) {
    if plan.entry.spec.asks.is_none() || facts.approval.is_some() {
        return;
    }
    let asked = std::panic::catch_unwind(AssertUnwindSafe(|| {
        ask_tool_at_once(run, plan, call, arguments.arguments()).now_or_never()
    }));
    facts.approval = match asked {
        Ok(Some(asked)) => reason_of(Ok(asked), arguments.has_secrets()),
        Ok(None) => Some("whether it needs approval is found out when it is made".into()),
        Err(panic) => reason_of(Err(panic), false),
    };
}

async fn ask_tool(
    run: &Arc<RunState>,
    plan: &Plan,
    call: &Call<'_>,
    arguments: &str,
    identity: Option<Identity<'_>>,
) -> Result<Option<Cow<'static, str>>, ToolError> {
    let tool = &*plan.entry.definition.name;
    in_time(tool, Some(TIME), begin(run, plan, call, arguments, identity)).await?
}

/// Asks the tool without a time limit, because a timer would need a runtime.
async fn ask_tool_at_once(
    run: &Arc<RunState>,
    plan: &Plan,
    call: &Call<'_>,
    arguments: &str,
) -> Result<Option<Cow<'static, str>>, ToolError> {
    begin(run, plan, call, arguments, None).await
}

async fn begin(
    run: &Arc<RunState>,
    plan: &Plan,
    call: &Call<'_>,
    arguments: &str,
    identity: Option<Identity<'_>>,
) -> Result<Option<Cow<'static, str>>, ToolError> {
    let Some(asks) = plan.entry.spec.asks else { return Ok(None) };
    let own = own_of(run, plan, call, identity)?;
    let scope = Scope::new(&run.values, &plan.wiring, call, own.as_ref());
    let (keys, mut facts) = (&plan.entry.keys, plan.facts());
    let text = &plan.entry.own_final_text(arguments)?;
    let start = Start { scope, text, keys, facts: &mut facts, changes: None };
    let future = asks(start).map_err(|problems| {
        ToolError::internal(format!("its approval could not be begun: {problems}"))
    })?;
    future.await
}

fn reason_of(
    asked: std::thread::Result<Result<Option<Cow<'static, str>>, ToolError>>,
    has_secrets: bool,
) -> Option<Cow<'static, str>> {
    const UNKNOWN: &str = "whether it needs approval could not be found out";
    match asked {
        Ok(Ok(None)) => None,
        Ok(Ok(Some(_)) | Err(_)) if has_secrets => {
            Some("its tool asks, for a reason that may repeat a secret".into())
        }
        Ok(Ok(Some(reason))) => Some(reason),
        Ok(Err(error)) => Some(format!("{UNKNOWN}: {error}").into()),
        Err(_) => Some(format!("{UNKNOWN}: its tool panicked").into()),
    }
}
