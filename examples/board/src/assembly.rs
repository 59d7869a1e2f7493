//! Builds the executor of an agent: makes all tools in their order, selects those of the agent's profile, and allows no
//! others.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::json;
use toolwright::journal::Journal;
use toolwright::policy::Policy;
use toolwright::runtime::{
    BuildError, File, Footprint, InvalidPattern, Profile, ProfileError, Profiles, Registration,
    UnknownProfile,
};
use toolwright::toolbox::{
    BASH, ChangeLog, ChangeLogError, CliTool, EDIT_FILE, LIST_FILES, READ_FILE, Shell, ShellReader,
    Supervisor, TenSteps, WRITE_FILE, Workspace,
};
use toolwright::{Danger, Effect, Executor, Handle, Registry};

use crate::tools::{self, CurrentTicket};

/// The policy. It is compiled in, so that no file in the agent's folder can change it.
const POLICY: &str = include_str!("../policy.toml");

/// The time limit of a test suite in seconds. It is a little above the limit of the executable, whose own report is
/// more precise.
const SUITE_SECONDS: u32 = 660;

/// The parts from which the tools of a run are built.
#[derive(Debug, Clone)]
pub struct Assembly {
    pub ticket: Arc<CurrentTicket>,
    pub workspace: Arc<Workspace>,
    pub shell: Arc<Shell>,
    /// The folder with the programs `bonsai-…`.
    pub executables: PathBuf,
    /// The application's own tools for web search and web pages; the board itself has none.
    pub web: Vec<Handle>,
    /// The application's own tool factories. Their tools come after those of the board.
    pub added: Vec<Factory>,
}

/// A function that makes some of the tools of a run.
pub type Factory = fn(&Assembly) -> Vec<Registration>;

