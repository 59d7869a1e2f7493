//! Makes decisions in one step: loads the call, signs a statement about it, and submits the statement.

use jiff::Timestamp;

use super::decide::refuse_altered;
use super::{ApprovalError, ApprovalService, ShownCall, SubmitOutcome};
use crate::approval::{ApproverKey, Decision, GrantTerms, Statement, Subject};
use crate::journal::CallRecord;
use toolwright_core::json::canonical;

/// The methods that decide on a call take the call by its id or as it was shown (see [`ShownCall`]), and the key of the
/// person who decides. If the same key has made the same decision before, the method returns what was recorded then.
impl ApprovalService {
    /// Approves a call, which may then run with the arguments that its record shows.
    ///
    /// ```
    /// use std::sync::{Arc, Mutex};
    /// use toolwright::approval::{ApprovalService, ApproverKey, Channel};
    /// use toolwright::journal::MemoryStore;
    /// use toolwright::{Call, Executor, Registry, tool};
    ///
    /// /// Orders an article.
    /// #[tool(approval = "it spends money", writes())]
    /// async fn order(
    ///     /// Which.
    ///     article: String,
    /// ) -> String {
    ///     format!("ordered {article}")
    /// }
    ///
    /// # tokio::runtime::Builder::new_current_thread().enable_time().build()?.block_on(async {
    /// let ada = ApproverKey::generate("ada")?;
    /// let store = MemoryStore::new();
    /// let (sender, mut requests) = tokio::sync::mpsc::channel(16);
    /// let executor = Executor::builder(Registry::of([ORDER])?)
    ///     .journal(store.clone())
    ///     .approver(ada.clone(), Channel::new(sender))
    ///     .build()?;
    ///
    /// let service = ApprovalService::new(Arc::new(store));
    /// let decided = async {
    ///     let request = requests.recv().await.expect("the executor asks");
    ///     // Show the request to Ada, and when she agrees:
    ///     service.approve(&request, &ada).await
    /// };
    /// let call = Call::new("order", r#"{"article":"tea"}"#);
    /// let (answer, decided) = futures::join!(executor.call(&call), decided);
    /// assert_eq!(decided?.who, "ada");
    /// assert_eq!(answer.text(), "ordered tea");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`submit`](Self::submit).
    pub async fn approve(
        &self,
        call: impl Into<ShownCall>,
        key: &ApproverKey,
    ) -> Result<SubmitOutcome, ApprovalError> {
        self.decide(call, Decision::Approve { grant: None }, key).await
    }

    /// Approves a call, and grants calls like it on these terms.
    ///
    /// # Errors
    /// As [`submit`](Self::submit).
    pub async fn grant(
        &self,
        call: impl Into<ShownCall>,
        terms: GrantTerms,
        key: &ApproverKey,
    ) -> Result<SubmitOutcome, ApprovalError> {
        self.decide(call, Decision::Approve { grant: Some(terms) }, key).await
    }

    /// Approves a call with other arguments. `arguments` is the JSON text of one object with all arguments. The
    /// executor evaluates the call with them. If the executor's final arguments differ from these, for example because
    /// it fills in a default, the approver is asked again.
    ///
    /// # Errors
    /// As [`submit`](Self::submit); also when `arguments` is not the JSON text of an object.
    pub async fn edit(
        &self,
        call: impl Into<ShownCall>,
        arguments: impl Into<String>,
        key: &ApproverKey,
    ) -> Result<SubmitOutcome, ApprovalError> {
        let (shown, arguments) = (call.into(), arguments.into());
        let call = shown.call;
        let edited = |record: &CallRecord| {
            let text = canonical(&arguments)
                .map_err(|error| ApprovalError::Arguments { call, error: Some(error) })?;
            let digest = record.digest_with(&text);
            Ok(Decision::Edit { arguments, digest })
        };
        self.decide_of(shown, edited, key).await
    }

    /// Rejects a call; the model reads the reason.
    ///
    /// # Errors
    /// As [`submit`](Self::submit).
    pub async fn reject(
        &self,
        call: impl Into<ShownCall>,
        reason: Option<String>,
        key: &ApproverKey,
    ) -> Result<SubmitOutcome, ApprovalError> {
        self.decide(call, Decision::Reject { reason }, key).await
    }

    /// Accepts a planned call, which is then evaluated.
    ///
    /// # Errors
    /// As [`submit`](Self::submit).
    pub async fn accept(
        &self,
        call: impl Into<ShownCall>,
        key: &ApproverKey,
    ) -> Result<SubmitOutcome, ApprovalError> {
        self.decide(call, Decision::Accept, key).await
    }

    /// Records that an indeterminate call happened, with its result. The model receives the result, unless the run
    /// already has an answer of the call.
    ///
    /// # Errors
    /// As [`submit`](Self::submit).
    pub async fn happened(
        &self,
        call: impl Into<ShownCall>,
        result: impl Into<String>,
        key: &ApproverKey,
    ) -> Result<SubmitOutcome, ApprovalError> {
        self.decide(call, Decision::Happened { result: result.into() }, key).await
    }

