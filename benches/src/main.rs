//! Measures Toolwright and its peers side by side: `cargo run --release -p benches -- NAME [--quick]`.
//!
//! Each benchmark prints a table for people, then one line per measure:
//! `NAME/<measure> ratio=<number> against=<what>`.

mod allocations;
mod batch;
mod board;
mod cache;
mod call;
mod compile;
#[cfg(feature = "context")]
mod context;
mod delegate;
mod durable;
mod edit;
mod grep;
mod history;
mod idle;
mod journal;
#[cfg(feature = "context")]
mod knowledge;
mod list;
mod mcp;
mod measure;
mod openapi;
mod pending;
mod repair;
mod request;
mod result;
mod schemas;
mod search;
mod shell;
mod startup;
mod stream;
mod task;
mod thousand;
mod timed;
mod turn;
mod web;

use std::process::ExitCode;

use anyhow::{Result, bail};
use measure::Effort;

const BENCHMARKS: &[(&str, &str, Run)] = &[
    ("batch", "1,000 calls of a turn side by side, against their bare futures", batch::run),
    ("board", "a ticket claimed on a board of 10,000, against the plain statement", board::run),
    ("cache", "a read answered from the cache, against the call that reads the file", cache::run),
    ("call", "one call by JSON text among 1,000 tools, against from_str, fn, to_string", call::run),
    ("compile", "a crate of 100 tools, against the same by hand", compile::run),
    #[cfg(feature = "context")]
    (
        "context",
        "a search among 100,000 parts, against bare FTS5; 10 MB piped, against written",
        context::run,
    ),
    ("delegate", "the start of a sub-agent, against that of a plain run", delegate::run),
    (
        "durable",
        "a turn of a recorded run, against its commits; late, against early; a new run beside 3,000, against beside ten",
        durable::run,
    ),
    ("edit", "an edit with change log and syntax check, against the bare atomic write", edit::run),
    ("grep", "searches through the dependencies' sources, against ripgrep", grep::run),
    ("history", "10,000 messages under a window, against copying them", history::run),
    ("idle", "what a worker reads beside 10,000 pending calls, against beside ten", idle::run),
    (
        "journal",
        "what a call writes to its journal, against two bare commits of SQLite",
        journal::run,
    ),
    #[cfg(feature = "context")]
    ("knowledge", "an edit of a line of 10,000, against the bare atomic write", knowledge::run),
    ("list", "1,000 tools in a request's text, against copying the text", list::run),
    (
        "mcp",
        "a server of 1,000 tools, a client, and 50 sessions over HTTP, against rmcp's",
        mcp::run,
    ),
    (
        "openapi",
        "GitHub's document to tools, against parsing it; a call, against a bare request",
        openapi::run,
    ),
    (
        "pending",
        "a page of pending approvals of a million calls, against of a thousand",
        pending::run,
    ),
    ("repair", "a call with a wrong type, against the accepted call", repair::run),
    ("request", "the body of a run's 200th request, against copying its bytes", request::run),
    ("result", "a page of an answer of 100 MB, against reading its bytes", result::run),
    ("schemas", "what a model is told of the same two types; no measure", schemas::run),
    ("search", "a search among 10,000 deferred tools, against a scan of their texts", search::run),
    (
        "shell",
        "a command line judged, against parsed; a program started, against std's",
        shell::run,
    ),
    ("startup", "a registry of 1,000 tools, against their bare schemas in a map", startup::run),
    ("stream", "a recorded stream of 2,000 deltas to events, against serde_json", stream::run),
    ("task", "tasks claimed by eight callers, against bare commits", task::run),
    ("turn", "one turn of an agent with ten tools, against rig's", turn::run),
    ("web", "a page fetched as Markdown, against parsing its HTML", web::run),
];

type Run = fn(Effort) -> Result<()>;

fn main() -> ExitCode {
    // Starts again as the supervisor of the programs that `shell` starts.
    toolwright_toolbox::Supervisor::supervise_if_asked();
    if let Err(error) = durable::resume_if_asked() {
        eprintln!("error: {error:#}");
        return ExitCode::FAILURE;
    }
    match mcp::serve_if_asked() {
        Ok(false) => {}
        Ok(true) => return ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            return ExitCode::FAILURE;
        }
    }
    match chosen(std::env::args().skip(1)).and_then(|(run, effort)| run(effort)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn chosen(arguments: impl Iterator<Item = String>) -> Result<(Run, Effort)> {
    let mut effort = Effort::Full;
    let mut run = None;
    for argument in arguments {
        match argument.as_str() {
            "--quick" => effort = Effort::Quick,
            name => match BENCHMARKS.iter().find(|(known, ..)| *known == name) {
                Some((.., found)) if run.is_none() => run = Some(*found),
                Some(_) => bail!("one benchmark at a time"),
                None => bail!("no benchmark is called `{name}`\n{}", names()),
            },
        }
    }
    match run {
        Some(run) => Ok((run, effort)),
        None => bail!("which benchmark?\n{}", names()),
    }
}

fn names() -> String {
    let lines: Vec<_> =
        BENCHMARKS.iter().map(|(name, about, _)| format!("  {name:<10} {about}")).collect();
    format!("benchmarks:\n{}\n`--quick` makes a short, rough run", lines.join("\n"))
}
