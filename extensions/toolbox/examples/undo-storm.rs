//! Random edits over 200 files by tools, with restarts between, and their undo: every file has to come back byte for byte,
//! with its mode.
//!
//! `cargo run -p toolwright-toolbox --example undo-storm -- --edits 10000 [--seed 7]` prints what it did and checked, and ends
//! with exit code 1 where anything differs.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use fastrand::Rng;
use serde_json::{Value, json};
use tempfile::TempDir;
use toolwright::journal::{Journal, MemoryStore};
use toolwright::{Call, Executor, OnNoApprover, Registry, Run, ToolError, tool};
use toolwright_toolbox::{CHANGES, ChangeLog, FILES, Workspace};

const FILES_AT_ALL: usize = 200;

/// So many edits are made between two restarts.
const UNTIL_RESTART: usize = 500;

/// Where the application's own tools find the files: an ordinary path, because they are no tools of the toolbox.
struct Root(PathBuf);

/// Delete a file.
#[tool(unlinked, effect = idempotent, writes(file = path), blocking)]
fn delete_file(
    root: &Root,
    /// Which.
    path: String,
) -> Result<String, ToolError> {
    let file = root.0.join(&path);
    fs::remove_file(&file)?;
    // Folders that are empty go with it.
    for folder in file.ancestors().skip(1).take_while(|it| **it != root.0) {
        if fs::remove_dir(folder).is_err() {
            break;
        }
    }
    Ok(format!("deleted `{path}`"))
}

/// Change the mode of a file.
#[tool(unlinked, effect = idempotent, writes(file = path), blocking)]
fn set_mode(
    root: &Root,
    /// Which.
    path: String,
    /// The mode.
    mode: u32,
) -> Result<(), ToolError> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        fs::set_permissions(root.0.join(&path), fs::Permissions::from_mode(mode))?;
    }
    let _ = (root, path, mode);
    Ok(())
}

/// Content and mode of a file; nothing where there is none.
type Seen = Option<(Vec<u8>, u32)>;

/// What was done and found.
#[derive(Default)]
struct Counts {
    edits: usize,
    restarts: usize,
    undone: usize,
    redone: usize,
    turns_undone: usize,
    compared: usize,
    mismatches: usize,
}

struct Storm {
    around: TempDir,
    rng: Rng,
    run: Run,
    names: Vec<String>,
    /// What stood at each name before each change that stands, from the oldest, with its turn.
    before: BTreeMap<String, Vec<(u64, Seen)>>,
    turn: u64,
    counts: Counts,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    match storm().await {
        Ok(0) => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn storm() -> Result<usize, Box<dyn Error>> {
    let (mut edits, mut seed) = (1_000, 7);
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let number = words.next().and_then(|it| it.parse().ok());
        match (word.as_str(), number) {
            ("--edits", Some(number)) => edits = number,
            ("--seed", Some(number)) => seed = number as u64,
            _ => return Err("expected `--edits NUMBER` and `--seed NUMBER`".into()),
        }
    }
    let mut storm = Storm::new(seed)?;
    let start: BTreeMap<String, Seen> =
        storm.names.iter().map(|name| (name.clone(), storm.seen(name))).collect();
    while storm.counts.edits < edits {
        storm.step().await?;
        if storm.counts.edits / UNTIL_RESTART > storm.counts.restarts {
            storm.restart()?;
        }
    }
    storm.restart()?;
    storm.undo_all().await?;
    for (name, seen) in &start {
        storm.compare(name, seen);
    }
    let counts = &storm.counts;
    println!(
        "edits: {} over {FILES_AT_ALL} files, with {} restarts",
        counts.edits, counts.restarts
    );
    println!(
        "undone: {} changes one by one and {} turns whole; {} undos were undone themselves",
        counts.undone, counts.turns_undone, counts.redone
    );
    println!("compared: {} times content and mode of a file", counts.compared);
    println!("mismatches: {}", counts.mismatches);
    Ok(counts.mismatches)
}

impl Storm {
    fn new(seed: u64) -> Result<Self, Box<dyn Error>> {
        let around = TempDir::new()?;
        let work = around.path().join("work");
        fs::create_dir(&work)?;
        let mut rng = Rng::with_seed(seed);
        let names: Vec<String> = (0..FILES_AT_ALL)
            .map(|number| match number % 3 {
                0 => format!("file {number}"),
                1 => format!("folder {}/file {number}", number % 7),
                _ => format!("ä/b{}/c{}/file.{number}", number % 5, number % 11),
            })
            .collect();
        // Half of them are there at the start.
        for name in names.iter().step_by(2) {
            let file = work.join(name);
            fs::create_dir_all(file.parent().unwrap_or(&work))?;
            fs::write(file, content(&mut rng))?;
        }
        let run = started(around.path())?;
        let before = BTreeMap::new();
        Ok(Self { around, rng, run, names, before, turn: 0, counts: Counts::default() })
    }

