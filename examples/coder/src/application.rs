//! What the agent has: its tools, the folder that they work in, its policy, and who decides.

use std::io::{IsTerminal as _, stderr, stdin};
use std::path::Path;
use std::sync::Arc;

use toolwright::approval::Terminal;
use toolwright::journal::MemoryStore;
use toolwright::policy::{Policy, PolicyBuilder, Rule};
use toolwright::{Executor, ExecutorBuilder, OnNoApprover, Registry};
use toolwright_toolbox::{
    BASH, CHANGES, ChangeLog, FILES, PROCESS, Sandbox, Shell, ShellReader, Supervisor, SyntaxCheck,
    Workspace,
};

use crate::end::Problem;
use crate::task::COMPLETE_TASK;

/// Built in: in the folder that the agent works in lies nothing that could change it.
const POLICY: &str = include_str!("../policy.toml");

/// What of it is about command lines, where there is a tool that runs them.
const SHELL_POLICY: &str = include_str!("../policy-shell.toml");

/// What a home folder has that no program of the agent needs.
const HIDDEN: [&str; 8] =
    [".aws", ".config/gh", ".docker", ".git-credentials", ".gnupg", ".kube", ".netrc", ".ssh"];

pub fn registry() -> Result<Registry, Problem> {
    let tools = FILES.into_iter().chain(PROCESS).chain([COMPLETE_TASK]);
    Registry::of(tools)
        .map_err(|error| Problem::application("the tools do not fit together", error))
}

/// The tools as commands: a person runs command lines too, which no recorded model was shown, and takes back what a model
/// changed.
pub fn commands() -> Result<Registry, Problem> {
    let tools = FILES.into_iter().chain(PROCESS).chain(CHANGES).chain([BASH, COMPLETE_TASK]);
    Registry::of(tools)
        .map_err(|error| Problem::application("the tools do not fit together", error))
}

/// The executor of a run, with the log of what is changed in its folder; in a sandbox, programs have no network and write
/// nothing but the folder.
pub fn executor(folder: &Path, log: &Path, sandbox: bool) -> Result<Executor, Problem> {
    let mut workspace = opened(folder)?;
    if sandbox {
        let made = Sandbox::bubblewrap();
        let made = made.map_err(|error| Problem::failed("there is no sandbox", error))?;
        let home = std::env::home_dir().unwrap_or_default();
        workspace = workspace
            .with_executor(HIDDEN.iter().fold(made, |made, name| made.hide(home.join(name))));
    }
    let policy = Policy::builder().base(workspace.root()).text("policy.toml", POLICY);
    built(registry()?, policy, workspace, log, |builder| builder)
}

/// The executor of the commands, in the current folder, with the log of what was changed in it.
pub fn of_commands(log: &Path, supervisor: Supervisor) -> Result<Executor, Problem> {
    let workspace = opened(".".as_ref())?;
    let policy = Policy::builder().base(workspace.root()).commands(ShellReader);
    let policy = policy.text("policy.toml", POLICY).text("policy-shell.toml", SHELL_POLICY);
    let policy = policy.rule(
        Rule::allow("it restores what was there, and can be undone itself")
            .named("undo")
            .tool("undo_file")
            .tool("undo_turn"),
    );
    built(commands()?, policy, workspace, log, |builder| builder.service(Shell::new(supervisor)))
}

fn opened(folder: &Path) -> Result<Workspace, Problem> {
    Workspace::open(folder).map_err(|error| Problem::Folder { folder: folder.to_owned(), error })
}

/// The person at the terminal decides; where there is none, a call that needs a decision fails.
fn built(
    tools: Registry,
    policy: PolicyBuilder,
    workspace: Workspace,
    log: &Path,
    more: impl FnOnce(ExecutorBuilder) -> ExecutorBuilder,
) -> Result<Executor, Problem> {
    let workspace = Arc::new(workspace);
    let log = ChangeLog::open(log, Arc::clone(&workspace))
        .map_err(|error| Problem::failed("what is changed cannot be recorded", error))?;
    // No tool writes the log.
    let builder = Executor::builder(tools)
        .policy(policy.journal(log.file()))
        .around(log.clone())
        .around(SyntaxCheck::new(Arc::clone(&workspace)))
        .service(log)
        .service_arc(workspace)
        .journal(MemoryStore::new());
    let builder = more(builder);
    let builder = if stdin().is_terminal() && stderr().is_terminal() {
        builder.ask(Terminal::new())
    } else {
        builder.on_no_approver(OnNoApprover::Fail)
    };
    builder.build().map_err(|error| Problem::application("the executor cannot be built", error))
}
