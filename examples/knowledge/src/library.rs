//! The folder of the application: a folder for each kind, the store beside them, and a lock over all.

use std::error::Error;
use std::fs::{self, File, TryLockError};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use toolwright::ToolError;
use toolwright_toolbox::{ContextStore, Workspace};

use crate::kinds::FOLDERS;

/// How long an edit waits for another one.
const PATIENCE: Duration = Duration::from_secs(5);

/// Where everything is.
pub struct Library {
    files: Arc<Workspace>,
    store: ContextStore,
    lock: std::path::PathBuf,
}

impl Library {
    /// Opens a folder; makes what is missing in it.
    ///
    /// # Errors
    /// When the folder cannot be used, or the store in it is of a later version.
    pub fn open(folder: impl AsRef<Path>) -> Result<Self, Box<dyn Error + Send + Sync>> {
        let folder = folder.as_ref();
        for kind in FOLDERS {
            fs::create_dir_all(folder.join(kind))?;
        }
        let state = folder.join(".knowledge");
        fs::create_dir_all(&state)?;
        let files = Arc::new(Workspace::open(folder)?);
        let store = ContextStore::open(state.join("context.db"))?
            .with_reader("membot_read")
            .with_source(Arc::clone(&files));
        Ok(Self { files, store, lock: state.join("lock") })
    }

    /// The Markdown files.
    #[must_use]
    pub fn files(&self) -> &Arc<Workspace> {
        &self.files
    }

    /// The store of texts.
    #[must_use]
    pub fn store(&self) -> &ContextStore {
        &self.store
    }

    /// Runs what reads a file and writes it again while no other edit does, of this process or another.
    ///
    /// # Errors
    /// `busy` where another edit takes too long; what the work returns.
    pub fn alone<T>(&self, work: impl FnOnce() -> Result<T, ToolError>) -> Result<T, ToolError> {
        // A lock belongs to the open file, so that two threads of one process exclude each other too.
        let file = File::create(&self.lock)?;
        let until = Instant::now() + PATIENCE;
        loop {
            match file.try_lock() {
                Ok(()) => return work(),
                Err(TryLockError::Error(error)) => return Err(error.into()),
                Err(TryLockError::WouldBlock) if Instant::now() < until => {
                    std::thread::sleep(Duration::from_millis(2));
                }
                Err(TryLockError::WouldBlock) => {
                    let message =
                        "another edit holds the library for too long; nothing was written";
                    return Err(ToolError::new("busy", message).hint("try again"));
                }
            }
        }
    }
}