    /// Everything is closed and opened again, as by another process.
    fn restart(&mut self) -> Result<(), Box<dyn Error>> {
        self.run = started(self.around.path())?;
        self.counts.restarts += 1;
        Ok(())
    }

    fn seen(&self, name: &str) -> Seen {
        let file = self.around.path().join("work").join(name);
        let content = fs::read(&file).ok()?;
        Some((content, mode(&file)))
    }

    fn compare(&mut self, name: &str, expected: &Seen) {
        self.counts.compared += 1;
        if self.seen(name) != *expected {
            self.counts.mismatches += 1;
            eprintln!("`{name}` is not what it was");
        }
    }

    /// One turn of edits; now and then something is undone.
    async fn step(&mut self) -> Result<(), Box<dyn Error>> {
        match self.rng.u8(..100) {
            0..8 => self.undo_one().await,
            8..10 => self.undo_turn().await,
            _ => self.edit().await,
        }
    }

    async fn edit(&mut self) -> Result<(), Box<dyn Error>> {
        self.turn += 1;
        let count = self.rng.usize(1..=4);
        let names: BTreeSet<String> =
            (0..count).map(|_| self.names[self.rng.usize(..self.names.len())].clone()).collect();
        let mut edits = Vec::new();
        for name in names {
            let before = self.seen(&name);
            edits.push((self.some_edit(&name, &before), name, before));
        }
        let calls = edits.iter().map(|((tool, input), ..)| (*tool, input.clone())).collect();
        self.turn_of(calls).await?;
        for (_, name, before) in edits {
            self.counts.edits += 1;
            if self.seen(&name) != before {
                self.before.entry(name).or_default().push((self.turn, before));
            }
        }
        Ok(())
    }

    /// Some call that changes a file.
    fn some_edit(&mut self, name: &str, now: &Seen) -> (&'static str, Value) {
        match (now, self.rng.u8(..10)) {
            (Some(_), 0) => ("delete_file", json!({"path": name})),
            (Some((_, mode)), 1) => {
                let modes = [0o600, 0o644, 0o664, 0o755];
                let other = modes.into_iter().find(|it| it != mode && self.rng.bool());
                ("set_mode", json!({"path": name, "mode": other.unwrap_or(*mode ^ 0o100)}))
            }
            (Some((content, _)), 2..5) if content.len() > 12 => {
                let old = String::from_utf8_lossy(&content[..12]).into_owned();
                let new = format!("line {}\n", self.rng.u64(..));
                (
                    "edit_file",
                    json!({"path": name, "old_string": old, "new_string": new, "replace_all": true}),
                )
            }
            _ => ("write_file", json!({"path": name, "content": content(&mut self.rng)})),
        }
    }

    async fn undo_one(&mut self) -> Result<(), Box<dyn Error>> {
        let changed: Vec<&String> =
            self.before.iter().filter(|(_, it)| !it.is_empty()).map(|(name, _)| name).collect();
        let Some(name) = self.rng.choice(changed).cloned() else { return Ok(()) };
        let now = self.seen(&name);
        let turn = self.undo(&name).await?;
        if self.rng.u8(..4) > 0 {
            return Ok(());
        }
        // The undo is a change of its own, and can be undone; then the change stands again, of the turn that made it.
        let before = self.seen(&name);
        let listed = self.call("file_history", json!({"path": name, "limit": 1})).await?;
        let number: u64 = listed.split_whitespace().next().unwrap_or_default().parse()?;
        self.call("undo_file", json!({"path": name, "change": number})).await?;
        self.counts.redone += 1;
        self.compare(&name, &now);
        self.before.entry(name).or_default().push((turn, before));
        Ok(())
    }

