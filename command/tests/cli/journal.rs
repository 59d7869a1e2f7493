//! A journal with calls in several states, and two people with keys.

use std::path::PathBuf;
use std::process::Command;

use jiff::{SignedDuration, Timestamp};
use tempfile::TempDir;
use toolwright::approval::ApproverKey;
use toolwright::journal::{
    AnswerRecord, Ask, CallRecord, CallSlot, CallWrite, DocumentWrite, Entry, FailedAttempt,
    Failure, Note, Requester, SqliteStore, Store, StoredText, Transaction, Transition,
};
use toolwright::repair::{Change, ChangeRule};
use toolwright::unstable::arguments::canonical;
use toolwright::{CallId, Danger, Effect};

use super::{Ran, ran};

/// Waits for somebody; the same arguments as [`LIKE_IT`].
pub const PENDING: &str = "0199a0b0-0001-7000-8000-0000000000a1";
pub const LIKE_IT: &str = "0199a0b0-0002-7000-8000-0000000000a2";
/// Whatever a model can write to fool whoever reads it.
pub const HOSTILE: &str = "0199a0b0-0003-7000-8000-0000000000a3";
pub const SECRET: &str = "0199a0b0-0004-7000-8000-0000000000a4";
/// Waits, although its time is over.
pub const LATE: &str = "0199a0b0-0005-7000-8000-0000000000a5";
pub const EMPTY: &str = "0199a0b0-0006-7000-8000-0000000000a6";
pub const INDETERMINATE: &str = "0199a0b0-0007-7000-8000-0000000000a7";
pub const SUCCEEDED: &str = "0199a0b0-0008-7000-8000-0000000000a8";
pub const DEAD: &str = "0199a0b0-0009-7000-8000-0000000000a9";

// Only in a journal [with dead letters and a plan](Journal::with_dead_letters).

/// Died ten days ago, after two attempts.
pub const OLD: &str = "0199a0b0-000a-7000-8000-0000000000aa";
/// Died with a secret among its arguments.
pub const SEALED: &str = "0199a0b0-000b-7000-8000-0000000000ab";
/// The plan of `run-3`.
pub const PLANNED: [&str; 2] =
    ["0199a0b0-000c-7000-8000-0000000000ac", "0199a0b0-000d-7000-8000-0000000000ad"];

pub struct Journal {
    folder: TempDir,
    pub store: SqliteStore,
    runtime: tokio::runtime::Runtime,
}

impl Journal {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for (name, seed) in [("ada", 7), ("bob", 8)] {
            let key = ApproverKey::from_seed(name, [seed; 32]).unwrap();
            key.save(folder.path().join(format!("{name}.key"))).unwrap();
        }
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let store = runtime.block_on(SqliteStore::open(folder.path().join("calls.db"))).unwrap();
        let journal = Self { folder, store, runtime };
        for (record, events) in calls() {
            journal.add(record, &events);
        }
        journal
    }

    /// The same with two dead letters more, and a plan of two calls.
    pub fn with_dead_letters() -> Self {
        let journal = Self::new();
        for (record, events) in dead_letters() {
            journal.add(record, &events);
        }
        journal
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The command as Ada runs it.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_toolwright"));
        command.args(arguments).current_dir(self.folder.path());
        command.env("TOOLWRIGHT_JOURNAL", format!("sqlite:{}", self.path("calls.db").display()));
        command.env("TOOLWRIGHT_KEY", self.path("ada.key"));
        command
    }

    pub fn run(&self, arguments: &[&str]) -> Ran {
        ran(&mut self.command(arguments), b"")
    }

    /// Runs it, and what it left behind as a text without what differs from run to run.
    pub fn shown(&self, arguments: &[&str]) -> String {
        self.filtered(&super::shown(&self.run(arguments)))
    }

    pub fn filtered(&self, text: &str) -> String {
        let folders = [self.folder.path().to_owned(), self.folder.path().canonicalize().unwrap()];
        let text = folders.iter().fold(text.to_owned(), |text, folder| {
            text.replace(&folder.display().to_string(), "DIR")
        });
        without_times(&text)
    }

    pub fn get(&self, id: &str) -> CallRecord {
        self.runtime.block_on(self.store.get(id.parse().unwrap())).unwrap().unwrap()
    }

    pub fn history(&self, id: &str) -> Vec<Entry> {
        self.runtime.block_on(self.store.history(id.parse().unwrap())).unwrap()
    }

    pub fn add(&self, mut record: CallRecord, events: &[Transition]) {
        let at = record.created;
        let note = |who: &str| Note { at, ..note(who) };
        let mut entries = vec![record.opened(note("agent:run-1"))];
        // A first claim drops the failures of the generation before.
        let failures = std::mem::take(&mut record.failures);
        for event in events {
            entries.push(record.advance(*event, note("executor:one")).unwrap());
        }
        record.failures = failures;
        self.commit(CallWrite { expects: None, record, entries });
    }

    /// Lets something happen to a call, as an executor would.
    pub fn happens(&self, id: &str, event: Transition) {
        let mut record = self.get(id);
        let expects = Some(record.version);
        let entry = record.advance(event, note("executor:one")).unwrap();
        self.commit(CallWrite { expects, record, entries: vec![entry] });
    }

    pub fn document(&self, key: &str, text: &str) {
        let (key, text) = (key.to_owned(), Some(text.to_owned()));
        let documents = vec![DocumentWrite { key, expects: None, text }];
        let unit = Transaction { documents, ..Transaction::default() };
        self.runtime.block_on(self.store.commit(unit, now())).unwrap();
    }

    /// Puts a record in the place of another, with no word of why.
    pub fn replace(&self, mut record: CallRecord) {
        let expects = Some(record.version);
        record.version += 1;
        self.commit(CallWrite { expects, record, entries: Vec::new() });
    }

    fn commit(&self, write: CallWrite) {
        let unit = Transaction { calls: vec![write], ..Transaction::default() };
        self.runtime.block_on(self.store.commit(unit, now())).unwrap();
    }
}

