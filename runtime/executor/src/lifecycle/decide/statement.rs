//! Checks which decisions of people are valid. The journal stores each decision as a signed [`Statement`]. The
//! signature proves who made the decision, and was verified when the statement was read. A process that can write to
//! the journal could still copy a valid statement to another call. Each statement therefore names the call, its
//! generation and its digest, the text that the person was shown, and the journal. This module compares these with the
//! call.

use super::moment::{Known, Moment};
use super::words::{DOES_NOT_COUNT, NOT_ITS_OWN_USER, NOT_SHOWN, OTHER_JOURNAL, SAID_BEFORE};
use crate::call::LOCAL_APPROVER;
use crate::lifecycle::guard::Guard;
use crate::lifecycle::snapshot::{Signature, Snapshot};
use crate::lifecycle::step::Settings;
use toolwright_core::context::CallId;
use toolwright_core::person::is_another;
use toolwright_journal::approval::{Decision, Statement, Subject};
use toolwright_journal::journal::{CallRecord, Entry, Transition, begun, may_have_happened};

/// The valid decision of a person that caused the current evaluation of the call.
pub(super) struct Reason<'a> {
    pub(super) event: Transition,
    statement: &'a Statement,
    /// Whether nothing has happened to the call since the person decided.
    pub(super) is_last: bool,
}

/// A decision that is not valid, and the reason for that.
pub(super) struct Invalid {
    event: Transition,
    pub(super) why: String,
}

/// What happened to a call before its current evaluation.
#[derive(Clone, Copy)]
pub(super) struct Behind {
    /// Whether the call is a requeued dead letter.
    pub(super) is_dead_letter: bool,
    /// How often the call was begun and may have acted.
    pub(super) begun: u32,
}

impl Invalid {
    pub(super) fn of(event: Transition, why: &str) -> Self {
        let what = match event {
            Transition::Accepted => "that its plan is accepted",
            Transition::Edited => "the edit",
            Transition::Requeued => "that it is requeued",
            _ => "that it did not happen",
        };
        Self { event, why: format!("{what} does not count: {why}") }
    }

    /// Returns the transition by which the call returns to its earlier state.
    pub(super) fn back(&self) -> Transition {
        match self.event {
            Transition::Accepted => Transition::Planned,
            Transition::Requeued => Transition::PutBack,
            _ => Transition::Doubted,
        }
    }

    /// Returns whether the decision was about a call that had begun before. An invalid decision must not end such a
    /// call.
    pub(super) fn is_of_what_was(&self) -> bool {
        matches!(self.event, Transition::Requeued | Transition::DidNotHappen)
    }
}

impl Reason<'_> {
    /// Returns whether this decision was the last event of the call, and asks for a new idempotency key.
    pub(super) fn wants_new_key(&self) -> bool {
        self.is_last && matches!(self.statement.verdict, Decision::Requeue { new_key: true, .. })
    }

    /// Returns whether the person was shown a text other than `shown`. Does not apply to a decision that gives new
    /// arguments.
    pub(super) fn was_shown_otherwise(&self, shown: &str) -> bool {
        let gives_arguments =
            matches!(self.statement.verdict, Decision::Requeue { arguments: Some(_), .. });
        !gives_arguments && !self.statement.about.is_of_shown(shown)
    }
}

impl Behind {
    pub(super) fn of(reason: Option<&Reason<'_>>, history: &[Entry]) -> Self {
        let is_dead_letter = reason.is_some_and(|it| it.event == Transition::Requeued);
        Self { is_dead_letter, begun: begun(history) }
    }

    /// Returns the sentence for an answer that the call may have acted; `None` if the call cannot have acted.
    pub(super) fn in_words(self, record: &CallRecord) -> Option<String> {
        may_have_happened(record.effect, self.begun)
    }
}

/// Returns the last entry of the history by which the plan of the call was accepted, the call was requeued, or the call
/// was found not to have happened. The flag says whether that entry is the last of the history.
#[must_use]
pub fn last_decision(history: &[Entry]) -> Option<(Transition, &Entry, bool)> {
    history.iter().enumerate().rev().find_map(|(place, entry)| match entry.event {
        Some(event @ (Transition::Accepted | Transition::Requeued | Transition::DidNotHappen)) => {
            Some((event, entry, place + 1 == history.len()))
        }
        _ => None,
    })
}

