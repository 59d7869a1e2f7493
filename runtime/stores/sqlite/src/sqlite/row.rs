//! Converts calls and entries to rows and back.

use std::fmt::Display;

use jiff::Timestamp;
use rusqlite::Row;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::failure::JournalFile;
use toolwright_core::context::CallId;
use toolwright_journal::journal::{
    CallRecord, CallSlot, CallSummary, CallWrite, DocumentWrite, Entry, State, StoreError,
    StoreErrorKind, Transaction,
};

/// The usual size of a stored call record, in bytes; a buffer starts with this capacity.
const RECORD: usize = 2_048;

/// The usual size of a stored history entry, in bytes; a buffer starts with this capacity.
const ENTRY: usize = 384;

/// A transaction, ready to be written.
pub struct TransactionRows {
    pub calls: Vec<CallRow>,
    pub documents: Vec<DocumentWrite>,
    pub now: Timestamp,
}

/// A call, ready to be written.
pub struct CallRow {
    pub id: CallId,
    pub expects: Option<u64>,
    pub place: CallSlot,
    pub tool: String,
    pub digest: String,
    pub created: i64,
    pub state: &'static str,
    pub version: i64,
    pub epoch: i64,
    pub due: Option<i64>,
    pub delivered: bool,
    pub lease: Option<String>,
    pub body: String,
    pub takes_from_owner: bool,
    pub entries: Vec<EntryRow>,
}

/// An entry of a history, ready to be written.
pub struct EntryRow {
    pub number: i64,
    pub body: String,
}

impl TransactionRows {
    pub fn of(unit: Transaction, now: Timestamp, name: &JournalFile) -> Result<Self, StoreError> {
        let calls = unit.calls.into_iter().map(|write| CallRow::of(write, name));
        Ok(Self { calls: calls.collect::<Result<_, _>>()?, documents: unit.documents, now })
    }

    /// Returns the minimum number of rows that the transaction changes. A condition without a write changes no row.
    pub fn writes(&self) -> usize {
        let written = |it: &&DocumentWrite| it.text.is_some() || it.expects.is_some();
        self.calls.len() + self.documents.iter().filter(written).count()
    }
}

impl CallRow {
    fn of(write: CallWrite, name: &JournalFile) -> Result<Self, StoreError> {
        let takes_from_owner = write.takes_from_owner();
        let CallWrite { expects, record, entries } = write;
        let record = record.without_copies();
        let entries = entries.iter().map(|entry| {
            let body = write_json(entry, ENTRY, record.id, name)?;
            Ok(EntryRow { number: number(entry.number), body })
        });
        Ok(Self {
            expects,
            takes_from_owner,
            created: instant(record.created),
            state: record.state.name(),
            version: number(record.version),
            epoch: number(record.epoch),
            due: record.due().map(instant),
            delivered: record.delivered,
            lease: record.lease.map(|lease| lease.to_string()),
            entries: entries.collect::<Result<_, StoreError>>()?,
            body: write_json(&record, RECORD, record.id, name)?,
            id: record.id,
            place: record.place,
            tool: record.tool,
            digest: record.digest,
        })
    }
}

/// Converts a number to SQLite's signed form. Different numbers stay different, but numbers above [`i64::MAX`] become
/// negative.
pub fn number(number: u64) -> i64 {
    number.cast_signed()
}

/// Converts a time to nanoseconds since 1970, for indexes. A time outside of the years 1677 to 2262 becomes the end of
/// that range. The record itself stores its times exactly.
pub fn instant(time: Timestamp) -> i64 {
    let nanoseconds = time.as_nanosecond();
    i64::try_from(nanoseconds).unwrap_or(if nanoseconds < 0 { i64::MIN } else { i64::MAX })
}

/// Serialises a value as JSON. Reserves memory for `length` bytes first, which is enough for most values.
fn write_json(
    value: &impl Serialize,
    length: usize,
    call: CallId,
    name: &JournalFile,
) -> Result<String, StoreError> {
    let failed = |error: &dyn Display| {
        name.says(StoreErrorKind::Invalid, format_args!("cannot keep call {call}: {error}"))
    };
    let mut text = Vec::with_capacity(length);
    serde_json::to_writer(&mut text, value).map_err(|error| failed(&error))?;
    String::from_utf8(text).map_err(|error| failed(&error))
}

/// The message that says which part of a row cannot be read. It repeats no value, because a value may be secret.
pub type Unreadable = String;

/// Reads the record of a row's `id`, `lease`, `delivered` and `body`.
pub fn record(id: CallId, row: &Row<'_>) -> Result<CallRecord, Unreadable> {
    let lease = row.get_ref(1).and_then(|value| Ok(value.as_str_or_null()?));
    let lease = lease.map_err(|error| format!("its lease: {error}"))?;
    let delivered = row.get(2).map_err(|error| format!("whether it was delivered: {error}"))?;
    let record: CallRecord = read(row, 3)?;
    let mut record = record.with_copies();
    if record.id != id {
        return Err(format!("its row holds call {}", record.id));
    }
    record.delivered = delivered;
    record.lease = match lease.map(str::parse) {
        None => None,
        Some(Ok(lease)) => Some(lease),
        Some(Err(_)) => return Err("its lease is not a time".to_owned()),
    };
    Ok(record)
}

/// Reads the summary of a row's `id`, `version`, `state` and `due`.
pub fn summary(id: CallId, row: &Row<'_>) -> Result<CallSummary, Unreadable> {
    let columns = || -> rusqlite::Result<_> {
        Ok((row.get::<_, i64>(1)?, row.get::<_, String>(2)?, row.get::<_, Option<i64>>(3)?))
    };
    let (version, state, due) = columns().map_err(|error| error.to_string())?;
    let state = State::named(&state).ok_or("this release does not know its state")?;
    Ok(CallSummary { id, version: version.cast_unsigned(), state, due: due.map(moment) })
}

/// Converts an [`instant`] back to a time.
fn moment(nanoseconds: i64) -> Timestamp {
    Timestamp::from_nanosecond(i128::from(nanoseconds)).unwrap_or(Timestamp::MAX)
}

/// Reads an entry from the column `body` of a row.
pub fn entry(row: &Row<'_>) -> Result<Entry, Unreadable> {
    read(row, 0)
}

fn read<T: DeserializeOwned>(row: &Row<'_>, column: usize) -> Result<T, Unreadable> {
    let body = row.get_ref(column).and_then(|value| Ok(value.as_str()?));
    let body = body.map_err(|error| error.to_string())?;
    // The message of serde is left out, because it may repeat a value.
    serde_json::from_str(body)
        .map_err(|error| format!("{:?} error at column {}", error.classify(), error.column()))
}