fn now() -> Timestamp {
    Timestamp::now()
}

/// Half an hour from the next step, so that a slow test sees the same.
fn hours(hours: i64) -> SignedDuration {
    SignedDuration::from_hours(hours)
}

fn note(who: &str) -> Note {
    Note { who: who.to_owned(), at: now() - hours(3), why: None, signed: None }
}

/// A call that is judged for the first time.
pub fn call(id: &str, tool: &str, arguments: &str) -> CallRecord {
    let id: CallId = id.parse().unwrap();
    let made = now() - hours(3);
    let arguments = canonical(arguments).unwrap();
    CallRecord::draft(
        id,
        CallSlot { run: "run-1".to_owned(), turn: Some(1), index: u32::from(id.as_bytes()[5]) },
        tool.to_owned(),
        made,
    )
    .with(|it| {
        it.fingerprint = "f1".to_owned();
        it.danger = Danger::Dangerous;
        it.effect = Effect::Once;
        it.raw = StoredText::Plain(arguments.clone());
        it.shown = arguments.clone();
        it.arguments = StoredText::Plain(arguments.clone());
        it.requester = Requester {
            agent: "agent:run-1".to_owned(),
            user: Some("ada".to_owned()),
            session: Some("s-1".to_owned()),
        };
        it.digest = it.digest_with(&arguments);
        it.idempotency_key = format!("key-{}", id.as_bytes()[5]);
    })
}

/// The call as one of this run.
pub fn of_run(call: CallRecord, run: &str) -> CallRecord {
    call.with(|it| {
        run.clone_into(&mut it.place.run);
        it.digest = it.digest_with(&it.shown);
    })
}

fn ask(reason: &str) -> Option<Ask> {
    let deadline = now() + hours(20);
    Some(Ask {
        reason: reason.to_owned(),
        preview: None,
        deadline,
        notified: false,
        reviewable: false,
    })
}

