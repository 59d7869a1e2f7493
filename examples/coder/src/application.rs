//! What the agent has: its tools, the folder that they work in, its policy, and who decides.

use std::io::{IsTerminal as _, stderr, stdin};
use std::path::Path;

use toolwright::approval::Terminal;
use toolwright::journal::MemoryStore;
use toolwright::policy::Policy;
use toolwright::{Executor, OnNoApprover, Registry};
use toolwright_toolbox::{FILES, PROCESS, Workspace};

use crate::end::Problem;
use crate::task::COMPLETE_TASK;

/// Built in: in the folder that the agent works in lies nothing that could change it.
const POLICY: &str = include_str!("../policy.toml");

pub fn registry() -> Result<Registry, Problem> {
    let tools = FILES.into_iter().chain(PROCESS).chain([COMPLETE_TASK]);
    Registry::of(tools)
        .map_err(|error| Problem::application("the tools do not fit together", error))
}

/// The executor for a folder. The person at the terminal decides; where there is none, a call that needs a decision fails.
pub fn executor(folder: &Path) -> Result<Executor, Problem> {
    let workspace = Workspace::open(folder)
        .map_err(|error| Problem::Folder { folder: folder.to_owned(), error })?;
    let policy = Policy::builder().base(workspace.root()).text("policy.toml", POLICY);
    let builder = Executor::builder(registry()?)
        .policy(policy)
        .service(workspace)
        .journal(MemoryStore::new());
    let builder = if stdin().is_terminal() && stderr().is_terminal() {
        builder.ask(Terminal::new())
    } else {
        builder.on_no_approver(OnNoApprover::Fail)
    };
    builder.build().map_err(|error| Problem::application("the executor cannot be built", error))
}
