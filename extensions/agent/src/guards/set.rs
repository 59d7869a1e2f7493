//! The guards of an agent, in the order of its builder.

use std::collections::BTreeSet;
use std::fmt;
use std::time::Duration;

use super::Guard;
use crate::events::GuardStage;

/// How long a guard may look, unless the builder says otherwise.
const LIMIT: Duration = Duration::from_secs(10);

/// The guards of an agent.
#[derive(Clone)]
pub(crate) struct GuardSet {
    pub(super) limit: Duration,
    pub(super) guards: Vec<Guard>,
}

impl Default for GuardSet {
    fn default() -> Self {
        Self { limit: LIMIT, guards: Vec::new() }
    }
}

impl GuardSet {
    pub(crate) fn set_limit(&mut self, limit: Duration) {
        self.limit = limit;
    }

    pub(crate) fn add(&mut self, guards: Vec<Guard>) {
        self.guards.extend(guards);
    }

    /// Refuses a guard without a name, and two of one stage that have one name: a report would not say which of them it is of.
    pub(crate) fn check(&self) -> Result<(), String> {
        let mut names = BTreeSet::new();
        for guard in &self.guards {
            let (name, stage) = (guard.name.trim(), guard.stage());
            if name.is_empty() {
                return Err(format!("a guard that looks {stage} has no name; give it one"));
            }
            if !names.insert((stage, name)) {
                return Err(format!(
                    "two guards that look {stage} are called `{name}`; give each a name of its own"
                ));
            }
        }
        Ok(())
    }

    /// The guards that a sub-agent has too: its requests go to a model as any, and come from one. What it is asked and what it answers
    /// are the arguments and the answer of a call, which pass those guards as well.
    pub(crate) fn of_sub_agents(&self) -> Self {
        let is_of_models =
            |it: &&Guard| !matches!(it.stage(), GuardStage::BeforeRun | GuardStage::AfterRun);
        let guards = self.guards.iter().filter(is_of_models).cloned().collect();
        Self { limit: self.limit, guards }
    }

    pub(crate) fn has(&self, stage: GuardStage) -> bool {
        self.guards.iter().any(|it| it.stage() == stage)
    }

    /// Whether any looks at requests.
    pub(crate) fn look_at_requests(&self) -> bool {
        self.has(GuardStage::BeforeModel) || self.has(GuardStage::BesideModel)
    }

    /// Whether the text of an answer is held back until guards have looked at it.
    pub(crate) fn hold_answers(&self) -> bool {
        self.has(GuardStage::AfterModel) || self.has(GuardStage::AfterRun)
    }

    /// Whether calls may begin while the answer comes that makes them.
    pub(crate) fn let_calls_begin(&self) -> bool {
        !self.has(GuardStage::AfterModel) && !self.has(GuardStage::BesideModel)
    }

    /// Their names and stages, in words, for a record of what an agent is made of.
    pub(crate) fn names(&self) -> impl Iterator<Item = String> {
        self.guards.iter().map(|it| format!("{} {}", it.name, it.stage()))
    }
}

impl fmt::Debug for GuardSet {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_list().entries(&self.guards).finish()
    }
}
