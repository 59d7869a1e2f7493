//! The journal file that records a run, so that another process can take over the run.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use toolwright::journal::{SqliteStore, Store};

use crate::end::Problem;

/// An open journal and the path of its file.
#[derive(Clone)]
pub struct Journal {
    pub store: Arc<dyn Store>,
    file: PathBuf,
}

impl Journal {
    /// Opens the file, and creates it if it does not exist.
    pub async fn open(file: &Path) -> Result<Self, Problem> {
        let store = SqliteStore::open(file).await;
        let what = format!("the journal `{}` cannot be opened", file.display());
        let store = store.map_err(|error| Problem::failed(what, error))?;
        let file = file.canonicalize().unwrap_or_else(|_| file.to_owned());
        Ok(Self { store: Arc::new(store), file })
    }

    /// Opens a file that has to exist.
    pub async fn open_existing(file: &Path) -> Result<Self, Problem> {
        if !file.exists() {
            return Err(Problem::Usage(format!(
                "found no journal `{}`, expected the one that the run is recorded in; name it with `--journal`",
                file.display()
            )));
        }
        Self::open(file).await
    }

    /// Returns the files of the journal, including the temporary ones of SQLite.
    pub fn files(&self) -> Vec<PathBuf> {
        let beside = ["", "-wal", "-shm"].map(|end| {
            let mut name = self.file.clone().into_os_string();
            name.push(end);
            PathBuf::from(name)
        });
        beside.into_iter().filter(|it| it.exists()).collect()
    }

    /// Returns the option by which the command `toolwright` opens the journal.
    pub fn option(&self) -> String {
        format!("--journal sqlite:{}", self.file.display())
    }
}
