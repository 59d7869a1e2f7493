//! Reads a page of a large answer, against reading the bytes of the answer once.
//!
//! A run has an answer of 100 MB; its model requests pages from the beginning, the middle and the end. The measure is
//! the time from that answer of the model to its next request. The floor adds up the bytes. Of one text some
//! characters have two bytes, on one line of each page.

use std::hint::black_box;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use tokio::runtime::{Builder, Runtime};
use toolwright::{Executor, Output, Registry, tool};
use toolwright_agent::{Agent, RunEnd};

use crate::measure::{Contestant, Effort, print_ratio, print_table, take_turns};
use crate::timed::{Timed, between};

const BYTES: usize = 100_000_000;

/// The tool that reads a page of a large answer.
const READ: &str = "read_large_result";

static TEXTS: [OnceLock<String>; 2] = [const { OnceLock::new() }; 2];

/// Answers with 100 MB of ASCII.
#[tool(group = "bench", effect = read)]
async fn large_ascii() -> Output {
    Output::text(ascii())
}

/// Answers with 100 MB in which some characters have two bytes.
#[tool(group = "bench", effect = read)]
async fn large_mixed() -> Output {
    Output::text(mixed())
}

pub fn run(effort: Effort) -> Result<()> {
    let rounds = if effort == Effort::Full { 12 } else { 3 };
    let runtime = Builder::new_current_thread().enable_time().build()?;
    let mut rows = vec![["100 MB of", "ms a page", "ms, read once"].map(str::to_owned).to_vec()];
    let mut ratios = Vec::new();
    let kinds = [
        ("page", "ASCII", "large_ascii", ascii()),
        ("page-mixed", "ASCII and others", "large_mixed", mixed()),
    ];
    for (measure, name, tool, text) in kinds {
        let rounds = take_turns(
            rounds,
            vec![
                Contestant::new("read", || Ok(read_once(text))),
                Contestant::new("page", || pages(&runtime, tool, text)),
            ],
        )?;
        let milliseconds = |name| rounds.median(name).map(|it| format!("{:.2}", it * 1e3));
        rows.push(vec![name.to_owned(), milliseconds("page")?, milliseconds("read")?]);
        ratios.push((measure, rounds.ratio("page", "read")?));
    }
    print_table(&rows);
    for (measure, ratio) in ratios {
        print_ratio("result", measure, &ratio, "read");
    }
    Ok(())
}

/// Reads three pages, and returns the time of one.
fn pages(runtime: &Runtime, tool: &'static str, text: &str) -> Result<Duration> {
    let last = text.chars().count().div_ceil(8_000);
    let numbers = [1, last / 2, last];
    let of = |number: usize| (READ, format!(r#"{{"id":"lr_1","page":{number}}}"#));
    let model =
        Timed::calling([(tool, "{}".to_owned())].into_iter().chain(numbers.map(of)).collect());
    let executor =
        Executor::builder(Registry::of([LARGE_ASCII, LARGE_MIXED])?).unrestricted().build()?;
    let agent = Agent::on(executor, model.clone()).build()?;
    let mut run = agent.new_run("bench").start()?;
    match runtime.block_on(run.send("Read it."))? {
        RunEnd::Text { .. } => {}
        other => bail!("{other}"),
    }
    let mut answers = run.history().iter().filter_map(|it| match it {
        toolwright_agent::Message::ToolResults(answered) => answered.first(),
        _ => None,
    });
    let (_, end) = answers.next_back().context("no page was read")?;
    let found = end.text();
    ensure!(found.ends_with(&text[text.len() - 100..]), "the last page is another: {found}");
    let asked = model.take();
    Ok(between(&asked, 1, 1 + numbers.len())? / u32::try_from(numbers.len())?)
}

fn read_once(text: &str) -> Duration {
    let begun = Instant::now();
    let sum: u64 = text.bytes().map(u64::from).sum();
    black_box(sum);
    begun.elapsed()
}

fn ascii() -> &'static str {
    TEXTS[0].get_or_init(|| of_lines("a line of forty characters, with its end"))
}

fn mixed() -> &'static str {
    TEXTS[1].get_or_init(|| {
        let line = "a line of forty characters, with its end";
        let lines = format!(
            "{}\n{}",
            format!("{line}\n").repeat(190),
            "a line of forty cháracters, with its énd"
        );
        of_lines(&lines)
    })
}

fn of_lines(line: &str) -> String {
    let line = format!("{line}\n");
    line.repeat(BYTES / line.len())
}
