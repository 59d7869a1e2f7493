//! Makes statements about a call from its record. The record provides the id, generation, digest, shown arguments,
//! journal and project.

use jiff::Timestamp;

use super::grant::GrantTerms;
use super::statement::{Decision, Statement, Subject};
use crate::journal::CallRecord;

impl Statement {
    /// Makes the statement that approves the call with the arguments that its record shows.
    #[must_use]
    pub fn approve(call: &CallRecord, by: impl Into<String>, at: Timestamp) -> Self {
        Self::about(call, Decision::Approve { grant: None }, by, at)
    }

    /// Makes the statement that approves the call, and grants calls like it on these terms.
    #[must_use]
    pub fn approve_with_grant(
        call: &CallRecord,
        terms: GrantTerms,
        by: impl Into<String>,
        at: Timestamp,
    ) -> Self {
        Self::about(call, Decision::Approve { grant: Some(terms) }, by, at)
    }

    /// Makes the statement that approves the call with other arguments. `arguments` is the JSON text of all arguments,
    /// `digest` the digest of the call with these arguments.
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

    /// Makes the statement that rejects the call.
    #[must_use]
    pub fn reject(
        call: &CallRecord,
        reason: Option<String>,
        by: impl Into<String>,
        at: Timestamp,
    ) -> Self {
        Self::about(call, Decision::Reject { reason }, by, at)
    }

    /// Makes the statement that the call happened, with its result. The model receives `result`, unless the run already
    /// has an answer of the call.
    #[must_use]
    pub fn happened(
        call: &CallRecord,
        result: impl Into<String>,
        by: impl Into<String>,
        at: Timestamp,
    ) -> Self {
        Self::about(call, Decision::Happened { result: result.into() }, by, at)
    }

    /// Makes the statement that the call did not happen.
    #[must_use]
    pub fn did_not_happen(call: &CallRecord, by: impl Into<String>, at: Timestamp) -> Self {
        Self::about(call, Decision::DidNotHappen, by, at)
    }

    /// Makes the statement that accepts a planned call.
    #[must_use]
    pub fn accept(call: &CallRecord, by: impl Into<String>, at: Timestamp) -> Self {
        Self::about(call, Decision::Accept, by, at)
    }

    /// Makes the statement that requeues a dead letter with its own arguments. With `new_key`, the call gets a new
    /// idempotency key, so that a service which uses such keys treats it as another call.
    ///
    /// ```
    /// use toolwright::CallId;
    /// use toolwright::approval::{Statement, Decision};
    /// use toolwright::journal::{CallRecord, CallSlot, State};
    ///
    /// let now = "2026-01-02T03:04:05Z".parse()?;
    /// let id: CallId = "0192f0c1-2f4e-7c3a-9d1e-5b6a7c8d9e0f".parse()?;
    /// let place = CallSlot { run: "ticket-7".to_owned(), turn: Some(1), index: 0 };
    /// let dead = CallRecord::draft(id, place, "post", now).with(|it| it.state = State::Dead);
    ///
    /// let statement = Statement::requeue(&dead, false, "ada", now);
    /// assert_eq!(statement.verdict, Decision::Requeue { arguments: None, new_key: false });
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn requeue(call: &CallRecord, new_key: bool, by: impl Into<String>, at: Timestamp) -> Self {
        Self::about(call, Decision::Requeue { arguments: None, new_key }, by, at)
    }

    /// Makes the statement that requeues a dead letter with other arguments. `arguments` is the JSON text of all
    /// arguments. If they differ from the old arguments, the call gets a new idempotency key.
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

    /// Makes the statement that discards a dead letter.
    #[must_use]
    pub fn discard(
        call: &CallRecord,
        note: Option<String>,
        by: impl Into<String>,
        at: Timestamp,
    ) -> Self {
        Self::about(call, Decision::Discard { note, forget: false }, by, at)
    }

    /// Makes the statement that discards a dead letter and deletes the arguments from its record.
    #[must_use]
    pub fn forget(
        call: &CallRecord,
        note: Option<String>,
        by: impl Into<String>,
        at: Timestamp,
    ) -> Self {
        Self::about(call, Decision::Discard { note, forget: true }, by, at)
    }

    /// Makes the statement that revokes the grant with this id. The statement names no journal, because it only takes
    /// rights away and is therefore valid in every journal.
    #[must_use]
    pub fn revoke(grant: impl Into<String>, by: impl Into<String>, at: Timestamp) -> Self {
        let about = Subject::Grant { id: grant.into() };
        let (journal, project, note) = (None, None, None);
        Self { about, verdict: Decision::Revoke, at, by: by.into(), journal, project, note }
    }

    fn about(call: &CallRecord, verdict: Decision, by: impl Into<String>, at: Timestamp) -> Self {
        let about = Subject::Call {
            id: call.id,
            generation: call.generation,
            digest: call.digest.clone(),
            shown: call.shown_digest(),
        };
        let (journal, project) = (call.journal.clone(), call.project.clone());
        Self { about, verdict, at, by: by.into(), journal, project, note: None }
    }

    /// Adds a note for people who read the record, such as the name of the reviewer that made this decision and the
    /// reviewer's reason.
    #[must_use]
    pub fn noted(mut self, note: impl Into<String>) -> Self {
        self.note = Some(note.into());
        self
    }
}
