//! Where a program runs: here, in a sandbox, in a container. Each turns a program into the argument vector that runs it
//! there; what is started is supervised in the same way everywhere.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};

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
    /// The variables that it gets.
    pub variables: &'a [(OsString, OsString)],
}

/// The program and the arguments that are given to the system.
pub type ArgumentVector = Vec<OsString>;

/// Where the processes of a workspace run. Tools of the toolbox start programs through it alone.
///
/// ```
/// use std::path::Path;
/// use toolwright_toolbox::{Container, ProcessRequest, ToolExecutor as _};
///
/// let container = Container::new("docker", "build-1").at("/site");
/// let arguments = ["npm", "test"].map(Into::into);
/// let request = ProcessRequest::new(&arguments, Path::new("/srv/app"), Path::new("/srv/app/web"));
/// let vector = container.arguments(&request);
/// assert_eq!(vector, ["docker", "exec", "--workdir", "/site/web", "build-1", "npm", "test"]);
/// ```
pub trait ToolExecutor: fmt::Debug + Send + Sync {
    /// The argument vector that runs a program there.
    fn arguments(&self, request: &ProcessRequest<'_>) -> ArgumentVector;
}

/// Programs run as they are, with the rights of the application.
#[derive(Debug, Clone, Copy, Default)]
pub struct Local;

/// Programs run in a container that is there, by any command that understands `docker exec`. What a container contains
/// when its client is killed is the engine's business.
#[derive(Debug, Clone)]
pub struct Container {
    engine: OsString,
    name: OsString,
    root: PathBuf,
}

/// Programs run in a sandbox: without the network, writing nothing but the workspace, with a `/tmp` of their own, without the
/// files that are hidden.
#[derive(Debug, Clone)]
pub struct Sandbox {
    program: PathBuf,
    hidden: Vec<PathBuf>,
    network: bool,
}

/// What holds a sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SandboxKind {
    /// Namespaces, made by bubblewrap.
    Bubblewrap,
}

/// Why there is no sandbox.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SandboxError(String);

impl<'a> ProcessRequest<'a> {
    /// A program with its arguments, without variables.
    #[must_use]
    pub fn new(arguments: &'a [OsString], root: &'a Path, folder: &'a Path) -> Self {
        Self { arguments, folder, root, variables: &[] }
    }

    /// With these variables.
    #[must_use]
    pub fn variables(self, variables: &'a [(OsString, OsString)]) -> Self {
        Self { variables, ..self }
    }
}

impl ToolExecutor for Local {
    fn arguments(&self, request: &ProcessRequest<'_>) -> ArgumentVector {
        request.arguments.to_vec()
    }
}

impl Container {
    /// A container by its name or id. The engine is `docker`, `podman`, or whatever takes the same arguments.
    pub fn new(engine: impl Into<OsString>, name: impl Into<OsString>) -> Self {
        Self { engine: engine.into(), name: name.into(), root: PathBuf::from("/workspace") }
    }

    /// Where the workspace is inside; `/workspace` unless set.
    #[must_use]
    pub fn at(mut self, root: impl Into<PathBuf>) -> Self {
        self.root = root.into();
        self
    }
}

impl ToolExecutor for Container {
    fn arguments(&self, request: &ProcessRequest<'_>) -> ArgumentVector {
        let below = request.folder.strip_prefix(request.root).unwrap_or(Path::new(""));
        let folder =
            if below.as_os_str().is_empty() { self.root.clone() } else { self.root.join(below) };
        let mut vector: ArgumentVector =
            vec![self.engine.clone(), "exec".into(), "--workdir".into(), folder.into()];
        for (name, value) in request.variables {
            // Paths of this machine mean nothing there.
            let is_local = ["PATH", "HOME", "TMPDIR", "CARGO_HOME", "RUSTUP_HOME", "SHELL"]
                .iter()
                .any(|it| name == *it);
            if !is_local {
                let mut pair = name.clone();
                pair.push("=");
                pair.push(value);
                vector.extend(["--env".into(), pair]);
            }
        }
        vector.push(self.name.clone());
        vector.extend(request.arguments.iter().cloned());
        vector
    }
}

