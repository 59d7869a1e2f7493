//! `bonsai-test` runs the test suite of a repository and reports the result of each case. For a failing suite the
//! report is complete, and the exit code is 1.

mod cargo;
mod pytest;
mod ticks;

use std::path::Path;
use std::process::Command as Process;
use std::time::Duration;

use clap::{Arg, ArgMatches, Command, value_parser};
use serde::Serialize;

use super::manifests::Manifest;
use super::subprocess;
use super::{Report, folder, repository, shorten, shorten_output};

/// The most characters of a case's failure message.
const LONGEST_MESSAGE: usize = 600;

/// The most bytes of a message and the most cases that are held while a suite runs. A suite may print for as long as its time
/// lasts.
const MOST_HELD: usize = 4 * LONGEST_MESSAGE;
pub(super) const MOST_CASES: usize = 100_000;

/// How a case ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    Failed,
    Passed,
    Skipped,
}

/// A test case and its result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Case {
    pub name: String,
    pub status: Status,
    /// The message of a failed case.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// The numbers of passed, failed and skipped cases.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Totals {
    pub passed: usize,
    pub failed: usize,
    pub skipped: usize,
}

impl Totals {
    /// Adds a number of cases. The sum saturates, since a foreign program prints the number.
    fn add(&mut self, status: Status, count: usize) {
        let total = match status {
            Status::Passed => &mut self.passed,
            Status::Failed => &mut self.failed,
            Status::Skipped => &mut self.skipped,
        };
        *total = total.saturating_add(count);
    }
}

/// The result of a suite.
#[derive(Debug, Serialize)]
pub struct Suite {
    /// The test runner's name.
    pub runner: &'static str,
    pub passed: bool,
    /// The exit code; `None` if the suite was killed.
    pub exit_code: Option<i32>,
    pub timed_out: bool,
    /// Whether the output could be parsed. If not, `totals` and `cases` are empty.
    pub parsed: bool,
    pub totals: Totals,
    /// The cases, the failed ones first.
    pub cases: Vec<Case>,
    /// The number of cases that were left out of `cases`, because there are too many.
    pub omitted: usize,
    /// The end of the output, if the cases do not explain the result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
}

/// Adds a case, unless there are too many.
fn add_case(cases: &mut Vec<Case>, mut case: Case) {
    if cases.len() < MOST_CASES {
        cut(&mut case.name);
        case.message.iter_mut().for_each(cut);
        cases.push(case);
    }
}

/// Cuts a text to the most characters of a message.
pub(super) fn cut(text: &mut String) {
    if let Some((end, _)) = text.char_indices().nth(LONGEST_MESSAGE) {
        text.truncate(end);
        text.shrink_to_fit();
    }
}

/// Reads the output of a runner line by line.
pub(super) trait Reader {
    fn line(&mut self, line: &str);

    /// Returns the parsed cases, and the totals if the runner prints them.
    fn end(self: Box<Self>) -> (Vec<Case>, Option<Totals>);
}

/// Returns the command line of `bonsai-test`.
#[must_use]
pub fn command() -> Command {
    Command::new("bonsai-test")
        .about("Runs the test suite of a repository and says how each case ended")
        .args([repository(), limit()])
}

/// Makes the option that sets the time limit.
pub(super) fn limit() -> Arg {
    let help = "After how many seconds the suite is ended";
    let seconds = value_parser!(u64).range(1..=86_400);
    Arg::new("limit").long("limit").default_value("600").value_parser(seconds).help(help)
}

/// Returns the time limit that the command line sets.
pub(super) fn limit_of(matches: &ArgMatches) -> Duration {
    Duration::from_secs(matches.get_one::<u64>("limit").copied().unwrap_or(600))
}

/// Runs the suite of the folder that the command line names.
///
/// # Errors
/// When the folder has no known suite, or its runner cannot be started.
pub fn run(matches: &ArgMatches) -> Result<Report, String> {
    let suite = suite(&folder(matches)?, limit_of(matches))?;
    Report::of(&suite, suite.passed)
}

