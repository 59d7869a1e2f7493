//! Cases of `policy test`: a call and the expected decision, one per line.

use std::fmt;

use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use toolwright_core::input::Reader;
use toolwright_policy::policy::PolicyDecision;

/// A call, and the decision that is expected for it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Case {
    pub(super) tool: String,
    pub(super) arguments: Option<Box<RawValue>>,
    pub(super) user: Option<String>,
    pub(super) expect: ExpectedOutcome,
    /// The rule that decides, or `mode`, `tool` or `plan`.
    pub(super) because: Option<String>,
}

/// The expected decision, in one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ExpectedOutcome {
    Allow,
    Ask,
    AlwaysAsk,
    Deny,
    Queue,
}

impl ExpectedOutcome {
    pub(super) fn of(verdict: &PolicyDecision) -> Self {
        match verdict {
            PolicyDecision::Allow => Self::Allow,
            PolicyDecision::Ask { grants_count: true, .. } => Self::Ask,
            PolicyDecision::Ask { grants_count: false, .. } => Self::AlwaysAsk,
            PolicyDecision::Deny { .. } => Self::Deny,
            PolicyDecision::Queue => Self::Queue,
        }
    }
}

impl fmt::Display for ExpectedOutcome {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::AlwaysAsk => "always_ask",
            Self::Deny => "deny",
            Self::Queue => "queue",
        })
    }
}

/// Reads the cases of a file with their line numbers, or returns all its problems.
pub(super) fn read(name: &str, text: &str) -> Result<Vec<(usize, Case)>, String> {
    let (mut cases, mut problems) = (Vec::new(), Vec::new());
    let lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
    for (number, line) in lines {
        // serde would also accept a list, as the fields of a case in order, so lists are refused here.
        if !line.trim_start().starts_with('{') {
            problems.push(format!("{name}:{number}:1: a case is an object, as `{{\"tool\":…}}`"));
            continue;
        }
        match serde_json::from_str(line) {
            Ok(case) => cases.push((number, case)),
            Err(error) => {
                let (why, column) = (why(line), error.column());
                problems.push(format!("{name}:{number}:{column}: {why}"));
            }
        }
    }
    match problems.as_slice() {
        [] if cases.is_empty() => Err(format!("there are no cases in `{name}`")),
        [] => Ok(cases),
        _ => Err(format!("the cases cannot be used\n- {}", problems.join("\n- "))),
    }
}

/// A case in the form for [`Reader`], whose messages describe problems better than those of serde.
#[derive(Deserialize)]
#[expect(dead_code, reason = "it is read only to find out what is wrong with it")]
struct WrittenCase {
    tool: String,
    arguments: Option<IgnoredAny>,
    user: Option<String>,
    expect: ExpectedOutcome,
    because: Option<String>,
}

/// Explains why a line is not a valid case.
fn why(line: &str) -> String {
    let mut reader = Reader::new(line);
    let read = reader.read::<WrittenCase>().and_then(|_| reader.finish());
    match read {
        Err(fault) => fault.to_string(),
        Ok(()) => {
            "a case has `tool`, `expect` and, where wanted, `arguments`, `user` and `because`"
                .to_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_that_is_no_case_is_told_with_its_place() {
        let text = r#"{"tool":"a","expect":"allow"}

{"tool":"a","expect":"allow","expects":"deny"}
{"tool":"a","expect":"alow"}
{"tool":"a"}
{"tool":"a","expect":"deny","expect":"allow"}
[]
tool = "a""#;
        insta::assert_snapshot!(read("cases.jsonl", text).unwrap_err());
    }

    #[test]
    fn a_file_without_a_case_proves_nothing() {
        let error = read("cases.jsonl", "\n\n").unwrap_err();
        assert_eq!(error, "there are no cases in `cases.jsonl`");
    }
}
