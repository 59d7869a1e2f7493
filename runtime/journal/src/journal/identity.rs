//! The id of a journal, as a document of it: what people sign counts in the journal alone that it names.

use jiff::Timestamp;

use super::error::{CommitError, StoreError};
use super::store::{DocumentWrite, Store, Transaction};

/// The document that holds the id.
const KEY: &str = "journal/id";

/// How often a lost race is looked at again; it can be lost once.
const LOOKS: u32 = 4;

/// The id of a journal. It is made where the journal has none yet, as one of the version before; of several that make one
/// at once, all get the same.
///
/// # Errors
/// When the store fails, or the system gives no random bytes.
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
        // It takes no call from anybody, so that the time does not matter.
        match store.commit(unit, Timestamp::UNIX_EPOCH).await {
            Ok(()) => return Ok(id),
            // The commit may stand all the same.
            Err(CommitError::Store(error)) => failed = Some(error),
            // Another process was faster.
            Err(_) => {}
        }
    }
    Err(failed.unwrap_or_else(|| {
        StoreError::unavailable(format!(
            "the document `{KEY}` could neither be read nor made in {LOOKS} tries"
        ))
    }))
}

/// 128 random bits.
pub(super) fn new_id() -> Result<String, StoreError> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|error| {
        StoreError::invalid(format!(
            "the journal gets no id: the operating system gave no random numbers ({error})"
        ))
    })?;
    Ok(hex::encode(bytes))
}
