//! Stores the untrusted sources of a run in a document of the journal, so that they are known in every process in which
//! the run continues. Sources are written before the run receives the answer that contains them, and are read when a
//! policy depends on them.

use std::sync::Arc;

use super::driver::{Lifecycle, not_recorded};
use crate::call::{CallFailure, Outcome, Sources};
use toolwright_core::context::CallId;
use toolwright_journal::journal::{Document, DocumentWrite, StoreError, Transaction};

/// How many times a change is tried if other processes keep changing the document first.
const TRIES: u32 = 16;

/// Returns the key of the document with the untrusted sources that a run has read.
#[must_use]
pub fn untrusted_key(run: &str) -> String {
    format!("run/{run}/untrusted")
}

impl Lifecycle<'_> {
    /// Returns the untrusted sources that a run has read, or an empty list if no policy depends on them; `None` if they
    /// are unknown.
    pub(crate) async fn sources(
        self,
        run: &str,
        tool: &str,
    ) -> Result<Option<Arc<[String]>>, CallFailure> {
        if !self.run.asks_what_was_read() {
            return Ok(Some(Arc::default()));
        }
        let (recorded, _) = self.recorded_sources(run, tool).await?;
        if run != self.run.id() {
            return Ok(recorded.sources());
        }
        self.run.read_text().is_recorded(&recorded);
        self.record_read(tool).await?;
        Ok(self.run.read_text().sources())
    }

    /// Records the sources that the run has read and that the journal does not contain. They come from answers in this
    /// process, or from a history with which the run began.
    pub(super) async fn record_read(self, tool: &str) -> Result<(), CallFailure> {
        match self.run.read_text().sources_to_record() {
            Some(unrecorded) => {
                let recorded = Box::pin(self.record(self.run.id(), &unrecorded, tool)).await?;
                self.run.read_text().is_recorded(&recorded);
                Ok(())
            }
            None => Ok(()),
        }
    }

    /// Records the untrusted sources of an answer of this run, and then returns the outcome. If they cannot be
    /// recorded, returns that failure instead.
    pub(crate) async fn noted_as_read(self, outcome: Outcome, tool: &str) -> Outcome {
        let Outcome::Answered(answer) = &outcome else { return outcome };
        self.run.read_text().note(answer);
        match self.record_read(tool).await {
            Ok(()) => outcome,
            Err(failure) => without_sources(failure).into(),
        }
    }

    /// Records the untrusted sources of an answer whose call may belong to another run, and then returns the outcome.
    pub(super) async fn noted_as_read_of(self, outcome: Outcome, call: CallId) -> Outcome {
        let Outcome::Answered(answer) = &outcome else { return outcome };
        let read = answer.untrusted_sources();
        if read.is_empty() {
            return outcome;
        }
        let record = match self.load(call).await {
            Ok(record) => record,
            Err(failure) => return without_sources(failure).into(),
        };
        let run = &record.place.run;
        if run == self.run.id() {
            return self.noted_as_read(outcome, &record.tool).await;
        }
        let mut sources = Sources::default();
        read.iter().for_each(|source| _ = sources.add(source));
        match self.record(run, &sources, &record.tool).await {
            Ok(_) => outcome,
            Err(failure) => without_sources(failure).into(),
        }
    }

    /// Adds sources to those that the journal contains for a run, and returns all of them.
    async fn record(
        self,
        run: &str,
        sources: &Sources,
        tool: &str,
    ) -> Result<Sources, CallFailure> {
        for _ in 0..TRIES {
            let (mut recorded, document) = self.recorded_sources(run, tool).await?;
            if !recorded.join(sources) {
                return Ok(recorded);
            }
            let text = serde_json::to_string(&recorded).map_err(|error| {
                not_recorded(tool, StoreError::invalid(error.to_string()).into())
            })?;
            let (key, expects) = (untrusted_key(run), document.map(|it| it.version));
            let documents = vec![DocumentWrite { key, expects, text: Some(text) }];
            let unit = Transaction { calls: Vec::new(), documents };
            match self.journal.store.commit(unit, self.journal.now()).await {
                Ok(()) => return Ok(recorded),
                Err(error) if error.is_conflict() => {}
                Err(error) => return Err(not_recorded(tool, error)),
            }
        }
        let key = untrusted_key(run);
        let words =
            format!("document `{key}` was changed by others {TRIES} times in a row; try again");
        Err(not_recorded(tool, StoreError::unavailable(words).into()))
    }

    async fn recorded_sources(
        self,
        run: &str,
        tool: &str,
    ) -> Result<(Sources, Option<Document>), CallFailure> {
        let key = untrusted_key(run);
        let found = self.journal.store.document(&key).await;
        let found = found.map_err(|error| not_recorded(tool, error.into()))?;
        let Some(document) = found else { return Ok((Sources::default(), None)) };
        let sources = serde_json::from_str(&document.text).map_err(|error| {
            let words = format!(
                "document `{key}` does not say which untrusted sources the run has read: {error}; restore the journal"
            );
            not_recorded(tool, StoreError::corrupt(words).into())
        })?;
        Ok((sources, Some(document)))
    }
}

/// Converts the failure of the journal for a call that already has an answer.
fn without_sources(failure: CallFailure) -> CallFailure {
    match failure {
        CallFailure::NotRecorded { tool, error } => CallFailure::SourcesNotRecorded { tool, error },
        other => other,
    }
}
