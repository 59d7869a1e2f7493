//! The files of an executor that are not on this machine, such as those of a container.

use std::path::PathBuf;
use std::sync::Arc;

use super::files::Files;

/// The files of a [`ToolExecutor`](crate::ToolExecutor), for [`Workspace::within`](crate::Workspace::within). A
/// `Container` returns its own; an executor that runs programs in a container passes them on:
///
/// ```
/// use std::io;
/// use toolwright_toolbox::{
///     Container, ExecutorFiles, ProcessRequest, RunningProcess, ToolExecutor, Workspace,
/// };
///
/// /// Prints what runs in a container.
/// #[derive(Debug)]
/// struct Printing(Container);
///
/// impl ToolExecutor for Printing {
///     fn start(&self, request: &ProcessRequest<'_>) -> io::Result<RunningProcess> {
///         eprintln!("{:?}", request.arguments);
///         self.0.start(request)
///     }
///
///     fn files(&self) -> io::Result<ExecutorFiles> {
///         self.0.files()
///     }
/// }
///
/// let workspace = Workspace::within(Printing(Container::new("docker", "build-1").at("/site")))?;
/// assert_eq!(workspace.root().to_str(), Some("/site"));
/// # Ok::<(), io::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct ExecutorFiles {
    pub(crate) files: Arc<dyn Files>,
    /// The path of the folder on the other machine or in the container.
    pub(crate) root: PathBuf,
    /// The scope of the files, which differs for each machine or container.
    pub(crate) scope: String,
}
