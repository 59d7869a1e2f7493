//! The turn that plugins prepare.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use toolwright::{Catalog, Definition, IntoTool, Registration, Run};

use super::draft::Draft;
use super::{Plugin, StateError};
use crate::history::Message;

/// The next turn of a run, which a [`Plugin`] prepares before the model is asked.
pub struct NextTurn<'t> {
    pub(super) number: u64,
    pub(super) run: &'t Run,
    pub(super) history: &'t [Message],
    /// The tools of the run, without those that plugins add.
    pub(super) catalog: Catalog,
    pub(super) draft: Draft,
    pub(super) added: Vec<Registration>,
    pub(super) left_out: BTreeSet<String>,
    pub(super) instructions: Vec<String>,
    /// The reasons why the current plugin fails, such as a tool to leave out that does not exist.
    pub(super) problems: Vec<String>,
}

impl<'t> NextTurn<'t> {
    /// Returns the number of the turn, counted from 1 over the whole run. If the model is asked again, the number is
    /// the same.
    #[must_use]
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Returns the id of the run.
    #[must_use]
    pub fn run_id(&self) -> &'t str {
        self.run.id()
    }

    /// Returns the user on whose behalf the run calls.
    #[must_use]
    pub fn user(&self) -> Option<&'t str> {
        self.run.user()
    }

    /// Returns a service of the run or of the executor, as tools borrow it.
    #[must_use]
    pub fn service<T: ?Sized + Send + Sync + 'static>(&self) -> Option<&'t T> {
        self.run.service::<T>()
    }

    /// Returns the history: all messages, calls and answers.
    #[must_use]
    pub fn history(&self) -> &'t [Message] {
        self.history
    }

    /// Returns the state of a plugin, or `None` if the agent has no plugin of the type.
    #[must_use]
    pub fn get<P: Plugin>(&self) -> Option<Arc<P::State>> {
        self.draft.get::<P>()
    }

    /// Sets the state of a plugin. The state is recorded with the model's answer, and discarded if the model gives
    /// none.
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

    /// Returns the names of the turn's tools: the tools of the agent that are not left out, including deferred and
    /// hidden ones, and then the tools that plugins have added.
    #[must_use]
    pub fn tools(&self) -> Vec<&str> {
        let registered = self.catalog.names().filter(|it| !self.left_out.contains(*it));
        registered.chain(self.added.iter().map(Registration::name)).collect()
    }

    /// Adds a tool for this turn. No other tool may have its name, unless that tool is left out.
    pub fn add_tool(&mut self, tool: impl IntoTool) {
        self.added.push(tool.into_tool());
    }

    /// Leaves a tool of the agent or of an earlier plugin out of this turn. The model is not shown the tool, and a call
    /// of it fails with an error of the kind `gone_tool`. If no tool has this name, the run stops with an error.
    pub fn leave_out(&mut self, name: &str) {
        let before = self.added.len();
        self.added.retain(|it| it.name() != name);
        let is_known = self.catalog.get(name).is_some() || self.left_out.contains(name);
        if is_known || self.added.len() < before {
            self.left_out.insert(name.to_owned());
        } else {
            self.problems.push(format!(
                "it leaves out the tool `{name}`, found no tool of that name; the tools are {}",
                self.tools().iter().map(|it| format!("`{it}`")).collect::<Vec<_>>().join(", ")
            ));
        }
    }

    /// Leaves out every tool of the agent for which the function returns `true`; see [`leave_out`](Self::leave_out).
    pub fn leave_out_where(&mut self, is_left_out: impl Fn(&Definition) -> bool) {
        let names = self.catalog.definitions().filter(|it| is_left_out(it));
        self.left_out.extend(names.map(|it| it.name.clone()));
    }

    /// Adds instructions for this turn. They follow the instructions of the agent, in the order in which plugins add
    /// them. If instructions change often, add them last, so that the provider's prefix cache works. An empty text adds
    /// nothing.
    pub fn instruct(&mut self, text: impl Into<String>) {
        let text = text.into();
        if !text.trim().is_empty() {
            self.instructions.push(text);
        }
    }
}

impl fmt::Debug for NextTurn<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("NextTurn")
            .field("run", &self.run.id())
            .field("number", &self.number)
            .finish_non_exhaustive()
    }
}