    /// Undoes the newest change of a file that stands, and returns the turn that made it.
    async fn undo(&mut self, name: &str) -> Result<u64, Box<dyn Error>> {
        let newest = self.before.get_mut(name).and_then(Vec::pop);
        let (turn, expected) = newest.ok_or("nothing stands")?;
        self.call("undo_file", json!({"path": name})).await?;
        self.counts.undone += 1;
        self.compare(name, &expected);
        Ok(turn)
    }

    /// Undoes a turn among the last ones, as far as no later change is in the way.
    async fn undo_turn(&mut self) -> Result<(), Box<dyn Error>> {
        let last = self.before.values().filter_map(|it| it.last()).map(|it| it.0);
        let last: Vec<u64> = last.collect();
        let Some(turn) = self.rng.choice(last) else { return Ok(()) };
        let mut expected = Vec::new();
        for (name, before) in &mut self.before {
            // What came later is in the way.
            if before.last().is_none_or(|it| it.0 != turn) {
                continue;
            }
            let mut oldest = None;
            while before.last().is_some_and(|it| it.0 == turn) {
                oldest = before.pop();
            }
            expected.extend(oldest.map(|(_, seen)| (name.clone(), seen)));
        }
        self.call("undo_turn", json!({"turn": turn})).await?;
        self.counts.turns_undone += 1;
        for (name, seen) in expected {
            self.compare(&name, &seen);
        }
        Ok(())
    }

    /// Undoes whatever still stands, in any order of the files.
    async fn undo_all(&mut self) -> Result<(), Box<dyn Error>> {
        let mut left: Vec<String> = self
            .before
            .iter()
            .flat_map(|(name, changes)| changes.iter().map(|_| name.clone()))
            .collect();
        self.rng.shuffle(&mut left);
        for (done, name) in left.iter().enumerate() {
            self.undo(name).await?;
            if done % UNTIL_RESTART == UNTIL_RESTART - 1 {
                self.restart()?;
            }
        }
        Ok(())
    }

    /// The text of the answer to one call, which is a turn.
    async fn call(&mut self, tool: &'static str, input: Value) -> Result<String, Box<dyn Error>> {
        self.turn += 1;
        Ok(self.turn_of(vec![(tool, input)]).await?.remove(0))
    }

    /// The texts of the answers to the calls of the turn.
    async fn turn_of(
        &mut self,
        calls: Vec<(&'static str, Value)>,
    ) -> Result<Vec<String>, Box<dyn Error>> {
        let inputs: Vec<_> = calls.into_iter().map(|it| (it.0, it.1.to_string())).collect();
        let calls: Vec<Call<'_>> =
            inputs.iter().map(|(tool, input)| Call::new(*tool, input.as_str())).collect();
        let answers = self.run.turn(self.turn, &calls).await?.into_answers();
        let texts =
            answers.into_iter().zip(&inputs).map(|(answer, (tool, input))| match answer.error() {
                Some(error) => Err(format!("{tool} {input}: {error}").into()),
                None => Ok(answer.into_text()),
            });
        texts.collect()
    }
}

/// A run over the folder and its log.
fn started(around: &Path) -> Result<Run, Box<dyn Error>> {
    let workspace = Arc::new(Workspace::open(around.join("work"))?);
    let log = ChangeLog::open(around.join("changes.db"), Arc::clone(&workspace))?;
    let tools = FILES.into_iter().chain(CHANGES).chain([DELETE_FILE, SET_MODE]);
    let executor = Executor::builder(Registry::of(tools)?)
        .unrestricted()
        .journal(Journal::new(MemoryStore::new()).on_no_approver(OnNoApprover::Fail))
        .middleware(log.clone())
        .service(log)
        .service(Root(workspace.root().to_owned()))
        .service_arc(workspace)
        .build()?;
    Ok(executor.run("storm").start()?)
}

fn content(rng: &mut Rng) -> String {
    (0..rng.usize(..40)).map(|_| format!("line {}\n", rng.u16(..))).collect()
}

#[cfg(unix)]
fn mode(file: &Path) -> u32 {
    use std::os::unix::fs::PermissionsExt as _;
    fs::metadata(file).map_or(0, |it| it.permissions().mode() & 0o7777)
}

#[cfg(not(unix))]
fn mode(_: &Path) -> u32 {
    0
}
