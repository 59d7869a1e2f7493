//! A dead letter: a call, the kind of its last error, and its history.

use serde::Serialize;
use toolwright::journal::{CallRecord, Entry};

use super::call::Call;
use super::entry::EntryRow;

/// A dead letter, as programs read it: a call with two more keys.
#[derive(Serialize)]
pub(crate) struct DeadLetter<'a> {
    #[serde(flatten)]
    call: Call<'a>,
    kind: String,
    history: Vec<EntryRow<'a>>,
}

impl<'a> DeadLetter<'a> {
    pub(crate) fn of(call: &'a CallRecord, history: &'a [Entry]) -> Self {
        Self {
            call: Call::of(call),
            kind: kind(call),
            history: history.iter().map(|entry| EntryRow::of(call, entry)).collect(),
        }
    }
}

/// Returns the kind of a call's last error, or `unknown` if no error is recorded.
pub(crate) fn kind(call: &CallRecord) -> String {
    if let Some(failed) = call.failures.last() {
        return failed.kind.clone();
    }
    let answered = call.result.as_ref().or(call.answer.as_ref());
    let kind = answered.and_then(|answered| answered.whole.pointer("/error/kind")?.as_str());
    kind.unwrap_or("unknown").to_owned()
}
