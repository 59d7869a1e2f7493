//! A container in which programs run and files are stored, used through any command that is compatible with `docker exec`.

mod change;
mod files;
#[cfg(feature = "files")]
mod list;
#[cfg(feature = "files")]
mod rules;
mod script;

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::executors::{ArgumentVector, ProcessRequest, RunningProcess, ToolExecutor};
use crate::workspace::ExecutorFiles;

/// An existing container in which programs run. [`Workspace::within`](crate::Workspace::within) also works on the files
/// of the container. [`Workspace::with_executor`](crate::Workspace::with_executor) works on a folder of this machine,
/// which has to be mounted in the container. Whether processes in the container continue after their client was killed
/// depends on the engine.
///
/// ```
/// use std::path::Path;
/// use toolwright_toolbox::{Container, ProcessRequest};
///
/// let container = Container::new("docker", "build-1").at("/site");
/// let arguments = ["npm", "test"].map(Into::into);
/// let request = ProcessRequest::new(&arguments, Path::new("/srv/app"), Path::new("/srv/app/web"));
/// let vector = container.arguments(&request);
/// assert_eq!(vector, ["docker", "exec", "--workdir", "/site/web", "build-1", "npm", "test"]);
/// ```
#[derive(Debug, Clone)]
pub struct Container {
    engine: OsString,
    name: OsString,
    root: PathBuf,
}

impl Container {
    /// Refers to a container by its name or id. The engine is `docker`, `podman`, or any command with compatible arguments.
    pub fn new(engine: impl Into<OsString>, name: impl Into<OsString>) -> Self {
        Self { engine: engine.into(), name: name.into(), root: PathBuf::from("/workspace") }
    }

    /// Sets the folder of the workspace inside the container; `/workspace` unless set.
    #[must_use]
    pub fn at(mut self, root: impl Into<PathBuf>) -> Self {
        self.root = root.into();
        self
    }

    /// Makes the argument vector that runs a program in the container. It has the names of the environment variables; the
    /// engine takes their values from its own environment.
    #[must_use]
    pub fn arguments(&self, request: &ProcessRequest<'_>) -> ArgumentVector {
        let below = request.folder.strip_prefix(request.root).unwrap_or(Path::new(""));
        let folder =
            if below.as_os_str().is_empty() { self.root.clone() } else { self.root.join(below) };
        let mut vector: ArgumentVector =
            vec![self.engine.clone(), "exec".into(), "--workdir".into(), folder.into()];
        for (name, _) in request.variables {
            // Paths of this machine have no meaning in the container, so leave these variables out.
            let is_local = ["PATH", "HOME", "TMPDIR", "CARGO_HOME", "RUSTUP_HOME", "SHELL"]
                .iter()
                .any(|it| name == *it);
            // The engine takes the value from its own environment. Every user of this machine can read its arguments.
            if !is_local {
                vector.extend(["--env".into(), name.clone()]);
            }
        }
        vector.push(self.name.clone());
        vector.extend(request.arguments.iter().cloned());
        vector
    }
}

impl ToolExecutor for Container {
    fn start(&self, request: &ProcessRequest<'_>) -> io::Result<RunningProcess> {
        // The folder may exist only in the container, so start the client in another folder.
        let client = ProcessRequest { folder: Path::new("/"), ..request.clone() };
        client.start_as(&self.arguments(request))
    }

    fn files(&self) -> io::Result<ExecutorFiles> {
        if !self.root.is_absolute() {
            let message =
                format!("the folder of a container is {:?}, expected an absolute path", self.root);
            return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
        }
        Ok(ExecutorFiles {
            files: Arc::new(files::ContainerFiles { container: self.clone() }),
            root: self.root.clone(),
            scope: format!("container:{:?}:{:?}:{:?}", self.engine, self.name, self.root),
        })
    }
}
