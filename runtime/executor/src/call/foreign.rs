//! The untrusted sources that a run has read, as far as this process has learnt of them. The journal also stores them,
//! for the next process of the run and for workers in other processes (`lifecycle/foreign.rs`).

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};
use toolwright_core::output::Answer;

/// Untrusted sources by name. At most [`MOST`](Self::MOST) names are stored. If a run has read more sources, the list
/// counts as unknown.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Sources {
    sources: Vec<String>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    has_more: bool,
}

impl Sources {
    pub(super) const MOST: usize = 200;

    /// Adds a source. Returns whether that changed the list.
    pub(crate) fn add(&mut self, source: &str) -> bool {
        if self.has_more || self.sources.iter().any(|it| it == source) {
            return false;
        }
        match self.sources.len() < Self::MOST {
            true => self.sources.push(source.to_owned()),
            false => self.has_more = true,
        }
        true
    }

    /// Adds the sources of another list. Returns whether this list changed.
    pub(crate) fn join(&mut self, other: &Self) -> bool {
        let mut is_new = other.has_more && !self.has_more;
        self.has_more |= other.has_more;
        for source in &other.sources {
            is_new |= self.add(source);
        }
        is_new
    }

    /// Returns the sources; `None` if there are too many to be stored.
    pub(crate) fn sources(&self) -> Option<Arc<[String]>> {
        (!self.has_more).then(|| self.sources.as_slice().into())
    }
}

#[derive(Debug)]
pub(crate) struct ReadText(Mutex<State>);

#[derive(Debug)]
struct State {
    read: Sources,
    /// The sources that the journal has recorded, if there is a journal.
    recorded: Sources,
    /// Whether the list contains every source that any process has read for the run.
    is_complete: bool,
}

impl ReadText {
    /// Makes an empty list. The list is complete for a run that begins in this process, or that no journal records.
    pub(super) fn new(is_complete: bool) -> Self {
        let (read, recorded) = Default::default();
        Self(Mutex::new(State { read, recorded, is_complete }))
    }

    /// Adds the sources of an answer that the run receives.
    #[inline]
    pub(crate) fn note(&self, answer: &Answer) {
        if answer.untrusted_source().is_some() {
            answer.untrusted_sources().iter().for_each(|source| self.note_source(source));
        }
    }

    #[cold]
    pub(crate) fn note_source(&self, source: &str) {
        self.state().read.add(source);
    }

    /// Returns the sources; `None` if not all are known.
    pub(crate) fn sources(&self) -> Option<Arc<[String]>> {
        let state = self.state();
        if state.is_complete { state.read.sources() } else { None }
    }

    /// Returns the list to write into the journal; `None` if the journal contains it already.
    pub(crate) fn sources_to_record(&self) -> Option<Sources> {
        let state = self.state();
        // All recorded sources are among those that were read, so equal lengths mean equal lists.
        let is_same = state.read.sources.len() == state.recorded.sources.len()
            && state.read.has_more == state.recorded.has_more;
        (!is_same).then(|| state.read.clone())
    }

    /// Records which sources the journal contains. From then on, the list is complete.
    pub(crate) fn is_recorded(&self, recorded: &Sources) {
        let mut state = self.state();
        state.read.join(recorded);
        state.recorded.join(recorded);
        state.is_complete = true;
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_sources_than_are_named_are_not_known() {
        let mut sources = Sources::default();
        for number in 0..Sources::MOST {
            assert!(sources.add(&number.to_string()));
        }
        assert_eq!(sources.sources().map(|it| it.len()), Some(Sources::MOST));
        assert!(!sources.add("0") && sources.add("one more"));
        assert_eq!(sources.sources(), None);
        let text = serde_json::to_string(&sources).expect("it is a list");
        let again: Sources = serde_json::from_str(&text).expect("it is read back");
        assert_eq!(again.sources(), None);
    }

    #[test]
    fn a_run_that_may_have_begun_elsewhere_is_known_once_the_journal_was_read() {
        let run = ReadText::new(false);
        assert_eq!(run.sources(), None);
        run.note_source("a");
        let unrecorded = run.sources_to_record().expect("the journal has not `a`");
        let mut recorded = Sources::default();
        recorded.add("b");
        recorded.join(&unrecorded);
        run.is_recorded(&recorded);
        assert_eq!(run.sources().as_deref(), Some(&["a".to_owned(), "b".to_owned()][..]));
        assert_eq!(run.sources_to_record(), None);
    }
}
