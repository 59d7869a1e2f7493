//! The calls of one turn at once: 1,000 calls of 5 ms that do not conflict, against `join_all` of the bare futures;
//! 1,000 calls that all conflict, against the bare futures awaited in a loop; and planning 1,000 calls of ten files
//! each, against hashing their names.

use std::collections::HashSet;
use std::hint::black_box;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use futures::future::join_all;
use tokio::runtime::{Builder, Runtime};
use toolwright::{Call, Executor, File, Footprint, Registry, Run, tool};
use toolwright_executor::batch::Batch;

use crate::measure::{Contestant, Effort, print_ratio, print_table, take_turns};

const CALLS: usize = 1_000;
const TIME: Duration = Duration::from_millis(5);

/// Looks at a file for 5 ms.
#[tool(effect = read, reads(file = path))]
async fn look(
    /// Which file.
    path: String,
) -> usize {
    tokio::time::sleep(TIME).await;
    path.len()
}

/// Changes a file for 5 ms.
#[tool(effect = idempotent, writes(file = path))]
async fn change(
    /// Which file.
    path: String,
) -> usize {
    tokio::time::sleep(TIME).await;
    path.len()
}

pub fn run(effort: Effort) -> Result<()> {
    let (rounds, chains) = match effort {
        Effort::Full => (40, 3),
        Effort::Quick => (8, 1),
    };
    let runtime = Builder::new_current_thread().enable_time().build()?;
    let limit = u32::try_from(CALLS)?;
    let executor = Executor::builder(Registry::of([LOOK, CHANGE])?).unrestricted();
    let run = executor.limit(limit).build()?.run("bench").start()?;
    let calls = |tool: &'static str, path: fn(usize) -> String| -> Vec<Call<'static>> {
        (0..CALLS).map(|at| Call::new(tool, format!(r#"{{"path":"{}"}}"#, path(at)))).collect()
    };
    let apart = calls("look", |at| format!("src/{at}.rs"));
    let one = calls("change", |_| "src/a.rs".to_owned());

    let independent = take_turns(
        rounds,
        vec![
            Contestant::new("turn", || turn(&runtime, &run, &apart)),
            Contestant::new("futures", || {
                Ok(timed(&runtime, async {
                    join_all((0..CALLS).map(|at| look(format!("src/{at}.rs")))).await;
                }))
            }),
        ],
    )?;
    let chain = take_turns(
        chains,
        vec![
            Contestant::new("turn", || turn(&runtime, &run, &one)),
            Contestant::new("futures", || {
                Ok(timed(&runtime, async {
                    for _ in 0..CALLS {
                        black_box(change("src/a.rs".to_owned()).await);
                    }
                }))
            }),
        ],
    )?;
    let names: Vec<Vec<String>> = (0..CALLS)
        .map(|call| (0..10).map(|file| format!("src/{}/{call}-{file}.rs", call % 40)).collect())
        .collect();
    let footprints: Vec<Footprint> = names
        .iter()
        .map(|files| {
            files.iter().fold(Footprint::nothing(), |it, file| it.writing::<File>(file.as_str()))
        })
        .collect();
    let plan = take_turns(
        rounds,
        vec![
            Contestant::new("plan", || {
                let start = Instant::now();
                let mut batch = Batch::default();
                let at_once = footprints.iter().filter(|it| batch.push(Some(it))).count();
                let time = start.elapsed();
                ensure!(at_once == CALLS, "{at_once} calls begin at once");
                Ok(time)
            }),
            Contestant::new("hashing", || {
                let start = Instant::now();
                let hashed: HashSet<&str> = names.iter().flatten().map(String::as_str).collect();
                black_box(hashed.len());
                Ok(start.elapsed())
            }),
        ],
    )?;
    let row = |what: &str, time: f64, against: f64| {
        vec![what.to_owned(), format!("{:.2}", time * 1e3), format!("{:.2}", against * 1e3)]
    };
    print_table(&[
        ["", "ms", "ms against"].map(String::from).to_vec(),
        row("independent", independent.median("turn")?, independent.median("futures")?),
        row("chain", chain.median("turn")?, chain.median("futures")?),
        row("plan", plan.median("plan")?, plan.median("hashing")?),
    ]);
    print_ratio("batch", "independent", &independent.ratio("turn", "futures")?, "futures");
    print_ratio("batch", "chain", &chain.ratio("turn", "futures")?, "futures");
    print_ratio("batch", "plan", &plan.ratio("plan", "hashing")?, "hashing");
    Ok(())
}

fn turn(runtime: &Runtime, run: &Run, calls: &[Call<'_>]) -> Result<Duration> {
    let start = Instant::now();
    let answers = runtime.block_on(run.turn(1, calls))?;
    let time = start.elapsed();
    ensure!(answers.answers().iter().all(|it| !it.is_error()), "a call failed");
    Ok(time)
}

fn timed(runtime: &Runtime, work: impl Future<Output = ()>) -> Duration {
    let start = Instant::now();
    runtime.block_on(work);
    start.elapsed()
}
