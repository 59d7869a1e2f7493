//! The outcome of converting one line to one dialect.

use std::fmt;

use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;
use toolwright::dialect::{DescribedTool, Dialect, Finding, Severity};
use toolwright::printable;
use toolwright::unstable::foreign::{self, TypeNames};

use crate::line::{self, Tool};
use crate::lines::{LONGEST, Line};

pub(super) struct Outcome {
    pub(super) line: usize,
    pub(super) name: Option<String>,
    pub(super) dialect: Dialect,
    /// The tool in the provider's format, as JSON text, or the findings that prevent it.
    shown: Result<String, Vec<ListedFinding>>,
    pub(super) notes: Vec<ListedFinding>,
}

/// A finding about a dialect, the schema itself or the line.
#[derive(Debug, Clone, Serialize)]
pub(super) struct ListedFinding {
    severity: Severity,
    rule: String,
    /// The place of the finding, as a JSON pointer into `{"name", "description", "input_schema"}`.
    pointer: String,
    message: String,
    fix: String,
}

impl ListedFinding {
    /// Makes a finding about the schema itself, before a dialect is applied.
    fn of_schema(severity: Severity, pointer: &str, message: String) -> Self {
        let pointer = format!("/input_schema{pointer}");
        Self { severity, rule: "schema".to_owned(), pointer, message, fix: String::new() }
    }

    fn of_line(message: String) -> Self {
        let (rule, pointer, fix) = ("line".to_owned(), String::new(), String::new());
        Self { severity: Severity::Error, rule, pointer, message, fix }
    }
}

impl From<Finding> for ListedFinding {
    fn from(finding: Finding) -> Self {
        let Finding { severity, rule, pointer, message, fix, .. } = finding;
        Self { severity, rule: rule.to_string(), pointer, message, fix }
    }
}

impl fmt::Display for ListedFinding {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.pointer, self.message)?;
        if self.fix.is_empty() { Ok(()) } else { write!(formatter, "; {}", self.fix) }
    }
}

impl Outcome {
    pub(super) fn is_refused(&self) -> bool {
        self.shown.is_err()
    }

    /// Returns the tool in the provider's format, or a JSON object that says why there is none.
    pub(super) fn form(&self) -> String {
        self.shown.clone().unwrap_or_else(|_| Report { notes: None, ..self.whole() }.to_string())
    }

    pub(super) fn report(&self) -> String {
        self.whole().to_string()
    }

    fn whole(&self) -> Report<'_> {
        let form = self.shown.as_deref().ok().map(serde_json::from_str::<&RawValue>);
        Report {
            line: self.line,
            name: self.name.as_deref(),
            dialect: self.dialect,
            form: form.and_then(Result::ok),
            refused: self.shown.as_ref().err().map(Vec::as_slice),
            notes: Some(&self.notes),
        }
    }
}

#[derive(Serialize)]
struct Report<'a> {
    line: usize,
    name: Option<&'a str>,
    dialect: Dialect,
    #[serde(skip_serializing_if = "Option::is_none")]
    form: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    refused: Option<&'a [ListedFinding]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    notes: Option<&'a [ListedFinding]>,
}

impl fmt::Display for Report<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let line = serde_json::to_string(self).map_err(|_| fmt::Error)?;
        formatter.write_str(&printable::json(&line))
    }
}

/// Makes the outcome of a line for each dialect.
pub(super) fn of(
    number: usize,
    line: &Line<'_>,
    names: TypeNames,
    dialects: &[Dialect],
) -> Vec<Outcome> {
    let refused = |name: Option<String>, findings: Vec<ListedFinding>| -> Vec<Outcome> {
        let refused = dialects.iter().map(|dialect| Outcome {
            line: number,
            name: name.clone(),
            dialect: *dialect,
            shown: Err(findings.clone()),
            notes: Vec::new(),
        });
        refused.collect()
    };
    let text = match line {
        Line::Text(text) => text,
        Line::TooLong => {
            let message = format!("the line is longer than {LONGEST} bytes, expected one tool");
            return refused(None, vec![ListedFinding::of_line(message)]);
        }
    };
    let tool = match Tool::of(text) {
        Ok(tool) => tool,
        Err(problem) => {
            return refused(line::name_of(text), vec![ListedFinding::of_line(problem.to_string())]);
        }
    };
    let arrived = match foreign::input_schema(&tool.input_schema, names) {
        Ok(arrived) => arrived,
        Err(problems) => {
            let findings = problems
                .into_iter()
                .map(|it| ListedFinding::of_schema(Severity::Error, &it.pointer, it.message));
            return refused(Some(tool.name), findings.collect());
        }
    };
    let notes: Vec<ListedFinding> = arrived
        .notes
        .into_iter()
        .map(|it| ListedFinding::of_schema(Severity::Note, &it.pointer, it.message))
        .collect();
    let shown =
        dialects.iter().map(|dialect| show(number, &tool, &arrived.schema, *dialect, &notes));
    shown.collect()
}

fn show(
    line: usize,
    tool: &Tool,
    schema: &Value,
    dialect: Dialect,
    notes: &[ListedFinding],
) -> Outcome {
    let mut described = DescribedTool::new(&tool.name, &tool.description, schema);
    described.title = tool.title.as_deref();
    let order: Vec<&str> = tool.order.iter().map(String::as_str).collect();
    described.order = &order;
    let mut notes = notes.to_vec();
    let shown = match dialect.render(&described) {
        Ok(rendered) => {
            notes.extend(rendered.notes.into_iter().map(ListedFinding::from));
            Ok(rendered.json)
        }
        Err(findings) => {
            let (errors, more): (Vec<_>, Vec<_>) =
                findings.into_iter().partition(|it| it.severity == Severity::Error);
            notes.extend(more.into_iter().map(ListedFinding::from));
            Err(errors.into_iter().map(ListedFinding::from).collect())
        }
    };
    Outcome { line, name: Some(tool.name.clone()), dialect, shown, notes }
}
