//! What the agent has: its tools, the folder that they work in, its policy, and who decides.

use std::io::{IsTerminal as _, stderr, stdin};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use toolwright::approval::Terminal;
use toolwright::journal::MemoryStore;
use toolwright::policy::{Policy, PolicyBuilder, Rule};
use toolwright::{Executor, ExecutorBuilder, Handle, OnNoApprover, Registry};
use toolwright_mcp::{MCP_TOOLS, McpConfig, McpServers};
use toolwright_toolbox::{
    BASH, CHANGES, ChangeLog, FILES, PROCESS, SANDBOXED_BASH, Sandbox, SandboxKind, SandboxLack,
    SandboxedShell, Shell, ShellReader, Supervisor, TenSteps, Workspace,
};

use crate::arguments::TrustedKey;
use crate::counted::Counted;
use crate::end::Problem;
use crate::journal::Journal;
use crate::state;
use crate::task::COMPLETE_TASK;

/// Built in: in the folder that the agent works in lies nothing that could change it.
const POLICY: &str = include_str!("../policy.toml");

/// What of it is about command lines, where there is a tool that runs them.
const SHELL_POLICY: &str = include_str!("../policy-shell.toml");

/// What of it is about the tools of MCP servers, where there are some.
const MCP_POLICY: &str = include_str!("../policy-mcp.toml");

/// What a home folder has that no program of the agent needs.
const HIDDEN: [&str; 8] =
    [".aws", ".config/gh", ".docker", ".git-credentials", ".gnupg", ".kube", ".netrc", ".ssh"];

/// Where the folders of runs are stored, beside the log; no folder that is worked in has this name.
const FOLDERS: &str = "folders@coder";

/// The lease of runs and calls: another process takes them up when it has ended.
const LEASE: Duration = Duration::from_secs(5);

/// The tools of a run. Those that find and call the tools of MCP servers are there only with servers.
fn registry(has_servers: bool, bash: Option<Handle>) -> Result<Registry, Problem> {
    let servers = MCP_TOOLS.into_iter().filter(|_| has_servers);
    let tools = FILES.into_iter().chain(PROCESS).chain(bash).chain([COMPLETE_TASK]);
    Registry::of(tools.chain(servers))
        .map_err(|error| Problem::application("the tools do not fit together", error))
}

/// The tools as commands: a person runs command lines and takes back what a model changed, by tools that no recorded model
/// was shown.
pub fn commands() -> Result<Registry, Problem> {
    let tools = FILES.into_iter().chain(PROCESS).chain(CHANGES).chain([BASH, COMPLETE_TASK]);
    Registry::of(tools)
        .map_err(|error| Problem::application("the tools do not fit together", error))
}

/// What a run is made of.
pub struct Parts<'a> {
    pub folder: &'a Path,
    /// Programs have no network and write nothing but the folder; servers are not in it.
    pub sandbox: bool,
    pub servers: Option<McpConfig>,
    pub log: &'a Path,
    pub journal: Option<Journal>,
    pub counted: &'a Counted,
    /// What supervises the command lines of the model, where it may run some.
    pub shell: Option<Supervisor>,
    pub trusted: &'a [TrustedKey],
}

/// What was made of it.
pub struct Application {
    pub executor: Executor,
    /// They are started when they are needed.
    pub servers: Option<McpServers>,
    /// Why lines that are rated safe run without a second wall, where they do.
    pub without_wall: Option<String>,
}

/// The executor of a run.
pub fn executor(parts: Parts<'_>) -> Result<Application, Problem> {
    let Parts { folder, sandbox, servers, log, journal, counted, shell, trusted } = parts;
    let mut workspace = opened(folder)?;
    let held = match sandbox {
        true => {
            let made = Sandbox::bubblewrap();
            let made = made.map_err(|error| Problem::failed("there is no sandbox", error))?;
            Some(hidden_paths(log, journal.as_ref()).into_iter().fold(made, Sandbox::hide))
        }
        false => None,
    };
    if let Some(held) = &held {
        workspace = workspace.with_executor(held.clone());
    }
    let policy = Policy::builder().text("policy.toml", POLICY);
    let policy = match servers {
        Some(_) => policy.text("policy-mcp.toml", MCP_POLICY),
        None => policy,
    };
    let policy = match shell {
        Some(_) => policy.commands(ShellReader).text("policy-shell.toml", SHELL_POLICY),
        None => policy,
    };
    let counted = counted.clone();
    let bash = shell.as_ref().map(|_| if sandbox { SANDBOXED_BASH } else { BASH });
    let registry = registry(servers.is_some(), bash)?;
    let servers = servers.map(|servers| McpServers::new(servers, &registry));
    let builder = Executor::builder(registry);
    let builder = builder.listen(move |event| counted.event(event));
    let builder = match &servers {
        Some(servers) => builder.resolver(servers.clone()).service(servers.clone()),
        None => builder,
    };
    // Runs that another process takes up are where they were.
    let folders = journal.as_ref().and(log.parent()).map(|it| it.join(FOLDERS));
    let mut without_wall = None;
    let builder = match (shell, held) {
        (None, _) => builder,
        (Some(supervisor), Some(held)) => {
            let shell = SandboxedShell::new(supervisor, held);
            builder.service(folders.into_iter().fold(shell, SandboxedShell::folders_in))
        }
        (Some(supervisor), None) => {
            let (shell, why) =
                make_shell(supervisor, &workspace, hidden_paths(log, journal.as_ref()));
            without_wall = why;
            builder.service(folders.into_iter().fold(shell, Shell::folders_in))
        }
    };
    let builder = steps(policy, workspace, log)?.assemble(builder);
    let builder = trusted.iter().fold(builder, |builder, it| builder.trust(&*it.name, it.key));
    Ok(Application { executor: built(builder, journal)?, servers, without_wall })
}

