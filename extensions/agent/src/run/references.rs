//! Shows guards the values with which calls run. A model refers to a large answer by its handle, and a guard that
//! looked at the reference alone would let through what it stops in a value.

use std::borrow::Cow;

use toolwright::Catalog;
use toolwright::provider::ToolCall;

use super::agent_run::AgentRun;
use crate::model::ModelAnswer;

/// The calls of an answer before and after their references were replaced by values.
#[derive(Default)]
pub(super) struct ReplacedReferences {
    written: Vec<ToolCall>,
    seen: Vec<ToolCall>,
}

impl AgentRun {
    /// Replaces the references in the calls of an answer by the values to which they refer. A reference without a value
    /// stays, because its call will fail.
    pub(super) fn replace_references(
        &self,
        answer: &mut ModelAnswer,
        catalog: &Catalog,
    ) -> ReplacedReferences {
        match self.resolved(&answer.calls, catalog).0 {
            Cow::Borrowed(_) => ReplacedReferences::default(),
            Cow::Owned(seen) => {
                let written = std::mem::replace(&mut answer.calls, seen.clone());
                ReplacedReferences { written, seen }
            }
        }
    }
}

impl ReplacedReferences {
    /// Puts the references back into every call that the guards did not change, so that the history holds the answer
    /// as the model wrote it.
    pub(super) fn restore(&self, answer: &mut ModelAnswer) {
        for call in &mut answer.calls {
            let mut pairs = self.seen.iter().zip(&self.written);
            if let Some((_, written)) = pairs.find(|(seen, _)| *seen == call) {
                *call = written.clone();
            }
        }
    }
}
