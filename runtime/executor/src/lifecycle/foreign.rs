//! What a run has read of strangers, in a document of its journal: written before an answer is given to the run, read when a call
//! is judged by a policy that asks for it. So it holds in whatever process the run goes on.

use std::sync::Arc;

use super::driver::{Lifecycle, not_recorded};
use crate::executor::{CallFailure, Outcome, Sources};
use toolwright_core::context::CallId;
use toolwright_journal::journal::{Document, DocumentWrite, StoreError, Transaction};

/// How often a change is tried again when others are faster.
const TRIES: u32 = 16;

/// Returns the key of the document of what a run has read of strangers.
#[must_use]
pub fn untrusted_key(run: &str) -> String {
    format!("run/{run}/untrusted")
}

impl Lifecycle<'_> {
    /// The sources of what a run has read, where a policy asks for them; nothing where they are not known.
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

    /// Records what the run has read and the journal does not have: of answers of this process, or of a history with which the
    /// run has begun.
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

    /// The outcome of a call of this run, once it is recorded that the run has read its answer. One of which that could not be
    /// recorded is not given out.
    pub(crate) async fn noted_as_read(self, outcome: Outcome, tool: &str) -> Outcome {
        let Outcome::Answered(answer) = &outcome else { return outcome };
        self.run.read_text().note(answer);
        match self.record_read(tool).await {
            Ok(()) => outcome,
            Err(failure) => failure.into(),
        }
    }

    /// The same of a call that may be one of another run.
    pub(super) async fn noted_as_read_of(self, outcome: Outcome, call: CallId) -> Outcome {
        let Outcome::Answered(answer) = &outcome else { return outcome };
        let read = answer.untrusted_sources();
        if read.is_empty() {
            return outcome;
        }
        let record = match self.load(call).await {
            Ok(record) => record,
            Err(failure) => return failure.into(),
        };
        let run = &record.place.run;
        if run == self.run.id() {
            return self.noted_as_read(outcome, &record.tool).await;
        }
        let mut sources = Sources::default();
        read.iter().for_each(|source| _ = sources.add(source));
        match self.record(run, &sources, &record.tool).await {
            Ok(_) => outcome,
            Err(failure) => failure.into(),
        }
    }

    /// Adds sources to those that the journal has of a run, which are given back.
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
                "document `{key}` does not say what the run has read of strangers: {error}; restore the journal"
            );
            not_recorded(tool, StoreError::corrupt(words).into())
        })?;
        Ok((sources, Some(document)))
    }
}
