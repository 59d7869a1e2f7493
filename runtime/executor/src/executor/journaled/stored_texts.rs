//! Texts in the journal: plain, or sealed where a secret may be inside.

use super::JournaledCall;
use toolwright_core::context::CallId;
use toolwright_journal::arguments::FinalArguments;
use toolwright_journal::journal::{CallRecord, StoredText};

impl JournaledCall<'_> {
    /// A text that is sealed where it may hold a secret.
    pub(super) fn store_text(
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

    /// The arguments that run.
    pub(super) fn arguments(self, record: &CallRecord) -> Result<String, String> {
        self.reveal(&record.arguments, record.id, "arguments")
    }

    /// A stored text, decrypted; `field` is where in the record it stands.
    pub(super) fn reveal(
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
}

/// What a sealed text belongs to, so that it opens nowhere else.
pub(super) fn bound_to(id: CallId, field: &str) -> Vec<u8> {
    format!("{id}/{field}").into_bytes()
}
