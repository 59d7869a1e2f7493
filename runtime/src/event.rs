//! What listeners see of each call, in life order.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use crate::approval::ApprovalRequest;
use crate::context::CallId;
use crate::error::ToolError;
use crate::journal::State;
use crate::output::Answer;
use crate::policy::Verdict;
use crate::repair::Repairs;

/// Something that happened to a call.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Event<'a> {
    /// The call's own id.
    pub call: CallId,
    /// The id that the provider gave it.
    pub provider_id: Option<&'a str>,
    /// The run it belongs to.
    pub run: &'a str,
    /// The name that was called.
    pub tool: &'a str,
    /// What happened.
    pub kind: EventKind<'a>,
}

/// What happened to a call. `Started` comes first; exactly one of `Completed`, `Failed`, `Suspended` and
/// `Abandoned` comes last. A call that is suspended starts again when somebody goes on with it.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum EventKind<'a> {
    /// The call was taken in.
    Started,
    /// Its input was not what the schema asks for, and was mended.
    Repaired {
        /// What was changed.
        repairs: &'a Repairs,
    },
    /// The policy said what becomes of it. Without a policy nothing is told.
    Judged {
        /// What it said.
        verdict: &'a Verdict,
        /// What was judged, where a journal is kept; see [`CallRecord::digest`](crate::journal::CallRecord::digest).
        digest: Option<&'a str>,
    },
    /// Its input was read; the tool is about to run.
    Executing,
    /// The tool says how far it is.
    Progress {
        /// In words.
        message: &'a str,
        /// As a part of one, where known.
        part: Option<f64>,
    },
    /// An attempt failed, and the call is tried again after a while.
    Retrying {
        /// Which attempt it was, counted from 1.
        attempt: u32,
        /// How it failed; its source is for operators.
        error: &'a ToolError,
        /// How long the call waits.
        delay: Duration,
    },
    /// The tool gave a result.
    Completed {
        /// What the model gets.
        answer: &'a Answer,
        /// From taken in to answered.
        elapsed: Duration,
    },
    /// A person has to decide; it is in the journal.
    Asked {
        /// What they are asked.
        request: &'a ApprovalRequest,
    },
    /// It waits, and its run has got no answer yet.
    Suspended {
        /// What it waits for.
        state: State,
        /// From taken in to put aside.
        elapsed: Duration,
    },
    /// The call was refused or failed.
    Failed {
        /// Why; its source is for operators.
        error: &'a ToolError,
        /// From taken in to answered.
        elapsed: Duration,
    },
    /// Whoever made the call dropped it before it was answered.
    Abandoned {
        /// From taken in to dropped.
        elapsed: Duration,
    },
}

/// Sees events as they happen, on the task of the call. A panic of a listener harms nobody.
pub(crate) type Listener = Box<dyn Fn(&Event<'_>) + Send + Sync>;

pub(crate) fn tell(listeners: &[Listener], event: &Event<'_>) {
    for listener in listeners {
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| listener(event))) {
            // Its drop might panic again.
            std::mem::forget(panic);
            tracing::error!(tool = event.tool, "a listener panicked");
        }
    }
}
