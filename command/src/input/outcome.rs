//! Describes how the input of one call was repaired or refused.

use serde::Serialize;
use serde_json::value::RawValue;
use toolwright::Repair;
use toolwright::repair::Change;
use toolwright::unstable::foreign;
use toolwright::unstable::repair::{Refusal, RepairedInput, Repairer};

use super::InputOptions;
use super::call::Call;
use crate::lines::{LONGEST, Line};

#[derive(Debug, Serialize)]
pub(super) struct Outcome {
    pub(super) line: usize,
    pub(super) name: Option<String>,
    #[serde(rename = "outcome")]
    pub(super) kind: Kind,
    /// The input that the tool would get, after repairs; `None` if the input is refused.
    pub(super) input: Option<Box<RawValue>>,
    pub(super) report: Vec<Change>,
    pub(super) problems: Vec<InputProblem>,
    /// The error message that the model would read.
    pub(super) message: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) example: Option<Box<RawValue>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Kind {
    Accepted,
    Repaired,
    Refused,
}

/// A problem of the input, or of the line that holds the call.
#[derive(Debug, Serialize)]
pub(super) struct InputProblem {
    pointer: String,
    rule: &'static str,
    found: String,
    expected: String,
    near: Option<String>,
}

impl Outcome {
    pub(super) fn is_taken(&self) -> bool {
        self.kind != Kind::Refused
    }

    /// Makes the outcome of a line whose input was not examined, because the line or the tool's schema is invalid.
    fn of_line(line: usize, name: Option<String>, problems: Vec<InputProblem>) -> Self {
        let words = problems.iter().map(|it| match it.pointer.as_str() {
            "" => it.expected.clone(),
            pointer => format!("{pointer}: {}", it.expected),
        });
        let message = Some(words.collect::<Vec<_>>().join("\n"));
        let report = Vec::new();
        Self {
            line,
            name,
            kind: Kind::Refused,
            input: None,
            report,
            problems,
            message,
            example: None,
        }
    }
}

impl InputProblem {
    /// Makes a problem of the line or of the schema, rather than of the input.
    fn beside(rule: &'static str, pointer: &str, message: String) -> Self {
        let pointer = pointer.to_owned();
        Self { pointer, rule, found: String::new(), expected: message, near: None }
    }
}

pub(super) fn of(number: usize, line: &Line<'_>, wanted: &InputOptions) -> Outcome {
    let refused = |name, message| {
        Outcome::of_line(number, name, vec![InputProblem::beside("line", "", message)])
    };
    let text = match line {
        Line::Text(text) => text,
        Line::TooLong => {
            let message = format!("the line is longer than {LONGEST} bytes, expected one call");
            return refused(None, message);
        }
    };
    let call = match Call::of(text) {
        (_, Ok(call)) => call,
        (name, Err(problem)) => return refused(name, problem.to_string()),
    };
    let name = Some(call.tool.name.clone());
    let place = |pointer: &str| format!("/tool/input_schema{pointer}");
    let arrived = match foreign::input_schema(&call.tool.input_schema, wanted.names) {
        Ok(arrived) => arrived,
        Err(problems) => {
            let problems = problems
                .into_iter()
                .map(|it| InputProblem::beside("schema", &place(&it.pointer), it.message));
            return Outcome::of_line(number, name, problems.collect());
        }
    };
    let ladder = match Repairer::new(&arrived.schema, []) {
        Ok(ladder) => ladder.named(&call.tool.name),
        Err(error) => {
            return Outcome::of_line(
                number,
                name,
                vec![InputProblem::beside("schema", &place(""), error)],
            );
        }
    };
    match repair(&ladder, &call.arguments, wanted) {
        Ok(repaired) => accept(number, name, repaired),
        Err(refusal) => refusal_of(number, name, refusal),
    }
}

/// Repairs input as an executor does: tries the lenient repair only where the standard repair fails.
fn repair(ladder: &Repairer, text: &str, wanted: &InputOptions) -> Result<RepairedInput, Refusal> {
    let climb = |level| ladder.repair(text, level, wanted.brackets);
    match wanted.level {
        Repair::Lenient => climb(Repair::Standard).or_else(|_| climb(Repair::Lenient)),
        level => climb(level),
    }
}

fn accept(line: usize, name: Option<String>, repaired: RepairedInput) -> Outcome {
    let kind = if repaired.changes.is_empty() { Kind::Accepted } else { Kind::Repaired };
    Outcome {
        line,
        name,
        kind,
        input: raw(repaired.text),
        report: repaired.changes,
        problems: Vec::new(),
        message: None,
        example: None,
    }
}

fn refusal_of(line: usize, name: Option<String>, refusal: Refusal) -> Outcome {
    let message = Some(refusal.to_string());
    let problems = refusal.problems.into_iter().map(|problem| InputProblem {
        rule: problem.rule.name(),
        pointer: problem.pointer,
        found: problem.found,
        expected: problem.expected,
        near: problem.near,
    });
    let (problems, example) = (problems.collect(), refusal.example.and_then(raw));
    let report = Vec::new();
    Outcome { line, name, kind: Kind::Refused, input: None, report, problems, message, example }
}

/// Embeds JSON unchanged but for its line breaks, which are white space in JSON and become spaces.
fn raw(text: String) -> Option<Box<RawValue>> {
    let line = if text.contains(['\n', '\r']) { text.replace(['\n', '\r'], " ") } else { text };
    RawValue::from_string(line).ok()
}
