//! Builds the agent's executor from its tools, their folder, its policy, and its approver.

use std::io::{IsTerminal as _, stderr, stdin};
use std::path::Path;
use std::time::Duration;

use toolwright::approval::Terminal;
use toolwright::journal::{Journal as CallJournal, MemoryStore};
use toolwright::policy::{Policy, PolicyBuilder};
use toolwright::{Executor, ExecutorBuilder, OnNoApprover, Registry};
use toolwright_mcp::{McpConfig, McpServers};
use toolwright_toolbox::{BASH, CHANGES, CodingTools, CodingToolsError, FILES, PROCESS, Sandbox};

use crate::arguments::TrustedKey;
use crate::counted::Counted;
use crate::end::Problem;
use crate::journal::Journal;
use crate::state;
use crate::task::COMPLETE_TASK;

/// The policy. It is compiled in, so that no file in the agent's folder can change it.
const POLICY: &str = include_str!("../policy.toml");

/// The part of the policy about command lines, added if a tool runs command lines.
const SHELL_POLICY: &str = include_str!("../policy-shell.toml");

/// The part of the policy about the tools of MCP servers, added if there are MCP servers.
const MCP_POLICY: &str = include_str!("../policy-mcp.toml");

/// The folder, beside the change log, in which the current folder of each run is recorded. Folders with the names of
/// the user's folders may be beside it, so this is a name that a folder is unlikely to have.
const FOLDERS: &str = "folders@coder";

/// The lease of runs and calls. When it expires, another process takes them over.
const LEASE: Duration = Duration::from_secs(5);

/// Returns the tools as commands for people. They include command lines and undo, which the recorded models were not
/// offered.
pub fn commands() -> Result<Registry, Problem> {
    let tools = FILES.into_iter().chain(PROCESS).chain(CHANGES).chain([BASH, COMPLETE_TASK]);
    Registry::of(tools)
        .map_err(|error| Problem::application("the tools do not fit together", error))
}

/// The parts from which the executor of a run is built.
pub struct Parts<'a> {
    pub folder: &'a Path,
    /// Whether programs run without network access and may write only to the folder. MCP servers are not restricted.
    pub sandbox: bool,
    pub servers: Option<McpConfig>,
    pub log: &'a Path,
    pub journal: Option<Journal>,
    pub counted: &'a Counted,
    /// Whether the model may run command lines.
    pub shell: bool,
    pub trusted: &'a [TrustedKey],
}

/// The executor of a run, and objects that live as long.
pub struct Application {
    pub executor: Executor,
    /// The MCP servers of the run. Each starts when it is first needed.
    pub servers: Option<McpServers>,
    /// The reason why command lines that are rated safe run outside the second sandbox; `None` if they run in it.
    pub without_wall: Option<String>,
}

/// The parts that turn an empty executor builder into the executor of a run.
pub struct Prepared {
    pub change: Box<dyn FnOnce(ExecutorBuilder) -> ExecutorBuilder + Send>,
    /// The MCP servers of the run. Each starts when it is first needed.
    pub servers: Option<McpServers>,
    /// The reason why command lines that are rated safe run outside the second sandbox; `None` if they run in it.
    pub without_wall: Option<String>,
}

/// Builds the executor of a run.
pub fn executor(parts: Parts<'_>) -> Result<Application, Problem> {
    let Prepared { change, servers, without_wall } = prepared(parts)?;
    let executor = change(Executor::builder(Registry::empty())).build();
    let executor =
        executor.map_err(|error| Problem::application("the executor cannot be built", error))?;
    Ok(Application { executor, servers, without_wall })
}

/// Prepares all parts of a run's executor.
pub fn prepared(parts: Parts<'_>) -> Result<Prepared, Problem> {
    let Parts { folder, sandbox, servers, log, journal, counted, shell, trusted } = parts;
    let mut coding = coding_tools(folder, log, journal.as_ref())?.without_undo();
    if !shell {
        coding = coding.without_shell();
    }
    if sandbox {
        let sandbox = Sandbox::bubblewrap();
        coding = coding
            .sandboxed(sandbox.map_err(|error| Problem::failed("there is no sandbox", error))?);
    }
    if let (Some(_), Some(beside)) = (&journal, log.parent()) {
        // Another process that takes over the run works in the same folder.
        coding = coding.folders_in(beside.join(FOLDERS));
    }
    let without_wall = coding.missing_wall();
    let counted = counted.clone();
    let servers = servers.map(McpServers::new);
    let (used, trusted) = (servers.clone(), trusted.to_vec());
    let change = move |executor: ExecutorBuilder| {
        let executor = executor
            .policy(policy(shell, used.is_some()))
            .listen(move |event| counted.event(event))
            .with(coding)
            .tools([COMPLETE_TASK]);
        let executor = match used {
            Some(servers) => executor.with(servers),
            None => executor,
        };
        decided(executor, journal, &trusted)
    };
    Ok(Prepared { change: Box::new(change), servers, without_wall })
}

