//! Toolwright: the tool in each dialect, with the dialect's notes.

use std::fmt::Write;

use anyhow::{Context, Result};
use serde_json::Value;
use toolwright::dialect::{Dialect, Finding};
use toolwright::{Registry, tool};

use super::{Place, Sent, Step};

/// Carries out a plan.
#[tool]
async fn carry_out(
    /// The step to begin with.
    first: Step,
    /// Where to write what was done.
    place: Place,
) -> String {
    match place {
        Place::Line { line } => format!("{} {}", first.action, line),
        Place::Heading { heading } => format!("{} {}", first.action, heading),
    }
}

/// Returns the text for people, and what is sent.
pub fn sent(dialect: Dialect) -> Result<(String, Sent)> {
    let name = format!("toolwright, {dialect}");
    Ok(match Registry::of([CARRY_OUT])?.listing(dialect) {
        Ok(listing) => {
            let tools: Value = serde_json::from_str(listing.tools().get())?;
            let schema = input_schema(&tools).context("the listing has no schema")?.clone();
            (format!("{tools:#}\n{}", lines(listing.notes())?), Sent { name, schema: Ok(schema) })
        }
        Err(error) => {
            let reason = format!("refused, {} findings", error.findings.len());
            (lines(&error.findings)?, Sent { name, schema: Err(reason) })
        }
    })
}

fn lines(findings: &[Finding]) -> Result<String> {
    let mut text = String::new();
    for finding in findings {
        writeln!(text, "{:?}: {finding}", finding.severity)?;
    }
    Ok(text)
}

/// Returns the schema of the tool's input, from the place where the provider expects it.
fn input_schema(tools: &Value) -> Option<&Value> {
    const PLACES: [&str; 5] = [
        "/0/input_schema",
        "/0/inputSchema",
        "/0/function/parameters",
        "/0/parameters",
        "/0/functionDeclarations/0",
    ];
    let found = PLACES.into_iter().find_map(|place| tools.pointer(place))?;
    let inner = ["parametersJsonSchema", "parameters"].into_iter().find_map(|key| found.get(key));
    Some(inner.unwrap_or(found))
}