/// Runs the suite of a folder, within a time limit.
///
/// # Errors
/// As [`run`].
pub fn suite(folder: &Path, limit: Duration) -> Result<Suite, String> {
    let (runner, arguments, mut reader): (_, &[&str], Box<dyn Reader>) = match Manifest::of(folder)?
    {
        Some(Manifest::Rust(_)) => (
            "cargo test",
            &["cargo", "test", "--no-fail-fast", "--color=never"],
            Box::<cargo::Lines>::default(),
        ),
        Some(Manifest::Node(package)) => match package["scripts"]["test"].as_str() {
            Some(_) => ("npm test", &["npm", "test", "--silent"], Box::<ticks::Lines>::default()),
            None => return Err("found no script `test` in `package.json`, expected one".to_owned()),
        },
        Some(Manifest::Python(_)) => (
            "pytest",
            &["python3", "-m", "pytest", "-q", "-rA", "--color=no", "-p", "no:cacheprovider"],
            Box::<pytest::Lines>::default(),
        ),
        None => return Err(unknown(folder)),
    };
    let mut command = Process::new(arguments[0]);
    command.args(&arguments[1..]).current_dir(folder);
    // Keep Python from writing compiled files beside the sources.
    command.env("NO_COLOR", "1").env("PYTHONDONTWRITEBYTECODE", "1");
    let ended =
        subprocess::run(&mut command, limit, subprocess::LONGEST_LINE, |line| reader.line(line));
    let ended = ended.map_err(|error| format!("`{}` was not started: {error}", arguments[0]))?;
    let (cases, words) = reader.end();
    Ok(Suite::of(runner, ended, cases, words))
}

/// Returns the error message for a folder whose kind of project is unknown.
pub(super) fn unknown(folder: &Path) -> String {
    format!(
        "found no project in `{}`, expected `Cargo.toml`, `package.json`, `pyproject.toml` or `setup.py`",
        folder.display()
    )
}

impl Suite {
    fn of(
        runner: &'static str,
        ended: subprocess::Ended,
        mut cases: Vec<Case>,
        words: Option<Totals>,
    ) -> Self {
        let count = |status| cases.iter().filter(|it| it.status == status).count();
        let counted = Totals {
            passed: count(Status::Passed),
            failed: count(Status::Failed),
            skipped: count(Status::Skipped),
        };
        let totals = words.unwrap_or(counted);
        let parsed = !cases.is_empty() || words.is_some();
        let passed = ended.code == Some(0) && totals.failed == 0;
        cases.sort_by_key(|it| it.status);
        for case in &mut cases {
            case.message.iter_mut().for_each(cut);
        }
        let omitted = shorten(&mut cases);
        // Failed cases explain a failure. For any other failure, and for output that cannot be parsed, report the raw
        // output.
        let is_said =
            parsed && words.is_none_or(|it| it == counted) && (passed || counted.failed > 0);
        let (exit_code, timed_out) = (ended.code, ended.timed_out);
        let output = (!is_said || timed_out).then(|| shorten_output(ended.tail));
        Self { runner, passed, exit_code, timed_out, parsed, totals, cases, omitted, output }
    }

    /// Returns whether the suite proves that the tests pass, and the reason. A suite in which no test passed proves
    /// nothing.
    #[must_use]
    pub fn finding(&self) -> (bool, String) {
        let Totals { passed, failed, skipped } = self.totals;
        match self {
            Self { timed_out: true, .. } => {
                (false, format!("{} took too long and was ended", self.runner))
            }
            Self { parsed: false, .. } => {
                (false, format!("the output of {} was not understood", self.runner))
            }
            Self { passed: false, .. } if failed == 0 => {
                (false, format!("{} failed before or after its tests", self.runner))
            }
            Self { passed: true, .. } if passed == 0 => {
                (false, format!("{} ran no test", self.runner))
            }
            _ => (
                self.passed,
                format!("{}: {passed} passed, {failed} failed, {skipped} skipped", self.runner),
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_of_many_cases_and_a_long_output_fits_an_answer() {
        for (name, tail) in [("src/lib.rs: tests::t", "x"), ("a: t", "\u{1}"), ("", "é\"")] {
            let cases = (0..2_000).map(|it| Case {
                name: format!("{name}{it}"),
                status: Status::Passed,
                message: None,
            });
            let tail = tail.repeat(4 * 1024 / tail.len());
            let ended = subprocess::Ended { code: None, timed_out: true, tail: tail.clone() };
            let suite = Suite::of("cargo test", ended, cases.collect(), None);
            assert!(suite.omitted > 0 && tail.ends_with(suite.output.as_deref().unwrap()));
            let report = Report::of(&suite, suite.passed).unwrap();
            assert!(report.json.len() <= 30_000, "{name}: {}", report.json.len());
        }
    }
}