/// Builds the executor of the commands in the present folder. Also returns the reason if safe command lines run outside
/// the second sandbox. Looks for that sandbox only if the command is about command lines.
pub fn of_commands(
    log: &Path,
    is_about_lines: bool,
) -> Result<(Executor, Option<String>), Problem> {
    let coding = coding_tools(".".as_ref(), log, None)?;
    let coding = if is_about_lines { coding } else { coding.without_wall() };
    let without_wall = coding.missing_wall();
    let builder = Executor::builder(Registry::empty()).policy(policy(true, false));
    let builder = builder.with(coding).tools([COMPLETE_TASK]);
    let executor = decided(builder, None, &[]).build();
    let executor =
        executor.map_err(|error| Problem::application("the executor cannot be built", error))?;
    Ok((executor, without_wall))
}

/// Makes the tools. Programs in the sandbox cannot see the journal and the change logs.
fn coding_tools(
    folder: &Path,
    log: &Path,
    journal: Option<&Journal>,
) -> Result<CodingTools, Problem> {
    let coding = CodingTools::open(folder).map_err(|error| match error {
        CodingToolsError::Folder { folder, source: error } => Problem::Folder { folder, error },
        error => Problem::application("the folder cannot be worked in", error),
    })?;
    // The change logs of other folders are in the same state folder as the log of this folder.
    let logs = state::logs().filter(|it| it.exists());
    let hidden = logs.into_iter().chain(journal.into_iter().flat_map(Journal::files));
    Ok(hidden.fold(coding.log(log), CodingTools::hide))
}

fn policy(has_shell: bool, has_servers: bool) -> PolicyBuilder {
    let mut policy = Policy::builder().text("policy.toml", POLICY);
    if has_servers {
        policy = policy.text("policy-mcp.toml", MCP_POLICY);
    }
    if has_shell {
        policy = policy.text("policy-shell.toml", SHELL_POLICY);
    }
    policy
}

/// Sets the person at the terminal as the approver. Without a terminal, a call that needs a decision fails, or waits in
/// the journal.
fn decided(
    builder: ExecutorBuilder,
    journal: Option<Journal>,
    trusted: &[TrustedKey],
) -> ExecutorBuilder {
    let is_durable = journal.is_some();
    let calls = match journal {
        Some(journal) => CallJournal::shared(journal.store).lease(LEASE),
        None => CallJournal::new(MemoryStore::new()),
    };
    let calls = trusted.iter().fold(calls, |calls, it| calls.trust(&*it.name, it.key));
    let has_person = stdin().is_terminal() && stderr().is_terminal();
    let builder = if has_person { builder.ask(Terminal::new()) } else { builder };
    builder.journal(match (has_person, is_durable) {
        (true, true) => calls.trust_process_key(),
        (true, false) => calls,
        (false, true) => calls.on_no_approver(OnNoApprover::Park),
        (false, false) => calls.on_no_approver(OnNoApprover::Fail),
    })
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::net::TcpListener;

    use tempfile::TempDir;
    use toolwright::{Call, ProcessOutput};

    use super::*;

    /// Not below `/tmp`, which a sandbox replaces.
    fn folders() -> TempDir {
        let program = std::env::current_exe().expect("a path");
        let target = program.parent().expect("a folder").to_owned();
        let home = std::env::home_dir().filter(|_| target.starts_with("/tmp"));
        TempDir::new_in(home.unwrap_or(target)).expect("a folder")
    }

    /// The policy allows tests, so an agent runs any code: here a test that reaches for the log of changes and for the network.
    #[test]
    fn code_that_an_agent_runs_in_the_sandbox_reaches_neither_the_log_nor_the_network() {
        let around = folders();
        let (folder, log) = (around.path().join("work"), around.path().join("state/changes.db"));
        fs::create_dir_all(folder.join("src")).expect("made");
        fs::create_dir_all(around.path().join("state")).expect("made");
        let server = TcpListener::bind("127.0.0.1:0").expect("a port");
        let manifest = "[package]\nname = \"reaching\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n";
        let source = format!(
            "#[test]\nfn log() {{ assert!(std::fs::read({log:?}).is_ok()) }}\n\n\
             #[test]\nfn network() {{ std::net::TcpStream::connect({:?}).unwrap(); }}\n",
            server.local_addr().expect("an address").to_string()
        );
        fs::write(folder.join("Cargo.toml"), manifest).expect("written");
        fs::write(folder.join("src/lib.rs"), source).expect("written");
        let runtime = tokio::runtime::Runtime::new().expect("a runtime");
        let tested = |sandbox| -> Result<ProcessOutput, Problem> {
            let (folder, log, counted) = (&*folder, &*log, &Counted::default());
            let (servers, journal, shell, trusted) = (None, None, false, &[][..]);
            let parts = Parts { folder, sandbox, servers, log, journal, counted, shell, trusted };
            let Application { executor, .. } = executor(parts)?;
            let input = r#"{"program":"cargo","args":["test","--offline","--quiet","--lib"]}"#;
            let answer = runtime.block_on(executor.call(&Call::new("run_command", input)));
            Ok(serde_json::from_str(&answer.text()).expect("the policy allows it"))
        };
        let free = tested(false).expect("no sandbox is needed");
        assert!(free.output.contains("test result: ok. 2 passed; 0 failed"), "{}", free.output);
        match tested(true) {
            Ok(held) => {
                let end = "test result: FAILED. 0 passed; 2 failed";
                assert!(held.output.contains(end), "{}", held.output);
                println!("not skipped");
            }
            Err(problem) => println!("skipped: {problem}"),
        }
    }
}
