//! Stores the budgets of sub-agents: in the journal of the executor if it has one, else in memory.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};
use tokio::sync;
use toolwright::CallId;
use toolwright::journal::{CommitError, DocumentWrite, Store, StoreError, Transaction};
use toolwright::unstable::runs::JournalAccess;

use super::share::{ChildSpending, Children, Standing};

/// The budgets of the sub-agents of an agent's runs.
#[derive(Default)]
pub(crate) struct Ledger {
    journal: Option<JournalAccess>,
    /// The unrecorded runs whose calls this process makes, by their ids.
    runs: Mutex<HashMap<String, InMemory>>,
    /// The lock that is held while a share of a parent's remaining budget is computed and stored.
    pub(crate) taking: sync::Mutex<()>,
}

struct InMemory {
    standing: Standing,
    children: Children,
}

/// The stored form of a budget, with its version.
#[derive(Serialize, Deserialize)]
struct StoredChild {
    version: u32,
    /// The name of the sub-agent. Earlier releases did not write the name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    agent: Option<String>,
    #[serde(flatten)]
    child: ChildSpending,
}

/// The version of the stored form.
const VERSION: u32 = 1;

impl Ledger {
    pub(crate) fn new(journal: Option<JournalAccess>) -> Self {
        Self { journal, ..Self::default() }
    }

    /// Notes the limits and the spending of an unrecorded run that this process drives.
    pub(crate) fn note_standing(&self, run: &str, standing: Standing) {
        let children = Children::new();
        self.runs().insert(run.to_owned(), InMemory { standing, children });
    }

    /// Returns the limits and the spending of an unrecorded run.
    pub(crate) fn standing(&self, run: &str) -> Option<Standing> {
        self.runs().get(run).map(|it| it.standing)
    }

    /// Drops an unrecorded run.
    pub(crate) fn forget(&self, run: &str) {
        self.runs().remove(run);
    }

    /// Removes the documents of a run's sub-agents if only this executor uses the journal, because then no other
    /// process continues these sub-agents. Does nothing in another journal.
    pub(crate) async fn clear(&self, run: &str) -> Result<(), StoreError> {
        let Some(journal) = self.journal.as_ref().filter(|journal| journal.is_own) else {
            return Ok(());
        };
        let mut documents = Vec::new();
        for prefix in [children_of(run), answers_of(run)] {
            let found = journal.store.documents(&prefix).await?;
            documents.extend(found.into_iter().map(|it| {
                let (key, expects) = (it.key, Some(it.version));
                DocumentWrite { key, expects, text: None }
            }));
        }
        let unit = Transaction { documents, ..Transaction::default() };
        // If a document has changed since it was read, this commit removes nothing. The documents are then removed
        // after the next turn.
        match journal.store.commit(unit, journal.now()).await {
            Err(CommitError::Store(error)) => Err(error),
            _ => Ok(()),
        }
    }

    /// Reads the budgets of the sub-agents that a turn of a run has started.
    pub(crate) async fn children(&self, run: &str, turn: u64) -> Result<Children, StoreError> {
        let Some(journal) = &self.journal else {
            return Ok(self.runs().get(run).map_or_else(Children::new, |it| it.children.clone()));
        };
        let prefix = of_turn(run, turn);
        let found = journal.store.documents(&prefix).await?;
        let read = found.into_iter().map(|document| {
            let invalid = || {
                let why = format!("the document `{}` is no budget of a sub-agent", document.key);
                StoreError::invalid(why)
            };
            let call = document.key.strip_prefix(&prefix).and_then(|it| it.parse().ok());
            let stored: Option<StoredChild> = serde_json::from_str(&document.text).ok();
            let stored = stored.filter(|it| it.version == VERSION);
            call.zip(stored).map(|(call, it): (CallId, _)| (call, it.child)).ok_or_else(invalid)
        });
        read.collect()
    }