impl Sandbox {
    /// A sandbox of bubblewrap, without the network. It is tried once, so that a machine that cannot make one says so here.
    ///
    /// # Errors
    /// When `bwrap` is not installed, or may make no namespaces. There is no way back to [`Local`]: that is for the
    /// application to say.
    pub fn bubblewrap() -> Result<Self, SandboxError> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let program = std::env::split_paths(&path)
            .filter(|it| it.is_absolute())
            .map(|it| it.join("bwrap"))
            .find(|it| it.is_file());
        let program = program.ok_or_else(|| {
            SandboxError("bubblewrap is not installed: found no `bwrap` on the search path; install it, or run programs by `Local`".to_owned())
        })?;
        Self::by(program)
    }

    /// A sandbox of the bubblewrap at this path.
    ///
    /// # Errors
    /// As [`bubblewrap`](Self::bubblewrap) does.
    pub fn by(program: impl Into<PathBuf>) -> Result<Self, SandboxError> {
        let sandbox = Self { program: program.into(), hidden: Vec::new(), network: false };
        let truth = [OsString::from("true")];
        let folder = std::env::temp_dir();
        let vector = sandbox.arguments(&ProcessRequest::new(&truth, &folder, &folder));
        let tried = std::process::Command::new(&vector[0])
            .args(&vector[1..])
            .stdin(std::process::Stdio::null())
            .output();
        match tried {
            Ok(tried) if tried.status.success() => Ok(sandbox),
            Ok(tried) => {
                let words = String::from_utf8_lossy(&tried.stderr);
                let first = words.lines().next().unwrap_or("it said nothing").to_owned();
                Err(SandboxError(format!(
                    "bubblewrap cannot make a sandbox on this machine: {first}"
                )))
            }
            Err(error) => Err(SandboxError(format!("bubblewrap cannot be started: {error}"))),
        }
    }

    /// Hides a file or a folder: it is empty inside. The journal, the policy and the keys of the application belong here.
    #[must_use]
    pub fn hide(mut self, path: impl Into<PathBuf>) -> Self {
        let path = path.into();
        self.hidden.push(path.canonicalize().unwrap_or(path));
        self
    }

    /// Lets programs use the network.
    #[must_use]
    pub fn with_network(mut self) -> Self {
        self.network = true;
        self
    }

    /// What holds it.
    #[must_use]
    pub fn kind(&self) -> SandboxKind {
        SandboxKind::Bubblewrap
    }
}

impl ToolExecutor for Sandbox {
    fn arguments(&self, request: &ProcessRequest<'_>) -> ArgumentVector {
        let mut vector: ArgumentVector = vec![self.program.clone().into()];
        let mut add = |words: &[&OsStr]| vector.extend(words.iter().map(|it| (*it).to_owned()));
        let word = OsStr::new;
        // Read-only but for the workspace; processes, devices, `/tmp` and IPC of its own; no right is gained.
        add(&[
            "--die-with-parent",
            "--new-session",
            "--unshare-user",
            "--unshare-pid",
            "--unshare-ipc",
            "--unshare-uts",
            "--unshare-cgroup-try",
        ]
        .map(word));
        if !self.network {
            add(&[word("--unshare-net")]);
        }
        add(&[
            "--cap-drop",
            "ALL",
            "--ro-bind",
            "/",
            "/",
            "--dev",
            "/dev",
            "--proc",
            "/proc",
            "--tmpfs",
            "/tmp",
            "--tmpfs",
            "/var/tmp",
            "--tmpfs",
            "/run",
        ]
        .map(word));
        add(&[word("--bind"), request.root.as_os_str(), request.root.as_os_str()]);
        for hidden in &self.hidden {
            if hidden.is_dir() {
                add(&[word("--tmpfs"), hidden.as_os_str()]);
            } else if hidden.exists() {
                add(&[word("--ro-bind"), word("/dev/null"), hidden.as_os_str()]);
            }
        }
        add(&[word("--chdir"), request.folder.as_os_str(), word("--")]);
        vector.extend(request.arguments.iter().cloned());
        vector
    }
}

impl fmt::Display for SandboxKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("bubblewrap")
    }
}

impl fmt::Display for SandboxError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for SandboxError {}
