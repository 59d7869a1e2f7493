//! A run that ends, as shown to plugins.

use std::fmt;
use std::sync::Arc;

use super::draft::Draft;
use super::{Plugin, StateError};
use crate::events::RunEnd;
use crate::history::Message;

/// A run that ends, as [`Plugin::ended`] gets it. The run continues if its user sends another message.
pub struct EndedRun<'r> {
    pub(super) run: &'r str,
    pub(super) end: &'r RunEnd,
    pub(super) history: &'r [Message],
    pub(super) draft: Draft,
}

impl<'r> EndedRun<'r> {
    /// Returns the id of the run.
    #[must_use]
    pub fn run_id(&self) -> &'r str {
        self.run
    }

    /// Returns how the run ends.
    #[must_use]
    pub fn end(&self) -> &'r RunEnd {
        self.end
    }

    /// Returns the history before the last answer of the model: all messages, calls and answers.
    #[must_use]
    pub fn history(&self) -> &'r [Message] {
        self.history
    }

    /// Returns the state of a plugin, or `None` if the agent has no plugin of the type.
    #[must_use]
    pub fn get<P: Plugin>(&self) -> Option<Arc<P::State>> {
        self.draft.get::<P>()
    }

    /// Sets the state of a plugin; the state is recorded with the end.
    ///
    /// # Errors
    /// When the agent has no plugin of the type, or the state does not fit its schema.
    pub fn set<P: Plugin>(&mut self, state: P::State) -> Result<(), StateError> {
        self.draft.set::<P>(state)
    }

    /// Changes the state of a plugin, as [`set`](Self::set) does, and returns the result of `change`.
    ///
    /// # Errors
    /// The errors of [`set`](Self::set).
    pub fn edit<P: Plugin, R>(
        &mut self,
        change: impl FnOnce(&mut P::State) -> R,
    ) -> Result<R, StateError> {
        self.draft.edit::<P, R>(change)
    }
}

impl fmt::Debug for EndedRun<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("EndedRun")
            .field("run", &self.run)
            .field("end", &self.end)
            .finish_non_exhaustive()
    }
}
