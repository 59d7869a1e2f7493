//! An adversary who writes the journal's file: they rewrite what is plain in a record, and forge its history. Without
//! a key, they can only copy what is signed or sealed.
//!
//! They could also make a call of their own by rewriting all of a record, including its digest and its run, and a
//! grant for that run would cover it. The model does not explore this; docs/durability.md says that a writer of the
//! journal can do it.

use jiff::Timestamp;
use toolwright_journal::approval::{SignedStatement, Statement};
use toolwright_journal::journal::{CallRecord, Note, State, StoredText, Transition};

use crate::reading::{ARGUMENTS, EDITED, OTHER_RUN, RUN, TRUSTED, arguments, digest_of};
use crate::scenario::Rewrite;
use crate::world::World;

/// The prefix of arguments that are marked as sealed; no executor can open them.
const HIDDEN: &str = "hidden ";

impl Rewrite {
    /// Returns whether the rewrite changes the record.
    #[must_use]
    pub fn changes(self, record: &CallRecord) -> bool {
        match self {
            Self::Hide => match &record.arguments {
                StoredText::Plain(_) => true,
                StoredText::Encrypted(text) => text.starts_with(HIDDEN),
                StoredText::Omitted => false,
            },
            Self::Swap => matches!(record.arguments, StoredText::Plain(_)),
            Self::Allow | Self::Approve => record.state == State::Pending,
            Self::Show | Self::Digest | Self::Move => true,
        }
    }
}

impl World<'_> {
    /// Rewrites a record. Its version stays, except where its history grows.
    pub(crate) fn rewrite(&mut self, mut record: CallRecord, rewrite: Rewrite) -> Option<()> {
        let mut entries = Vec::new();
        match rewrite {
            Rewrite::Show => record.shown = other(&record.shown),
            Rewrite::Hide => record.arguments = hidden_or_not(&record.arguments),
            Rewrite::Swap => record.arguments = StoredText::Plain(other(arguments(&record))),
            Rewrite::Digest => {
                let text = match &record.arguments {
                    StoredText::Encrypted(text) => text.strip_prefix(HIDDEN)?.to_owned(),
                    _ => arguments(&record).to_owned(),
                };
                record.digest = digest_of(self.scenario, &record, &record.fingerprint, &text);
            }
            Rewrite::Move => {
                let run = if record.place.run == RUN { OTHER_RUN } else { RUN };
                run.clone_into(&mut record.place.run);
            }
            Rewrite::Allow => {
                entries.push(record.advance(Transition::Edited, note(None)).ok()?);
                entries.push(record.advance(Transition::Allowed, note(None)).ok()?);
            }
            Rewrite::Approve => {
                let signed = elsewhere(&record);
                record.decision = Some(signed.clone());
                entries.push(record.advance(Transition::Approved, note(Some(signed))).ok()?);
            }
        }
        self.system.journal = self.system.journal.rewritten(record, entries).into();
        Some(())
    }
}

/// Returns an approval of the same call that a person signed for another journal.
fn elsewhere(record: &CallRecord) -> SignedStatement {
    let record = record.clone().with(|it| it.journal = Some("elsewhere".to_owned()));
    let statement = Statement::approve(&record, "ada", Timestamp::UNIX_EPOCH);
    let text = serde_json::to_string(&statement).expect("a statement is JSON");
    SignedStatement { text, key: TRUSTED.to_owned(), signature: String::new() }
}

fn note(signed: Option<SignedStatement>) -> Note {
    Note { who: "somebody".to_owned(), at: Timestamp::UNIX_EPOCH, why: None, signed }
}

fn other(arguments: &str) -> String {
    if arguments == ARGUMENTS { EDITED.to_owned() } else { ARGUMENTS.to_owned() }
}

fn hidden_or_not(arguments: &StoredText) -> StoredText {
    match arguments {
        StoredText::Plain(text) => StoredText::Encrypted(format!("{HIDDEN}{text}")),
        StoredText::Encrypted(text) => {
            StoredText::Plain(text.strip_prefix(HIDDEN).unwrap_or(text).to_owned())
        }
        StoredText::Omitted => StoredText::Omitted,
    }
}
