//! The folder of the application: a folder for each kind, the store, and a lock for all of it.

use std::error::Error;
use std::fs::{self, File, TryLockError};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use toolwright::ToolError;
use toolwright_toolbox::{ContextStore, Embedder, Workspace};

use crate::document::{front_matter, split};
use crate::kinds::{FOLDERS, Kind as _, Prompt};

/// How long an edit waits for another edit.
const PATIENCE: Duration = Duration::from_secs(5);

/// The folder of the application. Clones share it.
#[derive(Clone)]
pub struct Library {
    files: Arc<Workspace>,
    store: ContextStore,
    lock: std::path::PathBuf,
}

impl Library {
    /// Opens a folder, and creates what is missing in it.
    ///
    /// # Errors
    /// When the folder cannot be used, or a later version wrote the store.
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

    /// Makes searches of the store use an embedding model as well.
    #[must_use]
    pub fn with_embedder(mut self, embedder: impl Embedder) -> Self {
        self.store = self.store.with_embedder(embedder);
        self
    }

    /// Returns the Markdown files.
    #[must_use]
    pub fn files(&self) -> &Arc<Workspace> {
        &self.files
    }

    /// Returns the store of texts.
    #[must_use]
    pub fn store(&self) -> &ContextStore {
        &self.store
    }

    /// Returns the system prompt: the bodies of the prompts that are always loaded, in the order of their names. A
    /// prompt that cannot be read is left out.
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

    /// Returns the names of the files of a kind, without `.md`, in order.
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

    /// Runs `work`, which reads a file and writes it again, under the lock: no other edit of any process runs at that
    /// time.
    ///
    /// # Errors
    /// `busy` if another edit takes too long; the error of `work`.
    pub fn alone<T>(&self, work: impl FnOnce() -> Result<T, ToolError>) -> Result<T, ToolError> {
        // The lock belongs to the open file, so that two threads of one process exclude each other too.
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
