//! The cost of recording a run: a turn of one `keyed` call against the bare commits that it needs, a late turn of a
//! long run against an early one, and a new run beside thousands of waiting runs against one beside ten.
//!
//! The floor is the same commits in the same order by the same store, in another file: the model's answer, two
//! commits of the call, the answers, and their acknowledgement.

mod beside;
mod resumed;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Result, bail, ensure};
use futures::FutureExt as _;
use futures::future::{BoxFuture, ready};
use jiff::Timestamp;
use tokio::runtime::{Builder, Runtime};
use toolwright::dialect::Dialect;
use toolwright::journal::{CommitError, Journal, SqliteStore, Store, Transaction};
use toolwright::provider::ToolCall;
use toolwright::{CallId, Executor, OnNoApprover, Registry, tool};
use toolwright_agent::durable::{NewRun, Progress, Runner};
use toolwright_agent::{Agent, Model, ModelAnswer, ModelError, ModelRequest, NoticeKind};

pub use self::resumed::resume_if_asked;
use crate::compile::target_directory;
use crate::journal::emptied;
use crate::measure::{Contestant, Effort, print_ratio, print_table, take_turns};

/// How many turns the run has that is compared with its commits.
const TURNS: u64 = 40;

/// Notes something down, once for each key.
#[tool(effect = keyed)]
async fn record_note(
    /// What.
    text: String,
) -> usize {
    text.len()
}

/// A model that calls the tool in every turn but the last.
struct Steady(u64);

impl Model for Steady {
    fn name(&self) -> &'static str {
        "steady"
    }

    fn dialect(&self) -> Dialect {
        Dialect::Anthropic
    }

    fn answer<'a>(
        &'a self,
        request: ModelRequest<'a>,
    ) -> BoxFuture<'a, Result<ModelAnswer, ModelError>> {
        // The history is the user's message, then two messages a turn.
        let turn = request.history.len().div_ceil(2) as u64;
        if turn >= self.0 {
            return ready(Ok(ModelAnswer::text("done"))).boxed();
        }
        let call = ToolCall {
            id: Some(format!("call-{turn}")),
            name: "record_note".to_owned(),
            arguments: r#"{"text":"the quick brown fox jumps over the lazy dog"}"#.to_owned(),
        };
        ready(Ok(ModelAnswer::new("I note it.", vec![call]))).boxed()
    }
}

/// A commit of a run.
#[derive(Clone)]
enum Written {
    Unit(Box<Transaction>),
    Acknowledged(CallId),
}

/// A store that records what was committed.
struct Remembering {
    inner: SqliteStore,
    written: Mutex<Vec<Written>>,
}

impl Remembering {
    fn add(&self, written: Written) {
        self.written.lock().unwrap_or_else(PoisonError::into_inner).push(written);
    }
}

impl Store for Remembering {
    fn commit<'a>(
        &'a self,
        unit: Transaction,
        now: Timestamp,
    ) -> BoxFuture<'a, Result<(), CommitError>> {
        self.add(Written::Unit(Box::new(unit.clone())));
        self.inner.commit(unit, now)
    }

    fn renew<'a>(
        &'a self,
        call: CallId,
        epoch: u64,
        until: Timestamp,
    ) -> BoxFuture<'a, Result<(), CommitError>> {
        self.inner.renew(call, epoch, until)
    }

    fn acknowledge<'a>(&'a self, call: CallId) -> BoxFuture<'a, Result<(), CommitError>> {
        self.add(Written::Acknowledged(call));
        self.inner.acknowledge(call)
    }

    toolwright::pass_on_questions!(inner);
}

pub fn run(effort: Effort) -> Result<()> {
    let (rounds, long) = match effort {
        Effort::Full => (30, 10_000),
        Effort::Quick => (5, 1_000),
    };
    let folder = target_directory()?.join("durable-benchmark");
    emptied(&folder)?;
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_time().build()?;
    let files = Files { folder: folder.clone(), next: AtomicU64::new(0) };
    let written = runtime.block_on(remembered(&files))?;
    let rounds = take_turns(
        rounds,
        vec![
            Contestant::new("turn", || runtime.block_on(recorded(&files, TURNS, |_| {}))),
            Contestant::new("commits", || runtime.block_on(committed(&files, &written))),
        ],
    )?;
    let (early, late) = ends(&runtime, &files, long)?;
    let (few, many) = (long / 100, long / 10);
    let processes = rounds_of(effort);
    let resume = |turns| resumed::resumed(&runtime, &files.next(), turns, processes);
    let (after_few, after_many) = (resume(few)?, resume(many)?);
    let of_turn = |name: &str| Ok::<_, anyhow::Error>(rounds.median(name)? / TURNS as f64 * 1e6);
    print_table(&[
        ["recorded runs", "us a turn"].map(String::from).to_vec(),
        vec!["a turn of one keyed call".into(), format!("{:.0}", of_turn("turn")?)],
        vec!["its commits".into(), format!("{:.0}", of_turn("commits")?)],
        vec!["turn 100 of a long run".into(), format!("{:.0}", early.as_secs_f64() * 1e6)],
        vec![format!("turn {long}"), format!("{:.0}", late.as_secs_f64() * 1e6)],
    ]);
    print_table(&[
        ["from process start to the first request", "ms"].map(String::from).to_vec(),
        vec![format!("a run of {few} turns"), format!("{:.1}", after_few.as_secs_f64() * 1e3)],
        vec![format!("a run of {many} turns"), format!("{:.1}", after_many.as_secs_f64() * 1e3)],
    ]);
    let beside = beside::beside(&files, effort)?;
    let few = beside.few.as_secs_f64();
    print_table(&[
        ["a new run of two answers, each of 100 ms", "ms"].map(String::from).to_vec(),
        vec!["beside 10 runs that wait".into(), format!("{:.0}", few * 1e3)],
        vec![
            format!("beside {} that wait", beside.waiting),
            format!("{:.0}", beside.many.as_secs_f64() * 1e3),
        ],
    ]);
    print_ratio("durable", "turn", &rounds.ratio("turn", "commits")?, "commits");
    println!("durable/late ratio={:.3} against=early", late.as_secs_f64() / early.as_secs_f64());
    println!("durable/beside ratio={:.3} against=ten-waiting", beside.many.as_secs_f64() / few);
    Ok(std::fs::remove_dir_all(&folder)?)
}

