//! Makes events from the deltas that a model sends before its answer is complete.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use toolwright::Catalog;

use super::{EventWriter, RunEvent};
use crate::model::{Delta, DeltaListener, FINAL_ANSWER, ModelAnswer};

/// Receives the parts of one answer as they arrive.
pub(crate) struct Listening<'a> {
    events: &'a EventWriter,
    turn: u64,
    catalog: &'a Catalog,
    /// Whether text is held back until guards have accepted the whole answer.
    is_held: bool,
    /// Whether the model may give the final value by a call, whose tool is not in the catalog.
    has_value: bool,
    /// A listener that begins calls of tools with `effect = read` before the answer is complete; `None` if no call may
    /// begin early.
    early: Option<&'a dyn DeltaListener>,
    heard: Mutex<HeardParts>,
}

#[derive(Default)]
struct HeardParts {
    /// Whether a part had some of the answer's text.
    text: bool,
    /// The indexes of the calls whose arguments may be shown.
    shown: HashSet<usize>,
}

impl<'a> Listening<'a> {
    pub(crate) fn new(
        events: &'a EventWriter,
        turn: u64,
        catalog: &'a Catalog,
        is_held: bool,
        has_value: bool,
        early: Option<&'a dyn DeltaListener>,
    ) -> Self {
        Self { events, turn, catalog, is_held, has_value, early, heard: Mutex::default() }
    }

    /// Publishes the text of the complete answer, if the model did not stream it.
    pub(crate) fn answered(self, answer: &ModelAnswer) {
        let heard = self.heard.into_inner().unwrap_or_else(PoisonError::into_inner);
        if !self.is_held && !heard.text && !answer.text.is_empty() {
            self.events.push(self.turn, RunEvent::Text(answer.text.clone()));
        }
    }

    /// Returns whether the arguments of a tool's calls may be shown: the tool is known and has no secret parameter, or
    /// a model gives the final value by it.
    fn is_open(&self, tool: &str) -> bool {
        let is_value = self.has_value && tool == FINAL_ANSWER;
        is_value || self.catalog.get(tool).is_some_and(|it| it.secrets().next().is_none())
    }
}

impl DeltaListener for Listening<'_> {
    fn delta(&self, delta: Delta<'_>) {
        if let Some(early) = self.early {
            early.delta(delta);
        }
        if self.is_held {
            return;
        }
        let kind = {
            let mut heard = self.heard.lock().unwrap_or_else(PoisonError::into_inner);
            match delta {
                Delta::Text(text) => {
                    heard.text = true;
                    RunEvent::Text(text.to_owned())
                }
                Delta::Reasoning(text) => RunEvent::Reasoning(text.to_owned()),
                Delta::CallBegan { index, name } => {
                    if self.is_open(name) {
                        heard.shown.insert(index);
                    }
                    RunEvent::CallBegan { index, tool: name.to_owned() }
                }
                Delta::Arguments { index, text } if heard.shown.contains(&index) => {
                    RunEvent::Arguments { index, text: text.to_owned() }
                }
                Delta::ProviderTool { name } => RunEvent::ProviderTool { tool: name.to_owned() },
                Delta::Restarted => {
                    *heard = HeardParts::default();
                    RunEvent::Restarted
                }
                _ => return,
            }
        };
        self.events.push(self.turn, kind);
    }
}
