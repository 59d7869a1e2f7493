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
    /// Lists the sub-agents of a run, each after its parent, and those of one parent in the order in which they were
    /// started.
    ///
    /// # Errors
    /// When a document about the sub-agents cannot be read, or the journal fails.
    pub async fn sub_agents(&self, run: &str) -> Result<Vec<SubAgentRun>, RunError> {
        let mut started_by = BTreeMap::<Option<CallId>, Vec<StartedAgent>>::new();
        let all = list_started(self.store(), run).await?;
        let calls: Vec<CallId> = all.iter().map(|it| it.call).collect();
        for agent in all {
            // A sub-agent whose parent is not recorded is listed below the run itself.
            let parent = agent.child.parent.filter(|it| calls.contains(it));
            started_by.entry(parent).or_default().push(agent);
        }
        let mut listed = Vec::new();
        list(&mut started_by, None, &[], &mut listed);
        // In damaged records, sub-agents may name each other as their parents. One of them is listed below the run.
        while let Some((parent, agents)) = started_by.pop_first() {
            let mut agents = agents.into_iter();
            started_by.insert(None, agents.next().into_iter().collect());
            if agents.len() > 0 {
                started_by.insert(parent, agents.collect());
            }
            list(&mut started_by, None, &[], &mut listed);
        }
        for agent in &mut listed {
            let call = self.store().get(agent.call).await?;
            agent.state = call.map(|it| it.state);
        }
        Ok(listed)
    }
}

/// Lists the sub-agents of one parent, each with those below it; returns their total usage. The recursion ends, because
/// it takes each sub-agent out of `started_by`.
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use jiff::Timestamp;
    use serde_json::json;
    use toolwright::journal::{DocumentWrite, MemoryStore, Store as _, Transaction};

    use super::*;
    use crate::limits::Usage;
    use crate::limits::ledger::children_of;
    use crate::limits::share::{ChildSpending, Share};

    /// A journal with these sub-agents of run `r1`: the name, the call and the parent's call of each. Each has asked its
    /// model once.
    async fn journal(agents: &[(&str, CallId, Option<CallId>)]) -> Runs {
        let store = MemoryStore::new();
        let usage = Usage { input_tokens: 1, ..Usage::default() };
        let own = SpentShare { usage: TotalUsage { usage, ..TotalUsage::default() }, turns: 1 };
        let write = |(agent, call, parent): &(&str, CallId, Option<CallId>)| {
            let share = Share { turns: 1, tokens: None, cost: None };
            let child = ChildSpending { parent: *parent, turn: 1, share, own, has_ended: true };
            let mut stored = serde_json::to_value(child).unwrap();
            (stored["version"], stored["agent"]) = (json!(1), json!(agent));
            let key = format!("{}1/{call}", children_of("r1"));
            DocumentWrite { key, expects: None, text: Some(stored.to_string()) }
        };
        let documents = agents.iter().map(write).collect();
        let unit = Transaction { documents, ..Transaction::default() };
        store.commit(unit, Timestamp::UNIX_EPOCH).await.unwrap();
        Runs::of(Arc::new(store))
    }

    async fn listed(runs: &Runs) -> Vec<(String, u64)> {
        let agents = runs.sub_agents("r1").await.unwrap();
        agents.iter().map(|it| (it.agents.join("/"), it.total.usage.input_tokens)).collect()
    }

    #[tokio::test]
    async fn a_sub_agent_is_listed_below_its_parent_whatever_the_clocks_of_their_processes_said() {
        let (early, late) = (CallId::from_bytes([1; 16]), CallId::from_bytes([2; 16]));
        let runs = journal(&[("A", late, None), ("B", early, Some(late))]).await;
        assert_eq!(listed(&runs).await, [("A".to_owned(), 2), ("A/B".to_owned(), 1)]);
    }

    #[tokio::test]
    async fn sub_agents_that_name_each_other_as_their_parents_are_all_listed_once() {
        let (one, two) = (CallId::from_bytes([1; 16]), CallId::from_bytes([2; 16]));
        let three = CallId::from_bytes([3; 16]);
        let agents = [("A", one, Some(two)), ("B", two, Some(one)), ("C", three, Some(one))];
        let listed = listed(&journal(&agents).await).await;
        assert_eq!(listed.len(), 3, "{listed:?}");
        assert_eq!(listed[0].1, 3, "{listed:?}");
    }
}
