//! `bonsai-lint` runs the linter of a repository and reports its problems.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command as Process;
use std::time::Duration;

use clap::{ArgMatches, Command};
use serde::Serialize;
use serde_json::Value;

use super::manifests::Manifest;
use super::subprocess;
use super::test_runner::{MOST_CASES, cut, limit, limit_of, unknown};
use super::{Report, folder, repository, shorten, shorten_output};

/// The most bytes of a line. One message of clippy repeats every source line that it is about, in several forms.
const LONGEST_LINE: u64 = 1024 * 1024;

/// A problem that a linter found.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Problem {
    pub file: String,
    pub line: u64,
    /// The severity: `error`, `warning`, or another word of the linter.
    pub level: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    pub message: String,
}

/// The result of a linter.
#[derive(Debug, Serialize)]
pub struct Lint {
    pub linter: &'static str,
    pub passed: bool,
    /// The exit code; `None` if the linter was killed.
    pub exit_code: Option<i32>,
    pub timed_out: bool,
    pub count: usize,
    pub problems: Vec<Problem>,
    /// The number of problems that were left out of `problems`, because there are too many.
    pub omitted: usize,
    /// The end of the output, if the problems do not explain why the linter failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
}

/// The different problems that a linter has printed so far. Their number and size are limited, because a linter may print
/// for as long as its time lasts.
#[derive(Default)]
struct Problems {
    held: BTreeSet<Problem>,
    /// The number of problems that are not held.
    more: usize,
}

impl Problems {
    fn add(&mut self, mut problem: Problem) {
        let Problem { file, level, code, message, .. } = &mut problem;
        [file, level, message].into_iter().chain(code).for_each(cut);
        if self.held.len() < MOST_CASES {
            self.held.insert(problem);
        } else if !self.held.contains(&problem) {
            self.more = self.more.saturating_add(1);
        }
    }

    fn count(&self) -> usize {
        self.held.len().saturating_add(self.more)
    }
}

/// A function that parses a line of a linter's output.
type ReadLine = Box<dyn FnMut(&str) -> Option<Problem>>;

/// Returns the command line of `bonsai-lint`.
#[must_use]
pub fn command() -> Command {
    Command::new("bonsai-lint")
        .about("Runs the linter of a repository and says what it found")
        .args([repository(), limit()])
}

/// Runs the linter.
///
/// # Errors
/// When the folder has no known linter, or the linter cannot be started.
pub fn run(matches: &ArgMatches) -> Result<Report, String> {
    let lint = lint(&folder(matches)?, limit_of(matches))?;
    Report::of(&lint, lint.passed)
}

/// Runs the linter of a folder, within a time limit.
///
/// # Errors
/// As [`run`].
pub fn lint(folder: &Path, limit: Duration) -> Result<Lint, String> {
    let (linter, arguments, mut read): (_, &[&str], ReadLine) = match Manifest::of(folder)? {
        Some(Manifest::Rust(_)) => (
            "cargo clippy",
            &["cargo", "clippy", "--quiet", "--all-targets", "--message-format=json"],
            Box::new(clippy),
        ),
        Some(Manifest::Node(package)) if package["scripts"]["lint"].is_string() => {
            ("npm run lint", &["npm", "run", "lint", "--silent"], by_place(folder))
        }
        Some(Manifest::Node(_)) => {
            return Err("found no script `lint` in `package.json`, expected one".to_owned());
        }
        Some(Manifest::Python(_)) => (
            "ruff",
            &["python3", "-m", "ruff", "check", "--no-cache", "--output-format=concise", "."],
            by_place(folder),
        ),
        None => return Err(unknown(folder)),
    };
    let mut command = Process::new(arguments[0]);
    command.args(&arguments[1..]).current_dir(folder).env("NO_COLOR", "1");
    let mut problems = Problems::default();
    let ended = subprocess::run(&mut command, limit, LONGEST_LINE, |line| {
        read(line).into_iter().for_each(|it| problems.add(it));
    });
    let ended = ended.map_err(|error| format!("`{}` was not started: {error}", arguments[0]))?;
    let count = problems.count();
    let is_ended = ended.code == Some(0);
    let mut problems: Vec<Problem> = problems.held.into_iter().collect();
    shorten(&mut problems);
    let omitted = count - problems.len();
    Ok(Lint {
        linter,
        passed: is_ended && count == 0,
        exit_code: ended.code,
        timed_out: ended.timed_out,
        count,
        problems,
        omitted,
        output: (!is_ended && count == 0).then(|| shorten_output(ended.tail)),
    })
}

