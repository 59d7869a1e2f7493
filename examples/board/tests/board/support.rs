//! A board with one project, whose repository is a small crate of its own.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use board::assembly::Assembly;
use board::ticket::{Evidence, NewTicket, Project, State, TicketKind};
use board::tools::CurrentTicket;
use board::{Board, git};
use jiff::Timestamp;
use serde_json::Value;
use tempfile::TempDir;
use toolwright::toolbox::Supervisor;
use toolwright::{Answer, Call, Executor};

pub struct Around {
    pub folder: TempDir,
    pub board: Arc<Board>,
    pub project: i64,
}

/// The folder with the executables that cargo has built for the tests.
pub fn executables() -> PathBuf {
    Path::new(env!("CARGO_BIN_EXE_bonsai-test")).parent().unwrap().to_owned()
}

pub fn now() -> Timestamp {
    Timestamp::from_second(1_800_000_000).unwrap()
}

pub fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

pub fn run_git(folder: &Path, arguments: &[&str]) -> String {
    let ran = Command::new("git").args(arguments).current_dir(folder).output().unwrap();
    assert!(ran.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&ran.stderr));
    String::from_utf8(ran.stdout).unwrap()
}

/// Makes a program. Another process writes it: a copy of a descriptor that writes it, in a process that another test starts at this
/// moment, would keep it from being run.
pub fn script(file: &Path, text: &str) {
    let beside = file.with_extension("text");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&beside, text).unwrap();
    let made = Command::new("install").args(["-m", "755"]).args([&beside, file]).status().unwrap();
    assert!(made.success());
}

/// A repository with one commit of these files.
pub fn repository(folder: &Path, files: &[(&str, &str)]) {
    for (name, text) in files {
        let file = folder.join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }
    run_git(folder, &["init", "--quiet", "--initial-branch=main"]);
    run_git(folder, &["config", "user.name", "Ada"]);
    run_git(folder, &["config", "user.email", "ada@example.org"]);
    run_git(folder, &["add", "--all"]);
    run_git(folder, &["commit", "--quiet", "--message=begin"]);
}

pub fn around() -> Around {
    let folder = TempDir::new().unwrap();
    let crate_folder = folder.path().join("repository");
    fs::create_dir(&crate_folder).unwrap();
    repository(&crate_folder, &[("README.md", "tea\n"), (".gitignore", "target\n")]);
    let board = Arc::new(Board::open(folder.path().join("board.db")).unwrap());
    let project = Project {
        id: 0,
        name: "tea".to_owned(),
        repository: crate_folder.to_str().unwrap().to_owned(),
        url: Some("https://example.org/tea.git".to_owned()),
        language: Some("rust".to_owned()),
        branch: "main".to_owned(),
        persona: "You know tea.".to_owned(),
    };
    let project = board.add_project(&project).unwrap();
    Around { folder, board, project }
}

impl Around {
    pub fn ticket(&self, state: State, criteria: &[(Evidence, &str)]) -> i64 {
        let criteria = criteria.iter().map(|(it, text)| (it.clone(), (*text).to_owned())).collect();
        let new = NewTicket {
            project: self.project,
            kind: TicketKind::Bug,
            state,
            title: "Tea is cold".to_owned(),
            description: "It should be hot.".to_owned(),
            profile: "developer".to_owned(),
            criteria,
        };
        self.board.add_ticket(&new, now()).unwrap()
    }

    pub fn worktree(&self, ticket: i64) -> PathBuf {
        self.folder.path().join(format!("worktrees/ticket-{ticket}"))
    }

    pub fn assembly(&self, ticket: i64) -> Assembly {
        let (folder, branch) = (self.worktree(ticket), format!("ticket-{ticket}"));
        git::find_or_make(&self.folder.path().join("repository"), &folder, &branch, "main")
            .unwrap();
        let current = CurrentTicket::new(Arc::clone(&self.board), ticket, self.project, folder);
        let supervisor = Supervisor::program(env!("CARGO_BIN_EXE_board"));
        Assembly::open(current, supervisor, executables()).unwrap()
    }

    pub fn executor(&self, ticket: i64, profile: &str) -> Executor {
        let changes = self.folder.path().join(format!("changes-{ticket}.db"));
        self.assembly(ticket).executor(profile, &changes, None).unwrap()
    }
}

pub fn call(executor: &Executor, tool: &str, input: &str) -> Answer {
    runtime().block_on(executor.call(&Call::new(tool, input)))
}

pub fn json(executor: &Executor, tool: &str, input: &str) -> Value {
    let answer = call(executor, tool, input);
    assert!(!answer.is_error(), "{tool}: {}", answer.text());
    serde_json::from_str(&answer.text()).unwrap()
}
