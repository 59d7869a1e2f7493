//! The offline mode, which needs neither network nor account: a recorded model works on a copy of the crate `strsim` in
//! a temporary folder, with one broken line.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;
use toolwright_agent::recording::{Exchange, RecordedResponse, Recording};
use toolwright_agent::testing::{Placeholders, Replay, ReplayBuilder};

use crate::arguments::Provider;
use crate::end::Problem;

const CRATE: &str = "strsim";
const FILE: &str = "src/lib.rs";

/// A text that occurs once in the file, and its replacement. The replacement is a defect: texts of different lengths
/// then get a distance instead of an error.
const BROKEN: [&str; 2] =
    ["_ => return Err(StrSimError::DifferentLengthArgs),", "_ => return Ok(count),"];

/// A copy of the crate to work on. It is removed on drop, unless [`keep`](Self::keep) is called.
pub struct Copied {
    folder: TempDir,
    /// A temporary folder for other files of the run.
    beside: TempDir,
    version: String,
}

impl Copied {
    pub fn make() -> Result<Self, Problem> {
        let (manifest, version) = found()?;
        let from = manifest.parent().unwrap_or(&manifest);
        let made = || -> io::Result<TempDir> {
            let folder = tempfile::Builder::new().prefix("coder-").tempdir()?;
            copy(from, folder.path())?;
            // Keep cargo from looking for a workspace above the folder.
            let own = folder.path().join("Cargo.toml");
            let text = fs::read_to_string(&own)?;
            fs::write(own, text + "\n[workspace]\n")?;
            Ok(folder)
        };
        let what = format!("the sources of {CRATE} {version} cannot be copied");
        let folder = made().map_err(|error| Problem::failed(what, error))?;
        broken(&folder.path().join(FILE), &version)?;
        let beside =
            TempDir::new().map_err(|error| Problem::failed("no temporary folder", error))?;
        Ok(Self { folder, beside, version })
    }

    /// Returns the path of the copy without symbolic links.
    pub fn path(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap_or_else(|_| self.folder.path().to_owned())
    }

    /// Returns the path of a change log that is removed together with the copy.
    pub fn log(&self) -> PathBuf {
        self.beside.path().join("changes.db")
    }

    /// Describes the copy for a person.
    pub fn words(&self) -> String {
        format!("{CRATE} {}, one line of {FILE} changed", self.version)
    }

    /// Keeps the copy for another process, and returns its path.
    pub fn persisted(self) -> PathBuf {
        let path = self.path();
        self.keep();
        path
    }

    /// Keeps the copy after this value is dropped.
    pub fn keep(self) {
        let _ = self.folder.keep();
    }
}

/// The number of the turn from which the first provider of a run with a fallback fails.
const DOWN_FROM: usize = 3;

/// The answer of a provider that has failed.
const DOWN: &str = r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#;

/// Serves two recorded models. The first fails from the third turn on, and the second takes over.
pub async fn replays(
    providers: [Provider; 2],
    folder: &Path,
    attempts: u32,
) -> Result<[Replay; 2], Problem> {
    let [first, second] = providers.map(|it| recorded(it, With::Nothing));
    let (first, second) = (first?, second?);
    let (answered, left) = first.exchanges().split_at(DOWN_FROM - 1);
    let down = left.first().map(|exchange| Exchange {
        request: exchange.request.clone(),
        response: RecordedResponse::new(529, DOWN),
    });
    let down = down.into_iter().cycle().take(attempts as usize);
    let exchanges = answered.iter().cloned().chain(down).collect();
    let first = Recording::new(first.provider(), exchanges);
    let second = Recording::new(second.provider(), second.exchanges()[DOWN_FROM - 1..].to_vec());
    let first = started(Replay::of(first, placeholders(folder))).await?;
    let replay = Replay::of(second, placeholders(folder));
    // In the requests of the other APIs, turns of their own models are unchanged, but turns of the first model are in
    // another format. Such requests differ from the recorded ones.
    let is_comparable = providers[1] == Provider::OpenAiChat;
    let second = if is_comparable { replay } else { replay.without_comparison() };
    Ok([first, started(second).await?])
}

/// The extensions that a model is offered besides this program's tools. Each choice has its own recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum With {
    Nothing,
    Servers,
    Agents,
    /// A tool with which the model reports and ends the run.
    Report,
}

/// Serves a recorded model. If `is_compared`, refuses requests that differ from the recorded ones.
pub async fn replay(
    provider: Provider,
    with: With,
    folder: &Path,
    is_compared: bool,
) -> Result<Replay, Problem> {
    let replay = Replay::of(recorded(provider, with)?, placeholders(folder));
    started(if is_compared { replay } else { replay.without_comparison() }).await
}

