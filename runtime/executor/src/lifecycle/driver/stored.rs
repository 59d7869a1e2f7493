//! Stores texts and answers in the journal: in plain text, or encrypted if they may contain a secret.

use super::Lifecycle;
use toolwright_core::context::CallId;
use toolwright_core::json::canonical;
use toolwright_core::output::Answer;
use toolwright_journal::approval::{ApprovalError, ApprovalService};
use toolwright_journal::arguments::{DigestMatch, FinalArguments, SealingKey, digest, shown_of};
use toolwright_journal::journal::{AnswerRecord, CallRecord, StoreError, StoredText};

/// The text that is shown in place of an encrypted answer.
const SEALED: &str = "(sealed, because a secret was among the arguments)";

/// The text in place of an answer that could not be encrypted.
const OMITTED: &str = "(not kept, because a secret was among the arguments)";

impl Lifecycle<'_> {
    /// Makes the stored form of a text: encrypted if the text may contain a secret.
    pub(in super::super) fn store_text(
        self,
        settled: &FinalArguments,
        text: &str,
        id: CallId,
        field: &str,
    ) -> Result<StoredText, String> {
        if !settled.has_secrets() {
            return Ok(StoredText::Plain(text.to_owned()));
        }
        match &self.journal.sealing {
            Some(key) => key.seal(text, &bound_to(id, field)).map_err(|error| error.to_string()),
            None => Ok(StoredText::Omitted),
        }
    }

    /// Returns the arguments with which the call runs, decrypted if necessary.
    pub(in super::super) fn arguments(self, record: &CallRecord) -> Result<String, String> {
        self.reveal(&record.arguments, record.id, "arguments")
    }

    /// Returns a stored text, decrypted if necessary. `field` names the part of the record that contains it.
    pub(in super::super) fn reveal(
        self,
        stored: &StoredText,
        id: CallId,
        field: &str,
    ) -> Result<String, String> {
        match (stored, &self.journal.sealing) {
            (StoredText::Plain(text), _) => Ok(text.clone()),
            (StoredText::Encrypted(_), Some(key)) => {
                key.open(stored, &bound_to(id, field)).map_err(|error| error.to_string())
            }
            (StoredText::Encrypted(_), None) => {
                Err("its arguments are sealed, and this executor has no key".to_owned())
            }
            (StoredText::Omitted, _) => {
                Err("its arguments held a secret and were not kept".to_owned())
            }
        }
    }

    /// Makes the stored form of an answer.
    pub(in super::super) fn store_answer(
        self,
        record: &CallRecord,
        answer: &Answer,
    ) -> AnswerRecord {
        let answered = AnswerRecord::from(answer);
        if matches!(record.arguments, StoredText::Plain(_)) {
            return answered;
        }
        let is_error = answered.is_error;
        let whole = answered.whole.to_string();
        let sealed = self.journal.sealing.as_ref().map(|key| key.seal(&whole, &bound(record)));
        match sealed {
            Some(Ok(StoredText::Encrypted(sealed))) => AnswerRecord {
                is_error,
                text: SEALED.to_owned(),
                whole: serde_json::json!({ "sealed": sealed }),
            },
            _ if is_error => AnswerRecord::error("withheld", OMITTED, None),
            _ => AnswerRecord::text(OMITTED),
        }
    }

    /// Returns a stored answer, decrypted if necessary.
    pub(in super::super) fn reveal_answer(
        self,
        record: &CallRecord,
        answer: &AnswerRecord,
    ) -> Result<Answer, StoreError> {
        let Some(sealed) = answer.whole.get("sealed").and_then(serde_json::Value::as_str) else {
            return answer.to_answer();
        };
        let Some(key) = &self.journal.sealing else {
            return Err(StoreError::invalid(format!(
                "the answer of call {} is sealed, and this executor has no key; give its journal one by `Journal::sealing_key`",
                record.id
            )));
        };
        let failed = |error: String| {
            StoreError::invalid(format!(
                "the answer of call {} cannot be opened: {error}",
                record.id
            ))
        };
        let whole = key
            .open(&StoredText::Encrypted(sealed.to_owned()), &bound(record))
            .map_err(|error| failed(error.to_string()))?;
        let whole = serde_json::from_str(&whole).map_err(|error| failed(error.to_string()))?;
        AnswerRecord { text: String::new(), whole, ..answer.clone() }.to_answer()
    }

    /// Computes the digest to which decisions are bound.
    pub(in super::super) fn digest(
        self,
        record: &CallRecord,
        fingerprint: &str,
        arguments: &FinalArguments,
    ) -> String {
        // Without a sealing key, a call with a secret cannot wait, so its digest is only compared in this process, and
        // a key of this process suffices.
        let key = self.digest_key(arguments);
        digest(&record.digest_input(fingerprint, arguments.canonical()), key)
    }

    /// Compares the digest in a record with the digest computed from these arguments.
    pub(in super::super) fn compare_digest(
        self,
        record: &CallRecord,
        fingerprint: &str,
        arguments: &FinalArguments,
    ) -> DigestMatch {
        record.compare_digest(fingerprint, arguments.canonical(), self.digest_key(arguments))
    }

    /// Returns the key for digests of arguments with secrets.
    fn digest_key(&self, arguments: &FinalArguments) -> Option<&SealingKey> {
        let key = self.journal.sealing.as_ref().or(self.journal.passing.as_ref());
        key.filter(|_| arguments.has_secrets())
    }

    /// Checks that the record shows the arguments that would run. A process that can write to the journal could
    /// otherwise show people one call and run another. The error says that the arguments differ, or why they cannot be
    /// compared.
    pub(in super::super) fn check_shown(self, record: &CallRecord) -> Result<(), String> {
        match ApprovalService::check_shown(record) {
            Err(ApprovalError::Unseen { .. }) => {}
            checked => return checked.map_err(|error| error.to_string()),
        }
        let text = self.arguments(record)?;
        let shown = shown_of(&text, &record.secrets).and_then(|shown| canonical(&shown).ok());
        let is_shown = shown.is_some() && shown == canonical(&record.shown).ok();
        match is_shown && self.are_of_its_digest(record, &text) {
            true => Ok(()),
            false => Err(ApprovalError::Altered { call: record.id }.to_string()),
        }
    }

    /// Returns whether the arguments in the journal match the digest in the record.
    pub(super) fn are_of_its_digest(self, record: &CallRecord, arguments: &str) -> bool {
        let key = match record.arguments {
            StoredText::Plain(_) => None,
            _ => self.journal.sealing.as_ref(),
        };
        canonical(arguments).is_ok_and(|arguments| {
            let found = record.compare_digest(&record.fingerprint, &arguments, key);
            found != DigestMatch::Other
        })
    }
}

/// Returns the additional authenticated data that binds an encrypted text to its place in the journal, so that the text
/// cannot be decrypted in another place.
fn bound_to(id: CallId, field: &str) -> Vec<u8> {
    format!("{id}/{field}").into_bytes()
}

fn bound(record: &CallRecord) -> Vec<u8> {
    bound_to(record.id, "answer")
}
