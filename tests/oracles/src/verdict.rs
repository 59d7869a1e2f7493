//! A tool put through a dialect, and what the judges say of it.

use std::collections::BTreeSet;
use std::fmt;

use serde_json::Value;
use toolwright::dialect::{DescribedTool, Dialect, Finding, Rule, Severity};

use crate::document::{self, Definition, DocumentError};
use crate::unwritten;

/// What became of one tool.
#[derive(Debug)]
pub enum Verdict {
    /// The vendor takes it.
    Accepted {
        /// As it is sent.
        tool: Value,
        /// What is told in words.
        notes: Vec<Finding>,
    },
    /// The dialect refuses it.
    Refused(Vec<Finding>),
    /// The dialect sends it, or refuses it without a reason, and a judge objects.
    Wrong {
        /// As it is sent.
        json: String,
        /// The judges' words.
        objections: Vec<String>,
    },
}

/// A dialect and its judges.
pub struct Court {
    dialect: Dialect,
    definitions: Vec<Definition>,
}

impl Court {
    /// The judges of one dialect.
    ///
    /// # Errors
    /// Where the vendor's document is missing.
    pub fn of(dialect: Dialect) -> Result<Self, DocumentError> {
        let definitions = document::of_one_tool(dialect)
            .into_iter()
            .map(|(document, name)| document.definition(name))
            .collect::<Result<_, _>>()?;
        Ok(Self { dialect, definitions })
    }

    /// Renders the tool and judges it.
    #[must_use]
    pub fn judge(&self, tool: &DescribedTool<'_>) -> Verdict {
        match self.dialect.render(tool) {
            Ok(rendered) => match serde_json::from_str(&rendered.json) {
                Ok(sent) => {
                    let objections = self.objections(&sent);
                    if objections.is_empty() {
                        Verdict::Accepted { tool: sent, notes: rendered.notes }
                    } else {
                        Verdict::Wrong { json: rendered.json, objections }
                    }
                }
                Err(error) => Verdict::Wrong {
                    json: rendered.json,
                    objections: vec![format!("what is sent is no JSON: {error}")],
                },
            },
            Err(findings) if findings.iter().any(|it| it.severity == Severity::Error) => {
                Verdict::Refused(findings)
            }
            Err(_) => Verdict::Wrong {
                json: String::new(),
                objections: vec!["it is refused, and no finding is an error".to_owned()],
            },
        }
    }

    /// Everything that either judge says of a tool as it is sent.
    #[must_use]
    pub fn objections(&self, sent: &Value) -> Vec<String> {
        let published = self.definitions.iter().flat_map(|it| it.objections(sent));
        let published = published.map(|words| format!("published: {words}"));
        let unwritten = unwritten::objections(self.dialect, sent).into_iter();
        published.chain(unwritten.map(|words| format!("unwritten: {words}"))).collect()
    }
}

/// The rules by which a tool is refused, each once, in one line.
#[must_use]
pub fn rules(findings: &[Finding]) -> String {
    let errors = findings.iter().filter(|it| it.severity == Severity::Error);
    let rules: BTreeSet<String> = errors.map(|it| it.rule.to_string()).collect();
    rules.into_iter().collect::<Vec<_>>().join(" + ")
}

/// The rules of the notes, each as often as it was noted.
pub fn noted(notes: &[Finding]) -> impl Iterator<Item = Rule> + '_ {
    notes.iter().map(|it| it.rule)
}

/// One line a finding.
impl fmt::Display for Verdict {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words: Vec<String> = match self {
            Self::Accepted { tool, notes } => {
                let notes = notes.iter().map(|note| format!("note: {note}"));
                std::iter::once(tool.to_string()).chain(notes).collect()
            }
            Self::Refused(findings) => {
                let word = |it: &Finding| match it.severity {
                    Severity::Note => "note",
                    Severity::Error => "error",
                };
                findings.iter().map(|it| format!("{}, {}: {it}", word(it), it.rule)).collect()
            }
            Self::Wrong { json, objections } => {
                let objections = objections.iter().map(|it| format!("wrong: {it}"));
                std::iter::once(json.clone()).chain(objections).collect()
            }
        };
        formatter.write_str(&words.join("\n"))
    }
}
