//! Converts answers to their stored form and back. The stored form has no version of its own, because the call's record
//! has one.

use crate::journal::{AnswerRecord, StoreError};
use toolwright_core::error::ToolError;
use toolwright_core::output::{Answer, StoredAnswer, StoredAnswerError};

impl From<&Answer> for AnswerRecord {
    fn from(answer: &Answer) -> Self {
        let whole = StoredAnswer::from(answer).unversioned();
        Self { is_error: answer.is_error(), text: answer.text().into_owned(), whole }
    }
}

/// Omits the cause of the error, because models read the answer and only operators may see the cause.
impl From<&ToolError> for AnswerRecord {
    fn from(error: &ToolError) -> Self {
        let whole = StoredAnswer::from(error).unversioned();
        Self { is_error: true, text: error.to_json(), whole }
    }
}

impl AnswerRecord {
    /// Returns the answer in the form in which the tool gave it.
    #[doc(hidden)]
    pub fn to_answer(&self) -> Result<Answer, StoreError> {
        let stored = StoredAnswer::read(&self.whole).map_err(|error| {
            let message = format!("an answer in the journal cannot be read: {error}");
            match error {
                StoredAnswerError::Newer { .. } => StoreError::newer(message),
                _ => StoreError::corrupt(message),
            }
        })?;
        Ok(stored.into_answer())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_answer_comes_back_from_its_record() {
        let answer = Answer::from(ToolError::new("busy", "try later").hint("wait"));
        let stored = serde_json::to_string(&AnswerRecord::from(&answer)).unwrap();
        let back = serde_json::from_str::<AnswerRecord>(&stored).unwrap().to_answer().unwrap();
        assert_eq!((back.is_error(), back.text()), (true, answer.text()));
    }

    #[test]
    fn an_answer_of_a_newer_version_is_refused() {
        let stored =
            AnswerRecord { is_error: false, text: String::new(), whole: json!({ "film": 1 }) };
        let error = stored.to_answer().unwrap_err().to_string();
        assert!(error.contains("cannot be read") && error.contains("`film`"), "{error}");
    }
}
