//! Records the states of plugins: one document for each turn, `run/<id>/turn/<n>/plugins`, with the states that changed
//! in the turn.
//!
//! The document is written with the model's answer, and again whenever a tool sets a state, before the tool continues.
//! So the journal never has the answer of a call without the states that the call has set.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::future::BoxFuture;
use toolwright::journal::{CommitError, Document, DocumentWrite, SealingKey, Transaction};
use toolwright::unstable::runs::JournalAccess;
use toolwright::{ErrorClass, ToolError};

use super::RunError;
use super::keys::Part;
use super::recorded::LeasedRun;
use super::turn;
use crate::plugin::{PluginStates, PluginTurn, Sink, StateError};
use crate::run::StartError;

/// The states of plugins that the turns of a run have recorded.
#[derive(Default)]
pub(super) struct RecordedPlugins {
    pub states: PluginStates,
    /// The version of the last turn's document; `None` if that turn has no document.
    pub version: Option<u64>,
    /// The keys of the documents in which the states were last written, by the ids of their plugins.
    pub keys: BTreeMap<String, String>,
}

impl RecordedPlugins {
    /// Takes the plugins' documents out of the documents of the turns up to the last, and gathers their states.
    pub(super) fn of(
        turns: &mut BTreeMap<u64, HashMap<Part, Document>>,
        run: &str,
        last: u64,
        sealing: Option<&SealingKey>,
    ) -> Result<Self, RunError> {
        let mut plugins = Self::default();
        for (number, parts) in turns.range_mut(..=last) {
            let Some(document) = parts.remove(&Part::Plugins) else { continue };
            let turn: PluginTurn = turn::opened(&document, sealing)?;
            let key = Part::Plugins.key(run, *number);
            plugins.keys.extend(turn.states.keys().map(|id| (id.clone(), key.clone())));
            plugins.states.add(turn);
            plugins.version = (*number == last).then_some(document.version);
        }
        if plugins.version.is_none() {
            plugins.states.turn = PluginTurn::default();
        }
        Ok(plugins)
    }

    /// Adds the key of the document to an error about a plugin's state of the wrong type.
    pub(super) fn with_place(&self, error: RunError) -> RunError {
        let RunError::Start(StartError::Plugin(misfit)) = &error else { return error };
        match misfit {
            StateError::Misfit { plugin, .. } => match self.keys.get(plugin) {
                Some(key) => RunError::damaged(key, format!("{misfit}")),
                None => error,
            },
            StateError::NoPlugin { .. } => error,
        }
    }

    /// Writes the document of the open turn again with the commit that takes the run, so that a late write of the
    /// previous driver is refused.
    pub(super) fn fence(
        &self,
        recorded: &LeasedRun,
        turn: u64,
        document: &PluginDocument,
        has_plugins: bool,
    ) -> Result<Option<DocumentWrite>, RunError> {
        if !has_plugins || turn == 0 {
            return Ok(None);
        }
        let key = Part::Plugins.key(&recorded.head.run, turn);
        let write = recorded.write(key, &self.states.turn)?;
        let expects = self.version;
        document.is_at(turn, Some(expects.unwrap_or(0) + 1));
        Ok(Some(DocumentWrite { expects, ..write }))
    }
}

/// The document of the plugins for the current turn of a run.
pub(super) struct PluginDocument {
    access: JournalAccess,
    run: String,
    at: Mutex<At>,
}

#[derive(Clone, Copy)]
struct At {
    turn: u64,
    version: Option<u64>,
}

impl PluginDocument {
    pub(super) fn new(
        access: &JournalAccess,
        run: &str,
        turn: u64,
        version: Option<u64>,
    ) -> Arc<Self> {
        let at = Mutex::new(At { turn, version });
        Arc::new(Self { access: access.clone(), run: run.to_owned(), at })
    }

    /// Returns the write of a turn's document for a step that changes it.
    pub(super) fn with_step(
        &self,
        recorded: &mut LeasedRun,
        turn: u64,
        plugins: Option<&PluginTurn>,
    ) -> Result<Option<DocumentWrite>, RunError> {
        let key = Part::Plugins.key(&self.run, turn);
        let at = *self.at();
        // Tools may have written the document since the last step.
        if let Some(version) = at.version.filter(|_| at.turn == turn) {
            recorded.versions.insert(key.clone(), version);
        }
        plugins.map(|it| recorded.write(key, it)).transpose()
    }

    /// Notes the version of the document after a step of this turn was recorded.
    pub(super) fn is_recorded(&self, recorded: &LeasedRun, turn: u64) {
        let key = Part::Plugins.key(&self.run, turn);
        self.is_at(turn, recorded.versions.get(&key).copied());
    }

    /// Notes the current turn, and the version of the turn's document.
    fn is_at(&self, turn: u64, version: Option<u64>) {
        *self.at() = At { turn, version };
    }

    fn at(&self) -> MutexGuard<'_, At> {
        self.at.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn write_states(&self, turn: &PluginTurn) -> Result<(), ToolError> {
        let At { turn: number, version } = *self.at();
        let key = Part::Plugins.key(&self.run, number);
        let text = turn::text(turn, &key, self.access.sealing.as_ref());
        let text = text.map_err(|error| ToolError::internal(error.to_string()))?;
        let write = DocumentWrite { key: key.clone(), expects: version, text: Some(text.clone()) };
        let unit = Transaction { documents: vec![write], ..Transaction::default() };
        let failed = self.access.store.commit(unit, self.access.now()).await.err();
        if let Some(error) = failed {
            // The commit may have succeeded although its reply was lost.
            let found = self.access.store.document(&key).await;
            if !found.is_ok_and(|it| it.is_some_and(|it| it.text == text)) {
                return Err(not_recorded(&self.run, &error));
            }
        }
        self.is_at(number, Some(version.unwrap_or(0) + 1));
        Ok(())
    }
}

impl Sink for PluginDocument {
    fn write<'a>(&'a self, turn: &'a PluginTurn) -> BoxFuture<'a, Result<(), ToolError>> {
        Box::pin(self.write_states(turn))
    }
}

fn not_recorded(run: &str, error: &CommitError) -> ToolError {
    let message = match error {
        CommitError::Store(_) => "the state of a plugin could not be recorded",
        _ => "the state of a plugin was not recorded: another process goes on with the run",
    };
    let error = format!("run `{run}`: {error}");
    ToolError::new("state_not_recorded", message).class(ErrorClass::Transient).caused_by(error)
}
