//! The folder of the application: a folder for each kind of file, the store, and a lock for all of them.

use std::error::Error;
use std::fs::{self, File, TryLockError};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use toolwright::ToolError;
use toolwright_toolbox::{ContextStore, Embedder, Workspace};

use crate::document::{front_matter, split};
use crate::kinds::{FOLDERS, Kind as _, Prompt};

/// How long an edit waits until another edit releases the lock.
const PATIENCE: Duration = Duration::from_secs(5);

/// The folder of the application. Clones share it.
#[derive(Clone)]
pub struct Library {
    files: Arc<Workspace>,
    store: ContextStore,
    lock: std::path::PathBuf,
}

impl Library {
    /// Opens a folder, and creates the missing folders and files in it.
    ///
    /// # Errors
    /// When the folder cannot be read or written, or a later version wrote the store.
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

    /// Sets the embedding model, so that the store is also searched by meaning.
    #[must_use]
    pub fn with_embedder(mut self, embedder: impl Embedder) -> Self {
        self.store = self.store.with_embedder(embedder);
        self
    }

    /// Returns the workspace of the Markdown files.
    #[must_use]
    pub fn files(&self) -> &Arc<Workspace> {
        &self.files
    }

    /// Returns the store of notes.
    #[must_use]
    pub fn store(&self) -> &ContextStore {
        &self.store
    }

    /// Returns the system prompt: the bodies of the prompts that are always loaded, ordered by name. Prompts that
    /// cannot be read are left out.
    #[must_use]
    pub fn instructions(&self) -> String {
        let mut bodies = vec!["You keep the knowledge of this folder.".to_owned()];
        for name in self.names(Prompt::FOLDER) {
            let text = self.files.read_text(&format!("{}/{name}.md", Prompt::FOLDER));
            let Ok(text) = text else { continue };
            if front_matter::<Prompt>(&text).is_ok_and(|prompt| prompt.is_always_loaded())
                && let Ok((_, body)) = split(&text)
            {
                bodies.push(body.trim().to_owned());
            }
        }
        bodies.join("\n\n")
    }

    /// Returns the names of the files in a folder of one kind, without `.md`, in order.
    #[must_use]
    pub fn names(&self, folder: &str) -> Vec<String> {
        let entries = fs::read_dir(self.files.root().join(folder)).into_iter().flatten().flatten();
        let mut names: Vec<String> = entries
            .filter_map(|entry| {
                let name = entry.file_name().into_string().ok()?;
                name.strip_suffix(".md").map(str::to_owned)
            })
            .collect();
        names.sort_unstable();
        names
    }

    /// Runs `work` under the lock. `work` reads a file and writes it again, and the lock excludes all other edits
    /// meanwhile, also those of other processes.
    ///
    /// # Errors
    /// `busy` when the lock is not released in time, and the errors of `work`.
    pub fn alone<T>(&self, work: impl FnOnce() -> Result<T, ToolError>) -> Result<T, ToolError> {
        // The lock belongs to the open file, so it also excludes other threads of this process.
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
