//! Where a program runs: here, in a sandbox, in a container, or wherever an application says.

use std::ffi::OsString;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::process::ExitStatus;
use std::time::Duration;

use super::group;
#[cfg(unix)]
use super::supervised;
#[cfg(unix)]
use super::supervisor::Supervisor;
use crate::workspace::ExecutorFiles;

/// How long a program may take where nothing else is said.
const LIMIT: Duration = Duration::from_secs(120);

/// A program that a tool wants to run.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ProcessRequest<'a> {
    /// The program and its arguments.
    pub arguments: &'a [OsString],
    /// The real path of the folder that it runs in.
    pub folder: &'a Path,
    /// The real path of the workspace.
    pub root: &'a Path,
    /// The variables that it gets, and no others.
    pub variables: &'a [(OsString, OsString)],
    /// The time after which the process is ended; two minutes unless set.
    pub limit: Duration,
    /// How its two streams are read.
    pub streams: Streams,
    /// What ends all that it starts, also in other sessions; without, its process group is ended.
    #[cfg(unix)]
    pub supervisor: Option<&'a Supervisor>,
}

/// How the output of a program is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Streams {
    /// Both streams in one text, in the order in which lines arrive.
    #[default]
    Mixed,
    /// So, with a mark before each line of standard error.
    Marked,
    /// Each in a text of its own.
    Apart,
}

/// How a program ended, and what it printed.
///
/// Where another program runs it, an executor of an application's own fills this in:
///
/// ```
/// use std::io;
/// use toolwright_toolbox::{ProcessEnd, ProcessRequest, RunningProcess, ToolExecutor};
///
/// /// Only says what would run.
/// #[derive(Debug)]
/// struct Dry;
///
/// impl ToolExecutor for Dry {
///     fn start(&self, request: &ProcessRequest<'_>) -> io::Result<RunningProcess> {
///         let mut end = ProcessEnd::default();
///         end.output = format!("would run {:?}", request.arguments);
///         end.status = Some(std::process::ExitStatus::default());
///         Ok(Box::pin(async { Ok(end) }))
///     }
/// }
/// ```
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct ProcessEnd {
    /// Nothing where it is not known how it ended.
    pub status: Option<ExitStatus>,
    /// Its time was up, or the call was given up.
    pub timed_out: bool,
    /// What it wrote to standard output, and to standard error unless that is read apart: of much, the beginning and the end.
    pub output: String,
    /// What it wrote to standard error, where that is read apart.
    pub errors: String,
    /// The folder that a shell ended in, by its own word.
    pub folder: Option<PathBuf>,
}

/// A program that runs. Whoever drops it ends the program, and all that is to end with it.
pub type RunningProcess = Pin<Box<dyn Future<Output = io::Result<ProcessEnd>> + Send>>;

/// The program and the arguments that are given to the system.
pub type ArgumentVector = Vec<OsString>;

/// Where the processes of a workspace run, and where it has files of its own, these. The tools of the toolbox start programs
/// through it alone.
///
/// ```
/// use std::path::Path;
/// use toolwright_toolbox::{Local, ProcessRequest, ToolExecutor};
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// # let folder = tempfile::tempdir()?;
/// # let folder = folder.path();
/// let executor: &dyn ToolExecutor = &Local;
/// let arguments = ["/bin/echo", "hello"].map(Into::into);
/// let ended = executor.start(&ProcessRequest::new(&arguments, folder, folder))?.await?;
/// assert_eq!(ended.output, "hello\n");
/// # Ok::<(), std::io::Error>(())
/// # })?;
/// # Ok::<(), std::io::Error>(())
/// ```
pub trait ToolExecutor: fmt::Debug + Send + Sync {
    /// Starts a program there. It is called within a runtime of tokio.
    ///
    /// # Errors
    /// When the program was not started, and never will be.
    fn start(&self, request: &ProcessRequest<'_>) -> io::Result<RunningProcess>;

    /// The files that are there, for [`Workspace::within`](crate::Workspace::within). An executor that hands programs to a
    /// [`Container`](crate::Container) gives the files of that.
    ///
    /// # Errors
    /// Unless it is overridden: programs of such an executor work on a folder of this machine.
    fn files(&self) -> io::Result<ExecutorFiles> {
        let message = format!(
            "{self:?} has no files of its own; open the folder of this machine with `Workspace::open`"
        );
        Err(io::Error::new(io::ErrorKind::Unsupported, message))
    }
}

/// Programs run as they are, with the rights of the application.
#[derive(Debug, Clone, Copy, Default)]
pub struct Local;

impl<'a> ProcessRequest<'a> {
    /// Requests a program with its arguments, in a folder of the workspace `root`; without variables.
    #[must_use]
    pub fn new(arguments: &'a [OsString], root: &'a Path, folder: &'a Path) -> Self {
        Self {
            arguments,
            folder,
            root,
            variables: &[],
            limit: LIMIT,
            streams: Streams::default(),
            #[cfg(unix)]
            supervisor: None,
        }
    }

    /// Sets its variables.
    #[must_use]
    pub fn variables(self, variables: &'a [(OsString, OsString)]) -> Self {
        Self { variables, ..self }
    }

    /// Ended after this time.
    #[must_use]
    pub fn limit(self, limit: Duration) -> Self {
        Self { limit, ..self }
    }

    /// Sets how its output is read.
    #[must_use]
    pub fn streams(self, streams: Streams) -> Self {
        Self { streams, ..self }
    }

    /// Under a supervisor.
    #[cfg(unix)]
    #[must_use]
    pub fn supervised_by(self, supervisor: &'a Supervisor) -> Self {
        Self { supervisor: Some(supervisor), ..self }
    }

    /// Starts what runs it on this machine: the one place from which the toolbox starts processes.
    pub(super) fn start_as(&self, vector: &[OsString]) -> io::Result<RunningProcess> {
        #[cfg(unix)]
        if let Some(supervisor) = self.supervisor {
            return supervised::start(supervisor, vector, self);
        }
        group::start(vector, self)
    }
}

impl ToolExecutor for Local {
    fn start(&self, request: &ProcessRequest<'_>) -> io::Result<RunningProcess> {
        request.start_as(request.arguments)
    }
}
