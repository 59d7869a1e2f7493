//! Submits people's statements. Each statement is checked against the current state of its call. Then its effect is
//! committed in one transaction, or an error says what happened instead.
//!
//! - Of two different decisions that the same state of a call allows, only the first takes effect. The error for the
//!   second names the author of the first.
//! - The state machine decides the next state. After a lost race, the call is read again.
//! - A statement that lets the call run with its present arguments is refused if the record shows other arguments. It
//!   is also refused if the arguments are encrypted, so that this cannot be checked here, unless the service is
//!   [`unseen`](ApprovalService::unseen).
//! - A statement that names another journal or project than the call's record is refused.

mod decide;
mod error;
mod grants;
mod recorded;
mod say;
mod shown;

use std::sync::Arc;

use jiff::Timestamp;

use super::granted::Grant;
use super::statement::{Decision, SignedStatement, Statement, Subject};
use super::trusted_keys::TrustedKeys;
use crate::journal::{CallWrite, CommitError, DocumentWrite, State, Store, Transaction, begun};
use toolwright_core::context::CallId;

pub use error::ApprovalError;
pub use grants::Grants;
pub use shown::ShownCall;

use decide::decide;
use recorded::find_recorded;

/// The maximum number of attempts to commit a statement. Each lost race costs one attempt, so the limit is reached only
/// if other writers keep changing the call.
const LOOKS: u32 = 16;

/// A service that submits people's decisions to a journal, for operators' commands and for applications.
///
/// [`approve`](Self::approve), [`reject`](Self::reject), [`edit`](Self::edit), [`grant`](Self::grant) and similar
/// methods load the call, sign and submit in one step. [`submit`](Self::submit) takes a statement that was signed
/// elsewhere. All of them refuse to let a call run with its present arguments if the record shows other arguments, or
/// if this cannot be checked because the arguments are encrypted. The service needs no sealing key;
/// [`unseen`](Self::unseen) makes it accept approvals of calls with encrypted arguments.
///
/// By default, an approval service does not verify signatures. It records statements, and the executor verifies them
/// before it lets a call run. But some statements take effect at once: a rejection ends a call, the result of a call
/// that happened becomes its answer, a dead letter is discarded (and its arguments deleted), and a grant is revoked. If
/// statements come from outside, let the service [trust](Self::trusting) only some keys.
///
/// ```
/// use std::sync::Arc;
/// use toolwright::approval::{ApproverKey, ApprovalService, TrustedKeys, Statement};
/// use toolwright::journal::MemoryStore;
///
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let key = ApproverKey::generate("ada")?;
/// let service = ApprovalService::new(Arc::new(MemoryStore::new())).trusting(TrustedKeys::new().with("ada", key.public())?);
///
/// let now = "2026-01-02T03:04:05Z".parse()?;
/// let signed = key.sign(&Statement::revoke("0192f0c1-2f4e-7c3a-9d1e-5b6a7c8d9e0f-1", "ada", now))?;
/// let error = service.submit(signed, now).await.expect_err("there is no such grant");
/// assert!(error.to_string().starts_with("there is no grant `0192f0c1-2f4e-7c3a-9d1e-5b6a7c8d9e0f-1`"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct ApprovalService {
    store: Arc<dyn Store>,
    trusted: Option<TrustedKeys>,
    /// Whether the service accepts approvals of calls whose arguments are encrypted, although it cannot check that
    /// their records show what would run.
    is_unseen: bool,
    clock: Option<Clock>,
}

type Clock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// The effect of a statement.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SubmitOutcome {
    /// The call or grant that the statement is about.
    pub about: Subject,
    /// The decision.
    pub verdict: Decision,
    /// The name of the person or program that decided.
    pub who: String,
    /// When the decision was recorded.
    pub at: Timestamp,
    /// The state of the call after the decision; `None` for a grant.
    pub to: Option<State>,
    /// The id of the grant that was given or revoked, if one was.
    pub grant: Option<String>,
    /// Whether an equal decision was recorded before, so that nothing was changed.
    pub repeated: bool,
}

/// A parsed statement, with its signed text and the time of its submission.
struct ParsedStatement<'a> {
    signed: &'a SignedStatement,
    statement: Statement,
    now: Timestamp,
}

enum Step {
    /// An equal decision was recorded before.
    Known(SubmitOutcome),
    /// The statement takes effect when this transaction is committed.
    New(Transaction, SubmitOutcome),
}

impl ApprovalService {
    /// Makes an approval service for a journal.
    #[must_use]
    pub fn new(store: Arc<dyn Store>) -> Self {
        Self { store, trusted: None, is_unseen: false, clock: None }
    }

    /// Makes the service refuse every statement that was not signed with a trusted key.
    #[must_use]
    pub fn trusting(self, trusted: TrustedKeys) -> Self {
        Self { trusted: Some(trusted), ..self }
    }

