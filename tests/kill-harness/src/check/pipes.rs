//! Compares pipes with the context store: it has exactly the texts of the pipes that succeeded, each once and whole.

use serde::Deserialize;
use toolwright::journal::{CallRecord, Failure, State, Transition};

use super::{Case, Findings, Kind};
use crate::script::PIPE;
use crate::texts::Stored;

/// The answer of a pipe.
#[derive(Deserialize)]
struct Piped {
    path: String,
    version: u32,
    bytes_written: usize,
}

/// Returns whether a call is the pipe that has written a text.
pub fn has_written(record: &CallRecord, stored: &Stored) -> bool {
    let by = format!(", by call {}", record.idempotency_key);
    record.tool == PIPE && stored.note.ends_with(&by)
}

pub fn check(case: &Case<'_>, findings: &mut Findings<'_>) {
    let Some(record) = case.record.filter(|_| case.intended.is_pipe()) else { return };
    let texts: Vec<_> = case.texts.iter().filter(|it| has_written(record, it)).collect();
    if texts.len() > 1 {
        findings.add(Kind::Duplicate, format!("it has stored {} texts", texts.len()));
    }
    let (path, _) = case.intended.path();
    let inner = case.child.filter(|it| it.state == State::Succeeded);
    let answer = inner.and_then(|it| it.answer.as_ref());
    for it in &texts {
        findings.unless(it.path == path, format!("it has stored its text as `{}`", it.path));
        let Some(answer) = answer else {
            findings.add(Kind::Unexpected, "it has stored a text, but its inner call failed");
            continue;
        };
        let (bytes, expected) = (it.text.len(), answer.text.len());
        findings.unless(
            it.text == answer.text,
            format!("the text of {bytes} bytes is not the inner answer of {expected} bytes"),
        );
    }
    match record.state {
        State::Succeeded => succeeded(record, &texts, findings),
        State::Failed => {
            findings.unless(texts.is_empty(), "it failed, but has stored a text");
            findings.unless(inner.is_none(), "it failed, though its inner call succeeded");
        }
        // Its process may have been killed between the store and the journal.
        _ => {
            let is_lost =
                |event| matches!(event, Transition::Errored { failure: Failure::OwnerLost, .. });
            let may_have = texts.is_empty() || case.has(is_lost);
            findings.unless(may_have, format!("it has stored a text, but is {}", record.state));
        }
    }
}

/// What it answers is in the store.
fn succeeded(record: &CallRecord, texts: &[&Stored], findings: &mut Findings<'_>) {
    let answer = record.answer.as_ref().map_or("nothing", |it| it.text.as_str());
    let Ok(piped) = serde_json::from_str::<Piped>(answer) else {
        return findings.add(Kind::Unexpected, format!("its answer is `{answer}`"));
    };
    let is_there = texts.iter().any(|it| {
        (&it.path, it.version, it.text.len()) == (&piped.path, piped.version, piped.bytes_written)
    });
    if !is_there {
        findings.add(Kind::Lost, format!("it succeeded, but its text is not stored: `{answer}`"));
    }
}
