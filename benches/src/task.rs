//! Eight callers claim tasks at once, against eight callers that make bare commits in another file.
//!
//! Callers are threads. In `claim` they share one store, like the workers of one process, and the floor shares one
//! connection. In `processes` each has its own, like workers of several processes. A bare commit marks one row.

use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use anyhow::{Result, anyhow, ensure};
use rusqlite::{Connection, TransactionBehavior, params};
use tempfile::TempDir;
use toolwright_toolbox::{NewTask, TaskStore};

use crate::measure::{Contestant, Effort, print_ratio, print_table, take_turns};

const CALLERS: usize = 8;

/// How many tasks a caller claims in a sample.
const EACH: usize = 10;

pub fn run(effort: Effort) -> Result<()> {
    let rounds = if effort == Effort::Full { 30 } else { 5 };
    let folder = TempDir::new()?;
    let (ours, bare) = (folder.path().join("tasks.db"), folder.path().join("bare.db"));
    let store = TaskStore::open(&ours)?;
    // Including the sample that does not count, and for both contestants that claim.
    let tasks = 2 * (rounds + 1) * CALLERS * EACH;
    for number in 0..tasks {
        store.create(&NewTask::new(format!("Task {number}"), "x".repeat(500)))?;
    }
    drop(filled(&bare, tasks)?);
    let shared = Mutex::new(connected(&bare)?);
    let claimed = |store: &TaskStore| {
        for _ in 0..EACH {
            ensure!(store.claim("bench", SystemTime::now())?.is_some(), "no task is left");
        }
        Ok(())
    };
    let measured = take_turns(
        rounds,
        vec![
            Contestant::new("commit", || {
                at_once(|caller| {
                    (0..EACH).try_for_each(|number| {
                        let mut shared = shared.lock().unwrap_or_else(PoisonError::into_inner);
                        marked(&mut shared, caller * EACH + number)
                    })
                })
            }),
            Contestant::new("claim", || at_once(|_| claimed(&store))),
            Contestant::new("commit, processes", || {
                at_once(|caller| {
                    let mut own = connected(&bare)?;
                    (0..EACH).try_for_each(|number| marked(&mut own, caller * EACH + number))
                })
            }),
            Contestant::new("claim, processes", || at_once(|_| claimed(&TaskStore::open(&ours)?))),
        ],
    )?;
    let mut rows = vec![vec![format!("{CALLERS} callers, one of"), "ms".to_owned()]];
    for name in ["commit", "claim", "commit, processes", "claim, processes"] {
        let each = measured.median(name)? / (CALLERS * EACH) as f64 * 1e3;
        rows.push(vec![name.to_owned(), format!("{each:.3}")]);
    }
    print_table(&rows);
    print_ratio("task", "claim", &measured.ratio("claim", "commit")?, "commits");
    let processes = measured.ratio("claim, processes", "commit, processes")?;
    print_ratio("task", "processes", &processes, "commits");
    Ok(())
}

/// Runs every caller at the same time, and returns how long all take.
fn at_once(work: impl Fn(usize) -> Result<()> + Sync) -> Result<Duration> {
    let begun = Instant::now();
    thread::scope(|scope| {
        let callers: Vec<_> = (0..CALLERS)
            .map(|caller| {
                scope.spawn({
                    let work = &work;
                    move || work(caller)
                })
            })
            .collect();
        callers
            .into_iter()
            .try_for_each(|caller| caller.join().map_err(|_| anyhow!("a caller panicked"))?)
    })?;
    Ok(begun.elapsed())
}

fn connected(file: &Path) -> Result<Connection> {
    let connection = Connection::open(file)?;
    connection.busy_timeout(Duration::from_secs(5))?;
    connection.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()))?;
    Ok(connection)
}

fn filled(file: &Path, tasks: usize) -> Result<Connection> {
    let connection = connected(file)?;
    connection.execute_batch("CREATE TABLE task (id INTEGER PRIMARY KEY, text TEXT, worker TEXT, epoch INTEGER DEFAULT 0);")?;
    connection.execute(
        "WITH RECURSIVE task_number(it) AS (SELECT 1 UNION ALL SELECT it + 1 FROM task_number WHERE it < ?1) \
         INSERT INTO task (id, text) SELECT it, ?2 FROM task_number",
        params![i64::try_from(tasks)?, "x".repeat(500)],
    )?;
    Ok(connection)
}

fn marked(connection: &mut Connection, task: usize) -> Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let sql = "UPDATE task SET worker = ?1, epoch = epoch + 1 WHERE id = ?2";
    transaction.prepare_cached(sql)?.execute(params!["bench", i64::try_from(task + 1)?])?;
    transaction.commit()?;
    Ok(())
}
