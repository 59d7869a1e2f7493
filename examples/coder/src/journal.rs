//! The file in which a run is recorded, so that another process can take it up.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use toolwright::journal::{SqliteStore, Store};

use crate::end::Problem;

/// A journal, and the file that it is in.
#[derive(Clone)]
pub struct Journal {
    pub store: Arc<dyn Store>,
    file: PathBuf,
}

impl Journal {
    /// Opens the file, or makes it.
    pub async fn open(file: &Path) -> Result<Self, Problem> {
        let store = SqliteStore::open(file).await;
        let what = format!("the journal `{}` cannot be opened", file.display());
        let store = store.map_err(|error| Problem::failed(what, error))?;
        let file = file.canonicalize().unwrap_or_else(|_| file.to_owned());
        Ok(Self { store: Arc::new(store), file })
    }

    /// Opens a file that is there.
    pub async fn open_existing(file: &Path) -> Result<Self, Problem> {
        if !file.exists() {
            return Err(Problem::Usage(format!(
                "found no journal `{}`, expected the one that the run is recorded in; name it with `--journal`",
                file.display()
            )));
        }
        Self::open(file).await
    }

    /// The files that SQLite has for it now.
    pub fn files(&self) -> Vec<PathBuf> {
        let beside = ["", "-wal", "-shm"].map(|end| {
            let mut name = self.file.clone().into_os_string();
            name.push(end);
            PathBuf::from(name)
        });
        beside.into_iter().filter(|it| it.exists()).collect()
    }

    /// How the command `toolwright` is given it.
    pub fn option(&self) -> String {
        format!("--journal sqlite:{}", self.file.display())
    }
}
