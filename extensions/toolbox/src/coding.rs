//! The tools of a coding agent for one folder, as one bundle.

mod error;
mod install;
mod state;

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use toolwright::BuildError;
use toolwright_middleware::{ReadCache, Reservations};

pub use self::error::CodingToolsError;
use crate::{CommandTable, Sandbox, SandboxKind, Supervisor, Workspace};

/// The tools of a coding agent for one folder, as a [`Bundle`](toolwright::Bundle): `.with(CodingTools::open(".")?)`.
///
/// | part | what it is | without it |
/// | --- | --- | --- |
/// | files | [`FILES`](crate::FILES) in a [`Workspace`] | |
/// | programs | [`PROCESS`](crate::PROCESS): one program with its arguments | [`without_programs`](Self::without_programs) |
/// | command lines | [`BASH`](crate::BASH), which rates each line; lines rated safe run in a sandbox if the machine supports one | [`without_shell`](Self::without_shell), [`without_wall`](Self::without_wall) |
/// | undo | [`CHANGES`](crate::CHANGES) | [`without_undo`](Self::without_undo) |
/// | the ten steps of a call | [`TenSteps`](crate::TenSteps): reservations, cache, change log, syntax check | |
/// | rules | these rank below the application's policy: a call that declares a file outside of the folder is refused, the change log is protected, undo needs no approval | |
///
/// Under the default policy of an executor, reads, safe command lines and undos run, and a person is asked about the
/// rest. An application allows more with rules of its own, for instance builds and tests.
///
/// ```
/// use toolwright::{Call, Executor, Registry};
/// use toolwright_toolbox::CodingTools;
///
/// # let around = tempfile::tempdir()?;
/// # let (folder, state) = (around.path().join("work"), around.path().join("state"));
/// # std::fs::create_dir(&folder)?;
/// # std::fs::write(folder.join("notes.md"), "tea\n")?;
/// let coding = CodingTools::open(&folder)?.log(state.join("changes.db"));
/// let executor = Executor::builder(Registry::empty()).with(coding).build()?;
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// let read = executor.call(&Call::new("read_file", r#"{"path":"notes.md"}"#)).await;
/// assert!(read.text().contains("tea"));
/// // Without an approver, a call that needs an approval is refused.
/// let write = executor.call(&Call::new("write_file", r#"{"path":"a.md","content":""}"#)).await;
/// assert_eq!(write.error().expect("refused").kind(), "approval_required");
/// # });
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "an executor has these tools only after `.with(…)`"]
pub struct CodingTools {
    workspace: Workspace,
    /// The file of the change log, or the reason why there is no default file.
    log: Result<PathBuf, String>,
    has_programs: bool,
    has_shell: bool,
    has_undo: bool,
    has_wall: bool,
    /// The sandbox in which every program runs, if the application has set one.
    sandbox: Option<Sandbox>,
    /// The sandbox for command lines that are rated safe, or the reason why this machine has none. Set when it is first
    /// needed.
    wall: OnceLock<Result<Sandbox, String>>,
    hidden: Vec<PathBuf>,
    supervisor: Option<Supervisor>,
    folders: Option<PathBuf>,
    table: CommandTable,
    passed_on: Vec<String>,
    reservations: Reservations,
    cache: ReadCache,
}

impl CodingTools {
    /// Opens the folder in which the tools work.
    ///
    /// # Errors
    /// When the path is not a folder, or the folder cannot be opened.
    pub fn open(folder: impl AsRef<Path>) -> Result<Self, CodingToolsError> {
        let folder = folder.as_ref();
        let workspace = Workspace::open(folder).map_err(|source| {
            let folder = folder.to_owned();
            CodingToolsError::Folder { folder, source }
        })?;
        Ok(Self {
            log: state::log_of(workspace.root()),
            workspace,
            has_programs: true,
            has_shell: true,
            has_undo: true,
            has_wall: true,
            sandbox: None,
            wall: OnceLock::new(),
            hidden: Vec::new(),
            supervisor: None,
            folders: None,
            table: CommandTable::standard().clone(),
            passed_on: Vec::new(),
            reservations: Reservations::new(),
            cache: ReadCache::new().constant::<Workspace>(),
        })
    }

    /// Sets the file of the [change log](crate::ChangeLog). Unless set, each folder has its own log below
    /// `$XDG_STATE_HOME/toolwright` or `~/.local/state/toolwright`. The folder of the log must neither contain the
    /// folder of the tools nor be inside it.
    pub fn log(mut self, file: impl Into<PathBuf>) -> Self {
        let file = file.into();
        // Programs run in other folders than this process, so make the path absolute.
        self.log = Ok(std::path::absolute(&file).unwrap_or(file));
        self
    }

    /// Leaves out `run_command`.
    pub fn without_programs(mut self) -> Self {
        self.has_programs = false;
        self
    }

    /// Leaves out `bash`.
    pub fn without_shell(mut self) -> Self {
        self.has_shell = false;
        self
    }

    /// Leaves out the tools with which a model undoes changes. Changes are recorded in any case.
    pub fn without_undo(mut self) -> Self {
        self.has_undo = false;
        self
    }

    /// Lets command lines that are rated safe run without a sandbox.
    pub fn without_wall(mut self) -> Self {
        self.has_wall = false;
        self
    }

