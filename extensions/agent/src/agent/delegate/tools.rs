//! The tools by which a model starts sub-agents, and the rule that allows them.

use serde_json::{Value, json};
use toolwright::policy::{Policy, PolicyBuilder, Rule};
use toolwright::{Danger, DynamicTool, Effect, Footprint, Retry, ToolError};

use super::start::start;
use super::sub_agents::Link;
use super::{SubAgent, SubAgentAnswer};
use crate::agent::AgentError;

/// The tool that starts the sub-agents that are not tools themselves.
pub(super) const SPAWN_AGENT: &str = "spawn_agent";

/// How many times the call that starts a sub-agent is attempted before an operator has to decide, for example because
/// processes die. The number is high, because each attempt replays the recorded answers of the attempts before it.
const ATTEMPTS: u32 = 100;

/// The tools and rules that an executor needs so that its model can start sub-agents.
pub(crate) struct SubAgentTools {
    pub tools: Vec<DynamicTool>,
    pub policy: PolicyBuilder,
}

impl SubAgentTools {
    /// Makes the tools for these sub-agents; `None` if the agent has no sub-agents.
    pub(crate) fn of(agents: &[SubAgent], link: &Link) -> Result<Option<Self>, AgentError> {
        if agents.is_empty() {
            return Ok(None);
        }
        for (place, agent) in agents.iter().enumerate() {
            let is_twice = agents[..place].iter().any(|it| it.name == agent.name);
            if let Some(why) = problem(&agent.name, is_twice) {
                return Err(AgentError::SubAgent { agent: agent.name.clone(), why });
            }
        }
        let (own, shared): (Vec<_>, Vec<_>) = agents.iter().partition(|it| it.is_tool);
        let mut tools: Vec<_> = own.into_iter().map(|agent| by_its_name(agent, link)).collect();
        if !shared.is_empty() {
            tools.insert(0, spawn_agent(&shared, link));
        }
        let names: Vec<&str> = tools.iter().map(DynamicTool::name).collect();
        let nothing: [&str; 0] = [];
        let rule = |name: &&str| {
            Rule::allow("the application lets its model give tasks to this agent")
                .named(format!("sub-agents-{name}"))
                .tool(*name)
                // The call that starts a sub-agent touches nothing itself. The policy checks each call of the sub-agent
                // for what that call touches.
                .touches(nothing, nothing)
        };
        let policy = names.iter().map(rule).fold(Policy::builder(), PolicyBuilder::rule);
        Ok(Some(Self { tools, policy }))
    }
}

/// Explains what is wrong with a sub-agent's name, which is part of the ids of runs and may name a tool.
fn problem(name: &str, is_twice: bool) -> Option<String> {
    let is_word = |it: char| it.is_ascii_alphanumeric() || it == '_' || it == '-';
    if name.is_empty() || name.len() > 64 || !name.chars().all(is_word) {
        return Some("its name is no word; name it by 1 to 64 letters, digits, `_` and `-`".into());
    }
    is_twice.then(|| "there are two of its name; give each a name of its own".into())
}

const TASK: &str = "The whole task, and all that the agent has to know for it: it sees nothing of this conversation. Say what its answer has to contain.";

fn spawn_agent(agents: &[&SubAgent], link: &Link) -> DynamicTool {
    let names: Vec<&str> = agents.iter().map(|it| it.name.as_str()).collect();
    let lines: Vec<String> =
        agents.iter().map(|it| format!("- {}: {}", it.name, it.description)).collect();
    let description = format!(
        "Gives a task to another agent, which works on it with its own tools and answers when it has ended. The agents:\n{}",
        lines.join("\n")
    );
    let schema = json!({
        "type": "object",
        "properties": {
            "agent": { "type": "string", "enum": names, "description": "Which agent." },
            "task": { "type": "string", "minLength": 1, "description": TASK },
        },
        "required": ["agent", "task"],
        "additionalProperties": false,
    });
    made(SPAWN_AGENT, description, schema, None, link)
}

fn by_its_name(agent: &SubAgent, link: &Link) -> DynamicTool {
    let description = format!(
        "{} Gives the task to another agent, which works on it with its own tools and answers when it has ended.",
        agent.description
    );
    let schema = json!({
        "type": "object",
        "properties": {
            "task": { "type": "string", "minLength": 1, "description": TASK },
        },
        "required": ["task"],
        "additionalProperties": false,
    });
    made(&agent.name, description, schema, Some(agent.name.clone()), link)
}

fn made(
    name: &str,
    description: String,
    schema: Value,
    only: Option<String>,
    link: &Link,
) -> DynamicTool {
    let (of_footprint, by_name) = (link.clone(), only.clone());
    let named = move |only: &Option<String>, input: &Value| {
        let agent = only.as_deref().or_else(|| input["agent"].as_str());
        agent.unwrap_or_default().to_owned()
    };
    let link = link.clone();
    DynamicTool::calling(name, description, schema, move |input: Value, context, calls| {
        let (agent, link) = (named(&only, &input), link.clone());
        async move {
            let task = input["task"].as_str().unwrap_or_default().to_owned();
            if task.trim().is_empty() {
                return Err(ToolError::invalid("the task is empty").hint("say what has to be done"));
            }
            start(&link, &agent, task, context, calls).await?.into_output()
        }
    })
    .danger(Danger::Moderate)
    // The tool itself has no effect, so it may begin again. Each call of the sub-agent has its own effect.
    .effect(Effect::Idempotent)
    .footprint_by(move |input| {
        let agent = by_name.as_deref().or_else(|| input["agent"].as_str()).unwrap_or_default();
        let is_beside_others = of_footprint
            .agent()
            .is_some_and(|it| it.0.sub_agents.as_ref().is_some_and(|it| it.work_at_once(agent)));
        // A call whose footprint writes everything waits for the calls before it, and no call begins beside it. So
        // sub-agents that may work at once have the footprint of a read.
        let effect = if is_beside_others { Effect::Read } else { Effect::Idempotent };
        Footprint::of_effect(effect).clone()
    })
    // The tool itself sends no data out of the machine: each call of the sub-agent declares its own sinks.
    .sinks(None::<&str>)
    .timeout(None)
    .total_timeout(None)
    .retry(Retry { attempts: Some(ATTEMPTS), ..Retry::default() })
    .returns::<SubAgentAnswer>()
}
