//! The service that `bash` needs: the supervisor, the executor and the sandbox of programs, their environment, and the
//! current folder of each run.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use toolwright::{Danger, ToolContext};

use super::environment::variables;
use super::executors::{Local, ToolExecutor};
use super::folders::{Folders, may_move};
use super::sandbox::{Sandbox, SandboxKind};
use super::supervisor::Supervisor;
use crate::shell::{Classification, CommandTable, classify_from};

/// Variables that are never passed on, even if an application names them. With most of them, programs load other code;
/// `SSLKEYLOGFILE` reveals keys. The shell has a `PATH` of its own.
const NEVER: [&str; 19] = [
    "LD_*",
    "DYLD_*",
    "NODE_OPTIONS",
    "NODE_PATH",
    "PYTHONPATH",
    "PYTHONHOME",
    "RUBYLIB",
    "RUBYOPT",
    "PERL5LIB",
    "PERL5OPT",
    "BASH_ENV",
    "ENV",
    "GCONV_PATH",
    "IFS",
    "SSLKEYLOGFILE",
    "PATH",
    "BASH_FUNC_*",
    "SHELLOPTS",
    "BASHOPTS",
];

/// The service of the tool `bash`. Programs run with the rights of the application, unless an executor runs them
/// elsewhere.
#[derive(Debug)]
pub struct Shell {
    pub(super) supervisor: Supervisor,
    pub(super) executor: Arc<dyn ToolExecutor>,
    passed_on: Vec<String>,
    table: CommandTable,
    folders: Folders,
    /// The sandbox for lines that run because they are rated safe.
    wall: Option<Sandbox>,
}

/// The service of the tool `bash` in a sandbox.
///
/// ```no_run
/// use toolwright_toolbox::{Sandbox, SandboxedShell, Supervisor};
///
/// let supervisor = Supervisor::in_this_program()?;
/// let shell = SandboxedShell::new(supervisor, Sandbox::bubblewrap()?.hide("/srv/journal"));
/// # drop(shell);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct SandboxedShell(pub(super) Shell);

impl Shell {
    /// Makes a service whose programs run with the rights of the application.
    #[must_use]
    pub fn new(supervisor: Supervisor) -> Self {
        Self {
            supervisor,
            executor: Arc::new(Local),
            passed_on: Vec::new(),
            table: CommandTable::standard().clone(),
            folders: Folders::default(),
            wall: None,
        }
    }

    /// Runs programs with this executor instead. Removes an earlier [wall](Self::with_wall), because a wall works only
    /// for programs on this machine.
    #[must_use]
    pub fn with_executor(mut self, executor: impl ToolExecutor + 'static) -> Self {
        self.executor = Arc::new(executor);
        self.wall = None;
        self
    }

