//! The points at which an application is killed: before and after each kind of commit, and inside tools and the
//! application.

use std::fmt;
use std::str::FromStr;

use toolwright::journal::{State, Transaction, Transition};

use crate::script::PIPE;

/// A kind of commit, named after what happens to a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Change {
    /// A new call begins at once.
    RecordedRunning,
    /// A new call waits for a person.
    RecordedPending,
    /// A call begins by a grant.
    GrantUsed,
    /// A new call of a tool begins at once.
    ChildBegun,
    /// A tool gives up its claim, and waits for a call that it made.
    ParentWaits,
    /// A tool whose call has ended may run again.
    ParentResumed,
    /// A person approves the call.
    Approved,
    /// A person approves the call, and calls like it.
    Granted,
    /// A person edits the arguments of a call.
    Edited,
    /// A person rejects the call.
    Rejected,
    /// The time for an approval of the call expires.
    Expired,
    /// The run of the call ends before the call begins.
    Cancelled,
    /// A worker claims the call.
    Claimed,
    /// The policy checked the call again, and it may run.
    Judged,
    /// The policy checked the call again, and it waits for a person.
    AskedAgain,
    /// The call succeeded.
    Succeeded,
    /// The call of a tool succeeded, and the tool does not know its answer yet.
    ChildSucceeded,
    /// A pipe succeeded: before this, its text is in the context store.
    Piped,
    /// The call failed with an error for the model.
    Failed,
    /// The call became a dead letter.
    Dead,
    /// An attempt failed, and the call will be tried again.
    Retried,
    /// The call became indeterminate.
    Unclear,
    /// An indeterminate call was found to have happened.
    Happened,
    /// An indeterminate call was found not to have happened.
    DidNotHappen,
    /// An approver has been notified of the call.
    Told,
    /// The call is handed over, to be carried out elsewhere.
    HandedOver,
    /// The result of a handed-over call is supplied.
    Supplied,
    /// An error is supplied instead of the result of a handed-over call.
    Declined,
    /// No result of a handed-over call was supplied before its deadline.
    NotSupplied,
    /// The run of a call ends after the call was handed over.
    Recalled,
    /// The run has acknowledged the call's answer. This is an operation of its own, not a commit.
    Delivered,
    /// The end of a run is recorded, without a call.
    RunEnded,
}

impl Change {
    const ALL: [Self; 32] = [
        Self::RecordedRunning,
        Self::RecordedPending,
        Self::GrantUsed,
        Self::ChildBegun,
        Self::ParentWaits,
        Self::ParentResumed,
        Self::Approved,
        Self::Granted,
        Self::Edited,
        Self::Rejected,
        Self::Expired,
        Self::Cancelled,
        Self::Claimed,
        Self::Judged,
        Self::AskedAgain,
        Self::Succeeded,
        Self::ChildSucceeded,
        Self::Piped,
        Self::Failed,
        Self::Dead,
        Self::Retried,
        Self::Unclear,
        Self::Happened,
        Self::DidNotHappen,
        Self::Told,
        Self::HandedOver,
        Self::Supplied,
        Self::Declined,
        Self::NotSupplied,
        Self::Recalled,
        Self::Delivered,
        Self::RunEnded,
    ];

    /// Returns the kind of a transaction; `None` if the workload makes such a transaction only by accident.
    #[must_use]
    pub fn of(unit: &Transaction) -> Option<Self> {
        // "The run has not ended" is a condition, which writes nothing.
        let has_documents = unit.documents.iter().any(|it| it.text.is_some());
        let Some(write) = unit.calls.first() else { return Some(Self::RunEnded) };
        let to = write.record.state;
        let Some(first) = write.entries.first() else {
            return (to == State::Pending).then_some(Self::Told);
        };
        let is_child = write.record.parent.is_some();
        let was_handed_over = first.from == Some(State::HandedOver);
        Some(match (first.event, to) {
            // Its claim, and where it is new its first entry, are in the same commit.
            (_, State::HandedOver) => Self::HandedOver,
            (Some(Transition::Supplied), _) => Self::Supplied,
            (Some(Transition::Declined), _) => Self::Declined,
            (Some(Transition::Expired), _) if was_handed_over => Self::NotSupplied,
            (Some(Transition::RunEnded), _) if was_handed_over => Self::Recalled,
            (None, State::Running) if is_child => Self::ChildBegun,
            (Some(Transition::Suspended), _) => Self::ParentWaits,
            (Some(Transition::Resumed), _) => Self::ParentResumed,
            (None | Some(Transition::Claimed), State::Running) if has_documents => Self::GrantUsed,
            (None, State::Running) => Self::RecordedRunning,
            (None, State::Pending) => Self::RecordedPending,
            (Some(Transition::Approved), _) if has_documents => Self::Granted,
            (Some(Transition::Approved), _) => Self::Approved,
            (Some(Transition::Edited), _) => Self::Edited,
            (Some(Transition::Rejected), _) => Self::Rejected,
            (Some(Transition::Expired), _) => Self::Expired,
            (Some(Transition::RunEnded), _) => Self::Cancelled,
            (Some(Transition::Claimed), _) => Self::Claimed,
            (Some(Transition::Allowed), _) => Self::Judged,
            (Some(Transition::Asked), _) => Self::AskedAgain,
            (Some(Transition::Succeeded), _) if is_child => Self::ChildSucceeded,
            (Some(Transition::Succeeded), _) if write.record.tool == PIPE => Self::Piped,
            (Some(Transition::Succeeded), _) => Self::Succeeded,
            (Some(Transition::Happened), _) => Self::Happened,
            (Some(Transition::DidNotHappen), _) => Self::DidNotHappen,
            (Some(Transition::Errored { .. }), State::Failed) => Self::Failed,
            (Some(Transition::Errored { .. }), State::Dead) => Self::Dead,
            (Some(Transition::Errored { .. }), State::Ready) => Self::Retried,
            (Some(Transition::Errored { .. }), State::Indeterminate) => Self::Unclear,
            _ => return None,
        })
    }

