//! The interface through which a running call makes further calls. The code that runs a call cannot depend on the
//! executor, which is built upon it, and uses this trait instead.

use std::sync::Arc;

use futures::future::BoxFuture;

use super::family::Family;
use super::run_state::RunState;
use toolwright_core::call::Call;
use toolwright_core::error::ToolError;
use toolwright_core::output::Answer;

/// Makes the calls that a running call makes. Each passes every stage again, as a call from outside does.
pub(crate) trait NestedCalls: Send + Sync {
    /// Makes the call that a parent makes at this index of its children.
    fn call<'a>(
        &'a self,
        run: &'a Arc<RunState>,
        family: &'a Arc<Family>,
        index: u32,
        call: &'a Call<'a>,
    ) -> BoxFuture<'a, Answer>;

    /// Checks a call without running it.
    fn check(&self, run: &Arc<RunState>, call: &Call<'_>) -> Result<(), ToolError>;

    /// Checks whether a running tool may make this call with a person's consent. Returns an error if the policy of the
    /// executor, or of an agent on whose behalf the run makes calls, denies the call, puts it into a plan, or asks a
    /// person about each such call.
    fn permits(
        &self,
        run: Arc<RunState>,
        call: Call<'static>,
    ) -> BoxFuture<'static, Result<(), ToolError>>;
}
