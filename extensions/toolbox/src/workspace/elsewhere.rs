//! The files of an executor whose programs do not work on a folder of this machine.

use std::path::PathBuf;
use std::sync::Arc;

use super::files::Files;

/// The files of a [`ToolExecutor`](crate::ToolExecutor), for [`Workspace::within`](crate::Workspace::within). A
/// [`Container`](crate::Container) returns its own; an executor that runs programs in a container passes them on:
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
    /// The path that the folder has in that place.
    pub(crate) root: PathBuf,
    /// The scope of the place, which differs from that of every other place.
    pub(crate) scope: String,
}
