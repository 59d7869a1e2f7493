//! The id of a journal, stored in a document of its own. A signed statement is valid only in the journal that it
//! names.

use jiff::Timestamp;

use super::error::{CommitError, StoreError};
use super::store::{DocumentWrite, Store, Transaction};

/// The key of the document that holds the id.
const KEY: &str = "journal/id";

/// The maximum number of rounds. A round reads the id and, if there is none, writes a new one. If another process
/// writes first, the next round reads its id.
const LOOKS: u32 = 4;

/// Returns the id of the journal. A journal without an id, such as one of the previous format version, gets a new id.
/// If several processes do this at the same time, all of them return the same id.
///
/// # Errors
/// When the store fails, or the system provides no random bytes.
pub(super) async fn journal_id<S: Store + ?Sized>(store: &S) -> Result<String, StoreError> {
    let mut failed = None;
    for _ in 0..LOOKS {
        if let Some(document) = store.document(KEY).await? {
            return Ok(document.text);
        }
        if let Some(error) = failed {
            return Err(error);
        }
        let id = new_id()?;
        let write = DocumentWrite { key: KEY.to_owned(), expects: None, text: Some(id.clone()) };
        let unit = Transaction { calls: Vec::new(), documents: vec![write] };
        // The commit changes no call with an owner, so its time does not matter.
        match store.commit(unit, Timestamp::UNIX_EPOCH).await {
            Ok(()) => return Ok(id),
            // The commit may have succeeded in spite of the error.
            Err(CommitError::Store(error)) => failed = Some(error),
            // Another process has written an id first; the next round reads it.
            Err(_) => {}
        }
    }
    Err(failed.unwrap_or_else(|| {
        StoreError::unavailable(format!(
            "the document `{KEY}` could neither be read nor made in {LOOKS} tries"
        ))
    }))
}

/// Makes an id of 128 random bits.
pub(super) fn new_id() -> Result<String, StoreError> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|error| {
        StoreError::invalid(format!(
            "no id could be made for the journal: the operating system gave no random numbers ({error})"
        ))
    })?;
    Ok(hex::encode(bytes))
}
