//! What a call that is allowed at once writes to its journal: the claim, then its result.
//!
//! The floor is the two commits that this needs: the same rows in the same tables with the same indexes, by SQLite
//! with the same settings on the same disk, and nothing else. With one caller, the floor uses the connection on its
//! own thread; with many, a thread commits whatever waits in one transaction, as the journal does. For comparison, a
//! text of that size is committed to a table without an index.
//!
//! A call with a text of 256 KiB is compared with the same call without a journal.

mod bare;
pub mod sample;

use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use futures::future::try_join_all;
use tokio::runtime::{Builder, Runtime};
use toolwright::journal::{Journal, SqliteStore, Store};
use toolwright::{Call, Executor, OnNoApprover, Registry, tool};

use crate::compile::target_directory;
use crate::measure::{Contestant, Effort, Rounds, print_ratio, print_table, take_turns};
use bare::{Alone, Grouped, Written};
use sample::{Pair, now};

/// How many callers there are at once.
const MANY: usize = 64;

/// The measures that a program reads: name, contestant, against.
const MEASURES: [(&str, &str, &str); 2] = [
    ("one", "call, one caller", "rows, one caller"),
    ("many", "call, 64 callers", "rows, 64 callers"),
];

/// The measure of a call with a long text: name, contestant, against.
const LONG: (&str, &str, &str) = ("long", "long call, journalled", "long call, plain");

/// How many bytes a long text has.
const LONG_TEXT: usize = 256 << 10;

/// The store's share, and what a table without an index would save. For people only.
const ASIDES: [(&str, &str); 4] = [
    ("store, one caller", "rows, one caller"),
    ("store, 64 callers", "rows, 64 callers"),
    ("call, one caller", "text, one caller"),
    ("call, 64 callers", "text, 64 callers"),
];

/// Notes something down.
#[tool]
async fn note(
    /// What.
    text: String,
) -> usize {
    text.len()
}

/// The input, as long as the arguments of the compared rows.
const NOTE_TEXT: &str = r#"{"text":"the quick brown fox jumps over the lazy dog"}"#;

fn executor(store: &SqliteStore) -> Result<Executor> {
    let builder = Executor::builder(Registry::of([NOTE])?).unrestricted().limit(MANY as u32);
    Ok(builder.journal(Journal::new(store.clone()).on_no_approver(OnNoApprover::Deny)).build()?)
}

async fn called(executor: &Executor, arguments: &str) -> Result<()> {
    let answer = executor.call(&Call::new("note", arguments)).await;
    ensure!(!answer.is_error(), "the call fails: {}", answer.text());
    Ok(())
}

pub fn run(effort: Effort) -> Result<()> {
    let (rounds, pairs) = match effort {
        Effort::Full => (60, 20),
        Effort::Quick => (10, 10),
    };
    let folder = target_directory()?.join("journal-benchmark");
    emptied(&folder)?;
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_time().build()?;
    let rounds = measured(&runtime, &folder, rounds, pairs)?;
    report(&rounds, pairs)?;
    Ok(std::fs::remove_dir_all(&folder)?)
}

/// Creates the folder, or empties it.
pub fn emptied(folder: &std::path::Path) -> Result<()> {
    if folder.exists() {
        std::fs::remove_dir_all(folder)?;
    }
    std::fs::create_dir_all(folder).with_context(|| format!("making {}", folder.display()))
}

