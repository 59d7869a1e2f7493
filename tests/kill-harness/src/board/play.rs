//! Kills runners, board by board, until enough have been killed.

use std::fmt;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail, ensure};
use board::Board;
use board::ticket::{Evidence, NewTicket, Project, State, TicketKind};
use jiff::Timestamp;

use super::check::{Finding, check};
use super::life::{BoardLife, is_over};

/// How many tickets a board has.
const TICKETS: usize = 12;

/// How many runners work on it at once.
const RUNNERS: usize = 2;

/// After this many kills at the latest, the runners of a board are left to finish.
const KILLS: u64 = 60;

/// Runners that take longer to finish count as hung.
const PATIENCE: Duration = Duration::from_secs(120);

/// The signal of `kill -9`.
const SIGKILL: i32 = 9;

/// The parameters of a trial.
#[derive(Debug, Clone)]
pub struct BoardSetting {
    /// The program of the harness, which starts itself as a runner with a certain first argument.
    pub program: PathBuf,
    /// The folder of the boards.
    pub folder: PathBuf,
}

/// The outcome of a trial.
#[derive(Debug, Default)]
pub struct BoardTally {
    /// The processes that were killed at a random instant.
    pub at_random: u64,
    /// The processes that killed themselves within an answer of the model.
    pub in_model: u64,
    /// The tickets that were checked.
    pub tickets: usize,
    pub findings: Vec<Finding>,
}

impl BoardTally {
    /// Returns how many processes were killed.
    #[must_use]
    pub fn kills(&self) -> u64 {
        self.at_random + self.in_model
    }

    /// Returns whether there is no violation.
    #[must_use]
    pub fn is_good(&self) -> bool {
        self.findings.is_empty()
    }
}

/// Formats the summary line.
impl fmt::Display for BoardTally {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let of = |is_it: fn(&Finding) -> bool| self.findings.iter().filter(|it| is_it(it)).count();
        let twice = self.findings.iter().map(|it| if let Finding::Twice(n) = it { *n } else { 0 });
        write!(
            formatter,
            "kills={} in-model={} tickets worked on twice at once={} lost={} transitions unexplained={}",
            self.kills(),
            self.in_model,
            twice.sum::<usize>(),
            of(|it| matches!(it, Finding::Lost(_))),
            of(|it| matches!(it, Finding::Unexplained(_))),
        )
    }
}

/// Kills the given number of runners.
///
/// # Errors
/// When a process cannot be started, hangs or fails.
pub fn kill_runners(setting: &BoardSetting, kills: u64, seed: u64) -> anyhow::Result<BoardTally> {
    let mut tally = BoardTally::default();
    let mut random = fastrand::Rng::with_seed(seed);
    let mut number = 0;
    while tally.kills() < kills {
        let folder = setting.folder.join(format!("board-{number}"));
        let board = begin(&folder)?;
        let wanted = KILLS.min(kills - tally.kills());
        let played = Played { setting, folder: &folder, board: &board, random: &mut random };
        played.play(wanted, &mut tally)?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let findings = runtime.block_on(check(&folder))?;
        for finding in &findings {
            eprintln!("board-{number}: {finding}");
        }
        if findings.is_empty() {
            std::fs::remove_dir_all(&folder)?;
        }
        tally.tickets += TICKETS;
        tally.findings.extend(findings);
        number += 1;
    }
    Ok(tally)
}

