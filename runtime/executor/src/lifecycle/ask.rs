//! Asks an approver in this process. The decision is signed and recorded in the journal before it is valid.
//!
//! An approver fails if it cannot be asked, panics, or gives no decision. The executor then reports that on standard
//! error and to listeners. The call waits if another approver may decide; otherwise it ends at once.

use std::io::Write as _;
use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::{Either, select};

use super::decide::is_own;
use super::driver::Lifecycle;
use super::heap::on_heap;
use super::step::{End, Input};
use crate::call::{Asker, CallFailure, OnNoApprover, Outcome, Rules, Watch};
use crate::catalog::Form;
use crate::event::ToolEventKind;
use crate::stage::given_up_by;
use toolwright_core::call::Call;
use toolwright_core::context::CallId;
use toolwright_journal::approval::{
    ApprovalError, ApprovalRequest, ApprovalService, Approver, Reply, Response, Statement,
};
use toolwright_journal::journal::{CallRecord, State, StoredText, Transition};

/// The interval at which a waiting caller reads the journal if the store reports no change.
pub(super) const LOOK_AGAIN: Duration = Duration::from_secs(1);

/// The time after which a failed operation on a call is tried again.
pub(super) const TRY_AGAIN: Duration = Duration::from_secs(30);

/// How many times an approver is asked about one call, if the tool refuses each of the approver's edits.
const QUESTIONS: u32 = 5;

/// The pause before a decision is submitted again to a journal that was unavailable. The pause doubles each time. When
/// it reaches `LAST_PAUSE`, the decision is not submitted again.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LAST_PAUSE: Duration = Duration::from_secs(10);

/// The origin of a call about which an approver is asked.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Whose {
    /// A caller in this process waits for the call, or has just made the call.
    Ours,
    /// A sweep found the call in the journal. Another process may have asked about the call, and may have an approver
    /// that works.
    Anybodys,
}

