//! Reads the sub-agents of a run from the journal: which agent started which, and what they have spent.

use std::collections::BTreeMap;

use toolwright::CallId;
use toolwright::journal::State as CallState;

use super::RunError;
use super::runs::Runs;
use crate::limits::TotalUsage;
use crate::limits::ledger::{StartedAgent, list_started};
use crate::limits::share::SpentShare;

/// A sub-agent of a recorded run.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SubAgentRun {
    /// The call that started the sub-agent.
    pub call: CallId,
    /// The names of the agents, from the agent that the run started down to this sub-agent.
    pub agents: Vec<String>,
    /// The call that started the sub-agent's parent; `None` if the run itself started the sub-agent.
    pub parent: Option<CallId>,
    /// The turn in which the parent started the sub-agent.
    pub turn: u64,
    /// The state of the call that started the sub-agent; `None` if the journal no longer has it.
    pub state: Option<CallState>,
    /// Whether the sub-agent has ended.
    pub has_ended: bool,
    /// How often the sub-agent's own model was asked.
    pub turns: u32,
    /// The tokens and the cost of the sub-agent's own requests.
    pub own: TotalUsage,
    /// The tokens and the cost of the requests of the sub-agent, and of all sub-agents below it.
    pub total: TotalUsage,
}

impl SubAgentRun {
    /// Returns the name of the sub-agent.
    #[must_use]
    pub fn agent(&self) -> &str {
        self.agents.last().map_or("", String::as_str)
    }
}

impl Runs {
    /// Lists the sub-agents of a run, each after its parent, in the order in which they were started.
    ///
    /// # Errors
    /// When a document about the sub-agents cannot be read, or the journal fails.
    pub async fn sub_agents(&self, run: &str) -> Result<Vec<SubAgentRun>, RunError> {
        let mut started_by = BTreeMap::<Option<CallId>, Vec<StartedAgent>>::new();
        let all = list_started(self.store(), run).await?;
        let calls: Vec<CallId> = all.iter().map(|it| it.call).collect();
        for agent in all {
            // A sub-agent is listed below the run itself if its parent is not recorded, or if the id of its call is not
            // later than that of its parent's call: process clocks may differ, and a damaged record may name any parent.
            let parent = agent.child.parent.filter(|it| calls.contains(it) && *it < agent.call);
            started_by.entry(parent).or_default().push(agent);
        }
        let mut listed = Vec::new();
        list(&mut started_by, None, &[], &mut listed);
        for agent in &mut listed {
            let call = self.store().get(agent.call).await?;
            agent.state = call.map(|it| it.state);
        }
        Ok(listed)
    }
}

/// Lists the sub-agents of one parent, each with those below it; returns their total usage. The recursion ends, because
/// the id of each call in `started_by` is later than that of its parent's call.
fn list(
    started_by: &mut BTreeMap<Option<CallId>, Vec<StartedAgent>>,
    parent: Option<CallId>,
    above: &[String],
    listed: &mut Vec<SubAgentRun>,
) -> TotalUsage {
    let mut agents = started_by.remove(&parent).unwrap_or_default();
    agents.sort_by_key(|it| (it.child.turn, it.call));
    let mut sum = TotalUsage::default();
    for StartedAgent { call, agent, child } in agents {
        let SpentShare { usage: own, turns } = child.own;
        let path = [above, &[agent]].concat();
        let place = listed.len();
        listed.push(SubAgentRun {
            call,
            agents: path.clone(),
            parent: child.parent,
            turn: child.turn,
            state: None,
            has_ended: child.has_ended,
            turns,
            own,
            total: own,
        });
        let total = own.plus(list(started_by, Some(call), &path, listed));
        listed[place].total = total;
        sum = sum.plus(total);
    }
    sum
}
