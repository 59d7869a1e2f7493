//! Runs git for the tools, the runner and `bonsai-git`. The subcommands and flags are fixed, and a model's text is
//! passed only as a path or a name. Exit codes are results, not errors.

mod change;
mod locked;
mod tree;
mod worktree;

use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::process::{Command, Output};
use std::time::Duration;

use toolwright::ToolError;
use toolwright::runtime::{ProcessOutput, ResourceKind};
use toolwright::toolbox::{Local, ProcessEnd, ProcessRequest, Streams, ToolExecutor as _};

pub use self::change::{GitChange, GitReading};
pub use self::tree::{TreeError, tree};
pub use self::worktree::{WorktreeError, find_or_make};

/// The repository as a declared resource, so that calls that read it wait for calls that write it.
pub struct Repository;

impl ResourceKind for Repository {
    const LABEL: &'static str = "repository";
}

/// The time limit of a git command. It is long because a push may be slow.
const LIMIT: Duration = Duration::from_secs(120);

/// The environment variables that are passed on to git if they are set: those of the committer, and those for access to
/// a remote.
const PASSED_ON: [&str; 9] = [
    "GIT_CONFIG_GLOBAL",
    "HOME",
    "LOGNAME",
    "PATH",
    "SSH_AUTH_SOCK",
    "TMPDIR",
    "USER",
    "XDG_CONFIG_HOME",
    "GIT_CONFIG_NOSYSTEM",
];

/// The settings before every command. They switch off a program that git would start when it reads a repository. The
/// arguments of a reading command switch off others. Filters that the configuration names still run.
const SETTINGS: [&str; 4] = ["-c", "core.fsmonitor=false", "-c", "core.quotePath=false"];

/// The environment variables that make git print English, ask no questions, and take no optional lock.
const VARIABLES: [(&str, &str); 4] = [
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_PAGER", "cat"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("LC_ALL", "C.UTF-8"),
];

fn variables() -> impl Iterator<Item = (OsString, OsString)> {
    let passed_on =
        PASSED_ON.iter().filter_map(|name| Some(((*name).into(), std::env::var_os(name)?)));
    passed_on.chain(VARIABLES.map(|(name, value)| (name.into(), value.into())))
}

/// Runs git commands one after another in a folder, and stops at the first failure. Returns the exit code of the last
/// command that ran.
///
/// # Errors
/// When git cannot be started, or it is unknown how it ended.
pub async fn run(folder: &Path, commands: &[Vec<String>]) -> Result<ProcessOutput, ToolError> {
    let variables: Vec<_> = variables().collect();
    let mut all = ProcessOutput { success: true, exit_code: Some(0), ..Default::default() };
    for command in commands {
        let arguments = ["git"].into_iter().chain(SETTINGS).map(OsString::from);
        let arguments: Vec<_> = arguments.chain(command.iter().map(OsString::from)).collect();
        let request = ProcessRequest::new(&arguments, folder, folder)
            .variables(&variables)
            .limit(LIMIT)
            .streams(Streams::Apart);
        let ended = Local.start(&request).map_err(|error| {
            let class = toolwright::runtime::ErrorClass::NotStarted { retry_after: None };
            ToolError::new("not_started", "`git` was not started").class(class).caused_by(error)
        })?;
        let ended = ended.await.map_err(ToolError::internal)?;
        all = added(all, ended);
        if !all.success {
            break;
        }
    }
    Ok(all)
}

fn added(before: ProcessOutput, ended: ProcessEnd) -> ProcessOutput {
    let success = ended.status.is_some_and(|it| it.success()) && !ended.timed_out;
    let errors = ended.errors.trim().to_owned();
    ProcessOutput {
        success,
        output: before.output + &ended.output,
        error: (!success).then_some(match ended.timed_out {
            true => format!("git took more than {} seconds and was ended", LIMIT.as_secs()),
            false => locked::with_advice(errors),
        }),
        exit_code: if ended.timed_out { None } else { ended.status.and_then(|it| it.code()) },
        timed_out: ended.timed_out,
    }
}

/// Makes a git command in a folder, with more environment variables.
fn command<S: AsRef<std::ffi::OsStr>>(
    folder: &Path,
    arguments: impl IntoIterator<Item = S>,
    more: &[(&str, &std::ffi::OsStr)],
) -> Command {
    let mut git = Command::new("git");
    git.args(SETTINGS).args(arguments).current_dir(folder);
    git.env_clear().envs(variables()).envs(more.iter().copied());
    git
}

/// Runs a git command in a folder and waits for it, with more environment variables.
fn output<S: AsRef<std::ffi::OsStr>>(
    folder: &Path,
    arguments: impl IntoIterator<Item = S>,
    more: &[(&str, &std::ffi::OsStr)],
) -> io::Result<Output> {
    command(folder, arguments, more).output()
}

/// Runs a git command in a folder and returns its output. If the command fails, the error is its standard error.
///
/// # Errors
/// When git cannot be started, or fails.
pub fn ask(folder: &Path, arguments: &[&str]) -> Result<String, String> {
    printed(&output(folder, arguments, &[]).map_err(|error| error.to_string())?)
}

/// Returns the trimmed output of a git command, or its standard error if it failed.
fn printed(output: &Output) -> Result<String, String> {
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned()),
        false => {
            Err(locked::with_advice(String::from_utf8_lossy(&output.stderr).trim().to_owned()))
        }
    }
}
