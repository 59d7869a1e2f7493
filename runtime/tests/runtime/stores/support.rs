//! Files that are gone when the test has ended, and what is written into them.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use jiff::Timestamp;
use toolwright::journal::{
    CallRecord, CallSlot, CallWrite, CommitError, DocumentWrite, Note, State, Store, Transaction,
};
use toolwright::{CallId, Danger, Effect};

/// A folder of its own, removed with the value.
pub struct Folder(PathBuf);

impl Folder {
    pub fn new() -> Self {
        static COUNTER: AtomicU32 = AtomicU32::new(0);
        let number = COUNTER.fetch_add(1, Ordering::SeqCst);
        let name = format!("toolwright-stores-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).expect("the folder for temporary files is writable");
        Self(path)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    pub fn file(&self) -> PathBuf {
        self.0.join("calls.db")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

pub fn now() -> Timestamp {
    Timestamp::UNIX_EPOCH
}

/// A document as it shall be.
pub fn write(key: &str, expects: Option<u64>, text: &str) -> DocumentWrite {
    DocumentWrite { key: key.to_owned(), expects, text: Some(text.to_owned()) }
}

/// Makes a document.
pub async fn note(store: &impl Store, key: &str, text: &str) -> Result<(), CommitError> {
    let unit = Transaction { documents: vec![write(key, None, text)], ..Transaction::default() };
    store.commit(unit, now()).await
}

/// The text of a document.
pub async fn document(store: &impl Store, key: &str) -> Option<String> {
    store.document(key).await.expect("documents can be read").map(|it| it.text)
}

/// The writing of a new call with the first entry of its history.
pub fn call(number: u64, state: State) -> CallWrite {
    let mut bytes = [0; 16];
    bytes[8..].copy_from_slice(&number.to_be_bytes());
    let record = CallRecord::draft(
        CallId::from_bytes(bytes),
        CallSlot { run: "run".to_owned(), turn: Some(number), index: 0 },
        "read_file",
        now(),
    )
    .with(|it| {
        it.danger = Danger::Safe;
        it.effect = Effect::Once;
        it.shown = "{}".to_owned();
        it.digest = "d".to_owned();
        it.idempotency_key = String::new();
        it.state = state;
    });
    let note = Note { who: "test".to_owned(), at: now(), why: None, signed: None };
    CallWrite { expects: None, entries: vec![record.opened(note)], record }
}
