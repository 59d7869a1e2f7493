//! The record of one run, as its driver writes it. Every commit replaces the head, and fails if another driver has
//! replaced the head meanwhile.

use std::collections::HashMap;

use jiff::{SignedDuration, Timestamp};
use serde::Serialize;
use toolwright::journal::{CommitError, DocumentWrite, Store, StoreError, Transaction};
use toolwright::unstable::runs::JournalAccess;

use super::RunError;
use super::acknowledge::UnacknowledgedTurn;
use super::crashes::Suspicion;
use super::head::{Head, Lease, written};
use super::keys::{self, Part};
use super::made_of::MadeOf;
use super::patience::Patience;
use super::turn;
use crate::run::BackgroundCall;

/// The content of a document that lists a run.
#[derive(Serialize)]
pub(super) struct ListEntry<'a> {
    pub agent: &'a str,
    /// When the run was started.
    pub since: Timestamp,
}

/// A run whose lease this driver holds.
pub(super) struct LeasedRun {
    access: JournalAccess,
    driver: String,
    pub head: Head,
    /// The version of the head's document; 0 before the document exists.
    version: u64,
    /// The versions of the other documents that this driver may write again, by key.
    pub versions: HashMap<String, u64>,
    /// Additional writes for the next commit.
    pub also: Vec<DocumentWrite>,
    /// The writes that remove messages taken from the inbox. Only the commit that records these messages carries them.
    pub taken: Vec<DocumentWrite>,
    /// The version of the document that lists the run as open, as it was before the driver last read the inbox.
    listed_at: Option<u64>,
    /// The version of the document that lists the run as open, as it was when the inbox last had no urgent message.
    pub not_urgent_at: Option<u64>,
    /// Whether the run may have messages that it had not read when it ended.
    pub is_said_more: bool,
    /// Whether a commit is in progress, or the outcome of the last commit is unknown.
    is_committing: bool,
    /// The lock for the only suspect that this process drives; freed when the turn is recorded.
    pub suspicion: Option<Suspicion>,
}

impl LeasedRun {
    pub(super) fn new(access: JournalAccess, driver: String, head: Head, version: u64) -> Self {
        Self {
            access,
            driver,
            head,
            version,
            versions: HashMap::new(),
            also: Vec::new(),
            taken: Vec::new(),
            listed_at: None,
            not_urgent_at: None,
            is_said_more: false,
            is_committing: false,
            suspicion: None,
        }
    }

    pub(super) fn access(&self) -> &JournalAccess {
        &self.access
    }

    pub(super) fn driver(&self) -> &str {
        &self.driver
    }

    /// Returns a lease of this driver that begins now.
    pub(super) fn lease(&self) -> Lease {
        let until = end_of_lease(&self.access, self.access.now());
        Lease { driver: self.driver.clone(), until, suspect: self.suspicion.is_some() }
    }

    /// Returns the write of a document of this run. The document may exist already.
    pub(super) fn write(
        &self,
        key: String,
        body: &impl Serialize,
    ) -> Result<DocumentWrite, RunError> {
        let text = turn::text(body, &key, self.access.sealing.as_ref())?;
        let expects = self.versions.get(&key).copied();
        Ok(DocumentWrite { key, expects, text: Some(text) })
    }

    /// Commits a new head together with documents, all or nothing.
    pub(super) async fn commit(
        &mut self,
        head: Head,
        documents: Vec<DocumentWrite>,
    ) -> Result<(), RunError> {
        self.commit_with(Patience::Short, head, documents).await
    }

    /// Commits a new head together with documents. `patience` decides how often a failed commit is retried.
    pub(super) async fn commit_with(
        &mut self,
        patience: Patience<'_>,
        head: Head,
        mut documents: Vec<DocumentWrite>,
    ) -> Result<(), RunError> {
        documents.extend(self.also.iter().cloned());
        let key = keys::head(&head.run);
        let head = Head { updated: self.access.now(), ..head };
        let text = head.text().map_err(|error| RunError::damaged(&key, error))?;
        self.is_committing = true;
        self.commit_text(patience, key, &text, &mut documents).await?;
        self.is_committing = false;
        self.listed_at = None;
        self.version += 1;
        self.head = head;
        self.also.clear();
        for write in documents {
            match write.text {
                Some(_) => self.versions.insert(write.key, write.expects.unwrap_or(0) + 1),
                None => self.versions.remove(&write.key),
            };
        }
        Ok(())
    }

