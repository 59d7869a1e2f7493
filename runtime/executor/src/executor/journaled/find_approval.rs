//! What covers a call that a person has to decide: a decision about exactly this call, or a grant. Neither is taken on
//! trust; signatures are checked whenever they are looked at.

use super::super::journal_config::LOCAL_APPROVER;
use super::super::outcome::CallFailure;
use super::{JournaledCall, not_recorded};
use toolwright_journal::approval::{Asked, Decision, Grant, Subject};
use toolwright_journal::journal::{CallRecord, DocumentWrite};

/// A grant that a call is about to use.
pub(super) struct Use {
    pub(super) grant: Grant,
    key: String,
    version: u64,
    /// An earlier attempt of the call took the use.
    is_taken: bool,
}

impl Use {
    /// The grant with one use more; nothing where uses do not count, so that calls do not wait for each other, and
    /// nothing for a further attempt of the same call.
    pub(super) fn taken(mut self) -> Option<DocumentWrite> {
        if self.is_taken || self.grant.terms().is_ok_and(|terms| terms.uses.is_none()) {
            return None;
        }
        self.grant.used = self.grant.used.saturating_add(1);
        Some(DocumentWrite {
            key: self.key,
            expects: Some(self.version),
            text: Some(self.grant.to_text()),
        })
    }
}

impl JournaledCall<'_> {
    /// Whether a person whose key counts approved exactly this call, as it is.
    pub(super) fn is_decided(self, record: &CallRecord) -> bool {
        self.decided(record).is_ok()
    }

    /// The same; the error says why not, for people who look into the call's history.
    pub(super) fn decided(self, record: &CallRecord) -> Result<(), String> {
        let Some(signed) = &record.decision else {
            return Err("nothing allows it any more".to_owned());
        };
        if record.ask.as_ref().is_some_and(|ask| ask.deadline <= self.journal.now()) {
            return Err("the time in which its decision counts has passed".to_owned());
        }
        let statement = match self.journal.trusted.verify(signed) {
            Ok(verified) => verified.into_statement(),
            Err(unverified) => {
                tracing::warn!(call = %record.id, %unverified, "a decision does not count");
                return Err(format!("its decision does not count: {unverified}"));
            }
        };
        let generation = match &statement.verdict {
            Decision::Approve { .. } => Some(record.generation),
            Decision::Edit { .. } => record.generation.checked_sub(1),
            _ => None,
        };
        if self.is_own(record, &statement.by) {
            return Err("the user that a call is made for may not approve it".to_owned());
        }
        let is_this_call = match (&statement.about, &statement.verdict) {
            (Subject::Call { id, generation: of, .. }, Decision::Edit { digest, .. })
            | (Subject::Call { id, generation: of, digest }, _) => {
                *id == record.id && Some(*of) == generation && *digest == record.digest
            }
            (Subject::Grant { .. }, _) => false,
        };
        if is_this_call {
            return Ok(());
        }
        Err("its decision does not count: it is about another call, or about this one as it was"
            .to_owned())
    }

    /// Whether this is whom the call is made for, where the policy asks for another pair of eyes.
    fn is_own(self, record: &CallRecord, by: &str) -> bool {
        // A key without a person's name may be in anybody's hands.
        let is_own = record.requester.user.as_deref() == Some(by) || by == LOCAL_APPROVER;
        is_own && self.run.core.rules.current().four_eyes()
    }

    /// A grant that covers the call, whose granter's key counts.
    pub(super) async fn grant(
        self,
        record: &CallRecord,
        arguments: &str,
    ) -> Result<Option<Use>, CallFailure> {
        let prefix = Grant::key(&record.tool, "");
        let documents = self.journal.store.documents(&prefix).await;
        let documents = documents.map_err(|error| not_recorded(&record.tool, error.into()))?;
        for document in documents {
            let mut grant = match Grant::from_text(&document.key, &document.text) {
                Ok(grant) => grant,
                Err(error) => {
                    tracing::warn!(key = document.key, %error, "a grant cannot be read");
                    continue;
                }
            };
            if grant.signed.statement().is_ok_and(|it| self.is_own(record, &it.by)) {
                tracing::debug!(call = %record.id, grant = grant.id, "the user that a call is made for may not grant it");
                continue;
            }
            // Its own use does not stand in the way of a further attempt.
            let is_taken = record.grant.as_ref() == Some(&grant.id);
            grant.used = grant.used.saturating_sub(is_taken.into());
            let asked = Asked {
                tool: &record.tool,
                fingerprint: &record.fingerprint,
                arguments,
                run: &record.place.run,
                session: record.requester.session.as_deref(),
                project: self.journal.project.as_deref(),
                now: self.journal.now(),
                used: grant.used,
            };
            match grant.covers(&asked, &self.journal.trusted) {
                Ok(()) => {
                    let (key, version) = (document.key, document.version);
                    return Ok(Some(Use { grant, key, version, is_taken }));
                }
                Err(reason) => {
                    tracing::debug!(call = %record.id, grant = grant.id, %reason, "not covered");
                }
            }
        }
        Ok(None)
    }
}
