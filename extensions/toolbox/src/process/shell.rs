//! What `bash` needs: who supervises, where programs run, what they get of the environment, and the folder of each run.

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use toolwright::Danger;

use super::environment::variables;
use super::executors::{Local, ToolExecutor};
use super::sandbox::Sandbox;
use super::supervisor::Supervisor;
use crate::shell::{CommandTable, classify_by};

/// Variables that no program gets, whatever an application passes on: they make programs load code.
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

/// So many folders of runs are remembered.
const MOST_FOLDERS: usize = 1024;

/// The service of the tool `bash`: programs run with the rights of the application, or where its executor says.
#[derive(Debug)]
pub struct Shell {
    pub(super) supervisor: Supervisor,
    pub(super) executor: Arc<dyn ToolExecutor>,
    passed_on: Vec<String>,
    table: CommandTable,
    /// Where each run is, relative to the workspace.
    folders: Mutex<HashMap<String, String>>,
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
    /// Programs run with the rights of the application.
    #[must_use]
    pub fn new(supervisor: Supervisor) -> Self {
        Self {
            supervisor,
            executor: Arc::new(Local),
            passed_on: Vec::new(),
            table: CommandTable::standard().clone(),
            folders: Mutex::default(),
        }
    }

    /// Programs run elsewhere.
    #[must_use]
    pub fn with_executor(mut self, executor: impl ToolExecutor + 'static) -> Self {
        self.executor = Arc::new(executor);
        self
    }

    /// Command lines are judged by a table of the application's.
    #[must_use]
    pub fn with_table(mut self, table: CommandTable) -> Self {
        self.table = table;
        self
    }

    /// Passes variables of the application on, where they are set. What makes programs load code is never passed on.
    #[must_use]
    pub fn pass_on(mut self, names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.passed_on.extend(names.into_iter().map(Into::into).filter(|it| !is_forbidden(it)));
        self
    }

    pub(super) fn danger(&self, command: &str) -> Danger {
        classify_by(command, &self.table).danger()
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

    /// The folder that a run is in.
    pub(super) fn folder(&self, run: &str) -> String {
        let folders = self.folders.lock().unwrap_or_else(PoisonError::into_inner);
        folders.get(run).cloned().unwrap_or_else(|| ".".to_owned())
    }

    pub(super) fn moved(&self, run: &str, folder: String) {
        let mut folders = self.folders.lock().unwrap_or_else(PoisonError::into_inner);
        if folders.len() >= MOST_FOLDERS && !folders.contains_key(run) {
            // Runs that are long over are not known here; whoever is forgotten begins in the workspace again.
            folders.clear();
        }
        folders.insert(run.to_owned(), folder);
    }
}

impl SandboxedShell {
    /// Programs run in this sandbox.
    #[must_use]
    pub fn new(supervisor: Supervisor, sandbox: Sandbox) -> Self {
        Self(Shell::new(supervisor).with_executor(sandbox))
    }

    /// Passes variables of the application on, as [`Shell::pass_on`] does.
    #[must_use]
    pub fn pass_on(self, names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self(self.0.pass_on(names))
    }

    /// Command lines are judged by a table of the application's.
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
