//! A board that needs neither network nor account: three tickets on a copy of the crate `strsim` with one broken
//! line, and recorded answers of a model.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{Arc, Mutex, PoisonError};

use jiff::Timestamp;
use serde_json::Value;
use tempfile::TempDir;
use toolwright::agent::http::HttpModel;
use toolwright::agent::recording::Recording;
use toolwright::agent::testing::{Placeholders, Replay};

use crate::git;
use crate::runner::{FutureModel, Models};
use crate::ticket::{Evidence, NewTicket, Outcome, Project, State, Ticket, TicketKind};
use crate::{Board, BoardError};

const CRATE: &str = "strsim";
const FILE: &str = "src/lib.rs";

/// A text that occurs once in the file, and its replacement. The replacement is a defect: texts of different lengths
/// then get a distance instead of an error.
const BROKEN: [&str; 2] =
    ["_ => return Err(StrSimError::DifferentLengthArgs),", "_ => return Ok(count),"];

/// The recorded answers of the model for each ticket, and the outcome of each slice.
const SESSIONS: [(&str, &[Outcome]); 3] = [
    (include_str!("../sessions/ticket-1.jsonl"), &[Outcome::Completed]),
    // The second slice begins only after a person has answered.
    (include_str!("../sessions/ticket-2.jsonl"), &[Outcome::Blocked, Outcome::Completed]),
    (include_str!("../sessions/ticket-3.jsonl"), &[Outcome::Error]),
];

