//! `runs show RUN --tree`: shows a run and its sub-agents as a tree.

use serde::Serialize;
use toolwright::CallId;
use toolwright_agent::durable::{Head, Runs, SubAgentRun};

use super::stop_of;
use crate::operator::{Output, Session, Stop};
use crate::shown::printable;
use crate::shown::run::RunPage;
use crate::shown::table::Table;

/// A sub-agent of a run, as JSON for programs.
#[derive(Serialize)]
pub(super) struct AgentShown<'a> {
    run: &'a str,
    call: CallId,
    agent: &'a str,
    agents: &'a [String],
    parent: Option<CallId>,
    turn: u64,
    state: String,
    ended: bool,
    turns: u32,
    input_tokens: u64,
    output_tokens: u64,
    cost: Option<String>,
    own_cost: Option<String>,
}

impl<'a> AgentShown<'a> {
    pub(super) fn of(run: &'a str, agent: &'a SubAgentRun) -> Self {
        let state = match (agent.has_ended, agent.state) {
            (true, _) => "ended".to_owned(),
            (false, Some(state)) => state.to_string(),
            (false, None) => "unknown".to_owned(),
        };
        Self {
            run,
            call: agent.call,
            agent: agent.agent(),
            agents: &agent.agents,
            parent: agent.parent,
            turn: agent.turn,
            state,
            ended: agent.has_ended,
            turns: agent.turns,
            input_tokens: agent.total.usage.input_tokens,
            output_tokens: agent.total.usage.output_tokens,
            cost: agent.total.known_cost().map(|it| it.to_string()),
            own_cost: agent.own.known_cost().map(|it| it.to_string()),
        }
    }

    /// Describes the sub-agent on one line, for `runs watch`.
    pub(super) fn words(&self) -> String {
        let times = if self.turns == 1 { "time" } else { "times" };
        let path = printable::line(&self.agents.join("/"));
        format!("[{}] agent   {path}: {}, asked {} {times}\n", self.turn, self.state, self.turns)
    }
}

pub(super) async fn show(head: &Head, runs: &Runs, session: &Session) -> Result<(), Stop> {
    let agents = runs.sub_agents(&head.run).await.map_err(stop_of)?;
    let page = RunPage::of(head);
    if session.output == Output::Json {
        session.output.object(&page)?;
        for agent in &agents {
            session.output.object(&AgentShown::of(&head.run, agent))?;
        }
        return Ok(());
    }
    let mut table = Table::new(["AGENT", "FROM TURN", "STATE", "TURNS", "TOKENS", "COST", "CALL"]);
    let cost = |cost: Option<String>| cost.unwrap_or_else(|| "-".to_owned());
    let (turns, tokens) = (head.turn.to_string(), head.spent.usage.total().to_string());
    let spent = cost(head.spent.known_cost().map(|it| it.to_string()));
    table.row([&head.agent, "-", &page.standing(), &turns, &tokens, &spent, "-"]);
    for agent in &agents {
        let shown = AgentShown::of(&head.run, agent);
        let name = format!("{}{}", "  ".repeat(agent.agents.len()), agent.agent());
        let tokens = agent.total.usage.total().to_string();
        table.row([
            &name,
            &shown.turn.to_string(),
            &shown.state,
            &shown.turns.to_string(),
            &tokens,
            &cost(shown.cost),
            &shown.call.to_string(),
        ]);
    }
    session.output.text(table)
}
