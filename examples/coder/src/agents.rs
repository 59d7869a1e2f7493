//! `--agents`: the model can delegate tasks to two sub-agents, a researcher and a reviewer.

use std::sync::Arc;

use toolwright_agent::{Agent, AgentBuilder, AgentError, Model, SubAgent};

use crate::application::Prepared;
use crate::said::Said;

/// Tools that only read files.
const READING: [&str; 4] = ["read_file", "list_files", "glob", "grep"];

/// The tool by which a reviewer runs tests. The policy decides which programs may run.
const TESTING: &str = "run_command";

fn researcher() -> SubAgent {
    SubAgent::new("researcher", "Reads the sources and finds out how something works or why it fails. Changes nothing and runs nothing.")
        .profile(READING)
        .max_turns(10)
}

fn reviewer() -> SubAgent {
    SubAgent::new(
        "reviewer",
        "Reads a change, runs the tests and says whether the change is right. Changes nothing.",
    )
    .profile(READING.into_iter().chain([TESTING]))
    .max_turns(10)
}

/// Builds the agent with its sub-agents, and the printer of its model's text.
pub fn built(
    prepared: Prepared,
    model: Arc<dyn Model>,
    configure: impl FnOnce(AgentBuilder) -> (AgentBuilder, Said),
) -> Result<(Agent, Said), AgentError> {
    let agent = Agent::builder(model).executor(prepared.change);
    let (agent, said) = configure(agent.sub_agent(researcher()).sub_agent(reviewer()));
    Ok((agent.build()?, said))
}