/// Why the executor cannot be built.
#[derive(Debug, thiserror::Error)]
pub enum AssemblyError {
    #[error("the worktree cannot be opened: {0}")]
    Workspace(std::io::Error),
    #[error("the log of changes cannot be opened: {0}")]
    ChangeLog(#[from] ChangeLogError),
    #[error(transparent)]
    Profile(#[from] UnknownProfile),
    #[error("the profile selects what is not there: {0}")]
    Selection(#[from] ProfileError),
    #[error("a profile is wrong: {0}")]
    Pattern(#[from] InvalidPattern),
    #[error("the executor cannot be built: {0}")]
    Executor(#[from] BuildError),
}

impl Assembly {
    /// Opens the worktree of a ticket and a supervised shell for its tools.
    ///
    /// # Errors
    /// When the worktree is not a folder.
    pub fn open(
        ticket: CurrentTicket,
        supervisor: Supervisor,
        executables: impl Into<PathBuf>,
    ) -> Result<Self, AssemblyError> {
        let workspace = Workspace::open(ticket.worktree()).map_err(AssemblyError::Workspace)?;
        Ok(Self {
            ticket: Arc::new(ticket),
            workspace: Arc::new(workspace),
            shell: Arc::new(Shell::new(supervisor)),
            executables: executables.into(),
            web: Vec::new(),
            added: Vec::new(),
        })
    }

    /// Builds the executor of an agent with this profile. `changes` is the file of the agent's change log, outside of
    /// the worktree.
    ///
    /// # Errors
    /// When the profile does not exist or selects a missing tool, or when a file cannot be opened.
    pub fn executor(
        &self,
        profile: &str,
        changes: &Path,
        journal: Option<Journal>,
    ) -> Result<Executor, AssemblyError> {
        let log = ChangeLog::open(changes, Arc::clone(&self.workspace))?;
        let root = self.workspace.root();
        let policy = Policy::builder().text("policy.toml", POLICY).root(root).commands(ShellReader);
        let mut builder = Executor::builder(Registry::empty())
            .policy(policy)
            .tools(assemble_tools(self))
            .with(TenSteps::new(Arc::clone(&self.workspace), log))
            .service_arc(Arc::clone(&self.shell))
            .service_arc(Arc::clone(&self.ticket));
        if let Some(journal) = journal {
            builder = builder.journal(journal);
        }
        let executor = builder.build()?;
        let profiles = profiles(!self.web.is_empty())?;
        let selected = executor.catalog().select(profiles.get(profile)?)?;
        Ok(executor.pinned(&selected))
    }
}

/// Returns every tool, in the order of the factories: file, bash, git, web, ticket, comment, board, command line, then those of
/// the application.
#[must_use]
pub fn assemble_tools(assembly: &Assembly) -> Vec<Registration> {
    let factories: [Factory; 8] = [
        file_tools,
        bash_tools,
        git_tools,
        web_tools,
        ticket_tools,
        comment_tools,
        board_tools,
        cli_tools,
    ];
    factories.iter().chain(&assembly.added).flat_map(|factory| factory(assembly)).collect()
}

/// Returns the profiles. A pattern that matches no tool is an error, so without web tools the profiles lack the pattern
/// for them.
///
/// # Errors
/// When a pattern is invalid.
pub fn profiles(has_web: bool) -> Result<Profiles, InvalidPattern> {
    let web: &[&str] = if has_web { &["web_*"] } else { &[] };
    let looks = ["file_read", "file_list", "ticket_read", "comment_*"];
    let researcher = [&looks[..], &["project_info", "board_read"], web].concat();
    let reviewer = [&looks[..], &["git_read", "acceptance_check"]].concat();
    Ok(Profiles::of([
        ("developer", Profile::new(["*"])?),
        ("researcher", Profile::new(researcher)?),
        ("reviewer", Profile::new(reviewer)?),
    ]))
}

/// Makes the file tools of the toolbox, under the board's names and with descriptions that use these names.
fn file_tools(_: &Assembly) -> Vec<Registration> {
    let write = "Write a whole text file: make it, or replace what it contains. To change a part of a file, use `file_edit`.";
    vec![
        READ_FILE.renamed("file_read"),
        WRITE_FILE.renamed("file_write").described(write),
        EDIT_FILE.renamed("file_edit"),
        LIST_FILES.renamed("file_list"),
    ]
}

fn bash_tools(_: &Assembly) -> Vec<Registration> {
    vec![BASH.into()]
}

fn git_tools(_: &Assembly) -> Vec<Registration> {
    tools::GIT.map(Into::into).into()
}

fn web_tools(assembly: &Assembly) -> Vec<Registration> {
    assembly.web.iter().copied().map(Into::into).collect()
}

fn ticket_tools(_: &Assembly) -> Vec<Registration> {
    tools::TICKET.map(Into::into).into()
}

fn comment_tools(_: &Assembly) -> Vec<Registration> {
    tools::COMMENT.map(Into::into).into()
}

fn board_tools(_: &Assembly) -> Vec<Registration> {
    tools::BOARD.map(Into::into).into()
}

/// Makes tools of the executables. They run in the worktree, and only on the run's own ticket.
fn cli_tools(assembly: &Assembly) -> Vec<Registration> {
    let Assembly { ticket, workspace, shell, executables, .. } = assembly;
    let none = json!({"type": "object", "properties": {}, "additionalProperties": false});
    let wrap = |name, description, program, schema, effect, danger| {
        CliTool::new(name, description, executables.join(program), schema, effect, danger)
            .timeout_seconds(SUITE_SECONDS)
    };
    let made = |tool: CliTool| tool.tool(Arc::clone(workspace), Arc::clone(shell));
    let analyze = wrap(
        "analyze_project",
        "Find out what the repository is: language, framework, package manager, test runner, structure.",
        "bonsai-analyze",
        none.clone(),
        Effect::Read,
        Danger::Safe,
    );
    let tests = wrap(
        "run_tests",
        "Run the test suite, and read how each case ended. A suite that fails is a result.",
        "bonsai-test",
        none.clone(),
        Effect::Idempotent,
        Danger::Moderate,
    );
    let linter = wrap(
        "run_linter",
        "Run the linter, and read what it found. Problems that it finds are a result.",
        "bonsai-lint",
        none,
        Effect::Idempotent,
        Danger::Moderate,
    );
    let own = json!({
        "type": "object",
        "properties": {
            "ticketId": {"type": "string", "enum": [ticket.id().to_string()], "description": "The ticket that you work on."},
        },
        "required": ["ticketId"],
        "additionalProperties": false,
    });
    let criteria = wrap(
        "check_criteria",
        "Check the acceptance criteria of your ticket against the files as they are now, and record what is found. Tests and linter run where a criterion is about them.",
        "bonsai-criteria",
        own,
        Effect::Idempotent,
        Danger::Moderate,
    );
    let board = ticket.board().path().as_os_str();
    let criteria = criteria.fixed(["check".as_ref(), "--board".as_ref(), board]);
    let criteria = criteria.positional("ticketId");
    vec![
        made(analyze.fixed(["."]))
            .footprint_by(|_| Footprint::nothing().reading::<File>("."))
            .into(),
        made(tests.fixed(["."])).into(),
        made(linter.fixed(["."])).into(),
        made(criteria).into(),
    ]
}
