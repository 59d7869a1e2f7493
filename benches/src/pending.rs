//! Reads a page of the calls that wait for a person, out of few calls and out of many.
//!
//! One call in ten waits; the others have their results. Pages are read at the beginning, at the end and between, as
//! operators do.

use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

use anyhow::{Result, ensure};
use tokio::runtime::{Builder, Runtime};
use toolwright::CallId;
use toolwright::journal::{Filter, Page, SqliteStore, State, Store, Transaction};

use crate::compile::target_directory;
use crate::journal::emptied;
use crate::journal::sample::{now, settled};
use crate::measure::{Contestant, Effort, print_ratio, print_table, take_turns};

const PAGE: usize = 50;
const FEW: usize = 1_000;

/// How many pages a sample takes, spread over the calls.
const PAGES: usize = 20;

pub fn run(effort: Effort) -> Result<()> {
    let (rounds, many) = match effort {
        Effort::Full => (100, 1_000_000),
        Effort::Quick => (20, 50_000),
    };
    let folder = target_directory()?.join("pending-benchmark");
    emptied(&folder)?;
    let runtime = Builder::new_current_thread().enable_time().build()?;
    eprintln!("recording {many} calls");
    let few = Listed::record(&runtime, &folder.join("few.db"), FEW)?;
    let many = Listed::record(&runtime, &folder.join("many.db"), many)?;
    let contestants = vec![
        Contestant::new("few", || few.pages(&runtime)),
        Contestant::new("many", || many.pages(&runtime)),
    ];
    let rounds = take_turns(rounds, contestants)?;
    let mut rows = vec![["a page of 50", "µs", "× few", "middle half"].map(String::from).to_vec()];
    for (name, listed) in [("few", &few), ("many", &many)] {
        let ratio = rounds.ratio(name, "few")?;
        let (low, high) = ratio.quartiles;
        rows.push(vec![
            format!("of {} calls", listed.calls),
            format!("{:.0}", rounds.median(name)? / PAGES as f64 * 1e6),
            format!("{:.2}", ratio.median),
            format!("{low:.2}–{high:.2}"),
        ]);
    }
    print_table(&rows);
    print_ratio("pending", "page", &rounds.ratio("many", "few")?, "page-of-1,000-calls");
    Ok(std::fs::remove_dir_all(&folder)?)
}

/// The calls in a file, and where pages begin.
struct Listed {
    calls: usize,
    store: SqliteStore,
    starts: Vec<Option<CallId>>,
}

impl Listed {
    fn record(runtime: &Runtime, path: &Path, calls: usize) -> Result<Self> {
        let store = runtime.block_on(SqliteStore::open(path))?;
        let mut waiting = Vec::new();
        let mut number = 0;
        while number < calls {
            let end = calls.min(number + 10_000);
            let writes = (number..end)
                .map(|number| settled(&format!("run-{}", number / 50), number % 10 == 0));
            let unit = Transaction { calls: writes.collect(), documents: Vec::new() };
            let pending = unit.calls.iter().filter(|it| it.record.state == State::Pending);
            waiting.extend(pending.map(|it| it.record.id));
            runtime.block_on(store.commit(unit, now()))?;
            number = end;
        }
        let last = waiting.len() - PAGE - 1;
        let place = |page: usize| waiting[page * last / (PAGES - 1)];
        let starts = (0..PAGES).map(|page| (page > 0).then(|| place(page))).collect();
        Ok(Self { calls, store, starts })
    }

    fn pages(&self, runtime: &Runtime) -> Result<std::time::Duration> {
        let filter = Filter { states: vec![State::Pending], ..Filter::default() };
        runtime.block_on(async {
            let start = Instant::now();
            for after in &self.starts {
                let page = Page { after: *after, ..Page::first(PAGE) };
                let found = black_box(self.store.list(&filter, page).await?);
                ensure!(found.len() == PAGE, "a page has {} calls", found.len());
            }
            Ok(start.elapsed())
        })
    }
}
