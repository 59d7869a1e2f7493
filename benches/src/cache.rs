//! A read that is answered from the cache: `read_file` of the toolbox on a file of 64 KiB, against the call that
//! reads the file.
//!
//! A hit checks the file's stamp. For people, it also shows a call that the cache does not know, which reads the file
//! and stores the answer.

use std::hint::black_box;
use std::time::{Duration, Instant, SystemTime};

use anyhow::{Result, ensure};
use tokio::runtime::{Builder, Runtime};
use toolwright::{Call, Executor, ExecutorBuilder, Registry};
use toolwright_middleware::ReadCache;
use toolwright_toolbox::{READ_FILE, Workspace};

use crate::measure::{Contestant, Effort, Rounds, print_ratio, print_table, take_turns};

const READ: &str = "read_file";
const HIT: &str = "hit";
const MISS: &str = "miss";

const CALL: &str = r#"{"path":"a.txt"}"#;

pub fn run(effort: Effort) -> Result<()> {
    let (rounds, calls) = match effort {
        Effort::Full => (200, 100),
        Effort::Quick => (20, 50),
    };
    let folder = Folder::new()?;
    let runtime = Builder::new_current_thread().enable_time().build()?;
    let bare = folder.builder()?.build()?;
    let cache = ReadCache::new();
    let cached = folder.builder()?.middleware(cache.clone()).build()?;
    let expected = runtime.block_on(read(&bare))?;
    ensure!(runtime.block_on(read(&cached))? == expected, "another answer than without the cache");
    let contestants = vec![
        Contestant::new(READ, || sample(&runtime, &bare, calls, || {})),
        Contestant::new(HIT, || sample(&runtime, &cached, calls, || {})),
        Contestant::new(MISS, || sample(&runtime, &cached, calls, || cache.clear())),
    ];
    let rounds = take_turns(rounds, contestants)?;
    let statistics = cache.statistics();
    ensure!(statistics.hits > statistics.misses / 2, "the cache was not used: {statistics:?}");
    report(&rounds, calls)
}

/// A folder with one file, last changed an hour ago.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("a.txt");
        let line = "the quick brown fox jumps over the lazy dog, sixty-four bytes\r\n";
        std::fs::write(&path, line.repeat(64 * 1024 / line.len()))?;
        let hour = Duration::from_secs(3600);
        std::fs::File::options()
            .append(true)
            .open(&path)?
            .set_modified(SystemTime::now() - hour)?;
        Ok(Self(folder))
    }

    fn builder(&self) -> Result<ExecutorBuilder> {
        let builder = Executor::builder(Registry::of([READ_FILE])?).unrestricted();
        Ok(builder.service(Workspace::open(self.0.path())?))
    }
}

async fn read(executor: &Executor) -> Result<String> {
    let answer = executor.call(&Call::new("read_file", black_box(CALL))).await;
    ensure!(!answer.is_error(), "it fails: {}", answer.text());
    Ok(answer.into_text())
}

fn sample(
    runtime: &Runtime,
    executor: &Executor,
    calls: u32,
    before: impl Fn(),
) -> Result<Duration> {
    runtime.block_on(async {
        // Bring the cache into the state that the contestant expects at its first call.
        read(executor).await?;
        let mut elapsed = Duration::ZERO;
        for _ in 0..calls {
            before();
            let start = Instant::now();
            black_box(read(executor).await?);
            elapsed += start.elapsed();
        }
        Ok(elapsed)
    })
}

fn report(rounds: &Rounds, calls: u32) -> Result<()> {
    let mut rows = vec![["", "µs/call", "× read_file", "middle half"].map(String::from).to_vec()];
    for name in [READ, HIT, MISS] {
        let microseconds = rounds.median(name)? / f64::from(calls) * 1e6;
        let ratio = rounds.ratio(name, READ)?;
        let (low, high) = ratio.quartiles;
        rows.push(vec![
            name.into(),
            format!("{microseconds:.1}"),
            format!("{:.3}", ratio.median),
            format!("{low:.3}–{high:.3}"),
        ]);
    }
    print_table(&rows);
    print_ratio("cache", "hit", &rounds.ratio(HIT, READ)?, "read_file");
    Ok(())
}