    /// Records that an indeterminate call did not happen, so that it is evaluated again.
    ///
    /// # Errors
    /// As [`submit`](Self::submit).
    pub async fn did_not_happen(
        &self,
        call: impl Into<ShownCall>,
        key: &ApproverKey,
    ) -> Result<SubmitOutcome, ApprovalError> {
        self.decide(call, Decision::DidNotHappen, key).await
    }

    /// Requeues a dead letter, which the policy then evaluates again. With `new_key`, the call gets a new idempotency
    /// key, so that a service which uses such keys treats it as a new call.
    ///
    /// # Errors
    /// As [`submit`](Self::submit).
    pub async fn requeue(
        &self,
        call: impl Into<ShownCall>,
        new_key: bool,
        key: &ApproverKey,
    ) -> Result<SubmitOutcome, ApprovalError> {
        self.decide(call, Decision::Requeue { arguments: None, new_key }, key).await
    }

    /// Requeues a dead letter with other arguments. `arguments` is the JSON text of one object with all arguments.
    ///
    /// # Errors
    /// As [`submit`](Self::submit); also when `arguments` is not the JSON text of an object.
    pub async fn requeue_with(
        &self,
        call: impl Into<ShownCall>,
        arguments: impl Into<String>,
        key: &ApproverKey,
    ) -> Result<SubmitOutcome, ApprovalError> {
        let arguments = Some(arguments.into());
        self.decide(call, Decision::Requeue { arguments, new_key: false }, key).await
    }

    /// Discards a dead letter, with a note for other operators.
    ///
    /// # Errors
    /// As [`submit`](Self::submit).
    pub async fn discard(
        &self,
        call: impl Into<ShownCall>,
        note: Option<String>,
        key: &ApproverKey,
    ) -> Result<SubmitOutcome, ApprovalError> {
        self.decide(call, Decision::Discard { note, forget: false }, key).await
    }

    /// Discards a dead letter and deletes the arguments from its record. The answer and the history stay.
    ///
    /// # Errors
    /// As [`submit`](Self::submit).
    pub async fn forget(
        &self,
        call: impl Into<ShownCall>,
        note: Option<String>,
        key: &ApproverKey,
    ) -> Result<SubmitOutcome, ApprovalError> {
        self.decide(call, Decision::Discard { note, forget: true }, key).await
    }

    /// Revokes the grant with this id.
    ///
    /// # Errors
    /// As [`submit`](Self::submit).
    pub async fn revoke(
        &self,
        grant: impl Into<String>,
        key: &ApproverKey,
    ) -> Result<SubmitOutcome, ApprovalError> {
        self.sign_and_submit(Statement::revoke(grant, key.name(), self.now()), key).await
    }

    /// Signs a statement, which the caller made from the record that it showed, and submits it. The time of the
    /// statement counts as the time of the submission.
    ///
    /// # Errors
    /// As [`submit`](Self::submit); also when the statement names another author than the holder of the key.
    pub async fn sign_and_submit(
        &self,
        statement: Statement,
        key: &ApproverKey,
    ) -> Result<SubmitOutcome, ApprovalError> {
        let now = statement.at;
        self.submit(key.sign(&statement)?, now).await
    }

    /// Checks that the record of a call shows the arguments that would run. Programs call it before they show a record
    /// to a person. [`submit`](Self::submit) makes the same check for every statement that lets the call run with these
    /// arguments.
    ///
    /// # Errors
    /// [`ApprovalError::Altered`] if the record shows other arguments than those that would run.
    /// [`ApprovalError::Unseen`] if the arguments are encrypted or not stored, so that this cannot be checked.
    pub fn check_shown(record: &CallRecord) -> Result<(), ApprovalError> {
        refuse_altered(record)
    }

    async fn decide(
        &self,
        call: impl Into<ShownCall>,
        decision: Decision,
        key: &ApproverKey,
    ) -> Result<SubmitOutcome, ApprovalError> {
        self.decide_of(call.into(), |_| Ok(decision), key).await
    }

    async fn decide_of(
        &self,
        shown: ShownCall,
        decision: impl FnOnce(&CallRecord) -> Result<Decision, ApprovalError>,
        key: &ApproverKey,
    ) -> Result<SubmitOutcome, ApprovalError> {
        let call = shown.call;
        let record = self.store.get(call).await?.ok_or(ApprovalError::UnknownCall { call })?;
        let verdict = decision(&record)?;
        let about: Subject = shown.subject(&record);
        let (by, journal, project) = (key.name().to_owned(), record.journal, record.project);
        let at = self.now();
        let statement = Statement { about, verdict, at, by, journal, project, note: None };
        self.sign_and_submit(statement, key).await
    }

    fn now(&self) -> Timestamp {
        self.clock.as_ref().map_or_else(Timestamp::now, |clock| clock())
    }
}