    /// Writes the commit exactly once, even if the reply of the store is lost.
    async fn commit_text(
        &mut self,
        mut patience: Patience<'_>,
        key: String,
        text: &str,
        documents: &mut Vec<DocumentWrite>,
    ) -> Result<(), RunError> {
        let run = self.head.run.clone();
        let lost = || RunError::LeaseLost { run: run.clone() };
        let (open, ended) = (keys::open(&run), keys::ended(&run));
        for times in 1.. {
            let expects = (self.version > 0).then_some(self.version);
            let head = DocumentWrite { key: key.clone(), expects, text: Some(text.to_owned()) };
            let whole = documents.iter().cloned().chain([head]).collect();
            let unit = Transaction { documents: whole, ..Transaction::default() };
            match self.access.store.commit(unit, self.access.now()).await {
                Ok(()) => return Ok(()),
                Err(CommitError::Store(error)) => {
                    patience.after(&self.head.run, error, times).await?;
                }
                // An earlier attempt may have succeeded although its reply was lost.
                Err(conflict) => {
                    let found = match self.access.store.document(&key).await {
                        Ok(found) => found,
                        // The journal cannot be read either. The commit is retried, because it may contain an answer
                        // that was paid for.
                        Err(error) => {
                            patience.after(&self.head.run, error, times).await?;
                            continue;
                        }
                    };
                    match found {
                        Some(found) if found.text == text => {
                            self.version = found.version.saturating_sub(1);
                            return Ok(());
                        }
                        // A new message has arrived: the run stays listed as open until the message is read.
                        found
                            if found.as_ref().map_or(0, |it| it.version) == self.version
                                && conflicting(&conflict) == Some(&*open) =>
                        {
                            documents.retain(|it| it.key != open && it.key != ended);
                            self.is_said_more = true;
                        }
                        // The head is unchanged, so the conflict is about another document.
                        found if found.as_ref().map_or(0, |it| it.version) == self.version => {
                            let is_elsewhere = |other: &str| is_written_elsewhere(&run, other);
                            return Err(match conflicting(&conflict) {
                                Some(other) if other != key && !is_elsewhere(other) => {
                                    let why = format!("it was changed by hand: {conflict}");
                                    RunError::damaged(other, why)
                                }
                                _ => lost(),
                            });
                        }
                        Some(found) if self.is_own_renewal(&found.text) => {
                            self.version = found.version;
                        }
                        _ => return Err(lost()),
                    }
                }
            }
        }
        Err(lost())
    }

    /// Returns whether a head differs from this driver's head only in the driver's own lease and the time of the last
    /// write.
    fn is_own_renewal(&self, text: &str) -> bool {
        let Ok(mut found) = Head::read(text) else { return false };
        let is_own = found.lease.as_ref().is_some_and(|lease| lease.driver == self.driver);
        found.lease.clone_from(&self.head.lease);
        found.updated = self.head.updated;
        is_own && self.version > 0 && found == self.head
    }

    /// Whether the head may still contain the lease of this driver.
    pub(super) fn is_leased(&self) -> bool {
        let is_own = |lease: &Lease| lease.driver == self.driver;
        self.is_committing || self.head.lease.as_ref().is_some_and(is_own)
    }

    /// Records with the next commit which agent drives the run from here on. Returns how this agent differs from the
    /// agent before.
    pub(super) async fn goes_on_with(&mut self, now: &MadeOf) -> Result<Vec<String>, RunError> {
        let key = keys::agent(&self.head.run);
        let mut differences = Vec::new();
        let found = match self.is_new() {
            // Such a document belongs to an earlier run of this id.
            true => None,
            false => self.access.store.document(&key).await?,
        };
        if let Some(found) = found {
            let before: MadeOf = turn::opened(&found, self.access.sealing.as_ref())?;
            if before == *now {
                return Ok(differences);
            }
            differences = before.differences(now);
            self.versions.insert(key.clone(), found.version);
        }
        self.also.push(self.write(key, now)?);
        Ok(differences)
    }

    /// Whether the run has no record yet.
    pub(super) fn is_new(&self) -> bool {
        self.version == 0
    }

