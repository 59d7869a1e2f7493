//! The change log's API for applications.

use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rusqlite::Connection;
use toolwright::{File, Holds, ResourceScope};

use super::database::{self, ChangeLogError};
use crate::Workspace;

/// A log of what calls change in the files of a [`Workspace`], in its own SQLite file. The log is middleware of an
/// executor, and the service of the tools [`CHANGES`](crate::CHANGES), which show and undo the changes.
///
/// If the footprint of a call names files that the call writes, the log records the states of these files before and
/// after the call. A state has the content, the mode and the folders above the file. With it the log records the tool,
/// and the call's id, run and turn. The state before is on the disk before the tool begins. If the log fails, the call
/// is refused. If a file has more than 32 MiB or cannot be read, only its size, mode and time are recorded, so its
/// change cannot be undone. If a call is repeated after a crash with the same result as before, no second change is
/// logged. Calls that write files without naming them are marked: their changes cannot be undone.
///
/// The log contains the contents of the changed files, including secrets. Only the owner of its file can read it. Put
/// the file outside of the workspace, and pass its path to
/// [`PolicyBuilder::journal`](toolwright::policy::PolicyBuilder::journal), which protects it from tools:
///
/// ```
/// use std::sync::Arc;
///
/// use toolwright::policy::{Mode, Policy};
/// use toolwright::{Call, Executor, Registry};
/// use toolwright_toolbox::{CHANGES, ChangeLog, FILES, Workspace};
///
/// # let folder = tempfile::tempdir()?;
/// # std::fs::create_dir(folder.path().join("work"))?;
/// # let (folder, state) = (folder.path().join("work"), folder.path());
/// let workspace = Arc::new(Workspace::open(folder)?);
/// let log = ChangeLog::open(state.join("changes.db"), Arc::clone(&workspace))?;
/// let policy = Policy::builder().mode(Mode::Unrestricted).base(workspace.root()).journal(log.file());
/// let executor = Executor::builder(Registry::of(FILES.into_iter().chain(CHANGES))?)
///     .policy(policy)
///     .service_arc(workspace)
///     .middleware(log.clone())
///     .service(log)
///     .build()?;
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// executor.call(&Call::new("write_file", r#"{"path":"a.txt","content":"one\n"}"#)).await;
/// executor.call(&Call::new("write_file", r#"{"path":"a.txt","content":"two\n"}"#)).await;
/// let undone = executor.call(&Call::new("undo_file", r#"{"path":"a.txt"}"#)).await;
/// assert!(undone.text().starts_with("restored `a.txt`"), "{}", undone.text());
/// assert_eq!(executor.call(&Call::new("read_file", r#"{"path":"a.txt"}"#)).await.text().lines().last(), Some("1\tone"));
/// # });
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Middleware that delays calls, such as [`Reservations`](toolwright_middleware::Reservations), belongs before the log. Several
/// processes may use one log at once; if they change the same files, reserve the files. A clone uses the same file.
#[derive(Clone)]
pub struct ChangeLog(pub(super) Arc<Inner>);

pub(super) struct Inner {
    pub(super) workspace: Arc<Workspace>,
    pub(super) limits: ChangeLimits,
    file: PathBuf,
    connection: Mutex<Connection>,
    /// The changes that calls of this process have begun and not completed: the number of each change, with the count
    /// of calls that have begun it.
    pub(super) open: Mutex<HashMap<i64, u32>>,
}

/// The limits of a [`ChangeLog`]. When either is exceeded, the oldest calls are removed, and can then no longer be undone.
///
/// ```
/// use std::time::Duration;
///
/// use toolwright_toolbox::ChangeLimits;
///
/// let limits = ChangeLimits { bytes: 64 * 1024 * 1024, ..ChangeLimits::default() };
/// assert_eq!(limits.age, Duration::from_secs(30 * 24 * 60 * 60));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChangeLimits {
    /// The most bytes of the file that may be in use: 256 MiB unless set. The newest call stays in the log even if that
    /// call alone exceeds the limit.
    pub bytes: u64,
    /// How long a call stays in the log: 30 days unless set.
    pub age: Duration,
}

impl Default for ChangeLimits {
    fn default() -> Self {
        Self { bytes: 256 * 1024 * 1024, age: Duration::from_secs(30 * 24 * 60 * 60) }
    }
}

impl ChangeLog {
    /// Opens the log of a workspace, or creates the file.
    ///
    /// # Errors
    /// When the file cannot be created or opened, is not a change log, or a later version of this crate has written it.
    pub fn open(file: impl AsRef<Path>, workspace: Arc<Workspace>) -> Result<Self, ChangeLogError> {
        Self::open_with(file, workspace, ChangeLimits::default())
    }

    /// Opens the log of a workspace with these limits.
    ///
    /// # Errors
    /// As [`open`](Self::open) does.
    pub fn open_with(
        file: impl AsRef<Path>,
        workspace: Arc<Workspace>,
        limits: ChangeLimits,
    ) -> Result<Self, ChangeLogError> {
        let file = file.as_ref();
        let unmade = |source| ChangeLogError::Unmade { file: file.to_owned(), source };
        let file = std::path::absolute(file).map_err(unmade)?;
        let connection = Mutex::new(database::open(&file)?);
        Ok(Self(Arc::new(Inner { workspace, limits, file, connection, open: Mutex::default() })))
    }

    /// Returns the absolute path of the file, for [`PolicyBuilder::journal`](toolwright::policy::PolicyBuilder::journal). Two
    /// more files with its name, ending in `-wal` and `-shm`, belong to it.
    #[must_use]
    pub fn file(&self) -> &Path {
        &self.0.file
    }

    pub(super) fn connection(&self) -> MutexGuard<'_, Connection> {
        // A thread that panicked has rolled its transaction back, so the connection is usable.
        self.0.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A call can declare that it writes files of the workspace through the log, as the undo tools do.
impl Holds<File> for ChangeLog {
    fn scope(&self) -> ResourceScope {
        Holds::<File>::scope(&*self.0.workspace)
    }

    /// Returns the names of a file that is reached through links, as the workspace does.
    fn other_names(&self, name: &str) -> Vec<String> {
        Holds::<File>::other_names(&*self.0.workspace, name)
    }
}

impl fmt::Debug for ChangeLog {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("ChangeLog").field("file", &self.0.file).finish_non_exhaustive()
    }
}
