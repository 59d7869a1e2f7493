//! Decides where a program runs: on this machine, in a sandbox, in a container, or in a place of the application's
//! choice.

#[cfg(unix)]
use std::error::Error;
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

/// How long a program may run, unless set otherwise.
const LIMIT: Duration = Duration::from_secs(120);

/// A request to run a program, made by a tool.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ProcessRequest<'a> {
    /// The program and its arguments, in this order.
    pub arguments: &'a [OsString],
    /// The real path of the folder in which the program runs.
    pub folder: &'a Path,
    /// The real path of the workspace.
    pub root: &'a Path,
    /// The environment variables of the program. It inherits none of the application's own.
    pub variables: &'a [(OsString, OsString)],
    /// The time limit, after which the process is ended; two minutes unless set.
    pub limit: Duration,
    /// How the output streams of the program are read.
    pub streams: Streams,
    /// The supervisor. On Linux, it ends every process that the program starts, also in other sessions. Without one,
    /// only the process group is ended.
    #[cfg(unix)]
    pub supervisor: Option<&'a Supervisor>,
}

/// How the output of a program is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Streams {
    /// Reads both streams as one text, in the order in which lines arrive.
    #[default]
    Mixed,
    /// Reads the streams as `Mixed` does, with a mark before each line of standard error.
    Marked,
    /// Reads each stream as a separate text.
    Apart,
}

/// The end of a program, and its output.
///
/// An application's own executor fills this in itself:
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
    /// The exit status; `None` if it is unknown how the program ended.
    pub status: Option<ExitStatus>,
    /// Whether the program was ended because its time was up, or because its call was dropped.
    pub timed_out: bool,
    /// The standard output of the program, and its standard error unless that is read separately. A long output is cut
    /// to its beginning and its end.
    pub output: String,
    /// The standard error of the program, if it is read separately.
    pub errors: String,
    /// The folder in which a shell ended, as the shell reported it.
    pub folder: Option<PathBuf>,
}

/// The cause of an error of a running process that says that the command was not started after all. After any other error,
/// the command may have run.
#[cfg(unix)]
#[derive(Debug)]
pub(super) struct NotStarted(pub(super) io::Error);

#[cfg(unix)]
impl fmt::Display for NotStarted {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

#[cfg(unix)]
impl Error for NotStarted {}

/// A running program. If its future fails, the program may have run. Dropping the future ends the program: with a
/// supervisor, together with every process that the program has started; without one, together with its process group.
pub type RunningProcess = Pin<Box<dyn Future<Output = io::Result<ProcessEnd>> + Send>>;

/// The argument vector of a process: a program and its arguments.
pub type ArgumentVector = Vec<OsString>;

/// Runs the processes of a workspace, and provides its files if they are not on this machine. The tools of the toolbox start
/// programs only through an executor.
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
    /// Starts a program. Tools call this within a tokio runtime.
    ///
    /// # Errors
    /// When the program was not started, and will not be.
    fn start(&self, request: &ProcessRequest<'_>) -> io::Result<RunningProcess>;

    /// Returns the files that this executor provides, for [`Workspace::within`](crate::Workspace::within). An executor that
    /// runs programs in a [`Container`](crate::Container) returns the container's files.
    ///
    /// # Errors
    /// Always, unless the method is overridden: by default, programs work on a folder of this machine.
    fn files(&self) -> io::Result<ExecutorFiles> {
        let message = format!(
            "{self:?} has no files of its own; open the folder of this machine with `Workspace::open`"
        );
        Err(io::Error::new(io::ErrorKind::Unsupported, message))
    }
}

/// The executor that runs programs directly on this machine, with the rights of the application.
#[derive(Debug, Clone, Copy, Default)]
pub struct Local;

impl<'a> ProcessRequest<'a> {
    /// Requests a program with its arguments, in a folder of the workspace `root`, without environment variables.
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

    /// Sets the environment variables of the program.
    #[must_use]
    pub fn variables(self, variables: &'a [(OsString, OsString)]) -> Self {
        Self { variables, ..self }
    }

    /// Sets the time limit, after which the program is ended.
    #[must_use]
    pub fn limit(self, limit: Duration) -> Self {
        Self { limit, ..self }
    }

    /// Sets how the output of the program is read.
    #[must_use]
    pub fn streams(self, streams: Streams) -> Self {
        Self { streams, ..self }
    }

    /// Runs the program under a supervisor.
    #[cfg(unix)]
    #[must_use]
    pub fn supervised_by(self, supervisor: &'a Supervisor) -> Self {
        Self { supervisor: Some(supervisor), ..self }
    }

    /// Starts a program on this machine, under the supervisor if the request has one.
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