/// Reports whether a person accepted the plan with exactly this call in it, as the call was shown, in this journal.
/// With `four_eyes`, that person must not be the call's user.
#[must_use]
pub fn is_accepted(
    snapshot: &Snapshot,
    settings: &Settings,
    digest: &str,
    shown: &str,
    four_eyes: bool,
) -> bool {
    let past = snapshot.past.as_ref();
    let Some(Signature::Counts(statement)) = past.and_then(|past| past.accepted.as_ref()) else {
        return false;
    };
    let is_of_it = |of: &CallId, with: &str| *of == snapshot.record.id && with == digest;
    let has = |guard| settings.guards.has(guard);
    statement.verdict == Decision::Accept
        && !(four_eyes && is_own(&snapshot.record, &statement.by))
        && matches!(&statement.about, Subject::Call { id, digest, .. } if is_of_it(id, digest))
        && (statement.about.is_of_shown(shown) || !has(Guard::ShownBound))
        && (unbound(statement, settings).is_none() || !has(Guard::JournalBound))
}

/// Returns why a statement is not valid in this journal or for this project; `None` if it is valid.
fn unbound(statement: &Statement, settings: &Settings) -> Option<String> {
    let Statement { journal, project, .. } = statement;
    match (journal, &settings.journal) {
        (None, Some(_)) => return Some(SAID_BEFORE.to_owned()),
        (said, here) if said != here => return Some(OTHER_JOURNAL.to_owned()),
        _ => {}
    }
    if *project == settings.project {
        return None;
    }
    let named = |project: &Option<String>| match project {
        Some(project) => format!("project {project:?}"),
        None => "no project".to_owned(),
    };
    let (said, here) = (named(project), named(&settings.project));
    Some(format!("it was signed for {said}, and this executor belongs to {here}"))
}

/// Returns whether this person may be the user of the call. If the call has no user, any person may be. A key that
/// names no person may belong to any person.
pub fn is_own(record: &CallRecord, by: &str) -> bool {
    by == LOCAL_APPROVER || !is_another(record.requester.user.as_deref(), by)
}

