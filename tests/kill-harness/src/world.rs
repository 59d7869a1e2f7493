//! Plays a world: one journal and the processes that share it, from the first process to the check.

use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ExitStatus, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use rustix::process::{Pid, Signal, kill_process};

use crate::Opens;
use crate::aim::asks_here;
use crate::broken::Break;
use crate::check::{Checked, Finding, Kind, check_beside};
use crate::evidence::Evidence;
use crate::life::Life;
use crate::meddle::Damage;
use crate::meddling::Meddling;
use crate::plan::{Death, Plan};

/// How many lives a world has.
const LIVES: u32 = 25;

/// A life that takes longer counts as hung.
const PATIENCE: Duration = Duration::from_secs(60);

/// The signal of `kill -9`.
const SIGKILL: i32 = 9;

/// The parameters of all worlds.
#[derive(Debug, Clone)]
pub struct Setting {
    /// The program, which runs a life when its first argument is `life`.
    pub program: PathBuf,
    /// The folder of the worlds.
    pub folder: PathBuf,
    /// How many processes share a journal.
    pub processes: usize,
    /// The promise that the store breaks.
    pub breaks: Option<Break>,
    /// The lease of executors.
    pub lease: Duration,
}

/// A running life.
struct Running {
    child: Child,
    /// The number of the life in its world.
    number: u32,
    begun: Instant,
    death: Death,
    /// When the process is stopped, and when it is continued.
    pause: Option<(Duration, Duration)>,
    is_stopped: bool,
    is_hung: bool,
    ended: Option<ExitStatus>,
}

/// Plays a world to its end. The folder stays if a violation was found.
///
/// # Errors
/// When a process cannot be started, hangs or fails.
pub fn play(
    setting: &Setting,
    plan: &Plan,
    number: u64,
    seed: u64,
    store: &dyn Opens,
) -> anyhow::Result<Checked> {
    let folder = setting.folder.join(format!("world-{number}"));
    std::fs::create_dir_all(&folder)?;
    let mut random = fastrand::Rng::with_seed(seed);
    let keeps_reads = random.bool();
    let mut life = Life {
        number: 0,
        breaks: setting.breaks,
        keeps_reads,
        lease: u64::try_from(setting.lease.as_millis())?,
        ..Life::new(&folder, seed)
    };
    let mut odd = Vec::new();
    let mut ended = 0;
    let meddler = store.meddler().filter(|_| setting.breaks.is_none());
    let mut meddling = Meddling::of(meddler, &folder);
    while ended < LIVES && !plan.is_over() {
        let mut running = Vec::with_capacity(setting.processes);
        for _ in 0..setting.processes {
            life.number += 1;
            life.asks_here = random.bool();
            let death = plan.next();
            life.kill = match death {
                Death::At(point, nth) => {
                    life.asks_here = asks_here(point).unwrap_or(life.asks_here);
                    Some((point.to_string(), nth))
                }
                Death::After(_) => None,
            };
            let is_stopped = setting.processes > 1 && random.u32(0..3) == 0;
            let from = Duration::from_millis(random.u64(20..200));
            let pause = is_stopped.then(|| (from, from + setting.lease * 3 / 2));
            running.push(Running::start(&setting.program, &life, death, pause)?);
        }
        meddling.plan_trigger(&mut random);
        let lived = attend(running, &mut meddling)?;
        meddling.between_lives(&mut random)?;
        if random.u32(0..12) == 0 {
            life.number += 1;
            meddling.is_refused(&setting.program, &life)?;
        }
        for it in lived {
            let status = it.ended.unwrap_or_default();
            match status.signal() {
                _ if it.is_hung => odd.push(hung(it.number)),
                Some(SIGKILL) => {
                    plan.killed(it.death);
                    ended += 1;
                }
                None if status.success() || meddling.may_refuse(status) => {}
                // A store that breaks its promise may crash the process that trusts it. That counts as a finding as
                // well.
                _ if setting.breaks.is_some() => {
                    odd.push(crashed(&folder, it.number, status));
                    ended += 1;
                }
                _ => bail!(
                    "a process of {} ended with {status}, and said last: {}",
                    folder.display(),
                    last_words(&folder),
                ),
            }
        }
    }
    let mut settling = life.settling();
    settle(setting, &settling, &mut odd)?;
    let mut beside = Vec::new();
    if !meddling.damaged.is_empty() {
        // All other calls have settled. Now the damaged calls are restored, and settle too.
        beside = checked_beside(&settling, store, &meddling.damaged)?.findings;
        meddling.mend()?;
        settling = settling.settling();
        settle(setting, &settling, &mut odd)?;
    }
    let mut checked = checked(&settling, store)?;
    checked.findings.extend(beside);
    meddling.conclude(&mut checked)?;
    checked.findings.extend(odd);
    if checked.findings.is_empty() {
        std::fs::remove_dir_all(&folder)?;
    }
    Ok(checked)
}

