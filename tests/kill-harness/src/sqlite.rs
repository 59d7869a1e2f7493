//! The SQLite store of the runtime.

use std::path::Path;
use std::sync::Arc;

use futures::future::BoxFuture;
use toolwright::journal::{SqliteStore, Store, StoreError};

use crate::{Meddles, Opens};

/// Opens a SQLite file.
pub struct Sqlite;

impl Opens for Sqlite {
    fn open(&self, folder: &Path) -> BoxFuture<'static, Result<Arc<dyn Store>, StoreError>> {
        let opening = SqliteStore::open(folder.join("calls.db"));
        Box::pin(async move { Ok(Arc::new(opening.await?) as Arc<dyn Store>) })
    }

    fn meddler(&self) -> Option<&dyn Meddles> {
        Some(self)
    }
}
