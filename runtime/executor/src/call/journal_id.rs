//! The id of an executor's journal, which is read once. A decision is signed for one journal, which the signed text
//! names by its id. If the id in the store changes later, a running executor still accepts only decisions for the id
//! that it has read.

use std::time::Duration;

use tokio::sync::OnceCell;
use toolwright_journal::journal::{Store, StoreError};

/// The delays before each retry while the store is unavailable.
const PAUSES: [Duration; 3] =
    [Duration::from_millis(50), Duration::from_millis(100), Duration::from_millis(200)];

/// The id of a journal, which is read from the store once.
#[derive(Default)]
pub(super) struct JournalId(OnceCell<String>);

impl JournalId {
    /// Returns the id of the journal in this store, which is read at the first call.
    pub(crate) async fn of(&self, store: &dyn Store) -> Result<&str, StoreError> {
        if let Some(id) = self.0.get() {
            return Ok(id);
        }
        // The future is boxed, because otherwise this rare path would enlarge the future of every call.
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
