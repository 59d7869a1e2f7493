//! `bonsai-criteria check` checks the acceptance criteria of a ticket against the files of a repository, and records what it found.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Arg, ArgMatches, Command, value_parser};
use jiff::Timestamp;
use serde::Serialize;

use super::{Report, lint_runner, test_runner};
use crate::Board;
use crate::git;
use crate::ticket::{Criterion, Evidence};

/// The report.
#[derive(Debug, Serialize)]
struct Checked {
    ticket: i64,
    all_met: bool,
    criteria: Vec<CheckedCriterion>,
}

#[derive(Debug, Serialize)]
struct CheckedCriterion {
    id: i64,
    text: String,
    evidence: String,
    met: bool,
    finding: String,
}

/// Declares the arguments of the program.
#[must_use]
pub fn command() -> Command {
    let ticket =
        Arg::new("ticket-id").required(true).value_parser(value_parser!(i64)).help("The ticket");
    let board = Arg::new("board").long("board").required(true).value_parser(value_parser!(PathBuf));
    let repository = Arg::new("repository").long("repository").default_value(".");
    let repository =
        repository.value_parser(value_parser!(PathBuf)).help("The folder with its files");
    let check = Command::new("check")
        .about("Checks the criteria of a ticket and records what was found")
        .args([ticket, board.help("The file of the board"), repository, test_runner::limit()]);
    Command::new("bonsai-criteria")
        .about("Acceptance criteria")
        .subcommand_required(true)
        .subcommand(check)
}

/// Checks the criteria.
///
/// # Errors
/// When there is no such ticket, the board or the folder cannot be read, or criteria were changed during the check.
pub fn run(matches: &ArgMatches) -> Result<Report, String> {
    let Some(("check", below)) = matches.subcommand() else {
        return Err("found no operation, expected `check`".to_owned());
    };
    let path: &PathBuf = below.get_one("board").ok_or("found no board, expected `--board`")?;
    if !path.is_file() {
        return Err(format!("the board `{}` is not there", path.display()));
    }
    let board = Board::open(path).map_err(|error| error.to_string())?;
    let ticket = *below.get_one::<i64>("ticket-id").ok_or("found no ticket, expected its id")?;
    let folder: &PathBuf = below.get_one("repository").ok_or("found no folder, expected one")?;
    let folder = folder.canonicalize();
    let folder = folder.map_err(|error| format!("the repository cannot be opened: {error}"))?;
    let checked = check(&board, ticket, &folder, test_runner::limit_of(below))?;
    Report::of(&checked, checked.all_met)
}

fn check(board: &Board, ticket: i64, folder: &Path, limit: Duration) -> Result<Checked, String> {
    board.ticket(ticket).map_err(|error| error.to_string())?;
    let criteria = board.criteria(ticket).map_err(|error| error.to_string())?;
    let tree = git::tree(folder).map_err(|error| error.to_string())?;
    let mut findings = Findings { folder, limit, tests: None, lint: None };
    let mut found = Vec::new();
    for criterion in criteria {
        let (met, finding) = match criterion.evidence.is_checked_by_program() {
            true => findings.of(&criterion.evidence)?,
            // A person decides about this criterion, so the program leaves it as it is.
            false => {
                let words =
                    if criterion.met { "a person says so" } else { "a person has to say so" };
                (criterion.met, words.to_owned())
            }
        };
        found.push((criterion, met, finding));
    }
    // A finding counts for the files before the check. Where the test suite has changed some, it counts for none.
    let is_changed = git::tree(folder).map_err(|error| error.to_string())? != tree;
    let mut checked = Vec::new();
    for (criterion, met, finding) in found {
        let is_by_program = criterion.evidence.is_checked_by_program();
        let (met, finding) = match is_by_program && met && is_changed {
            true => (
                false,
                format!(
                    "{finding}, but the check changed files of the repository: commit or ignore them, and check again"
                ),
            ),
            false => (met, finding),
        };
        if is_by_program {
            let result = Criterion {
                met,
                tree: Some(tree.clone()),
                finding: Some(finding.clone()),
                ..criterion.clone()
            };
            let recorded = board.record_finding(ticket, &result, Timestamp::now());
            recorded.map_err(|error| {
                format!("a criterion was changed while it was checked; check again: {error}")
            })?;
        }
        let (id, text, evidence) = (criterion.id, criterion.text, criterion.evidence.to_string());
        checked.push(CheckedCriterion { id, text, evidence, met, finding });
    }
    let all_met = !checked.is_empty() && checked.iter().all(|it| it.met);
    Ok(Checked { ticket, all_met, criteria: checked })
}

/// Runs each program at most once, and returns its finding.
struct Findings<'a> {
    folder: &'a Path,
    limit: Duration,
    tests: Option<(bool, String)>,
    lint: Option<(bool, String)>,
}

impl Findings<'_> {
    fn of(&mut self, evidence: &Evidence) -> Result<(bool, String), String> {
        let (folder, limit) = (self.folder, self.limit);
        Ok(match evidence {
            Evidence::Tests => match &self.tests {
                Some(found) => found.clone(),
                None => self.tests.insert(test_runner::suite(folder, limit)?.finding()).clone(),
            },
            Evidence::Lint => match &self.lint {
                Some(found) => found.clone(),
                None => self.lint.insert(lint_runner::lint(folder, limit)?.finding()).clone(),
            },
            Evidence::File(path) => match is_file_within(folder, Path::new(path)) {
                true => (true, format!("`{path}` is there")),
                false => (false, format!("there is no file `{path}`")),
            },
            Evidence::Person => (false, "a person has to say so".to_owned()),
        })
    }
}

/// Returns whether the path is a file within the folder, even after links are resolved.
fn is_file_within(folder: &Path, path: &Path) -> bool {
    let real = folder.join(path).canonicalize();
    path.is_relative() && real.is_ok_and(|it| it.starts_with(folder) && it.is_file())
}