/// Makes a board with tickets for runners, and a repository with one commit.
///
/// # Errors
/// When something cannot be written, or git fails.
pub fn begin(folder: &Path) -> anyhow::Result<Board> {
    let repository = folder.join("repository");
    std::fs::create_dir_all(&repository)?;
    std::fs::write(repository.join("README.md"), "begin\n")?;
    for arguments in [
        &["init", "--quiet", "--initial-branch=main"][..],
        &["config", "user.name", "Harness"],
        &["config", "user.email", "harness@example.org"],
        &["add", "--all"],
        &["commit", "--quiet", "--message=begin"],
    ] {
        let ran = Command::new("git").args(arguments).current_dir(&repository).status()?;
        ensure!(ran.success(), "`git {}` failed", arguments.join(" "));
    }
    let board = Board::open(folder.join("board.db"))?;
    let project = board.add_project(&Project {
        id: 0,
        name: "killed".to_owned(),
        repository: repository.display().to_string(),
        url: None,
        language: None,
        branch: "main".to_owned(),
        persona: "You are killed.".to_owned(),
    })?;
    let now = Timestamp::now();
    for number in 1..=TICKETS {
        let ticket = board.add_ticket(
            &NewTicket {
                project,
                kind: TicketKind::Chore,
                state: State::Research,
                title: format!("Write file {number}"),
                description: String::new(),
                profile: "developer".to_owned(),
                criteria: vec![(Evidence::Person, "A person wants it".to_owned())],
            },
            now,
        )?;
        for mut criterion in board.criteria(ticket)? {
            criterion.met = true;
            board.record_finding(ticket, &criterion, now)?;
        }
    }
    Ok(board)
}

/// A board while its runners are killed.
struct Played<'a> {
    setting: &'a BoardSetting,
    folder: &'a Path,
    board: &'a Board,
    random: &'a mut fastrand::Rng,
}

/// The process of a runner, and when to kill it; `None` if it should end by itself.
struct Runner {
    child: Child,
    kill_at: Option<Instant>,
    ends_itself: bool,
}

impl Played<'_> {
    /// Kills at most the given number of runners, and lets the last ones finish the work.
    fn play(mut self, wanted: u64, tally: &mut BoardTally) -> anyhow::Result<()> {
        let (before, mut number) = (tally.kills(), 0);
        let mut runners: Vec<Runner> = Vec::new();
        let mut settles_since = None;
        loop {
            let is_over = is_over(self.board)?;
            let is_enough = tally.kills() - before >= wanted;
            if is_over && runners.is_empty() {
                return Ok(());
            }
            if is_over || is_enough {
                let since = *settles_since.get_or_insert_with(Instant::now);
                if since.elapsed() > PATIENCE {
                    for mut runner in runners {
                        runner.child.kill()?;
                        runner.child.wait()?;
                    }
                    bail!("the runners on {} hang", self.folder.display());
                }
            }
            while !is_over && runners.len() < RUNNERS {
                number += 1;
                runners.push(self.started(number, !is_enough)?);
            }
            let mut left = Vec::new();
            for mut runner in runners {
                let is_due = runner.kill_at.is_some_and(|at| Instant::now() >= at);
                if is_due && !is_enough && !is_over {
                    runner.child.kill()?;
                    runner.child.wait()?;
                    tally.at_random += 1;
                    continue;
                }
                match runner.child.try_wait()? {
                    None => left.push(runner),
                    Some(ended) if ended.success() => {}
                    Some(ended) if ended.signal() == Some(SIGKILL) && runner.ends_itself => {
                        tally.in_model += 1;
                    }
                    Some(ended) => {
                        bail!("a runner on {} ended with {ended}", self.folder.display())
                    }
                }
            }
            runners = left;
            sleep(Duration::from_millis(2));
        }
    }

    fn started(&mut self, number: u32, is_killed: bool) -> anyhow::Result<Runner> {
        let ends_itself = is_killed && self.random.u32(0..3) == 0;
        let kill = ends_itself.then(|| self.random.u32(1..=6));
        let delay = Duration::from_millis(self.random.u64(30..500));
        let life = BoardLife { folder: self.folder.to_owned(), number, kill };
        let mut command = life.command(&self.setting.program)?;
        let child = command.spawn().context("the process cannot be started")?;
        let kill_at = (is_killed && !ends_itself).then(|| Instant::now() + delay);
        Ok(Runner { child, kill_at, ends_itself })
    }
}
