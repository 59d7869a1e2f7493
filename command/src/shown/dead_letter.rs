//! A dead letter: a call, the kind of its last error, and all that happened to it.

use serde::Serialize;
use toolwright::journal::{CallRecord, Entry};

use super::call::Call;
use super::entry::EntryRow;

/// What programs read of it: a call with two keys more.
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

/// The kind of a call's last error; `unknown` where none is kept.
pub(crate) fn kind(call: &CallRecord) -> String {
    if let Some(failed) = call.failures.last() {
        return failed.kind.clone();
    }
    let answered = call.result.as_ref().or(call.answer.as_ref());
    let kind = answered.and_then(|answered| answered.whole.pointer("/error/kind")?.as_str());
    kind.unwrap_or("unknown").to_owned()
}