impl Lint {
    /// Returns whether the linter found no problem, and the finding as a sentence.
    #[must_use]
    pub fn finding(&self) -> (bool, String) {
        let words = match self {
            Self { timed_out: true, .. } => "took too long and was ended".to_owned(),
            Self { passed: false, count: 0, .. } => "failed".to_owned(),
            Self { count, .. } => format!("found {count} problems"),
        };
        (self.passed, format!("{} {words}", self.linter))
    }
}

/// Parses a compiler message, in cargo's JSON format. A message that cannot be parsed, because its line was cut, is a
/// problem too: otherwise a warning could be lost, and the linter would pass.
fn clippy(line: &str) -> Option<Problem> {
    let Ok(line) = serde_json::from_str::<Value>(line) else {
        return line.starts_with(r#"{"reason":"compiler-message""#).then(|| Problem {
            file: String::new(),
            line: 0,
            level: "warning".to_owned(),
            code: None,
            message: "found a message of clippy that is too long to be read; run clippy to see it"
                .to_owned(),
        });
    };
    let message = (line["reason"] == "compiler-message").then(|| &line["message"])?;
    let spans = message["spans"].as_array()?;
    // A message without a source location is a summary.
    let place = spans.iter().find(|it| it["is_primary"] == true)?;
    Some(Problem {
        file: place["file_name"].as_str()?.to_owned(),
        line: place["line_start"].as_u64()?,
        level: message["level"].as_str()?.to_owned(),
        code: message["code"]["code"].as_str().map(str::to_owned),
        message: message["message"].as_str()?.to_owned(),
    })
}

/// Parses lines such as `src/a.py:3:5: F401 unused import`, which most linters can write. Also parses the format of
/// ESLint, in which a line with the file precedes lines such as `  3:5  error  'a' is not defined  no-undef`. Files are
/// relative to the folder.
fn by_place(folder: &Path) -> ReadLine {
    let (folder, mut file) = (folder.to_owned(), None);
    Box::new(move |line| {
        let relative = |file: &str| {
            let path = Path::new(file);
            path.strip_prefix(&folder).unwrap_or(path).display().to_string()
        };
        if line.starts_with('/') && Path::new(line).is_file() {
            file = Some(relative(line));
            return None;
        }
        let found = beside_place(line);
        if let (Some((line, level, message)), Some(file)) = (found, &file) {
            let (file, level) = (file.clone(), level.to_owned());
            let (message, code) =
                message.rsplit_once("  ").map_or((message, None), |(message, code)| {
                    (message.trim_end(), Some(code.to_owned()))
                });
            return Some(Problem { file, line, level, code, message: message.to_owned() });
        }
        let (file, rest) = line.split_once(':')?;
        let (number, rest) = rest.split_once(':')?;
        let line = number.parse().ok()?;
        let column = rest.split_once(':').filter(|(column, _)| column.parse::<u64>().is_ok());
        let message = column.map_or(rest, |(_, it)| it).trim().to_owned();
        let level = if message.contains("warning") { "warning" } else { "error" }.to_owned();
        let is_path = !file.is_empty() && !file.contains(char::is_whitespace);
        is_path.then(|| Problem { file: relative(file), line, level, code: None, message })
    })
}

/// Parses the line number, level and message of a line such as `  3:5  error  'a' is not defined  no-undef`.
fn beside_place(line: &str) -> Option<(u64, &str, &str)> {
    let (place, rest) = line.strip_prefix("  ")?.trim_start().split_once(' ')?;
    let (line, column) = place.split_once(':')?;
    column.parse::<u64>().ok()?;
    let (level, message) = rest.trim_start().split_once(' ')?;
    let is_level = matches!(level, "error" | "warning");
    is_level.then_some((line.parse().ok()?, level, message.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_linter_that_prints_without_end_a_limited_number_of_problems_is_held() {
        let (mut read, mut problems) = (by_place(Path::new("/tea")), Problems::default());
        for line in 0..200_000 {
            read(&format!("a.rs:{line}: cold")).into_iter().for_each(|it| problems.add(it));
        }
        assert_eq!((problems.held.len(), problems.count()), (MOST_CASES, 200_000));
        let mut few = Problems::default();
        let long = format!("a.rs:1: {}", "x".repeat(10_000));
        read(&long).into_iter().for_each(|it| few.add(it));
        assert_eq!(few.held.first().unwrap().message.len(), 600);
    }
}
