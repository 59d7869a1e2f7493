//! A sandbox for programs: without the network, with write access only to the workspace, and without access to hidden paths.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use toolwright::{BuildError, BuildProblem};

use super::executors::{ArgumentVector, ProcessRequest, RunningProcess, ToolExecutor};
#[cfg(all(feature = "landlock", target_os = "linux"))]
use super::landlock;
#[cfg(all(feature = "landlock", target_os = "linux"))]
use super::supervisor::Supervisor;

/// A [`ToolExecutor`] that runs programs in a sandbox: without the network, with write access only to the workspace,
/// with their own `/tmp`, and without the hidden files. [`SandboxLack`] lists which of these restrictions a Landlock
/// sandbox lacks.
#[derive(Debug, Clone)]
pub struct Sandbox {
    holder: Holder,
    hidden: Vec<PathBuf>,
    /// Read-only paths, relative to the root of the workspace.
    read_only: Vec<PathBuf>,
    network: bool,
    /// Whether programs may not write to the workspace either.
    only_reads: bool,
}

#[derive(Debug, Clone)]
enum Holder {
    Bubblewrap(PathBuf),
    #[cfg(all(feature = "landlock", target_os = "linux"))]
    Landlock(Supervisor),
}

/// The mechanism of a sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SandboxKind {
    /// Namespaces of the kernel, which bubblewrap sets up.
    Bubblewrap,
    /// Access rules of the kernel (Landlock).
    Landlock,
}

/// A property that a Landlock sandbox lacks. An application names those that it accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SandboxLack {
    /// Programs share the `/tmp` folder of the machine.
    PrivateTmp,
    /// TCP is blocked, but UDP and sockets in the file system are not.
    NetworkBlock,
}

