//! Messages to a recorded run that is at work. Each is a document, which the driver reads before its next request, and
//! removes with the commit that adds the message to the history.

use toolwright::CallId;
use toolwright::journal::{
    CommitError, Document, DocumentWrite, SealingKey, Store, StoreError, Transaction,
};
use toolwright::unstable::runs::JournalAccess;

use super::recorded::LeasedRun;
use super::rewind::refuse_rewound;
use super::runs::head_of;
use super::turn::{self, TurnPrompt};
use super::{RunError, keys};
use crate::history::{Message, Prompt};

/// The suffix of the key of a message that interrupts the request in progress. Earlier releases read a message with
/// this suffix together with the next request.
const NOW: &str = "/now";

/// When a message is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Urgency {
    /// The message is read with the next request.
    Next,
    /// The driver reads the message at once: it aborts the request in progress.
    Now,
}

/// Records a message for a run, after the messages that already wait, and returns the key of its document. With `once`,
/// a key that the sender chose, the same commit records that key. Returns `None` if a message was sent under that key
/// before.
///
/// The commit also rewrites the document that lists the run as open. A driver that ends the run without having seen the
/// message then fails to list the run as ended, and a rewind of the run fails.
pub(super) async fn put(
    access: &JournalAccess,
    run: &str,
    prompt: Prompt,
    urgency: Urgency,
    once: Option<&str>,
) -> Result<Option<String>, RunError> {
    // The id begins with the time of the sender's clock. Messages are read in the order of their ids.
    let id = CallId::from_bytes(*uuid::Uuid::now_v7().as_bytes());
    let end = if urgency == Urgency::Now { NOW } else { "" };
    let key = format!("{}{id}{end}", keys::inbox(run));
    let (text, attachments) = prompt.into_parts();
    let body = TurnPrompt {
        messages: vec![Message::user_with(text, attachments)],
        ends_in: None,
        guards: Vec::new(),
    };
    let text = turn::text(&body, &key, access.sealing.as_ref())?;
    let open = keys::open(run);
    let sent = once.map(|once| format!("{}{once}", keys::sent(run)));
    let note =
        || sent.clone().map(|key| DocumentWrite { key, expects: None, text: Some(id.to_string()) });
    loop {
        let write = DocumentWrite { key: key.clone(), expects: None, text: Some(text.clone()) };
        let listed = rewritten_listing(&*access.store, run).await?;
        // The head is read after the list, because a rewind writes both in one commit.
        let (head, _) = head_of(&*access.store, run).await?;
        if head.rewound.is_some() {
            return Err(refuse_rewound(&head));
        }
        let documents = [write].into_iter().chain(note()).chain(listed).collect();
        let unit = Transaction { documents, ..Transaction::default() };
        match access.store.commit(unit, access.now()).await {
            Ok(()) => return Ok(Some(key)),
            Err(CommitError::Document { key, .. }) if sent.as_ref() == Some(&key) => {
                return Ok(None);
            }
            // Another message or a rewind was faster, or the run was listed as ended: read the list again.
            Err(CommitError::Document { key, .. }) if key == open => tokio::task::yield_now().await,
            Err(CommitError::Store(error)) => return Err(error.into()),
            Err(error) => return Err(RunError::damaged(&key, error)),
        }
    }
}

/// Returns a write of the document that lists a run as open, with the same text; `None` if there is no such document. Of
/// two processes that commit such a write at once, one fails: no message is sent to a run between the moment at which a
/// rewind looks at the run and the commit of the rewind.
pub(super) async fn rewritten_listing(
    store: &dyn Store,
    run: &str,
) -> Result<Option<DocumentWrite>, StoreError> {
    let found = store.document(&keys::open(run)).await?;
    Ok(found.map(|it| DocumentWrite {
        key: it.key,
        expects: Some(it.version),
        text: Some(it.text),
    }))
}

/// Removes a message that was not read. Returns `false` if the driver has read the message meanwhile, so that it stays
/// in the history.
pub(super) async fn withdraw(access: &JournalAccess, message: Document) -> Result<bool, RunError> {
    let (key, expects) = (message.key, Some(message.version));
    let write = DocumentWrite { key, expects, text: None };
    let unit = Transaction { documents: vec![write], ..Transaction::default() };
    match access.store.commit(unit, access.now()).await {
        Ok(()) => Ok(true),
        Err(CommitError::Store(error)) => Err(error.into()),
        Err(_) => Ok(false),
    }
}

/// Returns the messages that wait, and the writes that remove them.
async fn waiting(
    store: &dyn Store,
    run: &str,
    sealing: Option<&SealingKey>,
) -> Result<(Vec<Prompt>, Vec<DocumentWrite>), RunError> {
    let (mut messages, mut gone) = (Vec::new(), Vec::new());
    for document in store.documents(&keys::inbox(run)).await? {
        let said = turn::opened::<TurnPrompt>(&document, sealing)?.messages;
        messages.extend(said.into_iter().filter_map(|message| match message {
            Message::User { text, attachments, .. } => {
                Some(Prompt { text, attachments: attachments.to_vec() })
            }
            _ => None,
        }));
        let (key, expects) = (document.key, Some(document.version));
        gone.push(DocumentWrite { key, expects, text: None });
    }
    Ok((messages, gone))
}

impl LeasedRun {
    /// Returns whether a message waits that has to interrupt the request in progress. Each message rewrites the document
    /// that lists the run as open. So the messages, which may be large, are read only when that document has changed.
    pub(super) async fn is_urgent(&mut self) -> Result<bool, RunError> {
        let store = &self.access().store;
        let listed = store.document(&keys::open(&self.head.run)).await?.map(|it| it.version);
        if listed.is_some() && listed == self.not_urgent_at {
            return Ok(false);
        }
        let waiting = store.documents(&keys::inbox(&self.head.run)).await?;
        let is_urgent = waiting.iter().any(|it| it.key.ends_with(NOW));
        self.not_urgent_at = listed.filter(|_| !is_urgent);
        Ok(is_urgent)
    }

    /// Reads the messages that wait. The commit of the next step removes them.
    pub(super) async fn take_messages(&mut self) -> Result<Vec<Prompt>, RunError> {
        let access = self.access();
        let run = self.head.run.clone();
        let taken = waiting(&*access.store, &run, access.sealing.as_ref()).await?;
        let (messages, gone) = taken;
        self.taken = gone;
        Ok(messages)
    }
}
