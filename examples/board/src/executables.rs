//! The programs `bonsai-…`. They take flags, ask no questions, and write JSON to standard output and errors to
//! standard error.
//!
//! | exit code | standard output |
//! | --- | --- |
//! | 0 | JSON: all is well |
//! | 1 | JSON: something is not, for instance because a test failed |
//! | 1 | nothing: the arguments are wrong or the program could not do its work, and standard error says why |

pub mod analyze;
pub mod criteria_check;
pub mod git_ops;
pub mod lint_runner;
mod manifests;
pub mod plan;
mod subprocess;
pub mod test_runner;

use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Arg, ArgMatches, Command, value_parser};
use serde::Serialize;

/// The report of a program, which it writes to standard output.
#[derive(Debug, Clone)]
pub struct Report {
    json: String,
    is_good: bool,
}

impl Report {
    /// Makes a report of a value. `is_good` says whether all is well; otherwise the exit code is 1.
    ///
    /// # Errors
    /// When the value cannot be serialized as JSON.
    pub fn of(value: &impl Serialize, is_good: bool) -> Result<Self, String> {
        let json = serde_json::to_string_pretty(value).map_err(|error| error.to_string())?;
        Ok(Self { json, is_good })
    }
}

/// The most bytes of a report's items. An agent's tool shows a model at most 30,000 bytes of a program's output, and
/// truncated JSON would be invalid.
const MOST_BYTES: usize = 20_000;

/// Shortens a list until it fits a report, and returns the number of omitted items.
fn shorten<T: Serialize>(items: &mut Vec<T>) -> usize {
    let all = items.len();
    let mut bytes = 0;
    let fitting = items.iter().take_while(|item| {
        bytes += serde_json::to_string_pretty(item).map_or(MOST_BYTES, |it| printed_bytes(&it));
        bytes <= MOST_BYTES
    });
    let fitting = fitting.count();
    items.truncate(fitting);
    all - fitting
}

/// Returns the bytes of an item within the list of a report, where each of its lines is indented by four more spaces, and
/// a comma and a line end follow it.
fn printed_bytes(item: &str) -> usize {
    item.len() + 4 * item.lines().count() + 2
}

/// The most bytes of the end of an output in a report, which JSON can make six times as long.
const MOST_OUTPUT: usize = 8_000;

/// Cuts the beginning of an output until its end fits a report.
fn shorten_output(mut output: String) -> String {
    let mut bytes = 0;
    let fitting = output.chars().rev().take_while(|it| {
        // Two of the bytes are quotation marks.
        bytes += serde_json::to_string(it).map_or(MOST_OUTPUT, |it| it.len() - 2);
        bytes <= MOST_OUTPUT
    });
    let fitting: usize = fitting.map(char::len_utf8).sum();
    output.split_off(output.len() - fitting)
}

/// Runs a program: reads its arguments, does its work, and writes its report.
#[must_use]
pub fn main(command: Command, work: fn(&ArgMatches) -> Result<Report, String>) -> ExitCode {
    let matches = match command.try_get_matches() {
        Ok(matches) => matches,
        // clap returns the text of `--help` as an error too.
        Err(message) => {
            let _ = message.print();
            return ExitCode::from(u8::from(message.use_stderr()));
        }
    };
    let reported = work(&matches).and_then(|report| {
        let mut out = std::io::stdout().lock();
        let written = writeln!(out, "{}", report.json).and_then(|()| out.flush());
        written
            .map(|()| report.is_good)
            .map_err(|error| format!("the report cannot be written: {error}"))
    });
    match reported {
        Ok(is_good) => ExitCode::from(u8::from(!is_good)),
        Err(why) => {
            eprintln!("error: {}", toolwright::runtime::printable::lines(&why));
            ExitCode::FAILURE
        }
    }
}

/// Declares the argument that names the folder of the repository.
fn repository() -> Arg {
    let help = "The folder of the repository";
    Arg::new("repo-path").required(true).value_parser(value_parser!(PathBuf)).help(help)
}

/// Returns the folder that the command line names.
fn folder(matches: &ArgMatches) -> Result<PathBuf, String> {
    let named: &PathBuf = matches.get_one("repo-path").ok_or("found no folder, expected one")?;
    match named.canonicalize() {
        Ok(folder) if folder.is_dir() => Ok(folder),
        Ok(_) => Err(format!("`{}` is not a folder", named.display())),
        Err(error) => Err(format!("`{}` cannot be opened: {error}", named.display())),
    }
}
