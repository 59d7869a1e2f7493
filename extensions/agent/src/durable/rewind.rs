//! Goes back to an earlier turn of a run: another run continues from there, and the files are restored to what they
//! were at the end of that turn.
//!
//! ```text
//!   examine the files ──▶ ONE COMMIT ──▶ restore the files ──▶ one commit
//!    a refusal: nothing    the new run,    the same again        the new run may
//!    was changed           the old one     after a crash         be driven
//!                          is set aside
//! ```
//!
//! - The first commit decides. Before that commit nothing has changed. After that commit, any process with the log of
//!   changes can finish the rewind, and no process continues either run until the rewind is finished.
//! - Undoing a rewind takes the same steps: one commit, then the files, then one commit, which removes the new run.

mod document;
mod refused;
mod taken;

use jiff::Timestamp;
use toolwright::CallId;
use toolwright::journal::{CommitError, DocumentWrite, SealingKey, Store, Transaction};
use toolwright::unstable::changes::{ChangingCalls, FileChanges};

use self::document::{RewindDocument, RewindStep};
use self::refused::{already, may_go_back, refuse_changed_files};
pub(super) use self::refused::{refuse_rewound, refuse_unfinished};
pub use self::taken::LastingEffect;
use self::taken::TakenTurns;
use super::fork::{Forking, documents_of_fork};
use super::head::{Head, Phase, Rewound};
use super::inbox::rewritten_listing;
use super::keys::Part;
use super::removal::documents_of;
use super::runs::head_of;
use super::{RunError, keys};

/// How many times a commit is tried when other processes commit first.
const TIMES: usize = 5;

/// The result of a rewind.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Rewind {
    /// The head of the new run, which continues after the earlier turn.
    pub head: Head,
    /// The files that were restored.
    pub files: Vec<String>,
    /// The effects of later turns that the rewind does not undo.
    pub lasting: Vec<LastingEffect>,
}

/// The result of undoing a rewind.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Redone {
    /// The head of the run that went back; it may continue now.
    pub head: Head,
    /// The id of the new run, which was removed. The new run had done nothing.
    pub removed: String,
    /// The files that were restored to what they were before the rewind.
    pub files: Vec<String>,
}

/// The parameters of a rewind, apart from the run.
pub(super) struct Rewinding<'a> {
    pub store: &'a dyn Store,
    pub sealing: Option<&'a SealingKey>,
    pub files: &'a dyn FileChanges,
    pub now: Timestamp,
}