fn measured(
    runtime: &Runtime,
    folder: &std::path::Path,
    rounds: usize,
    pairs: usize,
) -> Result<Rounds> {
    let store = runtime.block_on(SqliteStore::open(folder.join("journal.db")))?;
    let alone = Alone::open(&folder.join("alone.db"))?;
    let grouped = Grouped::open(&folder.join("grouped.db"))?;
    let executor = executor(&store)?;
    let plain = Executor::builder(Registry::of([NOTE])?).unrestricted().build()?;
    let long = format!(r#"{{"text":"{}"}}"#, "the quick brown fox ".repeat(LONG_TEXT / 20));
    let calls_with_a_long_text = |executor: &Executor| {
        runtime.block_on(async {
            let start = Instant::now();
            for _ in 0..pairs {
                called(executor, &long).await?;
            }
            Ok(start.elapsed())
        })
    };
    let contestants = vec![
        Contestant::new("call, one caller", || {
            runtime.block_on(async {
                let start = Instant::now();
                for _ in 0..pairs * 4 {
                    called(&executor, NOTE_TEXT).await?;
                }
                Ok(start.elapsed())
            })
        }),
        Contestant::new("call, 64 callers", || {
            runtime.block_on(at_once((0..MANY).map(|_| {
                let executor = executor.clone();
                async move {
                    for _ in 0..pairs {
                        called(&executor, NOTE_TEXT).await?;
                    }
                    Ok(())
                }
            })))
        }),
        Contestant::new(LONG.1, || calls_with_a_long_text(&executor)),
        Contestant::new(LONG.2, || calls_with_a_long_text(&plain)),
        Contestant::new("store, one caller", || {
            let pairs = Pair::several("one", pairs * 4)?;
            runtime.block_on(async {
                let start = Instant::now();
                for pair in pairs {
                    journalled(&store, pair).await?;
                }
                Ok(start.elapsed())
            })
        }),
        Contestant::new("rows, one caller", || {
            alone.commits(&written(&Pair::several("one", pairs * 4)?, Pair::rows)?.concat())
        }),
        Contestant::new("text, one caller", || {
            alone.commits(&written(&Pair::several("one", pairs * 4)?, Pair::texts)?.concat())
        }),
        Contestant::new("store, 64 callers", || {
            let callers = dealt(Pair::several("many", pairs * MANY)?).into_iter();
            runtime.block_on(at_once(callers.map(|pairs| {
                let store = store.clone();
                async move {
                    for pair in pairs {
                        journalled(&store, pair).await?;
                    }
                    Ok(())
                }
            })))
        }),
        Contestant::new("rows, 64 callers", || {
            let all = written(&Pair::several("many", pairs * MANY)?, Pair::rows)?;
            runtime.block_on(committed(&grouped, all))
        }),
        Contestant::new("text, 64 callers", || {
            let all = written(&Pair::several("many", pairs * MANY)?, Pair::texts)?;
            runtime.block_on(committed(&grouped, all))
        }),
    ];
    take_turns(rounds, contestants)
}

/// Deals the items to the callers in turn, so that they are committed about in the order of their ids, as new calls
/// are.
fn dealt<T>(all: Vec<T>) -> Vec<Vec<T>> {
    let mut callers: Vec<Vec<T>> = (0..MANY).map(|_| Vec::new()).collect();
    for (index, one) in all.into_iter().enumerate() {
        callers[index % MANY].push(one);
    }
    callers
}

/// Returns what the two commits of each call write.
fn written(
    pairs: &[Pair],
    of: impl Fn(&Pair) -> Result<[Written; 2]>,
) -> Result<Vec<[Written; 2]>> {
    pairs.iter().map(of).collect()
}

/// Returns how long the callers take to commit these.
async fn committed(grouped: &Grouped, all: Vec<[Written; 2]>) -> Result<Duration> {
    at_once(dealt(all).into_iter().map(|written| {
        let grouped = grouped.clone();
        async move {
            for [running, finished] in written {
                grouped.commit(running).await?;
                grouped.commit(finished).await?;
            }
            Ok(())
        }
    }))
    .await
}

/// Returns how long all callers take together, each on a task of its own.
async fn at_once<F>(callers: impl Iterator<Item = F>) -> Result<Duration>
where
    F: Future<Output = Result<()>> + Send + 'static,
{
    let callers: Vec<_> = callers.collect();
    let start = Instant::now();
    for done in try_join_all(callers.into_iter().map(tokio::spawn)).await? {
        done?;
    }
    Ok(start.elapsed())
}

async fn journalled(store: &SqliteStore, pair: Pair) -> Result<()> {
    store.commit(pair.running.into(), now()).await?;
    store.commit(pair.finished.into(), now()).await?;
    Ok(())
}

fn report(rounds: &Rounds, pairs: usize) -> Result<()> {
    let mut table =
        vec![["", "µs/call", "calls/s", "× bare", "middle half"].map(String::from).to_vec()];
    let seconds = |name: &str| -> Result<f64> {
        let calls = match name {
            name if name.contains("64") => pairs * MANY,
            name if name.contains("long") => pairs,
            _ => pairs * 4,
        };
        Ok(rounds.median(name)? / calls as f64)
    };
    let row = |name: &str| -> Result<Vec<String>> {
        let seconds = seconds(name)?;
        Ok(vec![name.into(), format!("{:.1}", seconds * 1e6), format!("{:.0}", 1.0 / seconds)])
    };
    for floor in
        ["text, one caller", "rows, one caller", "text, 64 callers", "rows, 64 callers", LONG.2]
    {
        table.push(row(floor)?);
    }
    let compared = MEASURES.iter().map(|(_, name, against)| (*name, *against));
    for (name, against) in compared.chain(ASIDES).chain([(LONG.1, LONG.2)]) {
        let ratio = rounds.ratio(name, against)?;
        let (low, high) = ratio.quartiles;
        let mut row = row(name)?;
        row.extend([format!("{:.2}", ratio.median), format!("{low:.2}–{high:.2}")]);
        table.push(row);
    }
    println!("one call: two commits, that it runs and its result");
    print_table(&table);
    for (measure, name, against) in MEASURES {
        print_ratio("journal", measure, &rounds.ratio(name, against)?, "two-bare-commits");
    }
    print_ratio("journal", LONG.0, &rounds.ratio(LONG.1, LONG.2)?, "plain-call");
    Ok(())
}