/// Serves the answers of a recorded model after the first `answers` ones, for a run that is resumed.
pub async fn replay_after(
    provider: Provider,
    answers: u64,
    folder: &Path,
    is_compared: bool,
) -> Result<Replay, Problem> {
    let whole = recorded(provider, With::Nothing)?;
    let answers = usize::try_from(answers).unwrap_or(usize::MAX);
    let left = whole.exchanges().get(answers..).unwrap_or_default().to_vec();
    let replay = Replay::of(Recording::new(whole.provider(), left), placeholders(folder));
    started(if is_compared { replay } else { replay.without_comparison() }).await
}

fn recorded(provider: Provider, with: With) -> Result<Recording, Problem> {
    let text = match provider {
        Provider::Anthropic => match with {
            With::Nothing => include_str!("../recordings/anthropic.jsonl"),
            With::Servers => include_str!("../recordings/anthropic-mcp.jsonl"),
            With::Report => include_str!("../recordings/anthropic-report.jsonl"),
            With::Agents => include_str!("../recordings/anthropic-agents.jsonl"),
        },
        Provider::OpenAiChat => include_str!("../recordings/openai-chat.jsonl"),
        Provider::OpenAiResponses => include_str!("../recordings/openai-responses.jsonl"),
        Provider::Gemini => include_str!("../recordings/gemini.jsonl"),
    };
    text.parse().map_err(|error| Problem::application("the recording that is built in", error))
}

async fn started(replay: ReplayBuilder) -> Result<Replay, Problem> {
    replay
        .start()
        .await
        .map_err(|error| Problem::failed("no server can be opened on loopback", error))
}

/// Returns the placeholders for the texts that differ between a recording and this folder.
pub fn placeholders(folder: &Path) -> Placeholders {
    Placeholders::standard().value("folder", folder.display().to_string())
}

/// Finds the manifest and version of the crate among this program's dependencies, by `cargo metadata`.
fn found() -> Result<(PathBuf, String), Problem> {
    let problem = |why: String| Problem::Failed {
        what: format!("the sources of {CRATE} are not found by `cargo metadata`"),
        why,
    };
    // Try cargo without the network first; this works if everything has been downloaded.
    let metadata = match metadata(&["--offline"]) {
        Ok(output) if output.status.success() => Ok(output),
        _ => metadata(&[]),
    };
    let output = metadata.map_err(|error| problem(error.to_string()))?;
    if !output.status.success() {
        return Err(problem(String::from_utf8_lossy(&output.stderr).trim().to_owned()));
    }
    let metadata: Value =
        serde_json::from_slice(&output.stdout).map_err(|error| problem(error.to_string()))?;
    let packages = metadata["packages"].as_array().into_iter().flatten();
    let found = packages.filter(|it| it["name"] == CRATE).find_map(|it| {
        Some((it["manifest_path"].as_str()?.into(), it["version"].as_str()?.to_owned()))
    });
    found.ok_or_else(|| problem("it is not a dependency of this workspace".to_owned()))
}

fn metadata(more: &[&str]) -> io::Result<Output> {
    let target = TempDir::new()?;
    let mut command = cargo();
    command
        .args(["metadata", "--format-version", "1", "--locked", "--manifest-path"])
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"))
        .args(more);
    // Dependencies of other platforms may not have been downloaded.
    if let Some(host) = host()? {
        command.args(["--filter-platform", &host]);
    }
    command
        // Cargo writes its information about the compiler to this folder.
        .env("CARGO_TARGET_DIR", target.path())
        .output()
}

fn cargo() -> Command {
    Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// Returns the target platform of cargo's default build.
fn host() -> io::Result<Option<String>> {
    let said = cargo().arg("-vV").output()?;
    let said = String::from_utf8_lossy(&said.stdout);
    Ok(said.lines().find_map(|line| line.strip_prefix("host: ")).map(str::to_owned))
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

fn broken(file: &Path, version: &str) -> Result<(), Problem> {
    let what = format!("{FILE} of {CRATE} {version} cannot be changed");
    let text = fs::read_to_string(file).map_err(|error| Problem::failed(&what, error))?;
    let [whole, broken] = BROKEN;
    match text.matches(whole).count() {
        1 => fs::write(file, text.replace(whole, broken))
            .map_err(|error| Problem::failed(&what, error)),
        count => {
            let why = format!("found `{whole}` {count} times, expected it once");
            Err(Problem::Failed { what, why })
        }
    }
}
