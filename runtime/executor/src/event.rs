//! The events of each call, in the order in which listeners get them.

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
    /// The id that the provider gave the call.
    pub provider_id: Option<&'a str>,
    /// The run that the call belongs to.
    pub run: &'a str,
    /// The name of the tool, as the call gives it.
    pub tool: &'a str,
    /// The digest of a journalled call, which a decision is bound to; see
    /// [`CallRecord::digest`](toolwright_journal::journal::CallRecord::digest). `None` before its arguments are final.
    pub digest: Option<&'a str>,
    /// The number of the attempt that is under way or was the last, counted from 1; `None` before the first attempt,
    /// and if the number is not known.
    pub attempt: Option<u32>,
    /// What happened.
    pub kind: ToolEventKind<'a>,
}

/// What happened to a call. `Started` comes first; exactly one of `Completed`, `Failed`, `Suspended` and
/// `Abandoned` comes last. A suspended call starts again when a caller or worker resumes it.
///
/// With a journal, a call can also change while no caller waits for it: a worker finds a decision, a deadline that has
/// passed, or a lost owner. The process that commits such a change sends its event after the commit; it may come before
/// the first event of the call or after the last.
///
/// | what happens | events |
/// | --- | --- |
/// | a person approves, and a caller or worker resumes the call | `Decided`, and `Executing` after it |
/// | a person edits, accepts or requeues it, or says that it did not happen | `Decided`, `Judged`, and what follows |
/// | a person rejects it, or says that it happened | `Decided`, from the process that waits for it, resumes it or asked |
/// | the approver fails | `ApproverFailed`, and `Expired` after it where no other key is trusted |
/// | it is handed over, to be carried out elsewhere | `HandedOver`, and then `Suspended` |
/// | it is cancelled after it was handed over | `Recalled` |
/// | the deadline passes without a decision or a supplied result | `Expired` |
/// | its owner is lost | `OwnerLost`, and `Dead` after it where no attempt is left |
/// | it fails for good | `Dead`, and then `Failed` |
/// | it was requeued, but cannot run again | `Decided`, `PutBack` |
///
/// A process that dies right after a commit sends no event: the history in the journal is complete, the events are not.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum ToolEventKind<'a> {
    /// The executor has accepted the call.
    Started,
    /// The call could not begin with the other calls of its turn, because it conflicts with an earlier one.
    Waited {
        /// For how long, from the start of the turn or its arrival in an open turn.
        waited: Duration,
    },
    /// The schema refused the input, and the executor repaired the input.
    Repaired {
        /// The changes that were made to the input.
        repairs: &'a Repairs,
    },
    /// The policy decided on the call, for the first time or again because something has changed. An executor without a
    /// policy does not send this event.
    Judged {
        /// The decision.
        verdict: &'a PolicyDecision,
    },
    /// Another run has reserved a resource that the call touches, so the call does not begin now.
    Reserved {
        /// The resource that both want; `None` if both want everything.
        resource: Option<&'a TouchedResource>,
        /// The id of the run that holds the reservation.
        holder: &'a str,
        /// The time until the reservation expires, unless it is renewed or released before.
        left: Duration,
    },
    /// The definition of the call's tool has changed since a person decided or gave a grant.
    ToolChanged {
        /// Which decision or grant does not count, in words.
        why: &'a str,
    },
    /// The input was read; the tool is about to run.
    Executing,
    /// An earlier answer is returned; the tool does not run.
    Cached,
    /// The tool reports its progress.
    Progress {
        /// The report, in words.
        message: &'a str,
        /// The part of the work that is done, from 0 to 1, if it is known.
        part: Option<f64>,
    },
    /// An attempt failed, and the call is tried again after a while.
    Retrying {
        /// The number of the attempt, counted from 1.
        attempt: u32,
        /// How it failed. Its source is for operators. For a tool that takes a secret, only the kind and the class
        /// are set.
        error: &'a ToolError,
        /// How long the call waits.
        delay: Duration,
    },
    /// The tool gave a result.
    Completed {
        /// The answer that the model gets; for a tool that takes a secret, a sentence in place of the answer.
        answer: &'a Answer,
        /// The time from the call's start to its answer.
        elapsed: Duration,
    },
    /// A person has to decide; the call is in the journal.
    Asked {
        /// The request that the person gets.
        request: &'a ApprovalRequest,
    },
    /// The holder of a trusted key has decided, and the executor acts on it.
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
        /// Why the approver failed, with the name of the approver.
        why: &'a str,
        /// Whether the call continues to wait for other trusted keys. Otherwise it ends, and `Expired` follows.
        waits: bool,
    },
    /// The call was handed over, to be carried out elsewhere.
    HandedOver {
        /// Everything that the other side needs to carry the call out. The token in it lets its reader supply the
        /// result.
        handed_over: &'a HandedOver,
    },
    /// A call that was handed over is not wanted any more: the other side can stop.
    Recalled {
        /// Why the call is no longer wanted.
        why: &'a str,
    },
    /// The deadline passed without a decision or a supplied result, or no approver could decide.
    Expired {
        /// How long the call had been waiting, by the clock of the journal.
        waited: Duration,
    },
    /// The executor that ran the call is gone.
    OwnerLost {
        /// The state of the call now: ready for another attempt, indeterminate or dead.
        state: State,
    },
    /// The call failed for good, and is a dead letter.
    Dead {
        /// The kind of the call's last error.
        kind: &'a str,
        /// How the call's attempts failed, in order.
        attempts: &'a [FailedAttempt],
    },
    /// An operator requeued a dead letter that cannot run again: it stays a dead letter.
    PutBack {
        /// Why the dead letter cannot run.
        why: &'a str,
    },
    /// The call waits, and its run has got no answer yet.
    Suspended {
        /// The state of the call, which says what it waits for.
        state: State,
        /// The time from the call's start until it was suspended.
        elapsed: Duration,
    },
    /// The call was refused or failed.
    Failed {
        /// Why the call failed.
        error: &'a ToolError,
        /// The time from the call's start to its answer.
        elapsed: Duration,
    },
    /// The caller dropped the call before it was answered.
    Abandoned {
        /// The time from the call's start until it was dropped.
        elapsed: Duration,
    },
}

/// Gets events as they happen, on the task of the call. A panic of a listener does not affect the call.
pub(crate) type Listener = Box<dyn Fn(&ToolEvent<'_>) + Send + Sync>;

pub(crate) fn tell(listeners: &[Listener], event: &ToolEvent<'_>) {
    for listener in listeners {
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| listener(event))) {
            // The drop of the panic's payload might panic again.
            std::mem::forget(panic);
            tracing::error!(tool = event.tool, "a listener panicked");
        }
    }
}
