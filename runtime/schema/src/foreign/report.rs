//! Collects problems and notes about a schema, without repetitions and up to a limit.

use std::collections::HashSet;

use serde_json::Value;

use super::{NormalizedSchema, Note};
use toolwright_core::schema::SchemaProblem;

/// The maximum number of notes, and of problems, in a report: a person would not read more.
const MOST: usize = 100;

#[derive(Debug, Default)]
pub(super) struct Report {
    problems: Vec<SchemaProblem>,
    notes: Vec<Note>,
    /// The problems and notes that were reported. A place to which several references lead is read more than once, but
    /// reported once.
    reported: HashSet<(String, String)>,
}

impl Report {
    pub(super) fn problem(&mut self, pointer: impl Into<String>, message: impl Into<String>) {
        let (pointer, message) = (pointer.into(), message.into());
        if self.problems.len() < MOST && self.reported.insert((pointer.clone(), message.clone())) {
            self.problems.push(SchemaProblem { pointer, message });
        }
    }

    pub(super) fn note(&mut self, pointer: impl Into<String>, message: impl Into<String>) {
        let (pointer, message) = (pointer.into(), message.into());
        if self.notes.len() < MOST && self.reported.insert((pointer.clone(), message.clone())) {
            self.notes.push(Note { pointer, message });
        }
    }

    pub(super) fn is_sound(&self) -> bool {
        self.problems.is_empty()
    }

    pub(super) fn conclude(self, schema: Value) -> Result<NormalizedSchema, Vec<SchemaProblem>> {
        if self.is_sound() {
            Ok(NormalizedSchema { schema, notes: self.notes })
        } else {
            Err(self.problems)
        }
    }
}
