//! Applies a statement to its call. This code does no I/O.

use std::collections::HashMap;

use serde::de::IgnoredAny;

use super::{ApprovalError, ParsedStatement};
use crate::approval::granted::Grant;
use crate::approval::{Decision, GrantTerms, Statement, Subject};
use crate::journal::{
    AnswerRecord, CallRecord, Entry, NotAdvanced, Note, State, StoredText, may_have_happened,
};
use toolwright_core::json::canonical;

/// A call after a decision, with the entry and the grant to commit.
pub(super) struct DecidedCall {
    pub(super) record: CallRecord,
    pub(super) entry: Entry,
    pub(super) grant: Option<Grant>,
}

/// Applies a statement to a call. Returns `None` if the state of the call does not allow the decision. `begun` is how
/// often the call may have acted before. With `is_unseen`, an approval of encrypted arguments is accepted, although
/// they cannot be compared here with the shown ones.
pub(super) fn decide(
    mut record: CallRecord,
    begun: u32,
    said: &ParsedStatement<'_>,
    is_unseen: bool,
) -> Result<Option<DecidedCall>, ApprovalError> {
    let ParsedStatement { signed, statement, now } = said;
    let verdict = &statement.verdict;
    let event = verdict
        .event()
        .ok_or_else(|| ApprovalError::Subject { verdict: Box::new(verdict.clone()) })?;
    let (generation, waited) = (record.generation, record.state == State::Pending);
    let note = Note {
        who: statement.by.clone(),
        at: *now,
        why: match verdict {
            _ if statement.note.is_some() => statement.note.clone(),
            Decision::Reject { reason } => reason.clone(),
            Decision::Discard { note, .. } => note.clone(),
            _ => None,
        },
        signed: Some((*signed).clone()),
    };
    let entry = match record.advance(event, note) {
        Ok(entry) => entry,
        Err(NotAdvanced::Illegal(_)) => return Ok(None),
        Err(why) => return Err(ApprovalError::NotAdvanced { call: record.id, why }),
    };
    if let Some(ask) = record.ask.as_ref().filter(|ask| waited && *now >= ask.deadline) {
        return Err(ApprovalError::Late { call: record.id, deadline: ask.deadline });
    }
    refuse_other_journal(&record, statement)?;
    if verdict.lets_run_as_shown() {
        match refuse_altered(&record) {
            Err(ApprovalError::Unseen { .. }) if is_unseen => {}
            checked => checked?,
        }
        if !says_what_is_shown(statement, &record) {
            return Err(ApprovalError::NotShown { call: record.id });
        }
    }

    record.decision = Some((*signed).clone());
    let mut grant = None;
    match verdict {
        Decision::Approve { grant: Some(terms) } => {
            check_terms(terms, &record, said)?;
            grant = Some(Grant {
                id: Grant::id_of(record.id, generation),
                signed: (*signed).clone(),
                granted: *now,
                used: 0,
                revoked: None,
            });
        }
        Decision::Edit { arguments, .. } => {
            check_arguments(arguments, &record)?;
            record.proposal = Some(arguments.clone());
        }
        Decision::Reject { reason } => {
            let more = may_have_happened(record.effect, begun);
            record.answer_with(rejection(reason.as_deref(), more.as_deref()));
        }
        Decision::Happened { result } => record.answer_with(AnswerRecord::result(result)),
        // The earlier decision was on an earlier generation, so it is removed. This statement is no approval, so only
        // the history contains it, where the executor looks for it.
        Decision::DidNotHappen => record.decision = None,
        Decision::Accept => {
            record.decision = None;
            record.accepted = Some((*signed).clone());
        }
        Decision::Requeue { arguments, .. } => {
            if let Some(arguments) = arguments {
                check_arguments(arguments, &record)?;
            }
            record.proposal.clone_from(arguments);
            record.decision = None;
        }
        Decision::Discard { forget: true, .. } => forget(&mut record),
        Decision::Approve { grant: None } | Decision::Discard { .. } | Decision::Revoke => {}
    }
    Ok(Some(DecidedCall { record, entry, grant }))
}