impl Lifecycle<'_> {
    /// Notifies the approver of this process, if there is one, and continues the call if the approver decides while the
    /// caller waits. If the approver fails, the call stays pending if another approver may decide; otherwise it ends.
    pub(super) async fn notify(
        self,
        record: CallRecord,
        call: Option<&Call<'_>>,
        watch: Option<&Watch<'_>>,
    ) -> Outcome {
        on_heap(|| self.notify_for(record, call, watch, Whose::Ours)).await
    }

    /// Notifies the approver of this process about a call that a sweep found in the journal.
    pub(super) async fn notify_for_others(self, record: CallRecord) -> Outcome {
        on_heap(|| self.notify_for(record, None, None, Whose::Anybodys)).await
    }

    async fn notify_for(
        self,
        record: CallRecord,
        call: Option<&Call<'_>>,
        watch: Option<&Watch<'_>>,
        whose: Whose,
    ) -> Outcome {
        if record.state != State::Pending {
            return on_heap(|| self.continue_call(record, call, watch)).await;
        }
        let Some(request) = self.request(&record) else { return self.outcome_of(&record) };
        let Some(asker) = &self.journal.asker else { return self.outcome_of(&record) };
        if let Err(error) = self.check_shown(&record) {
            tracing::error!(call = %record.id, error, "no approver is asked");
            self.journal.busy.pause(record.id, TRY_AGAIN);
            return self.outcome_of(&record);
        }
        let current = self.run.core.rules.current();
        if Rules::four_eyes(self.run, &current) && is_own(&record, asker.key.name()) {
            let why = "it needs a second person, and the approver of this program is the user of the call";
            self.journal.busy.pause(record.id, TRY_AGAIN);
            return match on_heap(|| self.approver_failed(&record, why.to_owned(), whose)).await {
                Ok(()) => self.outcome_of(&record),
                Err(failure) => failure.into(),
            };
        }
        let Some(asking) = self.journal.busy.ask(record.id) else {
            return self.outcome_of(&record);
        };
        let reply = on_heap(|| self.ask_approver(asker, &record, request, call)).await;
        drop(asking);
        match reply {
            Ok(Some(ApproverReply::Statement(statement))) => {
                on_heap(|| self.submit_statement(asker, *statement)).await;
                match self.load(record.id).await {
                    Ok(decided) => {
                        self.notify_found(&decided).await;
                        on_heap(|| self.continue_call(decided, call, watch)).await
                    }
                    Err(failure) => failure.into(),
                }
            }
            Ok(Some(ApproverReply::Noted)) => on_heap(|| self.note_notified(record)).await,
            undecided => {
                self.journal.busy.pause(record.id, TRY_AGAIN);
                if let Err(why) = undecided
                    && let Err(failure) =
                        on_heap(|| self.approver_failed(&record, why, whose)).await
                {
                    return failure.into();
                }
                match self.load(record.id).await {
                    // Another approver decided in the meantime.
                    Ok(now) if now.state != State::Pending => {
                        self.notify_found(&now).await;
                        on_heap(|| self.continue_call(now, call, watch)).await
                    }
                    Ok(now) => self.outcome_of(&now),
                    Err(failure) => failure.into(),
                }
            }
        }
    }

    /// Sends listeners the event that a person has to decide on a call.
    pub(super) fn announce(self, record: &CallRecord, watch: Option<&Watch<'_>>) {
        if self.run.core.listeners.is_empty() {
            return;
        }
        match (watch, self.request(record)) {
            (Some(watch), Some(request)) => watch.report_question(&request),
            (None, Some(request)) => {
                self.notify_of(record, ToolEventKind::Asked { request: &request })
            }
            (_, None) => {}
        }
    }

    /// Returns whether this process has to notify its approver of the call now.
    pub(super) fn needs_notification(self, record: &CallRecord) -> bool {
        let busy = &self.journal.busy;
        record.state == State::Pending
            && self.journal.asker.is_some()
            && !busy.is_noted(record.id)
            && !busy.is_left_alone(record.id)
    }

    /// Asks people about a call of a turn, after the other calls of the turn have run.
    pub(crate) async fn ask_about(self, id: CallId, call: &Call<'_>) -> Outcome {
        match self.load(id).await {
            Ok(record) if self.needs_notification(&record) => {
                on_heap(|| self.notify(record, Some(call), None)).await
            }
            Ok(record) if record.state == State::Waiting => {
                self.ask_for_children(record, Some(call)).await
            }
            Ok(record) => self.outcome_of(&record),
            Err(failure) => failure.into(),
        }
    }

    /// Signs a decision that was made in this process, and submits it to the journal.
    async fn submit_statement(self, asker: &Asker, statement: Statement) {
        let about = format!("{:?}", statement.about);
        // `check_shown` has compared the arguments already, so the service need not compare them again.
        let service = ApprovalService::new(self.journal.store.clone()).unseen();
        let mut pause = FIRST_PAUSE;
        loop {
            match service.sign_and_submit(statement.clone(), &asker.key).await {
                // If the decision was recorded despite the error, submitting it again changes nothing.
                Err(ApprovalError::Store(error))
                    if error.is_unavailable() && pause < LAST_PAUSE =>
                {
                    tokio::time::sleep(pause).await;
                    pause *= 2;
                }
                Err(error) => {
                    tracing::warn!(about, %error, "a decision did not count");
                    return;
                }
                Ok(_) => return,
            }
        }
    }

    /// Records that an approver was notified and decides later.
    async fn note_notified(self, record: CallRecord) -> Outcome {
        self.journal.busy.note(record.id);
        let id = record.id;
        let mut look = self.look(record, None, None);
        match self.advance(&mut look, &mut Input::Noted).await {
            Ok(_) => self.outcome_of(look.record()),
            // The note was not recorded, so the approver will be notified once more.
            Err(_) => match self.load(id).await {
                Ok(now) => self.outcome_of(&now),
                Err(failure) => failure.into(),
            },
        }
    }

    /// Asks an approver until it gives a decision that can be signed. Returns `None` if the request has expired, or if
    /// a decision is not needed any more. If the tool refuses the approver's edit, the approver reads why and is asked
    /// again.
    ///
    /// # Errors
    /// When the approver fails to decide; the text says why.
    async fn ask_approver(
        self,
        asker: &Asker,
        record: &CallRecord,
        mut request: ApprovalRequest,
        call: Option<&Call<'_>>,
    ) -> Result<Option<ApproverReply>, String> {
        let by = asker.key.name();
        for _ in 0..QUESTIONS {
            let (decision, note) = match self.reply(&*asker.approver, &request, call).await? {
                Some(Reply::Decided(decision)) => (decision, None),
                Some(Reply::Reviewed { .. }) if request.person => {
                    return Err("a reviewer decided about a call on which a person has to decide"
                        .to_owned());
                }
                Some(Reply::Reviewed { response, by, reason }) => {
                    (response, Some(format!("reviewed by {by}: {reason}")))
                }
                Some(Reply::Noted) => return Ok(Some(ApproverReply::Noted)),
                None => return Ok(None),
            };
            let now = self.journal.now();
            let statement = match decision {
                Response::Approve => Statement::approve(record, by, now),
                Response::ApproveWithGrant(terms) => {
                    Statement::approve_with_grant(record, terms, by, now)
                }
                Response::Reject { reason } => Statement::reject(record, reason, by, now),
                Response::Edit(arguments) => match self.digest_edit(record, &arguments) {
                    Ok(digest) => Statement::edit(record, arguments, digest, by, now),
                    Err(why) => {
                        let reason = record.ask.as_ref().map(|it| it.reason.as_str());
                        let reason = reason.unwrap_or_default();
                        request.reason = format!("{reason} (the edit was not taken: {why})");
                        continue;
                    }
                },
            };
            let statement = match note {
                Some(note) => statement.noted(note),
                None => statement,
            };
            return Ok(Some(ApproverReply::Statement(Box::new(statement))));
        }
        Err(format!(
            "the approver gave arguments {QUESTIONS} times, and its tool took none of them"
        ))
    }

    /// Returns the reply of an approver; `None` if the approver has not replied by the deadline of the request, or if
    /// no decision is needed any more.
    async fn reply(
        self,
        approver: &dyn Approver,
        request: &ApprovalRequest,
        call: Option<&Call<'_>>,
    ) -> Result<Option<Reply>, String> {
        let left = self.journal.now().duration_until(request.deadline);
        let left = Duration::try_from(left).unwrap_or_default();
        // `ask` is called inside of the guarded future, because the call of `ask` itself may panic, too.
        let asking = AssertUnwindSafe(async { approver.ask(request).await }).catch_unwind();
        let asking = pin!(tokio::time::timeout(left, asking));
        let given_up = pin!(given_up_by(self.run, call));
        let decided = pin!(self.decided_elsewhere(request.call));
        let Either::Left((asked, _)) = select(asking, select(given_up, decided)).await else {
            return Ok(None);
        };
        match asked {
            Ok(Ok(Ok(reply))) => Ok(Some(reply)),
            Ok(Ok(Err(error))) => Err(error.message),
            Ok(Err(panic)) => {
                // Dropping the panic's payload might panic again, so the payload is leaked.
                std::mem::forget(panic);
                Err("the approver panicked, which approves nothing".to_owned())
            }
            Err(_) => Ok(None),
        }
    }

    /// Completes when the call is not pending any more, or the executor is shutting down.
    async fn decided_elsewhere(self, id: CallId) {
        loop {
            let changed = self.changed();
            // A call that cannot be read counts as a call without a decision.
            let is_decided = self.load(id).await.is_ok_and(|it| it.state != State::Pending);
            if is_decided || self.is_closed() {
                return;
            }
            let _ = tokio::time::timeout(LOOK_AGAIN, changed).await;
        }
    }

    /// Returns the digest of a call with other arguments, or why the tool refuses them.
    fn digest_edit(self, record: &CallRecord, arguments: &str) -> Result<String, String> {
        if !matches!(record.arguments, StoredText::Plain(_)) {
            return Err(
                "a call with a secret cannot be edited, only approved or rejected".to_owned()
            );
        }
        let found = self.tool(record)?;
        let (plan, call) = (found.plan(), Call::new(record.tool.as_str(), arguments));
        let settled = self.settle(plan, &call, (arguments, Form::Final), record.id);
        let (_, settled) = settled.map_err(|error| error.to_string())?;
        if settled.has_secrets() {
            return Err(
                "a secret cannot be given with an edit, which everybody can read".to_owned()
            );
        }
        Ok(self.digest(record, &record.fingerprint, &settled))
    }

    /// Reports why an approver failed to decide on a call, and ends the call if no other approver can decide.
    async fn approver_failed(
        self,
        record: &CallRecord,
        why: String,
        whose: Whose,
    ) -> Result<(), CallFailure> {
        let waits = self.others_decide() || !self.was_asked_here(record, whose).await?;
        self.report(record, &why, waits);
        if !waits {
            self.end(record.clone(), End::ApproverFailed(why)).await?;
        }
        Ok(())
    }

    /// Returns whether an approver outside of this process may decide on calls.
    fn others_decide(self) -> bool {
        self.journal.trusted.count() > 1 || self.journal.on_no_approver == OnNoApprover::Park
    }

    /// Returns whether a caller in this process waits for the call, or this executor was the last to ask about it.
    async fn was_asked_here(self, record: &CallRecord, whose: Whose) -> Result<bool, CallFailure> {
        if whose == Whose::Ours {
            return Ok(true);
        }
        let history = self.history(record).await?;
        let asked = history.iter().rev().find(|entry| entry.event == Some(Transition::Asked));
        Ok(asked.is_some_and(|entry| entry.who == format!("executor:{}", self.journal.owner)))
    }

    /// Reports the failure of an approver: to listeners each time, and on standard error once for each call.
    fn report(self, record: &CallRecord, why: &str, waits: bool) {
        tracing::warn!(call = %record.id, why, waits, "an approver failed");
        self.notify_of(record, ToolEventKind::ApproverFailed { why, waits });
        if !self.journal.busy.is_news(record.id) {
            return;
        }
        let (call, tool) = (record.id, &record.tool);
        let follows = match waits {
            true => format!(
                "it waits for another approver whose key counts; while this program runs, it is asked about again every {} s",
                TRY_AGAIN.as_secs()
            ),
            false => {
                "no approver outside of this program counts, so the call is not approved".to_owned()
            }
        };
        // An error is ignored, because standard error may be closed.
        let _ = writeln!(
            std::io::stderr(),
            "call {call} of `{tool}` was not decided: {why}; {follows}"
        );
    }
}

/// The reply of an approver in this process.
enum ApproverReply {
    Statement(Box<Statement>),
    Noted,
}
