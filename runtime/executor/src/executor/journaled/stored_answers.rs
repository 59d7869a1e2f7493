//! Answers in the journal. That of a call with a secret may repeat it, so it is sealed like the arguments.

use super::JournaledCall;
use super::stored_texts::bound_to;
use toolwright_core::output::Answer;
use toolwright_journal::journal::{Answered, CallRecord, StoreError, StoredText};

/// What stands in the record instead of a sealed answer.
const SEALED: &str = "(sealed, because a secret was among the arguments)";

/// What stands there where it could not be sealed.
const OMITTED: &str = "(not kept, because a secret was among the arguments)";

impl JournaledCall<'_> {
    /// The answer as it is stored.
    pub(super) fn store_answer(self, record: &CallRecord, answer: &Answer) -> Answered {
        let answered = Answered::from(answer);
        if matches!(record.arguments, StoredText::Plain(_)) {
            return answered;
        }
        let is_error = answered.is_error;
        let whole = answered.whole.to_string();
        let sealed = self.journal.sealing.as_ref().map(|key| key.seal(&whole, &bound(record)));
        match sealed {
            Some(Ok(StoredText::Encrypted(sealed))) => Answered {
                is_error,
                text: SEALED.to_owned(),
                whole: serde_json::json!({ "sealed": sealed }),
            },
            _ if is_error => Answered::error("withheld", OMITTED, None),
            _ => Answered::text(OMITTED),
        }
    }

    /// The answer as it was given.
    pub(super) fn revealed(
        self,
        record: &CallRecord,
        answer: &Answered,
    ) -> Result<Answer, StoreError> {
        let Some(sealed) = answer.whole.get("sealed").and_then(serde_json::Value::as_str) else {
            return answer.to_answer();
        };
        let Some(key) = &self.journal.sealing else {
            return Err(StoreError::invalid(format!(
                "the answer of call {} is sealed, and this executor has no key; give it with `.sealing_key(…)`",
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
        Answered { text: String::new(), whole, ..answer.clone() }.to_answer()
    }
}

fn bound(record: &CallRecord) -> Vec<u8> {
    bound_to(record.id, "answer")
}
