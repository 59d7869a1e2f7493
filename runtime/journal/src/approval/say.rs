//! Statements about a call as it is, so that nobody copies id, generation and digest by hand.

use jiff::Timestamp;

use super::grant::GrantTerms;
use super::statement::{Decision, Statement, Subject};
use crate::journal::CallRecord;

impl Statement {
    /// It may run, as it was shown.
    #[must_use]
    pub fn approve(call: &CallRecord, by: impl Into<String>, at: Timestamp) -> Self {
        Self::about(call, Decision::Approve { grant: None }, by, at)
    }

    /// It may run, and so may calls like it, on these terms.
    #[must_use]
    pub fn approve_with_grant(
        call: &CallRecord,
        terms: GrantTerms,
        by: impl Into<String>,
        at: Timestamp,
    ) -> Self {
        Self::about(call, Decision::Approve { grant: Some(terms) }, by, at)
    }

    /// It may run with these arguments (all of them, as JSON text), which give it this digest.
    #[must_use]
    pub fn edit(
        call: &CallRecord,
        arguments: impl Into<String>,
        digest: impl Into<String>,
        by: impl Into<String>,
        at: Timestamp,
    ) -> Self {
        let verdict = Decision::Edit { arguments: arguments.into(), digest: digest.into() };
        Self::about(call, verdict, by, at)
    }

    /// It must not run.
    #[must_use]
    pub fn reject(
        call: &CallRecord,
        reason: Option<String>,
        by: impl Into<String>,
        at: Timestamp,
    ) -> Self {
        Self::about(call, Decision::Reject { reason }, by, at)
    }

    /// It happened, and this is what the model gets.
    #[must_use]
    pub fn happened(
        call: &CallRecord,
        result: impl Into<String>,
        by: impl Into<String>,
        at: Timestamp,
    ) -> Self {
        Self::about(call, Decision::Happened { result: result.into() }, by, at)
    }

    /// It did not happen.
    #[must_use]
    pub fn did_not_happen(call: &CallRecord, by: impl Into<String>, at: Timestamp) -> Self {
        Self::about(call, Decision::DidNotHappen, by, at)
    }

    /// The plan of this planned call is accepted.
    #[must_use]
    pub fn accept(call: &CallRecord, by: impl Into<String>, at: Timestamp) -> Self {
        Self::about(call, Decision::Accept, by, at)
    }

    /// This dead call is tried once more, as it is. With a new key, whoever takes the key takes it for another call.
    ///
    /// ```
    /// use toolwright::CallId;
    /// use toolwright::approval::{Statement, Decision};
    /// use toolwright::journal::{CallRecord, CallSlot, State};
    ///
    /// let now = "2026-01-02T03:04:05Z".parse()?;
    /// let id: CallId = "0192f0c1-2f4e-7c3a-9d1e-5b6a7c8d9e0f".parse()?;
    /// let place = CallSlot { run: "ticket-7".to_owned(), turn: Some(1), index: 0 };
    /// let letter = CallRecord { state: State::Dead, ..CallRecord::draft(id, place, "post", now) };
    ///
    /// let statement = Statement::requeue(&letter, false, "ada", now);
    /// assert_eq!(statement.verdict, Decision::Requeue { arguments: None, new_key: false });
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn requeue(call: &CallRecord, new_key: bool, by: impl Into<String>, at: Timestamp) -> Self {
        Self::about(call, Decision::Requeue { arguments: None, new_key }, by, at)
    }

    /// This dead call is tried once more with these arguments (all of them, as JSON text). Other arguments have
    /// another idempotency key.
    #[must_use]
    pub fn requeue_with(
        call: &CallRecord,
        arguments: impl Into<String>,
        by: impl Into<String>,
        at: Timestamp,
    ) -> Self {
        let verdict = Decision::Requeue { arguments: Some(arguments.into()), new_key: false };
        Self::about(call, verdict, by, at)
    }

    /// This dead call is put away.
    #[must_use]
    pub fn discard(
        call: &CallRecord,
        note: Option<String>,
        by: impl Into<String>,
        at: Timestamp,
    ) -> Self {
        Self::about(call, Decision::Discard { note, forget: false }, by, at)
    }

    /// Discards a dead letter and deletes its arguments.
    #[must_use]
    pub fn forget(
        call: &CallRecord,
        note: Option<String>,
        by: impl Into<String>,
        at: Timestamp,
    ) -> Self {
        Self::about(call, Decision::Discard { note, forget: true }, by, at)
    }

    /// The grant of this id no longer counts.
    #[must_use]
    pub fn revoke(grant: impl Into<String>, by: impl Into<String>, at: Timestamp) -> Self {
        let about = Subject::Grant { id: grant.into() };
        Self { about, verdict: Decision::Revoke, at, by: by.into() }
    }

    fn about(call: &CallRecord, verdict: Decision, by: impl Into<String>, at: Timestamp) -> Self {
        let about =
            Subject::Call { id: call.id, generation: call.generation, digest: call.digest.clone() };
        Self { about, verdict, at, by: by.into() }
    }
}