/// Returns an error if the record shows other arguments than those that would run, or if this cannot be checked. An
/// attacker who can write to the journal could show one call and have another one approved.
pub(super) fn refuse_altered(record: &CallRecord) -> Result<(), ApprovalError> {
    match record.shows_what_is_judged() {
        Some(true) => Ok(()),
        Some(false) => Err(ApprovalError::Altered { call: record.id }),
        None => Err(ApprovalError::Unseen { call: record.id }),
    }
}

/// Whether a statement is about the arguments that the record shows. Statements of the previous format version do not
/// name the shown arguments. They are accepted only for records of that version, and the executor asks again for those.
fn says_what_is_shown(statement: &Statement, record: &CallRecord) -> bool {
    match &statement.about {
        Subject::Call { shown: None, .. } => record.journal.is_none(),
        Subject::Call { shown, .. } => *shown == record.shown_digest(),
        Subject::Grant { .. } => false,
    }
}

/// Refuses a statement that names another journal or project than the record, because another journal may have a call
/// with the same id.
fn refuse_other_journal(record: &CallRecord, statement: &Statement) -> Result<(), ApprovalError> {
    if (&statement.journal, &statement.project) == (&record.journal, &record.project) {
        return Ok(());
    }
    let call = record.id;
    let said = journal_in_words(statement.journal.as_deref(), statement.project.as_deref());
    let found = journal_in_words(record.journal.as_deref(), record.project.as_deref());
    Err(ApprovalError::OtherJournal { call, said, found })
}

fn journal_in_words(journal: Option<&str>, project: Option<&str>) -> String {
    let journal = journal.map_or("no journal by name, as of the version before".to_owned(), |id| {
        format!("journal {id:?}")
    });
    match project {
        Some(project) => format!("{journal}, project {project:?}"),
        None => format!("{journal}, without a project"),
    }
}

fn check_terms(
    terms: &GrantTerms,
    record: &CallRecord,
    said: &ParsedStatement<'_>,
) -> Result<(), ApprovalError> {
    if terms.tool != record.tool || terms.fingerprint != record.fingerprint {
        return Err(ApprovalError::OtherTool {
            call: record.id,
            tool: record.tool.clone(),
            granted: terms.tool.clone(),
        });
    }
    terms.check(said.now).map_err(|error| ApprovalError::Terms { call: record.id, error })
}

/// Deletes the arguments of a call, and the texts that may repeat them. The answer is kept, in case the run makes the
/// same call again.
fn forget(record: &mut CallRecord) {
    (record.raw, record.arguments) = (StoredText::Omitted, StoredText::Omitted);
    CallRecord::FORGOTTEN.clone_into(&mut record.shown);
    record.repairs.clear();
    for failed in &mut record.failures {
        (failed.message, failed.cause) = (None, None);
    }
    (record.ask, record.proposal, record.result) = (None, None, None);
}

fn check_arguments(arguments: &str, record: &CallRecord) -> Result<(), ApprovalError> {
    // The history contains the statement in plain text, so new arguments must not contain secrets.
    if !matches!(record.arguments, StoredText::Plain(_)) {
        return Err(ApprovalError::Secrets { call: record.id });
    }
    match canonical(arguments) {
        Ok(text) if text.starts_with('{') => match secret_given(&text, &record.secrets) {
            Some(parameter) => Err(ApprovalError::Secret { call: record.id, parameter }),
            None => Ok(()),
        },
        Ok(_) => Err(ApprovalError::Arguments { call: record.id, error: None }),
        Err(error) => Err(ApprovalError::Arguments { call: record.id, error: Some(error) }),
    }
}

/// Returns the first secret parameter for which the object has a value.
fn secret_given(object: &str, secrets: &[String]) -> Option<String> {
    if secrets.is_empty() {
        return None;
    }
    let given: HashMap<String, IgnoredAny> = serde_json::from_str(object).ok()?;
    secrets.iter().find(|it| given.contains_key(*it)).cloned()
}

fn rejection(reason: Option<&str>, more: Option<&str>) -> AnswerRecord {
    let message = match reason.map(str::trim).filter(|reason| !reason.is_empty()) {
        Some(reason) => format!("a person rejected this call: {reason}"),
        None => "a person rejected this call and gave no reason".to_owned(),
    };
    let message = message + more.unwrap_or_default();
    let hint = "do not make the same call again: do what the reason says, or go on without it";
    AnswerRecord::error("rejected", &message, Some(hint))
}
