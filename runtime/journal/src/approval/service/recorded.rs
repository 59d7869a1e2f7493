//! Compares a statement that comes late or a second time with the call's history. This code does no I/O.

use super::{ApprovalError, ParsedStatement, SubmitOutcome};
use crate::approval::granted::Grant;
use crate::approval::{Decision, Statement};
use crate::journal::{CallRecord, Entry, Illegal};

/// Returns what was recorded when an equal statement (see [`is_same`]) was submitted before.
///
/// # Errors
/// When nothing was recorded for this statement. The error says which decision came first, or what happened to the
/// call.
pub(super) fn find_recorded(
    record: &CallRecord,
    history: &[Entry],
    said: &ParsedStatement<'_>,
    generation: u32,
    digest: &str,
) -> Result<SubmitOutcome, ApprovalError> {
    let verdict = &said.statement.verdict;
    let event = verdict
        .event()
        .ok_or_else(|| ApprovalError::Subject { verdict: Box::new(verdict.clone()) })?;
    let decisions = || {
        history.iter().filter_map(|entry| {
            let statement = entry.signed.as_ref()?.statement().ok()?;
            (statement.about == said.statement.about).then_some((entry, statement))
        })
    };
    if let Some((entry, statement)) =
        decisions().find(|(entry, statement)| is_same(said, entry, statement))
    {
        return Ok(SubmitOutcome {
            grant: matches!(statement.verdict, Decision::Approve { grant: Some(_) })
                .then(|| Grant::id_of(record.id, generation)),
            about: statement.about,
            verdict: statement.verdict,
            who: entry.who.clone(),
            at: entry.at,
            to: Some(entry.to),
            repeated: true,
        });
    }

    let call = record.id;
    // An earlier decision competes only if it was made in a state that allows this decision as well. For example, the
    // approval of a call that became indeterminate later does not compete with a statement about its outcome.
    let rivals =
        |entry: &Entry| entry.from.is_some_and(|from| crate::journal::next(from, event).is_ok());
    if let Some((entry, statement)) = decisions().find(|(entry, _)| rivals(entry)) {
        return Err(ApprovalError::Decided {
            call,
            who: entry.who.clone(),
            at: entry.at,
            verdict: Box::new(statement.verdict),
            state: record.state,
        });
    }
    let describe = |entry: Option<&Entry>| {
        let what = entry
            .and_then(|entry| entry.event)
            .map_or("recorded".to_owned(), |event| event.to_string());
        let who = entry.map_or("unknown".to_owned(), |entry| entry.who.clone());
        (what, who, entry.map_or(record.updated, |entry| entry.at))
    };
    if record.generation != generation {
        let since = history.iter().find(|entry| entry.generation == record.generation);
        let (what, who, at) = describe(since);
        let found = record.generation;
        return Err(ApprovalError::Generation { call, said: generation, found, what, who, at });
    }
    if record.digest != digest {
        let (said, found) = (digest.to_owned(), record.digest.clone());
        return Err(ApprovalError::Digest { call, said, found });
    }
    let (what, who, at) = describe(history.last());
    let illegal = Illegal { state: record.state, event };
    Err(ApprovalError::Elsewhere { call, illegal, what, who, at })
}

/// Whether a statement equals the one that an entry recorded: the same key signed the same text or the same decision.
fn is_same(said: &ParsedStatement<'_>, entry: &Entry, statement: &Statement) -> bool {
    entry.signed.as_ref().is_some_and(|signed| {
        signed.key == said.signed.key
            && (signed.text == said.signed.text || statement.verdict == said.statement.verdict)
    })
}
