//! The events of each call, in the order in which listeners receive them.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use crate::handed_over::HandedOver;
use toolwright_core::context::CallId;
use toolwright_core::error::ToolError;
use toolwright_core::footprint::TouchedResource;
use toolwright_core::output::Answer;
use toolwright_core::repairs::Repairs;
use toolwright_journal::approval::{self, ApprovalRequest};
use toolwright_journal::journal::{FailedAttempt, State};
use toolwright_policy::policy::PolicyDecision;

/// Something that happened to a call.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct ToolEvent<'a> {
    /// The call's own id.
    pub call: CallId,
    /// The id that the provider gave to the call.
    pub provider_id: Option<&'a str>,
    /// The id of the run to which the call belongs.
    pub run: &'a str,
    /// The name of the tool, as the call gives it.
    pub tool: &'a str,
    /// The digest of the call, to which a decision on the call is bound; see
    /// [`CallRecord::digest`](toolwright_journal::journal::CallRecord::digest). `None` before the arguments are final,
    /// and for a call that no journal records.
    pub digest: Option<&'a str>,
    /// The number of the current or last attempt, counted from 1; `None` before the first attempt, and if it is
    /// unknown.
    pub attempt: Option<u32>,
    /// The kind of the event: what happened to the call.
    pub kind: ToolEventKind<'a>,
}