impl<'a> Moment<'a> {
    /// Returns the last decision that caused a new evaluation of the call; `None` if there was none. The inner error
    /// says why that decision is not valid.
    pub(super) fn reason(self) -> Known<Result<Option<Reason<'a>>, Invalid>> {
        let past = self.past()?;
        let Some((event, entry, is_last)) = last_decision(&past.history) else {
            return Ok(Ok(None));
        };
        if event == Transition::DidNotHappen && entry.signed.is_none() {
            // The tool has found out the outcome, so there is no decision of a person.
            return Ok(Ok(None));
        }
        let statement = self.statement_of(past.evaluated_by.as_ref(), entry, event, is_last);
        Ok(match statement {
            Ok(statement) => Ok(Some(Reason { event, statement, is_last })),
            Err(why) => Err(Invalid::of(event, &why)),
        })
    }

    /// If the last change of the call was an edit, checks that the edit is a valid decision. An earlier edit needs no
    /// check here: the call was judged again with its new arguments.
    pub(super) fn edit(self) -> Known<Result<(), Invalid>> {
        let past = self.past()?;
        let edit = past.history.last().filter(|entry| entry.event == Some(Transition::Edited));
        let Some(entry) = edit else { return Ok(Ok(())) };
        let statement = self.statement_of(past.edit.as_ref(), entry, Transition::Edited, true);
        Ok(statement.map(drop).map_err(|why| Invalid::of(Transition::Edited, &why)))
    }

    /// Returns the signed statement of a history entry, if the statement is about this call as the call was when the
    /// entry was made. The error says why the statement is not valid.
    fn statement_of(
        self,
        signature: Option<&'a Signature>,
        entry: &Entry,
        event: Transition,
        is_last: bool,
    ) -> Result<&'a Statement, String> {
        let record = &self.snapshot.record;
        let statement = match signature {
            None => return Err("it is not signed".to_owned()),
            Some(Signature::Invalid(why)) => return Err(why.clone()),
            Some(Signature::Counts(statement)) => statement,
        };
        let is_said_of_it = match &statement.about {
            Subject::Call { id, generation, digest, .. } => {
                *id == record.id
                    && generation.checked_add(1) == Some(entry.generation)
                    && *digest == entry.digest
                    && (!is_last || *digest == record.digest)
                    && statement.verdict.event() == Some(event)
            }
            Subject::Grant { .. } => false,
        };
        if !is_said_of_it {
            return Err("what was signed is about something else".to_owned());
        }
        if let Some(why) = self.unbound(statement) {
            return Err(why);
        }
        let proposed = match &statement.verdict {
            Decision::Edit { arguments, .. } => Some(arguments.as_str()),
            Decision::Requeue { arguments, .. } => arguments.as_deref(),
            _ => None,
        };
        if is_last && record.proposal.as_deref() != proposed {
            return Err("the new arguments are not those that were signed".to_owned());
        }
        Ok(statement)
    }

    /// Returns why a statement is not valid in this journal or for this project; `None` if it is valid.
    pub(super) fn unbound(self, statement: &Statement) -> Option<String> {
        unbound(statement, self.settings).filter(|_| self.has(Guard::JournalBound))
    }

    /// Checks that a person approved exactly this call, with this digest, as it is shown. The inner error says why the
    /// approval is not valid, in words for the call's history.
    pub(super) fn check_decision(
        self,
        digest: &str,
        shown: Option<&str>,
        four_eyes: bool,
    ) -> Known<Result<(), String>> {
        let record = &self.snapshot.record;
        if record.decision.is_none() {
            return Ok(Err("nothing allows it any more".to_owned()));
        }
        let is_late = record.ask.as_ref().is_some_and(|ask| ask.deadline <= self.now);
        if is_late && self.has(Guard::DecisionInTime) {
            return Ok(Err("the time in which its decision counts has passed".to_owned()));
        }
        let statement = match &self.past()?.decision {
            Some(Signature::Counts(statement)) => statement,
            Some(Signature::Invalid(why)) => {
                return Ok(Err(format!("{DOES_NOT_COUNT}: {why}")));
            }
            None => return Ok(Err("nothing allows it any more".to_owned())),
        };
        if four_eyes && self.is_own(&statement.by) {
            return Ok(Err(NOT_ITS_OWN_USER.to_owned()));
        }
        if !self.is_about_it(statement, digest) {
            return Ok(Err(format!(
                "{DOES_NOT_COUNT}: it is about another call, or about this one as it was"
            )));
        }
        if let Some(why) = self.unbound(statement) {
            return Ok(Err(format!("{DOES_NOT_COUNT}: {why}")));
        }
        // An edit needs no comparison, because its statement contains the arguments that run.
        let is_shown = matches!(statement.verdict, Decision::Edit { .. })
            || shown.is_some_and(|shown| statement.about.is_of_shown(shown));
        match is_shown || !self.has(Guard::ShownBound) {
            true => Ok(Ok(())),
            false => Ok(Err(format!("{DOES_NOT_COUNT}: {NOT_SHOWN}"))),
        }
    }

    /// Returns whether a reviewer made the decision on behalf of the holder of the approver's key.
    pub(super) fn is_reviewed(self) -> Known<bool> {
        Ok(match &self.past()?.decision {
            Some(Signature::Counts(statement)) => statement.note.is_some(),
            _ => false,
        })
    }

    fn is_about_it(self, statement: &Statement, digest: &str) -> bool {
        let record = &self.snapshot.record;
        let generation = match &statement.verdict {
            Decision::Approve { .. } => Some(record.generation),
            Decision::Edit { .. } => record.generation.checked_sub(1),
            _ => return false,
        };
        match (&statement.about, &statement.verdict) {
            (Subject::Call { id, generation: of, .. }, Decision::Edit { digest: said, .. })
            | (Subject::Call { id, generation: of, digest: said, .. }, _) => {
                let is_bound = Some(*of) == generation && said == digest;
                *id == record.id && (is_bound || !self.has(Guard::DecisionBound))
            }
            (Subject::Grant { .. }, _) => false,
        }
    }

    /// Returns whether this person may be the same person as the user of the call.
    pub(super) fn is_own(self, by: &str) -> bool {
        is_own(&self.snapshot.record, by)
    }

    pub(super) fn has_user(self) -> bool {
        let user = self.snapshot.record.requester.user.as_deref();
        user.is_some_and(|user| !user.trim().is_empty())
    }

    /// Returns why the acceptance of the call's plan is not valid, if the call's own user accepted the plan although
    /// `four_eyes` forbids that.
    pub(super) fn accepted_by_its_user(self, four_eyes: bool) -> Option<String> {
        let accepted = self.snapshot.past.as_ref()?.accepted.as_ref()?;
        let Signature::Counts(statement) = accepted else { return None };
        let is_own = four_eyes && self.is_own(&statement.by);
        is_own.then(|| Invalid::of(Transition::Accepted, NOT_ITS_OWN_USER).why)
    }
}
