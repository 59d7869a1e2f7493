//! What the agent has: its tools, the folder that they work in, its policy, and who decides.

use std::io::{IsTerminal as _, stderr, stdin};
use std::path::Path;
use std::sync::Arc;

use toolwright::approval::Terminal;
use toolwright::journal::MemoryStore;
use toolwright::policy::{Policy, Rule};
use toolwright::{Executor, OnNoApprover, Registry};
use toolwright_toolbox::{CHANGES, ChangeLog, FILES, PROCESS, SyntaxCheck, Workspace};

use crate::end::Problem;
use crate::task::COMPLETE_TASK;

/// Built in: in the folder that the agent works in lies nothing that could change it.
const POLICY: &str = include_str!("../policy.toml");

/// Who calls the tools. A person takes back what a model changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Caller {
    Model,
    Person,
}

pub fn registry(caller: Caller) -> Result<Registry, Problem> {
    let tools = FILES.into_iter().chain(PROCESS).chain([COMPLETE_TASK]);
    let undoing = CHANGES.into_iter().filter(|_| caller == Caller::Person);
    Registry::of(tools.chain(undoing))
        .map_err(|error| Problem::application("the tools do not fit together", error))
}

/// The executor for a folder, with the log of what is changed in it. The person at the terminal decides; where there is
/// none, a call that needs a decision fails.
pub fn executor(folder: &Path, log: &Path, caller: Caller) -> Result<Executor, Problem> {
    let workspace = Workspace::open(folder)
        .map_err(|error| Problem::Folder { folder: folder.to_owned(), error })?;
    let workspace = Arc::new(workspace);
    let log = ChangeLog::open(log, Arc::clone(&workspace))
        .map_err(|error| Problem::failed("what is changed cannot be recorded", error))?;
    let policy = Policy::builder().base(workspace.root()).text("policy.toml", POLICY);
    // No tool writes the log.
    let policy = policy.journal(log.file());
    let policy = match caller {
        Caller::Model => policy,
        Caller::Person => policy.rule(
            Rule::allow("it restores what was there, and can be undone itself")
                .named("undo")
                .tool("undo_file")
                .tool("undo_turn"),
        ),
    };
    let builder = Executor::builder(registry(caller)?)
        .policy(policy)
        .around(log.clone())
        .around(SyntaxCheck::new(Arc::clone(&workspace)))
        .service(log)
        .service_arc(workspace)
        .journal(MemoryStore::new());
    let builder = if stdin().is_terminal() && stderr().is_terminal() {
        builder.ask(Terminal::new())
    } else {
        builder.on_no_approver(OnNoApprover::Fail)
    };
    builder.build().map_err(|error| Problem::application("the executor cannot be built", error))
}
