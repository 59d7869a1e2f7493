//! What listeners see of each call, in life order.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use toolwright_core::context::CallId;
use toolwright_core::error::ToolError;
use toolwright_core::output::Answer;
use toolwright_core::repairs::Repairs;
use toolwright_journal::approval::{self, ApprovalRequest};
use toolwright_journal::journal::{FailedAttempt, State};
use toolwright_policy::policy::PolicyDecision;

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
    /// What a decision on it is bound to, where a journal keeps it; see
    /// [`CallRecord::digest`](toolwright_journal::journal::CallRecord::digest). Before its arguments are final there is
    /// none.
    pub digest: Option<&'a str>,
    /// Which attempt is under way or was the last, counted from 1; nothing before the first, and where it is not known.
    pub attempt: Option<u32>,
    /// What happened.
    pub kind: EventKind<'a>,
}

/// What happened to a call. `Started` comes first; exactly one of `Completed`, `Failed`, `Suspended` and
/// `Abandoned` comes last. A call that is suspended starts again when somebody goes on with it.
///
/// Where a journal is kept, some things happen to a call that nobody is waiting for here: a worker finds that somebody
/// has decided, that nobody did in time, or that whoever ran it is gone. They are told when they are durable, by the
/// one process that made them so, between these two or outside of them:
///
/// | what happens | is told |
/// | --- | --- |
/// | a person approves, and somebody goes on with the call | `Decided`, and `Executing` after it |
/// | a person edits, accepts or requeues it, or says that it did not happen | `Decided`, `Judged`, and what follows |
/// | a person rejects it, or says that it happened | `Decided`, by whoever waits for it, resumes it or asked them |
/// | who is asked fails | `ApproverFailed`, and `Expired` after it where no other key counts |
/// | nobody decides in time | `Expired` |
/// | its owner is lost | `OwnerLost`, and `Dead` after it where no attempt is left |
/// | it fails for good | `Dead`, and then `Failed` |
/// | it was requeued, and that cannot be done | `Decided`, `PutBack` |
///
/// A process that dies between the commit and the telling has told nothing: the history in the journal is complete,
/// what listeners hear is not.
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
    /// The policy said what becomes of it, for the first time or once more because something has changed. Without a
    /// policy nothing is told.
    Judged {
        /// What it said.
        verdict: &'a PolicyDecision,
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
    /// Somebody whose key counts has decided, and the executor acts on it.
    Decided {
        /// What they said.
        verdict: &'a approval::Decision,
        /// Who, by the name in what they signed.
        by: &'a str,
        /// How long the call had been waiting for it, by the clock of the journal.
        waited: Duration,
    },
    /// Who is asked in this process could not be asked, or gave no decision. It is asked again after a while, as long
    /// as the call is pending.
    ApproverFailed {
        /// Why, in words that name the approver.
        why: &'a str,
        /// Whether the call waits for others whose keys count. Otherwise it has come to its end, and is `Expired` next.
        waits: bool,
    },
    /// Nobody decided in time, or nobody could.
    Expired {
        /// How long the call had been waiting, by the clock of the journal.
        waited: Duration,
    },
    /// Whoever ran it is gone.
    OwnerLost {
        /// Where it stands now: ready for another attempt, indeterminate or dead.
        state: State,
    },
    /// It failed for good: it is a dead letter.
    Dead {
        /// The kind of its last error.
        kind: &'a str,
        /// How its attempts failed, in order.
        attempts: &'a [FailedAttempt],
    },
    /// An operator wanted a dead letter tried once more, and that cannot be done: it is as dead as before.
    PutBack {
        /// Why the dead letter cannot run.
        why: &'a str,
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