    /// Adds a second line of defence behind the rating: lines rated safe run in this sandbox, which is made
    /// [read-only](Sandbox::without_writes) and has no network unless it was given one. If such a line fails and has
    /// written to standard error, its answer mentions the sandbox; if the model then repeats the line with `outside`,
    /// a person is asked. Lines that are rated more dangerous run without the sandbox, if the policy allows them.
    ///
    /// ```no_run
    /// use toolwright_toolbox::{Sandbox, Shell, Supervisor};
    ///
    /// let supervisor = Supervisor::in_this_program()?;
    /// let shell = match Sandbox::bubblewrap() {
    ///     Ok(sandbox) => Shell::new(supervisor).with_wall(sandbox),
    ///     Err(error) => {
    ///         eprintln!("lines that are rated safe run without a second wall: {error}");
    ///         Shell::new(supervisor)
    ///     }
    /// };
    /// # drop(shell);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn with_wall(mut self, sandbox: Sandbox) -> Self {
        self.wall = Some(sandbox.without_writes());
        self
    }

    /// Returns the mechanism of the sandbox for lines rated safe, if there is one.
    #[must_use]
    pub fn wall(&self) -> Option<SandboxKind> {
        self.wall.as_ref().map(Sandbox::kind)
    }

    /// Stores the current folder of each run in this folder, so that a run that another process continues keeps its folder.
    /// Choose a folder outside of every workspace, and hide it from sandboxes. Without this, current folders are lost with the
    /// process.
    #[must_use]
    pub fn folders_in(mut self, folder: impl Into<PathBuf>) -> Self {
        self.folders = Folders::Files(folder.into());
        self
    }

    /// Removes the stored folder of a run. An application calls this when it removes the run; a later line of that run would
    /// begin in the workspace itself.
    ///
    /// # Errors
    /// When the file cannot be removed.
    pub fn forget_run(&self, run: &str) -> io::Result<()> {
        self.folders.move_to(run, ".".to_owned())
    }

    /// Rates command lines by this table instead of the default one.
    #[must_use]
    pub fn with_table(mut self, table: CommandTable) -> Self {
        self.table = table;
        self
    }

    /// Passes environment variables of the application on, if they are set. `PATH`, and variables that make programs
    /// load code or reveal keys, are never passed on.
    #[must_use]
    pub fn pass_on(mut self, names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.passed_on.extend(names.into_iter().map(Into::into).filter(|it| !is_forbidden(it)));
        self
    }

    /// Rates a line that runs in this folder of the workspace.
    pub(super) fn judge(&self, command: &str, folder: Option<&str>) -> Classification {
        classify_from(command, folder.unwrap_or_default(), &self.table)
    }

    /// Returns the danger of a line. A line that is to run outside of its sandbox or without its checks is never safe.
    pub(super) fn danger(&self, command: &str, folder: Option<&str>, outside: bool) -> Danger {
        let judged = self.judge(command, folder);
        if self.is_let_out(&judged, outside) { Danger::Moderate } else { judged.danger() }
    }

    /// Returns the reason why a person decides about a line that would be safe in its sandbox and with its checks;
    /// `None` if no person is asked.
    pub(super) fn approval(
        &self,
        command: &str,
        folder: Option<&str>,
        outside: bool,
    ) -> Option<&'static str> {
        let is_let_out = outside && self.is_let_out(&self.judge(command, folder), outside);
        is_let_out.then_some(match self.wall {
            Some(_) => "it runs outside of the sandbox for lines that are rated safe",
            None => "it runs without the checks of the folder's settings and files",
        })
    }

    fn is_let_out(&self, judged: &Classification, outside: bool) -> bool {
        let is_held = self.wall.is_some() || !judged.looks().is_empty();
        outside && is_held && judged.danger() == Danger::Safe
    }

    /// Returns the executor for a line, and whether that is the sandbox for safe lines.
    pub(super) fn place_of(&self, is_safe: bool) -> (&dyn ToolExecutor, bool) {
        match &self.wall {
            Some(wall) if is_safe => (wall, true),
            _ => (self.executor.as_ref(), false),
        }
    }

    pub(super) fn table(&self) -> &CommandTable {
        &self.table
    }

    pub(super) fn variables(&self, root: &Path) -> Vec<(OsString, OsString)> {
        let own = self.passed_on.iter().filter_map(|it| Some((it.into(), std::env::var_os(it)?)));
        variables(root)
            .into_iter()
            .chain(own)
            .filter(|(name, _)| name == "PATH" || !is_forbidden(&name.to_string_lossy()))
            .collect()
    }

    /// Returns the current folder of a run; `None` if it cannot be read, in which case the call fails when it runs.
    pub(super) fn folder(&self, context: &ToolContext) -> Option<String> {
        self.folder_of(context).ok()
    }

    /// Returns the current folder of a call's run.
    ///
    /// # Errors
    /// When the folder of the run cannot be read.
    pub(super) fn folder_of(&self, context: &ToolContext) -> io::Result<String> {
        self.folders.of(context.run_id().unwrap_or_default())
    }

    /// Returns whether a line may change the current folder of its run.
    pub(super) fn may_move(&self, command: &str, folder: Option<&str>) -> bool {
        may_move(command, folder.unwrap_or_default(), &self.table)
    }

    /// Stores the current folder of a call's run.
    ///
    /// # Errors
    /// When the folder cannot be stored.
    pub(super) fn move_to(&self, context: &ToolContext, folder: String) -> io::Result<()> {
        self.folders.move_to(context.run_id().unwrap_or_default(), folder)
    }
}

/// Returns the run of a call, as the name of the resource [`RunFolder`](super::folders::RunFolder).
pub(super) fn run_of(context: &ToolContext) -> String {
    context.run_id().unwrap_or_default().to_owned()
}

impl SandboxedShell {
    /// Makes a service whose programs run in this sandbox.
    #[must_use]
    pub fn new(supervisor: Supervisor, sandbox: Sandbox) -> Self {
        Self(Shell::new(supervisor).with_executor(sandbox))
    }

    /// Passes variables of the application on, as [`Shell::pass_on`] does.
    #[must_use]
    pub fn pass_on(self, names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self(self.0.pass_on(names))
    }

    /// Stores the current folder of each run, as [`Shell::folders_in`] does.
    #[must_use]
    pub fn folders_in(self, folder: impl Into<PathBuf>) -> Self {
        Self(self.0.folders_in(folder))
    }

    /// Rates command lines by this table instead of the default one.
    #[must_use]
    pub fn with_table(self, table: CommandTable) -> Self {
        Self(self.0.with_table(table))
    }
}

fn is_forbidden(name: &str) -> bool {
    NEVER.iter().any(|it| match it.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => name == *it,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_loads_code_is_never_passed_on() {
        let shell = Shell::new(Supervisor::program("/nowhere")).pass_on([
            "LD_PRELOAD",
            "CARGO_PKG_NAME",
            "PYTHONPATH",
            "BASH_ENV",
        ]);
        assert_eq!(shell.passed_on, ["CARGO_PKG_NAME"]);
        let variables = shell.variables(Path::new("/srv"));
        assert!(variables.iter().any(|(name, _)| name == "CARGO_PKG_NAME"));
        let term =
            variables.iter().find(|(name, _)| name == "TERM").map(|(_, value)| value.clone());
        assert_eq!(term, Some("dumb".into()));
    }
}