    /// Runs every program and every command line in this sandbox. Paths given to [`hide`](Self::hide) are hidden in it too.
    pub fn sandboxed(mut self, sandbox: Sandbox) -> Self {
        self.sandbox = Some(sandbox);
        self
    }

    /// Hides a file or a folder, such as the journal, from programs in a sandbox. The change log, and folders with keys
    /// in the home folder of the user, such as `.ssh`, are always hidden from them.
    pub fn hide(mut self, path: impl Into<PathBuf>) -> Self {
        let path = path.into();
        let path = std::path::absolute(&path).unwrap_or(path);
        // A sandbox resolves the path too, so resolve it before it is compared with the folder.
        self.hidden.push(path.canonicalize().unwrap_or(path));
        self
    }

    /// Sets the program that supervises command lines: the running program unless set.
    pub fn supervisor(mut self, supervisor: Supervisor) -> Self {
        self.supervisor = Some(supervisor);
        self
    }

    /// Stores the current folder of each run, as [`Shell::folders_in`](crate::Shell::folders_in) does.
    pub fn folders_in(mut self, folder: impl Into<PathBuf>) -> Self {
        self.folders = Some(folder.into());
        self
    }

    /// Rates command lines by this table instead of the default one.
    pub fn table(mut self, table: CommandTable) -> Self {
        self.table = table;
        self
    }

    /// Passes variables of the application on to command lines, as [`Shell::pass_on`](crate::Shell::pass_on) does.
    pub fn pass_on(mut self, names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.passed_on.extend(names.into_iter().map(Into::into));
        self
    }

    /// Shares reservations with other executors of this process that work on the same files.
    pub fn reservations(mut self, reservations: &Reservations) -> Self {
        self.reservations = reservations.clone();
        self
    }

    /// Shares a cache of reads with other executors of this process.
    pub fn cache(mut self, cache: &ReadCache) -> Self {
        self.cache = cache.clone().constant::<Workspace>();
        self
    }

    /// Returns the folder in which the tools work.
    #[must_use]
    pub fn root(&self) -> &Path {
        self.workspace.root()
    }

    /// Explains why command lines that are rated safe run without a sandbox; `None` if they run in one, or if the
    /// application wants none.
    #[must_use]
    pub fn missing_wall(&self) -> Option<String> {
        self.wanted_wall().and_then(Result::err)
    }

    /// Returns the sandbox for command lines that are rated safe, or the reason why there is none; `None` if the
    /// application wants none. The machine is examined once.
    fn wanted_wall(&self) -> Option<Result<Sandbox, String>> {
        if !self.has_shell || !self.has_wall || self.sandbox.is_some() {
            return None;
        }
        let made = self.wall.get_or_init(|| {
            let supervisor = self.known_supervisor().map_err(|error| error.to_string())?;
            sandbox_of_this_machine(&supervisor).map_err(|error| {
                let why: Vec<String> = error.problems.iter().map(ToString::to_string).collect();
                why.join("; ")
            })
        });
        let made = match made {
            Ok(made) => made.clone(),
            Err(why) => return Some(Err(why.clone())),
        };
        let hidden = self.hidden();
        let within = hidden.iter().find(|it| it.starts_with(self.root()));
        Some(match within.filter(|_| made.kind() != SandboxKind::Bubblewrap) {
            Some(within) => Err(format!(
                "`{}` lies in the folder, where landlock hides nothing",
                within.display()
            )),
            None => Ok(hidden.into_iter().fold(made, Sandbox::hide)),
        })
    }

    fn known_supervisor(&self) -> io::Result<Supervisor> {
        self.supervisor.clone().map_or_else(Supervisor::in_this_program, Ok)
    }

    /// Returns the paths that are hidden from programs in a sandbox.
    fn hidden(&self) -> Vec<PathBuf> {
        let log = self.log.as_ref().ok().and_then(|it| it.parent()).map(Path::to_owned);
        state::secrets().chain(log).chain(self.hidden.iter().cloned()).collect()
    }
}

/// Makes the sandbox of this machine. The sandbox need not isolate everything: it is a second line of defence, and the
/// rating of a command line does not depend on it.
fn sandbox_of_this_machine(supervisor: &Supervisor) -> Result<Sandbox, BuildError> {
    #[cfg(all(feature = "landlock", target_os = "linux"))]
    return Sandbox::of_this_machine(
        supervisor,
        &[crate::SandboxLack::PrivateTmp, crate::SandboxLack::NetworkBlock],
    );
    #[cfg(not(all(feature = "landlock", target_os = "linux")))]
    {
        let _ = supervisor;
        Sandbox::bubblewrap()
    }
}

impl fmt::Debug for CodingTools {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("CodingTools")
            .field("workspace", &self.workspace)
            .field("log", &self.log)
            .finish_non_exhaustive()
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::CodingTools;

    #[test]
    fn a_path_through_a_link_is_hidden_where_it_leads() {
        let around = tempfile::tempdir().expect("a folder");
        let around = around.path().canonicalize().expect("it is there");
        std::fs::create_dir(around.join("work")).expect("a folder");
        std::fs::write(around.join("work/journal.db"), "").expect("a file");
        std::os::unix::fs::symlink("work", around.join("link")).expect("a link");
        let tools = CodingTools::open(around.join("work")).expect("it is there");
        let tools = tools.hide(around.join("link/journal.db"));
        assert!(tools.hidden().contains(&around.join("work/journal.db")), "{:?}", tools.hidden());
    }
}