impl Sandbox {
    /// Makes a bubblewrap sandbox, without the network. A trial run checks that this machine supports it.
    ///
    /// # Errors
    /// When `bwrap` is not installed, or may not create namespaces. The toolbox does not fall back to [`Local`](super::Local):
    /// the application has to choose that itself.
    pub fn bubblewrap() -> Result<Self, BuildError> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let program = std::env::split_paths(&path)
            .filter(|it| it.is_absolute())
            .map(|it| it.join("bwrap"))
            .find(|it| it.is_file());
        let missing = "found no `bwrap` on the search path; install it, or run programs by `Local`";
        Self::by(program.ok_or_else(|| unavailable("bubblewrap", missing))?)
    }

    /// Makes a sandbox with the bubblewrap at this path.
    ///
    /// # Errors
    /// As [`bubblewrap`](Self::bubblewrap) does.
    pub fn by(program: impl Into<PathBuf>) -> Result<Self, BuildError> {
        Self::of(Holder::Bubblewrap(program.into())).try_out()
    }

    /// Makes a Landlock sandbox, in which the network is blocked as far as Landlock can. The application names each
    /// [`SandboxLack`] that it accepts. The supervisor's program applies the rules.
    ///
    /// Programs see which other processes exist, but neither their memory nor their variables, and cannot send them signals.
    /// They can also write to `/tmp`, and to the folder in `TMPDIR` if that is set, unless something below that folder is
    /// hidden. Folders above hidden paths cannot be listed, and entries that are added to them later cannot be read.
    ///
    /// # Errors
    /// When a lack is not accepted, or a trial run fails, for instance because the kernel has no Landlock or too old a
    /// version of it.
    #[cfg(all(feature = "landlock", target_os = "linux"))]
    pub fn landlock(supervisor: &Supervisor, accepts: &[SandboxLack]) -> Result<Self, BuildError> {
        let all = [SandboxLack::PrivateTmp, SandboxLack::NetworkBlock];
        let missing: Vec<String> = all
            .iter()
            .filter(|it| !accepts.contains(it))
            .map(|it| format!("it has no {it}; to accept that, name `SandboxLack::{it:?}`"))
            .collect();
        if !missing.is_empty() {
            return Err(unavailable("landlock", &missing.join(", and ")));
        }
        Self::of(Holder::Landlock(supervisor.clone())).try_out()
    }

    /// Makes a bubblewrap sandbox if this machine supports it. Otherwise makes a Landlock sandbox, if the application
    /// accepts everything that a Landlock sandbox lacks. [`kind`](Self::kind) returns which one was made.
    ///
    /// ```no_run
    /// use toolwright_toolbox::{Sandbox, SandboxLack, Supervisor};
    ///
    /// let supervisor = Supervisor::in_this_program()?;
    /// let sandbox = Sandbox::of_this_machine(&supervisor, &[SandboxLack::PrivateTmp, SandboxLack::NetworkBlock])?;
    /// println!("programs are held by {}", sandbox.kind());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// When neither can be made, with both reasons.
    #[cfg(all(feature = "landlock", target_os = "linux"))]
    pub fn of_this_machine(
        supervisor: &Supervisor,
        accepts: &[SandboxLack],
    ) -> Result<Self, BuildError> {
        Self::bubblewrap().or_else(|mut first| {
            Self::landlock(supervisor, accepts).map_err(|second| {
                first.problems.extend(second.problems);
                first
            })
        })
    }

    /// Hides a file or a folder: it is empty in the sandbox, or cannot be opened. Hide the journal, the policy and the
    /// keys of the application with their whole folder. A journal has further files in its folder; and if a hidden file
    /// is replaced while a program runs in bubblewrap, as an atomic write does, the program can read the new file. Starting
    /// a program fails if the path does not exist, or if this is a Landlock sandbox and the path is in the workspace.
    #[must_use]
    pub fn hide(mut self, path: impl Into<PathBuf>) -> Self {
        let path = path.into();
        self.hidden.push(path.canonicalize().unwrap_or(path));
        self
    }

    /// Makes a file or a folder directly in the workspace read-only, such as `.git`: an agent that need not commit can
    /// then leave no hook that later runs outside of the sandbox. A file, other than a folder, becomes writable for a
    /// running program if a process outside of the sandbox replaces it. Starting a program fails if the file or folder does
    /// not exist or is a link, or if this is a Landlock sandbox, whose rules cannot make exceptions.
    #[must_use]
    pub fn read_only(mut self, name: impl Into<PathBuf>) -> Self {
        self.read_only.push(name.into());
        self
    }

    /// Forbids programs to write files: those of the workspace, and with Landlock also those of `/tmp`.
    #[must_use]
    pub fn without_writes(mut self) -> Self {
        self.only_reads = true;
        self
    }

    /// Allows programs to use the network.
    #[must_use]
    pub fn with_network(mut self) -> Self {
        self.network = true;
        self
    }

    /// Returns the mechanism of the sandbox.
    #[must_use]
    pub fn kind(&self) -> SandboxKind {
        match self.holder {
            Holder::Bubblewrap(_) => SandboxKind::Bubblewrap,
            #[cfg(all(feature = "landlock", target_os = "linux"))]
            Holder::Landlock(_) => SandboxKind::Landlock,
        }
    }

    /// Makes the argument vector that runs a program in the sandbox.
    #[must_use]
    pub fn arguments(&self, request: &ProcessRequest<'_>) -> ArgumentVector {
        match &self.holder {
            Holder::Bubblewrap(program) => self.by_bubblewrap(program, request),
            #[cfg(all(feature = "landlock", target_os = "linux"))]
            Holder::Landlock(supervisor) => {
                let rules = landlock::Rules {
                    hidden: &self.hidden,
                    has_network: self.network,
                    only_reads: self.only_reads,
                };
                landlock::arguments(supervisor, request, &rules)
            }
        }
    }

    fn of(holder: Holder) -> Self {
        Self {
            holder,
            hidden: Vec::new(),
            read_only: Vec::new(),
            network: false,
            only_reads: false,
        }
    }

    /// Returns the sandbox if a trial run in it succeeds.
    fn try_out(self) -> Result<Self, BuildError> {
        let name = self.kind().to_string();
        let truth = [OsString::from("true")];
        let folder = std::env::temp_dir();
        let vector = self.arguments(&ProcessRequest::new(&truth, &folder, &folder));
        let tried = Command::new(&vector[0]).args(&vector[1..]).stdin(Stdio::null()).output();
        match tried {
            Ok(tried) if tried.status.success() => Ok(self),
            Ok(tried) => {
                let words = String::from_utf8_lossy(&tried.stderr);
                let first = words.lines().next().unwrap_or("it said nothing");
                let why = format!("it cannot make a sandbox on this machine: {first}");
                Err(unavailable(&name, &why))
            }
            Err(error) => Err(unavailable(&name, &format!("it cannot be started: {error}"))),
        }
    }

    /// Returns the reason why a name in the workspace cannot be made read-only; `None` if it can.
    fn unprotected(&self, name: &Path, request: &ProcessRequest<'_>) -> Option<String> {
        let shown = name.display();
        if self.kind() == SandboxKind::Landlock {
            return Some(format!(
                "{shown} is to be read-only, and landlock allows the whole workspace; use bubblewrap"
            ));
        }
        // A program could rename a folder in a longer path, or change the target of a link in it.
        if name.components().count() != 1 || name.file_name().is_none() {
            return Some(format!(
                "{shown} is to be read-only and is no name directly in the workspace"
            ));
        }
        match request.root.join(name).symlink_metadata() {
            Err(_) => Some(format!("{shown} is to be read-only and is not there")),
            Ok(found) if found.is_symlink() => {
                Some(format!("{shown} is to be read-only and is a link"))
            }
            Ok(_) => None,
        }
    }

    fn by_bubblewrap(&self, program: &Path, request: &ProcessRequest<'_>) -> ArgumentVector {
        let mut vector: ArgumentVector = vec![program.into()];
        let mut add = |words: &[&OsStr]| vector.extend(words.iter().map(|it| (*it).to_owned()));
        let word = OsStr::new;
        // Everything but the workspace is read-only; processes, devices, `/tmp` and IPC are separate; no program gains rights.
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
        let hide = |hidden: &PathBuf| -> Vec<OsString> {
            if hidden.is_dir() {
                vec!["--tmpfs".into(), hidden.into()]
            } else {
                vec!["--ro-bind".into(), "/dev/null".into(), hidden.into()]
            }
        };
        // The order matters: a later mount covers an earlier one.
        let (above, other): (Vec<_>, Vec<_>) =
            self.hidden.iter().partition(|it| request.root.starts_with(it));
        vector.extend(above.into_iter().flat_map(hide));
        let bind = if self.only_reads { "--ro-bind" } else { "--bind" };
        vector.extend([bind.into(), request.root.into(), request.root.into()]);
        for name in &self.read_only {
            let path = request.root.join(name);
            vector.extend(["--ro-bind".into(), path.clone().into(), path.into()]);
        }
        vector.extend(other.into_iter().flat_map(hide));
        vector.extend(["--chdir".into(), request.folder.into(), "--".into()]);
        vector.extend(request.arguments.iter().cloned());
        vector
    }
}