/// Why the offline board cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum OfflineError {
    #[error("the sources of {CRATE} are not found by `cargo metadata`: {0}")]
    NotFound(String),
    #[error("the sources of {CRATE} cannot be copied: {0}")]
    Copy(#[from] io::Error),
    #[error("{FILE} of {CRATE} has the line that is to be broken {0} times, expected it once")]
    NotBroken(usize),
    #[error("the copy cannot be made a repository: {0}")]
    Git(String),
    #[error(transparent)]
    Board(#[from] BoardError),
}

/// Returns whether every ticket has had a slice, and all outcomes are as recorded.
///
/// # Errors
/// When the database fails.
pub fn is_as_recorded(board: &Board) -> Result<bool, BoardError> {
    for ticket in board.tickets(None)? {
        let ended = ended(board, ticket.id)?;
        let recorded = session(ticket.id).is_some_and(|(_, it)| it.starts_with(&ended));
        if !recorded || ended.is_empty() {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Returns whether a slice of every ticket has ended, whatever its outcome.
///
/// # Errors
/// When the database fails.
pub fn is_over(board: &Board) -> Result<bool, BoardError> {
    for ticket in board.tickets(None)? {
        if ended(board, ticket.id)?.is_empty() {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Returns the outcomes of a ticket's slices, without those after which the run continues by itself: a slice that timed
/// out, or one that waits for a call of a killed process, whose lease expires.
fn ended(board: &Board, ticket: i64) -> Result<Vec<Outcome>, BoardError> {
    let slices = board.slices(ticket, u32::MAX)?.into_iter().filter_map(|it| it.outcome);
    Ok(slices.filter(|it| !matches!(it, Outcome::Timeout | Outcome::Waiting)).collect())
}

fn session(ticket: i64) -> Option<&'static (&'static str, &'static [Outcome])> {
    SESSIONS.get(usize::try_from(ticket).ok()?.checked_sub(1)?)
}

/// Makes the copy in a folder, and the tickets on the board. Does not change anything that an earlier process has made,
/// and makes what is missing if that process was killed in between.
///
/// # Errors
/// When cargo does not have the crate's sources, or a file cannot be written.
pub fn prepare(folder: &Path, board: &Board, now: Timestamp) -> Result<(), OfflineError> {
    let repository = folder.join("repository");
    if !repository.exists() {
        // The repository gets its final name only when it is complete.
        let unfinished = folder.join("repository.unfinished");
        if unfinished.exists() {
            fs::remove_dir_all(&unfinished)?;
        }
        make_repository(&unfinished)?;
        fs::rename(&unfinished, &repository)?;
    }
    let project = match board.projects()?.first() {
        Some(project) => project.id,
        None => board.add_project(&Project {
            id: 0,
            name: CRATE.to_owned(),
            repository: repository.display().to_string(),
            url: Some("https://github.com/rapidfuzz/strsim-rs".to_owned()),
            language: Some("rust".to_owned()),
            branch: "main".to_owned(),
            persona: "You maintain strsim, a crate that compares texts.".to_owned(),
        })?,
    };
    let ticket =
        |kind, title: &str, description: &str, (evidence, text): (Evidence, &str)| NewTicket {
            project,
            kind,
            state: State::Research,
            title: title.to_owned(),
            description: description.to_owned(),
            profile: "developer".to_owned(),
            criteria: vec![(evidence, text.to_owned())],
        };
    let tickets = [
        ticket(
            TicketKind::Bug,
            "Texts of different lengths have a Hamming distance",
            "`hamming(\"hamming\", \"ham\")` returns a number. It should return an error, as it did.",
            (Evidence::Tests, "The test suite passes"),
        ),
        ticket(
            TicketKind::Feature,
            "Compare names",
            "A function that says how far two names of people are from each other.",
            (Evidence::Person, "A person has tried it"),
        ),
        ticket(
            TicketKind::Chore,
            "Describe the distances",
            "A page for users that says which distance is good for what.",
            (Evidence::File("docs/distances.md".to_owned()), "The page is there"),
        ),
    ];
    let already = board.tickets(None)?.len();
    for ticket in tickets.iter().skip(already) {
        board.add_ticket(ticket, now)?;
    }
    Ok(())
}

/// Serves the recorded model over loopback. A resumed run gets the answers after those that it already has.
#[derive(Debug, Default)]
pub struct RecordedModels {
    /// The servers by ticket. They run until the process ends.
    replays: Mutex<HashMap<i64, Replay>>,
}

impl Models for RecordedModels {
    fn model<'a>(&'a self, ticket: &'a Ticket, answers: u64) -> FutureModel<'a> {
        Box::pin(async move {
            let (session, _) = session(ticket.id).ok_or("there is no recorded session of it")?;
            let whole: Recording = session.parse().map_err(|error| format!("{error}"))?;
            let answers = usize::try_from(answers).unwrap_or(usize::MAX);
            let left = whole.exchanges().get(answers..).unwrap_or_default().to_vec();
            let left = Recording::new(whole.provider(), left);
            // A recorded session has only answers. Requests are not compared, because they differ between machines and
            // with every change to a tool.
            let replay = Replay::of(left, Placeholders::standard()).without_comparison().start();
            let replay = replay.await.map_err(|error| format!("no port of loopback: {error}"))?;
            let model = HttpModel::openai_chat("gpt-5.2").base_url(replay.url()).build();
            self.replays.lock().unwrap_or_else(PoisonError::into_inner).insert(ticket.id, replay);
            Ok(Arc::new(model.map_err(|error| error.to_string())?) as _)
        })
    }
}

fn make_repository(folder: &Path) -> Result<(), OfflineError> {
    let manifest = found()?;
    copy(manifest.parent().unwrap_or(&manifest), folder)?;
    // Keep cargo from looking for a workspace above the folder.
    let own = folder.join("Cargo.toml");
    fs::write(&own, fs::read_to_string(&own)? + "\n[workspace]\n")?;
    fs::write(folder.join(".gitignore"), "/target\nCargo.lock\n")?;
    let file = folder.join(FILE);
    let text = fs::read_to_string(&file)?;
    let [whole, broken] = BROKEN;
    match text.matches(whole).count() {
        1 => fs::write(&file, text.replace(whole, broken))?,
        count => return Err(OfflineError::NotBroken(count)),
    }
    let commands: [&[&str]; 5] = [
        &["init", "--quiet", "--initial-branch=main"],
        &["config", "user.name", "Board"],
        &["config", "user.email", "board@example.org"],
        &["add", "--all"],
        &["commit", "--quiet", "--message=begin"],
    ];
    commands.iter().try_for_each(|it| git::ask(folder, it).map(|_| ()).map_err(OfflineError::Git))
}

/// Finds the manifest of the crate among this program's dependencies, by `cargo metadata`.
fn found() -> Result<PathBuf, OfflineError> {
    // Try cargo without the network first; this works if everything has been downloaded.
    let metadata = match metadata(&["--offline"]) {
        Ok(output) if output.status.success() => Ok(output),
        _ => metadata(&[]),
    };
    let output = metadata.map_err(|error| OfflineError::NotFound(error.to_string()))?;
    if !output.status.success() {
        let why = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        return Err(OfflineError::NotFound(why));
    }
    let metadata: Value = serde_json::from_slice(&output.stdout)
        .map_err(|error| OfflineError::NotFound(error.to_string()))?;
    let packages = metadata["packages"].as_array().into_iter().flatten();
    let found =
        packages.filter(|it| it["name"] == CRATE).find_map(|it| it["manifest_path"].as_str());
    let missing = || OfflineError::NotFound("it is not a dependency of this workspace".to_owned());
    found.map(PathBuf::from).ok_or_else(missing)
}

fn metadata(more: &[&str]) -> io::Result<Output> {
    let target = TempDir::new()?;
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    Command::new(cargo)
        .args(["metadata", "--format-version", "1", "--locked", "--manifest-path"])
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"))
        .args(more)
        // Cargo writes its information about the compiler to this folder.
        .env("CARGO_TARGET_DIR", target.path())
        .output()
}

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (kind, target) = (entry.file_type()?, to.join(entry.file_name()));
        if kind.is_dir() {
            copy(&entry.path(), &target)?;
        } else if kind.is_file() {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}