fn calls() -> Vec<(CallRecord, Vec<Transition>)> {
    let mail = |id| {
        let mut call = call(id, "send_mail", r#"{"to":"eve@example.org","copies":2}"#);
        call.ask = ask("it sends mail to other people");
        call
    };
    let mut pending = mail(PENDING);
    pending.raw = StoredText::Plain(r#"{"to":"eve@example.org","copies":"2"}"#.to_owned());
    pending.repairs = vec![Change {
        pointer: "/copies".to_owned(),
        rule: ChangeRule::Integer,
        from: "\"2\"".to_owned(),
        to: "2".to_owned(),
    }];
    if let Some(ask) = &mut pending.ask {
        ask.preview = Some("To: eve@example.org\nHello Eve".to_owned());
    }
    let mut hostile = call(
        HOSTILE,
        "send_mail",
        "{\"to\":\"\u{202e}gro.elpmaxe@eve\",\"body\":\"\u{9b}2J\u{200b}\"}",
    );
    hostile = of_run(hostile, "run\u{1b}[1A");
    hostile.ask = ask("\u{1b}[32mharmless\r\napproved by bob");
    if let Some(ask) = &mut hostile.ask {
        ask.preview = Some("\u{1b}]0;title\u{7}\ndigest      0000".to_owned());
    }
    let mut secret = call(SECRET, "log_in", r#"{"user":"ada","password":"(secret)"}"#);
    (secret.arguments, secret.raw) =
        (StoredText::Encrypted("00".to_owned()), StoredText::Encrypted("01".to_owned()));
    secret.ask = ask("it signs in");
    let mut late = mail(LATE);
    if let Some(ask) = &mut late.ask {
        ask.deadline = now() - SignedDuration::from_mins(90);
    }
    let mut empty = call(EMPTY, "restart", "{}");
    empty.ask = ask("it restarts the service");
    let unknown = |failure, effect| Transition::Errored { failure, effect, exhausted: true };
    let lost = unknown(Failure::OwnerLost, Effect::Once);
    let charge = call(INDETERMINATE, "charge", r#"{"cents":9007199254740993}"#);
    let mut read = call(SUCCEEDED, "read_file", r#"{"path":"README.md"}"#);
    (read.danger, read.effect) = (Danger::Safe, Effect::Read);
    read = of_run(read, "run-2");
    read.answer = Some(AnswerRecord::text("# Toolwright\n\u{1b}[31mred"));
    let mut dead = call(DEAD, "fetch", r#"{"url":"https://example.org"}"#);
    dead.effect = Effect::Idempotent;
    dead.answer = Some(AnswerRecord::error("timeout", "no answer in 30 s", None));
    let given_up = unknown(Failure::TimedOut, Effect::Idempotent);
    let asked = vec![Transition::Asked];
    vec![
        (pending, asked.clone()),
        (mail(LIKE_IT), asked.clone()),
        (hostile, asked.clone()),
        (secret, asked.clone()),
        (late, asked.clone()),
        (empty, asked),
        (charge, vec![Transition::Allowed, Transition::Claimed, lost]),
        (read, vec![Transition::Allowed, Transition::Claimed, Transition::Succeeded]),
        (dead, vec![Transition::Allowed, Transition::Claimed, given_up]),
    ]
}

/// Two that died, and two that are planned.
fn dead_letters() -> Vec<(CallRecord, Vec<Transition>)> {
    let failed = |attempt: u32, at, message: Option<&str>| FailedAttempt {
        attempt,
        at,
        failure: Failure::Transient,
        kind: "refused".to_owned(),
        message: message.map(str::to_owned),
        cause: message.map(|_| "connection reset\n\u{1b}[31mby peer".to_owned()),
    };
    let dies = |effect| {
        let failed =
            |exhausted| Transition::Errored { failure: Failure::Transient, effect, exhausted };
        vec![
            Transition::Allowed,
            Transition::Claimed,
            failed(false),
            Transition::Claimed,
            failed(true),
        ]
    };
    let ago = now() - SignedDuration::from_hours(10 * 24 + 1);
    let mut old = call(OLD, "post", r#"{"to":"eve@example.org","copies":1.50}"#);
    old.trace = Some("4bf92f3577b34da6a3ce929d0e0e4736".to_owned());
    old = of_run(old, "run-5");
    (old.created, old.effect) = (ago, Effect::Keyed);
    let message = "the post was closed";
    old.failures = vec![failed(1, ago, Some(message)), failed(2, ago, Some(message))];
    old.answer = Some(AnswerRecord::error("refused", message, None));
    let mut sealed = call(SEALED, "log_in", r#"{"user":"ada","password":"(secret)"}"#);
    (sealed.arguments, sealed.raw) =
        (StoredText::Encrypted("00".to_owned()), StoredText::Encrypted("01".to_owned()));
    sealed.effect = Effect::Idempotent;
    sealed.failures = vec![failed(2, sealed.created, None)];
    sealed.answer = Some(AnswerRecord::error("refused", "hunter2 is wrong", None));
    let planned = |id, tool, arguments, reason: &str, preview: Option<&str>| {
        let mut call = of_run(call(id, tool, arguments), "run-3");
        call.answer = Some(AnswerRecord::text("queued until the plan is accepted"));
        call.ask = ask(reason);
        if let Some(ask) = &mut call.ask {
            ask.preview = preview.map(str::to_owned);
        }
        (call, vec![Transition::Planned])
    };
    let [first, second] = PLANNED;
    vec![
        (old, dies(Effect::Keyed)),
        (sealed, dies(Effect::Idempotent)),
        planned(
            first,
            "write_file",
            r#"{"path":"notes.md","text":"Hello"}"#,
            "The notes are missing.",
            Some("+ Hello\n+ \u{1b}[2Jthere"),
        ),
        planned(second, "restart_site", "{}", "Then the site shows them.", None),
    ]
}

/// `TIME` for each time, `(JUST)` for how long ago something was that a test did itself.
fn without_times(text: &str) -> String {
    let in_time = |letter: char| letter.is_ascii_alphanumeric() || "-:.".contains(letter);
    let pieces = text.split_inclusive(|letter| !in_time(letter)).map(|piece| {
        let word = piece.trim_end_matches(|letter| !in_time(letter) || letter == ':');
        match word.parse::<Timestamp>() {
            Ok(_) => piece.replacen(word, "TIME", 1),
            Err(_) => piece.to_owned(),
        }
    });
    let text: String = pieces.collect();
    let mut parts = text.split('(');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| match part.split_once(')') {
        Some((ago, rest)) if ago == "now" || ago.ends_with(" s ago") => {
            format!("{text}(JUST){rest}")
        }
        _ => format!("{text}({part}"),
    })
}
