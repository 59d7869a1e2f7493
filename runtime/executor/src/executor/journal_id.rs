//! The id of an executor's journal, read once. If the id changes later, a running executor still accepts no statement
//! that was signed for another journal.

use std::time::Duration;

use tokio::sync::OnceCell;
use toolwright_journal::journal::{Store, StoreError};

/// How long to wait before each retry if the store was unavailable.
const PAUSES: [Duration; 3] =
    [Duration::from_millis(50), Duration::from_millis(100), Duration::from_millis(200)];

/// The id of the journal, once it has been read.
#[derive(Default)]
pub(crate) struct JournalId(OnceCell<String>);

impl JournalId {
    /// Returns the id of the journal in this store, and reads it the first time.
    pub(crate) async fn of(&self, store: &dyn Store) -> Result<&str, StoreError> {
        if let Some(id) = self.0.get() {
            return Ok(id);
        }
        // Boxed, so that the future of a call stays small.
        Box::pin(self.0.get_or_try_init(|| read_id(store))).await.map(String::as_str)
    }
}

async fn read_id(store: &dyn Store) -> Result<String, StoreError> {
    for pause in PAUSES {
        match store.id().await {
            Err(error) if error.is_unavailable() => tokio::time::sleep(pause).await,
            id => return id,
        }
    }
    store.id().await
}
