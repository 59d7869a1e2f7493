//! The context store: a search among 100,000 parts, against the same search in a bare FTS5 table; and piping 10 MB
//! from a tool, against writing them.

use std::fmt::Write as _;
use std::sync::OnceLock;
use std::time::Instant;

use anyhow::{Result, ensure};
use rusqlite::Connection;
use tempfile::TempDir;
use tokio::runtime::Builder;
use toolwright::{Call, Executor, Output, Registry, tool};
use toolwright_toolbox::{CONTEXT, ContextStore, OnConflict};

use crate::measure::{Contestant, Effort, print_ratio, print_table, take_turns};

const PARTS: usize = 100_000;

/// How many parts an entry has.
const OF_ENTRY: usize = 500;

/// The length of a part in bytes: more than half of the maximum, so that each line becomes a part.
const LINE: usize = 1_100;

/// How many bytes are piped.
const PIPED: usize = 10_000_000;

const QUERIES: [&str; 4] =
    ["word1230", "word77 word4320", "word901 word15 word7920", "\"tea word12\""];

static TEXT: OnceLock<String> = OnceLock::new();

/// Answers with 10 MB.
#[tool(group = "bench", effect = read)]
async fn large_text() -> Output {
    Output::text(TEXT.get_or_init(|| lines(PIPED / LINE, 7).join("\n")).as_str())
}

pub fn run(effort: Effort) -> Result<()> {
    search(effort)?;
    pipe(effort)
}

fn search(effort: Effort) -> Result<()> {
    let (rounds, parts) = (if effort == Effort::Full { 40 } else { 10 }, PARTS);
    let folder = TempDir::new()?;
    let store = ContextStore::open(folder.path().join("context.db"))?;
    let mut bare = Connection::open(folder.path().join("bare.db"))?;
    bare.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()))?;
    bare.execute_batch(
        "CREATE VIRTUAL TABLE part USING fts5(text, tokenize = 'unicode61 remove_diacritics 2');",
    )?;
    for entry in 0..parts / OF_ENTRY {
        let lines = lines(OF_ENTRY, entry as u64 + 1);
        let path = format!("notes/{entry}.md");
        store.write(&path, &lines.join("\n"), OnConflict::Error, None)?;
        let transaction = bare.transaction()?;
        for line in lines {
            transaction.prepare_cached("INSERT INTO part (text) VALUES (?1)")?.execute([line])?;
        }
        transaction.commit()?;
    }
    let by_hand = |query: &str| -> Result<usize> {
        // Quote the words as the store does.
        let words: Vec<String> = match query.strip_prefix('"') {
            Some(_) => vec![query.to_owned()],
            None => query.split(' ').map(|word| format!("\"{word}\"")).collect(),
        };
        let sql = "SELECT rowid, snippet(part, 0, '', '', '…', 40) FROM part WHERE part MATCH ?1 ORDER BY rank LIMIT 10";
        let mut statement = bare.prepare_cached(sql)?;
        let rows = statement.query_map([words.join(" OR ")], |row| {
            Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?))
        })?;
        Ok(rows.collect::<rusqlite::Result<Vec<_>>>()?.len())
    };
    for query in QUERIES {
        let (found, expected) = (store.search(query, None, 10)?.len(), by_hand(query)?);
        ensure!(found == expected && found > 0, "{query}: {found} are found, {expected} by FTS5");
    }
    let measured = take_turns(
        rounds,
        vec![
            Contestant::new("fts5", || {
                let begun = Instant::now();
                for query in QUERIES {
                    by_hand(query)?;
                }
                Ok(begun.elapsed())
            }),
            Contestant::new("search", || {
                let begun = Instant::now();
                for query in QUERIES {
                    store.search(query, None, 10)?;
                }
                Ok(begun.elapsed())
            }),
        ],
    )?;
    let mut rows = vec![vec![format!("a search among {parts} parts"), "ms".to_owned()]];
    for name in ["fts5", "search"] {
        let each = measured.median(name)? / QUERIES.len() as f64 * 1e3;
        rows.push(vec![name.to_owned(), format!("{each:.3}")]);
    }
    print_table(&rows);
    print_ratio("context", "search", &measured.ratio("search", "fts5")?, "fts5");
    Ok(())
}

fn pipe(effort: Effort) -> Result<()> {
    let rounds = if effort == Effort::Full { 12 } else { 3 };
    let folder = TempDir::new()?;
    let written = ContextStore::open(folder.path().join("written.db"))?;
    let store = ContextStore::open(folder.path().join("piped.db"))?;
    let registry = Registry::of(CONTEXT.into_iter().chain([LARGE_TEXT]))?;
    let executor = Executor::builder(registry).unrestricted().service(store).build()?;
    let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    let text = TEXT.get_or_init(|| lines(PIPED / LINE, 7).join("\n"));
    let (mut first, mut second) = (0, 0);
    let measured = take_turns(
        rounds,
        vec![
            Contestant::new("write", || {
                first += 1;
                let begun = Instant::now();
                written.write(&format!("data/{first}.md"), text, OnConflict::Error, None)?;
                Ok(begun.elapsed())
            }),
            Contestant::new("pipe", || {
                second += 1;
                let input = format!(
                    r#"{{"tool_name":"large_text","tool_input":{{}},"path":"data/{second}.md"}}"#
                );
                let begun = Instant::now();
                let answer = runtime.block_on(executor.call(&Call::new("context_pipe", input)));
                let took = begun.elapsed();
                ensure!(!answer.is_error(), "{}", answer.text());
                Ok(took)
            }),
        ],
    )?;
    let mut rows = vec![vec![format!("{} MB", text.len() / 1_000_000), "ms".to_owned()]];
    for name in ["write", "pipe"] {
        rows.push(vec![name.to_owned(), format!("{:.1}", measured.median(name)? * 1e3)]);
    }
    print_table(&rows);
    print_ratio("context", "pipe", &measured.ratio("pipe", "write")?, "write");
    Ok(())
}

/// Generates lines of words, some of them rare; the same lines for the same seed.
fn lines(count: usize, seed: u64) -> Vec<String> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let line = |_| {
        let mut line = String::with_capacity(LINE);
        while line.len() < LINE - 20 {
            // Small numbers are more frequent, like some words of a language.
            let number = (next() % 100) * (next() % 100);
            let _ = write!(line, "word{number} ");
            if next() % 500 == 0 {
                line.push_str("tea ");
            }
        }
        line
    };
    (0..count).map(line).collect()
}