impl ToolExecutor for Sandbox {
    fn start(&self, request: &ProcessRequest<'_>) -> io::Result<RunningProcess> {
        if let Some(missing) = self.hidden.iter().find(|it| !it.exists()) {
            return Err(io::Error::other(format!(
                "{} is to be hidden from the sandbox and is not there",
                missing.display()
            )));
        }
        if let Some(problem) = self.read_only.iter().find_map(|it| self.unprotected(it, request)) {
            return Err(io::Error::other(problem));
        }
        #[cfg(all(feature = "landlock", target_os = "linux"))]
        if matches!(self.holder, Holder::Landlock(_))
            && let Some(within) = self.hidden.iter().find(|it| it.starts_with(request.root))
        {
            return Err(io::Error::other(format!(
                "{} lies in the workspace, where landlock hides nothing; move it outside",
                within.display()
            )));
        }
        request.start_as(&self.arguments(request))
    }
}

fn unavailable(what: &str, why: &str) -> BuildError {
    BuildError::of(BuildProblem::Unavailable { what: what.to_owned(), why: why.to_owned() })
}

impl fmt::Display for SandboxKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Bubblewrap => "bubblewrap",
            Self::Landlock => "landlock",
        })
    }
}

impl fmt::Display for SandboxLack {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::PrivateTmp => "`/tmp` of its own",
            Self::NetworkBlock => "block of the whole network",
        })
    }
}