    /// Returns the writes that list the run as open or as ended.
    pub(super) async fn prepare_listing(
        &self,
        is_ended: bool,
    ) -> Result<Vec<DocumentWrite>, RunError> {
        let run = &self.head.run;
        let (to, from) = match is_ended {
            true => (keys::ended(run), keys::open(run)),
            false => (keys::open(run), keys::ended(run)),
        };
        let version = async |key: &str| -> Result<Option<u64>, RunError> {
            Ok(self.access.store.document(key).await?.map(|it| it.version))
        };
        let text = written(&ListEntry { agent: &self.head.agent, since: self.head.created })
            .map_err(|error| RunError::damaged(&to, error))?;
        let mut writes = Vec::new();
        if let Some(expects) = version(&from).await? {
            writes.push(DocumentWrite { key: from, expects: Some(expects), text: None });
        }
        let expects = version(&to).await?;
        if let (Some(write), Some(listed)) = (writes.first_mut(), self.listed_at)
            && is_ended
        {
            write.expects = Some(listed);
        }
        writes.push(DocumentWrite { key: to, expects, text: Some(text) });
        Ok(writes)
    }

    /// Notes the version of the document that lists the run as open, before the driver reads the inbox for the last
    /// time.
    pub(super) async fn note_listing(&mut self) -> Result<(), RunError> {
        let found = self.access.store.document(&keys::open(&self.head.run)).await?;
        self.listed_at = found.map(|it| it.version);
        Ok(())
    }

    /// Lists a run as ended, once all its calls are acknowledged, except those in the background. If the run has ended
    /// with an answer, all its messages must be read too. Returns whether the run is no longer listed as open.
    pub(super) async fn list_as_ended(
        &mut self,
        left: &[UnacknowledgedTurn],
        background: &[BackgroundCall],
        is_answer: bool,
    ) -> Result<bool, RunError> {
        (self.listed_at, self.is_said_more) = (None, false);
        if self.access.store.document(&keys::open(&self.head.run)).await?.is_none() {
            return Ok(true);
        }
        for calls in left {
            let (store, run) = (&*self.access.store, &self.head.run);
            if !calls.acknowledge_calls(store, run, background).await {
                return Ok(false);
            }
        }
        let listed = self.prepare_listing(true).await?;
        // A run that was rewound reads no messages: its user sends messages to the run that continues in its place.
        let reads = is_answer && self.head.rewound.is_none();
        if reads && has_messages(&*self.access.store, &self.head.run).await? {
            self.is_said_more = true;
            return Ok(false);
        }
        self.commit(self.head.clone(), listed).await?;
        Ok(!self.is_said_more)
    }

    /// Extends the lease.
    pub(super) async fn renew(&mut self) -> Result<(), RunError> {
        let head = Head { lease: Some(self.lease()), ..self.head.clone() };
        self.commit(head, Vec::new()).await
    }

    /// Releases the lease, so that the next driver of the run does not count a crash of this driver.
    pub(super) async fn release(&mut self) -> Result<(), RunError> {
        let head = Head { lease: None, ..self.head.clone() };
        self.commit(head, Vec::new()).await
    }
}

/// Returns the end of a lease that begins at this time.
pub(super) fn end_of_lease(access: &JournalAccess, begin: Timestamp) -> Timestamp {
    let length = SignedDuration::try_from(access.lease).unwrap_or(SignedDuration::MAX);
    begin.saturating_add(length).unwrap_or(Timestamp::MAX)
}

/// Whether messages wait in the inbox of a run.
pub(super) async fn has_messages(store: &dyn Store, run: &str) -> Result<bool, StoreError> {
    Ok(!store.documents(&keys::inbox(run)).await?.is_empty())
}

/// Returns whether other processes than the driver of a run may write this document: the sender of a message withdraws
/// the message, a tool of the previous driver sets the state of a plugin, or an earlier run of this id is removed.
fn is_written_elsewhere(run: &str, key: &str) -> bool {
    let is_of_plugins = matches!(Part::of(run, key), Some((_, Part::Plugins)));
    is_of_plugins || key.starts_with(&keys::inbox(run)) || key == keys::removed(run)
}

/// Returns the key of the document whose version the commit did not expect.
fn conflicting(conflict: &CommitError) -> Option<&str> {
    match conflict {
        CommitError::Document { key, .. } => Some(key),
        _ => None,
    }
}
