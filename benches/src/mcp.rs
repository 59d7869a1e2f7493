//! The Model Context Protocol: our server against one of rmcp's macros, and our client against rmcp's.
//!
//! Calls are made by rmcp's client over a stream in memory, so that only the server differs. The list of 1,000 tools
//! is read by a client that only looks for line ends, since what a client makes of a list does not matter here; all
//! pages count. The clients call a tool of a rmcp server in another process, over pipes. Fifty sessions over HTTP begin
//! at once, make twenty calls each, and end. Every contestant has to give the same answer before anything is measured.

mod clients;
mod lines;
mod peer;
mod servers;
mod sessions;

use std::hint::black_box;
use std::time::Instant;

use anyhow::{Result, ensure};
use serde_json::Value;
use tokio::runtime::{Builder, Runtime};

use crate::measure::{Contestant, Effort, Rounds, print_ratio, print_table, take_turns};

pub use self::peer::serve_if_asked;

const TOOLS: usize = 1_000;

const TEXT: &str = r#"{"pattern":"fn main","limit":20,"folder":"src/bin","whole_words":true,"window":{"before":2,"after":3,"label":"around"}}"#;

/// The measures that a program reads: name, contestant, against.
const MEASURES: [(&str, &str, &str); 4] = [
    ("call", "call, toolwright", "call, rmcp"),
    ("list", "list, toolwright", "list, rmcp"),
    ("client", "client, toolwright", "client, rmcp"),
    ("sessions", "sessions, toolwright", "sessions, rmcp"),
];

pub fn run(effort: Effort) -> Result<()> {
    let (rounds, calls, listings) = match effort {
        Effort::Full => (100, 300, 3),
        Effort::Quick => (10, 50, 1),
    };
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let (call_ours, call_theirs) = runtime.block_on(servers::callers())?;
    let (list_ours, list_theirs) = runtime.block_on(servers::listers())?;
    let client_ours = runtime.block_on(clients::Ours::new())?;
    let client_theirs = runtime.block_on(clients::Theirs::new())?;
    let (sessions_ours, sessions_theirs) = runtime.block_on(sessions::clients())?;
    let mut field = Field { runtime: &runtime, contestants: Vec::new() };
    field.enter("call, toolwright", calls, async || call_ours.call(TEXT).await, is_found)?;
    field.enter("call, rmcp", calls, async || call_theirs.call(TEXT).await, is_found)?;
    field.enter("list, toolwright", listings, async || list_ours.list().await, lists_all)?;
    field.enter("list, rmcp", listings, async || list_theirs.list().await, lists_all)?;
    field.enter("client, toolwright", calls, async || client_ours.call(TEXT).await, is_found)?;
    field.enter("client, rmcp", calls, async || client_theirs.call(TEXT).await, is_found)?;
    let act = async || sessions_ours.call_all(TEXT).await;
    field.enter("sessions, toolwright", 1, act, sessions::all_are_found)?;
    let act = async || sessions_theirs.call_all(TEXT).await;
    field.enter("sessions, rmcp", 1, act, sessions::all_are_found)?;
    let rounds = take_turns(rounds, field.contestants)?;
    runtime.block_on(client_ours.close());
    report(&rounds, calls, listings)
}

/// The contestants so far.
struct Field<'a> {
    runtime: &'a Runtime,
    contestants: Vec<Contestant<'a>>,
}

impl<'a> Field<'a> {
    /// Adds a contestant, if its answer is the expected one.
    fn enter<F, T>(
        &mut self,
        name: &'static str,
        times: u32,
        act: F,
        check: fn(&T) -> Result<()>,
    ) -> Result<()>
    where
        F: AsyncFn() -> Result<T> + 'a,
    {
        let runtime = self.runtime;
        check(&runtime.block_on(act())?)?;
        self.contestants.push(Contestant::new(name, move || {
            runtime.block_on(async {
                let start = Instant::now();
                for _ in 0..times {
                    black_box(act().await?);
                }
                Ok(start.elapsed())
            })
        }));
        Ok(())
    }
}

/// Checks that an answer has the text of the expected value. Our client puts a fence around it.
fn is_found(answer: &String) -> Result<()> {
    let line = answer.lines().find(|line| line.starts_with('{')).unwrap_or_default();
    let found: Value = serde_json::from_str(line)?;
    ensure!(found["lines"] == 120 && found["label"] == "around", "another answer: {answer}");
    Ok(())
}

fn lists_all(pages: &Vec<String>) -> Result<()> {
    let mut names = std::collections::HashSet::new();
    for page in pages {
        let page: Value = serde_json::from_str(page)?;
        for tool in page["result"]["tools"].as_array().into_iter().flatten() {
            let described = &tool["inputSchema"]["properties"]["pattern"]["description"];
            ensure!(described.is_string(), "{} does not describe its pattern", tool["name"]);
            names.insert(tool["name"].to_string());
        }
    }
    ensure!(names.len() == TOOLS, "{} tools", names.len());
    Ok(())
}

fn report(rounds: &Rounds, calls: u32, listings: u32) -> Result<()> {
    let mut rows = vec![["", "µs", "× rmcp", "middle half"].map(String::from).to_vec()];
    for (measure, ours, theirs) in MEASURES {
        let times = match measure {
            "list" => listings,
            "sessions" => sessions::ALL_CALLS,
            _ => calls,
        };
        let microseconds =
            |name: &str| -> Result<f64> { Ok(rounds.median(name)? / f64::from(times) * 1e6) };
        let ratio = rounds.ratio(ours, theirs)?;
        let (low, high) = ratio.quartiles;
        rows.push(vec![theirs.into(), format!("{:.1}", microseconds(theirs)?)]);
        rows.push(vec![
            ours.into(),
            format!("{:.1}", microseconds(ours)?),
            format!("{:.2}", ratio.median),
            format!("{low:.2}–{high:.2}"),
        ]);
    }
    print_table(&rows);
    for (measure, ours, theirs) in MEASURES {
        print_ratio("mcp", measure, &rounds.ratio(ours, theirs)?, "rmcp");
    }
    Ok(())
}