/// The executor of the commands, in the current folder, and why lines that are rated safe run without a second wall, where
/// they do. Only for commands that are about lines a wall is looked for.
pub fn of_commands(
    supervisor: Supervisor,
    log: &Path,
    is_about_lines: bool,
) -> Result<(Executor, Option<String>), Problem> {
    let workspace = opened(".".as_ref())?;
    let policy = Policy::builder().commands(ShellReader);
    let policy = policy.text("policy.toml", POLICY).text("policy-shell.toml", SHELL_POLICY);
    let undo = Rule::allow("it restores what was there, and can be undone itself").named("undo");
    let policy = policy.rule(undo.tool("undo_file").tool("undo_turn"));
    let (shell, without_wall) = match is_about_lines {
        true => make_shell(supervisor, &workspace, hidden_paths(log, None)),
        false => (Shell::new(supervisor), None),
    };
    let builder = Executor::builder(commands()?).service(shell);
    let builder = steps(policy, workspace, log)?.assemble(builder);
    Ok((built(builder, None)?, without_wall))
}

/// What runs command lines: those that are rated safe in a sandbox, where this machine makes one that hides what is to be
/// hidden; why it makes none.
fn make_shell(
    supervisor: Supervisor,
    workspace: &Workspace,
    hidden: Vec<PathBuf>,
) -> (Shell, Option<String>) {
    let shell = Shell::new(supervisor.clone());
    // What Landlock lacks is accepted: a wall with gaps is more than none, and no line is judged by it.
    let made = Sandbox::of_this_machine(
        &supervisor,
        &[SandboxLack::PrivateTmp, SandboxLack::NetworkBlock],
    );
    let why = match made {
        Ok(made) => match hidden.iter().find(|it| it.starts_with(workspace.root())) {
            Some(within) if made.kind() == SandboxKind::Landlock => {
                format!("`{}` lies in the folder, where landlock hides nothing", within.display())
            }
            _ => return (shell.with_wall(hidden.into_iter().fold(made, Sandbox::hide)), None),
        },
        Err(error) => {
            let why: Vec<String> = error.problems.iter().map(ToString::to_string).collect();
            why.join("; ")
        }
    };
    (shell, Some(format!("lines that are rated safe run without a sandbox: {why}")))
}

/// What programs in a sandbox do not see: keys, the journal and the logs.
fn hidden_paths(log: &Path, journal: Option<&Journal>) -> Vec<PathBuf> {
    let home = std::env::home_dir().unwrap_or_default();
    let secret = HIDDEN.iter().map(|it| home.join(it)).filter(|it| it.exists());
    // The logs of other folders lie beside that of this one.
    let logs = state::logs().filter(|it| it.exists());
    let own = logs.into_iter().chain(log.parent().map(Path::to_owned));
    secret.chain(own).chain(journal.into_iter().flat_map(Journal::files)).collect()
}

/// The ten steps of each call: what it writes is recorded, and its syntax checked.
fn steps(policy: PolicyBuilder, workspace: Workspace, log: &Path) -> Result<TenSteps, Problem> {
    let workspace = Arc::new(workspace);
    let log = ChangeLog::open(log, Arc::clone(&workspace))
        .map_err(|error| Problem::failed("what is changed cannot be recorded", error))?;
    Ok(TenSteps::new(policy, workspace, log))
}

fn opened(folder: &Path) -> Result<Workspace, Problem> {
    Workspace::open(folder).map_err(|error| Problem::Folder { folder: folder.to_owned(), error })
}

/// The person at the terminal decides; where there is none, a call that needs a decision fails, or waits in the journal.
fn built(builder: ExecutorBuilder, journal: Option<Journal>) -> Result<Executor, Problem> {
    let is_durable = journal.is_some();
    let builder = match journal {
        Some(journal) => builder.journal_arc(journal.store).lease(LEASE),
        None => builder.journal(MemoryStore::new()),
    };
    let builder = match (stdin().is_terminal() && stderr().is_terminal(), is_durable) {
        (true, true) => builder.ask(Terminal::new()).trust_process_key(),
        (true, false) => builder.ask(Terminal::new()),
        (false, true) => builder.on_no_approver(OnNoApprover::Park),
        (false, false) => builder.on_no_approver(OnNoApprover::Fail),
    };
    builder.build().map_err(|error| Problem::application("the executor cannot be built", error))
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
            let (servers, journal, shell, trusted) = (None, None, None, &[][..]);
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
