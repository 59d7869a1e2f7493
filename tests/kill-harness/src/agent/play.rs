//! Kills processes that drive runs, world by world, until enough have been killed.

use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;
use std::process::{Child, ExitStatus};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};

use super::check::{Played, check};
use super::life::AgentLife;
use super::tally::{AT_RANDOM, AgentTally};
use crate::Opens;

/// How many runs a world has.
const RUNS: u64 = 8;

/// After this many kills at the latest, a world is left to settle.
const KILLS: u64 = 12;

/// A process that takes longer counts as hung.
const PATIENCE: Duration = Duration::from_secs(120);

/// The signal of `kill -9`.
const SIGKILL: i32 = 9;

/// The parameters of a trial.
#[derive(Debug, Clone)]
pub struct AgentSetting {
    /// The program of the harness, which starts itself as a process under test with a certain first argument.
    pub program: PathBuf,
    /// The folder of the worlds.
    pub folder: PathBuf,
    /// Whether the store breaks a promise: it reports the model's answer before it is durable.
    pub breaks_write_ahead: bool,
    /// The lease of executors.
    pub lease: Duration,
}

/// Kills the given number of processes. If the store breaks a promise, stops when the check finds that.
///
/// # Errors
/// When a process cannot be started, hangs or fails.
pub fn kill_agents(
    setting: &AgentSetting,
    kills: u64,
    seed: u64,
    store: &dyn Opens,
) -> anyhow::Result<AgentTally> {
    let mut tally = AgentTally::new();
    let mut random = fastrand::Rng::with_seed(seed);
    let mut world = 0;
    while tally.kills() < kills {
        if setting.breaks_write_ahead && !tally.findings.is_empty() {
            break;
        }
        played(setting, kills, world, random.u64(..), &mut random, &mut tally, store)?;
        world += 1;
    }
    Ok(tally)
}

fn played(
    setting: &AgentSetting,
    wanted: u64,
    world: u64,
    seed: u64,
    random: &mut fastrand::Rng,
    tally: &mut AgentTally,
    store: &dyn Opens,
) -> anyhow::Result<()> {
    let folder = setting.folder.join(format!("world-{world}"));
    std::fs::create_dir_all(&folder)?;
    let mut life = AgentLife {
        folder: folder.clone(),
        number: 0,
        seed,
        runs: RUNS,
        kill: None,
        is_late: setting.breaks_write_ahead,
        lease: u64::try_from(setting.lease.as_millis())?,
        works: 20_000,
    };
    let mut killed = 0;
    while killed < KILLS && tally.kills() < wanted {
        life.number += 1;
        let aim = tally.next_aim(random);
        let at_random = (aim == AT_RANDOM).then(|| Duration::from_millis(random.u64(50..900)));
        life.kill = at_random.is_none().then(|| (aim.clone(), random.u32(1..=2)));
        let ended = lived(&life, setting, at_random)?;
        match (ended.signal(), ended.code()) {
            (Some(SIGKILL), _) => {
                tally.hit(aim);
                killed += 1;
            }
            // Every run ended before the process came to the point.
            (None, Some(0)) => {
                tally.passed_by(aim, life.number == 1);
                break;
            }
            _ => bail!("life {} in {} ended with {ended}", life.number, folder.display()),
        }
    }
    // Runs that a broken promise has damaged never end.
    let works = if setting.breaks_write_ahead { 8_000 } else { 60_000 };
    let settles = AgentLife { number: life.number + 1, kill: None, is_late: false, works, ..life };
    let ended = lived(&settles, setting, None)?;
    if !ended.success() {
        bail!("the life that settles {} ended with {ended}", folder.display());
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let (findings, calls) = runtime.block_on(async {
        let store = store.open(&folder).await?;
        let played = Played { seed, runs: RUNS, kills: killed, is_alone: true };
        check(&folder, store, played).await
    })?;
    for finding in &findings {
        eprintln!("world-{world}: {finding}");
    }
    if findings.is_empty() {
        std::fs::remove_dir_all(&folder)?;
    }
    tally.calls += calls;
    tally.findings.extend(findings);
    Ok(())
}

/// Waits until the process has ended, or kills it when its time is up.
fn lived(
    life: &AgentLife,
    setting: &AgentSetting,
    at_random: Option<Duration>,
) -> anyhow::Result<ExitStatus> {
    let mut child: Child =
        life.command(&setting.program)?.spawn().context("the process cannot be started")?;
    let begun = Instant::now();
    loop {
        if let Some(ended) = child.try_wait()? {
            return Ok(ended);
        }
        if at_random.is_some_and(|time| begun.elapsed() >= time) {
            child.kill()?;
        }
        if begun.elapsed() >= PATIENCE {
            child.kill()?;
            child.wait()?;
            bail!("life {} in {} hung", life.number, life.folder.display());
        }
        sleep(Duration::from_millis(2));
    }
}
