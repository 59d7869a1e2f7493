//! The errors of submitting a statement.

use jiff::Timestamp;

use crate::approval::covers::UselessTerms;
use crate::approval::granted::GrantError;
use crate::approval::{Decision, NotTheirs, UnreadableStatement, VerifyError};
use crate::journal::{Illegal, NotAdvanced, State, StoreError};
use toolwright_core::context::CallId;
use toolwright_core::json::ArgumentsError;

/// Why a statement did not take effect. Nothing was changed, except perhaps after [`Store`](Self::Store).
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ApprovalError {
    /// The statement is not validly signed with a trusted key.
    #[error("the statement does not count")]
    Unverified(#[from] VerifyError),
    /// The text is not a statement that this version can read.
    #[error(transparent)]
    Unreadable(#[from] UnreadableStatement),
    /// The decision does not fit its subject. A grant can only be revoked, and a call cannot be revoked.
    #[error(
        "a statement that says `{verdict}` is about the wrong thing: only grants can be revoked, and every other decision is about a call"
    )]
    Subject {
        /// The decision.
        verdict: Box<Decision>,
    },
    /// The journal has no call with this id.
    #[error("there is no call {call} in this journal: it is another journal's, or was removed")]
    UnknownCall {
        /// The id of the call.
        call: CallId,
    },
    /// The journal has no grant with this id.
    #[error("there is no grant `{id}` in this journal: list the grants for their ids")]
    UnknownGrant {
        /// The id of the grant.
        id: String,
    },
    /// Another decision on the call was recorded first.
    #[error(
        "call {call} was {verdict} by {who:?} at {at}, and is {state} now: this decision came too late"
    )]
    Decided {
        /// The id of the call.
        call: CallId,
        /// Who made the other decision.
        who: String,
        /// When the other decision was made.
        at: Timestamp,
        /// The decision that was recorded first.
        verdict: Box<Decision>,
        /// The present state of the call.
        state: State,
    },
    /// The policy has evaluated the call again since it was shown to the approver.
    #[error(
        "the statement is about generation {said} of call {call}, which is at generation {found} ({what} by {who:?} \
         at {at}): show the call again, and decide on what is shown"
    )]
    Generation {
        /// The id of the call.
        call: CallId,
        /// The generation that the statement names.
        said: u32,
        /// The present generation of the call.
        found: u32,
        /// The event that raised the generation.
        what: String,
        /// Who raised the generation.
        who: String,
        /// When the generation was raised.
        at: Timestamp,
    },
    /// The digest in the statement is not that of the call.
    #[error(
        "the statement is about digest {said:?} and call {call} has `{found}`: show the call again, and decide on \
         what is shown"
    )]
    Digest {
        /// The id of the call.
        call: CallId,
        /// The digest that the statement names.
        said: String,
        /// The call's digest.
        found: String,
    },
    /// The record of the call shows other arguments than those that would run.
    #[error(
        "call {call} was altered: the arguments that the journal shows are not those of its digest; reject it or edit \
         it, and find out who writes to the journal"
    )]
    Altered {
        /// The id of the call.
        call: CallId,
    },
    /// The arguments of the call are encrypted or not stored, so this service cannot check that the record shows them.
    #[error(
        "the arguments of call {call} are sealed or not kept, so that nothing here can tell whether what is shown is what \
         would run: refuse it, decide where the sealing key is, or decide unseen (`--unseen`), whereupon the executor \
         compares both before it runs the call"
    )]
    Unseen {
        /// The id of the call.
        call: CallId,
    },
    /// The record shows other arguments than it showed when the statement was made.
    #[error(
        "the journal shows other arguments of call {call} now than those that the statement is about: show the call \
         again, and decide on what is shown"
    )]
    NotShown {
        /// The id of the call.
        call: CallId,
    },
    /// The statement names another journal or project than the call's record.
    #[error(
        "the statement counts in {said}, and call {call} is one of {found}: show the call again, and decide on what is \
         shown"
    )]
    OtherJournal {
        /// The id of the call.
        call: CallId,
        /// The journal and the project that the statement names.
        said: String,
        /// The journal and the project that the call's record names.
        found: String,
    },
    /// The statement names another author than the holder of the key.
    #[error(transparent)]
    NotTheirs(#[from] NotTheirs),
    /// The state of the call does not allow the decision: the call expired, was cancelled, or does not wait for this
    /// decision.
    #[error("call {call} was {what} by {who:?} at {at}: {illegal}")]
    Elsewhere {
        /// The id of the call.
        call: CallId,
        /// The state of the call, and the transition that the state does not allow.
        illegal: Illegal,
        /// What last happened to the call.
        what: String,
        /// Who caused the last event of the call.
        who: String,
        /// When the last event of the call happened.
        at: Timestamp,
    },
    /// A counter of the call's record is at its maximum, so nothing more can be recorded.
    #[error("nothing can be decided on call {call}: {why}")]
    NotAdvanced {
        /// The id of the call.
        call: CallId,
        /// The counter that is at its maximum.
        why: NotAdvanced,
    },
    /// The deadline for a decision has passed, although the journal does not say so yet.
    #[error("call {call} could be decided until {deadline}, which is past: it expires")]
    Late {
        /// The id of the call.
        call: CallId,
        /// The deadline.
        deadline: Timestamp,
    },
    /// The grant is for another tool, or for an earlier definition of the call's tool.
    #[error(
        "call {call} is one of {tool:?} as it is now and the grant's terms are for {granted:?} as they name it: take \
         tool and fingerprint from the call"
    )]
    OtherTool {
        /// The id of the call.
        call: CallId,
        /// The call's tool.
        tool: String,
        /// The grant's tool.
        granted: String,
    },
    /// The terms of the grant are useless: they could cover no call.
    #[error("the terms of the grant that is given with call {call} are useless")]
    Terms {
        /// The id of the call.
        call: CallId,
        /// Why the terms cannot be used.
        #[source]
        error: UselessTerms,
    },
    /// The call's arguments are encrypted or not stored, so new arguments are refused: the history would show them in
    /// plain text.
    #[error(
        "the arguments of call {call} are sealed or not kept, so no others can be given: reject or discard it, \
         and have it made again"
    )]
    Secrets {
        /// The id of the call.
        call: CallId,
    },
    /// The new arguments contain a secret, which every reader of the history would see.
    #[error(
        "`{parameter}` of call {call} is a secret, and everybody who can read the journal would see what is given here: \
         leave it out, or reject the call and have it made again"
    )]
    Secret {
        /// The id of the call.
        call: CallId,
        /// The secret parameter for which the new arguments have a value.
        parameter: String,
    },
    /// The new arguments are not one JSON object.
    #[error(
        "the new arguments of call {call} are not one JSON object without repeated keys: write all of them as one"
    )]
    Arguments {
        /// The id of the call.
        call: CallId,
        /// Why the new arguments cannot be read; `None` if they are no JSON object.
        #[source]
        error: Option<ArgumentsError>,
    },
    /// A grant in the journal cannot be read.
    #[error(transparent)]
    Grant(#[from] GrantError),
    /// Each attempt to record the statement failed, because other processes changed the journal first.
    #[error(
        "the journal changed {looks} times while the statement was to be recorded: submit it again"
    )]
    Busy {
        /// How many attempts to record the statement were made.
        looks: u32,
    },
    /// The store failed.
    #[error(
        "the store failed: it is not known whether the statement was recorded, submit it again"
    )]
    Store(#[from] StoreError),
}
toolwright_core::debug_as_sentence!(ApprovalError);
