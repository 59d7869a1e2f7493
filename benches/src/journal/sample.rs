//! Calls as an executor records them.

use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::Result;
use jiff::Timestamp;
use rusqlite::types::Value;
use serde_json::json;
use toolwright::journal::{
    AnswerRecord, Ask, CallRecord, CallSlot, CallWrite, Note, Requester, State, StoredText,
    Transaction, Transition,
};
use toolwright::{CallId, Danger, Effect};

use super::bare::Written;

/// The two writes of a call that is allowed at once.
pub struct Pair {
    pub running: Write,
    pub finished: Write,
}

/// One write of a call.
pub struct Write {
    pub record: CallRecord,
    expects: Option<u64>,
    entries: Vec<toolwright::journal::Entry>,
}

impl From<Write> for Transaction {
    fn from(Write { record, expects, entries }: Write) -> Self {
        Self { calls: vec![CallWrite { expects, record, entries }], documents: Vec::new() }
    }
}

pub fn now() -> Timestamp {
    Timestamp::now()
}

impl Pair {
    pub fn several(run: &str, count: usize) -> Result<Vec<Self>> {
        (0..count).map(|_| Self::new(run)).collect()
    }

    fn new(run: &str) -> Result<Self> {
        let mut record = call(run);
        let mut entries = vec![record.opened(note(None))];
        entries.push(record.advance(Transition::Allowed, note(Some("policy: reads are allowed")))?);
        entries.push(record.advance(Transition::Claimed, note(None))?);
        record.owner = Some("worker-7f3a:4711".to_owned());
        record.lease = Some(now() + jiff::SignedDuration::from_secs(30));
        let running = Write { record: record.clone(), expects: None, entries };
        let expects = Some(record.version);
        let entries = vec![record.advance(Transition::Succeeded, note(None))?];
        record.answer = Some(answer());
        Ok(Self { running, finished: Write { record, expects, entries } })
    }

    /// Returns each write as one text.
    pub fn texts(&self) -> Result<[Written; 2]> {
        let text = |write: &Write| -> Result<Written> {
            let entries = write.entries.iter().map(serde_json::to_string);
            let entries = entries.collect::<Result<String, _>>()?;
            Ok(Written::Text(serde_json::to_string(&write.record)? + &entries))
        };
        Ok([text(&self.running)?, text(&self.finished)?])
    }

    /// Returns the journal's rows of each write.
    pub fn rows(&self) -> Result<[Written; 2]> {
        let (running, finished) = (&self.running, &self.finished);
        let record = &running.record;
        let new = vec![
            id(record),
            record.place.run.clone().into(),
            Value::Null,
            i64::from(record.place.index).into(),
            record.tool.clone().into(),
            record.digest.clone().into(),
            nanoseconds(record.created),
            record.state.name().to_owned().into(),
            record.version.cast_signed().into(),
            record.epoch.cast_signed().into(),
            record.due().map_or(Value::Null, nanoseconds),
            i64::from(record.delivered).into(),
            record.lease.map(|lease| lease.to_string()).into(),
            serde_json::to_string(record)?.into(),
        ];
        let record = &finished.record;
        let changed = vec![
            record.state.name().to_owned().into(),
            record.version.cast_signed().into(),
            record.epoch.cast_signed().into(),
            record.due().map_or(Value::Null, nanoseconds),
            record.lease.map(|lease| lease.to_string()).into(),
            serde_json::to_string(record)?.into(),
            id(record),
        ];
        Ok([Written::New(new, running.entries()?), Written::Changed(changed, finished.entries()?)])
    }
}

impl Write {
    fn entries(&self) -> Result<Vec<Vec<Value>>> {
        let row = |entry: &toolwright::journal::Entry| -> Result<Vec<Value>> {
            let number = entry.number.cast_signed().into();
            Ok(vec![id(&self.record), number, serde_json::to_string(entry)?.into()])
        };
        self.entries.iter().map(row).collect()
    }
}

fn id(record: &CallRecord) -> Value {
    record.id.as_bytes().to_vec().into()
}

fn nanoseconds(time: Timestamp) -> Value {
    i64::try_from(time.as_nanosecond()).unwrap_or(i64::MAX).into()
}

fn answer() -> AnswerRecord {
    let text = "3 files match: src/main.rs, src/lib.rs, tests/all.rs".to_owned();
    AnswerRecord {
        is_error: false,
        whole: json!({"content": [{"type": "text", "text": text}]}),
        text,
    }
}

fn note(why: Option<&str>) -> Note {
    let why = why.map(str::to_owned);
    Note { who: "executor:worker-7f3a:4711".to_owned(), at: now(), why, signed: None }
}

/// Makes a new call.
pub fn call(run: &str) -> CallRecord {
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    let number = COUNTER.fetch_add(1, Ordering::Relaxed);
    // Like a version 7 UUID: a time that grows, then noise.
    let noise = number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&(0x0192_f0c1_2f4e_7c3a + number / 4).to_be_bytes());
    bytes[8..].copy_from_slice(&noise.to_be_bytes());
    let arguments = r#"{"pattern":"fn main","limit":20,"folder":"src/bin","whole_words":true}"#;
    let hexadecimal = |seed: u64| {
        (1..=4_u64)
            .map(|part| format!("{:016x}", seed.wrapping_mul(part * 2 + 1)))
            .collect::<String>()
    };
    let id = CallId::from_bytes(bytes);
    CallRecord::draft(
        id,
        CallSlot { run: run.to_owned(), turn: Some(number / 4), index: (number % 4) as u32 },
        "find_text",
        now(),
    )
    .with(|it| {
        it.provider_id = Some(format!("toolu_{number:024}"));
        it.fingerprint = hexadecimal(1);
        it.danger = Danger::Moderate;
        it.effect = Effect::Once;
        it.raw = StoredText::Plain(arguments.to_owned());
        it.arguments = StoredText::Plain(arguments.to_owned());
        it.shown = arguments.to_owned();
        it.digest = hexadecimal(noise);
        it.requester = Requester {
            agent: format!("agent:{run}"),
            user: Some("ada".to_owned()),
            session: Some("s-1".to_owned()),
        };
    })
}

/// Makes a call that waits for a person, or one that has its result.
pub fn settled(run: &str, pending: bool) -> CallWrite {
    let mut record = call(run);
    if pending {
        record.state = State::Pending;
        record.ask = Some(Ask {
            reason: "it changes files".to_owned(),
            preview: None,
            deadline: now() + jiff::SignedDuration::from_hours(24),
            notified: true,
            reviewable: true,
        });
    } else {
        record.state = State::Succeeded;
        record.answer = Some(answer());
    }
    CallWrite { expects: None, entries: vec![record.opened(note(None))], record }
}
