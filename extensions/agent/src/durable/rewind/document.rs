//! The record of a rewind: the document `run/<id>/rewind`, from which any process can finish a rewind that another
//! process has begun.

use serde::{Deserialize, Serialize};
use toolwright::CallId;
use toolwright::journal::{DocumentWrite, Store};
use toolwright::unstable::changes::ChangingCalls;

use super::super::head::{read, written};
use super::super::{RunError, keys};

/// How a run went back to an earlier turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RewindDocument {
    /// The run that continues.
    pub to: String,
    /// The last turn that both runs have.
    pub turn: u64,
    /// Whether the new run had already ended when it was made.
    pub has_ended: bool,
    /// How many documents the turns of the new run had when the run was made.
    pub documents: usize,
    /// The turns whose changes the rewind undoes, by run.
    pub turns: Vec<(String, u64)>,
    /// The calls that other calls of these turns made, as tools that call other tools do.
    pub calls: Vec<CallId>,
    /// The id under which the log of changes records the restored files.
    pub by: CallId,
    pub step: RewindStep,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum RewindStep {
    /// Files are being restored.
    Restoring,
    /// The files are restored.
    Done,
    /// The rewind is being undone. The log of changes records the undoing under this id.
    Redoing(CallId),
}

impl RewindDocument {
    /// Reads the rewind document of a run, and its version.
    pub(super) async fn of(store: &dyn Store, run: &str) -> Result<(Self, u64), RunError> {
        let key = keys::rewind(run);
        let found = store.document(&key).await?;
        let missing = || {
            RunError::damaged(
                &key,
                "it is missing, expected it because the head says that the run went back",
            )
        };
        let found = found.ok_or_else(missing)?;
        let document = read("rewind of a run", &found.text);
        Ok((document.map_err(|error| RunError::damaged(&key, error))?, found.version))
    }

    pub(super) fn write(&self, run: &str, expects: Option<u64>) -> Result<DocumentWrite, RunError> {
        let key = keys::rewind(run);
        let text = written(self).map_err(|error| RunError::damaged(&key, error))?;
        Ok(DocumentWrite { key, expects, text: Some(text) })
    }

    /// Returns the calls whose changes the rewind undoes.
    pub(super) fn changing(&self) -> ChangingCalls {
        ChangingCalls { turns: self.turns.clone(), calls: self.calls.clone() }
    }

    /// Returns the call that restores the files; its changes are undone when the rewind is undone.
    pub(super) fn restoring(&self) -> ChangingCalls {
        ChangingCalls { turns: Vec::new(), calls: vec![self.by] }
    }
}