/// Returns the violation that a process hung.
fn hung(number: u32) -> Finding {
    unexpected(format!("life {number} took longer than {} seconds", PATIENCE.as_secs()))
}

/// Returns the violation that a process crashed without being killed.
fn crashed(folder: &Path, number: u32, status: ExitStatus) -> Finding {
    let said = last_words(folder);
    unexpected(format!("life {number} ended with {status}, and said last: {said}"))
}

fn unexpected(why: String) -> Finding {
    Finding { kind: Kind::Unexpected, token: "-".to_owned(), why }
}

/// Returns the last line that processes of a world wrote to standard error.
fn last_words(folder: &Path) -> String {
    let errors = std::fs::read(folder.join("errors")).unwrap_or_default();
    let errors = String::from_utf8_lossy(&errors);
    errors.lines().rfind(|line| !line.is_empty()).unwrap_or("nothing").to_owned()
}

/// Runs a life that is not killed, after the others.
fn settle(setting: &Setting, life: &Life, odd: &mut Vec<Finding>) -> anyhow::Result<()> {
    let running = vec![Running::start(&setting.program, life, Death::After(u64::MAX), None)?];
    for it in attend(running, &mut Meddling::of(None, &life.folder))? {
        match it.ended.unwrap_or_default() {
            _ if it.is_hung => odd.push(hung(it.number)),
            status if status.success() => {}
            status if setting.breaks.is_some() => {
                odd.push(crashed(&life.folder, it.number, status));
            }
            status => {
                bail!(
                    "the process that settles {} ended with {status}, and said last: {}",
                    life.folder.display(),
                    last_words(&life.folder),
                )
            }
        }
    }
    Ok(())
}

/// Checks what the lives have left in a folder. `life` can be any of them, because all have the same settings.
///
/// # Errors
/// When marks or journal cannot be read.
pub fn checked(life: &Life, store: &dyn Opens) -> anyhow::Result<Checked> {
    checked_beside(life, store, &[])
}

fn checked_beside(life: &Life, store: &dyn Opens, damaged: &[Damage]) -> anyhow::Result<Checked> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let evidence = runtime.block_on(async {
        let store = store.open(&life.folder).await?;
        Evidence::gather(life, &store).await
    })?;
    Ok(check_beside(&evidence, damaged))
}

/// Waits for all processes, and kills, stops and continues them when it is time.
fn attend(mut running: Vec<Running>, meddling: &mut Meddling<'_>) -> anyhow::Result<Vec<Running>> {
    let begun = Instant::now();
    while running.iter().any(|it| it.ended.is_none()) {
        meddling.attend(begun.elapsed())?;
        for it in &mut running {
            it.attend()?;
        }
        sleep(Duration::from_micros(500));
    }
    Ok(running)
}

impl Running {
    fn start(
        program: &Path,
        life: &Life,
        death: Death,
        pause: Option<(Duration, Duration)>,
    ) -> anyhow::Result<Self> {
        let errors = std::fs::OpenOptions::new()
            .append(true)
            .create(true)
            .open(life.folder.join("errors"))?;
        let child = life
            .command(program)?
            .stdout(Stdio::null())
            .stderr(errors)
            .spawn()
            .with_context(|| format!("{} cannot be started", program.display()))?;
        let begun = Instant::now();
        let number = life.number;
        Ok(Self {
            child,
            number,
            begun,
            death,
            pause,
            is_stopped: false,
            is_hung: false,
            ended: None,
        })
    }

    fn attend(&mut self) -> anyhow::Result<()> {
        if self.ended.is_some() {
            return Ok(());
        }
        self.ended = self.child.try_wait()?;
        if self.ended.is_some() {
            return Ok(());
        }
        let lived = self.begun.elapsed();
        if lived > PATIENCE && !self.is_hung {
            self.is_hung = true;
            self.child.kill()?;
        }
        if matches!(self.death, Death::After(time) if lived >= Duration::from_millis(time)) {
            self.child.kill()?;
        }
        match self.pause {
            Some((from, until)) if lived >= from && lived < until && !self.is_stopped => {
                self.is_stopped = true;
                self.signal(Signal::STOP)?;
            }
            Some((_, until)) if lived >= until && self.is_stopped => {
                self.is_stopped = false;
                self.pause = None;
                self.signal(Signal::CONT)?;
            }
            _ => {}
        }
        Ok(())
    }

    fn signal(&self, signal: Signal) -> anyhow::Result<()> {
        let pid = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        kill_process(pid.context("a process has no id")?, signal)?;
        Ok(())
    }
}
