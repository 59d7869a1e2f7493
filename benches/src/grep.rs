//! Searches the sources of this repository's dependencies, as cargo has downloaded them, by the tools `grep` and
//! `glob`, against ripgrep, which has to find the same.
//!
//! Both search the whole folder into which cargo has unpacked the sources. ripgrep runs as a process, and its output
//! is read to the end; the tools run in this process, through an executor, and count what they do not show. Where
//! ripgrep is not installed (`apt-get install ripgrep`, or `cargo install ripgrep`), the benchmark says so and
//! measures nothing.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use tokio::runtime::Runtime;
use toolwright::{Call, Executor, Registry};
use toolwright_toolbox::{GLOB, GREP, Workspace};

use crate::measure::{Contestant, Effort, print_ratio, print_table, take_turns};

/// A rare word, a frequent pattern, an alternative, a class with a repetition, and a pattern without a match.
const PATTERNS: [(&str, &str); 5] = [
    ("word", r"MaybeUninit"),
    ("common", r"fn \w+\("),
    ("either", r"TODO|FIXME|XXX"),
    ("class", r"0x[0-9a-fA-F]{8}\b"),
    ("nowhere", r"no_such_name_anywhere"),
];

/// As many lines as one answer may show.
const SHOWN: usize = 10_000;

pub fn run(effort: Effort) -> Result<()> {
    if Command::new("rg").arg("--version").stdout(Stdio::null()).status().is_err() {
        println!(
            "skipped: ripgrep is not installed; `apt-get install ripgrep` or `cargo install ripgrep`"
        );
        return Ok(());
    }
    let rounds = match effort {
        Effort::Full => 15,
        Effort::Quick => 3,
    };
    let sources = sources()?;
    let executor = Executor::builder(Registry::of([GREP, GLOB])?)
        .unrestricted()
        .service(Workspace::open(&sources)?)
        .build()?;
    let runtime = Runtime::new()?;
    for (name, pattern) in PATTERNS {
        let input = json!({"pattern": pattern, "limit": SHOWN});
        let arguments = ["--line-number", "--no-heading", "--with-filename", "--regexp", pattern];
        let ours = || answer(&runtime, &executor, "grep", &input);
        let theirs = || ripgrep(&sources, &arguments);
        let (found, expected) = (lines(&ours()?), theirs()?.lines().count());
        // Allow a small difference: ripgrep also searches files whose names suggest secrets.
        ensure!(
            found.abs_diff(expected) * 1000 <= expected.max(1000),
            "grep finds {found} lines of `{pattern}`, ripgrep {expected}"
        );
        measured(("grep", name), rounds, &ours, &theirs)?;
    }
    let input = json!({"pattern": "**", "limit": SHOWN});
    let ours = || answer(&runtime, &executor, "glob", &input);
    // The newest first, as the tool lists them.
    let theirs = || ripgrep(&sources, &["--files", "--sortr", "modified"]);
    let (found, expected) = (lines(&ours()?), theirs()?.lines().count());
    ensure!(found == expected, "glob finds {found} files, ripgrep {expected}");
    measured(("glob", "all"), rounds, &ours, &theirs)
}

fn measured(
    (benchmark, measure): (&str, &str),
    rounds: usize,
    ours: &dyn Fn() -> Result<String>,
    theirs: &dyn Fn() -> Result<String>,
) -> Result<()> {
    let rounds = take_turns(
        rounds,
        vec![
            Contestant::new("toolwright", || timed(ours)),
            Contestant::new("rg", || timed(theirs)),
        ],
    )?;
    let mut table = vec![vec![format!("{benchmark}/{measure}"), "ms".to_owned()]];
    for name in ["toolwright", "rg"] {
        table.push(vec![name.to_owned(), format!("{:.1}", rounds.median(name)? * 1000.0)]);
    }
    print_table(&table);
    print_ratio(benchmark, measure, &rounds.ratio("toolwright", "rg")?, "rg");
    Ok(())
}

fn timed(work: &dyn Fn() -> Result<String>) -> Result<Duration> {
    let start = Instant::now();
    work()?;
    Ok(start.elapsed())
}

fn answer(runtime: &Runtime, executor: &Executor, tool: &str, input: &Value) -> Result<String> {
    let answer = runtime.block_on(executor.call(&Call::new(tool, input.to_string().as_str())));
    ensure!(!answer.is_error(), "{}", answer.text());
    Ok(answer.text().into_owned())
}

/// Counts the lines of an answer, with those that it leaves out and counts.
fn lines(answer: &str) -> usize {
    let more =
        |line: &str| line.strip_prefix('[')?.split_whitespace().next()?.parse::<usize>().ok();
    let is_more = |line: &&str| line.contains(" more line") || line.contains(" more file");
    let shown = answer.lines().filter(|it| !it.starts_with('[') && !it.starts_with("no "));
    let more = answer.lines().filter(|it| it.starts_with('[')).filter(is_more).filter_map(more);
    shown.count() + more.sum::<usize>()
}

fn ripgrep(folder: &Path, arguments: &[&str]) -> Result<String> {
    let output = Command::new("rg")
        // As the tools do: ignore the user's rules and those of parent folders, and use `.gitignore` also outside of
        // a repository.
        .args(["--no-config", "--no-ignore-global", "--no-ignore-parent", "--no-require-git"])
        .args(arguments)
        .arg("./")
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .context("running rg")?;
    // Exit code 1 means no match.
    ensure!(
        matches!(output.status.code(), Some(0 | 1)),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Returns the folder into which cargo has unpacked the dependencies of this program.
fn sources() -> Result<PathBuf> {
    let output = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args(["metadata", "--format-version", "1", "--locked", "--offline", "--manifest-path"])
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"))
        .output()?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr).trim());
    let metadata: Value = serde_json::from_slice(&output.stdout)?;
    let packages = metadata["packages"].as_array().context("cargo lists no packages")?;
    let manifest = packages
        .iter()
        .filter(|it| it["source"].as_str().is_some_and(|it| it.starts_with("registry+")))
        .find_map(|it| it["manifest_path"].as_str())
        .context("no dependency comes from a registry")?;
    let folder = Path::new(manifest).parent().and_then(Path::parent);
    Ok(folder.context("a dependency is in no folder")?.to_owned())
}