fn rounds_of(effort: Effort) -> usize {
    match effort {
        Effort::Full => 21,
        Effort::Quick => 3,
    }
}

/// Provides a new file for each journal.
struct Files {
    folder: PathBuf,
    next: AtomicU64,
}

impl Files {
    fn next(&self) -> PathBuf {
        self.folder.join(format!("{}.db", self.next.fetch_add(1, Ordering::Relaxed)))
    }
}

fn removed(file: &Path) {
    for end in ["", "-wal", "-shm"] {
        // The temporary folder removes what is left.
        let _ = std::fs::remove_file(format!("{}{end}", file.display()));
    }
}

/// Runs the given number of turns from start to end; `at` is called after each answered turn.
async fn recorded(
    files: &Files,
    turns: u64,
    at: impl Fn(u64) + Send + Sync + 'static,
) -> Result<Duration> {
    let file = files.next();
    let store = Arc::new(SqliteStore::open(&file).await?);
    let took = drive(store, turns, at).await?;
    removed(&file);
    Ok(took)
}

async fn drive(
    store: Arc<dyn Store>,
    turns: u64,
    at: impl Fn(u64) + Send + Sync + 'static,
) -> Result<Duration> {
    let executor = Executor::builder(Registry::of([RECORD_NOTE])?)
        .unrestricted()
        .journal(Journal::shared(store).on_no_approver(OnNoApprover::Park))
        .build()?;
    let agent = Agent::on(executor, Steady(turns))
        .max_turns(u32::try_from(turns)? + 1)
        .listen(move |notice| {
            if let NoticeKind::Answered { .. } = notice.kind {
                at(notice.turn);
            }
        })
        .build()?;
    let agents = Runner::builder().agent("steady", agent).build()?;
    let start = Instant::now();
    let progress = agents.start(NewRun::new("r1", "steady", "note it")).await?;
    let took = start.elapsed();
    ensure!(matches!(progress, Progress::Ended(_)), "the run has not ended: {progress}");
    ensure!(agents.head("r1").await?.turn == turns, "the run has other turns");
    Ok(took)
}

/// Returns what a run commits.
async fn remembered(files: &Files) -> Result<Vec<Written>> {
    let file = files.next();
    let inner = SqliteStore::open(&file).await?;
    let store = Arc::new(Remembering { inner, written: Mutex::default() });
    drive(Arc::clone(&store) as Arc<dyn Store>, TURNS, |_| {}).await?;
    removed(&file);
    let written = store.written.lock().unwrap_or_else(PoisonError::into_inner).clone();
    // The start, four commits and an acknowledgement for each turn, and the last answer, which ends the run.
    ensure!(written.len() as u64 == (TURNS - 1) * 5 + 2, "{} commits", written.len());
    Ok(written)
}

/// Makes the same commits in the same order, and returns the time.
async fn committed(files: &Files, written: &[Written]) -> Result<Duration> {
    let file = files.next();
    let store = SqliteStore::open(&file).await?;
    let now = Timestamp::now();
    let written = written.to_vec();
    let start = Instant::now();
    for written in written {
        let done = match written {
            Written::Unit(unit) => store.commit(*unit, now).await,
            Written::Acknowledged(call) => store.acknowledge(call).await,
        };
        if let Err(error) = done {
            bail!("a commit is refused: {error}");
        }
    }
    let took = start.elapsed();
    removed(&file);
    Ok(took)
}

/// Returns the time of a turn around turn 100 and at the end of a long run: each the median of 100 turns.
fn ends(runtime: &Runtime, files: &Files, turns: u64) -> Result<(Duration, Duration)> {
    let times = Arc::new(Mutex::new(Vec::with_capacity(usize::try_from(turns)?)));
    let heard = Arc::clone(&times);
    runtime.block_on(recorded(files, turns, move |_| {
        heard.lock().unwrap_or_else(PoisonError::into_inner).push(Instant::now());
    }))?;
    let times = times.lock().unwrap_or_else(PoisonError::into_inner);
    let took: Vec<Duration> = times.windows(2).map(|it| it[1] - it[0]).collect();
    let median = |turns: &[Duration]| {
        let mut turns = turns.to_vec();
        turns.sort();
        turns[turns.len() / 2]
    };
    ensure!(took.len() > 200, "the run is too short");
    Ok((median(&took[50..150]), median(&took[took.len() - 100..])))
}