    /// Stores the budget of a sub-agent. With a journal, commits `documents` together with the budget; without one,
    /// ignores them.
    ///
    /// # Errors
    /// When another process has written the budget since it was read, or the journal fails.
    pub(crate) async fn write(
        &self,
        place: &Place<'_>,
        child: ChildSpending,
        expects: Option<u64>,
        mut documents: Vec<DocumentWrite>,
    ) -> Result<(), CommitError> {
        let Some(journal) = &self.journal else {
            if let Some(run) = self.runs().get_mut(place.run) {
                run.children.insert(place.call, child);
            }
            return Ok(());
        };
        let stored = StoredChild { version: VERSION, agent: Some(place.agent.to_owned()), child };
        let text = serde_json::to_string(&stored).map_err(|it| StoreError::invalid(it.to_string()));
        let key = format!("{}{}", of_turn(place.run, place.turn), place.call);
        let text = text?;
        documents.push(DocumentWrite { key: key.clone(), expects, text: Some(text.clone()) });
        let unit = Transaction { documents, ..Transaction::default() };
        match journal.store.commit(unit, journal.now()).await {
            Err(conflict @ CommitError::Document { .. }) => {
                // The conflict may come from this same commit, if it succeeded but its reply was lost.
                let next = expects.map_or(1, |it| it.saturating_add(1));
                match journal.store.document(&key).await? {
                    Some(found) if found.text == text && found.version == next => Ok(()),
                    _ => Err(conflict),
                }
            }
            committed => committed,
        }
    }

    /// Returns the version of a sub-agent's stored budget; `None` if no budget is stored.
    pub(crate) async fn version(&self, place: &Place<'_>) -> Result<Option<u64>, StoreError> {
        let Some(journal) = &self.journal else { return Ok(None) };
        let key = format!("{}{}", of_turn(place.run, place.turn), place.call);
        Ok(journal.store.document(&key).await?.map(|it| it.version))
    }

    fn runs(&self) -> MutexGuard<'_, HashMap<String, InMemory>> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The call that started a sub-agent, with its run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place<'a> {
    pub run: &'a str,
    /// The turn of the run, even if another sub-agent started this sub-agent.
    pub turn: u64,
    /// The call that started the sub-agent.
    pub call: CallId,
    /// The name of the sub-agent.
    pub agent: &'a str,
}

/// A sub-agent that was started in a run, with its spending.
pub(crate) struct StartedAgent {
    pub call: CallId,
    pub agent: String,
    pub child: ChildSpending,
}

/// Lists all sub-agents that were started in a run.
pub(crate) async fn list_started(
    store: &dyn Store,
    run: &str,
) -> Result<Vec<StartedAgent>, StoreError> {
    let mut all = Vec::new();
    for document in store.documents(&children_of(run)).await? {
        let invalid = || {
            let why = format!("the document `{}` is no budget of a sub-agent", document.key);
            StoreError::invalid(why)
        };
        let call = document.key.rsplit_once('/').and_then(|(_, call)| call.parse().ok());
        let stored: Option<StoredChild> = serde_json::from_str(&document.text).ok();
        let stored = stored.filter(|it| it.version == VERSION);
        let (call, stored) = call.zip(stored).ok_or_else(invalid)?;
        let agent = stored.agent.unwrap_or_else(|| "a sub-agent".to_owned());
        all.push(StartedAgent { call, agent, child: stored.child });
    }
    Ok(all)
}

/// Returns the prefix of the keys of all budgets of a run's sub-agents.
pub(crate) fn children_of(run: &str) -> String {
    format!("run/{run}/children/")
}

/// Returns the prefix of the keys of all recorded answers of sub-agents' models.
pub(crate) fn answers_of(run: &str) -> String {
    format!("run/{run}/agents/")
}

fn of_turn(run: &str, turn: u64) -> String {
    format!("{}{turn}/", children_of(run))
}
