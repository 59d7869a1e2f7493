//! The guards of an agent, in the order in which the builder got them.

use std::collections::BTreeSet;
use std::fmt;
use std::time::Duration;

use super::Guard;
use crate::events::GuardStage;

/// How long a guard may take unless the builder sets another limit.
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

    /// Refuses a guard without a name, and two guards of one stage with the same name, because reports identify guards
    /// by their names.
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

    /// Returns the guards that a sub-agent gets: those of requests to the model, and of the model's answers. The guards of
    /// the user's message and of the run's end are left out, because the task and the result of the sub-agent are the
    /// arguments and the answer of a call of its parent, which the parent's guards see.
    pub(crate) fn of_sub_agents(&self) -> Self {
        let is_of_models =
            |it: &&Guard| !matches!(it.stage(), GuardStage::BeforeRun | GuardStage::AfterRun);
        let guards = self.guards.iter().filter(is_of_models).cloned().collect();
        Self { limit: self.limit, guards }
    }

    pub(crate) fn has(&self, stage: GuardStage) -> bool {
        self.guards.iter().any(|it| it.stage() == stage)
    }

    /// Returns whether a guard looks at requests.
    pub(crate) fn look_at_requests(&self) -> bool {
        self.has(GuardStage::BeforeModel) || self.has(GuardStage::BesideModel)
    }

    /// Returns whether the text of an answer is held back until guards have looked at the answer.
    pub(crate) fn hold_answers(&self) -> bool {
        self.has(GuardStage::AfterModel) || self.has(GuardStage::AfterRun)
    }

    /// Returns whether calls may begin while the answer that makes them is still arriving.
    pub(crate) fn let_calls_begin(&self) -> bool {
        !self.has(GuardStage::AfterModel) && !self.has(GuardStage::BesideModel)
    }

    /// Lists the names and stages of the guards, to record the parts of the agent.
    pub(crate) fn names(&self) -> impl Iterator<Item = String> {
        self.guards.iter().map(|it| format!("{} {}", it.name, it.stage()))
    }
}

impl fmt::Debug for GuardSet {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_list().entries(&self.guards).finish()
    }
}
