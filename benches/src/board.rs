//! Claims a ticket on a board of 10,000, against the plain statement that finds and marks it, in another file. For
//! people, it also shows a heartbeat without work, the page of a board of 1,000 tickets, and the time of
//! `bonsai-analyze` in this repository, beside `git ls-files`.

mod idle;
mod page;

use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Error, Result, ensure};
use board::Board;
use board::executables::analyze;
use board::ticket::{NewTicket, Project, State, TicketKind};
use jiff::{SignedDuration, Timestamp};
use rusqlite::{Connection, TransactionBehavior, params};
use tempfile::TempDir;

use crate::measure::{Contestant, Effort, print_ratio, print_table, take_turns};

const TICKETS: usize = 10_000;

/// How many of them wait for a runner.
const WAITING: usize = 1_000;

/// Finds the next ticket by its column alone, and marks it.
const PLAIN: &str = "\
UPDATE ticket SET runner = ?1, lease_until = ?2, epoch = epoch + 1 WHERE id = ( \
    SELECT id FROM ticket WHERE state IN ('RESEARCH', 'IN_PROGRESS') AND lease_until <= ?3 AND not_before <= ?3 \
    ORDER BY CASE state WHEN 'IN_PROGRESS' THEN 0 ELSE 1 END, updated_at, id LIMIT 1 \
) RETURNING id, epoch";

const RECORD: &str = "INSERT INTO run (ticket, epoch, runner, began_at) VALUES (?, ?, ?, ?)";

pub fn run(effort: Effort) -> Result<()> {
    let (rounds, claims) = match effort {
        Effort::Full => (40, 20),
        Effort::Quick => (8, 5),
    };
    ensure!(rounds * claims < WAITING, "there are too few tickets for so many claims");
    let (ours, bare) = (TempDir::new()?, TempDir::new()?);
    let waits = |number: usize| number.is_multiple_of(TICKETS / WAITING);
    let board = filled(&ours, waits)?;
    drop(filled(&bare, waits)?);
    let mut plain = Connection::open(bare.path().join("board.db"))?;
    plain.execute_batch("PRAGMA journal_mode = WAL; PRAGMA foreign_keys = ON;")?;
    let now = now()?;
    let until = now.checked_add(SignedDuration::from_hours(1))?;
    let measured = take_turns(
        rounds,
        vec![
            Contestant::new("query", || timed(claims, || claimed(&mut plain, now, until))),
            Contestant::new("pick", || {
                timed(claims, || Ok(board.claim_next("bench", now, until)?.is_some()))
            }),
        ],
    )?;
    let mut rows = vec![vec!["one of".to_owned(), "ms".to_owned()]];
    for name in ["query", "pick"] {
        let each = measured.median(name)? / claims as f64 * 1000.0;
        rows.push(vec![name.to_owned(), format!("{each:.3}")]);
    }
    print_table(&rows);
    let times = if effort == Effort::Full { 200 } else { 20 };
    let (beat, page) = (idle::beats(times)?, page::taken(times as usize)?);
    let milliseconds = |it: Duration| format!("{:.3}", it.as_secs_f64() * 1e3);
    print_table(&[
        vec!["quoted".to_owned(), "ms".to_owned(), "bytes".to_owned()],
        vec!["a heartbeat without work, 10,000 tickets".to_owned(), milliseconds(beat)],
        vec![
            "the page of 1,000 tickets".to_owned(),
            milliseconds(page.time),
            page.bytes.to_string(),
        ],
        vec!["bonsai-analyze, in this process".to_owned(), milliseconds(analyzed()?)],
        vec!["git ls-files".to_owned(), milliseconds(listed()?)],
    ]);
    print_ratio("board", "pick", &measured.ratio("pick", "query")?, "query");
    Ok(())
}

/// Analyzes the repository five times, and returns the shortest time.
fn analyzed() -> Result<Duration> {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
    let analyze = || {
        let matches = analyze::command().try_get_matches_from(["bonsai-analyze", root])?;
        let begun = Instant::now();
        analyze::run(&matches).map_err(Error::msg)?;
        Ok(begun.elapsed())
    };
    shortest(analyze)
}

/// Lists the files by git five times, and returns the shortest time.
fn listed() -> Result<Duration> {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
    shortest(|| {
        let begun = Instant::now();
        let listed = Command::new("git").arg("ls-files").current_dir(root).output()?;
        ensure!(listed.status.success(), "git: {}", listed.status);
        Ok(begun.elapsed())
    })
}

fn shortest(time: impl Fn() -> Result<Duration>) -> Result<Duration> {
    let times = (0..5).map(|_| time()).collect::<Result<Vec<_>>>()?;
    times.into_iter().min().context("nothing was timed")
}

fn now() -> Result<Timestamp> {
    Ok(Timestamp::from_second(1_800_000_000)?)
}

fn timed(claims: usize, mut claim: impl FnMut() -> Result<bool>) -> Result<Duration> {
    let begun = Instant::now();
    for _ in 0..claims {
        ensure!(claim()?, "no ticket is left to claim");
    }
    Ok(begun.elapsed())
}

/// The least that a runner has to do: one transaction that marks a ticket and records the slice.
fn claimed(plain: &mut Connection, now: Timestamp, until: Timestamp) -> Result<bool> {
    let transaction = plain.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let (now, until) = (now.as_millisecond(), until.as_millisecond());
    let (ticket, epoch): (i64, i64) = transaction
        .prepare_cached(PLAIN)?
        .query_row(params!["bench", until, now], |row| Ok((row.get(0)?, row.get(1)?)))
        .context("no ticket is left to claim")?;
    transaction.prepare_cached(RECORD)?.execute(params![ticket, epoch, "bench", now])?;
    transaction.commit()?;
    Ok(true)
}

/// Makes a board on which the chosen tickets wait for a runner.
fn filled(folder: &TempDir, waits: impl Fn(usize) -> bool) -> Result<Board> {
    let path = folder.path().join("board.db");
    let board = Board::open(&path)?;
    let project = project(&board, folder)?;
    let raw = Connection::open(&path)?;
    // Filling the board is not measured.
    raw.pragma_update(None, "synchronous", "OFF")?;
    // Add the first ten as people do, and copy them in one statement.
    for number in 0..10 {
        let state = if waits(number) { State::Research } else { State::Done };
        board.add_ticket(&NewTicket { state, ..new_ticket(project, number) }, now()?)?;
    }
    raw.execute(
        "WITH RECURSIVE copy(number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM copy WHERE number < ?1) \
         INSERT INTO ticket (project, kind, state, title, description, profile, created_at, updated_at) \
         SELECT project, kind, state, title, description, profile, created_at, updated_at + number FROM ticket, copy",
        [i64::try_from(TICKETS / 10 - 1)?],
    )?;
    Ok(board)
}

fn project(board: &Board, folder: &TempDir) -> Result<i64> {
    Ok(board.add_project(&Project {
        id: 0,
        name: "bench".to_owned(),
        repository: folder.path().display().to_string(),
        url: None,
        language: None,
        branch: "main".to_owned(),
        persona: String::new(),
    })?)
}

fn new_ticket(project: i64, number: usize) -> NewTicket {
    NewTicket {
        project,
        kind: TicketKind::Chore,
        state: State::Done,
        title: format!("Ticket {number}"),
        description: "x".repeat(500),
        profile: "developer".to_owned(),
        criteria: Vec::new(),
    }
}
