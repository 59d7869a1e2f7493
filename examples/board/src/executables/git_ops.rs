//! `bonsai-git` runs git in the present folder: the operations of the tools `git_read` and `git_write`, and the
//! worktrees of tickets.

use std::path::{Path, PathBuf};

use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use serde_json::json;

use super::Report;
use crate::git::{self, GitChange, GitReading};

/// The reading operations, by their names.
const READINGS: [(&str, GitReading); 6] = [
    ("status", GitReading::Status),
    ("diff", GitReading::Diff),
    ("staged-diff", GitReading::StagedDiff),
    ("log", GitReading::Log),
    ("show", GitReading::Show),
    ("branches", GitReading::Branches),
];

/// Declares the arguments of the program.
#[must_use]
pub fn command() -> Command {
    let words = |name, help| Arg::new(name).required(true).help(help);
    let paths = || Arg::new("paths").last(true).action(ArgAction::Append).help("Only these paths");
    let readings = READINGS.map(|(word, _)| {
        let revision = Arg::new("revision").help("A commit or a branch, for diff, log and show");
        Command::new(word).about("Looks at the repository").arg(revision).arg(paths())
    });
    let message = Arg::new("message").long("message").required(true).help("What it does, and why");
    let from =
        Arg::new("from").long("from").default_value("HEAD").help("Where a new branch begins");
    let folder = words("folder", "The folder of the worktree").value_parser(value_parser!(PathBuf));
    Command::new("bonsai-git")
        .about("Git for one workspace")
        .subcommand_required(true)
        .subcommands(readings)
        .subcommand(
            Command::new("commit").about("Commits files").arg(message).arg(paths().required(true)),
        )
        .subcommand(Command::new("branch").about("Makes a branch").arg(words("name", "Its name")))
        .subcommand(
            Command::new("push")
                .about("Pushes a branch")
                .arg(words("remote", "Where to"))
                .arg(words("branch", "The branch")),
        )
        .subcommand(
            Command::new("worktree")
                .about("Finds or makes the worktree of a branch")
                .arg(folder)
                .arg(words("branch", "The branch"))
                .arg(from),
        )
}

/// Runs the operation.
///
/// # Errors
/// When a name is unknown or git cannot be started.
pub fn run(matches: &ArgMatches) -> Result<Report, String> {
    let Some((word, below)) = matches.subcommand() else {
        return Err("found no operation, expected one such as `status`".to_owned());
    };
    let text = |name: &str| below.get_one::<String>(name).cloned().unwrap_or_default();
    let many = |name: &str| {
        below.get_many::<String>(name).unwrap_or_default().cloned().collect::<Vec<_>>()
    };
    let steps = match word {
        "commit" => GitChange::Commit { message: text("message"), files: many("paths") }.steps()?,
        "branch" => GitChange::Branch { name: text("name") }.steps()?,
        "push" => GitChange::Push { remote: text("remote"), branch: text("branch") }.steps()?,
        "worktree" => {
            let folder: &PathBuf =
                below.get_one("folder").ok_or("found no folder, expected one")?;
            let folder = std::path::absolute(folder).map_err(|error| error.to_string())?;
            let (branch, from) = (text("branch"), text("from"));
            git::find_or_make(Path::new("."), &folder, &branch, &from)
                .map_err(|error| error.to_string())?;
            return Report::of(&json!({"folder": folder, "branch": branch}), true);
        }
        word => {
            let reading = READINGS.iter().find(|(it, _)| *it == word).map(|(_, it)| *it);
            let reading = reading.ok_or("found an operation that is not known")?;
            let revision: Option<&String> = below.get_one("revision");
            vec![reading.arguments(revision.map(String::as_str), &many("paths"))?]
        }
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| error.to_string())?;
    let ended = runtime.block_on(git::run(Path::new("."), &steps));
    let ended = ended.map_err(|error| format!("{error:?}"))?;
    Report::of(&ended, ended.success)
}