    /// Makes the service accept approvals of calls with encrypted arguments, although it cannot check that their
    /// records show what would run. The signed statement contains a digest of the shown arguments. The executor, which
    /// has the sealing key, compares these with the real ones before it runs the call, and asks again if they differ.
    #[must_use]
    pub fn unseen(self) -> Self {
        Self { is_unseen: true, ..self }
    }

    /// Sets the clock for the decisions that this service signs, for tests of deadlines. By default, it is the system's
    /// clock.
    #[must_use]
    pub fn clock(self, now: impl Fn() -> Timestamp + Send + Sync + 'static) -> Self {
        Self { clock: Some(Arc::new(now)), ..self }
    }

    /// Submits a statement. If the same key has made the same decision before, or the grant is already revoked, returns
    /// the outcome that was recorded then.
    ///
    /// # Errors
    /// When the statement does not take effect, for example because another decision came first or the record was
    /// [altered](ApprovalError::Altered). After [`ApprovalError::Store`] it is unknown whether the statement took
    /// effect; submit it again.
    pub async fn submit(
        &self,
        signed: SignedStatement,
        now: Timestamp,
    ) -> Result<SubmitOutcome, ApprovalError> {
        let statement = match &self.trusted {
            Some(trusted) => trusted.verify(&signed)?.into_statement(),
            None => signed.statement()?,
        };
        let said = ParsedStatement { signed: &signed, statement, now };
        for _ in 0..LOOKS {
            let step = match &said.statement.about {
                Subject::Call { id, generation, digest, shown: _ } => {
                    self.about_call(&said, *id, *generation, digest).await?
                }
                Subject::Grant { id } => self.about_grant(&said, id).await?,
            };
            let (unit, submitted) = match step {
                Step::Known(submitted) => return Ok(submitted),
                Step::New(unit, submitted) => (unit, submitted),
            };
            match self.store.commit(unit, now).await {
                Ok(()) => return Ok(submitted),
                Err(CommitError::Store(error)) => return Err(error.into()),
                // Another process changed the call first, so the call is read again.
                Err(_) => {}
            }
        }
        Err(ApprovalError::Busy { looks: LOOKS })
    }

    async fn about_call(
        &self,
        said: &ParsedStatement<'_>,
        id: CallId,
        generation: u32,
        digest: &str,
    ) -> Result<Step, ApprovalError> {
        let record = self.store.get(id).await?.ok_or(ApprovalError::UnknownCall { call: id })?;
        let expects = record.version;
        let history = self.store.history(id).await?;
        if (record.generation, record.digest.as_str()) == (generation, digest)
            && let Some(decided) = decide(record.clone(), begun(&history), said, self.is_unseen)?
        {
            let submitted = SubmitOutcome {
                about: said.statement.about.clone(),
                verdict: said.statement.verdict.clone(),
                who: decided.entry.who.clone(),
                at: decided.entry.at,
                to: Some(decided.entry.to),
                grant: decided.grant.as_ref().map(|grant| grant.id.clone()),
                repeated: false,
            };
            let documents = decided.grant.into_iter().map(|grant| DocumentWrite {
                key: Grant::key(&decided.record.tool, &grant.id),
                expects: None,
                text: Some(grant.to_text()),
            });
            let documents = documents.collect();
            let (record, entries) = (decided.record, vec![decided.entry]);
            let calls = vec![CallWrite { expects: Some(expects), record, entries }];
            return Ok(Step::New(Transaction { calls, documents }, submitted));
        }
        find_recorded(&record, &history, said, generation, digest).map(Step::Known)
    }

    async fn about_grant(
        &self,
        said: &ParsedStatement<'_>,
        id: &str,
    ) -> Result<Step, ApprovalError> {
        if said.statement.verdict != Decision::Revoke {
            return Err(ApprovalError::Subject {
                verdict: Box::new(said.statement.verdict.clone()),
            });
        }
        let documents = self.store.documents(Grant::PREFIX).await?;
        let document =
            documents.into_iter().find(|document| document.key.rsplit('/').next() == Some(id));
        let document = document.ok_or_else(|| ApprovalError::UnknownGrant { id: id.to_owned() })?;
        let mut grant = Grant::from_text(&document.key, &document.text)?;
        let submitted = |who: String, at, repeated| SubmitOutcome {
            about: said.statement.about.clone(),
            verdict: Decision::Revoke,
            who,
            at,
            to: None,
            grant: Some(id.to_owned()),
            repeated,
        };
        if let Some(revoked) = &grant.revoked {
            let first = revoked.statement()?;
            return Ok(Step::Known(submitted(first.by, first.at, true)));
        }
        grant.revoked = Some(said.signed.clone());
        let (key, text) = (document.key, Some(grant.to_text()));
        let documents = vec![DocumentWrite { key, expects: Some(document.version), text }];
        let new = submitted(said.statement.by.clone(), said.now, false);
        Ok(Step::New(Transaction { documents, ..Transaction::default() }, new))
    }
}