/// What happened to a call. `Started` comes first; exactly one of `Completed`, `Failed`, `Suspended` and
/// `Abandoned` comes last. A suspended call starts again when a caller or worker resumes it.
///
/// With a journal, a call can also change while no caller waits for it: a worker finds a decision, a deadline that has
/// passed, or a lost owner. The process that commits such a change sends the event of the change after the commit. That
/// event may come before the first event of the call or after the last.
///
/// | what happens | events |
/// | --- | --- |
/// | a person approves the call, and a caller or worker resumes it | `Decided`, and `Executing` after it |
/// | a person edits, accepts or requeues the call, or says that it did not happen | `Decided`, `Judged`, and what follows |
/// | a person rejects the call, or says that it happened | `Decided`, from the process that waits for the call, resumes it or asked for the decision |
/// | the approver fails | `ApproverFailed`, and then `Expired` if no other approver can decide |
/// | the call is handed over, to be carried out elsewhere | `HandedOver`, and then `Suspended` |
/// | the call is cancelled after it was handed over | `Recalled` |
/// | the deadline passes without a decision or a supplied result | `Expired` |
/// | the owner of the call is lost | `OwnerLost`, and then `Dead` if no attempt is left |
/// | the call becomes a dead letter | `Dead`, and then `Failed` |
/// | the call is requeued, but cannot run again | `Decided`, `PutBack` |
///
/// A process that dies right after a commit does not send the events of the commit. Only the history in the journal is
/// complete.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum ToolEventKind<'a> {
    /// The executor has accepted the call.
    Started,
    /// The call waited before it began, because it conflicts with an earlier call of its turn.
    Waited {
        /// How long the call waited after the executor began to run the turn. An open turn runs when it is finished.
        waited: Duration,
    },
    /// The schema refused the input, and the executor repaired the input.
    Repaired {
        /// The changes that were made to the input.
        repairs: &'a Repairs,
    },
    /// The policy decided on the call, for the first time or again because something has changed. This event is not
    /// sent for a call to which no policy applies.
    Judged {
        /// The decision.
        verdict: &'a PolicyDecision,
    },
    /// Another run has reserved a resource that the call touches, so the call does not begin now.
    Reserved {
        /// The resource that both runs need; `None` if both may touch every resource.
        resource: Option<&'a TouchedResource>,
        /// The id of the run that has reserved the resource.
        holder: &'a str,
        /// The time until the reservation expires, unless it is renewed or released before.
        left: Duration,
    },
    /// The definition of the tool has changed since a person decided or gave a grant. That decision or grant is no
    /// longer valid, and the policy evaluates the call without it.
    ToolChanged {
        /// Which decision or grant has become invalid, in words.
        why: &'a str,
    },
    /// The input was read; the tool is about to run.
    Executing,
    /// The call is answered from the cache, and the tool does not run.
    Cached,
    /// The tool reports how far the call has come.
    Progress {
        /// The tool's message about its progress.
        message: &'a str,
        /// The part of the work that is done, from 0 to 1, if the tool reports it.
        part: Option<f64>,
    },
    /// An attempt failed, and the executor will try the call again after a delay.
    Retrying {
        /// The number of the failed attempt, counted from 1.
        attempt: u32,
        /// The error of the attempt. Its source is for operators. For a tool that takes a secret, the message, the hint
        /// and the source are withheld.
        error: &'a ToolError,
        /// The delay before the next attempt.
        delay: Duration,
    },
    /// The tool gave a result.
    Completed {
        /// The answer that the model receives; for a tool that takes a secret, a sentence instead of the answer.
        answer: &'a Answer,
        /// The time from the start of the call to its answer.
        elapsed: Duration,
    },
    /// A person has to decide on the call, which waits in the journal.
    Asked {
        /// The request that the approver receives.
        request: &'a ApprovalRequest,
    },
    /// The holder of a trusted key has decided, and the executor acts on the decision.
    Decided {
        /// The decision.
        verdict: &'a approval::Decision,
        /// The name of the key that signed the decision.
        by: &'a str,
        /// How long the call had been waiting for the decision, by the clock of the journal.
        waited: Duration,
    },
    /// The approver of this process failed, or gave no decision. The executor asks it again after a while, as long as
    /// the call is pending.
    ApproverFailed {
        /// Why the approver failed.
        why: &'a str,
        /// Whether the call continues to wait for a decision. Otherwise, the call ends, and `Expired` follows.
        waits: bool,
    },
    /// The call was handed over to another process, which carries it out.
    HandedOver {
        /// Everything that another process needs to carry the call out. Its token is the right to supply the result.
        handed_over: &'a HandedOver,
    },
    /// A call that was handed over is not needed any more, so the other process can stop.
    Recalled {
        /// Why the call is not needed any more.
        why: &'a str,
    },
    /// The deadline passed without a decision or a supplied result, or no approver could decide.
    Expired {
        /// How long the call had waited until then, by the clock of the journal.
        waited: Duration,
    },
    /// The lease of the running call has expired without being renewed, so the executor that ran the call is assumed to
    /// be gone.
    OwnerLost {
        /// The state of the call now: ready for another attempt, indeterminate or dead.
        state: State,
    },
    /// The call failed for good, and is a dead letter.
    Dead {
        /// The kind of the error with which the last attempt failed.
        kind: &'a str,
        /// The failed attempts of the call, in order.
        attempts: &'a [FailedAttempt],
    },
    /// An operator requeued a dead letter that cannot run again, so it remains a dead letter.
    PutBack {
        /// Why the dead letter cannot run.
        why: &'a str,
    },
    /// The call is suspended, so its run has received no answer yet.
    Suspended {
        /// The state of the call, which shows for what the call waits.
        state: State,
        /// The time from the start of the call until it was suspended.
        elapsed: Duration,
    },
    /// The call was refused or failed.
    Failed {
        /// The error with which the call failed. Its source is for operators. For a tool that takes a secret, the
        /// message, the hint and the source are withheld.
        error: &'a ToolError,
        /// The time from the start of the call to its answer.
        elapsed: Duration,
    },
    /// The caller dropped the call before it was answered.
    Abandoned {
        /// The time from the start of the call until the caller dropped it.
        elapsed: Duration,
    },
}

/// A function that receives events as they happen, on the task of the call. A panic of the function does not affect
/// the call.
pub(crate) type Listener = Box<dyn Fn(&ToolEvent<'_>) + Send + Sync>;

pub(crate) fn tell(listeners: &[Listener], event: &ToolEvent<'_>) {
    for listener in listeners {
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| listener(event))) {
            // Dropping the panic's payload might panic again, so the payload is leaked.
            std::mem::forget(panic);
            tracing::error!(tool = event.tool, "a listener panicked");
        }
    }
}
