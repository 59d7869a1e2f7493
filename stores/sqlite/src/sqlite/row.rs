//! Calls and entries as rows, and back.

use std::fmt::Display;

use jiff::Timestamp;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::failure::Named;
use toolwright_core::context::CallId;
use toolwright_journal::journal::{
    CallRecord, CallSlot, CallSummary, CallWrite, DocumentWrite, Entry, State, StoreError,
    StoreErrorKind, Transaction,
};

/// How many bytes there are in most records.
const RECORD: usize = 2_048;

/// How many bytes there are in most entries.
const ENTRY: usize = 384;

/// A unit ready to be written.
pub struct TransactionRows {
    pub calls: Vec<CallRow>,
    pub documents: Vec<DocumentWrite>,
    pub now: Timestamp,
}

/// A call ready to be written.
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

/// An entry ready to be written.
pub struct EntryRow {
    pub number: i64,
    pub body: String,
}

impl TransactionRows {
    pub fn of(unit: Transaction, now: Timestamp, name: &Named) -> Result<Self, StoreError> {
        let calls = unit.calls.into_iter().map(|write| CallRow::of(write, name));
        Ok(Self { calls: calls.collect::<Result<_, _>>()?, documents: unit.documents, now })
    }

    /// How many rows it changes at least. What is only expected changes none.
    pub fn writes(&self) -> usize {
        let written = |it: &&DocumentWrite| it.text.is_some() || it.expects.is_some();
        self.calls.len() + self.documents.iter().filter(written).count()
    }
}

impl CallRow {
    fn of(write: CallWrite, name: &Named) -> Result<Self, StoreError> {
        let takes_from_owner = write.takes_from_owner();
        let CallWrite { expects, record, entries } = write;
        let entries = entries.iter().map(|entry| {
            let body = written(entry, ENTRY, record.id, name)?;
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
            body: written(&record, RECORD, record.id, name)?,
            id: record.id,
            place: record.place,
            tool: record.tool,
            digest: record.digest,
        })
    }
}

/// A number that is only compared for equality, in SQLite's signed form.
pub fn number(number: u64) -> i64 {
    number.cast_signed()
}

/// A time in nanoseconds since 1970, to find rows by: what lies beyond the years 1677 to 2262 is taken for their end.
/// The record itself keeps its times exactly.
pub fn instant(time: Timestamp) -> i64 {
    let nanoseconds = time.as_nanosecond();
    i64::try_from(nanoseconds).unwrap_or(if nanoseconds < 0 { i64::MIN } else { i64::MAX })
}

/// As JSON. Most are no longer than `length`, for which room is made at once.
fn written(
    value: &impl Serialize,
    length: usize,
    call: CallId,
    name: &Named,
) -> Result<String, StoreError> {
    let failed = |error: &dyn Display| {
        name.says(StoreErrorKind::Invalid, format_args!("cannot keep call {call}: {error}"))
    };
    let mut text = Vec::with_capacity(length);
    serde_json::to_writer(&mut text, value).map_err(|error| failed(&error))?;
    String::from_utf8(text).map_err(|error| failed(&error))
}

/// The record of a row's `lease`, `delivered` and `body`.
pub fn record(
    lease: Option<&str>,
    delivered: bool,
    body: &str,
    name: &Named,
) -> Result<CallRecord, StoreError> {
    let mut record: CallRecord = read(body, name)?;
    record.delivered = delivered;
    record.lease = lease.map(|text| self::lease(text, name)).transpose()?;
    Ok(record)
}

/// The summary of a row's `id`, `version`, `state` and `due`.
pub fn summary(row: &rusqlite::Row<'_>, name: &Named) -> Result<CallSummary, StoreError> {
    let columns = || -> rusqlite::Result<_> {
        Ok((
            row.get(0)?,
            row.get::<_, i64>(1)?,
            row.get::<_, String>(2)?,
            row.get::<_, Option<i64>>(3)?,
        ))
    };
    let (id, version, state, due) = columns().map_err(|error| name.failed("be read", error))?;
    let no_state = || name.says(StoreErrorKind::Corrupt, "holds a call in a state that is none");
    Ok(CallSummary {
        id: CallId::from_bytes(id),
        version: version.cast_unsigned(),
        state: State::named(&state).ok_or_else(no_state)?,
        due: due.map(moment),
    })
}

/// The time of an [`instant`].
fn moment(nanoseconds: i64) -> Timestamp {
    Timestamp::from_nanosecond(i128::from(nanoseconds)).unwrap_or(Timestamp::MAX)
}

/// The time in a row's `lease`.
pub fn lease(text: &str, name: &Named) -> Result<Timestamp, StoreError> {
    text.parse().map_err(|_| name.says(StoreErrorKind::Corrupt, "holds a lease that is no time"))
}

/// The entry of a row's `body`.
pub fn entry(body: &str, name: &Named) -> Result<Entry, StoreError> {
    read(body, name)
}

fn read<T: DeserializeOwned>(body: &str, name: &Named) -> Result<T, StoreError> {
    // What serde says may repeat a value, and values may be secret.
    serde_json::from_str(body).map_err(|error| {
        name.says(StoreErrorKind::Corrupt, format_args!(
            "holds a row that cannot be read ({:?} error at column {}): it is damaged, or a newer release wrote it",
            error.classify(),
            error.column()
        ))
    })
}
