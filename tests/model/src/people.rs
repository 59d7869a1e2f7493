//! People: what they say of a call that they are shown. The real [`ApprovalService`] takes it to the journal.

use jiff::Timestamp;
use toolwright_core::context::CallId;
use toolwright_journal::approval::{
    ApprovalService, Clause, Decision, Grant, GrantTerms, Scope, SignedStatement, Statement,
    Subject,
};
use toolwright_journal::arguments::shown_digest;
use toolwright_journal::journal::{CallRecord, State, next};

use crate::journal::at_once;
use crate::reading::{EDITED, RUN, TRUSTED};
use crate::scenario::Verdict;
use crate::switches::Switch;
use crate::system::System;
use crate::world::World;

/// A decision that a person is about to submit.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Approver {
    /// The call.
    pub id: CallId,
    /// The generation of the call.
    pub generation: u32,
    /// The digest of its arguments.
    pub digest: String,
    /// The arguments as they are shown.
    pub shown: String,
    /// The decision.
    pub verdict: Verdict,
}

impl Verdict {
    fn is_forged(self) -> bool {
        matches!(self, Self::Forged | Self::ForgedRequeue)
    }

    fn decision(self, record: &CallRecord) -> Decision {
        match self {
            Self::Approve => Decision::Approve { grant: None },
            Self::Grant => Decision::Approve { grant: Some(terms(record)) },
            Self::Revoke => Decision::Revoke,
            Self::Edit => {
                Decision::Edit { arguments: EDITED.to_owned(), digest: record.digest_with(EDITED) }
            }
            Self::Reject => Decision::Reject { reason: None },
            Self::Accept => Decision::Accept,
            Self::Happened => Decision::Happened { result: "it happened".to_owned() },
            Self::DidNotHappen | Self::Forged => Decision::DidNotHappen,
            Self::Requeue | Self::ForgedRequeue => {
                Decision::Requeue { arguments: None, new_key: false }
            }
            Self::RequeueEdited => {
                Decision::Requeue { arguments: Some(EDITED.to_owned()), new_key: false }
            }
            Self::Discard => Decision::Discard { note: None, forget: false },
        }
    }
}

/// Returns the terms of a grant for this run, this tool and these arguments, once.
fn terms(record: &CallRecord) -> GrantTerms {
    GrantTerms {
        scope: Scope::Run(RUN.to_owned()),
        tool: record.tool.clone(),
        fingerprint: record.fingerprint.clone(),
        arguments: vec![Clause { pointer: "/n".to_owned(), is_one_of: vec!["1".to_owned()] }],
        until: None,
        uses: Some(1),
    }
}

/// Returns a grant for the call's tool that is not revoked.
fn grant(system: &System, record: &CallRecord) -> Option<Grant> {
    let prefix = Grant::key(&record.tool, "");
    let mut grants = system.journal.documents(&prefix);
    let grant = grants.find_map(|it| Grant::from_text(&it.key, &it.text).ok());
    grant.filter(|grant| grant.revoked.is_none())
}

impl World<'_> {
    /// Returns whether a person would make this decision. They answer correctly, as far as they can see.
    pub(crate) fn may_say(&self, record: &CallRecord, verdict: Verdict) -> bool {
        let system = &self.system;
        let acted = system.witness_of(record.place.index).has_acted();
        let is_open = record.ask.as_ref().is_some_and(|ask| ask.deadline > system.now);
        let is_meant = match verdict {
            Verdict::Happened => acted,
            Verdict::DidNotHappen => !acted,
            // Later calls are not shown any more.
            Verdict::Grant if self.scenario.has_two_runs => is_open && record.place.index == 0,
            Verdict::Approve | Verdict::Grant | Verdict::Edit | Verdict::Reject => is_open,
            Verdict::Revoke => return grant(system, record).is_some(),
            _ => true,
        };
        let event = verdict.decision(record).event();
        is_meant && event.is_some_and(|event| next(record.state, event).is_ok())
    }

    pub(crate) fn say(&mut self, record: &CallRecord, verdict: Verdict) {
        let (id, generation, digest) = (record.id, record.generation, record.digest.clone());
        let shown = record.shown.clone();
        self.system.approver = Some(Approver { id, generation, digest, shown, verdict });
    }

    /// Submits the decision through the approval service. The service reads, commits, and reads again on a conflict,
    /// so this is one step.
    pub(crate) fn hand_in(&mut self, is_heard: bool) -> Option<()> {
        let said = self.system.approver.clone()?;
        if is_heard {
            self.system.approver = None;
        }
        let Approver { id, verdict, .. } = said;
        let before = self.system.journal.get(id)?.clone();
        let is_unseen = self.scenario.lacks(Switch::SignedUnseen);
        let (generation, digest, shown) = match is_unseen {
            true => (before.generation, before.digest.clone(), &before.shown),
            false => (said.generation, said.digest.clone(), &said.shown),
        };
        let shown = shown_digest(&digest, shown);
        let about = match verdict {
            Verdict::Revoke => Subject::Grant { id: grant(&self.system, &before)?.id },
            _ => Subject::Call { id, generation, digest, shown },
        };
        let (by, at) = ("ada".to_owned(), Timestamp::UNIX_EPOCH);
        let (journal, project) = (before.journal.clone(), None);
        let verdict_of = verdict.decision(&before);
        let note = None;
        let statement = Statement { about, verdict: verdict_of, at, by, journal, project, note };
        let key = if verdict.is_forged() { "mallory" } else { TRUSTED };
        let text = serde_json::to_string(&statement).expect("a statement is JSON");
        let signed = SignedStatement { text, key: key.to_owned(), signature: String::new() };
        let now = self.system.now;
        let (journal, submitted) = self.system.journal.after(|store| {
            // Sealed arguments are approved unseen.
            let service = ApprovalService::new(store).unseen();
            at_once(Box::pin(service.submit(signed, now)))
        });
        let is_new = submitted.is_ok_and(|submitted| !submitted.repeated);
        if !is_new {
            // The person learns that another decision came first, or that a repeated one had been recorded.
            return is_heard.then_some(());
        }
        self.system.journal = journal.into();
        if verdict == Verdict::Revoke {
            return Some(());
        }
        let after = self.system.journal.get(id)?.clone();
        if verdict == Verdict::Reject && before.state == State::Pending {
            self.system.rejected.push(before.digest.clone());
            self.system.rejected.sort();
        }
        let witness = self.system.witness(before.place.index);
        witness.wrong.decision_misplaced |=
            (before.generation, &before.digest) != (said.generation, &said.digest);
        witness.decided(&before, verdict, &said.shown);
        self.wrote(Some(&before), &after);
        Some(())
    }
}