    fn name(self) -> &'static str {
        match self {
            Self::RecordedRunning => "recorded-running",
            Self::RecordedPending => "recorded-pending",
            Self::GrantUsed => "grant-used",
            Self::ChildBegun => "child-begun",
            Self::ParentWaits => "parent-waits",
            Self::ParentResumed => "parent-resumed",
            Self::Approved => "approved",
            Self::Granted => "granted",
            Self::Edited => "edited",
            Self::Rejected => "rejected",
            Self::Expired => "expired",
            Self::Cancelled => "cancelled",
            Self::Claimed => "claimed",
            Self::Judged => "judged-again",
            Self::AskedAgain => "asked-again",
            Self::Succeeded => "succeeded",
            Self::ChildSucceeded => "child-succeeded",
            Self::Piped => "piped",
            Self::Failed => "failed",
            Self::Dead => "dead",
            Self::Retried => "retried",
            Self::Unclear => "indeterminate",
            Self::Happened => "happened",
            Self::DidNotHappen => "did-not-happen",
            Self::Told => "told",
            Self::HandedOver => "handed-over",
            Self::Supplied => "supplied",
            Self::Declined => "declined",
            Self::NotSupplied => "not-supplied",
            Self::Recalled => "recalled",
            Self::Delivered => "delivered",
            Self::RunEnded => "run-ended",
        }
    }
}

/// A point in the life of an application.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Point {
    /// The commit has not begun.
    Before(Change),
    /// The commit is durable, but its caller does not know yet.
    After(Change),
    /// A lease is about to be renewed.
    BeforeRenewal,
    /// A lease is renewed, but its owner does not know yet.
    AfterRenewal,
    /// The application is about to submit a turn.
    Intended,
    /// A tool is running, and has not acted yet.
    Begun,
    /// A tool has acted, and has not returned.
    Acted,
    /// The supplier is about to supply a result.
    Offered,
    /// The executor has accepted a result, and the supplier has not recorded that.
    Accepted,
    /// The application has an answer, and has not recorded it.
    Answered,
    /// The application has recorded an answer, and has not acknowledged it.
    Noted,
    /// The application has acknowledged an answer.
    Acknowledged,
}

impl Point {
    /// Returns every point.
    pub fn all() -> impl Iterator<Item = Self> {
        let commits = Change::ALL.into_iter().flat_map(|it| [Self::Before(it), Self::After(it)]);
        let others = [
            Self::BeforeRenewal,
            Self::AfterRenewal,
            Self::Intended,
            Self::Begun,
            Self::Acted,
            Self::Offered,
            Self::Accepted,
            Self::Answered,
            Self::Noted,
            Self::Acknowledged,
        ];
        commits.chain(others)
    }
}

impl fmt::Display for Point {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Before(change) => return write!(formatter, "before-{}", change.name()),
            Self::After(change) => return write!(formatter, "after-{}", change.name()),
            Self::BeforeRenewal => "before-renewed",
            Self::AfterRenewal => "after-renewed",
            Self::Intended => "turn-intended",
            Self::Begun => "tool-begun",
            Self::Acted => "tool-acted",
            Self::Offered => "result-offered",
            Self::Accepted => "result-accepted",
            Self::Answered => "answer-heard",
            Self::Noted => "answer-noted",
            Self::Acknowledged => "answer-acknowledged",
        })
    }
}

impl FromStr for Point {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::all()
            .find(|it| it.to_string() == text)
            .ok_or_else(|| format!("`{text}` is not a kill point, such as `before-claimed`"))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::Point;

    #[test]
    fn every_point_has_a_name_of_its_own_that_is_read_back() {
        let names: HashSet<_> = Point::all().map(|it| it.to_string()).collect();
        assert_eq!(names.len(), Point::all().count());
        assert!(Point::all().all(|it| it.to_string().parse() == Ok(it)));
    }
}