impl Rewinding<'_> {
    /// Goes back to a turn of a run. If another process has begun the rewind to that turn, finishes it.
    pub(super) async fn back(
        &self,
        run: &str,
        turn: u64,
        new: Option<&str>,
    ) -> Result<Rewind, RunError> {
        // A message that is sent from here on lets the commit fail, or is refused after it.
        let listing = rewritten_listing(self.store, run).await?;
        let (head, version) = head_of(self.store, run).await?;
        if let Some(Rewound::To { run: to, turn: at }) = &head.rewound {
            let (document, _) = RewindDocument::of(self.store, run).await?;
            let is_this = *at == turn && new.is_none_or(|new| new == to);
            return match document.step {
                RewindStep::Restoring if is_this => self.finish(&head, document).await,
                _ => Err(already(&head, &document)),
            };
        }
        may_go_back(&head, self.now)?;
        if head.phase != Phase::Ended && !head.state(self.sealing)?.background().is_empty() {
            let why = "has calls in the background; wait for their results or cancel it, and rewind it then";
            return Err(RunError::NotNow { run: head.run, why: why.to_owned() });
        }
        if turn == 0 || turn >= head.turn {
            let why = format!(
                "has no turn after turn {turn}, found {} turns; name one of them but the last",
                head.turn
            );
            return Err(RunError::NotNow { run: head.run, why });
        }
        let taken = TakenTurns::after(self.store, &head, turn).await?;
        if let Some((turn, call)) = taken.open() {
            let why = format!(
                "cannot go back: call {} of `{}` in turn {turn} is {}, so that it may still change something; wait for its end",
                call.id, call.tool, call.state
            );
            return Err(RunError::NotNow { run: head.run, why });
        }
        let found = self.files.examine(&taken.calls).await;
        refuse_changed_files(run, &found.map_err(|error| log_failed(run, &error))?)?;
        let new = match new {
            Some(new) if self.store.document(&keys::head(new)).await?.is_some() => {
                return Err(RunError::Exists { run: new.to_owned() });
            }
            Some(new) => new.to_owned(),
            None => self.free_id(run, turn).await?,
        };
        let document = self.decide((&head, version, listing), turn, &new, taken.calls).await?;
        self.finish(&head, document).await
    }

    /// Records in one commit that a new run continues from a turn.
    async fn decide(
        &self,
        (head, version, listing): (&Head, u64, Option<DocumentWrite>),
        turn: u64,
        new: &str,
        calls: ChangingCalls,
    ) -> Result<RewindDocument, RunError> {
        let run = &head.run;
        let forking = Forking { store: self.store, sealing: self.sealing, now: self.now };
        let unfinished = Some(Rewound::Unfinished { run: run.clone() });
        let (other, mut documents) =
            documents_of_fork(&forking, head, turn, new, unfinished).await?;
        let document = RewindDocument {
            to: new.to_owned(),
            turn,
            has_ended: other.phase == Phase::Ended,
            documents: documents.iter().filter(|it| is_of_turn(new, &it.key)).count(),
            turns: calls.turns,
            calls: calls.calls,
            by: new_call(),
            step: RewindStep::Restoring,
        };
        let rewound = Some(Rewound::To { run: new.to_owned(), turn });
        documents.push(self.head_with(head, version, rewound)?);
        documents.push(document.write(run, None)?);
        documents.extend(listing);
        match self.commit(documents).await {
            Ok(true) => Ok(document),
            Ok(false) if head_of(self.store, new).await.is_ok() => {
                Err(RunError::Exists { run: new.to_owned() })
            }
            Ok(false) => Err(changed_meanwhile(run)),
            Err(error) => Err(error),
        }
    }

    /// Restores the files, and then lets drivers take the new run.
    async fn finish(&self, head: &Head, document: RewindDocument) -> Result<Rewind, RunError> {
        let run = &head.run;
        let taken = TakenTurns::of(self.store, &document.turns).await?;
        let restored = self.files.take_back(&document.changing(), document.by, &document.to).await;
        let restored = restored.map_err(|error| log_failed(run, &error))?;
        refuse_changed_files(run, &restored)?;
        for _ in 0..TIMES {
            let (other, version) = head_of(self.store, &document.to).await?;
            let (now, of_document) = RewindDocument::of(self.store, run).await?;
            if now.by != document.by || now.step != RewindStep::Restoring {
                return Err(already(head, &now));
            }
            let done = RewindDocument { step: RewindStep::Done, ..now };
            let documents =
                vec![self.head_with(&other, version, None)?, done.write(run, Some(of_document))?];
            if self.commit(documents).await? {
                let (head, _) = head_of(self.store, &document.to).await?;
                let lasting = taken.lasting(&restored, run);
                return Ok(Rewind { head, files: restored.restored, lasting });
            }
        }
        Err(changed_meanwhile(&document.to))
    }

    /// Undoes a rewind. `run` is the run that went back, or the run that continues in its place.
    pub(super) async fn redo(&self, run: &str) -> Result<Redone, RunError> {
        let head = self.went_back(run).await?;
        let run = &head.run;
        let (mut document, version) = RewindDocument::of(self.store, run).await?;
        let by = match document.step {
            RewindStep::Redoing(by) => by,
            RewindStep::Restoring | RewindStep::Done => {
                let listing = rewritten_listing(self.store, &document.to).await?;
                let (other, of_other) = head_of(self.store, &document.to).await?;
                self.is_untouched(&other, &document).await?;
                let found = self.files.examine(&document.restoring()).await;
                refuse_changed_files(run, &found.map_err(|error| log_failed(run, &error))?)?;
                let by = new_call();
                document.step = RewindStep::Redoing(by);
                let unfinished = Some(Rewound::Unfinished { run: run.clone() });
                let mut documents = vec![
                    self.head_with(&other, of_other, unfinished)?,
                    document.write(run, Some(version))?,
                ];
                documents.extend(listing);
                if !self.commit(documents).await? {
                    return Err(changed_meanwhile(&document.to));
                }
                by
            }
        };
        let restored = self.files.take_back(&document.restoring(), by, run).await;
        let restored = restored.map_err(|error| log_failed(run, &error))?;
        refuse_changed_files(run, &restored)?;
        for _ in 0..TIMES {
            let (head, version) = head_of(self.store, run).await?;
            let (other, of_other) = head_of(self.store, &document.to).await?;
            let (_, of_document) = RewindDocument::of(self.store, run).await?;
            let mut documents = documents_of(self.store, &other, of_other).await?;
            documents.push(self.head_with(&head, version, None)?);
            let (key, expects) = (keys::rewind(run), Some(of_document));
            documents.push(DocumentWrite { key, expects, text: None });
            if self.commit(documents).await? {
                let (head, _) = head_of(self.store, run).await?;
                return Ok(Redone { head, removed: document.to, files: restored.restored });
            }
        }
        Err(changed_meanwhile(run))
    }

    /// Finds the run that went back, by its own id or by the id of the run that continues.
    async fn went_back(&self, run: &str) -> Result<Head, RunError> {
        let (head, _) = head_of(self.store, run).await?;
        if let Some(Rewound::To { .. }) = &head.rewound {
            return Ok(head);
        }
        if let Some(forked) = &head.forked
            && let Ok((above, _)) = head_of(self.store, &forked.run).await
            && matches!(&above.rewound, Some(Rewound::To { run: to, .. }) if to == run)
        {
            return Ok(above);
        }
        let why = "has not gone back to an earlier turn, so that there is nothing to take back"
            .to_owned();
        Err(RunError::NotNow { run: head.run, why })
    }

    /// Refuses to undo a rewind if something has happened in the new run.
    async fn is_untouched(&self, head: &Head, document: &RewindDocument) -> Result<(), RunError> {
        let run = head.run.clone();
        if let Some(lease) = head.lease.as_ref().filter(|lease| lease.until > self.now) {
            let (driver, until) = (lease.driver.clone(), lease.until);
            return Err(RunError::Driven { run, driver, until });
        }
        let is_as_made = head.turn == document.turn
            && (head.phase == Phase::Ended) == document.has_ended
            && matches!(head.phase, Phase::Ended | Phase::Asking)
            && !matches!(head.rewound, Some(Rewound::To { .. }))
            && self.store.documents(&keys::inbox(&run)).await?.is_empty()
            && self.count_documents(&run).await? == document.documents;
        match is_as_made {
            true => Ok(()),
            false => {
                let why = format!(
                    "has done something new since it went on from turn {}, so that the rewind cannot be taken back; rewind it, or go on with it",
                    document.turn
                );
                Err(RunError::NotNow { run, why })
            }
        }
    }

    /// Counts the documents of a run's turns.
    async fn count_documents(&self, run: &str) -> Result<usize, RunError> {
        let found = self.store.documents(&keys::turns(run)).await?;
        Ok(found.iter().filter(|it| is_of_turn(run, &it.key)).count())
    }

    /// Finds an unused id for the new run.
    async fn free_id(&self, run: &str, turn: u64) -> Result<String, RunError> {
        let first = format!("{run}-at-{turn}");
        for number in 1_u64.. {
            let id = if number == 1 { first.clone() } else { format!("{first}-{number}") };
            let is_removed = self.store.document(&keys::removed(&id)).await?.is_some();
            if !is_removed && self.store.document(&keys::head(&id)).await?.is_none() {
                return Ok(id);
            }
        }
        Ok(first)
    }

    /// Returns a write of a head with this value of `rewound`.
    fn head_with(
        &self,
        head: &Head,
        version: u64,
        rewound: Option<Rewound>,
    ) -> Result<DocumentWrite, RunError> {
        let key = keys::head(&head.run);
        let head = Head { rewound, updated: self.now, ..head.clone() };
        let text = head.text().map_err(|error| RunError::damaged(&key, error))?;
        Ok(DocumentWrite { key, expects: Some(version), text: Some(text) })
    }

    /// Commits; returns `false` if another process was faster.
    async fn commit(&self, documents: Vec<DocumentWrite>) -> Result<bool, RunError> {
        let unit = Transaction { documents, ..Transaction::default() };
        match self.store.commit(unit, self.now).await {
            Ok(()) => Ok(true),
            Err(CommitError::Store(error)) => Err(error.into()),
            Err(_) => Ok(false),
        }
    }
}

/// Returns whether a document records a message, an answer or a summary of a turn. The plugins' document does not
/// count: a driver writes it again when it takes a run.
fn is_of_turn(run: &str, key: &str) -> bool {
    Part::of(run, key).is_some_and(|(_, part)| part != Part::Plugins)
}

fn log_failed(run: &str, error: &toolwright::ToolError) -> RunError {
    RunError::ChangeLog { run: run.to_owned(), why: error.to_string() }
}

fn changed_meanwhile(run: &str) -> RunError {
    let why = "is changed by another process at this moment; look at it, and do the same again";
    RunError::NotNow { run: run.to_owned(), why: why.to_owned() }
}

/// Returns an id under which the log of changes records the restored files.
fn new_call() -> CallId {
    CallId::from_bytes(*uuid::Uuid::now_v7().as_bytes())
}
